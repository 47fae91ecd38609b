"""Read a source relation from pg_catalog.

Nothing is interpolated and nothing depends on search_path: a name without schema means schema
public, and everything after the first look-up goes by oid.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist, fmean
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from pganon import sqlfiles
from pganon.catalog.citus import statistics_of_shard
from pganon.catalog.model import Column, ForeignKey, Reference, Relation, RelationKind
from pganon.catalog.origins import Found, base_columns, origins_of
from pganon.catalog.types import kind_of
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, UsageError
from pganon.identifiers import OWN_SCHEMAS, NameProblem, QualifiedName, own_schema, parse_name
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask

DEFAULT_SCHEMA = "public"

REPEATED_FROM = 100_000
"""Fewest rows of a table whose equal rows are counted: below, reading it takes no time."""

_DIFFERENT = 0.4
"""Largest share of different rows: at a little more, counting takes as long as it saves."""

_DIFFERENT_IN_SHARDS = 0.1
"""The same where counting is done in shards: more rows than that take more bytes to send than what
records show by combination."""

_MOST_LOG = 50.0
"""Logarithms beyond tell of rows that are all the same, or all different."""

_NOTHING = 1e-6
"""Shares are float4: so much less than 1 is rounding."""


_KINDS: Mapping[str, RelationKind] = {
    "r": "table",
    "p": "partitioned table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}
_OTHER_KINDS: Mapping[str, str] = {
    "S": "a sequence",
    "i": "an index",
    "I": "an index",
    "c": "a composite type",
    "t": "a TOAST table",
}


def read_relation(
    conn: Connection,
    source: str,
    *,
    privileges: bool = True,
) -> Relation:
    """The relation that `source` names as SQL would: `schema.name`, or `name` in schema public.

    Args:
        privileges: whether the current role must be able to read some column; every column says
            whether it is `readable`. False to describe a relation of which this session reads no
            row: all columns count as readable then.

    Raises:
        UsageError: `source` is not a name.
        PreconditionError: missing, not a table or view, a privilege is missing, or it shows what
            pganon or the server stores.
        DatabaseError: the server failed.
    """
    name = source_name(source)
    refuse_own(name)
    try:
        row = _one(conn, "relation", {**name.__dict__, "own": list(OWN_SCHEMAS)})
        if row is None:
            existing = [
                QualifiedName(r["nspname"], r["relname"])
                for r in _rows(conn, "readable_relations", {})
            ]
            raise PreconditionError(
                f"there is no table or view {name}",
                hint=_suggestion(name, existing),
                code=ErrorCode.SOURCE_MISSING,
            )
        _check_kind(name, row)
        if privileges:
            _check_usable(conn, name, row)
        if row["reads_own"]:  # neither secrets of pganon nor another release
            raise PreconditionError(
                f"{name} reads tables of pganon and cannot be a source",
                hint="release the source of the other release; two releases of one source are"
                " compared, a release of a release is not",
                code=ErrorCode.OWN_SCHEMA,
            )
        relation = _relation(conn, name, row)
        if not privileges:
            every = tuple(replace(column, readable=True) for column in relation.columns)
            return replace(relation, columns=every)
    except psycopg.Error as error:
        raise translate(error) from None
    return relation


def refuse_own(name: QualifiedName, what: str = "source") -> None:
    """Refuse a relation in a schema of pganon's or the server's.

    Raises:
        PreconditionError: own_schema.
    """
    owner = own_schema(name.schema)
    if owner is not None:
        raise PreconditionError(
            f"{name} is in a schema of {owner} and cannot be the {what}",
            hint="name a table of your own",
            code=ErrorCode.OWN_SCHEMA,
        )


def source_name(source: str) -> QualifiedName:
    """The qualified name of a source; UsageError if the text is not a name."""
    try:
        schema, name = parse_name(source)
    except NameProblem as problem:
        raise UsageError(f"source: {problem}", code=ErrorCode.SOURCE_NAME) from None
    return QualifiedName(schema or DEFAULT_SCHEMA, name)


def references(conn: Connection) -> list[Reference]:
    """All foreign keys between tables, but for those of pganon and the server."""
    rows = ask(conn, "catalog", "references", own=list(OWN_SCHEMAS))
    return [
        Reference(QualifiedName(schema, name), tuple(columns), QualifiedName(*target), tuple(keys))
        for schema, name, *target, columns, keys in rows
    ]


def estimated_rows(conn: Connection, relation: Relation) -> float | None:
    """Rows of a stored table from its size and its statistics; None if it has none."""
    found = _one(conn, "estimated_rows", {"oid": relation.oid})
    return found["rows"] if found else None


def repeats(
    conn: Connection, relation: Relation, names: Sequence[str], *, in_shards: bool = False
) -> bool:
    """Whether few rows of a large stored table, or of each of its shards, are different in some
    columns.

    As its statistics say, and as if columns did not depend on each other, which makes more rows
    different. How many rows are equal to one is the product of what the columns say; its logarithm
    is taken to be normal.
    """
    if in_shards:
        rows, found = statistics_of_shard(conn, relation, names) or (None, [])
    else:
        rows, found = estimated_rows(conn, relation), []
        if rows is not None and rows >= REPEATED_FROM:
            asked = {"oid": relation.oid, "names": list(names)}
            found = ask(conn, "catalog", "frequencies", **asked).fetchall()
    if rows is None or rows < REPEATED_FROM or len(found) < len(set(names)):
        return False
    mean, variance = math.log(rows), 0.0
    for distinct, frequencies in found:
        kinds = -distinct * rows if distinct < 0 else distinct
        shares = [(share, math.log(share)) for share in frequencies if share > 0]
        rest = 1 - sum(frequencies)
        if rest > _NOTHING:
            others = max(kinds - len(frequencies), 1)
            shares.append((rest, math.log(rest / others)))
        expected = sum(share * log for share, log in shares)
        mean += expected
        variance += sum(share * (log - expected) ** 2 for share, log in shares)
    logs = [mean + place * math.sqrt(variance) for place in NormalDist().quantiles(100)]
    equal = [math.exp(max(min(log, _MOST_LOG), -_MOST_LOG)) for log in logs]
    share = fmean(-math.expm1(-number) / number for number in equal)
    return share <= (_DIFFERENT_IN_SHARDS if in_shards else _DIFFERENT)


def _rows(conn: Connection, name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(sqlfiles.query("catalog", name), parameters).fetchall()


def _one(conn: Connection, name: str, parameters: Mapping[str, object]) -> dict[str, Any] | None:
    return next(iter(_rows(conn, name, parameters)), None)


def _relation(conn: Connection, name: QualifiedName, facts: Mapping[str, Any]) -> Relation:
    oid = {"oid": facts["oid"]}
    columns = tuple(
        Column(
            attnum=row["attnum"],
            name=row["attname"],
            type_oid=row["type_oid"],
            type_name=row["type_name"],
            base_oid=row["base_oid"],
            base=row["base"],
            kind=kind_of(row["typname"], row["typtype"], built_in=row["built_in"]),
            nullable=not row["not_null"],
            collation=row["collation"],
            collation_deterministic=row["collation_deterministic"],
            built_in=row["built_in"],
            labels=tuple(row["labels"]),
            readable=row["readable"],
        )
        for row in _rows(conn, "columns", oid)
    )
    found = base_columns(conn, facts["oid"], [column.attnum for column in columns])
    origins, keys = origins_of(conn, found), facts["keys"] or ()
    return Relation(
        oid=facts["oid"],
        name=name,
        kind=_KINDS[facts["relkind"]],
        columns=columns,
        primary_key=tuple(column for column, is_primary, _ in keys if is_primary),
        row_security=facts["row_security"],
        owner=facts["owner"],
        unique=frozenset(column for column, _, is_alone in keys if is_alone),
        foreign_keys=tuple(_foreign_keys(conn, columns, found)),
        origins={column.name: origins[column.attnum] for column in columns},
    )


def _foreign_keys(
    conn: Connection, columns: Sequence[Column], found: Mapping[int, Found]
) -> Iterator[ForeignKey]:
    """Those of which a relation has all columns, or what is made of them."""
    by_base: dict[tuple[int, int], str] = {}
    for column in columns:
        for base in found[column.attnum].bases:
            by_base.setdefault(base, column.name)
    oids = list({oid for oid, _ in by_base})
    for row in _rows(conn, "foreign_keys", {"oids": oids}):
        names = [by_base.get((row["oid"], number)) for number in row["columns"]]
        if None not in names:
            target = QualifiedName(row["nspname"], row["relname"])
            yield ForeignKey(tuple(dict.fromkeys(n for n in names if n is not None)), target)


def _suggestion(name: QualifiedName, existing: list[QualifiedName]) -> str:
    """Near names in the same schema, the same name elsewhere, or how to look."""
    here = {k.name.lower(): k for k in existing if k.schema == name.schema}
    near = [here[n] for n in difflib.get_close_matches(name.name.lower(), here, n=3)]
    near += [k for k in existing if k.name == name.name and k.schema != name.schema][:3]
    if near:
        return f"did you mean {' or '.join(str(k) for k in near)}?"
    if not here:
        return f"schema {name.schema} has no table that this role may read; write schema.name"
    return "write schema.name; names with capitals stand in double quotes"


def _check_kind(name: QualifiedName, row: Mapping[str, Any]) -> None:
    kind = row["relkind"]
    if kind not in _KINDS:
        what = _OTHER_KINDS.get(kind, "no table or view")
        raise PreconditionError(
            f"{name} is {what}",
            hint="the source must be a table or view",
            code=ErrorCode.SOURCE_KIND,
        )
    if row["temporary"]:
        raise PreconditionError(
            f"{name} is temporary, other sessions cannot read it",
            hint="copy it into an ordinary table",
            code=ErrorCode.SOURCE_KIND,
        )


def _check_usable(conn: Connection, name: QualifiedName, row: Mapping[str, Any]) -> None:
    if not row["may_use_schema"]:
        grant = sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(
            sql.Identifier(name.schema), sql.Identifier(row["role"])
        )
        raise _denied(conn, f"USAGE on the schema of {name}", row["role"], grant)
    if not row["may_select"]:
        grant = sql.SQL("GRANT SELECT ON {} TO {}").format(
            name.identifier, sql.Identifier(row["role"])
        )
        raise _denied(conn, f"SELECT on {name}", row["role"], grant)
    if not row["populated"]:
        refresh = sql.SQL("REFRESH MATERIALIZED VIEW {}").format(name.identifier)
        raise PreconditionError(
            f"the materialized view {name} has never been filled",
            hint=f"run {refresh.as_string(conn)}",
            code=ErrorCode.SOURCE_EMPTY,
        )


def _denied(conn: Connection, privilege: str, role: str, grant: sql.Composed) -> PreconditionError:
    return PreconditionError(
        f'role "{role}" lacks {privilege}',
        hint=f"let the owner run {grant.as_string(conn)}",
        code=ErrorCode.SOURCE_PRIVILEGE,
    )
