"""Displays: sets of records that show and hide the same columns, which depend only on flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.work import DISPLAYS
from pganon.identifiers import QualifiedName
from pganon.methods.common.suppression import suppressed_check
from pganon.methods.local.context import Context
from pganon.methods.local.form.axes import measured, measured_facts
from pganon.methods.local.form.facts import SHOWN_CELLS, SUBSETS
from pganon.methods.local.form.layout import forms, is_generalized
from pganon.methods.local.released_records import mask, placed_step
from pganon.methods.local.search.subsets import merged
from pganon.sqltools import col, fragment, num, query
from pganon.steps import Check, Search, State, Step, table
from pganon.steps.facts import RECORDS
from pganon.steps.tasks import TaskResult


def display_steps(context: Context) -> list[Step]:
    """From the encoded records to `placed`."""
    return [
        table(
            "masks", "records by which of their values are sensitive", lambda s: _masks(context, s)
        ),
        Check(
            "subsets",
            "whether there are enough records of every mask",
            lambda s: query(
                "select count(*) as subsets, count(*) filter (where m.n < :k) as small,"
                " coalesce(sum(m.n) filter (where m.n < :k), 0)::bigint as few from m",
                {"m": s.work("masks")},
                k=num(context.k),
            ),
            lambda row, state: _too_small(context, row, state),
            gives=SUBSETS,
        ),
        Search(
            "displays",
            "what records of every mask show",
            lambda s: s.work(DISPLAYS),
            (("mask", "text"), ("display", "integer"), ("form", "text")),
            rows=lambda s, batch: query(
                'select m.mask, m.n from m order by m.mask collate "C"', {"m": s.work("masks")}
            ),
            tasks=lambda s, given, rows: [partial(_displays, rows, context.k, context.merges)],
        ),
        placed_step(context),
        suppressed_check(
            context.spec,
            lambda s: query(
                "select m.n from m join d on d.mask = m.mask",
                {"m": s.work("masks"), "d": s.work(DISPLAYS)},
            ),
            fragment("coalesce(sum(t.n), 0)::bigint"),
        ),
    ]


def shown_check(context: Context, cells: Callable[[State], QualifiedName]) -> Check:
    """Facts of the extent of shown values, from a table (display, codes) of the records."""
    return Check(
        "shown",
        "how far the values that are shown lie apart",
        lambda s: _shown(context, cells(s), s),
        gives=[SHOWN_CELLS, *[fact for axis in context.axes for fact in measured_facts(axis)]],
    )


def _masks(context: Context, state: State) -> exp.Select:
    flags = [col(hidden.flag, "c") for hidden in context.spec.hidden]
    counted = query("select count(*) as n from c having count(*) > 0", {"c": state.work(CODED)})
    if flags:
        counted = counted.select(*flags).group_by(*[flag.copy() for flag in flags])
    return query("select :mask as mask, r.n from r", {"r": counted}, mask=mask(context, "r"))


def _too_small(context: Context, row: Mapping[str, Any], state: State) -> PganonError | None:
    policy = context.spec.policy
    if not row["small"] or context.merges:
        return None
    if policy.on_infeasible == "suppress":
        return None
    records = state[RECORDS]
    share = row["few"] / records
    subsets = "subset" if row["small"] == 1 else "subsets"
    return PrivacyRefusal(
        f"the records that show and hide the same columns have {row['small']} {subsets} below"
        f" k = {context.k} with {row['few']} of {records} records ({share:.1%})",
        model="k_anonymity",
        required=context.k,
        hint="use small_subsets: merge, or leave them out with on_infeasible: suppress and"
        f" suppression_limit: {-(-10_000 * row['few'] // records) / 10_000:g}; or lower k",
        code=ErrorCode.INFEASIBLE,
    )


def _displays(sizes: Sequence[Sequence[Any]], k: int, merges: bool) -> TaskResult:
    records = {str(mask): int(n) for mask, n in sizes}
    if merges:
        form_of = merged(records, k)
    else:
        form_of = {mask: mask for mask, n in records.items() if n >= k}
    number = {form: place for place, form in enumerate(sorted(set(form_of.values())))}
    rows = [(mask, number[form], form) for mask, form in form_of.items()]
    return TaskResult(rows)


def _shown(context: Context, cells: QualifiedName, state: State) -> exp.Expr:
    form = col("form", "d")
    rows = query(
        "select p.*, d.form from p join d on d.display = p.display",
        {"p": cells, "d": forms(state)},
    )
    tree = query("select count(*) as shown_cells from d", {"d": rows})
    for axis in context.axes:
        tree = tree.select(*measured(axis, state, "d", is_generalized(axis.attribute, form)))
    return tree
