"""Weighted cells, and whether the requirements can be reached on them at all.

    cells     (node, codes, sensitive codes, [rid], w)   node: part kept apart by its NULLs
    fit       (node, requirement, measure, holds)        every part measured as one class
    cells_0   the cells that are released; nodes_0 (node, n, extents, again) the parts to start from

One class of a whole part is the best that a model with `merging_keeps` can reach: merging two
groups never makes the worse of their measures worse. Every model has that today. Shares of a union
lie between those of its parts, which settles alpha, beta-likeness and delta-disclosure; distances
to the table are convex, entropy is concave; counts add up; and the l - 1 most frequent values of a
union are at most as many records as those of its parts together, which settles (c, l)-diversity. So
a part that fails as one class fails however it is divided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.combination import COMBINATION, combined
from pganon.encode.distribution import by_cell
from pganon.encode.facts import KEPT, weight_type
from pganon.encode.first import compares_with_first, first_of
from pganon.encode.records import number_of
from pganon.encode.sensitive import reference_step
from pganon.encode.shard_counts import counted_values, decoded
from pganon.encode.value_codes import referenced, valued
from pganon.encode.work import CODED, FIT, PART_CELLS, reference
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.facts import SUPPRESSED
from pganon.identifiers import QualifiedName, quote
from pganon.methods.classes.surplus import Surplus
from pganon.methods.common.reachable import infeasible, unreachable, weaker
from pganon.methods.common.rounds.rounds import start_step
from pganon.methods.common.suppression import enough, nothing_left, suppressed_check
from pganon.privacy.base import Requirement, grouped
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import (
    aliased,
    cast,
    col,
    equal,
    fragment,
    named,
    num,
    query,
    scalar,
    total,
    union_all,
)
from pganon.steps import Check, CreateTable, DropTables, State, Step, table
from pganon.steps.facts import RECORDS, Fact, count, counts, flag, measure, or_null


def closeness_checks(spec: ReleaseSpec, released: Callable[[State], exp.Select]) -> list[Step]:
    """One check per requirement that compares with a distribution.

    Args:
        released: the cells of the parts that are released.
    """

    def check(number: int, requirement: Requirement) -> Step:
        model = requirement.model

        def select(state: State) -> exp.Expr:
            histogram = query(
                "select c.node, :value as value, sum(c.w)::bigint as n from c group by c.node, 2",
                {"c": released(state)},
                value=col(f"s{requirement.sensitive}", "c"),
            )
            published = state.work(reference(requirement.sensitive, "published"))
            return model.worst(model.measure(histogram, ["node"], published))

        def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
            if not row["failing"]:
                return None
            return PrivacyRefusal(
                f"{requirement.label} holds for the source, but"
                f" {row['failing']} parts kept apart by nulls: own_class miss it against the"
                f" published distribution, without the {state[SUPPRESSED]} suppressed"
                " records",
                model=model.name,
                required=model.parameter,
                observed=row["measured"],
                hint=f"{weaker(requirement, row['measured'])}, or use nulls: as_value",
                code=ErrorCode.CLOSENESS_AFTER_SUPPRESSION,
            )

        return Check(
            f"close{number}",
            f"{requirement.label} against what is published",
            select,
            problem,
            gives=[
                count("failing", f"close{number}_"),
                or_null(measure("measured", f"close{number}_")),
            ],
        )

    return [
        check(number, requirement)
        for number, requirement in enumerate(spec.measured)
        if requirement.model.needs_reference
    ]


def cell_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    published = [reference_step(spec, item, "published") for item in referenced(spec)]
    fixed = compares_with_first(spec)
    reached: list[Fact[Any]] = []
    for number in range(len(spec.measured)):
        reached += [or_null(measure(f"reached{number}")), flag(f"missed{number}")]
    return (
        *(surplus_of(spec).steps() if spec.leaves_surplus_out else []),
        *(published if fixed else []),
        table(
            "cells",
            "equal quasi-identifiers collapse into weighted cells",
            lambda s: _cells(spec, s),
            into=PART_CELLS,
        ),
        table(
            "fit",
            "every part measured as one class, the best it can reach",
            lambda s: _fit(spec, s),
            into=FIT,
        ),
        Check(
            "feasible",
            "whether the requirements can be reached at all",
            lambda s: _feasibility(spec, s),
            lambda row, s: _infeasible(spec, row, s),
            gives=[*counts("parts", "failing_parts", "failing_records"), *reached],
        ),
        *_released(spec),
        start_step(axes(spec.attributes)),
        suppressed_check(
            spec,
            lambda s: s.work("nodes", round=0),
            fragment("coalesce(sum(t.n), 0)::bigint"),
        ),
        *([] if fixed else published),
        *closeness_checks(spec, released_cells),
        DropTables("tidy", "cells of all parts", lambda s: [s.work(PART_CELLS), s.work(FIT)]),
    )


def surplus_of(spec: ReleaseSpec) -> Surplus:
    """Records left out of the parts before anything else, if the policy allows it."""
    return Surplus(spec, lambda state: _part(spec, state))


def _cells(spec: ReleaseSpec, state: State) -> exp.Expr:
    keys = [axis.code for axis in axes(spec.attributes)] + [f"s{i.index}" for i in valued(spec)]
    columns = [col(name, "r") for name in keys]
    node = named(_part(spec, state), "node")
    records = surplus_of(spec).kept(state) if spec.leaves_surplus_out else state.work(CODED)
    if spec.policy.method.encoding.numbers_records:
        one = cast(num(1), weight_type(state))
        return query("select r.rid, :w as w from r", {"r": records}, w=one).select(node, *columns)
    if by_cell(spec, state) is not None:
        counted = decoded(spec, state, counted_values(spec, state))
        return query("select r.w from r", {"r": counted}).select(node, *columns)
    count = cast(number_of(spec, "r"), weight_type(state))
    tree = query("select :w as w from r", {"r": records}, w=count)
    beside = [col("cohort", "r")] if spec.in_cohorts else []
    if combined(spec, state):
        by = [col(COMBINATION, "r"), *columns[len(spec.attributes) :], *beside]
        counted = tree.select(*by).group_by(*[column.copy() for column in by])
        return query("select r.w from r", {"r": decoded(spec, state, counted)}).select(
            node, *[column.copy() for column in columns]
        )
    by = [column.copy() for column in (*columns, *beside)]
    return tree.select(node, *columns).group_by(*by)


def released_cells(state: State) -> exp.Select:
    """The cells of the parts that are released."""
    return query(
        "select c.* from c where not exists"
        " (select 1 from f where f.node = c.node and not f.holds)",
        {"c": state.work(PART_CELLS), "f": state.work(FIT)},
    )


def _released(spec: ReleaseSpec) -> list[Step]:
    """`cells_0`; where values of a cell are told apart, they go to tables `cellvalues<j>`."""

    def create(name: str, select: Callable[[State], exp.Expr]) -> CreateTable:
        return table(name, "the cells that are released", select, later=0, into="cells")

    if spec.policy.method.encoding.numbers_records or not valued(spec):
        return [create("released_cells", released_cells)]
    codes = [axis.code for axis in axes(spec.attributes)]

    def plain(state: State) -> exp.Expr:
        tree = query("select :w as w from c", {"c": released_cells(state)}, w=_sum(state))
        for item in valued(spec):
            if enough_values(spec, item) is not None:
                tree = tree.select(named(_distinct(spec, item), f"d{item.index}"))
        summed = grouped(tree, ["node", *codes], "c")
        return query("select (row_number() over ())::int as cell, p.* from p", {"p": summed})

    def values(state: State, item: Sensitive) -> exp.Expr:
        tree = query("select :w as w from c", {"c": state.work(PART_CELLS)}, w=_sum(state)).join(
            aliased(state.work("cells", round=0), "p"),
            on=equal(("node", *codes), "p", "c"),
        )
        keys = [col("cell", "p"), col(f"s{item.index}", "c")]
        tree = tree.select(*keys).group_by(*[key.copy() for key in keys])
        enough = enough_values(spec, item)
        if enough is None:
            return tree
        return query(
            "select x.* from (select v.*, row_number() over (partition by v.cell) as place from v)"
            " as x where x.place <= :enough",
            {"v": tree},
            enough=num(enough),
        )

    return [
        create("released_cells", plain),
        *[
            table(
                f"cellvalues{item.index}",
                f"values of {quote(item.column.name)} in every cell",
                lambda s, item=item: values(s, item),
            )
            for item in valued(spec)
        ],
    ]


def enough_values(spec: ReleaseSpec, item: Sensitive) -> int | None:
    """How many distinct values of a cell decide every condition on them; None: all count.

    A group of which one cell has l distinct values has l, whatever else that cell has.
    """
    models = [r.model for r in spec.measured if r.sensitive == item.index]
    if not all(model.counts_distinct for model in models):
        return None
    return max(int(model.parameter) for model in models)


def _distinct(spec: ReleaseSpec, item: Sensitive) -> exp.Expr:
    """Distinct values of a column in a cell; a row of `c` is a combination of all columns'."""
    if len(valued(spec)) == 1:
        return fragment("count(*)::int")
    return fragment("count(distinct :s)::int", s=col(f"s{item.index}", "c"))


