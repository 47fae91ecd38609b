"""Models that count people of a population: full-domain recoding against brute force."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PrivacyRefusal
from tests.support.harness.driver import Connection, drop_leftovers, refused, run
from tests.support.harness.examples import examples
from tests.support.oracles import covered
from tests.support.oracles.levels import Column, Node, Table
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

TREE = {"all": {"left": {"l1": ["a", "b"], "l2": ["c"]}, "right": {"r1": ["d"], "r2": ["e", "f"]}}}
LEAVES = {
    "a": ("a", "l1", "left", "all"),
    "b": ("b", "l1", "left", "all"),
    "c": ("c", "l2", "left", "all"),
    "d": ("d", "r1", "right", "all"),
    "e": ("e", "r2", "right", "all"),
    "f": ("f", "r2", "right", "all"),
}
WIDTHS = (5, 10)
SORTS = {"tree": "text", "range": "integer", "ordinal": "integer", "nominal": "text"}
PEOPLE = "public.people"
Tables = tuple[Connection, Connection]


@pytest.fixture
def tables(db: Any) -> Tables:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


# -- random tables -------------------------------------------------------------------------------


def drawn(rng: random.Random, kind: str, *, anywhere: bool) -> Any:
    """A value of the source, or of anybody, who may have others (of trees some that none list)."""
    if rng.random() < 0.15:
        return None
    return {
        "tree": lambda: rng.choice("abcdefz" if anywhere else "abce"),
        "range": lambda: rng.randint(-3 if anywhere else 0, 29 if anywhere else 19),
        "ordinal": lambda: rng.randint(1, 4 if anywhere else 3),
        "nominal": lambda: rng.choice("wxyz" if anywhere else "xyz"),
    }[kind]()


def column(rng: random.Random, kind: str, values: Sequence[Any]) -> tuple[Column, dict[str, Any]]:
    nulls = rng.choice(["as_value", "as_value", "own_class", "suppress"])
    present = sorted({value for value in values if value is not None})
    match kind:
        case "tree":
            return Column(LEAVES, nulls, widths=(1,)), {
                "nulls": nulls,
                "hierarchy": {"inline": TREE},
            }
        case "range":
            low = min(v // 10 * 10 for v in present)
            high = max(v // 10 * 10 + 10 for v in present)
            paths = {v: (v, *[v // w * w for w in WIDTHS], "*") for v in present}
            return Column(paths, nulls, 1, True, (0, *WIDTHS, high - low)), {
                "nulls": nulls,
                "hierarchy": {"intervals": list(WIDTHS)},
            }
        case "ordinal":
            found = Column({v: (v, "*") for v in present}, nulls, 1, True, (0, 1))
            return found, {"nulls": nulls, "type": "ordinal"}
        case _:
            found = Column({v: (v, "*") for v in present}, nulls)
            return found, {"nulls": nulls, "type": "categorical"}


def shown(kind: str, level: int, values: Sequence[Any], released: Sequence[Any]) -> Any:
    """What a class shows of a column: a condition on values, and whether it has NULL."""
    own = [value for value in values if value is not None]
    null = len(own) < len(values)
    if not own:
        return (lambda value: False), null
    some = own[0]
    if level == 0:
        return (lambda value: value == some), null
    if kind == "tree":
        label = LEAVES[some][level]
        return (lambda value: value in LEAVES and LEAVES[value][level] == label), null
    others = {value for value in released if value is not None}
    if kind != "range":
        return others.__contains__, null
    if level <= len(WIDTHS):
        low, width = some // WIDTHS[level - 1] * WIDTHS[level - 1], WIDTHS[level - 1]
        return (lambda value: low <= value < low + width), null
    first = min(v // 10 * 10 for v in others)
    last = max(v // 10 * 10 + 10 for v in others)
    return (lambda value: first <= value < last), null


class Case:
    """A random table, its population, and a policy."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.kinds = [rng.choice(list(SORTS)) for _ in range(rng.randint(1, 3))]
        size = rng.randint(6, 14)
        rows = [[drawn(rng, kind, anywhere=False) for kind in self.kinds] for _ in range(size)]
        rows[0] = [{"tree": "a", "nominal": "x"}.get(kind, 2) for kind in self.kinds]
        self.people = [list(row) for row in rows]
        for _ in range(rng.randint(0, 25)):
            near = list(rng.choice(rows))
            place = rng.randrange(len(near))
            near[place] = drawn(rng, self.kinds[place], anywhere=True)
            self.people.append(near)
        if rng.random() < 0.2:
            self.people = self.people[2:]
        self.records = [(*row, number) for number, row in enumerate(rows)]
        self.models = self._models(rng)
        made = [column(rng, kind, [row[i] for row in rows]) for i, kind in enumerate(self.kinds)]
        self.limit = rng.choice([0, 0, 2])
        self.table = Table([found for found, _ in made], self.records, self._satisfied)
        self.node: Node = ()
        self.policy = policy(
            {f"q{i}": declared for i, (_, declared) in enumerate(made)} | {"s": "i"},
            self.models,
            method={"name": "full_domain"},
            suppression_limit=self.limit / size,
        )

    def _models(self, rng: random.Random) -> list[dict[str, Any]]:
        k_map = {"model": "k_map", "k": rng.randint(2, 5), "population": PEOPLE}
        delta = {
            "model": "delta_presence",
            "population": PEOPLE,
            "max": rng.choice([0.4, 0.6, 0.9]),
        }
        delta |= {"min": rng.choice([0.05, 0.2])} if rng.random() < 0.3 else {}
        return rng.choice(
            [[k_map], [delta], [k_map, delta], [{"model": "k_anonymity", "k": 2}, delta]]
        )

    def make(self, source: Connection) -> None:
        types = {f"q{i}": SORTS[kind] for i, kind in enumerate(self.kinds)}
        make_table(source, types, self.people, name=("public", "people"))
        make_table(source, types | {"s": "integer"}, self.records)

    def shown(self, group: Sequence[int], released: Sequence[int]) -> covered.Shown:
        return [
            shown(
                kind,
                self.node[i],
                [self.records[n][i] for n in group],
                [self.records[n][i] for n in released],
            )
            for i, kind in enumerate(self.kinds)
        ]

    def _satisfied(self, group: Sequence[int], distributions: object) -> bool:
        """As if all records were released."""
        people = covered.outside(self.shown(group, range(len(self.records))), self.people)
        for model in self.models:
            if model["model"] == "k_anonymity" and len(group) < model["k"]:
                return False
            if model["model"] == "k_map" and people < model["k"]:
                return False
            most = Fraction(str(model.get("max", 1)))
            if model["model"] == "delta_presence" and len(group) > most * people:
                return False
        return True

    def optimum(self, limit: int) -> Node | None:
        table, found = self.table, []
        for node in _nodes(table):
            self.node = node
            failed = table.failing(node)
            if len(failed) <= min(limit, len(table.kept) - 1):
                gaps = table.gaps(node)
                cost = table.loss(node) + sum(gaps[number] for number in failed)
                found.append((cost, sum(node), node))
        self.node = min(found)[2] if found else ()
        return self.node or None

    def measured(self) -> dict[str, Fraction | int]:
        """Of the classes that are released on the levels of the node."""
        failed = self.table.failing(self.node)
        groups = [g for g in self.table.classes(self.node) if not failed.intersection(g)]
        released = [number for group in groups for number in group]
        classes = [(self.shown(group, released), len(group)) for group in groups]
        chances = covered.presences(classes, self.people)
        return {
            "k": min(covered.outside(one, self.people) for one, _ in classes),
            "max": max(chances),
            "min": min(chances),
        }

    def kept_by(self, found: dict[str, Any]) -> bool:
        return all(
            found["k"] >= model["k"]
            if model["model"] == "k_map"
            else Fraction(str(model.get("min", 0))) <= found["min"]
            and found["max"] <= Fraction(str(model["max"]))
            for model in self.models
            if model["model"] != "k_anonymity"
        )


