"""A sensitive column that no model is about is named, with how many records that matters for."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import fetch, publish
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"age": "integer", "heart": "text", "job": "text"}
ROWS = [[20 + n // 3, ("a", "b", None)[n // 4 % 3], f"j{n % 5}"] for n in range(40)]
ROLES = {"age": "q", "heart": "s", "job": "s"}
JOB = [{"model": "k_anonymity", "k": 3}, {"model": "distinct_l_diversity", "column": "job", "l": 2}]
BUCKETS = [{"model": "slicing_l_diversity", "column": "job", "l": 2}]
SLAMSA = {"name": "slamsa", "sensitive_tables": [["heart"], ["job"]]}
POLICIES = {
    "mondrian": policy(ROLES, JOB),
    "mondrian, k alone": policy(ROLES, 3),
    "slamsa": policy(ROLES, BUCKETS, method=SLAMSA),
    "danonyir": policy(
        {"id": "individual", "age": "q", "heart": "s"},
        [{"model": "ir_k_anonymity", "k": 3}],
        method={"name": "danonyir"},
    ),
}


@pytest.fixture
def source(db: Database) -> Database:
    make_table(db.connect("source_owner"), COLUMNS, ROWS)
    return db


def _groups(db: Database, column: str) -> dict[int, Counter[Any]]:
    """Records by value in every group, from the published views."""
    buckets = fetch(db.admin, sql.SQL("SELECT to_regclass('published.r_st1') AS name"))[0]["name"]
    relations = ("r_st1", "r_st2") if buckets else ("r",)
    found: dict[int, Counter[Any]] = defaultdict(Counter)
    for name in relations:
        for row in fetch(
            db.admin, sql.SQL("SELECT * FROM {}").format(sql.Identifier("published", name))
        ):
            if column in row:
                group = row.get("group_id", row.get("class_id"))
                found[group][row[column]] += row.get("count", 1)
    return found


def _alike(db: Database, column: str) -> float:
    groups = _groups(db, column).values()
    return sum(g.total() for g in groups if len(g) == 1) / sum(g.total() for g in groups)


def _told(share: float) -> str:
    """What the others have is not told by a share of all but few."""
    rest = round(len(ROWS) * (1 - share))
    return "all but fewer than 11" if 0 < rest < 11 else f"{100 * share:.3g} %"


@pytest.mark.parametrize("name", POLICIES)
def test_a_run_names_the_column_and_the_records_that_share_its_value(
    source: Database, name: str
) -> None:
    result = publish(source, POLICIES[name])
    about = [w for w in result.warnings if w.startswith("no model is about")]
    shown = [column for column in ("heart", "job") if column in POLICIES[name]["columns"]]
    share = {column: _told(_alike(source, column)) for column in shown}
    same = f"in {'buckets' if name == 'slamsa' else 'classes'} in which all have the same value"
    told = f" heart: {share['heart']} of the released records are {same} of it"
    if name == "mondrian, k alone":
        assert _alike(source, "heart") > _alike(source, "job")
        told = f"s heart ({share['heart']}), job ({share['job']}); in brackets: the share of"
        told += f" the released records that are {same} of it"
    assert about == [
        f"no model is about the sensitive column{told}; add a model, or say that it is meant with"
        " unprotected: accept, with the column"
    ]
    assert 0 < _alike(source, "heart") < 1


@pytest.mark.slow
def test_a_few_of_many_columns_are_listed(db: Database, tmp_path: Path) -> None:
    """Highest share first; of those that are not declared, as the table has them."""
    names = [f"s{number}" for number in range(22)]
    other = {f"c{number}": "integer" for number in range(21)}
    rows = [
        [n // 3, *(f"v{n % 3 if i == 21 else n // 3}" for i in range(22)), *[n] * 21]
        for n in range(12)
    ]
    make_table(
        db.connect("source_owner"),
        {"age": "integer", **dict.fromkeys(names, "text"), **other},
        rows,
    )
    declared = policy({"age": "q", **dict.fromkeys(names, "s")}, 3)
    undeclared = "not declared and not released: "
    undeclared += ", ".join(["id", *(f"c{number}" for number in range(19))]) + " and 2 more"
    expected = "no model is about the sensitive columns " + ", ".join(names[:20]) + " and 2 more"
    warned = publish(db, declared).warnings
    assert undeclared in warned
    (about,) = [w for w in warned if w.startswith("no model is about")]
    assert about.startswith(expected.replace(",", " (100 %),").replace(" and", " (100 %) and"))
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(declared))
    planned = pganon("plan", str(file), "--dsn", db.dsn("steward"), "--json").json
    assert any(w.startswith(f"{expected}; add") for w in planned["warnings"])
    assert len(planned["unreleased"]) == 22


def test_the_policy_can_say_that_it_is_meant(source: Database) -> None:
    declared = policy({**ROLES, "heart": {"role": "sensitive", "unprotected": "accept"}}, JOB)
    assert not [w for w in publish(source, declared).warnings if "no model" in w]


def test_check_and_plan_name_it_before_anything_is_run(source: Database, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(POLICIES["mondrian"]))
    expected = (
        "no model is about the sensitive column heart; add a model, or say that it is meant with"
        " unprotected: accept, with the column"
    )
    for command in (["policy", "check"], ["plan"]):
        arguments = [*command, str(file), "--dsn", source.dsn("steward")]
        shown = pganon(*(arguments if command == ["plan"] else arguments[:-2]))
        assert (shown.code, shown.err) == (0, f"warning: {expected}\n")
        assert pganon(*arguments, "--json").json["warnings"] == [expected]


def test_the_steward_sees_it_later(source: Database) -> None:
    publish(source, POLICIES["mondrian"])
    shown = pganon("show", "r", "--dsn", source.dsn("steward")).out
    share = _alike(source, "heart")
    assert f"alike in heart  {share:.4g} of the records, with their whole group; no model" in shown