def _sum(state: State) -> exp.Expr:
    return cast(fragment("sum(c.w)"), weight_type(state))


def _part(spec: ReleaseSpec, state: State) -> exp.Expr:
    """Number of the part of a record: its cohort, which `own_class` attributes are NULL, and the
    values of attributes that are kept apart."""
    flags: list[exp.Expr] = []
    for axis in axes(spec.attributes):
        if axis.attribute.nulls == "own_class" and axis.has_null(state):
            flags.append(
                fragment("(:c = 0)::int * :bit", c=col(axis.code, "r"), bit=num(2 ** len(flags)))
            )
    base = 2 ** len(flags)
    for axis in axes(spec.attributes):
        if axis.attribute.apart:
            flags.append(fragment(":c::int * :base", c=col(axis.code, "r"), base=num(base)))
            base *= axis.size(state) + 1
    if spec.in_cohorts:
        flags.append(fragment(":c * :base", c=col("cohort", "r"), base=num(base)))
    return cast(exp.paren(total([num(1), *flags])), "integer")


def _fit(spec: ReleaseSpec, state: State) -> exp.Expr:
    if not spec.measured:
        return query(
            "select distinct c.node, 0 as requirement, 1::float8 as measure, true as holds from c",
            {"c": state.work(PART_CELLS)},
        )
    parts: list[exp.Select] = []
    for number, requirement in enumerate(spec.measured):
        value: exp.Expr = num(0)
        if requirement.model.needs_values:
            value = col(f"s{requirement.sensitive}", "c")
        histogram = query(
            "select c.node, :value as value, sum(c.w)::bigint as n from c group by c.node, 2",
            {"c": state.work(PART_CELLS)},
            value=value,
        )
        reachable = requirement.model.merging_keeps
        holds = requirement.model.holds(col("measure", "m")) if reachable else exp.true()
        parts += [
            query(
                "select m.node, :number as requirement, m.measure::float8 as measure,"
                " :holds as holds from m",
                {"m": requirement.model.measure(histogram, ["node"], distribution)},
                number=num(number),
                holds=holds.copy(),
            )
            for distribution in _distributions(spec, requirement, state)
        ]
    return union_all(parts)


