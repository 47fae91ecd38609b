"""`assume: [independent_columns]`: versions are judged beside those of the same columns (T3)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.guard.rules import Rule
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.privacy.judged import HOLDS_FOR, INDEPENDENT, Judged
from pganon.run.judging import Judging
from pganon.run.rebuilding import guarded
from pganon.run.result import RunResult
from tests.support.harness import driver
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.examples import examples
from tests.support.harness.guarded import Population, Row, remembered
from tests.support.oracles import guard_worlds, independence
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

ASSUMED = {"assume": ["independent_columns"]}
KINDS = {"q": "integer", "z": "integer", "s": "text", "w": "text", "i": "text"}
L3 = {"model": "distinct_l_diversity", "l": 3}


def table(db: Database, told: Any = lambda number, rng: "klmn"[number // 4 % 4]) -> Database:
    """96 people; as made here, every combination of values of s and w is equally frequent."""
    rng = random.Random(3)
    rows = [
        [rng.randint(0, 40), rng.randint(0, 40), "abcd"[n % 4], told(n, rng), "x"]
        for n in range(96)
    ]
    make_table(db.connect("source_owner"), KINDS, rows)
    return db


@pytest.fixture
def source(db: Database) -> Database:
    return table(db)


def declared(release: str, place: str, column: str, **changes: Any) -> dict[str, Any]:
    """Classes by one of the quasi-identifiers, so that two of them divide each other."""
    found = policy({place: "q", column: "s"}, [{**L3, "column": column}], trust=["source_owner"])
    return {**found, "release": release, "republication": "refuse", **ASSUMED, **changes}


def publish(source: Database, *asked: Any, **changes: Any) -> RunResult:
    result = driver.publish(source, declared(*asked, **changes))
    assert isinstance(result, RunResult)
    return result


def test_other_columns(source: Database) -> None:
    """Refused, unless it is taken for granted, and then said; nobody else has to take it so."""
    first = publish(source, "one", "q", "s")
    assert "guard_independent" not in first.guard
    with driver.refused("republication"):
        publish(source, "two", "z", "w", assume=[])
    result = publish(source, "two", "z", "w")
    assert result.guard["guard_worst_probability"] == 1  # whoever knows otherwise
    told = result.guard["guard_independent"]
    assert (told["columns"], told["others"]) == (["w"], ["s"])
    assert told["fewest_values"] >= 3
    assert told["worst_probability"] < 1
    assert any("w and s are independent" in text for text in result.warnings)
    found = source.admin.execute("SELECT guarantee FROM pganon_private.version").fetchall()
    said = [each["over_versions"] for (guarantee,) in found for each in guarantee]
    assert said == [HOLDS_FOR[Judged.VALUES] + INDEPENDENT] * 2
    with driver.refused("republication"):
        publish(source, "three", "z", "w", assume=[], where="id > 1")


def test_the_same_column(source: Database) -> None:
    """Versions of one column are judged together, whatever is taken for granted of others."""
    publish(source, "one", "q", "s")
    publish(source, "two", "z", "w")
    with driver.refused("republication"):
        publish(source, "three", "q", "w")
    with driver.refused("republication"):
        publish(source, "three", "z", "s")


def test_people_who_were_promised_more(source: Database) -> None:
    """A promise to readers of any belief stays one, unless the policy's models alone count."""
    publish(source, "one", "q", "s", assume=[])
    with driver.refused("republication") as errors:
        publish(source, "two", "z", "w")
    assert "on s" in str(errors[0])
    publish(source, "two", "z", "w", floor="policy")


def test_rules_about_people(source: Database) -> None:
    """Rows of different versions may be known to belong together: k counts who is in all."""
    k = [{"model": "k_anonymity", "k": 2}, {**L3, "column": "w"}]
    publish(source, "one", "q", "s")
    with driver.refused("republication") as errors:
        publish(source, "two", "z", "w", privacy=k)
    assert "k_anonymity" in str(errors[0])


def spread(number: int) -> int:
    """A quarter of the values is as frequent with each value of s; two people have the same."""
    n = min(number, 94)
    return 24 * (n // 4 % 4) + 4 * (n // 16) + n % 4


def leveled(number: int) -> int:
    """0 to 3, by s but for those two people."""
    return min(number, 94) % 4


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(lambda n, rng: "kkll"[n % 4], id="determined"),
        pytest.param(
            lambda n, rng: "klmn"[(n if rng.random() < 0.6 else rng.randint(0, 3)) % 4],
            id="associated",
        ),
        pytest.param(
            lambda n, rng: str((100 + spread(n)) * 10 ** leveled(n)),
            id="number",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lambda n, rng: f"{1900 + 100 * leveled(n) + spread(n)}-01-01",
            id="date",
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda n, rng: f"no. {n}", id="one value each", marks=pytest.mark.slow),
    ],
)
def test_columns_that_tell_of_each_other(db: Database, told: Any) -> None:
    table(db, told)
    model = {**L3, "l": 2, "column": "w"}
    publish(db, "one", "q", "s")
    with driver.refused("republication"):
        publish(db, "two", "z", "w", privacy=[model])


@pytest.mark.slow
def test_values_that_people_had_last(db: Database) -> None:
    """What a column told of another before everybody changed tells nothing of what is."""
    table(db, lambda n, rng: "klmn"[n % 4])
    publish(db, "one", "q", "s")
    change = "UPDATE public.t SET s = substr('abcd', 1 + (id - 1) / 4 % 4, 1)"
    db.connect("source_owner").execute(change)
    publish(db, "one", "q", "s", republication="allow")
    assert "guard_independent" in publish(db, "two", "z", "w").guard


