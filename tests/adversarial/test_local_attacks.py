"""Attacks on releases in which people decide which of their values are hidden."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from typing import Any

import pytest
from psycopg import sql

from pganon.plan.verification import verdict
from tests.integration.methods.local.test_local import (
    K2,
    METHODS,
    closeness,
    diverse,
    exceptions,
    groups,
    local_policy,
    semi,
    values,
)
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, publish, refused, run
from tests.support.sources.builders import make_table

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

TYPES = {
    "x": "integer",
    "age": "integer",
    "age_private": "boolean",
    "town": "text",
    "town_private": "boolean",
}
COLUMNS = {"x": "quasi_identifying", "age": semi("age_private"), "town": semi("town_private")}
MODELS = [{"model": "k_anonymity", "k": 3}, diverse("age", 2), diverse("town", 2)]


def people(n: int = 60) -> list[list[Any]]:
    """Records of all four masks; ages and towns have nothing to do with each other."""
    drawn = random.Random(7)
    return [
        [i % 7, drawn.randrange(20, 60), i % 3 == 0, drawn.choice("abcd"), i % 4 == 0]
        for i in range(n)
    ]


def released(db: Database, rows: list[list[Any]], **method: Any) -> Staged:
    make_table(db.connect("source_owner"), TYPES, rows)
    method = {"link_threshold": 1, **method}
    return run(db.owner(), local_policy(COLUMNS, MODELS, method=method))


def buckets(staged: Staged, column: str) -> set[frozenset[str]]:
    """Who is together in buckets of a column."""
    found: dict[int, set[str]] = {}
    for row in staged.table("members"):
        if row[f"{column}_bucket"] is not None:
            found.setdefault(row[f"{column}_bucket"], set()).add(row["member"])
    return set(map(frozenset, found.values()))


# -- orders -------------------------------------------------------------------------------------


def test_places_in_buckets_of_two_columns_are_drawn_apart(db: Database) -> None:
    """One order for both would tell of the other column: 30/37 instead of 1/2 for some records."""
    rows = [[1, "abcd"[i % 4], "abcd"[i % 4]] for i in range(80)]
    make_table(db.connect("source_owner"), {"x": "integer", "s": "text", "t": "text"}, rows)
    staged = run(
        db.owner(),
        local_policy(
            {"x": "quasi_identifying", "s": "sensitive", "t": "sensitive"},
            [K2, diverse("s", 2), diverse("t", 2)],
            method={"link_threshold": 1},
        ),
    )
    assert values(staged, 0, "s") == values(staged, 1, "t")
    assert len(buckets(staged, "s") & buckets(staged, "t")) < 10


def test_the_order_of_the_source_decides_nothing(db: Database) -> None:
    first = released(db, people())
    found = [groups(first), buckets(first, "age"), buckets(first, "town")]
    conn = db.connect("source_owner")
    conn.execute("CREATE TABLE public.c AS SELECT * FROM public.t ORDER BY id DESC")
    conn.execute("TRUNCATE public.t; INSERT INTO public.t SELECT * FROM public.c")
    declared = local_policy(COLUMNS, MODELS, method={"link_threshold": 1})
    second = run(db.owner(), declared)
    assert [groups(second), buckets(second, "age"), buckets(second, "town")] == found


def test_rows_lie_in_the_order_of_what_they_show(db: Database) -> None:
    staged = released(db, people())
    shown = [
        [row["group_id"], row["age_bucket"] or 10**6, row["town_bucket"] or 10**6]
        for row in staged.table("records")
    ]
    assert shown == sorted(shown)
    for j, column in enumerate(("age", "town")):
        held = [(row[f"{column}_bucket"], row[column]) for row in staged.table(f"values{j}")]
        assert held == sorted(held)
    numbers = [row["group_id"] for row in staged.table("groups")]
    assert numbers == list(range(1, len(numbers) + 1))


# -- hidden values decide nothing that is shown -------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_hidden_values_change_no_group(db: Database, method: str) -> None:
    """Neither groups nor what they show, however far out a hidden value is."""
    shown = []
    for far in (0, 1_000_000):
        rows = people()
        for row in rows:
            row[1] += far * row[2]
        staged = released(db, rows, name=method)
        table = [
            {k: v for k, v in row.items() if k != "group_id"} for row in staged.table("groups")
        ]
        shown.append((groups(staged), sorted(map(str, table))))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("how", ["suppress", "merge", "ineligible"])
def test_values_permuted_among_those_who_hide_them(db: Database, how: str) -> None:
    """The same records are left out, and of the same records the same values are withheld."""
    rows = people(30)
    for i, row in enumerate(rows):
        row[2], row[3], row[4] = i < 9, "abcd"[i % 4], 2 <= i < 12
    if how == "ineligible":
        for row in rows[:6]:
            row[1] = 77
    method = {"link_threshold": 1, "small_subsets": "merge" if how == "merge" else "apart"}
    method |= {"ineligible": "withhold"} if how == "ineligible" else {}
    others = {"on_infeasible": "suppress", "suppression_limit": 0.5} if how != "merge" else {}
    ages = [row[1] for row in rows[:9]]
    found = set()
    for turn in range(0, 9, 2):
        for row, age in zip(rows, ages[turn:] + ages[:turn], strict=False):
            row[1] = age
        make_table(db.connect("source_owner"), TYPES, rows)
        staged = run(db.owner(), local_policy(COLUMNS, MODELS, method=method, **others))
        forms = {
            row["group_id"]: (row["age_form"], row["town_form"]) for row in staged.table("groups")
        }
        found.add(
            frozenset((row["member"], *forms[row["group_id"]]) for row in staged.table("members"))
        )
    (shown,) = found
    assert (len(shown) < 30) == (how != "merge")
    withheld = {member for member, *form in shown if "w" in form}
    assert bool(withheld) == (how != "suppress")


@pytest.mark.parametrize("how", ["suppress", "merge"])
def test_who_is_left_out_or_withheld_depends_on_flags_alone(db: Database, how: str) -> None:
    rows = people(40)
    for i, row in enumerate(rows):
        row[2], row[4] = i < 2, i < 20 and i != 1
    found = []
    for turn in (0, 1):
        hidden = [row[1] for row in rows if row[2]]
        for row, age in zip([r for r in rows if r[2]], hidden[turn:] + hidden[:turn], strict=True):
            row[1] = age
        towns = [row[3] for row in rows if row[4]]
        for row, town in zip([r for r in rows if r[4]], towns[turn:] + towns[:turn], strict=True):
            row[3] = town
        make_table(db.connect("source_owner"), TYPES, rows)
        small = {"small_subsets": "merge"} if how == "merge" else {}
        others = {} if how == "merge" else {"on_infeasible": "suppress", "suppression_limit": 0.5}
        declared = local_policy(COLUMNS, MODELS, method={"link_threshold": 1, **small}, **others)
        staged = run(db.owner(), declared)
        found.append(groups(staged))
    assert found[0] == found[1]


def test_one_hidden_cell_refuses_and_does_not_tell_whose(db: Database) -> None:
    rows = [[1, 30 + i, i == 4, "a", False] for i in range(9)]
    rows += [[1, 50, True, "a", False]] * 3
    make_table(db.connect("source_owner"), TYPES, rows)
    with refused("infeasible") as caught:
        run(db.owner(), local_policy(COLUMNS, MODELS))
    assert "34" not in str(caught[0])
    assert "the largest feasible l is 1" in str(caught[0])


def test_a_hidden_value_is_not_a_missing_one(db: Database) -> None:
    """NULL where a value is hidden does not make those who show theirs look as if they had none."""
    rows = [[i % 2, None if i in (0, 9) else 20 + i, i >= 6, "a", False] for i in range(12)]
    make_table(db.connect("source_owner"), TYPES, rows)
    columns = {"x": "quasi_identifying", "age": semi("age_private")}
    declared = local_policy(columns, [K2, diverse("age", 2)], method={"name": "lgb_mdp"})
    staged = run(db.owner(), declared)
    shown = {row["group_id"]: row for row in staged.table("groups")}
    group = {int(row["member"]): row["group_id"] for row in staged.table("members")}
    missing = {member for member, number in group.items() if shown[number]["age_null"]}
    assert 1 in missing
    together = {m for m, number in group.items() if number == group[1]}
    assert missing == together
    assert missing <= set(range(1, 7))
    hidden = [shown[group[member]] for member in range(7, 13)]
    assert {(row["age"], row["age_null"], row["age_form"]) for row in hidden} == {(None, None, "b")}
    assert sum(row["age"] is None for row in staged.table("values0")) == 1


# -- columns that tell of each other ------------------------------------------------------------

ORGANS = {"lung": "cough", "liver": "jaundice", "bladder": "hematuria", "skin": "lesion"}


def test_associated_columns_are_refused(db: Database) -> None:
    """Eight rows, two of each pair: with independent buckets all of them are resolved."""
    rows = [[1, organ, symptom] for organ, symptom in ORGANS.items() for _ in range(2)]
    types = {"x": "integer", "organ": "text", "symptom": "text"}
    make_table(db.connect("source_owner"), types, rows)
    columns = {"x": "quasi_identifying", "organ": "sensitive", "symptom": "sensitive"}
    models = [K2, diverse("organ", 2), diverse("symptom", 2)]
    with refused("associated") as caught:
        run(db.owner(), local_policy(columns, models))
    assert "columns organ and symptom are associated" in str(caught[0])
    assert "would reveal their values" in str(caught[0])
    run(db.owner(), local_policy(columns, models, method={"link_threshold": 1}))


def test_association_is_that_of_the_records_that_hide_both(db: Database) -> None:
    """Where one of the two is shown there is no bucket to intersect."""
    organs = [*ORGANS.items()]
    rows: list[list[Any]] = []
    for i in range(64):
        organ, symptom = organs[i % 4]
        if i >= 32:  # these hide both, and nothing goes with anything
            symptom = organs[i // 4 % 4][1]
        rows.append([1, organ, i >= 32, symptom, True])
    types = {"x": "integer", "organ": "text", "p": "boolean", "symptom": "text", "q": "boolean"}
    make_table(db.connect("source_owner"), types, rows)
    columns = {"x": "quasi_identifying", "organ": semi("p"), "symptom": semi("q")}
    models = [K2, diverse("organ", 2), diverse("symptom", 2)]
    staged = run(db.owner(), local_policy(columns, models))
    assert json.loads(staged.facts["links"]) == [[0, 1, 32, 0, 0]]


def test_too_few_records_to_measure_is_said(db: Database) -> None:
    rows = people(60)
    for i, row in enumerate(rows):
        row[2], row[4] = i < 20, 17 <= i < 40
    staged = released(db, rows, link_threshold=0.9)
    warned = staged.plan.method.form.publication.warnings(staged.plan.spec, staged.state.facts)
    assert any("too few records hide both age and town" in warning for warning in warned)


# -- tampering ----------------------------------------------------------------------------------

TAMPERED = {
    "value twice": ("UPDATE {values0} SET count = 2", {"buckets", "local_bucket_diversity"}),
    "value gone": (
        "DELETE FROM {values0} WHERE ctid = (SELECT min(ctid) FROM {values0})",
        {"buckets", "local_bucket_diversity"},
    ),
    "record in another bucket": (
        "UPDATE {records} SET age_bucket = 1 WHERE ctid = (SELECT max(ctid) FROM {records}"
        " WHERE age_bucket > 1)",
        {"buckets"},
    ),
    "record without its bucket": (
        "UPDATE {records} SET age_bucket = NULL WHERE age_bucket = 1",
        {"buckets", "forms"},
    ),
    "value shown and hidden": (
        "UPDATE {groups} SET age = numrange(1, 2) WHERE age_form = 'b'",
        {"forms"},
    ),
    "form changed": ("UPDATE {groups} SET age_form = 'w' WHERE age_form = 'b'", {"forms"}),
    "unknown form": ("UPDATE {groups} SET town_form = 'x' WHERE town_form = 'g'", {"forms"}),
    "group described twice": (
        "ALTER TABLE {groups} DROP CONSTRAINT {key}; INSERT INTO {groups} SELECT * FROM {groups}"
        " WHERE group_id = 1",
        {"structure"},
    ),
    "record in another group": (
        "UPDATE {records} SET group_id = 2 WHERE ctid IN (SELECT ctid FROM {records} WHERE"
        " group_id = 1 LIMIT 1)",
        {"k_anonymity"},
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_found_from_the_relations_alone(db: Database, what: str) -> None:
    text, found = TAMPERED[what]
    staged = released(db, people())
    names = {part: staged.name(part) for part in ("groups", "records", "values0")}
    key = sql.Identifier(f"{staged.state.stage('groups').name}_pkey")
    changed = sql.SQL(text).format(**names, key=key)  # pyright: ignore
    staged.conn.execute(changed)
    tables = {r.part: r.staged for r in staged.plan.relations(staged.state)}
    checks = staged.plan.method.form.verification.checks(staged.plan.spec, staged.state, tables)
    failing = {
        check.model
        for check in checks
        if verdict(check, fetch(staged.conn, sql.SQL(check.sql))[0])  # pyright: ignore
    }
    assert found & failing, failing
    assert found >= failing or what in ("record in another group", "record without its bucket")


def test_buckets_far_from_the_whole_are_found(db: Database) -> None:
    rows = [[i, "f" if i <= 7 else "m"] for i in range(1, 12)]
    make_table(db.connect("source_owner"), {"x": "integer", "sex": "text"}, rows)
    declared = local_policy(
        {"x": "quasi_identifying", "sex": "sensitive"}, [K2, closeness("sex", 0.2, 3)]
    )
    staged = run(db.owner(), declared)
    name = staged.name("values0")
    staged.conn.execute(sql.SQL("UPDATE {} SET sex = 'f' WHERE sex_bucket = 1").format(name))
    tables = {r.part: r.staged for r in staged.plan.relations(staged.state)}
    checks = staged.plan.method.form.verification.checks(staged.plan.spec, staged.state, tables)
    (check,) = [check for check in checks if check.model == "t_closeness"]
    assert verdict(check, fetch(staged.conn, sql.SQL(check.sql))[0]) is not None  # pyright: ignore


# -- whose code and whose words -----------------------------------------------------------------


def test_a_relation_whose_owner_is_not_trusted(db: Database) -> None:
    declared = exceptions(db, [(1, "v"), (2, "v")])
    owner = db.connect("source_owner")
    owner.execute(
        "CREATE FUNCTION public.evil(t text) RETURNS text LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN t; END $$;"
        "CREATE VIEW public.listed AS SELECT id, public.evil(attribute) AS attribute"
        " FROM public.hidden; GRANT SELECT ON public.listed TO steward"
    )
    declared["columns"]["v"]["sensitive_when"] = {"relation": "public.listed"}
    with refused("untrusted_code") as caught:
        publish(db, declared)
    assert "public.listed" in str(caught[0])
    assert publish(db, {**declared, "trust": ["source_owner"]}).version == 1


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("ALTER TABLE public.hidden DROP COLUMN attribute", "has no column attribute"),
        ("ALTER TABLE public.hidden RENAME COLUMN id TO key", "has no column id"),
        ("ALTER TABLE public.hidden ALTER COLUMN id TYPE bigint", "is integer in public.t"),
        ("ALTER TABLE public.t DROP CONSTRAINT t_pkey", "has no primary key"),
    ],
)
def test_a_relation_that_does_not_fit(db: Database, change: str, part: str) -> None:
    declared = exceptions(db, [(1, "v"), (2, "v")])
    db.connect("source_owner").execute(change)
    with refused() as caught:
        run(db.owner(), declared)
    assert part in str(caught[0])


def test_a_companion_that_is_no_boolean(db: Database) -> None:
    make_table(db.connect("source_owner"), {"x": "integer", "v": "integer"}, [(1, 2)] * 4)
    declared = local_policy(
        {"x": "quasi_identifying", "v": semi("x_private")}, [K2, diverse("v", 2)]
    )
    with refused() as caught:
        run(db.owner(), declared)
    assert "has no column x_private" in str(caught[0])
    declared["columns"]["v"] = semi("id")
    with refused() as caught:
        run(db.owner(), declared)
    assert "id is integer, not a boolean" in str(caught[0])


def test_source_without_a_key(db: Database) -> None:
    make_table(db.connect("source_owner"), TYPES, people())
    db.connect("source_owner").execute("ALTER TABLE public.t DROP COLUMN id")
    declared = local_policy(COLUMNS, MODELS, method={"link_threshold": 1})
    assert publish(db, declared).version == 1


# -- what a reader can work out -----------------------------------------------------------------


@pytest.mark.parametrize(("even", "mixed"), [(4, 16), pytest.param(40, 60, marks=pytest.mark.slow)])
def test_every_world_of_a_bucket_is_as_likely(db: Database, even: int, mixed: int) -> None:
    """Over many secrets the hidden values of a bucket are spread evenly over its members."""
    rows = [[1, v, True, "a", False] for v in (1, 2, 3, 4)]
    make_table(db.connect("source_owner"), TYPES, rows)
    columns = {"x": "quasi_identifying", "age": semi("age_private")}
    declared = local_policy(columns, [K2, diverse("age", 2)])
    conn = db.owner()
    met: Counter[frozenset[str]] = Counter()
    for seed in range(even):
        for bucket in buckets(run(conn, declared, seed=seed), "age"):
            met[bucket] += 1
    # Values are 1 2 | 3 4 by the medians, whatever the secret; nobody's place tells a value.
    assert met == {frozenset("12"): even, frozenset("34"): even}
    rows = [[1, v, True, "a", False] for v in (1, 1, 2, 2)]
    make_table(db.connect("source_owner"), TYPES, rows)
    met.clear()
    for seed in range(mixed):
        for bucket in buckets(run(conn, declared, seed=seed), "age"):
            met[bucket] += 1
    assert set(met) == {frozenset(pair) for pair in itertools.product("12", "34")}
    assert min(met.values()) >= mixed / 4


def test_withheld_values_decide_no_group(db: Database) -> None:
    """A value that is withheld for the sake of others is no part of what is cut by."""
    found = []
    for far in (1, 1_000):
        rows = [[i % 4, 20 + far * i, i >= 20, "a", False] for i in range(23)]
        make_table(db.connect("source_owner"), TYPES, rows)
        method = {"name": "lgb_mdp", "link_threshold": 1, "small_subsets": "merge"}
        models = [{"model": "k_anonymity", "k": 4}, *MODELS[1:]]
        staged = run(db.owner(), local_policy(COLUMNS, models, method=method))
        assert {row["age_form"] for row in staged.table("groups")} == {"w"}
        assert {row["age"] for row in staged.table("groups")} == {None}
        found.append(groups(staged))
    assert found[0] == found[1]
    # Cut by x alone: records with the same x are together.
    assert [len({(i - 1) % 4 for i in group}) for group in found[0]] == [1] * len(found[0])
