"""New individuals of an m-invariant version: those of one run are tested together, once.

They are committed before any value is read. If the run is refused, later ones wait until a run has
decided on the first: a version that waited for suitable values would disclose them.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.people import digest, identity, population_secret
from pganon.encode.snapshot import READ
from pganon.encode.work import CODED, SNAP
from pganon.history.increments.steps import COHORTS, DUE, commit_step, whole_steps
from pganon.resolved.increments import WHOLE
from pganon.resolved.invariance import Resumed, Signatures
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import People
from pganon.sqltools import col, named, query, stacked
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

WAITING = count("waiting", "resumed_")
"""People who are tested by a later run, or by one of another release."""


def resumed_steps(spec: ReleaseSpec, resumed: Resumed, people: People | None) -> tuple[Step, ...]:
    """Steps that make the snapshot of released people, and of the new individuals to be tested."""
    return (
        *whole_steps(spec, people),
        CreateTable(
            "marked",
            "records of the source, and whether their people wait",
            lambda s: s.work("marked"),
            lambda s: _marked(s, resumed),
        ),
        CreateTable(
            "resumed",
            "the records of who was released, and of whom the run tests",
            lambda s: s.work(SNAP),
            lambda s: query("select 1 from w where not w.waits", {"w": s.work("marked")}).select(
                *[col(name, "w") for name in SNAP.columns(spec, s)], append=False
            ),
            counted=READ,
        ),
        Check(
            "waiting",
            "people whom a later run tests",
            lambda s: query(
                "select count(distinct w.person) filter (where w.waits) as waiting from w",
                {"w": s.work("marked")},
            ),
            gives=[WAITING],
        ),
    )


def _marked(state: State, resumed: Resumed) -> exp.Select:
    """SELECT of the source with `waits`; records without a key are refused later."""
    tables = {"w": state.work(WHOLE), "k": _released(resumed.signatures)}
    if resumed.cohort is not None:
        return query(
            "select w.*, k.person is null and c.person is null and w.person is not null as waits"
            " from w left join k on k.person = w.person left join c on c.person = w.person",
            {**tables, "c": resumed.cohort},
        )
    others = [query("select o.person from o", {"o": table}) for table in resumed.others]
    return query(
        "select w.*, k.person is null and c.person is not null as waits"
        " from w left join k on k.person = w.person left join c on c.person = w.person",
        {**tables, "c": query("select distinct o.person from o", {"o": stacked(others)})},
    )


def _released(signatures: Signatures) -> exp.Select:
    """SELECT person: people with a signature, and permanently suppressed ones."""
    return query("select p.person from p", {"p": signatures.people})


def commit_steps(spec: ReleaseSpec, signatures: Signatures, *, commits: bool) -> tuple[Step, ...]:
    """Steps that commit the new individuals of the run, before they are tested.

    Args:
        commits: False for a dry run, which only counts the people.
    """
    return (
        CreateTable(
            "due",
            "people whom the run tests",
            lambda s: s.work("due"),
            lambda s: _due(spec, s, signatures),
        ),
        Check(
            "gathered",
            "how many are tested",
            lambda s: query("select count(*) as due, 1 as cohorts from d", {"d": s.work("due")}),
            gives=[DUE, COHORTS],
        ),
        commit_step(spec, lambda s: commits and s[DUE] > 0),
    )


def _due(spec: ReleaseSpec, state: State, signatures: Signatures) -> exp.Select:
    key = identity(spec)
    assert key is not None  # a source without a key is refused
    people = query("select distinct 1 from c", {"c": state.work(CODED)}).select(
        named(digest(col(key, "c"), population_secret(state)), "person"), append=False
    )
    return query(
        "select d.person, 1 as cohort from d left join k on k.person = d.person"
        " where k.person is null",
        {"d": people, "k": _released(signatures)},
    )
