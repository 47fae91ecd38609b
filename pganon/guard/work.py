"""Work tables that tell the guard what a version publishes of whom.

People are told apart by a digest of their key, columns by their number in the memory, values by a
text of their own that every version gives the same value; NULL is a value like any other. `part`
tells the versions apart that a run enters into memories.
"""

from __future__ import annotations

from functools import cache

from pganon.steps import WorkTable

Table = WorkTable[object]


@cache
def new(part: int = 0) -> Table:
    """`person` uuid, `grp` bigint, `marks` bigint[]: a row per person of the source.

    `grp` is positive and says which combination of published groups the person is in; 0 where the
    person is left out whatever the values are, -1 where a remembered value may be why. `marks`
    has a keyed hash of the person and the values per column, NULL where the version does not read
    the column, and nothing where the version knows no column yet.
    """
    return _declared(f"guard{part}_new", "person", "grp", "marks")


@cache
def links(part: int = 0) -> Table:
    """`grp` bigint, `col` integer, `link` bigint: the group of the column that people of `grp` are
    in. Without a row, no value of the column is published for them."""
    return _declared(f"guard{part}_links", "grp", "col", "link")


@cache
def histogram(part: int = 0) -> Table:
    """`col` integer, `link` bigint, `value` text, `n` bigint: from the published relations alone.

    `n` > 0 people of a group have the value, or records where every person has one.
    """
    return _declared(f"guard{part}_hist", "col", "link", "value", "n")


@cache
def own(part: int = 0) -> Table:
    """`person` uuid, `col` integer, `value` text, `n` bigint: values of people with `grp` > 0.

    Of all of them, where :func:`pganon.guard.known.reads_everybody`. A row per person, column and
    value; the person has `n` records with it.
    """
    return _declared(f"guard{part}_own", "person", "col", "value", "n")


@cache
def reference(part: int = 0) -> Table:
    """`col` integer, `value` text, `position` bigint, `share` float8, `path` integer[]: what models
    compare a cell with, as :meth:`pganon.privacy.base.Model.measure` reads it; `path` is NULL
    without a hierarchy. Read only for columns of such models."""
    return _declared(f"guard{part}_reference", "col", "value", "position", "share", "path")


@cache
def existing(part: int = 0, number: int = 1) -> Table:
    """`v1`, `v2`, .. text: combinations of a QS set that exist; sets count from 1, values are in
    the order of the set's columns. Read only for models that count supported combinations."""
    return WorkTable(f"guard{part}_existing{number}", lambda spec, state: ["v1"], numbered="v")


def _declared(name: str, *columns: str) -> Table:
    return WorkTable(name, lambda spec, state: columns)
