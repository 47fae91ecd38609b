"""Where work tables are whose rows Citus distributes: only counted rows come to this server.

The snapshot is beside the source, so no row leaves its server. Records as codes are by cell: a cell
is in one shard, where it is counted, and its records find their class.
"""

from __future__ import annotations

from pganon.encode.combination import COMBINATION, combined
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.placement import By

PLACED = "d"
"""Column of the snapshot beside a source in shards: what the source's rows are distributed by."""


def beside_source(spec: ReleaseSpec) -> By | None:
    """Placement of the snapshot; None: on this server, as where few rows are different, which
    servers of shards count."""
    in_shards = spec.shards and in_cells(spec) and not spec.counted
    return By(PLACED, spec.shards.table) if spec.shards and in_shards else None


def by_cell(spec: ReleaseSpec, state: State) -> By | None:
    """Placement of the encoded records."""
    distributed = beside_source(spec) is not None and combined(spec, state)
    return By(COMBINATION) if distributed else None


def beside_cells(spec: ReleaseSpec, state: State, cells: QualifiedName) -> By | None:
    """Placement of the class of every cell: with the records of the cells, which are in a table."""
    return By(COMBINATION, cells) if by_cell(spec, state) else None


def in_cells(spec: ReleaseSpec) -> bool:
    """Whether a run needs no more of its records than servers of shards can do: each is read from
    one table, and those with equal codes are one cell, from its first number to its class."""
    whole = spec.policy.method.encoding.combines and not spec.numbers_records
    plain = spec.read == (spec.source.name,) and spec.aliases is None and spec.growth is None
    return whole and not spec.divides_cells and plain and _people_together(spec)


def _people_together(spec: ReleaseSpec) -> bool:
    """Whether the records of an individual are in one shard, and their number is that of values
    of the column: elsewhere all keys would have to come here to be told apart."""
    if not spec.individual:
        return True
    if spec.shards is None or spec.individual != (spec.shards.column,):
        return False
    column = spec.source.column(spec.shards.column)
    return column is not None and column.kind in ("integer", "uuid")