def _distributions(
    spec: ReleaseSpec, requirement: Requirement, state: State
) -> list[QualifiedName | None]:
    """Distributions that a part is compared with; published ones change with what is left out."""
    if not requirement.model.needs_reference:
        return [None]
    assert requirement.sensitive is not None
    fixed = first_of(spec, spec.sensitive[requirement.sensitive]) is not None
    kinds = ("source", "published") if fixed else ("source",)
    return [state.work(reference(requirement.sensitive, kind)) for kind in kinds]


def _feasibility(spec: ReleaseSpec, state: State) -> exp.Expr:
    tree = query(
        "select count(distinct f.node) as parts,"
        " count(distinct f.node) filter (where not f.holds) as failing_parts from f",
        {"f": state.work(FIT)},
    )
    for number, requirement in enumerate(spec.measured):
        extreme = "min" if requirement.model.bound.value == ">=" else "max"
        worst = exp.Filter(
            this=exp.func(extreme, col("measure", "f")),
            expression=exp.Where(this=fragment("f.requirement = :i", i=num(number))),
        )
        missed = fragment("bool_or(not f.holds and f.requirement = :i)", i=num(number))
        tree = tree.select(named(worst, f"reached{number}"), named(missed, f"missed{number}"))
    failing = query(
        "select coalesce(sum(c.w), 0)::bigint from c where exists"
        " (select 1 from f where f.node = c.node and not f.holds)",
        {"c": state.work(PART_CELLS), "f": state.work(FIT)},
    )
    return tree.select(named(scalar(failing), "failing_records"))


def _infeasible(spec: ReleaseSpec, row: Mapping[str, Any], state: State) -> PganonError | None:
    if row["failing_parts"] == 0 and row["parts"] > 0:
        return None
    if row["parts"] == 0:
        return nothing_left(spec, state)
    number = next(n for n in range(len(spec.measured)) if row[f"missed{n}"])
    requirement, reached = spec.measured[number], float(row[f"reached{number}"])
    if row["parts"] == 1:
        return unreachable(
            requirement,
            reached,
            f"any release of these {state[KEPT]} records",
            otherwise=_instead(spec, requirement),
        )
    if spec.policy.on_infeasible == "suppress" or spec.in_cohorts or spec.tests_once:
        return None  # the limit on suppressed records decides
    left_out = state[RECORDS] - state[KEPT] + row["failing_records"]
    return infeasible(
        f"{row['failing_parts']} of {row['parts']} parts kept apart by nulls: own_class cannot"
        f" satisfy {requirement.label}; they hold {row['failing_records']} records",
        model=requirement.model.name,
        required=requirement.model.parameter,
        observed=reached,
        hint="use nulls: as_value or suppress, or on_infeasible: suppress with"
        f" suppression_limit: {enough(left_out, state):g}",
    )


def _instead(spec: ReleaseSpec, requirement: Requirement) -> str:
    """A remedy other than weaker requirements."""
    refuses, recomputes = spec.policy.on_infeasible == "refuse", spec.policy.refresh == "recompute"
    if requirement.bounds_frequency and refuses and recomputes:
        return (
            "or leave records of its most frequent values out with on_infeasible: suppress and a"
            " suppression_limit"
        )
    return "or release other records"
