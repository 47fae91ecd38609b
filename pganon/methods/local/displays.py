"""Which records look alike in what they show and hide. Flags alone decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.work import CODED
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.local.axes import measured, measured_facts
from pganon.forms.local.facts import RELEASED_HERE, SUBSETS
from pganon.forms.local.layout import forms, in_bucket, is_generalized
from pganon.methods.local.shape import Shape
from pganon.methods.suppression import suppressed_check
from pganon.published.work import DISPLAYS, shown_beside
from pganon.search.local.subsets import merged
from pganon.search.tasks import TaskResult
from pganon.sqltools import chain, col, fragment, named, num, query
from pganon.steps import Check, CreateTable, DropTables, Search, State, Step
from pganon.steps.facts import RECORDS


def display_steps(shape: Shape) -> list[Step]:
    """From the encoded records to `placed`."""
    return [
        CreateTable(
            "masks",
            "records by which of their values are sensitive",
            lambda s: s.work("masks"),
            lambda s: query(
                "select :mask as mask, count(*) as n from c group by 1",
                {"c": s.work(CODED)},
                mask=_mask(shape, "c"),
            ),
        ),
        Check(
            "subsets",
            "whether there are enough records of every mask",
            lambda s: query(
                "select count(*) as subsets, count(*) filter (where m.n < :k) as small,"
                " coalesce(sum(m.n) filter (where m.n < :k), 0)::bigint as few from m",
                {"m": s.work("masks")},
                k=num(shape.k),
            ),
            lambda row, state: _too_small(shape, row, state),
            gives=SUBSETS,
        ),
        Search(
            "displays",
            "what records of every mask show",
            lambda s: s.work(DISPLAYS),
            (("mask", "text"), ("display", "integer"), ("form", "text")),
            given=lambda s: query("select 1 as nothing"),
            batches=lambda s: 1,
            rows=lambda s, batch: query(
                'select m.mask, m.n from m order by m.mask collate "C"', {"m": s.work("masks")}
            ),
            tasks=lambda s, given, rows: [_Displays(rows, shape.k, shape.merges)],
        ),
        CreateTable(
            "placed",
            "the records that are released, with what they show",
            lambda s: s.work("placed"),
            lambda s: _placed(shape, s),
        ),
        DropTables("tidy", "the masks", lambda s: [s.work("masks")]),
        suppressed_check(shape.spec, lambda s: s.work("placed")),
        Check(
            "shown",
            "how far the values that are shown lie apart",
            lambda s: _shown(shape, s),
            gives=[RELEASED_HERE, *[fact for axis in shape.axes for fact in measured_facts(axis)]],
        ),
    ]


def _mask(shape: Shape, table: str) -> exp.Expr:
    letters = [
        fragment("case when :f then 'b' else 'g' end", f=col(hidden.flag, table))
        for hidden in shape.spec.hidden
    ]
    return chain(exp.DPipe, letters) if letters else fragment("''::text")


def _too_small(shape: Shape, row: Mapping[str, Any], state: State) -> PganonError | None:
    policy = shape.spec.policy
    if not row["small"] or shape.merges:
        return None
    if policy.on_infeasible == "suppress":
        return None
    records = state[RECORDS]
    share = row["few"] / records
    subsets = "subset" if row["small"] == 1 else "subsets"
    return PrivacyRefusal(
        f"the records that show and hide the same columns have {row['small']} {subsets} below"
        f" k = {shape.k} with {row['few']} of {records} records ({share:.1%})",
        model="k_anonymity",
        required=shape.k,
        hint="use small_subsets: merge, or leave them out with on_infeasible: suppress and"
        f" suppression_limit: {-(-10_000 * row['few'] // records) / 10_000:g}; or lower k",
        code="infeasible",
    )


@dataclass(frozen=True)
class _Displays:
    sizes: Sequence[Sequence[Any]]
    k: int
    merges: bool

    def __call__(self) -> TaskResult:
        sizes = {str(mask): int(n) for mask, n in self.sizes}
        if self.merges:
            form_of = merged(sizes, self.k)
        else:
            form_of = {mask: mask for mask, n in sizes.items() if n >= self.k}
        number = {form: place for place, form in enumerate(sorted(set(form_of.values())))}
        rows = [(mask, number[form], form) for mask, form in form_of.items()]
        return TaskResult(rows)


def _placed(shape: Shape, state: State) -> exp.Expr:
    form = col("form", "d")
    tree = query(
        "select c.rid, d.display from c join d on d.mask = :mask",
        {"c": state.work(CODED), "d": state.work(DISPLAYS)},
        mask=_mask(shape, "c"),
    )
    for axis in shape.axes:
        code = col(axis.code, "c")
        tree = tree.select(named(_where(is_generalized(axis.attribute, form), code), axis.code))
    for item in shape.spec.sensitive:
        value = col(f"s{item.index}", "c")
        tree = tree.select(named(_where(in_bucket(item, form), value), f"s{item.index}"))
    return tree.select(*[col(name, "c") for name in shown_beside(shape.spec)])


def _where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The code where the condition holds, else 0."""
    if isinstance(condition, exp.Boolean):
        return value
    return fragment("case when :holds then :v else 0 end", holds=condition, v=value)


def _shown(shape: Shape, state: State) -> exp.Expr:
    form = col("form", "d")
    rows = query(
        "select p.*, d.form from p join d on d.display = p.display",
        {"p": state.work("placed"), "d": forms(state)},
    )
    tree = query("select count(*) as shown_records from d", {"d": rows})
    for axis in shape.axes:
        tree = tree.select(*measured(axis, state, "d", is_generalized(axis.attribute, form)))
    return tree
