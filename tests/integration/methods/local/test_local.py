"""Releases of local generalization and bucketization, judged from what is published."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import pytest

from pganon.resolved.guarantee import guarantee
from pganon.run.causes import warnings_of
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, refused, run
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

K2 = {"model": "k_anonymity", "k": 2}


def semi(companion: str, **others: Any) -> dict[str, Any]:
    return {"role": "semi_sensitive", "sensitive_when": {"column": companion}, **others}


def diverse(column: str, l: int) -> dict[str, Any]:  # noqa: E741 (the field's letter)
    return {"model": "local_bucket_diversity", "column": column, "l": l}


def local_policy(columns: dict[str, Any], privacy: list[dict[str, Any]], **others: Any) -> Any:
    full = {n: {"role": c} if isinstance(c, str) else c for n, c in columns.items()}
    method = {"name": "lgb_ncp", **others.pop("method", {})}
    return {
        "release": "r",
        "source": "public.t",
        "columns": full,
        "privacy": privacy,
        "method": method,
        **others,
    }


def groups(staged: Staged) -> list[list[int]]:
    """Keys of the records of every group."""
    found: dict[int, list[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["group_id"], []).append(int(row["member"]))
    return sorted(map(sorted, found.values()))


def values(staged: Staged, j: int, column: str) -> list[list[Any]]:
    """Values of every bucket of a column."""
    found: dict[int, list[Any]] = {}
    for row in staged.table(f"values{j}"):
        found.setdefault(row[f"{column}_bucket"], []).extend([row[column]] * row["count"])
    ordered = [sorted(v, key=lambda x: (x is None, x)) for v in found.values()]
    return sorted(ordered, key=lambda bucket: [(x is None, x) for x in bucket])


# The table of the paper's example: age and zip are hidden where the flag says so.
EXAMPLE = [
    ("F", 22, False, 3201, True, "flu"),
    ("F", 27, False, 3225, True, "bronchitis"),
    ("M", 41, False, 3236, False, "dyspepsia"),
    ("M", 24, True, 3271, False, "pneumonia"),
    ("F", 29, True, 3285, False, "flu"),
    ("M", 45, False, 3242, False, "gastritis"),
    ("F", 34, True, 3290, False, "dyspepsia"),
    ("M", 31, True, 3276, False, "bronchitis"),
]
EXAMPLE_COLUMNS = {
    "gender": "quasi_identifying",
    "age": semi("age_private"),
    "zip": semi("zip_private"),
    "disease": "sensitive",
}
EXAMPLE_MODELS = [K2, diverse("age", 2), diverse("zip", 2), diverse("disease", 2)]


def make_example(db: Database) -> None:
    make_table(
        db.connect("source_owner"),
        {
            "gender": "text",
            "age": "integer",
            "age_private": "boolean",
            "zip": "integer",
            "zip_private": "boolean",
            "disease": "text",
        },
        EXAMPLE,
    )


METHODS = ["lgb_mdp", "lgb_ncp"]


@pytest.mark.parametrize("method", METHODS)
def test_example_of_the_paper(db: Database, method: str) -> None:
    make_example(db)
    declared = local_policy(
        EXAMPLE_COLUMNS, EXAMPLE_MODELS, method={"name": method, "link_threshold": 1}
    )
    staged = run(db.owner(), declared)
    assert groups(staged) == [[1, 2], [3, 6], [4, 8], [5, 7]]
    assert values(staged, 0, "age") == [[24, 29], [31, 34]]
    assert values(staged, 1, "zip") == [[3201, 3225]]
    assert values(staged, 2, "disease") == [
        ["bronchitis", "dyspepsia"],
        ["bronchitis", "dyspepsia"],
        ["flu", "gastritis"],
        ["flu", "pneumonia"],
    ]
    assert staged.utility.discernibility == 16
    forms = Counter((row["age_form"], row["zip_form"]) for row in staged.table("groups"))
    assert forms == {("g", "b"): 1, ("g", "g"): 1, ("b", "g"): 2}
    for row in staged.table("groups"):
        assert (row["age"] is None) == (row["age_form"] == "b")
        assert (row["zip"] is None) == (row["zip_form"] == "b")


# -- worked examples ------------------------------------------------------------------------------

SMALL = [
    (20, False, "A", False, "f"),
    (25, False, "A", False, "m"),
    (23, False, "B", False, "f"),
    (31, False, "B", False, "m"),
    (38, False, "C", False, "m"),
    (40, False, "C", False, "f"),
    (36, False, "C", False, "m"),
    (22, True, "A", False, "f"),
    (27, True, "B", False, "f"),
    (33, True, "A", False, "m"),
    (41, True, "B", True, "m"),
    (45, True, "A", True, "f"),
    (52, False, "C", True, "m"),
]
SMALL_TYPES = {
    "age": "integer",
    "age_private": "boolean",
    "city": "text",
    "city_private": "boolean",
    "sex": "text",
}
SMALL_COLUMNS = {
    "age": semi("age_private"),
    "city": semi("city_private"),
    "sex": "quasi_identifying",
}
SMALL_MODELS = [{"model": "k_anonymity", "k": 3}, diverse("age", 2), diverse("city", 2)]


def small(db: Database, **others: Any) -> Any:
    make_table(db.connect("source_owner"), SMALL_TYPES, SMALL)
    others.setdefault("method", {})["link_threshold"] = 1
    return local_policy(SMALL_COLUMNS, SMALL_MODELS, **others)


def test_small_subsets_are_left_out(db: Database) -> None:
    method = {"name": "lgb_mdp"}
    declared = small(db, method=method, on_infeasible="suppress", suppression_limit=0.5)
    staged = run(db.owner(), declared)
    assert groups(staged) == [[1, 2, 3, 4], [5, 6, 7], [8, 9, 10]]
    assert values(staged, 0, "age") == [[22, 27, 33]]
    assert values(staged, 1, "city") == []
    assert staged.facts["suppressed"] == 3
    assert staged.utility.discernibility == 73
    (first,) = [g for g in staged.table("groups") if g["city"] == ["A", "B"] and g["age"]]
    assert (first["age"].lower, first["age"].upper, first["sex"]) == (20, 31, ["f", "m"])
    # Of a record that is left out the columns count that it would have shown.
    assert staged.utility.paper_gcp == pytest.approx(0.692473, abs=1e-6)
    assert staged.utility.gcp == pytest.approx(20.3 / 31)


@pytest.mark.parametrize("method", METHODS)
def test_small_subsets_are_united(db: Database, method: str) -> None:
    staged = run(db.owner(), small(db, method={"name": method, "small_subsets": "merge"}))
    assert [11, 12, 13] in groups(staged)
    assert all(len(group) >= 3 for group in groups(staged))
    if method == "lgb_ncp":  # whose ties are drawn
        return
    assert groups(staged) == [[1, 2, 3, 4], [5, 6, 7], [8, 9, 10], [11, 12, 13]]
    assert values(staged, 0, "age") == [[22, 27, 33]]
    assert values(staged, 1, "city") == [["A", "B", "C"]]
    assert staged.utility.discernibility == 43
    forms = Counter((row["age_form"], row["city_form"]) for row in staged.table("groups"))
    assert forms == {("g", "g"): 2, ("b", "g"): 1, ("w", "b"): 1}
    assert staged.utility.paper_gcp == pytest.approx(0.711111, abs=1e-6)
    assert staged.utility.gcp == pytest.approx(22.3 / 33)


def test_small_subsets_refuse_the_run(db: Database) -> None:
    with refused("infeasible") as caught:
        run(db.owner(), small(db))
    assert "2 subsets below k = 3 with 3 of 13 records (23.1%)" in str(caught[0])
    assert "suppression_limit: 0.2308" in str(caught[0].hint)


@pytest.mark.parametrize("method", METHODS)
def test_null_and_ties(db: Database, method: str) -> None:
    rows = [(1, "u", 1), (1, "u", 2), (1, "v", 1), (2, "v", 2)]
    rows += [(2, "w", 1), (None, "u", 2), (None, "w", 1), (9, "w", 2)]
    make_table(db.connect("source_owner"), {"x": "integer", "y": "text", "s": "integer"}, rows)
    declared = local_policy(
        {"x": "quasi_identifying", "y": "quasi_identifying", "s": "sensitive"},
        [K2, diverse("s", 2)],
        method={"name": method},
    )
    staged = run(db.owner(), declared)
    if method == "lgb_mdp":
        assert groups(staged) == [[1, 2, 6], [3, 7], [4, 5, 8]]
        assert staged.utility.discernibility == 22
        assert staged.utility.paper_gcp == pytest.approx(263 / 24 / 16, abs=1e-9)
        assert staged.utility.gcp == pytest.approx(81 / 8 / 16)
    assert all(len(group) >= 2 for group in groups(staged))


LINE = [1, 2, 3, 10, 11, 12, 100]


@pytest.mark.parametrize(
    ("method", "expected", "squares", "loss"),
    [
        ({"name": "lgb_mdp"}, [[1, 2], [3, 4], [5, 6, 7]], 17, 283 / 99),
        ({"ncp_small": "stop"}, [[1, 2, 3, 4, 5, 6, 7]], 49, 7),
        ({"ncp_small": "stop", "ncp_assign": "seeds"}, [[1, 2, 3, 4, 5, 6, 7]], 49, 7),
        ({"ncp_small": "fill"}, [[1, 2, 3], [4, 5], [6, 7]], 17, 184 / 99),
    ],
)
def test_an_outlier(
    db: Database, method: dict[str, Any], expected: list[list[int]], squares: int, loss: float
) -> None:
    rows = [(x, i) for i, x in enumerate(LINE)]
    make_table(db.connect("source_owner"), {"x": "integer", "s": "integer"}, rows)
    declared = local_policy(
        {"x": "quasi_identifying", "s": "sensitive"}, [K2, diverse("s", 2)], method=method
    )
    staged = run(db.owner(), declared)
    assert groups(staged) == expected
    assert staged.utility.discernibility == squares
    assert staged.utility.gcp * 7 == pytest.approx(loss)


@pytest.mark.parametrize(
    ("size", "expected"), [(6, [[1, 2, 3, 4, 5], [6, 7]]), (7, [[1, 2, 3, 4, 5, 6, 7]])]
)
def test_a_block_is_cut_where_both_sides_have_k_records(
    db: Database, size: int, expected: list[list[int]]
) -> None:
    """Although one side is smaller than half a block."""
    rows = [(x, i) for i, x in enumerate([1, 1, 1, 1, 1, 2, 100])]
    make_table(db.connect("source_owner"), {"x": "integer", "s": "integer"}, rows)
    method = {"ncp_small": "stop", "block_size": size}
    declared = local_policy(
        {"x": "quasi_identifying", "s": "sensitive"}, [K2, diverse("s", 2)], method=method
    )
    assert groups(run(db.owner(), declared)) == expected


def closeness(column: str, t: float, size: int, **others: Any) -> dict[str, Any]:
    return {"model": "t_closeness", "column": column, "t": t, "min_size": size, **others}


@pytest.mark.parametrize(
    ("t", "size", "expected"),
    [(0.2, 3, ["fffm", "ffm", "ffmm"]), (0.1, 3, ["ffffmm", "fffmm"])],
)
def test_t_closeness(db: Database, t: float, size: int, expected: list[str]) -> None:
    rows = [(i, "f" if i <= 7 else "m") for i in range(1, 12)]
    make_table(db.connect("source_owner"), {"x": "integer", "sex": "text"}, rows)
    declared = local_policy(
        {"x": "quasi_identifying", "sex": "sensitive"}, [K2, closeness("sex", t, size)]
    )
    staged = run(db.owner(), declared)
    assert ["".join(bucket) for bucket in values(staged, 0, "sex")] == expected
    assert staged.verified("bucket_size") == [min(map(len, expected))]


def test_t_closeness_along_a_line(db: Database) -> None:
    rows = [(i, v) for i, v in enumerate((1, 2, 3, 3, 4))]
    make_table(db.connect("source_owner"), {"x": "integer", "v": "integer"}, rows)
    declared = local_policy(
        {"x": "quasi_identifying", "v": "sensitive"},
        [K2, closeness("v", 0.2, 2, distance="ordered")],
    )
    staged = run(db.owner(), declared)
    assert values(staged, 0, "v") == [[1, 3, 4], [2, 3]]
    assert staged.verified("t_closeness") == [pytest.approx(1 / 6)]


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (diverse("v", 2), "the largest feasible l is 1"),
        (closeness("v", 0.2, 2), "at least 2 distinct"),
        (closeness("v", 0.2, 9), "5 sensitive values, min_size is 9"),
    ],
)
def test_values_that_cannot_be_in_buckets(db: Database, model: dict[str, Any], part: str) -> None:
    rows = [(i, "flu") for i in range(5)]
    make_table(db.connect("source_owner"), {"x": "integer", "v": "text"}, rows)
    columns = {"x": "quasi_identifying", "v": "sensitive"}
    with refused("infeasible") as caught:
        run(db.owner(), local_policy(columns, [K2, model]))
    assert part in str(caught[0])
    assert "flu" not in f"{caught[0]}{caught[0].hint}"
    staged = run(db.owner(), local_policy(columns, [K2, model], method={"ineligible": "withhold"}))
    assert {row["v_form"] for row in staged.table("groups")} == {"w"}
    assert staged.table("values0") == []


def test_withheld_values_are_lost(db: Database) -> None:
    """Those that cannot be in buckets, as those that groups of small subsets withhold."""
    rows = [(1, 0), (1, 0), (5, 9), (5, 9)]
    make_table(db.connect("source_owner"), {"v": "integer", "x": "integer"}, rows)
    columns = {
        "v": {"role": "semi_sensitive", "sensitive_when": {"predicate": "x < 3"}},
        "x": "quasi_identifying",
    }
    method = {"ineligible": "withhold"}
    staged = run(db.owner(), local_policy(columns, [K2, diverse("v", 2)], method=method))
    assert sorted(row["v_form"] for row in staged.table("groups")) == ["g", "w"]
    assert staged.utility.ncp == {"v": 0.5, "x": 0}
    assert (staged.utility.gcp, staged.utility.paper_gcp) == (0.25, 0.25)


def test_null_is_a_sensitive_value(db: Database) -> None:
    rows = [(1, v) for v in ("flu", None, "flu", "cold", None, "cold")]
    make_table(db.connect("source_owner"), {"x": "integer", "v": "text"}, rows)
    staged = run(
        db.owner(),
        local_policy({"x": "quasi_identifying", "v": "sensitive"}, [K2, diverse("v", 2)]),
    )
    assert values(staged, 0, "v") == [["cold", "flu"], ["cold", None], ["flu", None]]


@pytest.mark.parametrize(
    ("e", "assign", "count"),
    [(10, "deal", 6), (30, "deal", 6), (31, "deal", 0), (11, "m_invariance", 0)],
)
def test_buckets_of_values_that_lie_apart(db: Database, e: float, assign: str, count: int) -> None:
    salaries = (10, 50, 30, 20, 50, 80, 10, 60, 40, 30, 70, 50)
    rows = [(i, s) for i, s in enumerate(salaries)]
    make_table(db.connect("source_owner"), {"x": "integer", "salary": "integer"}, rows)
    declared = local_policy(
        {"x": "quasi_identifying", "salary": "sensitive"},
        [K2, diverse("salary", 2)],
        method={"assign": assign, "min_bucket_range": {"salary": e}},
    )
    if not count:
        with refused("infeasible") as caught:
            run(db.owner(), declared)
        assert f"no l = 2 assignment with range >= {e}" in str(caught[0])
        return
    found = values(run(db.owner(), declared), 0, "salary")
    assert len(found) == count
    assert all(max(bucket) - min(bucket) >= e for bucket in found)


# -- who hides what -----------------------------------------------------------------------------


@pytest.mark.slow
def test_sensitive_for_nobody_or_everybody(db: Database) -> None:
    """Columns follow from the policy, never from who hides what."""
    shapes = []
    for flag in (False, True):
        rows = [(i % 3, i, flag) for i in range(12)]
        types = {"x": "integer", "v": "integer", "p": "boolean"}
        make_table(db.connect("source_owner"), types, rows)
        columns = {"x": "quasi_identifying", "v": semi("p")}
        staged = run(db.owner(), local_policy(columns, [K2, diverse("v", 2)]))
        views = staged.plan.stored_views(staged.state)
        shapes.append([[column.name for column in view.columns] for view in views])
        assert (values(staged, 0, "v") == []) == (not flag)
        assert {row["v_form"] for row in staged.table("groups")} == {"b" if flag else "g"}
    assert shapes[0] == shapes[1]


def test_nobody_said_is_sensitive(db: Database) -> None:
    rows = [(1, i, None if i < 4 else False) for i in range(8)]
    types = {"x": "integer", "v": "integer", "p": "boolean"}
    make_table(db.connect("source_owner"), types, rows)
    columns = {"x": "quasi_identifying", "v": semi("p")}
    staged = run(db.owner(), local_policy(columns, [K2, diverse("v", 2)]))
    assert sorted(chain(*values(staged, 0, "v"))) == [0, 1, 2, 3]


def test_predicate_that_is_null(db: Database) -> None:
    rows = [(1, i if i else None, i) for i in range(8)]
    types = {"x": "integer", "y": "integer", "v": "integer"}
    make_table(db.connect("source_owner"), types, rows)
    columns = {
        "x": "quasi_identifying",
        "v": {"role": "semi_sensitive", "sensitive_when": {"predicate": "y between 1 and 3"}},
    }
    staged = run(db.owner(), local_policy(columns, [K2, diverse("v", 2)]))
    assert sorted(chain(*values(staged, 0, "v"))) == [0, 1, 2, 3]


def exceptions(db: Database, rows: list[tuple[int | None, str | None]]) -> Any:
    owner = db.connect("source_owner")
    make_table(owner, {"x": "integer", "v": "integer"}, [(1, i) for i in range(8)])
    owner.execute("DROP TABLE IF EXISTS public.hidden")
    owner.execute("CREATE TABLE public.hidden (id integer, attribute text)")
    with owner.cursor() as cursor:
        cursor.executemany("INSERT INTO public.hidden VALUES (%s, %s)", rows)
    owner.execute("GRANT SELECT ON public.hidden TO steward")
    columns = {
        "x": "quasi_identifying",
        "v": {"role": "semi_sensitive", "sensitive_when": {"relation": "public.hidden"}},
    }
    return local_policy(columns, [K2, diverse("v", 2)])


def test_relation_of_exceptions(db: Database) -> None:
    declared = exceptions(db, [(1, "v"), (3, "v"), (3, "v"), (5, "v"), (6, "v")])
    staged = run(db.owner(), declared)
    assert sorted(chain(*values(staged, 0, "v"))) == [0, 2, 4, 5]
    assert [1, 3, 5, 6] in groups(staged)


def test_an_exception_names_its_record_in_any_spelling(db: Database) -> None:
    declared = exceptions(db, [(1, "v"), (3, "v"), (5, "v"), (6, "v")])
    db.source(
        "ALTER TABLE public.t ALTER id TYPE numeric;"
        "ALTER TABLE public.hidden ALTER id TYPE numeric USING id + 0.00"
    )
    staged = run(db.owner(), declared)
    assert sorted(chain(*values(staged, 0, "v"))) == [0, 2, 4, 5]


@pytest.mark.parametrize("row", [(9, "v"), (1, "V"), (1, "x"), (None, "v"), (1, None)])
def test_misspelt_exception(db: Database, row: tuple[int | None, str | None]) -> None:
    declared = exceptions(db, [(1, "v"), (2, "v"), row])
    with refused("unmatched_exceptions") as caught:
        run(db.owner(), declared)
    assert "1 rows of public.hidden" in str(caught[0])


def test_groups_alone(db: Database) -> None:
    """Groups as LGB_MDP makes them; hidden values stand beside the records, each in its bucket."""
    make_example(db)
    declared = local_policy(EXAMPLE_COLUMNS, [K2], method={"name": "local_generalization"})
    staged = run(db.owner(), declared)
    assert groups(staged) == [[1, 2], [3, 6], [4, 8], [5, 7]]
    assert staged.utility.discernibility == 16
    assert staged.utility.gcp == pytest.approx(427 / 5589)
    assert values(staged, 2, "disease") == [[row[5]] for row in sorted(EXAMPLE, key=lambda r: r[5])]
    for j, (column, at) in enumerate((("age", 1), ("zip", 3), ("disease", 5))):
        value_of = {row[f"{column}_bucket"]: row[column] for row in staged.table(f"values{j}")}
        for row in staged.table("members"):
            record = EXAMPLE[int(row["member"]) - 1]
            hidden = at == 5 or record[at + 1]
            number = row[f"{column}_bucket"]
            assert value_of.get(number) == (record[at] if hidden else None)
    stated = {check.model for check in staged.plan.stored_checks(staged.state)}
    assert stated == {"structure", "forms", "buckets", "k_anonymity"}
    (promise,) = guarantee(staged.plan.spec)
    assert "knows which columns the person hides" in promise["adversary"]
    assert "no hidden value of anybody" in promise["adversary"]
    assert staged.utility.inferred == staged.utility.taught == {}
    warned = warnings_of(staged.plan, staged.state)
    (about,) = [text for text in warned if "no model is about the sensitive columns" in text]
    for name in ("age", "zip", "disease"):
        assert f" {name} (" in about


def test_groups_alone_with_small_subsets(db: Database) -> None:
    make_table(db.connect("source_owner"), SMALL_TYPES, SMALL)
    method = {"name": "local_generalization", "small_subsets": "merge"}
    staged = run(db.owner(), local_policy(SMALL_COLUMNS, SMALL_MODELS[:1], method=method))
    assert groups(staged) == [[1, 2, 3, 4], [5, 6, 7], [8, 9, 10], [11, 12, 13]]
    forms = Counter((row["age_form"], row["city_form"]) for row in staged.table("groups"))
    assert forms == {("g", "g"): 2, ("b", "g"): 1, ("w", "b"): 1}


@pytest.mark.parametrize(
    ("held", "times", "share"),
    [
        ("aaaa", 1, "100 %"),
        ("abcd", 6, "0 %"),
        ("aabc", 6, "50 %"),
        ("abcd", 1, "all but fewer than 11"),
        ("aabc", 5, "all but fewer than 11"),
    ],
)
def test_groups_alone_say_how_many_records_are_told(
    db: Database, held: str, times: int, share: str
) -> None:
    """Of groups of two: those in which all have the same hidden value tell it."""
    rows = [(i // 2, value) for i, value in enumerate(held * times)]
    make_table(db.connect("source_owner"), {"x": "integer", "v": "text"}, rows)
    declared = local_policy(
        {"x": "quasi_identifying", "v": "sensitive"}, [K2], method={"name": "local_generalization"}
    )
    staged = run(db.owner(), declared)
    (warned,) = [t for t in warnings_of(staged.plan, staged.state) if "no model is about" in t]
    assert f" v: {share} of the released records are in groups in which all have" in warned


def test_groups_alone_where_nobody_hides(db: Database) -> None:
    rows = [(i, False) for i in range(6)]
    make_table(db.connect("source_owner"), {"v": "integer", "p": "boolean"}, rows)
    columns = {"v": {**semi("p"), "unprotected": "accept"}}
    declared = local_policy(columns, [K2], method={"name": "local_generalization"})
    staged = run(db.owner(), declared)
    assert values(staged, 0, "v") == []
    assert not any("no model" in t for t in warnings_of(staged.plan, staged.state))


def test_buckets_alone(db: Database) -> None:
    make_example(db)
    declared = local_policy(
        EXAMPLE_COLUMNS,
        EXAMPLE_MODELS[1:],
        method={"name": "local_bucketization", "link_threshold": 1},
    )
    staged = run(db.owner(), declared)
    assert groups(staged) == [[i] for i in range(1, 9)]
    assert staged.utility.gcp == 0
    assert values(staged, 0, "age") == [[24, 29], [31, 34]]
    shown = {row["age"].lower for row in staged.table("groups") if row["age"] is not None}
    assert shown == {22, 27, 41, 45}
