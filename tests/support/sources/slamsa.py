"""Releases of the method slamsa: read through their views alone, and judged by the oracles."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg import sql

from pganon.steps.relations import PublishedView
from tests.support.harness.cluster import Connection
from tests.support.harness.driver import Staged, fetch
from tests.support.oracles.buckets import Table
from tests.support.oracles.sliced import (
    ALIGNED,
    INDEPENDENT,
    LINK,
    Group,
    Published,
    Relation,
    Row,
    Rule,
    columns,
    count,
    data,
    sizes,
    v1,
    v2,
    v3,
    v4,
    v5,
    v6,
    v8,
)
from tests.support.oracles.sliced_measures import Query, combinations, matches

WEIGHTS = ("probability", "expected")

# -- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """What a reader sees: rows of the view of the release, and of those of its parts by name."""

    joined: Relation
    parts: dict[str, Relation]

    @property
    def published(self) -> Published:
        qits = [rows for name, rows in self.parts.items() if name.startswith("qit")]
        sts = [rows for name, rows in self.parts.items() if name.startswith("st")]
        linked = any(LINK.fullmatch(name) for name in qits[-1][0])
        return Published(qits, sts, INDEPENDENT if linked else ALIGNED)

    @property
    def tables(self) -> list[list[str]]:
        """Columns of the sensitive tables."""
        return [columns(st) for st in self.published.sts]

    def weight(self, query: Query) -> float:
        """The sum of the weights in the view of the release where a query holds."""
        found = (weight(row) for row in self.joined if matches(row, query))
        return math.fsum(float(n) for n in found)


def weight(row: Row) -> Any:
    return next(row[name] for name in WEIGHTS if name in row)


def staged_views(staged: Staged) -> tuple[PublishedView, ...]:
    """The views, over staged tables."""
    spec, form = staged.plan.spec, staged.plan.method.form
    return form.publication.views(spec, staged.state, staged_tables(staged))


def staged_tables(staged: Staged) -> dict[str, Any]:
    return {r.part: r.staged for r in staged.plan.relations(staged.state)}


def shown(staged: Staged) -> Shown:
    """What the views of a release that was not published would show."""
    views = staged_views(staged)
    rows = {
        view.name.name: fetch(staged.conn, sql.SQL(view.select))  # pyright: ignore
        for view in views
    }
    return _shown(staged.plan.spec.view.name, rows)


def read(conn: Connection, release: str, schema: str = "published") -> Shown:
    """What `conn` sees of a published release."""
    names = conn.execute(
        "SELECT viewname::text FROM pg_views WHERE schemaname = %s AND (viewname = %s"
        " OR starts_with(viewname, %s)) ORDER BY 1",
        [schema, release, f"{release}_"],
    ).fetchall()
    text = sql.SQL("SELECT * FROM {}")
    rows = {name: fetch(conn, text.format(sql.Identifier(schema, name))) for (name,) in names}
    return _shown(release, rows)


def _shown(release: str, rows: Mapping[str, Relation]) -> Shown:
    parts = {name.removeprefix(f"{release}_"): found for name, found in rows.items()}
    joined = parts.pop(release)
    return Shown([_link(row) for row in joined], {p: [_link(r) for r in parts[p]] for p in parts})


def _link(row: Row) -> Row:
    """The link to the only sensitive table, named as the oracle names that of the first."""
    return {"st1_group_id" if name == "st_group_id" else name: v for name, v in row.items()}


# -- judging ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """What a release was asked for.

    Attributes:
        least: l by sensitive column; a column that is not there may be as it is.
        tuples: the l of whole sensitive tables.
        size: the least number of records of a bucket.
        declared: every column that may be published.
    """

    least: Mapping[str, int]
    declared: Sequence[str]
    tuples: int | None = None
    size: int = 1
    rules: Sequence[Rule] = field(default=())


def offences(p: Published, asked: Asked) -> list[Any]:
    """What the predicates find wrong."""
    l = max([*asked.least.values(), asked.tuples or 1])  # noqa: E741 (the field's own letter)
    whole = v2(p, asked.tuples, "tuple") if asked.tuples else []
    return [
        *v1(p),
        *v2(p, asked.least),
        *whole,
        *v3(p, asked.size, l),
        *v4(p),
        *v5(p, asked.rules),
        *v6(p, ["id", "rid", "member", "record"]),
        *v8(p, asked.declared),
    ]


def check(found: Shown, rows: Sequence[Row], asked: Asked) -> None:
    """Every predicate, the values of the source, and the join of the relations."""
    p = found.published
    assert offences(p, asked) == []
    for relation in (*p.qits, *p.sts):
        names = columns(relation)
        assert tally(relation, names) == tally(rows, names)
    shown_columns = [name for relation in (*p.qits, *p.sts) for name in columns(relation)]
    assert sorted(shown_columns) == sorted(asked.declared)
    check_joined(found)


def check_joined(found: Shown) -> None:
    """The view of the release has all combinations and nothing else, with their weights."""
    expected = Counter(
        (tuple(sorted(vector.items())), round(float(n), 9))
        for vector, n in combinations(found.published)
    )
    assert expected == Counter(_weighed(row) for row in found.joined)


def _weighed(row: Row) -> tuple[Any, float]:
    vector = {name: value for name, value in data(row).items() if name not in WEIGHTS}
    return tuple(sorted(vector.items())), round(float(weight(row)), 9)


def tally(rows: Sequence[Row], names: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """Records by their values."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        found[tuple(row[name] for name in names)] += count(row)
    return found


# -- buckets ------------------------------------------------------------------------------------


def buckets(relation: Relation, name: str) -> set[frozenset[Any]]:
    """Values of a column, different in every record, that share a group."""
    found: defaultdict[Group, set[Any]] = defaultdict(set)
    for row in relation:
        found[row["group_id"]].add(row[name])
    return {frozenset(values) for values in found.values()}


def objective(relation: Relation, numbers: Sequence[str], categories: Sequence[str]) -> float:
    """J of the buckets of a QIT with these quasi-identifiers, from the definition."""
    z = zip(*_coordinates(relation, numbers, categories), strict=True)
    table = Table([list(point) for point in z], [], 1)
    found: defaultdict[Group, list[int]] = defaultdict(list)
    for place, row in enumerate(relation):
        found[row["group_id"]].append(place)
    return math.fsum(map(table.dispersion, found.values()))


def _coordinates(
    relation: Relation, numbers: Sequence[str], categories: Sequence[str]
) -> list[list[float]]:
    found: list[list[float]] = []
    for name in numbers:
        values = [row[name] for row in relation]
        known = [value for value in values if value is not None]
        low, high = min(known, default=0), max(known, default=0)
        width = high - low if high != low else None
        found.append(
            [0.5 if v is None else float((v - low) / width) if width else 0.0 for v in values]
        )
        if len(known) < len(values):
            found.append([float(value is None) for value in values])
    for name in categories:
        values = [row[name] for row in relation]
        if len(set(values)) > 1:
            found += [[(v == each) * 2**-0.5 for v in values] for each in set(values)]
    return found or [[0.0] * len(relation)]


__all__ = ["Asked", "Shown", "buckets", "check", "objective", "offences", "read", "shown", "sizes"]
