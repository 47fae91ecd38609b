"""Individuals with what their records have, in blocks of similar ones.

    individuals   (rid, individual, n, hulls, values, c<i>)   one row per individual; hulls are
                                                              of all records, n and values of those
                                                              that count
    blocked       (block, rid)                                individuals along a Hilbert curve

An individual moves as one unit, whatever quasi-identifiers its records have: in two classes it
could be found by intersecting them. `rid` numbers individuals in a secret random order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.codes import all_records
from pganon.encode.curve import along_curve, piece_of
from pganon.encode.records import PLACE
from pganon.encode.secrets import run_secret
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.forms.work import INDIVIDUALS
from pganon.methods.individuals.context import IdentityContext, hull
from pganon.methods.individuals.feasible import feasible_steps
from pganon.methods.individuals.options import DAnonyIR, GeneIR
from pganon.sqltools import cast, col, fragment, named, num, query, scalar
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

INDIVIDUAL_COUNT = count("individuals", assumed=1000)


def individual_steps(context: IdentityContext) -> list[Step]:
    options = context.spec.policy.method
    assert isinstance(options, DAnonyIR | GeneIR)
    return [
        *([_agreement(context)] if options.qi_conflict == "reject" else []),
        *feasible_steps(context),
        CreateTable(
            "individuals",
            "individuals with what their records have",
            lambda s: s.work(INDIVIDUALS),
            lambda s: _individuals(context, s),
        ),
        Check(
            "individuals",
            "number of individuals",
            lambda s: query("select count(*) as individuals from i", {"i": s.work(INDIVIDUALS)}),
            gives=[INDIVIDUAL_COUNT],
        ),
    ]


def _agreement(context: IdentityContext) -> Check:
    """The records of an individual have the same quasi-identifiers."""

    def select(state: State) -> exp.Select:
        several = query(
            "select distinct c.individual from c", {"c": all_records(context.spec, state)}
        )
        several = several.select(*[col(code, "c") for code in context.codes])
        return query(
            "select count(*) as conflicting from"
            " (select s.individual from s group by s.individual having count(*) > 1) as i",
            {"s": several},
        )

    return Check(
        "agreement",
        "whether the records of an individual agree",
        select,
        _conflict,
        gives=[count("conflicting")],
    )


def _conflict(row: Mapping[str, Any], state: State) -> PganonError | None:
    if not row["conflicting"]:
        return None
    return PreconditionError(
        f"{row['conflicting']} of the individuals have records with different quasi-identifiers",
        hint="correct them, or set qi_conflict: hull, which generalizes all records of an"
        " individual to what covers them",
        code=ErrorCode.QI_CONFLICT,
    )


def block_steps(context: IdentityContext, block_size: int) -> list[Step]:
    return [
        CreateTable(
            "blocked",
            "blocks of similar individuals",
            lambda s: s.work("blocked"),
            lambda s: _blocked(context, s, block_size),
        ),
    ]


def _individuals(context: IdentityContext, state: State) -> exp.Expr:
    value: exp.Expr = col(context.value, "c")
    if context.spec.policy.method.encoding.collapses:
        value = exp.Distinct(expressions=[value])
    gathered = query(
        "select c.individual from c group by c.individual", {"c": all_records(context.spec, state)}
    ).select(
        named(cast(exp.Count(this=value.copy()), "int"), "n"),
        named(exp.ArrayAgg(this=value), "sensitive"),
    )
    for axis in context.axes:
        gathered = gathered.select(*hull(axis, state, "c"))
        # One of its codes stands for an individual on the curve.
        gathered = gathered.select(named(fragment("min(:c)", c=col(axis.code, "c")), axis.code))
    seed = scalar(run_secret(state, "partition_seed"))
    return query(
        "select row_number() over (order by hashtextextended(g.individual, :seed), g.individual)"
        " as rid, g.* from g",
        {"g": gathered},
        seed=seed,
    )


def _blocked(context: IdentityContext, state: State, block_size: int) -> exp.Expr:
    ordered = along_curve(context.axes, state, state.work(INDIVIDUALS), ["rid"])
    return query(
        "select o.rid, :block as block from o",
        {"o": ordered},
        block=piece_of(
            col(PLACE, "o"), num(blocks(state, block_size)), num(state[INDIVIDUAL_COUNT])
        ),
    )


def blocks(state: State, block_size: int) -> int:
    return max(state[INDIVIDUAL_COUNT] // block_size, 1)
