"""Values in their published form, and as keys of published values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from pganon.catalog.model import Column
from pganon.encode.sensitive import sensitive_key
from pganon.identifiers import quote
from pganon.resolved.model import Attribute, ReleaseSpec, Scale, Sensitive, Shown
from pganon.sqltools import cast, col, fragment, num
from pganon.steps.relations import ViewColumn

_SAID = {
    Shown.RANGE: "generalized. Smallest range that holds the values of all records of the class.",
    Shown.SET: "generalized. Values among which those of all records of the class are.",
    Shown.LABEL: "generalized. Label of the hierarchy above the values of all records of the"
    " class.",
    Shown.EXACT: "exact.",
    Shown.MEAN: "mean of the records of the class, rounded.",
    Shown.MODE: "most frequent value among the records of the class.",
}
_INTERVAL = "generalized. Interval of the hierarchy that holds the values of all records."
_REGION = {
    Shown.RANGE: "generalized. Bounds of the region of the class, whatever its records have.",
    Shown.SET: "generalized. All values that the region of the class may have.",
    Shown.LABEL: "generalized. Label of the hierarchy above all that the region of the class may"
    " have.",
}


def attribute_columns(attribute: Attribute) -> list[ViewColumn]:
    """The published columns of a quasi-identifier: its value, and `<column>_null` if it has one.

    Both are one part: how records have these values is not known together with other columns.
    """
    interval = attribute.form is Shown.RANGE and attribute.scale is Scale.TREE
    said = _INTERVAL if interval else _SAID[attribute.form]
    said = f"Quasi-identifier, {_REGION[attribute.form] if attribute.in_regions else said}"
    meant: dict[str, Any] = {
        "kind": attribute.column.stored_type,
        "collation": attribute.column.collation,
        "attained": attribute.attained,
        "part": attribute.published,
    }
    form = _form(attribute)
    found = [ViewColumn(attribute.published, attribute.published_type, said, form, **meant)]
    if attribute.null_column is not None:
        said = f"Whether records of the class have no {quote(attribute.published)}."
        if attribute.in_regions:
            said = f"Whether records of its region may have no {quote(attribute.published)}."
        meant["attained"] = not attribute.in_regions
        found.append(ViewColumn(attribute.null_column, "boolean", said, "null", **meant))
    return found


def _form(attribute: Attribute) -> str:
    """How the published column stands for values, as :class:`ViewColumn` says."""
    match attribute.form:
        case Shown.SET if attribute.scale is Scale.ORDERED:
            return "ordinal"
        case Shown.VALUES:
            return "set"
        case form:
            return form.value


def exact_column(name: str, column: Column, comment: str) -> ViewColumn:
    """A column that is published unchanged."""
    return ViewColumn(
        name, column.stored_type, comment, "exact", column.stored_type, column.collation
    )


def element(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """A single value, or an element of the attribute's published array.

    1.0 and 1.00 are one value, which a dictionary holds as the source happened to show it first:
    without a declared scale, digits that say nothing are cut.
    """
    if attribute.column.kind == "numeric":
        value = fragment("trim_scale(:v)", v=value)
    return cast(value, attribute.published_type.removesuffix("[]"))


def value_key(item: Sensitive, table: str) -> exp.Expr:
    """A published sensitive value as a text that is never NULL."""
    return text_key(sensitive_key(item, col(item.published, table)))


def own_value(item: Sensitive, table: str) -> exp.Expr:
    """The same of a record of `coded`."""
    return text_key(sensitive_key(item, col(f"v{item.index}", table)))


def own_values(spec: ReleaseSpec, table: str = "c") -> list[exp.Expr]:
    """Those of all sensitive columns."""
    return [own_value(item, table) for item in spec.sensitive]


def carried_keys(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    """The keys of other columns of which values or means are published, of a record."""
    names = [f"p{item.index}" for item in spec.carried]
    names += [f"g{item.index}" for item in spec.microaggregated]
    return [text_key(col(name, table)) for name in names]


def of_text_key(item: Sensitive, key: exp.Expr) -> exp.Expr:
    """The value of a key, in the type that is published."""
    value = cast(fragment("substr(:k, 2)", k=key), item.column.stored_type)
    return fragment("case when :k = '' then null else :v end", k=key, v=value)


def text_key(value: exp.Expr) -> exp.Expr:
    """A value as a text that is never NULL, and another one for every value."""
    return fragment("coalesce('=' || :v, '')", v=cast(exp.paren(value), "text"))


def vector_key(keys: Sequence[exp.Expr]) -> exp.Expr:
    """The keys of the values of a person in one text; that of one value is its key."""
    if len(keys) == 1:
        return keys[0]
    return cast(exp.func("jsonb_build_array", *keys), "text")


def of_vector_key(place: int, of: int, key: exp.Expr) -> exp.Expr:
    """The key of the value at a place from 0, one of so many."""
    return key if of == 1 else fragment("(:key::jsonb ->> :place)", key=key, place=num(place))