def _nodes(table: Table) -> list[Node]:
    nodes: list[Node] = [()]
    for one in table.columns:
        nodes = [(*node, level) for node in nodes for level in one.allowed]
    return nodes


@pytest.mark.random_tables
@examples(15)
@given(seed=st.integers(0, 10**9))
def test_levels_and_what_is_measured_of_them(tables: Tables, seed: int) -> None:
    case = Case(seed)
    source, owner = tables
    case.make(source)
    drop_leftovers(owner)
    absent = covered.missing([record[:-1] for record in case.records], case.people)
    if absent and any(model["model"] == "delta_presence" for model in case.models):
        with refused("not_in_population") as caught:
            run(owner, case.policy)
        assert f"{absent} record" in str(caught[0]), seed
        return
    allowed = case.limit - (len(case.records) - len(case.table.kept))
    if allowed < 0 or not case.table.kept or case.optimum(allowed) is None:
        with pytest.raises(PrivacyRefusal):
            run(owner, case.policy)
        return
    found = case.measured()
    if not case.kept_by(found):  # `min`, or what suppressed records had is not shown
        with refused("verification"):
            run(owner, case.policy)
        return
    staged = run(owner, case.policy)
    assert tuple(level for level, _ in staged.utility.levels.values()) == case.node, seed
    for model in case.models:
        if model["model"] == "k_map":
            assert staged.verified("k_map") == [found["k"]], seed
        if model["model"] == "delta_presence":
            expected = [found["max"], *([found["min"]] if model.get("min") else [])]
            assert staged.verified("delta_presence") == pytest.approx(list(map(float, expected)))
