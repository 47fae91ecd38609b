"""Models of all classes together, on what runs stage."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import Connection, sql

from pganon.errors import PolicyError
from pganon.resolved.guarantee import guarantee
from tests.support.harness.cluster import Database
from tests.support.harness.driver import drop_leftovers, fetch, refused, run
from tests.support.harness.examples import examples
from tests.support.oracles import undone
from tests.support.oracles.published import whole_offences
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

LINE = {"name": "one_dimensional"}
Tables = tuple[Connection, Connection]
K: dict[str, Any] = {"model": "k_anonymity", "k": 2}


def average(risk: float, **further: float) -> list[dict[str, Any]]:
    return [K, {"model": "average_risk", "risk": risk, **further}]


def table(db: Database, rows: list[list[Any]]) -> None:
    make_table(db.connect("source_owner"), {"x": "int", "s": "int"}, rows)


@pytest.fixture
def tables(db: Database) -> Tables:
    """Connections as owner of the source, and as owner of pganon."""
    return db.connect("source_owner"), db.owner()


def test_a_release_that_misses_the_model_as_a_whole(db: Database) -> None:
    table(db, [[n // 3, n] for n in range(12)])
    with refused("verification") as caught:
        run(db.owner(), policy({"x": "q", "s": "i"}, average(0.33), method=LINE))
    assert "average_risk requires risk <= 0.33; the staged release measures 0.333333" in str(
        caught[0]
    )
    assert "larger classes" in (caught[0].hint or "")


def test_a_release_that_satisfies_both_bounds(db: Database) -> None:
    """Classes of 2, 2 and 4: 3 of 8 records on average, and half of them above 0.4."""
    table(db, [[x, n] for n, x in enumerate([1, 1, 2, 2, 3, 3, 3, 3])])
    wanted = average(0.375, highest=0.4, share=0.5)
    staged = run(db.owner(), policy({"x": "q", "s": "i"}, wanted, method=LINE))
    assert staged.verified("average_risk") == [0.375, 0.5]
    stated = [one["requirement"] for one in guarantee(staged.plan.spec)]
    assert stated[1:] == ["average_risk risk=0.375", "average_risk highest=0.4 share=0.5"]


def test_no_outlier_is_left_out_beside_it(db: Database) -> None:
    """A class fewer, or a smaller one, changes what the model is about."""
    table(db, [[x, n] for n, x in enumerate([1, 1, 1, 1, 1, 1000])])
    declared = policy({"x": "q", "s": "i"}, [K], method=LINE, suppression_limit=0.2)
    assert run(db.owner(), declared).facts["suppressed"] == 1
    beside = run(db.owner(), {**declared, "privacy": average(0.5)})
    assert beside.facts["suppressed"] == 0


@pytest.mark.parametrize("keys", [{}, {"variant": "relaxed"}, {"choose": "width"}])
@pytest.mark.slow
def test_cuts_are_undone(db: Database, keys: dict[str, str]) -> None:
    """As few as are needed: classes are unions of those that cuts made, of one part each.

    No class is cut by z, the widest, before others are tried in another round.
    """
    rng = random.Random(5)
    rows = [
        [rng.choice([None, *range(1, 20)]), rng.choice("abcd"), rng.choice("uvw"), int(n == 0)]
        for n in range(150)
    ]
    names = {"x": "int", "y": "text", "s": "text", "z": "int"}
    make_table(db.connect("source_owner"), names, rows)
    columns = {"x": {"nulls": "own_class"}, "y": "q", "s": "s", "z": "q"}
    diverse = {"model": "distinct_l_diversity", "column": "s", "l": 2}
    declared = policy(columns, [K, diverse], method={"name": "mondrian", **keys})
    plain = run(db.owner(), declared).members.values()
    drop_leftovers(db.owner())
    for risk in (0.2, 0.05, 0.02):
        wanted = [*declared["privacy"], average(risk)[1]]
        staged = run(db.owner(), {**declared, "privacy": wanted})
        members = staged.members.values()
        assert sum(map(len, members)) == sum(map(len, plain))
        assert len(members) == min(len(plain), int(risk * 150))
        assert all(any(old <= new for new in members) for old in plain)
        null = {number for number, row in enumerate(rows, 1) if row[0] is None}
        assert all(not new & null or new <= null for new in members)
        assert all(len({rows[n - 1][2] for n in new}) > 1 for new in members)
        drop_leftovers(db.owner())
    with refused("verification"):
        run(db.owner(), {**declared, "privacy": [*declared["privacy"], average(0.01)[1]]})


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        (average(0.1), lambda n: 1),
        (average(0.6, highest=0.25, share=0.1), lambda n: n if n < 4 else 0),
    ],
)
def test_which_cuts_are_undone(db: Database, wanted: Any, part: undone.Part) -> None:
    """Of one number the cuts are in its order, so that losses follow from positions."""
    rng = random.Random(8)
    values = sorted(int(rng.paretovariate(0.8) * 10) for _ in range(160))
    table(db, [[x, n] for n, x in enumerate(values)])
    staged = run(db.owner(), policy({"x": "q", "s": "i"}, wanted))

    def rows(name: str, number: int | None = None) -> list[dict[str, Any]]:
        text = sql.SQL("SELECT * FROM {}").format(staged.state.work(name, round=number).identifier)
        return fetch(staged.conn, text)

    groups = {
        row["node"]: undone.Group(row["start"], row["n"], row["loss"]) for row in rows("tree")
    }
    for group in groups.values():
        width = values[group.start + group.n - 1] - values[group.start]
        assert group.loss == pytest.approx(group.n * width / (values[-1] - values[0]))
    cut = [group for node, group in groups.items() if node > 0]
    classes = [group for node, group in groups.items() if node < 0]
    bound = Fraction(str(wanted[1].get("share", wanted[1]["risk"])))
    expected = undone.undone(cut, classes, part, bound)
    assert len(expected) == staged.facts["undone_rounds"] > 2
    for number, those in enumerate(expected):
        found = {(row["start"], row["n"]) for row in rows("merged", number)}
        assert found == {(group.start, group.n) for group in those}, number
    shown = sorted(sorted(values[n - 1] for n in group) for group in staged.members.values())
    assert shown == sorted(values[g.start : g.start + g.n] for g in expected[-1])


def test_a_group_that_was_tried_again_in_vain(db: Database) -> None:
    """Of those with x = 0 one has another z, and one another w: no column cuts them."""
    rows = [[int(n == x == 0), int(n == 1 > x), x, n] for x in (0, 1) for n in range(10)]
    names = {"z": "int", "w": "int", "x": "int", "s": "int"}
    make_table(db.connect("source_owner"), names, rows)
    columns = {"z": "q", "w": "q", "x": "q", "s": "i"}
    method = {"name": "mondrian", "choose": "width"}
    for risk, sizes in ((0.1, [10, 10]), (0.05, [20])):
        staged = run(db.owner(), policy(columns, average(risk), method=method))
        assert [len(group) for group in staged.members.values()] == sizes
        drop_leftovers(db.owner())


def test_records_at_high_risk_are_merged(db: Database) -> None:
    rng = random.Random(6)
    table(db, [[rng.randint(1, 30), n] for n in range(100)])
    declared = policy({"x": "q", "s": "i"}, average(0.4, highest=0.25, share=0.1))
    staged = run(db.owner(), declared)
    sizes = [len(group) for group in staged.members.values()]
    assert whole_offences(sizes, declared["privacy"][1]) == []
    drop_leftovers(db.owner())
    plain = run(db.owner(), {**declared, "privacy": [K]})
    sizes = [len(group) for group in plain.members.values()]
    assert whole_offences(sizes, declared["privacy"][1]) == ["share"]
    assert plain.plan.spec.keeps_cuts
    assert not staged.plan.spec.keeps_cuts  # a version of newcomers goes by cuts that were made


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_some_records_stay_alone(db: Database, variant: str) -> None:
    """Nothing else bounds a class: as many stay alone as may."""
    rng = random.Random(7)
    table(db, [[rng.choice([None, *range(30)]), n] for n in range(40)])
    wanted = {"model": "sample_uniqueness", "share": 0.1}
    columns = {"x": {"nulls": "own_class"}, "s": "s"}
    method = {"name": "mondrian", "variant": variant}
    staged = run(db.owner(), policy(columns, [wanted], method=method))
    sizes = [len(group) for group in staged.members.values()]
    assert whole_offences(sizes, wanted) == []
    assert 0 < sizes.count(1) <= 4
    assert staged.verified("sample_uniqueness") == [sizes.count(1) / 40]
    (stated,) = guarantee(staged.plan.spec)
    assert stated["requirement"] == "sample_uniqueness share=0.1"


@pytest.mark.random_tables
@examples(2)
@given(seed=st.integers(0, 2**32))
@pytest.mark.slow
def test_only_what_one_class_of_a_part_would_miss_is_refused(tables: Tables, seed: int) -> None:
    """A part is who has the same NULLs."""
    source, owner = tables
    rng = random.Random(seed)
    wanted = average(rng.choice([0.03, 0.1, 0.4]))
    share = {"share": rng.choice([0, 0.05, 0.2])}
    if rng.random() < 0.3:
        wanted[1] |= {"highest": rng.choice([0.2, 0.4, 0.9]), **share}
    wanted = wanted[rng.choice([0, 1]) :]
    if rng.random() < 0.3:
        wanted = [{"model": "sample_uniqueness", **share}]
    size = rng.randint(4, 40)
    xs = [rng.choice([None, *range(9), *range(9)]) for _ in range(size)]
    make_table(
        source,
        {"x": "int", "y": "text", "s": "int"},
        [[x, rng.choice("abc"), n] for n, x in enumerate(xs)],
    )
    drop_leftovers(owner)
    columns = {"x": {"nulls": rng.choice(["own_class", "as_value"])}, "y": "q", "s": "i"}
    method = {"name": "mondrian", "variant": rng.choice(["strict", "relaxed"])}
    declared = policy(columns, wanted, method=method)
    nulls = xs.count(None) if columns["x"] == {"nulls": "own_class"} else 0
    parts = [n for n in (nulls, size - nulls) if n]

    def missed(sizes: list[int]) -> bool:
        too_small = K in wanted and min(sizes) < K["k"]
        return too_small or any(whole_offences(sizes, one) for one in wanted if one is not K)

    if missed(parts):
        with refused():
            run(owner, declared)
        return
    sizes = [len(group) for group in run(owner, declared).members.values()]
    assert sum(sizes) == size
    assert not missed(sizes)


@pytest.mark.parametrize("bound", [{"risk": 0.3}, {"risk": 0.9, "highest": 0.4, "share": 0.3}])
@pytest.mark.parametrize("name", ["one_dimensional", "full_domain"])
def test_methods_that_undo_nothing(db: Database, name: str, bound: dict[str, float]) -> None:
    """Of classes of 4, 2 and 2: what these miss is refused, and one class would not miss it."""
    table(db, [[x, n] for n, x in enumerate([1, 1, 1, 1, 5, 5, 9, 9])])
    hierarchy = {"hierarchy": {"intervals": [1]}} if name == "full_domain" else {}
    declared = policy({"x": hierarchy, "s": "i"}, [K], method={"name": name})
    model = {"model": "average_risk", **bound}
    with refused("verification"):
        run(db.owner(), {**declared, "privacy": [K, model]})
    drop_leftovers(db.owner())
    enough = {"risk": 0.375, "highest": 0.5, "share": 0}
    staged = run(db.owner(), {**declared, "privacy": [K, {**model, **enough}]})
    assert sorted(len(group) for group in staged.members.values()) == [2, 2, 4]


def test_increments_are_some_of_the_groups(db: Database) -> None:
    table(db, [[n, n] for n in range(12)])
    growing = policy(
        {"x": "q", "s": {"role": "individual"}},
        average(0.5),
        refresh="increments",
        republication="refuse",
    )
    with pytest.raises(PolicyError, match="increments are not available with average_risk"):
        run(db.owner(), growing)
