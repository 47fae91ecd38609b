"""Models that count people of a population: full-domain recoding against brute force."""

from __future__ import annotations

import csv
import gzip
import os
import random
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from pganon.errors import PganonError, PolicyError, PrivacyRefusal
from pganon.privacy.population import AverageRisk, MostPresent, with_presence
from pganon.publish import lifecycle
from pganon.resolved.guarantee import guarantee
from pganon.run.causes import warnings_of
from pganon.run.options import Options
from pganon.run.release import run_release
from pganon.sqltools import num, query, render
from tests.support.harness.driver import Connection, drop_leftovers, loaded, publish, refused, run
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
COUNTED = "counted in the population that the owner has given"
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
        k, c = {"model": "k_anonymity", "k": 2}, rng.choice([1, 2.5])
        attack = {"model": "no_attack", "gain": k_map["k"] * c - c / 2, "cost": c}
        attack["population"] = PEOPLE
        average = {"model": "average_risk", "risk": rng.choice([0.2, 0.3, 0.5])}
        average |= rng.choice([{}, {"highest": 0.3, "share": 0.5}]) | {"population": PEOPLE}
        return rng.choice(
            [[k_map], [delta], [k_map, delta], [k, delta], [attack], [k, average], [delta, average]]
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
        people = covered.number(self.shown(group, range(len(self.records))), self.people)
        for model in self.models:
            if model["model"] == "k_anonymity" and len(group) < model["k"]:
                return False
            if model["model"] == "k_map" and people < model["k"]:
                return False
            if model["model"] == "no_attack" and model["gain"] >= model["cost"] * people:
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
        risks = covered.risks(classes, self.people)
        return {
            "k": min(covered.number(one, self.people) for one, _ in classes),
            "max": max(chances),
            "min": min(chances),
            "risk": sum(risks) / len(risks),
            "share": Fraction(sum(risk > Fraction("0.3") for risk in risks), len(risks)),
        }

    def kept_by(self, found: dict[str, Any]) -> bool:
        def kept(model: dict[str, Any]) -> bool:
            match model["model"]:
                case "k_map":
                    return found["k"] >= model["k"]
                case "no_attack":
                    return model["gain"] < model["cost"] * found["k"]
                case "average_risk" | "delta_presence":
                    least = Fraction(str(model.get("min", 0))) <= found["min"]
                    bounded = [name for name in ("max", "risk", "share") if name in model]
                    return least and all(found[n] <= Fraction(str(model[n])) for n in bounded)
                case _:
                    return True

        return all(map(kept, self.models))


def _nodes(table: Table) -> list[Node]:
    nodes: list[Node] = [()]
    for one in table.columns:
        nodes = [(*node, level) for node in nodes for level in one.allowed]
    return nodes


@pytest.mark.random_tables
@examples(15)
@given(seed=st.integers(0, 10**9))
@pytest.mark.slow
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
        if model["model"] in ("k_map", "no_attack"):
            assert staged.verified("k_map") == [found["k"]], seed
        if model["model"] == "average_risk":
            expected = [found[name] for name in ("risk", "share") if name in model]
            assert staged.verified("average_risk") == pytest.approx(list(map(float, expected)))
        if model["model"] == "delta_presence":
            expected = [found["max"], *([found["min"]] if model.get("min") else [])]
            assert staged.verified("delta_presence") == pytest.approx(list(map(float, expected)))


# -- worked examples -----------------------------------------------------------------------------

AGES = {"*": {"2*": ["21", "26", "28"], "3*": ["33", "37"]}}
SIX = [[21, "f"], [26, "f"], [33, "m"], [33, "m"], [37, "f"], [37, "m"]]
K_MAP = {"model": "k_map", "k": 3, "population": PEOPLE}
DELTA = {"model": "delta_presence", "population": PEOPLE, "max": 0.6}
COLUMNS: dict[str, Any] = {
    "age": {"hierarchy": {"inline": AGES}},
    "sex": {"levels": [0, 0]},
    "s": "i",
}


def six(source: Connection, people: Sequence[Sequence[Any]]) -> None:
    rows = [[age, sex, n] for n, (age, sex) in enumerate(SIX)]
    make_table(source, {"age": "integer", "sex": "text", "s": "integer"}, rows)
    make_table(source, {"age": "integer", "sex": "text"}, people, name=("public", "people"))


def levelled(*models: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return policy(COLUMNS, models, method={"name": "full_domain"}, **keys)


MORE = [[21, "f"], [28, "f"], [28, "m"], [33, "m"], [37, "m"], [37, "f"], [33, "f"], [99, "f"]]


def test_people_whom_the_source_lacks_are_below_its_labels(tables: Tables) -> None:
    """On level 1 women in their twenties are 4 people, of whom 28 is an age of nobody released."""
    source, owner = tables
    six(source, [*SIX, *MORE])
    staged = run(owner, levelled(K_MAP, DELTA))
    assert staged.utility.levels["age"] == (1, 2)
    assert (staged.verified("k_map"), staged.verified("delta_presence")) == ([3], [0.6])
    said = {one["requirement"]: one["over_versions"] for one in guarantee(staged.plan.spec)}
    assert said == {
        f"k_map k=3 {COUNTED}": "readers of one version",
        f"delta_presence max=0.6 {COUNTED}": "readers of one version",
    }
    assert PEOPLE not in str(guarantee(staged.plan.spec))  # no reader needs its name


def test_people_within_the_highest_range_alone_are_in_it(tables: Tables) -> None:
    """It is [20, 40), where the ages of the source end: 38 and 39 are in it, and 45 is not."""
    source, owner = tables
    six(source, [*SIX, [39, "f"], [38, "m"], [45, "m"]])
    columns = {**COLUMNS, "age": {"hierarchy": {"intervals": [10]}}}
    staged = run(owner, policy(columns, [{**K_MAP, "k": 4}], method={"name": "full_domain"}))
    assert (staged.utility.levels["age"], staged.verified("k_map")) == ((2, 2), [4])
    with refused("infeasible") as caught:
        run(owner, policy(columns, [{**K_MAP, "k": 5}], method={"name": "full_domain"}))
    assert "the best reachable is k = 4" in str(caught[0])


def test_nobody_beyond_the_largest_chance_or_below_the_least(tables: Tables) -> None:
    source, owner = tables
    six(source, [*SIX, *MORE])
    with refused("infeasible") as caught:
        run(owner, levelled({**K_MAP, "k": 8}))
    assert "the best reachable is k = 6" in str(caught[0])
    with refused("verification") as caught:
        run(owner, levelled(DELTA, {**K_MAP, "k": 2}) | _least(0.1))
    assert "requires min >= 0.1" in str(caught[0])
    assert "whom no class covers" in (caught[0].hint or "")


def _least(share: float) -> dict[str, Any]:
    return {"privacy": [{**DELTA, "min": share}]}


def test_records_of_nobody_in_the_population(tables: Tables) -> None:
    """Chances to be in the table are refused; people are counted as they are."""
    source, owner = tables
    six(source, [*SIX[1:], *MORE, *MORE][1:])
    with refused("not_in_population") as caught:
        run(owner, levelled(DELTA))
    assert "1 record is of nobody in public.people" in str(caught[0])
    staged = run(owner, levelled(K_MAP))
    assert any("1 record is of nobody" in w for w in warnings_of(staged.plan, staged.state))


def test_thirds_are_a_whole(tables: Tables) -> None:
    """Three classes of 2 records among 3 people, and one of 2 among 2: 3 of 8."""
    each = query(
        "select v.n, v.covered from (values (2, 3), (2, 3), (2, 3), (2, 2)) as v(n, covered)"
    )
    model = AverageRisk(PEOPLE, 0.375)
    row = tables[1].execute(render(model.worst(model.measure(each, [])))).fetchone()
    assert row == (0, 0.375)


def test_bounds_are_exact(tables: Tables) -> None:
    """One record more than half of so many people is above 0.5, and no rounding."""
    people = 10**13
    classes = query(
        "select v.n, :p::bigint as covered from (values (:n)) as v(n)",
        {},
        p=num(people),
        n=num(people // 2 + 1),
    )
    model = MostPresent(PEOPLE, 0.5)
    measured = model.measure(with_presence(classes), [])
    row = tables[1].execute(render(model.worst(measured))).fetchone()
    assert row == (1, pytest.approx(0.5))


@pytest.mark.slow
def test_the_mean_risk_among_people_of_a_population(tables: Tables) -> None:
    """A class that covers nobody has the risk 1, and is no group that misses a bound."""
    source, owner = tables
    six(source, [person for person in [*SIX, *MORE] if person[0] < 30])
    average = {"model": "average_risk", "risk": 0.74, "population": PEOPLE}
    above = {"highest": 0.2, "share": 0.6}
    declared = levelled({"model": "k_anonymity", "k": 2}, average | above)
    for name in ("age", "sex"):
        declared["columns"][name]["levels"] = [1, 1]
    with refused("verification") as caught:  # 2 of 5 people, and 4 of none
        run(owner, declared)
    assert "requires share <= 0.6; the staged release measures 0.666667" in str(caught[0])
    assert "k_map" in (caught[0].hint or "")
    drop_leftovers(owner)
    staged = run(owner, {**declared, "privacy": [declared["privacy"][0], average]})
    assert staged.verified("average_risk") == pytest.approx([4.4 / 6])
    said = [one for one in guarantee(staged.plan.spec) if one["model"] == "average_risk"]
    assert [one["over_versions"] for one in said] == ["readers of one version"]
    assert PEOPLE not in str(said)
    assert any("4 records are of nobody" in w for w in warnings_of(staged.plan, staged.state))


@pytest.mark.parametrize(
    ("types", "part"),
    [
        ({"age": "integer", "sx": "text"}, 'public.people has no column sex (did you mean "sx"?)'),
        ({"age": "text", "sex": "text"}, "is integer in public.t and text in public.people"),
    ],
)
def test_a_population_that_does_not_fit(tables: Tables, types: dict[str, str], part: str) -> None:
    source, owner = tables
    six(source, [])
    make_table(source, types, [], name=("public", "people"))
    with pytest.raises(PolicyError, match=re.escape(part)):
        run(owner, levelled(K_MAP))


def test_a_population_that_may_not_be_read(tables: Tables) -> None:
    source, owner = tables
    six(source, [])
    source.execute("REVOKE SELECT ON public.people FROM steward")
    with pytest.raises(PganonError, match="people") as caught:
        run(owner, levelled(K_MAP))
    assert "GRANT SELECT" in (caught.value.hint or "")


def test_two_populations(tables: Tables) -> None:
    source, owner = tables
    six(source, SIX)
    with pytest.raises(PolicyError, match="people of one population"):
        run(owner, levelled(K_MAP, {**DELTA, "population": "public.t"}))


@pytest.mark.slow
def test_verify_needs_neither_source_nor_population(tables: Tables, db: Any) -> None:
    """And notices a copy of the population that was changed."""
    source, owner = tables
    six(source, [*SIX, *MORE])
    done = publish(db, levelled(K_MAP, DELTA))
    source.execute("DROP TABLE public.people, public.t")
    found = lifecycle.verify(owner, "r")
    assert {one.model for one in found} >= {"k_map", "delta_presence"}
    assert all(one.holds for one in found)
    table = sql.Identifier("pganon_private", f"r{done.run_id}_population")
    analyst = "SELECT has_table_privilege('analyst', c.oid, 'SELECT') FROM pg_class AS c"
    kept = db.admin.execute(f"{analyst} WHERE relname ~ '^r[0-9]+_population$'")
    assert kept.fetchall() == [(False,)]
    db.admin.execute(sql.SQL("UPDATE {} SET n = n + 1").format(table))
    failed = [one.model for one in lifecycle.verify(owner, "r") if not one.holds]
    assert failed
    assert set(failed) & {"k_map", "delta_presence"} == set()


@pytest.mark.slow
def test_labels_of_people_whom_the_source_lacks_are_read_like_the_source(
    tables: Tables, db: Any
) -> None:
    """Once 28 is below another label, other people are counted, so groups are not those before."""
    source, _ = tables
    six(source, [*SIX, *MORE])
    source.execute(
        "CREATE TABLE public.ages AS SELECT n::text AS age, n / 10 || '*' AS tens, '*' AS every"
        " FROM generate_series(20, 39) AS n; GRANT SELECT ON public.ages TO steward"
    )
    columns = {**COLUMNS, "age": {"hierarchy": {"table": "public.ages"}}}
    declared = policy(columns, [K_MAP], method={"name": "full_domain"}, republication="warn")
    publish(db, declared)

    def again() -> str:
        return run_release(loaded(declared), dsn=db.dsn("steward"), options=Options()).outcome

    assert again() == "unchanged"
    source.execute("UPDATE public.ages SET tens = '3*' WHERE age = '28'")
    assert again() == "released"
    assert again() == "unchanged"


@pytest.mark.slow
def test_a_population_of_the_report_alone_is_counted_anew_when_it_changes(
    tables: Tables, db: Any
) -> None:
    """Three women and three men: with everybody twice, each class covers six."""
    source, _ = tables
    six(source, SIX)
    asked = {"population": PEOPLE, "limits": [0.25], "smallest": 3}
    declared = levelled({"model": "k_anonymity", "k": 2}, report=asked, republication="warn")

    def among() -> dict[str, Any]:
        run_release(loaded(declared), dsn=db.dsn("steward"), options=Options())
        row = db.owner().execute(
            "SELECT evidence FROM pganon_private.version ORDER BY version DESC"
        )
        return row.fetchone()[0]["population"]

    first = among()
    source.execute("INSERT INTO public.people SELECT id + 100, age, sex FROM public.people")
    second = among()
    assert (first["smallest"], second["smallest"]) == (3, 6)
    assert first["highest"] == first["mean"] == 1 / 3
    assert second["highest"] == second["mean"] == 1 / 6
    source.execute("DELETE FROM public.people WHERE sex = 'm'")
    assert among() == {
        "by_weights": False,
        "smallest": 0,
        "highest": 1,
        "mean": 3 / 6,  # (1 + 1 / 6) / 2 in steps of what three people with a chance of 1 add
        "presence": {"highest": 3 / 6, "p95": None},
        "above": {"0.25": 3},
    }
    refusal = "people of one population"
    with pytest.raises(PolicyError, match=refusal):
        run(db.owner(), levelled({**K_MAP, "population": "public.t"}, report=asked))


# -- Adult ---------------------------------------------------------------------------------------

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult"
SCENARIOS = [((0, 0, 1), 7, 2 / 7, 0.0), ((1, 1, 1), 36, 0.15813953, 0.05555556)]
"""Levels of sex, age and race; least F_E, largest and least chance to be in the table (ARX)."""

RISKS = {(0, 0, 0): 0.01672331, (0, 0, 1): 0.00433389, (1, 1, 1): 0.00047800}
"""By levels the mean of 1 / F_E over all records."""


@pytest.mark.slow
@pytest.mark.skipif(not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult")
def test_every_tenth_of_adult_in_adult(tables: Tables) -> None:
    source, owner = tables
    with gzip.open(ADULT / "arx/adult.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    names = ("sex", "age", "race")
    people = [[row["sex"], int(row["age"]), row["race"]] for row in rows]
    types = {"sex": "text", "age": "integer", "race": "text"}
    make_table(source, types, people, name=("public", "people"))
    make_table(source, types, people[::10])

    def declared(levels: Sequence[int], *models: dict[str, Any]) -> dict[str, Any]:
        columns = {
            name: {
                "hierarchy": {"csv": f"adult_hierarchy_{name}.csv", "sep": ";"},
                "levels": [level, level],
            }
            for name, level in zip(names, levels, strict=True)
        }
        return policy(columns, models, method={"name": "full_domain"})

    def measured(levels: Sequence[int], k: int, most: float, least: float) -> list[float]:
        k_map = {"model": "k_map", "k": k, "population": PEOPLE}
        delta = {"model": "delta_presence", "population": PEOPLE, "max": most, "min": least}
        drop_leftovers(owner)
        staged = run(owner, declared(levels, k_map, delta), base_dir=ADULT / "hierarchies_arx")
        return [*staged.verified("k_map"), *staged.verified("delta_presence")]

    for levels, k, most, least in SCENARIOS:
        found = measured(levels, k, round(most + 1e-8, 8), max(least - 1e-8, 0))
        assert found[:2] == pytest.approx([k, most], abs=1e-8)
        assert found[2:] == pytest.approx([least] if least else [], abs=1e-8)
    with refused("infeasible") as caught:
        measured((0, 0, 0), 2, 0.9, 0)
    assert "best reachable is k = 1" in str(caught[0])
    beside = {"model": "population_uniqueness", "population_size": len(people), "share": 0.9}
    for levels, risk in RISKS.items():
        average = {"model": "average_risk", "risk": risk + 1e-8, "population": PEOPLE}
        drop_leftovers(owner)
        staged = run(owner, declared(levels, average, beside), base_dir=ADULT / "hierarchies_arx")
        assert staged.verified("average_risk") == pytest.approx([risk], abs=1e-8)


def test_people_without_a_value_are_counted_where_a_class_shows_null(tables: Tables) -> None:
    """NULL joins the values at the root, where a class that has none covers nobody without one."""
    source, owner = tables
    types = {"zip": "text", "sex": "text"}
    rows = [["11", "f"], ["12", "f"], ["11", "m"], [None, "m"]]
    make_table(source, types, rows)
    people = [*rows, [None, "f"], [None, "f"], [None, "m"]]
    make_table(source, types, people, name=("public", "people"))
    columns = {"zip": {"hierarchy": {"prefix": [1]}, "levels": [2, 2]}, "sex": {"levels": [0, 0]}}
    declared = policy(columns, [{**K_MAP, "k": 2}], method={"name": "full_domain"})
    staged = run(owner, declared)
    assert staged.verified("k_map") == [2]
    drop_leftovers(owner)
    with refused("infeasible"):
        run(owner, {**declared, "privacy": [K_MAP]})
