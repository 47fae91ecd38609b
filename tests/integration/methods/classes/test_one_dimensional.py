"""One-dimensional classes and their measures against a brute force written from the definitions."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import joblib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from pganon.encode import axis
from pganon.encode.work import CODED
from pganon.errors import PrivacyRefusal
from pganon.methods.classes.one_dimensional import line
from pganon.methods.classes.one_dimensional.search import digits
from pganon.methods.common.form import class_description
from pganon.run import pool
from pganon.sqltools import statement
from tests.integration.methods.classes.test_mondrian import (
    BOUNDED,
    COMPARED,
    capped,
    check_classes,
    check_measures,
    check_refusal,
    check_verified,
    minimum,
    parts,
    satisfied,
    with_a_value_of_nobody_released,
    with_ties,
)
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, Staged, drop_leftovers, fetch, run
from tests.support.harness.examples import examples
from tests.support.oracles import one_dimensional
from tests.support.oracles.definitions import Group, Record
from tests.support.sources.builders import REQUIREMENTS, Case, cases, make_table, policy

pytestmark = pytest.mark.primary_server_only

SETTINGS = examples(3)
SEED = 1

FURTHER = [
    *REQUIREMENTS,
    {"model": "alpha_k_anonymity", "column": "secret", "alpha": 0.5, "k": 2},
    {"model": "recursive_cl_diversity", "column": "secret", "c": 2, "l": 2},
    {"model": "beta_likeness", "column": "secret", "beta": 1.5},
    {"model": "delta_disclosure", "column": "secret", "delta": 1.5},
]


@st.composite
def lined(draw: st.DrawFn, *, rounds: int = 0, **keys: Any) -> Case:
    """The random tables and policies of Mondrian with options of this method."""
    case = draw(cases(**keys, models=False))
    case.policy["method"] = {
        "name": "one_dimensional",
        "variant": draw(st.sampled_from(["strict", "relaxed"])),
        "dominant": draw(st.sampled_from(["apart", "mixed"])),
        "refine": rounds,
    }
    case.policy["suppression_limit"] = draw(st.sampled_from([1.0, 1.0, 0.2]))
    more = draw(st.lists(st.sampled_from(FURTHER), max_size=2, unique_by=lambda r: str(r["model"])))
    if any(r["model"] == "alpha_k_anonymity" for r in more):
        case.policy["privacy"] = []  # it has a k of its own
    case.policy["privacy"] += more
    return shortened(case, 30) if any(r["model"] in COMPARED for r in more) else case


def shortened(case: Case, count: int) -> Case:
    """Of fewer records: the brute force tries many orders where classes are compared with all."""
    case.rows = case.rows[:count]
    case.attributes = [
        replace(attribute, values=[row[i] for row in case.rows])
        for i, attribute in enumerate(case.attributes)
    ]
    return case


# -- the classes --------------------------------------------------------------------------------


@pytest.fixture
def tables(db: Any) -> tuple[Connection, Connection]:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def declared(case: Case) -> dict[str, Any]:
    """The policy without `on_infeasible` where it is refused, since nothing could be gained."""
    apart = any(attribute.nulls == "own_class" for attribute in case.attributes)
    bounded = any(r["model"] in BOUNDED for r in case.policy["privacy"])
    return case.policy | ({} if apart or bounded else {"on_infeasible": "refuse"})


def releasable(case: Case, records: Sequence[Record]) -> list[Group]:
    """The parts that satisfy all requirements as one class."""
    privacy = case.policy["privacy"]
    return [
        part
        for part in (capped(privacy, part) for part in parts(case, records))
        if all(satisfied(requirement, part, [list(records)]) for requirement in privacy)
    ]


def check(tables: tuple[Connection, Connection], case: Case) -> Staged | None:
    source, owner = tables
    make_table(source, case.columns, case.rows)
    drop_leftovers(owner)
    case.policy = declared(case)
    records, privacy = case.records, case.policy["privacy"]
    feasible = releasable(case, records)
    released = [record for part in feasible for record in part]
    references = [records] if len(released) == len(records) else [records, released]
    try:
        staged = run(owner, case.policy, seed=SEED)
    except PrivacyRefusal as refusal:
        check_refusal(refusal, case, feasible, references)
        return None
    if staged.plan.spec.random_order != "none":
        number = "rid" if staged.plan.spec.numbers_records else "draw"
        feasible = releasable(case, with_ties(staged, records, number))
    groups = expected(case, feasible, references)
    released = [record for group in groups for record in group]
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for record in released}
    check_classes(staged, case, groups, privacy, references)
    check_measures(staged, case, groups, len(records), max(map(minimum, privacy)))
    check_verified(
        staged,
        groups,
        [r for r in privacy if r in REQUIREMENTS or r["model"] == "k_anonymity"],
        [records, released],
    )
    check_tuples(staged)
    check_members(staged)
    return staged


def expected(case: Case, feasible: list[Group], references: list[Group]) -> list[Group]:
    method, privacy = case.policy["method"], case.policy["privacy"]
    compares = any(r["model"] in COMPARED for r in privacy)
    smallest = max(map(minimum, privacy))
    released = sum(map(len, feasible))
    left = len(case.rows) - released
    allowed = math.floor(case.policy["suppression_limit"] * len(case.rows) + 1e-9) - left
    known: dict[frozenset[tuple[Any, int]], bool] = {}

    def keeps(group: Group) -> bool:
        key = frozenset(Counter(record.sensitive[0] for record in group).items())
        if key not in known:
            known[key] = all(satisfied(r, group, references) for r in privacy)
        return known[key]

    made = one_dimensional.OneDimensional(
        case.attributes,
        keeps,
        smallest,
        apart=method["dominant"] == "apart",
        relaxed=method["variant"] == "relaxed",
        several=any(r["model"] != "k_anonymity" for r in privacy),
        compares=compares,
        rounds=method["refine"],
        seed=SEED + 2,
        limit=0 if compares else max(min(allowed, released - smallest), 0),
        price=method.get("price", 1.0),
        size=line.BLOCK,
    )
    groups = made.classes(feasible)
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for group in groups for record in group}
    return made.merged(groups)


SHOWN = {"x", "y", "z", *(f"q{i}" for i in range(4))}


def check_tuples(staged: Staged) -> None:
    """A class number and what it shows determine each other, in what is published, too."""
    shown: dict[str, int] = {}
    for row in staged.classes.values():
        text = str([v for name, v in row.items() if name.removesuffix("_null") in SHOWN])
        assert shown.setdefault(text, row["class_id"]) == row["class_id"]
    assert len(shown) == len(staged.classes)


def check_members(staged: Staged) -> None:
    """Every encoded record once, in the class that its people know it is in."""
    spec, state = staged.plan.spec, staged.state
    rows = fetch(staged.conn, statement(class_description.members(spec, state)))
    coded = fetch(staged.conn, sql.SQL("SELECT 1 FROM {}").format(state.work(CODED).identifier))
    assert len(rows) == len(coded)
    sizes = Counter(row["group_id"] for row in rows if row["group_id"] is not None)
    assert sizes == {number: len(ids) for number, ids in staged.members.items()}


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_distances_are_over_the_values_of_the_source(tables: Any, variant: str) -> None:
    method = {"name": "one_dimensional", "variant": variant, "dominant": "mixed", "refine": 0}
    staged = check(tables, with_a_value_of_nobody_released(**method))
    assert staged is not None
    assert groups_of(staged) == {frozenset([1, 2]), frozenset([3, 4])}


@pytest.mark.random_tables
@SETTINGS
@given(case=lined())
def test_classes_are_those_of_the_brute_force(tables: Any, case: Case) -> None:
    check(tables, case)


@pytest.mark.random_tables
@SETTINGS
@given(case=lined(), price=st.sampled_from([0, 0.1, 0.3]))
def test_outliers_are_those_of_the_brute_force(tables: Any, case: Case, price: float) -> None:
    case.policy["privacy"] = [r for r in case.policy["privacy"] if r["model"] not in COMPARED]
    if case.policy["privacy"]:
        case.policy["method"]["price"] = price
        check(tables, case)


@pytest.mark.random_tables
@SETTINGS
@given(case=lined(), size=st.integers(1, 20))
def test_every_block_has_the_classes_of_the_brute_force(tables: Any, case: Case, size: int) -> None:
    """Blocks that miss a requirement are joined."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line, "BLOCK", size)
        check(tables, case)


