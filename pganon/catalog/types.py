"""From types of pg_catalog to the kinds that pganon can release."""

from __future__ import annotations

from pganon.catalog.model import Kind

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
