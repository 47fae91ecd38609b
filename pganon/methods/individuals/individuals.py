"""Individuals with what their records have, in blocks of similar ones.

    individuals   (rid, individual, n, held<j>, hulls, c<i>)   one row per individual; hulls are
                                                               of all records, n and values of
                                                               those that count
    blocked       (block, rid)                                 individuals along a Hilbert curve

An individual moves as one unit, whatever quasi-identifiers its records have: in two classes it
could be found by intersecting them. `rid` numbers individuals in a secret random order.

Whether the requirements can be met at all is known before any class is made: adding individuals
never makes a class violate IR k, IR (k, l) or EIR l, so the class of everybody satisfies them if
any class does. Bounds on shares need as many individuals or values as shares of that size add up to
one, and fewer holders of one value than would take everybody with them; more is not known before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from pganon.encode.codes import all_records
from pganon.encode.curve import along_curve, piece_of
from pganon.encode.records import NUMBER, PLACE
from pganon.encode.secrets import run_secret
from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal
from pganon.forms.work import INDIVIDUALS, held_column
from pganon.methods.common.reachable import infeasible, weaker
from pganon.methods.individuals.context import IdentityContext, hull
from pganon.methods.individuals.options import DAnonyIR, GeneIR
from pganon.methods.individuals.search.feasibility import forced_suppressions
from pganon.privacy.base import Bound, Requirement
from pganon.privacy.identity import EIRBeta, IRAlpha, histogram, measured
from pganon.sqltools import aliased, col, fragment, named, num, query, scalar
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import count, counts


def _check(requirement: Requirement, number: int) -> Check:
    model = requirement.model
    if model.bound is Bound.AT_LEAST:
        select, problem, given = _everybody, _out_of_reach, ("reached",)
    else:
        select, problem = _shared, _too_small
        given = ("individuals", "values", "holders")
    return Check(
        f"feasible{number}",
        f"whether {model.name} can be reached",
        lambda s: select(requirement, s),
        lambda row, state: problem(requirement, row),
        gives=counts(*given, of=f"feasible{number}_"),
    )


def _records(requirement: Requirement, state: State) -> exp.Select:
    """(class, individual, value): all records as one class."""
    return query(
        "select 1 as class, c.individual, :v as value from c",
        {"c": state.work(CODED)},
        v=required_value(requirement, "c"),
    )


def required_value(requirement: Requirement, rows: str) -> exp.Expr:
    """The code of the column that a requirement is about; of one about none any will do."""
    return col(f"s{requirement.sensitive or 0}", rows)


# -- k and l ----------------------------------------------------------------------------------


def _everybody(requirement: Requirement, state: State) -> exp.Expr:
    """One row, `reached`: the measure of all individuals as one class.

    Where an exact search cannot decide, nothing is refused: classes will show.
    """
    model = requirement.model
    all_records = _records(requirement, state)
    return query(
        "select m.measure as reached from m",
        {"m": measured(model, all_records, "class", undecided=int(model.parameter))},
    )


def _out_of_reach(requirement: Requirement, row: Mapping[str, Any]) -> PganonError | None:
    model, reached = requirement.model, int(row["reached"])
    if model.satisfied_by(reached):
        return None
    said = f"all individuals in one class reach {model.symbol} = {reached}"
    return _refusal(requirement, said, weaker(requirement, reached), reached)


# -- alpha and beta ---------------------------------------------------------------------------


def _shared(requirement: Requirement, state: State) -> exp.Expr:
    """One row: `individuals`, `values`, and the `holders` of the most frequent value."""
    return query(
        "select count(distinct r.individual) as individuals, count(distinct r.value) as values,"
        " (select max(h.n) from h) as holders from r",
        {
            "r": _records(requirement, state),
            "h": histogram("holders", _records(requirement, state), "class"),
        },
    )


def _too_small(requirement: Requirement, row: Mapping[str, Any]) -> PganonError | None:
    model = requirement.model
    share = Fraction(str(model.parameter))
    what = "individuals" if isinstance(model, IRAlpha) else "values"
    there, needed = int(row[what]), math.ceil(1 / share)
    if there < needed:
        said = f"it needs at least {needed} {what}, and there are {there}"
        return _refusal(requirement, said, weaker(requirement, 1 / there), 1 / there)
    if not isinstance(model, EIRBeta):
        return None
    holders, individuals = int(row["holders"]), int(row["individuals"])
    if forced_suppressions(holders, individuals, share) < individuals:
        return None
    said = f"{holders} of {individuals} individuals have the same value, so all would be left out"
    hint = "use a larger beta, or another column"
    return _refusal(requirement, said, hint, holders / individuals)


def _refusal(requirement: Requirement, said: str, hint: str, observed: float) -> PrivacyRefusal:
    model = requirement.model
    return infeasible(
        f"cannot satisfy {model.label}{requirement.known}: {said}",
        model=model.name,
        required=model.parameter,
        observed=observed,
        hint=hint,
    )


INDIVIDUAL_COUNT = count("individuals", assumed=1000)


def individual_steps(context: IdentityContext) -> list[Step]:
    options = context.spec.policy.method
    assert isinstance(options, DAnonyIR | GeneIR)
    return [
        *([_agreement(context)] if options.qi_conflict == "reject" else []),
        *[_check(requirement, n) for n, requirement in enumerate(context.spec.requirements)],
        table(
            "individuals",
            "individuals with what their records have",
            lambda s: _individuals(context, s),
            into=INDIVIDUALS,
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
        table(
            "blocked", "blocks of similar individuals", lambda s: _blocked(context, s, block_size)
        ),
    ]


def _individuals(context: IdentityContext, state: State) -> exp.Expr:
    spec, rows = context.spec, "c"
    gathered = query(
        "select c.individual from c group by c.individual", {"c": all_records(spec, state)}
    )
    if spec.policy.method.encoding.collapses:
        rows = "k"
        counted = aliased(state.work(CODED), rows)
        gathered = gathered.join(counted, on=fragment("k.rid = c.rid"), join_type="left")
    gathered = gathered.select(fragment("count(:rid)::int as n", rid=col(NUMBER, rows)))
    for item in spec.sensitive:
        value = col(f"s{item.index}", rows)
        held = fragment("array_agg(:v) filter (where :v is not null)", v=value)
        gathered = gathered.select(named(held, held_column(item)))
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
