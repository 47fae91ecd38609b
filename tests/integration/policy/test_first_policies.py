"""First policies for every task: they load, resolve, and name the method of the table of tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pganon.catalog.introspect import read_relation
from pganon.cli.main import main
from pganon.errors import EXIT_OK, EXIT_REFUSED, EXIT_USAGE, PreconditionError
from pganon.loading import known, load_policy
from pganon.policy.first_text import policy_text
from pganon.policy.loader import LoadedPolicy
from pganon.policy.scaffold import first_policy
from pganon.policy.tasks import TASKS
from pganon.run.context import resolve_policy
from tests.integration.policy.test_scaffold import (
    DECIDED,
    ENCOUNTERS,
    HOSTILE,
    PATIENTS,
    SURVEY,
    roles,
)
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table

SOURCES = {
    "patients": PATIENTS,
    "encounters": ENCOUNTERS,
    "survey": SURVEY,
    "care": DECIDED,
    "bare": "CREATE TABLE public.bare (a text, b int, c numeric)",
    "lone": "CREATE TABLE public.lone AS SELECT 'x' || i % 9 AS diagnosis, i % 30 AS age, i AS id"
    " FROM generate_series(1, 90) AS s(i)",
}

FLAGGED = """
    CREATE TABLE public.member AS SELECT i AS id, 20 + i % 50 AS age, i % 7 AS town,
        'j' || i % 6 AS hobby, i % 3 = 0 AS age_is_private, i % 4 > 0 AS show_hobby,
        i % 2 = 0 AS town_council, i % 5 = 0 AS private
    FROM generate_series(1, 200) AS s(i);
    ALTER TABLE public.member ADD PRIMARY KEY (id);
