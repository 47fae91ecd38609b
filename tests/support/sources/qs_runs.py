"""Random tables for whole runs of QS k-anonymity, and what a run must make of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hilbertcurve.hilbertcurve import HilbertCurve
from hypothesis import strategies as st
from psycopg import sql

from tests.support.harness.driver import Staged, fetch
from tests.support.oracles.qs import (
    Attribute,
    Cluster,
    Condition,
    QsSets,
    absorb,
    build_efficient,
    build_greedy,
    existing,
)
from tests.support.sources.builders import KINDS, PATHS, SIZES, Kind, policy

Row = Sequence[Any]

METHODS = ("qs_greedy", "qs_efficient")

_WITHOUT_DOMAIN = [kind for kind in KINDS if "domain" not in kind.policy]

PLACES: Mapping[str, Callable[[Any, Sequence[Any]], Any]] = {
    "integer": lambda value, _: value,
    "numeric": lambda value, _: Fraction(value),
    "date": lambda value, _: dt.date.toordinal(value),
    "ordinal": lambda value, _: SIZES.index(value),
    "alphabetical": lambda value, known: known.index(value),
}
"""Where a value lies on its line, given all values in order."""

TREES: Mapping[str, Mapping[Any, tuple[Any, ...]]] = {
    "tree": {leaf: path[1:] for leaf, path in PATHS.items()},
    "intervals": {v: (v // 2, v // 4, v // 12, "*") for v in range(16)},
}


def clustered(
    sets: dict[str, Sequence[str]],
    k: int,
    columns: dict[str, Any] | None = None,
    *,
    method: Any = "qs_greedy",
    count: str = "supported",
    min_values: int = 1,
    **others: Any,
) -> dict[str, Any]:
    """A policy over public.t; `columns` adds to those of the sets, or to what they say."""
    declared: dict[str, Any] = {
        name: {"role": "quasi_sensitive", "set": qs_set}
        for qs_set, names in sets.items()
        for name in names
    }
    for name, column in (columns or {}).items():
        declared[name] = {**declared.get(name, {}), **column} if name in declared else column
    requirement = {"model": "qs_k_anonymity", "k": k, "count": count, "min_values": min_values}
    method = {"name": method} if isinstance(method, str) else method
    return policy(declared, [requirement], method=method, republication="allow", **others)


def attribute(name: str, kind: Kind, values: Mapping[int, Any]) -> Attribute:
    """A column by record as the oracle sees it."""
    if kind.name not in PLACES:
        return Attribute(name, "tree", values, TREES.get(kind.name))
    known = sorted({v for v in values.values() if v is not None})
    place = PLACES[kind.name]
    return Attribute(
        name,
        "numeric",
        {r: None if v is None else place(v, known) for r, v in values.items()},
    )


@dataclass(frozen=True)
class Table:
    """A source with the policy of its release; the column `bag` is insensitive."""

    kinds: Mapping[str, Kind]
    names: Mapping[str, Sequence[str]]
    rows: Sequence[Row]
    policy: dict[str, Any]

    @property
    def columns(self) -> dict[str, str]:
        return {**{name: kind.sql_type for name, kind in self.kinds.items()}, "bag": "integer"}

    @property
    def requirement(self) -> dict[str, Any]:
        return self.policy["privacy"][0]

    @property
    def kept(self) -> list[int]:
        """Records, from 1, that the rules for NULL do not suppress."""
        rules = [self.policy["columns"][name]["nulls"] for name in self.kinds]
        return [
            record
            for record, row in enumerate(self.rows, start=1)
            if not any(v is None and r == "suppress" for v, r in zip(row, rules, strict=False))
        ]

    def sets(self, number: Mapping[int, int] | None = None) -> QsSets:
        """The QS sets; records may get other numbers."""
        made = {
            name: attribute(
                name,
                kind,
                {(number or {}).get(r, r): row[i] for r, row in enumerate(self.rows, start=1)},
            )
            for i, (name, kind) in enumerate(self.kinds.items())
        }
        return {s: [made[name] for name in names] for s, names in self.names.items()}

    def condition(self, number: Mapping[int, int] | None = None) -> Condition:
        """What every cluster must satisfy: combinations of suppressed records do not count."""
        sets = self.sets(number)
        kept = {(number or {}).get(record, record) for record in self.kept}
        known = {
            name: existing(
                [Attribute(a.name, a.kind, {r: a.values[r] for r in kept}) for a in qs_set]
            )
            for name, qs_set in sets.items()
        }
        asked = self.requirement
        return Condition(sets, asked["k"], asked["count"], asked["min_values"], known)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """1-40 rows with duplicates, two or three sets of 1-3 columns of mixed kinds."""
    names: dict[str, list[str]] = {}
    kinds: dict[str, Kind] = {}
    for s in range(draw(st.integers(2, 3))):
        names[f"S{s}"] = [f"q{s}{i}" for i in range(draw(st.integers(1, 3)))]
        kinds |= {name: draw(st.sampled_from(_WITHOUT_DOMAIN)) for name in names[f"S{s}"]}
    size = draw(st.integers(1, 40))
    columns: list[list[Any]] = []
    declared: dict[str, Any] = {}
    for s, held in names.items():
        for name in held:
            cell = kinds[name].values
            if draw(st.booleans()):
                cell = st.integers(0, 9).flatmap(lambda n, v=cell: st.none() if n == 0 else v)
            columns.append(draw(st.lists(cell, min_size=size, max_size=size)))
            nulls = draw(st.sampled_from(["as_value", "as_value", "suppress"]))
            declared[name] = {
                **kinds[name].policy,
                "role": "quasi_sensitive",
                "set": s,
                "nulls": nulls,
            }
    columns.append(draw(st.lists(st.none() | st.integers(0, 3), min_size=size, max_size=size)))
    declared["bag"] = "i"
    rows = [row for row in zip(*columns, strict=True) for _ in range(draw(st.sampled_from([1, 2])))]
    requirement = {
        "model": "qs_k_anonymity",
        "k": draw(st.sampled_from([1, 2, 2, 3, 4, 6])),
        "count": draw(st.sampled_from(["supported", "product"])),
        "min_values": draw(st.sampled_from([1, 1, 2])),
    }
    method = {
        "name": draw(st.sampled_from(["qs_greedy", "qs_efficient"])),
        "block_size": draw(st.sampled_from([2, 5, 8, 1000])),
    }
    return Table(
        kinds, names, rows, policy(declared, [requirement], method=method, suppression_limit=1.0)
    )


# -- what a run must make of it ----------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """Equal records: their number and codes, and their keys in order."""

    number: int
    codes: tuple[int, ...]
    records: list[int]


def cells(staged: Staged) -> list[Cell]:
    """In the order of their random numbers."""
    names = [f"c{a.index}" for a in staged.plan.spec.attributes]
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    text = sql.SQL("SELECT * FROM {} JOIN {} USING ({}) ORDER BY cell, record::int").format(
        staged.state.work("cells").identifier, staged.state.work("coded").identifier, listed
    )
    found: dict[int, Cell] = {}
    for row in fetch(staged.conn, text):
        made = Cell(row["cell"], tuple(row[name] for name in names), [])
        found.setdefault(row["cell"], made).records.append(int(row["record"]))
    return list(found.values())


def along_curve(staged: Staged) -> list[Cell]:
    """Cells on the Hilbert curve: ranks stretched over all coordinates, NULL last.

    Values that only suppressed records have take part in the ranks.
    """
    facts = staged.facts
    sizes = [facts[f"m{i}"] + facts[f"null{i}"] for i in range(len(staged.plan.spec.attributes))]
    bits = max((max(sizes) - 1).bit_length(), 1)
    curve = HilbertCurve(bits, len(sizes))

    def coordinate(code: int, size: int) -> int:
        rank = size - 1 if code == 0 else code - 1
        last = max(size - 1, 1)
        return (2 * rank * (2**bits - 1) + last) // (2 * last)

    def place(cell: Cell) -> tuple[int, int]:
        point = [coordinate(code, size) for code, size in zip(cell.codes, sizes, strict=True)]
        return curve.distance_from_point(point), cell.number

    return sorted(cells(staged), key=place)


def blocks(staged: Staged, condition: Condition, block_size: int) -> list[list[Cell]]:
    """Equal pieces of the curve; one that does not satisfy the condition joins the one before."""
    ordered = along_curve(staged)
    pieces = -(-len(ordered) // block_size)
    made: list[list[Cell]] = [[]]
    begun = False
    for piece in range(pieces):
        held = [c for i, c in enumerate(ordered) if i * pieces // len(ordered) == piece]
        reaches = condition.holds([record for cell in held for record in cell.records])
        if reaches and begun:
            made.append([])
        made[-1] += held
        begun |= reaches
    return made


def expected_clusters(staged: Staged, table: Table) -> list[Cluster]:
    """Clusters by the oracle, from the random numbers of the cells; equal records in order."""
    method = table.policy["method"]
    greedy = method["name"] == "qs_greedy"
    made = blocks(staged, table.condition(), method["block_size"])
    if greedy:
        made = [sorted(block, key=lambda cell: cell.number) for block in made]
    ordered = [record for block in made for cell in block for record in cell.records]
    number = {record: i for i, record in enumerate(ordered, start=1)}
    # Suppressed records keep their place in spans and in the loss.
    rest = [record for record in range(1, len(table.rows) + 1) if record not in number]
    number |= {record: i for i, record in enumerate(rest, start=len(ordered) + 1)}
    condition = table.condition(number)
    found: list[Cluster] = []
    for block in made:
        held = [number[record] for cell in block for record in cell.records]
        if greedy:
            clusters, left = build_greedy(held, condition, held[0])
        else:
            clusters, left = build_efficient(held, condition, held)
        found += absorb(clusters, sorted(left), condition.sets)
    record = {i: r for r, i in number.items()}
    return [[record[i] for i in cluster] for cluster in found]


def kinds_of(clusters: Sequence[Cluster], table: Table) -> list[list[Any]]:
    """Clusters as what their records hold: which of equal records is where does not matter."""
    width = len(table.kinds)
    return sorted(
        sorted(repr(tuple(table.rows[r - 1][:width])) for r in cluster) for cluster in clusters
    )


def members(staged: Staged) -> dict[int, list[int]]:
    """Keys of the source records in every cluster."""
    found: dict[int, list[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["cluster_no"], []).append(int(row["member"]))
    return found