@pytest.mark.slow
@pytest.mark.parametrize("columns", [{"i": "i"}, {"s": "q"}], ids=["unchanged", "grouped"])
def test_columns_that_both_versions_show(source: Database, columns: dict[str, str]) -> None:
    """In a version of w, a column that nobody remembers, or that of the other version."""
    publish(source, "one", "q", "s")
    asked = policy({"z": "q", "w": "s", **columns}, [{**L3, "column": "w"}])
    shown = {"columns": asked["columns"]}
    with driver.refused("republication"):
        publish(source, "two", "z", "w", **shown)


@pytest.mark.slow
def test_nobody_has_both_columns(source: Database) -> None:
    """Then nothing is measured, and all versions count."""
    publish(source, "one", "q", "s", where="id <= 48")
    assert "guard_independent" not in publish(source, "two", "z", "w", where="id > 48").guard


@pytest.mark.slow
def test_judged_once_more(source: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the memory moved meanwhile; what was measured of columns goes, too."""
    publish(source, "one", "q", "s")
    judge, times = Judging.judge, []

    def judged(self: Judging) -> Any:
        found = judge(self)
        times.append(found)
        if len(times) == 1:
            source.admin.execute("UPDATE pganon_private.population SET counter = counter + 1")
        return found

    monkeypatch.setattr(Judging, "judge", judged)
    assert publish(source, "two", "z", "w").guard["guard_independent"]["others"] == ["s"]
    assert len(times) == 2
    assert driver.leftovers(source) == []


@pytest.mark.slow
def test_warned(source: Database) -> None:
    publish(source, "one", "q", "s")
    publish(source, "two", "z", "w")
    told = publish(source, "three", "q", "w", republication="warn")
    assert told.guard["guard_independent"]["fewest_values"] < 3
    before = remembered(source)
    guarded(source.connect("steward"), driver.loaded(declared("one", "q", "s")), rebuild=True)
    assert remembered(source) == before
    assert any("w and s are independent" in text for text in told.warnings)


@pytest.mark.slow
def test_a_version_that_joins_columns(source: Database) -> None:
    """Versions that were judged apart are not any more, though the last divides nobody."""
    publish(source, "one", "q", "s")
    publish(source, "two", "z", "w")
    both = policy({"q": "q", "s": "s", "w": "s"}, [{**L3, "column": "s"}])
    shown = {"columns": both["columns"], "privacy": both["privacy"]}
    for assume in (["independent_columns"], []):
        with driver.refused("republication"):
            publish(source, "three", "q", "s", assume=assume, **shown)
    assert driver.leftovers(source) == []
    warned = publish(source, "three", "q", "s", republication="warn", **shown)
    assert "guard_independent" not in warned.guard
    assert publish(source, "four", "q", "w", republication="warn", assume=[]).version == 1
    assert driver.leftovers(source) == []


# -- by enumeration -------------------------------------------------------------------------------

DOMAIN = "abc"


def of_both(seed: int) -> tuple[guard_worlds.History, guard_worlds.History]:
    """The same people, of whom two versions tell one column and one tells another."""
    rng = random.Random(seed)
    options: dict[str, Any] = {"most_people": 5, "domain": DOMAIN, "changes": False}
    one = guard_worlds.random_history(rng, versions=2, **options)
    other = guard_worlds.random_history(rng, versions=1, **options)
    return one, other


def bounds(owner: Connection, history: guard_worlds.History) -> dict[int, float]:
    """By person, how likely a value can be by the guard, of versions of one column."""
    population = Population(owner)
    for version in history:
        source = {
            person: Row((seen.group,) if seen.group > 0 else (), (seen.values,), min(seen.group, 0))
            for person, seen in version.items()
        }
        population.add(source, [Rule(AnatomyLDiversity(2), "v", independent=True)], rounds=0)
    return {
        person: cell["peak"][0] / cell["size"]
        for cell in population.cells.values()
        for person in cell["people"]
        if cell["peak"][0] is not None
    }


@pytest.mark.random_tables
@examples(1)
@given(seed=st.integers(0, 10**6))
def test_independent_columns_keep_their_bounds(db: Database, seed: int) -> None:
    """No belief in independent columns goes above the bounds of versions of one column."""
    looked, owner = 0, db.owner()
    for number in range(6):
        one, other = of_both(seed + number)
        limits = bounds(owner, one)
        belief = independence.independent(one, other, random.Random(seed))
        likely = independence.posteriors(one, other, DOMAIN, belief)
        for ((person, _), _), probability in likely.items():
            assert probability <= limits[person] + 1e-9
        looked += len(likely)  # 0 where nobody is in a version of the first column
    assert looked


def test_who_knows_that_columns_are_the_same(db: Database) -> None:
    """The attack that is taken not to exist: one world is left of those of both columns."""
    values = {1: "a", 2: "b", 3: "b", 4: "a"}

    def version(groups: dict[int, int]) -> dict[int, guard_worlds.Seen]:
        return {p: guard_worlds.Seen(g, (values[p],)) for p, g in groups.items()}

    one = [version({1: 1, 2: 1, 3: 2, 4: 2})]
    other = [version({1: 1, 4: 1, 2: 2, 3: 2})]
    assert set(bounds(db.owner(), one).values()) == {0.5}
    belief = independence.independent(one, other, random.Random(1))
    assert max(independence.posteriors(one, other, "ab", belief).values()) <= 0.5 + 1e-9
    likely = independence.posteriors(one, other, "ab", independence.the_same)
    assert {p: v for ((p, _), v), share in likely.items() if share == 1} == values
