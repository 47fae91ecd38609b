"""Models of the records that people do have."""

from __future__ import annotations

from sqlglot import exp

from pganon.guard import work
from pganon.guard.bounded import number_of, reference
from pganon.guard.floors import Applied, applied_rules
from pganon.guard.model import Version
from pganon.guard.own import own_of_cells, past
from pganon.privacy import identity
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.sqltools import fragment, query, stacked
from pganon.steps import State

_PER_PERSON = (identity.IRAlpha, identity.IRBeta, identity.EIRLDiversity)


def reads_everybody(version: Version) -> bool:
    """Whether own values of all people are read, and not only of those that must be counted.

    So they are where a rule looks at every person, and where groups are to have the values that
    their people had before.
    """
    return version.keeps_sets or looks_at_people(version)


def looks_at_people(version: Version) -> bool:
    """Whether a rule is about every person, and not only about cells."""
    return any(isinstance(found.rule.model, _PER_PERSON) for found in applied_rules(version))


def records(version: Version, state: State, applied: Applied) -> exp.Select:
    """Their records as a group, as far as they are known."""
    model = applied.rule.model
    if isinstance(model, BackgroundKnowledge):
        return _priors(version, state, applied)
    if isinstance(model, _PER_PERSON):
        return _per_person(version, state, applied)
    against = reference(version, state, applied) if model.needs_reference else None
    return model.measure(_histogram(version, state, applied), ["id", "era"], against)


def _histogram(version: Version, state: State, applied: Applied) -> exp.Select:
    """SELECT id, era, value, n where it is known."""
    column = number_of(version, applied)
    sides = [
        query(
            "select o.cell as id, 0 as era, o.value, o.own as n from o where o.col = :col",
            {"o": own_of_cells(version, state)},
            col=column,
        )
    ]
    if version.memory is not None:
        sides.append(
            query(
                "select s.id, 1 as era, l.value, l.own as n from s"
                " join l on l.cell = s.id and l.col = s.col"
                " where s.col = :col and s.old_past_own is null",
                {
                    "s": version.work(state, "standings"),
                    "l": past(version, version.memory, state),
                },
                col=column,
            )
        )
    return stacked(sides)


def _priors(version: Version, state: State, applied: Applied) -> exp.Select:
    """The divergence of priors in a part of a class is at most that in the class."""
    kept: exp.Expr = applied.was_promised("c")
    if applied.declared:
        kept = exp.or_(kept, fragment("c.grp > 0"))
    return query(
        "select c.id, e.era, 0::float8 as measure from c"
        " cross join (values (0), (1)) as e(era) where :kept",
        {"c": version.work(state, "cells")},
        kept=kept,
    )


def _per_person(version: Version, state: State, applied: Applied) -> exp.Select:
    """Of cells whose people are there; who left has no records to look at."""
    model = applied.rule.model
    kept = query(
        "select p.cell as id, o.person as individual, o.value from o"
        " join p on p.person = o.person cross join generate_series(1, o.n) as i(number)"
        " where o.col = :col",
        {
            "o": state.work(work.own(version.part)),
            "p": version.staged(state, "person"),
        },
        col=number_of(version, applied),
    )
    found = identity.measured(model, kept, "id")
    return query("select x.id, 0 as era, x.measure from x", {"x": found})
