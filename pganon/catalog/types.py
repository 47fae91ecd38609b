"""From types of pg_catalog to the kinds that pganon can release."""

from __future__ import annotations

from collections.abc import Mapping

from pganon.catalog.model import Column, Kind

_BUILT_IN: dict[str, Kind] = {
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "numeric": "numeric",
    "float4": "float",
    "float8": "float",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "bool": "boolean",
    "text": "text",
    "varchar": "text",
    "name": "text",
    "bpchar": "bpchar",
    "uuid": "uuid",
}


def kind_of(typname: str, typtype: str, *, built_in: bool) -> Kind:
    """The kind of a base type (no domain).

    Args:
        typname: pg_type.typname, e.g. `int4`.
        typtype: pg_type.typtype: `b` base, `e` enum, `c` composite, `r` range, ...
        built_in: the type lives in pg_catalog; a user's type may bear the same name.
    """
    if typtype == "e":
        return "enum"
    if typtype != "b":
        return "unsupported"
    if built_in:
        return _BUILT_IN.get(typname, "unsupported")
    return "citext" if typname == "citext" else "unsupported"


CANONICAL_TYPES: Mapping[str, str] = {
    "integer": "bigint",
    "numeric": "numeric",
    "float": "numeric",
    "date": "date",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "boolean": "boolean",
    "uuid": "uuid",
    "text": "text",
    "bpchar": "text",
    "citext": "text",
    "enum": "text",
}


def canonical_type(column: Column) -> str:
    """SQL name of the type in which values are compared and published."""
    return CANONICAL_TYPES[column.kind]