@pytest.mark.random_tables
@SETTINGS
@given(case=lined(rounds=6), size=st.sampled_from([25, 60_000]))
def test_refined_classes_are_those_of_the_brute_force(tables: Any, case: Case, size: int) -> None:
    for attribute, (name, column) in zip(
        case.attributes, case.policy["columns"].items(), strict=False
    ):
        assert name.startswith("q")
        # Numbers of blocks enter the draws, and parts have no order that the policy says.
        if attribute.nulls == "own_class":
            attribute.nulls = column["nulls"] = "as_value"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line, "BLOCK", size)
        check(tables, case)


# -- one by one ---------------------------------------------------------------------------------

COLUMNS = {"x": "integer", "y": "text", "z": "text", "s": "text", "u": "integer"}


def table(count: int, seed: int = 5) -> list[list[Any]]:
    rng = random.Random(seed)
    return [
        [
            rng.randint(0, 60),
            rng.choice("aaaabcd"),
            rng.choice([None, *"uvw"]),
            rng.choice("klmn"),
            rng.choice([1, 1, 2, 3]),
        ]
        for _ in range(count)
    ]


def released(db: Database, rows: Sequence[Sequence[Any]], privacy: Any, **method: Any) -> Staged:
    make_table(db.connect("source_owner"), COLUMNS, rows)
    drop_leftovers(db.owner())
    columns = {"x": "q", "y": "q", "z": "q", "s": "s", "u": "s"}
    return run(db.owner(), policy(columns, privacy, method={"name": "one_dimensional", **method}))


