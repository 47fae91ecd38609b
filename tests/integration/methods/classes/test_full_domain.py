"""Full-domain recoding against brute force over all levels, and worked examples."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.methods.classes.full_domain.measures import Measures
from pganon.publish import lifecycle
from tests.support.harness.driver import Connection, Staged, drop_leftovers, prepared, publish, run
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

AGES = {"*": {"2*": ["21", "26"], "3*": ["33", "37"]}}
ZIPS = {"*": {"10*": ["101", "102"], "20*": ["201"]}}
EIGHT = [
    (21, "101", "flu"),
    (26, "101", "flu"),
    (33, "101", "cold"),
    (33, "102", "asthma"),
    (33, "102", "angina"),
    (37, "102", "ulcer"),
    (37, "102", "gout"),
    (37, "201", "hives"),
]
K = {"model": "k_anonymity", "k": 2}
L = {"model": "distinct_l_diversity", "column": "disease", "l": 2}


@pytest.fixture
def owner(db: Any) -> Connection:
    """With the table of eight rows."""
    columns = {"age": "integer NOT NULL", "zip": "text NOT NULL", "disease": "text NOT NULL"}
    make_table(db.connect("source_owner"), columns, EIGHT)
    return db.owner()


def eight(privacy: list[dict[str, Any]], limit: int, **others: Any) -> dict[str, Any]:
    """A policy over the eight rows that may leave so many out."""
    method = {"name": "full_domain", **others}
    return policy(
        {
            "age": {"hierarchy": {"inline": AGES}},
            "zip": {"hierarchy": {"inline": ZIPS}},
            "disease": "s",
        },
        privacy,
        method=method,
        suppression_limit=limit / 8,
    )


def node(staged: Staged) -> tuple[int, ...]:
    return tuple(level for level, _ in staged.utility.levels.values())


@pytest.mark.parametrize(
    ("limit", "levels", "left_out", "cost"),
    [(0, (1, 2), 0, 0.75), (1, (2, 0), 1, 0.5625), (2, (1, 0), 2, 0.4375), (8, (1, 0), 2, 0.4375)],
)
def test_eight_rows(
    owner: Connection, limit: int, levels: tuple[int, ...], left_out: int, cost: float
) -> None:
    staged = run(owner, eight([K], limit))
    assert node(staged) == levels
    assert staged.facts["suppressed"] == left_out
    assert staged.utility.cost == pytest.approx(cost)
    assert staged.utility.gcp == pytest.approx(cost)
    assert staged.utility.proved


@pytest.mark.parametrize(
    ("limit", "levels", "cost"),
    [(0, (2, 2), 1.0), (1, (2, 0), 0.5625), (2, (2, 0), 0.5625), (8, (0, 0), 0.5)],
)
def test_eight_rows_with_two_values(
    owner: Connection, limit: int, levels: tuple[int, ...], cost: float
) -> None:
    staged = run(owner, eight([K, L], limit))
    assert node(staged) == levels
    assert staged.utility.gcp == pytest.approx(cost)


# -- what is published ------------------------------------------------------------------------

VARIED = {
    "n": "integer NOT NULL",
    "day": "date NOT NULL",
    "city": "text NOT NULL",
    "size": "text NOT NULL",
    "disease": "text NOT NULL",
}
ROWS = [
    (21, "2026-01-03", "Ulm", "s", "flu"),
    (21, "2026-01-09", "Ulm", "m", "cold"),
    (21, "2026-02-01", "Bonn", "s", "flu"),
    (34, "2026-02-03", "Bonn", "l", "gout"),
    (34, "2026-02-09", "Kiel", "m", "cold"),
    (39, "2026-07-09", "Kiel", "m", "cold"),
]


def varied(**levels: tuple[int, int]) -> dict[str, Any]:
    columns: dict[str, dict[str, Any]] = {
        "n": {"hierarchy": {"intervals": [5, 10]}},
        "day": {"hierarchy": {"date": ["month", "quarter"]}},
        "city": {"hierarchy": {"inline": {"*": {"south": ["Ulm"], "north": ["Bonn", "Kiel"]}}}},
        "size": {"type": "ordinal", "order": ["s", "m", "l"]},
    }
    return policy(
        {**{n: {**c, "levels": list(levels[n])} for n, c in columns.items()}, "disease": "s"},
        [{"model": "k_anonymity", "k": 2}],
        method={"name": "full_domain"},
        suppression_limit=1,
    )


@pytest.fixture
def shown(db: Any) -> Connection:
    make_table(db.connect("source_owner"), VARIED, ROWS)
    return db.owner()


def test_labels_of_the_level_whatever_a_class_has(shown: Connection) -> None:
    """A class of one value shows the label of its level, and a label with one leaf is no leaf."""
    staged = run(shown, varied(n=(1, 1), day=(3, 3), city=(1, 1), size=(1, 1)))
    rows = {(str(c["n"]), c["city"], tuple(c["size"])) for c in staged.classes.values()}
    assert rows == {("[20, 25)", "south", ("s", "m", "l"))} | {
        ("[30, 35)", "north", ("s", "m", "l"))
    }
    days = {str(c["day"]) for c in staged.classes.values()}
    assert days == {"[2026-01-01, 2026-04-01)"}  # of released records alone
    assert staged.facts["suppressed"] == 2


def test_all_values_whatever_a_class_has(db: Any) -> None:
    """Of a categorical column without a hierarchy; NULL shows only where it is."""
    pairs = [("x", 1), ("x", 1), ("y", 2), ("y", 2), (None, 3), (None, 3), (None, 4), ("x", 4)]
    types = {"v": "text", "o": "integer NOT NULL", "s": "text NOT NULL"}
    make_table(db.connect("source_owner"), types, [(*pair, "d") for pair in pairs])
    columns = {
        "v": {"type": "categorical", "levels": [1, 1]},
        "o": {"type": "ordinal", "levels": [0, 0]},
        "s": "s",
    }
    staged = run(db.owner(), policy(columns, 2, method={"name": "full_domain"}))
    rows = {(tuple(c["v"] or ()), c["v_null"], *c["o"]) for c in staged.classes.values()}
    assert rows == {
        (("x", "y"), False, 1),
        (("x", "y"), False, 2),
        ((), True, 3),
        (("x", "y"), True, 4),
    }


def test_values_of_suppressed_records_show_nowhere(shown: Connection) -> None:
    staged = run(shown, varied(n=(2, 2), day=(1, 1), city=(1, 1), size=(1, 1)))
    every = {size for c in staged.classes.values() for size in c["size"]}
    assert every == {row["size"] for row in with_members(staged)}


def with_members(staged: Staged) -> list[dict[str, Any]]:
    """The source records that are released."""
    names = list(VARIED)
    released = {number for group in staged.members.values() for number in group}
    return [dict(zip(names, ROWS[number - 1], strict=True)) for number in released]


def test_levels_are_told(db: Any, shown: Connection) -> None:
    declared = varied(n=(2, 2), day=(3, 3), city=(2, 2), size=(1, 1))
    result = publish(db, {**declared, "publish": {"readers": ["analyst"]}})
    assert result.utility.levels["n"] == (2, 3)
    reader = db.connect("analyst")
    (details,) = reader.execute("SELECT details FROM pganon.guarantees LIMIT 1").fetchall()[0]
    assert details["levels"]["day"] == {"level": 3, "of": 3}
    comments = reader.execute(
        "SELECT a.attname, col_description(a.attrelid, a.attnum) FROM pg_attribute AS a"
        " WHERE a.attrelid = 'published.r'::regclass AND a.attnum > 0"
    ).fetchall()
    assert dict(comments)["n"].endswith("Level 2 of 3, the same for all records.")
    assert dict(comments)["size"].endswith("Level 1 of 1, the same for all records.")


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("UPDATE {classes} SET city = 'Bonn' WHERE class_id = 1", "uniform_level"),
        ("UPDATE {classes} SET n = '[20,40)' WHERE class_id = 1", "uniform_level"),
        ("UPDATE {classes} SET size = '{{s,m}}' WHERE class_id = 1", "uniform_level"),
        ("UPDATE {classes} SET n = '[30,40)', city = 'north'", "distinct_classes"),
    ],
)
def test_other_labels_are_noticed(db: Any, shown: Connection, change: str, check: str) -> None:
    publish(db, varied(n=(2, 2), day=(3, 3), city=(1, 1), size=(1, 1)))
    ((classes,),) = db.admin.execute(
        "SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_classes$'"
    ).fetchall()
    assert all(finding.holds for finding in lifecycle.verify(shown, "r"))
    db.admin.execute(change.format(classes=f"pganon_data.{classes}"))
    missed = {finding.model for finding in lifecycle.verify(shown, "r") if not finding.holds}
    assert any(name.startswith(check) for name in missed), missed


def test_a_domain_is_the_highest_range(shown: Connection) -> None:
    declared = varied(n=(3, 3), day=(3, 3), city=(1, 1), size=(1, 1))
    declared["columns"]["n"]["domain"] = [0, 120]
    declared["columns"]["day"]["domain"] = ["2026-01-01", "2026-12-31"]
    staged = run(shown, declared)
    assert {(str(c["n"]), str(c["day"])) for c in staged.classes.values()} == {
        ("[0, 120]", "[2026-01-01, 2027-01-01)")
    }
    declared["columns"]["n"]["levels"] = [2, 2]
    drop_leftovers(shown)
    # A range of 10 in 120, where the hull of all would be 20.
    assert run(shown, declared).utility.ncp["n"] == pytest.approx(10 / 120)
    declared["columns"]["n"]["domain"] = [20, 38]
    drop_leftovers(shown)
    assert refused(shown, declared).code == "outside_domain"


def test_a_domain_narrower_than_the_ranges(shown: Connection) -> None:
    """No label loses more than the highest."""
    declared = varied(n=(2, 2), day=(3, 3), city=(1, 1), size=(1, 1))
    declared["columns"]["n"] |= {"domain": [20, 39], "hierarchy": {"intervals": [5, 50]}}
    assert run(shown, declared).utility.ncp["n"] == 1


@pytest.mark.parametrize(
    ("distance", "judged"), [("equal", [(1, 1), (0, 1)]), ("ordered", [(1, 1), (0, 0), (0, 1)])]
)
def test_classes_without_frequent_values_are_not_judged(
    db: Any, monkeypatch: Any, distance: str, judged: list[Any]
) -> None:
    """A class that lacks half of the source is too far from it, whatever the rest."""
    rows = [(a, b, b) for a in range(2) for b in range(2) for _ in range(5)]
    types = {"a": "integer NOT NULL", "b": "integer NOT NULL", "s": "integer NOT NULL"}
    make_table(db.connect("source_owner"), types, rows)
    found: list[Any] = []
    failed = Measures.failed
    monkeypatch.setattr(
        Measures, "failed", lambda self, *given: (found.append(given), failed(self, *given))[1]
    )
    close = {"model": "t_closeness", "column": "s", "t": 0.45, "distance": distance}
    columns = {"a": {"type": "categorical"}, "b": {"type": "categorical"}, "s": "s"}
    declared = policy(columns, [K, close], method={"name": "full_domain"})
    assert node(run(db.owner(), declared)) == (0, 1)
    assert [given[0] for given in found] == judged


# -- several rounds ---------------------------------------------------------------------------


def released_by(staged: Staged) -> list[tuple[int, list[int]]]:
    return staged.utility.rounds


def test_eight_rows_in_rounds(db: Any, owner: Connection) -> None:
    declared = {**eight([K], 0, rounds=3), "publish": {"readers": ["analyst"]}}
    result = publish(db, declared)
    assert released_by(result) == [(6, [1, 0]), (2, [1, 2])]
    assert result.utility.cost == pytest.approx((6 * 0.25 + 2 * 0.75) / 8)
    assert result.utility.gcp == pytest.approx(result.utility.cost)
    assert result.utility.bound is None
    summary = result.utility.summary()
    assert summary["levels"] == "age, zip: 1 0 (6 records), 1 2 (2 records), of 2 2"
    assert summary["search"].startswith(
        "gcp 0.375000 in 2 rounds, each with the levels that lose least"
    )
    assert all(finding.holds for finding in lifecycle.verify(owner, "r"))
    reader = db.connect("analyst")
    (details,) = reader.execute("SELECT details FROM pganon.guarantees LIMIT 1").fetchall()[0]
    assert details["levels"] == {
        "age": {"rounds": [1, 1], "of": 2},
        "zip": {"rounds": [0, 2], "of": 2},
    }
    comment = reader.execute(
        "SELECT col_description(attrelid, attnum) FROM pg_attribute"
        " WHERE attrelid = 'published.r'::regclass AND attname = 'age'"
    ).fetchall()[0][0]
    assert comment.endswith(
        "Levels of 2, by round: 1, 1. Labels overlap: a class of a later round says that a finer"
        " one failed."
    )
    labels = reader.execute("SELECT DISTINCT age, zip FROM published.r ORDER BY 1, 2").fetchall()
    assert labels == [("2*", "101"), ("3*", "*"), ("3*", "102")]


def test_what_classes_of_several_rounds_show(shown: Connection) -> None:
    """The lowest label of the released values below the one of the round."""
    declared = varied(n=(1, 3), day=(3, 3), city=(1, 1), size=(1, 1))
    staged = run(shown, {**declared, "method": {"name": "full_domain", "rounds": 3}})
    assert released_by(staged) == [(4, [1, 3, 1, 1]), (2, [3, 3, 1, 1])]
    rows = {(str(c["n"]), c["city"], tuple(c["size"])) for c in staged.classes.values()}
    assert rows == {
        ("[21, 21]", "Ulm", ("s", "m", "l")),
        ("[34, 34]", "north", ("s", "m", "l")),
        ("[20, 40)", "north", ("s", "m", "l")),
    }


def test_columns_without_a_hierarchy_in_rounds(db: Any) -> None:
    """The value itself in the first round, all released values in the second, NULL in either."""
    pairs = [("x", 1), ("x", 1), ("y", 2), ("y", 2), (None, 1), (None, 1), ("y", 1), ("x", 3)]
    types = {"v": "text", "o": "integer", "s": "text NOT NULL"}
    make_table(db.connect("source_owner"), types, [(*pair, "d") for pair in pairs])
    columns = {
        "v": {"type": "categorical", "nulls": "own_class"},
        "o": {"type": "ordinal"},
        "s": "s",
    }
    staged = run(db.owner(), policy(columns, 2, method={"name": "full_domain", "rounds": 2}))
    assert released_by(staged) == [(6, [0, 0]), (2, [1, 1])]
    rows = {(tuple(c["v"] or ()), tuple(c["o"])) for c in staged.classes.values()}
    assert rows == {
        (("x",), (1,)),
        (("y",), (2,)),
        ((), (1,)),
        (("x", "y"), (1, 2, 3)),
    }


def test_no_model_that_compares_in_rounds(owner: Connection) -> None:
    close = {"model": "t_closeness", "column": "disease", "t": 0.7}
    error = refused(owner, eight([K, close], 0, rounds=2))
    assert "t_closeness compares classes with all that is released" in str(error)


# -- the search -------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [2, 3, 62])
def test_keys_of_several_words(owner: Connection, monkeypatch: Any, bits: int) -> None:
    monkeypatch.setattr("pganon.methods.classes.full_domain.keys.WORD", bits)
    assert node(run(owner, eight([K, L], 1))) == (2, 0)


def test_paths_of_many_bits_take_no_longer(db: Any) -> None:
    """Where siblings are unevenly many most paths belong to no label: 2^29 for 1,045 values."""
    values = [number / 100 for number in range(1000)]
    for width in (10, 100, 1_000, 10_000, 100_000):
        values += [width * number for number in range(1, 10)]
    rows = [(value, "x") for value in values for _ in range(1 + (value < 10))]
    make_table(db.connect("source_owner"), {"v": "numeric NOT NULL", "s": "text NOT NULL"}, rows)
    columns = {"v": {"hierarchy": {"intervals": [10, 100, 1_000, 10_000, 100_000]}}, "s": "s"}
    declared = policy(columns, [K], method={"name": "full_domain"}, suppression_limit=0.05)
    owner = db.owner()
    computation = prepared(owner, declared)
    owner.execute("SET statement_timeout = '20s'")
    computation.walk(*computation.plan.reading)
    state = computation.walk(*computation.plan.computing)
    staged = Staged(owner, computation.plan, state)
    assert node(staged) == (3,)
    assert staged.facts["suppressed"] == 27
    assert staged.utility.cost == pytest.approx(staged.utility.gcp)


def test_a_column_of_nulls_alone_loses_no_bits(db: Any) -> None:
    rows = [(None, value) for value in "aabbc"]
    make_table(db.connect("source_owner"), {"v": "text", "w": "text NOT NULL"}, rows)
    columns = {"v": {}, "w": {"levels": [0, 0]}}
    method = {"name": "full_domain", "objective": "entropy"}
    staged = run(db.owner(), policy(columns, [K], method=method, suppression_limit=0.2))
    # c is left out: log2(5) bits of those of all records.
    assert staged.utility.cost == pytest.approx(2.321928 / (4 * 1.321928 + 2.321928))


@pytest.mark.parametrize("at_once", [1, 4])
def test_how_many_at_once_decides_nothing(
    owner: Connection, monkeypatch: Any, at_once: int
) -> None:
    monkeypatch.setattr("pganon.methods.classes.full_domain.search.boxes.AT_ONCE", at_once)
    monkeypatch.setattr("pganon.methods.classes.full_domain.search.sources.WORTH", 0)
    for limit, levels in ((0, (1, 2)), (1, (2, 0)), (2, (1, 0))):
        drop_leftovers(owner)
        assert node(run(owner, eight([K], limit))) == levels


def test_a_search_that_ends_early(owner: Connection) -> None:
    staged = run(owner, eight([K], 0, max_nodes=1))
    assert node(staged) == (2, 2)
    assert not staged.utility.proved
    assert staged.utility.bound <= 0.75
    assert "optimum not proved" in staged.utility.summary()["search"]


def test_classes_are_compared_with_what_is_left_without_nulls(db: Any) -> None:
    """Records that are suppressed for a NULL move the distribution, though no class fails."""
    rows = [*[("x", s) for s in (1, 2, 2, 2)], *[("y", 1 + n % 2) for n in range(8)], (None, 2)]
    make_table(db.connect("source_owner"), {"v": "text", "s": "integer NOT NULL"}, rows)
    close = {"model": "t_closeness", "column": "s", "t": 0.15}
    columns = {"v": {"nulls": "suppress"}, "s": "s"}
    staged = run(
        db.owner(),
        policy(columns, [K, close], method={"name": "full_domain"}, suppression_limit=0.08),
    )
    # x is 0.135 from the source, and 1/6 from what is released.
    assert node(staged) == (1,)


# -- refusals ---------------------------------------------------------------------------------


def refused(owner: Connection, declared: dict[str, Any]) -> PganonError:
    with pytest.raises(PganonError) as caught:
        run(owner, declared)
    return caught.value


def test_what_cannot_be_reached(owner: Connection) -> None:
    rare = {"model": "alpha_k_anonymity", "column": "disease", "alpha": 0.2, "k": 2}
    error = refused(owner, eight([rare], 0))
    assert error.code == "infeasible"
    assert "the best reachable is alpha = 0.25" in error.message
    six = {"model": "k_anonymity", "k": 6}
    declared = eight([six], 1)
    declared["columns"]["age"]["levels"] = [0, 1]
    error = refused(owner, declared)
    assert error.code == "infeasible"
    assert "with at most 1 of 8 records left out" in error.message
    assert "the fewest that were seen to be are 2" in error.message
    assert "suppression_limit: 0.25" in (error.hint or "")


def test_none_found_is_not_none_there(owner: Connection) -> None:
    rare = {"model": "entropy_l_diversity", "column": "disease", "l": 6.9}
    error = refused(owner, eight([K, rare], 7, max_nodes=1))
    assert error.code == "levels_not_found"
    assert "raise max_nodes" in (error.hint or "")


def test_a_level_that_is_not_there(owner: Connection) -> None:
    declared = eight([K], 0)
    declared["columns"]["age"]["levels"] = [1, 3]
    error = refused(owner, declared)
    assert error.code == "hierarchy"
    assert "asks for level 3, and the highest is 2" in error.message
    assert "levels: [1, 2]" in (error.hint or "")


def test_labels_that_mean_two_things(db: Any) -> None:
    """Of 1* nobody could tell whether it is the value or what its prefix covers."""
    rows = [(code, "x") for code in ("1*", "1*", "12", "13")]
    make_table(db.connect("source_owner"), {"v": "text NOT NULL", "s": "text NOT NULL"}, rows)
    columns = {"v": {"hierarchy": {"prefix": [1]}}, "s": "s"}
    error = refused(db.owner(), policy(columns, 2, method={"name": "full_domain"}))
    assert error.code == "hierarchy"
    assert "1 label stands for other values" in error.message


def test_too_many_values_to_be_shown_together(db: Any) -> None:
    rows = [(f"v{number // 2}", "x") for number in range(1200)]
    make_table(db.connect("source_owner"), {"v": "text NOT NULL", "s": "text NOT NULL"}, rows)
    declared = policy({"v": {}, "s": "s"}, 2, method={"name": "full_domain"})
    error = refused(db.owner(), declared)
    assert "600 values are too many" in error.message
    declared["columns"]["v"]["levels"] = [0, 0]
    drop_leftovers(db.owner())
    assert run(db.owner(), declared).utility.classes == 600


def test_numbers_need_levels(owner: Connection) -> None:
    declared = eight([K], 0)
    del declared["columns"]["age"]["hierarchy"]
    error = refused(owner, declared)
    assert 'needs levels of "age", a number or date' in str(error)
    declared["columns"]["age"]["type"] = "categorical"
    assert run(owner, declared).utility.levels["age"][1] == 1


def test_no_increments(owner: Connection) -> None:
    error = refused(owner, {**eight([K], 0), "refresh": "increments"})
    assert "chooses levels for all records together" in str(error)
