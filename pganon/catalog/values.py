"""Values of the source on their way into pganon's own tables.

No code of a type's owner may run here. Casts, even implicit ones, can be planted on every type that
is not built in, and the functions that make JSON look for casts. Only a superuser can create an
output function, so values are converted to text by that. A cast from a domain to its base type
cannot be planted; one to a domain would run its checks.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from pganon.catalog.model import Column, Kind
from pganon.sqltools import cast, fragment, text

_SAME_TEXTS: Mapping[Kind, str] = {
    "text": "text",
    "bpchar": "text",
    "enum": "text",
    "integer": "number",
    "numeric": "number",
}


def as_text(column: Column, value: exp.Expr) -> exp.Expr:
    """The text of a value in the source, NULL for NULL."""
    # That of citext comes with the type, which is a base type: none but superusers make these.
    if column.built_in or column.kind == "citext":
        return cast(value, "text")
    return fragment("case when num_nulls(:v) = 0 then format('%s', :v) end", v=value)


def stored(column: Column, value: exp.Expr) -> exp.Expr:
    """A value in the source as it is kept and published, of the column's `stored_type`."""
    if column.kind == "enum":
        return as_text(column, value)
    if column.type_oid != column.base_oid:
        return cast(value, column.base)
    return value


def in_order(column: Column, value: exp.Expr) -> exp.Expr:
    """Sort key of a stored or canonical value; of an enum it is the place of the label."""
    if column.kind != "enum":
        return value
    labels = exp.Array(expressions=[text(label) for label in column.labels])
    return fragment("array_position(:labels::text[], :v)", labels=labels, v=value)


def equal_key(column: Column, value: exp.Expr) -> exp.Expr:
    """The same for spellings of a value that are equal: of texts in a citext column, of numbers.

    The value is a stored one, or of a type that is the server's own or citext.
    """
    match column.kind:
        case "citext":
            return caseless(value)
        case "text" | "bpchar" | "enum":
            return fragment(':v::text collate "C"', v=value)
        case "float":
            # Adding zero makes -0 and 0, which are equal, one text.
            return fragment("(:v + 0)::text", v=value)
        case "numeric":
            # So do 1.0 and 1.00.
            return fragment("trim_scale(:v)::text", v=value)
        case _:
            return value


def order_label(value_type: str, value: exp.Expr) -> exp.Expr:
    """The text by which a value has its place in an order that a policy declares.

    Args:
        value_type: as :func:`pganon.catalog.types.canonical_type` gives it.
    """
    if value_type == "numeric":
        return fragment("trim_scale(:v::numeric)::text", v=value)
    return fragment(":v::text", v=value)


def caseless(value: exp.Expr) -> exp.Expr:
    """A text as citext compares it: in the collation of the database, whatever the column's."""
    return fragment('lower(:v::text collate "default") collate "C"', v=value)


def texts_of(column: Column) -> str:
    """The same for types in which a key is the same text."""
    kind = column.kind
    return column.base if kind == "unsupported" else _SAME_TEXTS.get(kind, kind)
