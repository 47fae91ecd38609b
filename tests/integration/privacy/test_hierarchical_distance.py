"""t-closeness over a hierarchy: the model, and releases with all that they store."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pganon.errors import PolicyError, PreconditionError, PrivacyRefusal
from pganon.identifiers import QualifiedName
from pganon.privacy.likeness import TCloseness
from pganon.sqltools import render
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, leftovers, publish, run
from tests.support.oracles import model as oracle
from tests.support.sources.builders import make_table, policy

MODEST = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
HIST, REF = QualifiedName("pg_temp", "hist"), QualifiedName("pg_temp", "ref")
ROOT = "respiratory and digestive system diseases"
DISEASES = {
    ROOT: {
        "respiratory system": {
            "respiratory infection": ["flu", "pneumonia", "bronchitis"],
            "vascular lung": ["pulmonary edema", "pulmonary embolism"],
        },
        "digestive system": {
            "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
            "colon": ["colitis", "colon cancer"],
        },
    }
}
PATHS: oracle.Paths = {
    leaf: (leaf, group, system, ROOT)
    for system, groups in DISEASES[ROOT].items()
    for group, leaves in groups.items()
    for leaf in leaves
}


@pytest.fixture
def conn(db: Database) -> Connection:
    conn = db.connect()
    conn.execute("CREATE TEMP TABLE hist (grp int, value int, n bigint)")
    conn.execute("CREATE TEMP TABLE ref (value int, position int, share float8, path int[])")
    return conn


def measured(
    conn: Connection, groups: list[list[Any]], whole: list[Any], paths: oracle.Paths
) -> list[float]:
    """The measure of every group against the distribution of `whole`."""
    codes = {value: code for code, value in enumerate(paths, start=1)}
    keys = {
        (level, labels[level]): codes[value]
        for value, labels in reversed(list(paths.items()))
        for level in range(1, len(labels))
    }
    conn.execute("TRUNCATE hist, ref")
    conn.cursor().executemany(
        "INSERT INTO hist VALUES (%s, %s, %s)",
        [
            (number, codes[value], group.count(value))
            for number, group in enumerate(groups)
            for value in set(group)
        ],
    )
    conn.cursor().executemany(
        "INSERT INTO ref VALUES (%s, %s, %s, %s)",
        [
            (
                codes[value],
                codes[value],
                whole.count(value) / len(whole),
                [codes[value], *(keys[i, labels[i]] for i in range(1, len(labels) - 1))],
            )
            for value, labels in paths.items()
        ],
    )
    tree = TCloseness.of(0.5, "hierarchical").measure(HIST, ["grp"], REF)
    place = tree.named_selects.index("grp")
    rows = conn.execute(render(tree).encode()).fetchall()
    found = {row[place]: float(row[1 - place]) for row in rows}
    return [found[number] for number in range(len(groups))]


@st.composite
def trees(draw: st.DrawFn) -> oracle.Paths:
    """Random trees: every node of a level gets one of a few parents on the next."""
    leaves = list(range(draw(st.integers(1, 7))))
    below: list[Any] = list(leaves)
    above: dict[Any, tuple[str, ...]] = {leaf: (str(leaf),) for leaf in leaves}
    for level in range(1, draw(st.integers(1, 4))):
        parents = {node: f"{level}/{draw(st.integers(0, 3))}" for node in dict.fromkeys(below)}
        below = [parents[node] for node in below]
        above = {leaf: (*above[leaf], below[leaf]) for leaf in leaves}
    return {leaf: (*labels, "*") for leaf, labels in above.items()}


@MODEST
@given(data=st.data())
def test_the_definition_on_random_trees(conn: Connection, data: st.DataObject) -> None:
    paths = data.draw(trees())
    values = st.lists(st.sampled_from(sorted(paths)), min_size=1, max_size=8)
    groups = data.draw(st.lists(values, min_size=1, max_size=4))
    # A table that may lack values of a group, as a tampered one could.
    whole = [v for group in groups for v in group] if data.draw(st.booleans()) else None
    whole = whole or data.draw(values)
    found = measured(conn, groups, whole, paths)
    expected = [float(oracle.t_hierarchical(group, whole, paths)) for group in groups]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("flu", "flu", Fraction(0)),
        ("flu", "bronchitis", Fraction(1, 3)),
        ("flu", "pulmonary embolism", Fraction(2, 3)),
        ("flu", "stomach cancer", Fraction(1)),
    ],
)
def test_diseases_of_the_t_closeness_paper(
    conn: Connection, one: str, other: str, distance: Fraction
) -> None:
    assert oracle.t_hierarchical([one], [other], PATHS) == distance
    assert measured(conn, [[one]], [other], PATHS) == [pytest.approx(float(distance), abs=1e-12)]


def test_mixed_groups_are_further_than_their_ancestors_say(conn: Connection) -> None:
    """By hand: a third each of two stomach diseases and pneumonia, against all ten alike."""
    group = ["gastric ulcer", "stomach cancer", "pneumonia"]
    # Leaves 3 * (1/3 - 1/10); stomach 2/3 - 3/10, infection 1/3 - 3/10; digestive 2/3 - 1/2.
    expected = (Fraction(7, 10) + Fraction(11, 30) + Fraction(1, 30) + Fraction(1, 6)) / 3
    assert oracle.t_hierarchical(group, list(PATHS), PATHS) == expected
    assert measured(conn, [group], list(PATHS), PATHS) == [pytest.approx(float(expected))]


def test_a_value_unknown_to_the_reference_counts_as_far(conn: Connection) -> None:
    measured(conn, [["flu"]], ["flu"], PATHS)
    conn.execute("UPDATE hist SET value = 99")
    tree = TCloseness.of(0.5, "hierarchical").measure(HIST, [], REF)
    assert conn.execute(render(tree).encode()).fetchone() == (pytest.approx(1.0),)


# -- releases -----------------------------------------------------------------------------------

SHORT = [
    ["flu", "infection", "lung", "*"],
    ["asthma", "chronic", "lung", "*"],
    ["bronchitis", "infection", "lung", "*"],
    ["burn", "*"],  # a leaf on every level below the root
    ["fracture", "bone", "*"],
    ["rickets", "bone", "*"],
    ["unused", "bone", "*"],
]
LABELS: oracle.Paths = {
    row[0]: (*[row[0]] * (5 - len(row)), *row[1:]) for row in (tuple(row) for row in SHORT)
} | {None: ("NULL", "NULL", "NULL", "*")}
CLOSE = {"model": "t_closeness", "column": "s", "t": 0.3, "distance": "hierarchical"}


def sensitive(hierarchy: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"role": "sensitive", "hierarchy": hierarchy, **others}


def ill(count: int = 200) -> list[list[Any]]:
    rng = random.Random(3)
    names = [row[0] for row in SHORT[:-1]] + [None]
    return [
        [rng.randint(0, 40), rng.choice("abcd"), names[min(rng.randint(0, 8), 6)]]
        for _ in range(count)
    ]


COLUMNS = {"x": "int", "y": "text", "s": "text"}


@pytest.mark.primary_server_only
@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_every_class_is_close(db: Database, variant: str) -> None:
    rows = ill()
    make_table(db.connect("source_owner"), COLUMNS, rows)
    declared = policy(
        {"x": "q", "y": "q", "s": sensitive({"inline": SHORT})},
        [{"model": "k_anonymity", "k": 2}, CLOSE],
        method={"name": "mondrian", "variant": variant},
    )
    staged = run(db.owner(), declared)
    whole = [row[2] for row in rows]
    groups = [[rows[i - 1][2] for i in ids] for ids in staged.members.values()]
    assert sum(map(len, groups)) == len(rows)
    assert len(groups) > 3
    worst = max(oracle.t_hierarchical(group, whole, LABELS) for group in groups)
    assert worst <= Fraction(3, 10)
    assert staged.verified("t_closeness") == [pytest.approx(float(worst))] * 2


@pytest.mark.primary_server_only
def test_suppressed_records_move_the_published_distribution(db: Database) -> None:
    rows = [*ill(), *[[None, "a", "burn"]] * 12]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    declared = policy(
        {"x": {"nulls": "suppress"}, "y": "q", "s": sensitive({"inline": SHORT})},
        [CLOSE],
        suppression_limit=0.1,
    )
    staged = run(db.owner(), declared)
    groups = [[rows[i - 1][2] for i in ids] for ids in staged.members.values()]
    expected = [
        max(float(oracle.t_hierarchical(group, whole, LABELS)) for group in groups)
        for whole in ([row[2] for row in rows], [row[2] for row in rows[:200]])
    ]
    assert staged.verified("t_closeness") == [pytest.approx(value) for value in expected]


@pytest.mark.slow
def test_verify_measures_from_what_is_stored(db: Database) -> None:
    """Neither the source nor the hierarchy is read again; the view shows the values unchanged."""
    owner = db.connect("source_owner")
    rows = ill()
    make_table(owner, COLUMNS, rows)
    owner.execute("CREATE TABLE public.levels (v text, a text, b text, top text)")
    owner.cursor().executemany(
        "INSERT INTO public.levels VALUES (%s, %s, %s, %s)",
        [(*row, *[None] * (4 - len(row))) for row in SHORT],
    )
    owner.execute("GRANT SELECT ON public.levels TO steward")
    # The other column has no hierarchy, but a reference of its own.
    declared = policy(
        {
            "x": "q",
            "y": "s",
            "s": sensitive({"table": "public.levels"}),
        },
        [CLOSE, {"model": "t_closeness", "column": "y", "t": 0.5}],
    )
    publish(db, declared)
    assert leftovers(db) == []
    owner.execute("DROP TABLE public.levels; DROP TABLE public.t")
    steward = db.owner()
    text = "SELECT measured, holds FROM pganon.verify('r') WHERE column_name = 's'"
    before = steward.execute(text).fetchall()
    assert len(before) == 2
    assert all(holds for _, holds in before)
    shown = steward.execute("SELECT class_id, s FROM published.r").fetchall()
    assert sorted(str(s) for _, s in shown) == sorted(str(row[2]) for row in rows)
    groups = {c: [s for other, s in shown if other == c] for c, _ in shown}
    whole = [row[2] for row in rows]
    worst = max(oracle.t_hierarchical(group, whole, LABELS) for group in groups.values())
    assert float(before[0][0]) == pytest.approx(float(worst))
    table = steward.execute(
        "SELECT min(format('%I.%I', schemaname, tablename)) FROM pg_tables"
        " WHERE schemaname = 'pganon_data' AND tablename LIKE '%records'"
    ).fetchone()
    assert table is not None
    steward.execute(f"UPDATE {table[0]} SET s = 'burn' WHERE class_id = 1".encode())
    after = steward.execute(text).fetchall()
    assert not any(holds for _, holds in after)


FORMS: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "csv": ("text", ["a", "b"], {"hierarchy": {"csv": "tree.csv"}}),
    "order": ("int", [1, 2], {"hierarchy": {"order": {"values": [1, 2, 3], "fanout": [2]}}}),
    "prefix": ("text", ["10", "11"], {"hierarchy": {"prefix": [1]}}),
    "prefix of codes": (
        "int",
        [10, 11],
        {"type": "categorical", "hierarchy": {"prefix": [1]}},
    ),
    "function": ("text", ["g1", "g2"], {"hierarchy": {"function": "public.up"}}),
    "numeric": (
        "numeric",
        ["1.0", "2.50"],
        {"hierarchy": {"inline": {"*": {"low": ["1.00", "2.5"]}}}},
    ),
    "float": ("float8", [1.5, -2], {"hierarchy": {"inline": {"*": {"low": ["1.50", "-2"]}}}}),
    "boolean": ("boolean", [True, False], {"hierarchy": {"inline": {"*": {"x": ["t", "f"]}}}}),
    "date": (
        "date",
        ["2020-01-01", "2020-02-01"],
        {"hierarchy": {"inline": {"*": {"y": ["2020-01-01", "2020-02-01"]}}}},
    ),
}


@pytest.mark.primary_server_only
@pytest.mark.parametrize("form", FORMS)
def test_forms_and_types(db: Database, tmp_path: Path, form: str) -> None:
    """Two values under one of two levels: half as far apart as without the hierarchy."""
    kind, values, declared = FORMS[form]
    (tmp_path / "tree.csv").write_text("a;letter;*\nb;letter;*\n")
    owner = db.connect("source_owner")
    owner.execute(
        "CREATE FUNCTION public.up(v text, level int) RETURNS text IMMUTABLE LANGUAGE sql"
        " AS $$ SELECT CASE level WHEN 1 THEN left(v, 1) ELSE '*' END $$"
    )
    rows = [[x, values[x % 2]] for x in range(2)] * 3
    make_table(owner, {"x": "int", "s": kind}, rows)
    levels = 1 if form == "function" else 2  # calls end where all values share a label
    close = {**CLOSE, "t": 0.5 / levels}
    staged = run(
        db.owner(),
        policy({"x": "q", "s": {"role": "sensitive", **declared}}, [close], trust=["source_owner"]),
        base_dir=tmp_path,
    )
    assert len(staged.members) == 2
    assert staged.verified("t_closeness") == [pytest.approx(0.5 / levels)] * 2


@pytest.mark.primary_server_only
@pytest.mark.parametrize("values", [[None, None], ["flu", "flu"], [None, "flu"]])
def test_null_alone_and_with_one_value(db: Database, values: list[Any]) -> None:
    make_table(db.connect("source_owner"), {"x": "int", "s": "text"}, list(enumerate(values)))
    column = sensitive({"inline": SHORT})
    staged = run(db.owner(), policy({"x": "q", "s": column}, [{**CLOSE, "t": 0.5}]))
    worst = 0.5 if len(set(values)) == 2 else 0
    assert staged.verified("t_closeness") == [pytest.approx(worst)] * 2
    assert len(staged.members) == 2


@pytest.mark.primary_server_only
def test_a_part_that_cannot_be_close_is_refused(db: Database) -> None:
    rows = [[None, "flu"]] * 4 + [[1, "burn"]] * 4
    make_table(db.connect("source_owner"), {"x": "int", "s": "text"}, rows)
    columns = {"x": {"nulls": "own_class"}, "s": sensitive({"inline": SHORT})}
    with pytest.raises(PrivacyRefusal) as refusal:
        run(db.owner(), policy(columns, [CLOSE]))
    assert (refusal.value.code, refusal.value.observed) == ("infeasible", 0.5)


@pytest.mark.primary_server_only
def test_gaps_and_missing_files_are_told(db: Database, tmp_path: Path) -> None:
    make_table(db.connect("source_owner"), COLUMNS, [*ill(20), [1, "a", "plague"]])
    with pytest.raises(PreconditionError, match="1 value in 1 record missing from it") as gap:
        run(db.owner(), policy({"x": "q", "s": sensitive({"inline": SHORT})}, [CLOSE]))
    assert "plague" not in str(gap.value)
    with pytest.raises(PolicyError) as missing:
        run(
            db.owner(),
            policy({"x": "q", "s": sensitive({"csv": "none.csv"})}, [CLOSE]),
            base_dir=tmp_path,
        )
    assert [p.field for p in missing.value.problems] == ["columns.s.hierarchy"]
