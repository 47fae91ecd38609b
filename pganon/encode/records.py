"""What tells the records of a snapshot apart, and a random order of them.

Physical order never decides anything: a table that was copied or clustered is the same source.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.secrets import row_hash, run_secret
from pganon.plan.sqltools import cast, col, fragment
from pganon.plan.steps import State
from pganon.spec.model import Carried, ReleaseSpec, Sensitive


def snapshot_row(spec: ReleaseSpec, table: str) -> exp.Expr:
    """A row of the snapshot; enums as text, since they hash by a number of the catalog."""
    items = [(f"q{item.index}", item.column) for item in spec.attributes]
    items += [(f"s{item.index}", item.column) for item in spec.sensitive]
    items += [(f"p{item.index}", item.column) for item in spec.carried]
    parts = [
        cast(col(name, table), "text") if column.kind == "enum" else col(name, table)
        for name, column in items
    ]
    parts += [col("record", table)] if spec.record_key else []
    parts += [col("individual", table)] if spec.individual else []
    return exp.func("row", *parts)


def ties(item: Sensitive | Carried, value: exp.Expr) -> list[exp.Expr]:
    """What tells values apart that compare equal: a sort may keep ties in the source's order."""
    column = item.column
    found: list[exp.Expr] = []
    if column.kind == "bpchar":
        found.append(fragment("octet_length(:v)", v=value))  # its text has no trailing blanks
    if column.kind in ("numeric", "float", "citext") or not column.collation_deterministic:
        found.append(fragment(':v::text collate "C"', v=value))
    return found


def random_number(spec: ReleaseSpec, state: State, table: str) -> exp.Expr:
    """A number per record from the partition's seed; it decides ties and leaves with no one.

    Numbers follow a secret hash of what the record is, so the same records have the same numbers
    under the same seed.
    """
    seed = run_secret(state, "partition_seed").subquery()
    order = [row_hash(snapshot_row(spec, table), seed)]
    if not spec.record_key:
        for name, item in _unchanged(spec):
            order += ties(item, col(name, table))
    ordered = exp.Order(expressions=[exp.Ordered(this=key) for key in order])
    return exp.Window(this=fragment("row_number()"), order=ordered)


def _unchanged(spec: ReleaseSpec) -> list[tuple[str, Sensitive | Carried]]:
    """Columns of the snapshot with values that look as they do in the source."""
    sensitive = [(f"s{item.index}", item) for item in spec.sensitive]
    return [*sensitive, *[(f"p{item.index}", item) for item in spec.carried]]
