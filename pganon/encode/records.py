"""Columns that distinguish the records of a snapshot, and a random order of the records.

Nothing depends on physical order: a table that was copied or clustered is the same source.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.model import Column
from pganon.encode.secrets import row_hash, run_secret
from pganon.resolved.model import Attribute, Carried, ReleaseSpec, Sensitive, Shown
from pganon.sqltools import cast, col, fragment, named, num, scalar, total
from pganon.steps import State

NUMBER = "rid"
"""Column of `coded`: a number of every record, from 1."""

DRAW = "draw"
"""Column of `coded`: a bigint; only records that look the same have the same one."""


PART = "part"
"""Column of records whose cells may be divided: the part of its cell that a record is in, from 1; 0
where the cell is whole."""

HIDES = "hides"
"""Column of `coded`, where few columns are semi-sensitive: which of them the record hides, as the
place of its mask among all that there may be, from 0."""

_FEW = 16

PLACE = "place"
"""Column of `coded`: the number of a record along a curve over its quasi-identifiers, from 1."""

TIMES = "times"
"""Column of the snapshot and of `coded` where equal records are one row: how many there are."""


def number_of(spec: ReleaseSpec, table: str, where: exp.Expr | None = None) -> exp.Expr:
    """How many records the rows of one of these tables are, those of a condition alone."""
    counted: exp.Expr = fragment("count(*)")
    if spec.counted:
        counted = fragment("sum(:times)", times=col(TIMES, table))
    if where is not None:
        counted = exp.Filter(this=counted, expression=exp.Where(this=where))
    return fragment("coalesce(:n, 0)::bigint", n=counted) if spec.counted else counted


def looks_of_source(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    """Keys that distinguish equal values of the snapshot that are published as they look."""
    return [look for name, item in _shown(spec) for look in ties(item, col(name, table))]


def snapshot_row(spec: ReleaseSpec, table: str) -> exp.Expr:
    """A row of the snapshot but for its :func:`keys`, with how it looks: equal values may be
    published as 1.0 and 1.00."""
    return exp.func("row", *_values(spec, table), *looks_of_source(spec, table))


def unhashed(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    """What the hash of :func:`snapshot_row` leaves out: signs, and half of what has 8 bytes."""
    found: list[exp.Expr] = []
    texts = [name for name, _ in _shown(spec)]
    attributes = [(f"q{a.index}", a) for a in spec.attributes]
    for name, item in dict([*attributes, *_unchanged(spec)]).items():
        value, column = col(name, table), item.column
        if column.kind in ("numeric", "float") and name not in texts:
            found.append(fragment(":v < 0", v=value))
        elif _has_8_bytes(column):
            found.append(fragment(":v::text", v=value))
    return found


def unlike(column: Column, value: exp.Expr) -> list[exp.Expr]:
    """The text of a value, where values of the type that differ can have the same hash."""
    alike = column.kind in ("numeric", "float") or _has_8_bytes(column)
    return [cast(value, "text")] if alike else []


def _has_8_bytes(column: Column) -> bool:
    return column.base == "bigint" or column.kind in ("timestamp", "timestamptz")


def keys(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    """Columns of the snapshot that identify records and individuals."""
    columns: list[exp.Expr] = [col("record", table)] if spec.record_key else []
    return [*columns, *([col("individual", table)] if spec.individual else [])]


def ties(item: Attribute | Sensitive | Carried, value: exp.Expr) -> list[exp.Expr]:
    """Keys that distinguish equal values: a sort may keep ties in the source's order."""
    column = item.column
    columns: list[exp.Expr] = []
    if column.kind == "bpchar":
        columns.append(fragment("octet_length(:v)", v=value))  # its text has no trailing blanks
    if column.kind in ("numeric", "float", "citext") or not column.collation_deterministic:
        columns.append(fragment(':v::text collate "C"', v=value))
    return columns


def numbered_by(spec: ReleaseSpec) -> Sensitive | None:
    """The sensitive column by whose codes records are numbered, and at random within them.

    That is a random order of the records with a value, which the method need not make anew. Only a
    key distinguishes records that are equal otherwise. Without one they would be neighbours, and
    their even distribution would reveal that they are equal.
    """
    if not (spec.policy.method.encoding.numbers_by_value and spec.record_key):
        return None
    return next((item for item in spec.sensitive if item.hidden is None), None)


def random_order(
    spec: ReleaseSpec, state: State, table: str, code: exp.Expr | None = None
) -> list[exp.Expr]:
    """The column of a random order from the partition's seed, if the method asks for one.

    It decides ties and is never published. It follows a secret hash of the record's values, so the
    same records have the same order under the same seed.

    Args:
        code: of the column that records are :func:`numbered_by`.
    """
    seed = scalar(run_secret(state, "partition_seed"))
    columns, looks = _columns(spec, table), _looks(spec, table)
    match spec.random_order:
        case "none":
            return []
        case "drawn":
            return [named(row_hash(exp.func("row", *columns, *looks), seed), DRAW)]
        case "numbered":
            if code is not None:
                columns = [col("record", table)]  # identifies records by itself
            keys = [row_hash(exp.func("row", *columns), seed), *looks]
            keys = keys if code is None else [code, *keys]
            ordered = exp.Order(expressions=[exp.Ordered(this=key) for key in keys])
            return [named(exp.Window(this=fragment("row_number()"), order=ordered), NUMBER)]


def tells_hidden(spec: ReleaseSpec) -> bool:
    """Whether there is a column :data:`HIDES`."""
    return 0 < len(spec.hidden) <= _FEW


def hides(spec: ReleaseSpec, table: str) -> exp.Expr:
    """Value of that column for a record of the snapshot."""
    bits = [
        fragment("(not :f)::int * :bit", f=col(hidden.flag, table), bit=num(1 << place))
        for place, hidden in enumerate(reversed(spec.hidden))
    ]
    return named(exp.paren(total(bits)), HIDES)


def _columns(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    return [*_values(spec, table), *keys(spec, table)]


def _values(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    names = [f"q{item.index}" for item in spec.attributes]
    names += [name for name, _ in _unchanged(spec)]
    names += [hidden.flag for hidden in spec.hidden]
    return [col(name, table) for name in names]


def _looks(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    """Keys that distinguish equal records, if the records have no key."""
    if spec.record_key:
        return []
    return [look for name, item in _unchanged(spec) for look in ties(item, col(name, table))]


def _shown(spec: ReleaseSpec) -> list[tuple[str, Attribute | Sensitive | Carried]]:
    exact = [a for a in spec.attributes if a.form in (Shown.EXACT, Shown.VALUES)]
    return [*[(f"q{a.index}", a) for a in exact], *_unchanged(spec)]


def _unchanged(spec: ReleaseSpec) -> list[tuple[str, Sensitive | Carried]]:
    """Columns of the snapshot with values that look as they do in the source."""
    sensitive = [(f"s{item.index}", item) for item in spec.sensitive]
    return [*sensitive, *[(f"p{item.index}", item) for item in spec.carried]]