def groups_of(staged: Staged) -> set[frozenset[int]]:
    return set(map(frozenset, staged.members.values()))


SEVERAL = [
    {"model": "k_anonymity", "k": 3},
    {"model": "distinct_l_diversity", "column": "s", "l": 3},
    {"model": "alpha_k_anonymity", "column": "u", "alpha": 0.6, "k": 3},
]


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@pytest.mark.parametrize("block", [60_000, 30])
def test_conditions_on_two_sensitive_columns_are_held_apart(
    db: Database, variant: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "BLOCK", block)
    rows = table(240)
    staged = released(db, rows, SEVERAL, variant=variant, refine=3)
    found = groups_of(staged)
    assert sorted(n for ids in found for n in ids) == list(range(1, 241))
    for ids in found:
        first, second = ([rows[n - 1][j] for n in ids] for j in (3, 4))
        assert len(ids) >= 3
        assert len(set(first)) >= 3
        assert max(Counter(second).values()) <= 0.6 * len(second)
    assert len(found) > 20
    check_tuples(staged)
    assert (staged.facts["line_blocks"] > 1) == (block == 30)


@pytest.mark.parametrize(("variant", "blocks"), [("strict", 1), ("relaxed", 4)])
def test_a_block_has_so_many_cells_or_records(
    db: Database, variant: str, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four cells of 30 records."""
    monkeypatch.setattr(line, "BLOCK", 30)
    rows = [[n % 4, "a", None, "k", 1] for n in range(120)]
    assert released(db, rows, 3, variant=variant).facts["line_blocks"] == blocks


@pytest.mark.slow
def test_blocks_are_smaller_where_values_are_compared_with_those_of_all(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "COUNTERS", 1 << 8)
    rows = table(240)
    closeness = {"model": "t_closeness", "column": "s", "t": 0.4}
    staged = released(db, rows, [SEVERAL[0], closeness])
    assert staged.facts["line_blocks"] > 1
    assert released(db, rows, SEVERAL).facts["line_blocks"] == 1


def test_numbers_along_the_line_may_take_several_words(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table(150)
    expected_ = groups_of(released(db, rows, 3, refine=2))
    monkeypatch.setattr(digits, "_WORD", 20)
    staged = released(db, rows, 3, refine=2)
    assert staged.facts["line_words"] > 2
    assert groups_of(staged) == expected_


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_the_order_of_rows_does_not_matter(db: Database, variant: str) -> None:
    """Numbers of rows apart: who has the same values is told apart by them in relaxed."""
    rows = table(200)
    order = random.Random(1).sample(range(200), 200)
    asked = [{"model": "k_anonymity", "k": 4}]
    first = released(db, rows, asked, variant=variant, refine=4)
    before = shown(first, rows)
    second = released(db, [rows[n] for n in order], asked, variant=variant, refine=4)
    assert shown(second, [rows[n] for n in order]) == before


def shown(staged: Staged, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The quasi-identifiers of the records of all classes, class by class."""
    return sorted(sorted(str(rows[n - 1][:3]) for n in ids) for ids in staged.members.values())


@pytest.mark.parametrize("numbered", [False, True])
def test_a_secret_decides_who_of_a_divided_cell_is_where(db: Database, numbered: bool) -> None:
    """Not the order of rows. The middle cell of seven is divided among three classes.

    Args:
        numbered: records have numbers where some could be left out.
    """
    source = db.connect("source_owner")
    values = [0] * 3 + [10] * 7 + [20] * 3
    make_table(source, {"x": "integer", "s": "text"}, [[x, str(n)] for n, x in enumerate(values)])
    bounded = {"model": "alpha_k_anonymity", "column": "s", "alpha": 0.9, "k": 4}
    asked = policy(
        {"x": "q", "s": "s"},
        [bounded if numbered else {"model": "k_anonymity", "k": 4}],
        method={"name": "one_dimensional", "variant": "relaxed", "refine": 0},
        **({"on_infeasible": "suppress", "suppression_limit": 0.01} if numbered else {}),
    )

    def classes(seed: int) -> set[frozenset[int]]:
        drop_leftovers(db.owner())
        staged = run(db.owner(), asked, seed=seed)
        assert staged.plan.spec.numbers_records == numbered
        check_members(staged)
        return groups_of(staged)

    first = classes(1)
    assert sorted(map(len, first)) == [4, 4, 5]
    source.execute(
        "CREATE TABLE public.o AS TABLE public.t; DELETE FROM public.t;"
        " INSERT INTO public.t SELECT * FROM public.o ORDER BY id DESC; DROP TABLE public.o"
    )
    assert classes(1) == first
    assert classes(2) != first


@pytest.mark.slow
def test_other_processes_make_the_same_classes(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "BLOCK", 30)
    rows = table(240)
    alone = groups_of(released(db, rows, SEVERAL, variant="relaxed", refine=5))
    started: list[int] = []

    class Seen(joblib.Parallel):
        def __init__(self, **keys: Any) -> None:
            started.append(keys["n_jobs"])
            super().__init__(**keys)

    monkeypatch.setattr(joblib, "Parallel", Seen)
    monkeypatch.setattr(pool, "WORTH", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert groups_of(released(db, rows, SEVERAL, variant="relaxed", refine=5)) == alone
    assert started == [2]


@pytest.mark.parametrize("masked", [512, 2])
def test_equal_tuples_are_one_class_also_where_sets_have_no_mask(
    db: Database, masked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two values that alternate with pairs of them: relaxed classes that show the same."""
    monkeypatch.setattr(axis, "MASKED_VALUES", masked)
    rows = [[7, "a", None, "k", 1]] * 9 + [[7, "b", "u", "k", 1]] * 7 + table(40)
    staged = released(db, rows, 2, variant="relaxed", refine=0)
    check_tuples(staged)
    [ids] = [ids for ids in staged.members.values() if 1 in ids]
    assert set(range(1, 10)) <= ids or len(ids & set(range(1, 10))) >= 8
    assert len(staged.members) > 10


def test_columns_of_nothing_but_null(db: Database) -> None:
    columns = {"x": "integer", "n": "integer", "y": "text", "h": "text"}
    make_table(db.connect("source_owner"), columns, [[n, None, None, None] for n in range(12)])
    drop_leftovers(db.owner())
    hierarchy = {"hierarchy": {"inline": {"all": {"left": ["a", "b"], "right": ["c"]}}}}
    declared_ = policy(
        {"x": "q", "n": "q", "y": "q", "h": hierarchy}, 3, method={"name": "one_dimensional"}
    )
    staged = run(db.owner(), declared_)
    assert groups_of(staged) == {frozenset(range(n, n + 3)) for n in (1, 4, 7, 10)}


@pytest.mark.parametrize("count", [3, 4, 5])
@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_fewer_than_2_k_records_are_one_class(db: Database, count: int, variant: str) -> None:
    staged = released(db, table(count), 3, variant=variant)
    assert groups_of(staged) == {frozenset(range(1, count + 1))}
