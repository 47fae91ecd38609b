"""The views of records with what their groups show, as it is and in plain columns.

Programs that know neither ranges nor arrays read the latter, `_flat`: a range is the two columns
`<column>_low` and `<column>_high`, a set is one text. Both ends belong to the range, except for
intervals of a hierarchy and regions over numbers that need not be whole. Where a region has no end,
the column is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.forms.elements import attribute_columns
from pganon.forms.form import Tables
from pganon.forms.shape import Shape
from pganon.identifiers import QualifiedName, quote
from pganon.methods.common.form.recode import LAST
from pganon.policy.hierarchies import AgeHierarchy, Hierarchy, IntervalHierarchy
from pganon.policy.options import FLAT
from pganon.resolved.model import Attribute, ReleaseSpec, Scale, Shown
from pganon.sqltools import cast, col, fragment, named, query, render
from pganon.steps.relations import PublishedView, ViewColumn

SEPARATOR = " | "
"""Between the values of a set."""

_STEP = {"date": "1", "timestamp": "interval '1 microsecond'"}
_STEP["timestamptz"] = _STEP["timestamp"]

_WIDE = 10**15
"""Intervals of whole numbers that are no wider end at numbers that a bigint holds."""


@dataclass(frozen=True)
class FlatColumn:
    """A column of a view and its expression over a record `r` and its group `c`."""

    column: ViewColumn
    value: exp.Expr


def record_views(
    spec: ReleaseSpec,
    shape: Shape,
    tables: Tables,
    columns: Callable[[bool], Iterable[FlatColumn]],
    comment: str,
) -> list[PublishedView]:
    """The view of the records, and the other one if there is a range or a set to take apart.

    Args:
        columns: of the view; whether it is the flat one.
    """
    groups, records, *_ = shape
    tree = query(
        "select 1 from r join c on :own = :of",
        {"r": tables[records.part], "c": tables[groups.part]},
        own=col(groups.groups[0], "c"),
        of=col(groups.groups[0], "r"),
    )

    def view(name: QualifiedName, comment: str, *, flat: bool) -> PublishedView:
        shown = list(columns(flat))
        selected = [named(item.value, item.column.name) for item in shown]
        text = render(tree.select(*selected, append=False))
        return PublishedView(name, text, tuple(item.column for item in shown), comment)

    found = [view(spec.view, comment, flat=False)]
    taken_apart = any(attribute.form in (Shown.RANGE, Shown.SET) for attribute in spec.attributes)
    if taken_apart or any(item.ranged for item in spec.averaged):
        said = f"The records of {spec.view}, with plain columns instead of ranges and sets."
        found.append(view(spec.view_of(FLAT), said, flat=True))
    return found


def shown_columns(
    spec: ReleaseSpec, attribute: Attribute, number: str, *, flat: bool
) -> list[FlatColumn]:
    """The columns of a quasi-identifier; `number` is that of the number of a group."""
    if flat:
        return _flat_columns(attribute, spec.policy.columns[attribute.column.name].hierarchy)
    columns = [column.located(number) for column in attribute_columns(attribute)]
    if attribute in spec.labelled:
        columns[0] = replace(columns[0], form="listed")
    return [FlatColumn(column, col(column.name, "c")) for column in columns]


def _flat_columns(attribute: Attribute, hierarchy: Hierarchy | None) -> list[FlatColumn]:
    """The plain columns of a quasi-identifier, `<column>_null` among them if it has one.

    Args:
        hierarchy: what the policy declares for it.
    """
    shown, *null = attribute_columns(attribute)
    value = col(shown.name, "c")
    if attribute.form is Shown.RANGE:
        columns = _ends(attribute, hierarchy, value)
    elif attribute.form is Shown.SET:
        said = f"Quasi-identifier, generalized. One of these values, separated by '{SEPARATOR}'."
        text = fragment("array_to_string(:v, :s)", v=value, s=exp.Literal.string(SEPARATOR))
        columns = [FlatColumn(ViewColumn(shown.name, "text", said), text)]
    else:
        columns = [FlatColumn(shown, value)]
    return [*columns, *[FlatColumn(column, col(column.name, "c")) for column in null]]


def _ends(attribute: Attribute, hierarchy: Hierarchy | None, value: exp.Expr) -> list[FlatColumn]:
    low, high = attribute.flat_names
    name, kind = quote(attribute.published), attribute.column.kind
    lowest, highest = fragment("lower(:v)", v=value), fragment("upper(:v)", v=value)
    beyond = f"Highest value that {name} may have."
    if kind in _STEP:
        end = fragment(f"upper(:v) - {_STEP[kind]}", v=value)
        last = fragment(LAST[kind])
        if not attribute.in_regions:  # else it may have no end
            end = exp.Case().when(fragment("upper_inf(:v)", v=value), last).else_(end)
        highest = end
    elif attribute.scale is Scale.TREE and kind == "integer":
        lowest = fragment("ceil(lower(:v))", v=value)
        highest = fragment(
            "case when upper_inc(:v) then floor(upper(:v)) else ceil(upper(:v)) - 1 end", v=value
        )
    elif attribute.scale is Scale.TREE:
        beyond = f"{name} is below this, or this itself where both ends are equal."
    type_ = _end_type(attribute, hierarchy)
    said, least = "Quasi-identifier, generalized.", f"Lowest value that {name} may have."
    if attribute.in_regions:
        least = f"{name} is not below this; NULL if it may be as low as any."
        beyond = f"{name} is not above this; NULL if it may be as high as any."
    return [
        FlatColumn(
            ViewColumn(low, type_, f"{said} {least}"),
            cast(exp.paren(lowest), type_),
        ),
        FlatColumn(ViewColumn(high, type_, f"{said} {beyond}"), cast(exp.paren(highest), type_)),
    ]


def _end_type(attribute: Attribute, hierarchy: Hierarchy | None) -> str:
    """A type that holds both ends exactly."""
    column = attribute.column
    if column.is_time:
        return {
            "date": "date",
            "timestamp": "timestamp without time zone",
            "timestamptz": "timestamp with time zone",
        }[column.kind]
    declared = attribute.in_regions and attribute.domain and column.kind == "numeric"
    if attribute.scale is not Scale.TREE and not declared:
        return column.stored_type
    if column.kind != "integer":
        # Intervals and domains may end where no declared precision or float can.
        return "numeric"
    assert isinstance(hierarchy, IntervalHierarchy | AgeHierarchy)
    narrow = column.stored_type in ("smallint", "integer") and hierarchy.intervals[-1] <= _WIDE
    return "bigint" if narrow else "numeric"