"""


def scaffold(db: Database, source: str, task: str) -> tuple[str, LoadedPolicy]:
    conn = db.connect()
    text = policy_text(first_policy(conn, read_relation(conn, source), known(), task), known())
    return text, load_policy(text)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.slow
def test_a_policy_for_every_task_and_source_is_valid(bare_db: Database, task: str) -> None:
    for table, sql in SOURCES.items():
        bare_db.source(sql)
        text, loaded = scaffold(bare_db, table, task)
        resolve_policy(bare_db.connect(), loaded)
        assert loaded.policy.method.name == known().method_for(task)
        assert "secret" not in text.lower()


@pytest.mark.parametrize("task", TASKS)
def test_hostile_names_are_written(bare_db: Database, task: str) -> None:
    bare_db.source(HOSTILE)
    scaffold(bare_db, '"a.b: #"."t""\'\\ %s {}"', task)


@pytest.mark.parametrize("task", ["exact", "joined", "decide", "several-records"])
def test_tasks_that_need_two_columns_refuse_one(bare_db: Database, task: str) -> None:
    bare_db.source("CREATE TABLE public.alone AS SELECT i % 5 AS age FROM generate_series(1, 9) i")
    with pytest.raises(PreconditionError, match="too few columns") as error:
        scaffold(bare_db, "alone", task)
    assert error.value.code == "no_columns"


def test_roles_fit_the_task(bare_db: Database) -> None:
    bare_db.source(ENCOUNTERS)
    _, loaded = scaffold(bare_db, "encounters", "several-records")
    assert roles(loaded)["patient_nbr"] == "individual"
    _, loaded = scaffold(bare_db, "encounters", "joined")
    assert {c.qs_set for c in loaded.policy.columns.values()} == {None, "first", "second"}
    bare_db.source(SURVEY.replace("i % 1 AS flat", "i % 4 AS disease"))
    text, loaded = scaffold(bare_db, "survey", "exact")
    assert loaded.policy.with_role("sensitive") == ["pinc"]
    assert "# disease: not released  # sensitive, too; this method protects one column" in text
    _, loaded = scaffold(bare_db, "survey", "several-sensitive")
    assert loaded.policy.with_role("sensitive") == ["pinc", "disease"]
    _, loaded = scaffold(bare_db, "survey", "joined")
    sets = {name: column.qs_set for name, column in loaded.policy.columns.items()}
    assert (sets["pinc"], sets["disease"], sets["edu"]) == ("second", "second", "first")


def test_a_model_asks_for_no_more_values_than_there_are(bare_db: Database) -> None:
    bare_db.source(
        "CREATE TABLE public.t AS SELECT i % 9 AS age, i % 2 AS disease, i % 4 AS diagnosis"
        " FROM generate_series(1, 90) AS s(i)"
    )
    _, loaded = scaffold(bare_db, "t", "audiences")
    assert [getattr(model, "l", None) for model in loaded.policy.privacy] == [None, 2, 3]
    assert loaded.policy.audiences == "by_reader"
    _, loaded = scaffold(bare_db, "t", "monthly")
    assert loaded.policy.refresh == "increments"


def test_flags_beside_columns_let_people_decide(bare_db: Database) -> None:
    bare_db.source(FLAGGED)
    text, loaded = scaffold(bare_db, "member", "decide")
    columns = loaded.policy.columns
    assert loaded.policy.with_role("semi_sensitive") == ["age", "hobby"]
    assert columns["age"].sensitive_when.column == "age_is_private"  # pyright: ignore
    assert columns["hobby"].sensitive_when.predicate == "not show_hobby"  # pyright: ignore
    assert not {"age_is_private", "show_hobby"} & set(columns)
    assert "age decides age" not in text
    resolve_policy(bare_db.connect(), loaded)
    text, loaded = scaffold(bare_db, "member", "survey")
    assert "age_is_private seems to say for whom age is sensitive" in text
    assert "show_hobby: not released  # says for whom hobby is sensitive" in text
    assert "town_council seems" not in text


@pytest.mark.primary_server_only
def test_refusals_name_the_method_for_the_task(
    db: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db.source(ENCOUNTERS + FLAGGED)
    file = tmp_path / "policy.yaml"
    policy = {
        "release": "seen",
        "source": "encounters",
        "individual": "patient_nbr",
        "columns": {
            "patient_nbr": {"role": "identifying"},
            "rank": {"role": "quasi_identifying"},
        },
        "privacy": [{"model": "k_anonymity", "k": 2}],
        "method": {"name": "mondrian"},
    }
    file.write_text(json.dumps(policy))
    assert main(["run", str(file), "--dsn", db.dsn()]) == EXIT_REFUSED
    assert "keep them together with the method danonyir" in capsys.readouterr().err
    policy |= {"source": "member", "columns": {"age": {"role": "quasi_identifying"}}}
    del policy["individual"]
    file.write_text(json.dumps(policy))
    assert main(["run", str(file), "--dry-run", "--dsn", db.dsn()]) == EXIT_OK
    warned = capsys.readouterr().err
    assert "age_is_private seems to say for whom age is sensitive; people decide with" in warned
    assert "show_hobby seems" not in warned  # hobby is not declared
    file.write_text(json.dumps(policy | {"undeclared": "refuse"}))
    assert main(["policy", "check", "--source", str(file), "--dsn", db.dsn()]) == EXIT_USAGE
    assert "role: semi_sensitive and the method lgb_mdp" in capsys.readouterr().err


@pytest.mark.primary_server_only
def test_the_option(bare_db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    bare_db.source(DECIDED)
    dsn = ["--dsn", bare_db.dsn()]
    assert main(["policy", "init", "care", "--task", "exact", *dsn]) == EXIT_OK
    assert "method: {name: anatomy}" in capsys.readouterr().out
    assert main(["policy", "init", "care", "--task", "exakt", *dsn]) == EXIT_USAGE
    assert '"exakt" is not a task' in capsys.readouterr().err


@pytest.mark.primary_server_only
@pytest.mark.parametrize("task", TASKS)
def test_names_that_leave_no_room(db: Database, tmp_path: Path, task: str) -> None:
    """Methods add `_null`, `_low` or `_bucket` to names of columns, or put them into a view's."""
    kinds = {
        "age": "integer",
        "zip": "text",
        "job": "text",
        "height\u00e9": "numeric",
        "disease": "text",
    }
    names = {(short + "_" * 63).encode()[:63].decode(): kind for short, kind in kinds.items()}
    rows = [
        [20 + n % 5, None if n % 7 == 0 else f"z{n % 3}", f"j{n % 4}", n, f"d{n % 6}"]
        for n in range(60)
    ]
    make_table(db.connect("source_owner"), names, rows)
    dsn = ("--dsn", db.dsn("steward"))
    made = pganon("policy", "init", "public.t", "--task", task, *dsn)
    file = tmp_path / "policy.yaml"
    file.write_text(made.out)
    checked = pganon("policy", "check", str(file), "--source", *dsn)
    assert (made.code, checked.code) == (0, 0), checked.err
