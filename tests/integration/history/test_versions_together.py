"""What versions of the same people may show together, in small releases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import PrivacyRefusal
from pganon.privacy.base import ONE_VERSION
from pganon.run.erasure import forget_people
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

Row = tuple[int, int, str]
"""Person, quasi-identifier, value."""

FOUR: list[Row] = [(1, 1, "flu"), (2, 1, "flu"), (3, 2, "HIV"), (4, 2, "cold")]


def declared(release: str = "r", k: int = 2, l: int = 0, **changes: Any) -> dict[str, Any]:  # noqa: E741
    privacy: list[dict[str, Any]] = [{"model": "k_anonymity", "k": k}]
    if l:
        privacy.append({"model": "distinct_l_diversity", "column": "s", "l": l})
    found = policy({"q": "q", "s": "s"}, privacy, trust=["source_owner"])
    return {**found, "release": release, "republication": "refuse", **changes}


def release(
    db: Database, rows: Sequence[Row], reason: str | None = None, **changes: Any
) -> dict[str, Any]:
    """Publish these people; the reason of a refusal is the expected one."""
    source = db.connect("source_owner")
    if source.execute("select to_regclass('public.t')").fetchone() == (None,):
        make_table(source, {"q": "integer", "s": "text"}, [])
    source.execute("truncate public.t")
    with source.cursor() as cursor:
        cursor.executemany("insert into public.t (id, q, s) values (%s, %s, %s)", rows)
    if reason is None:
        driver.publish(db, declared(**changes))
        return states(db)
    with pytest.raises(PrivacyRefusal) as caught:
        driver.publish(db, declared(**changes))
    assert (caught.value.code, caught.value.reason) == ("republication", reason)
    assert driver.leftovers(db) == []
    return states(db)


def states(db: Database) -> dict[str, Any]:
    rows = db.admin.execute(
        "select release || ' ' || version, over_versions from pganon_private.version"
    ).fetchall()
    return dict(rows)


@pytest.mark.slow
def test_one_leaves(db: Database) -> None:
    release(db, FOUR, k=4)
    release(db, FOUR[:3], "crossing", k=3)


@pytest.mark.slow
def test_merged_groups_are_a_function_and_the_reverse_is_finer(db: Database) -> None:
    release(db, FOUR)
    assert release(db, FOUR, release="all", k=4) == {"r 1": "holds", "all 1": "finer"}
    shown = pganon("show", "all", "--dsn", db.dsn("steward"), "--json").json
    assert [version["over_versions"] for version in shown["versions"]] == ["finer"]
    assert shown["guarantee"][0]["over_versions"].endswith("has its bounds: k = 2")
    # Who has the first version learns nothing from the second.
    release(db, FOUR, release="again")


@pytest.mark.slow
def test_only_the_finer_version_has_other_bounds(db: Database) -> None:
    """Beside it one of other people, which promises less."""
    rows: list[Row] = [(n, n // 4, "ab"[n % 2]) for n in range(12)]
    release(db, rows, release="others", where="q = 2", k=2)
    release(db, rows, release="finer", where="q < 2", k=4)
    release(db, rows, release="all", where="q < 2", k=8)
    shown = pganon("show", "all", "--dsn", db.dsn("steward"), "--json").json
    assert shown["guarantee"][0]["over_versions"].endswith("k = 4")


@pytest.mark.slow
def test_divided_groups(db: Database) -> None:
    release(db, FOUR, k=4)
    release(db, FOUR, "finer", release="parts")


@pytest.mark.slow
def test_a_value_corrected_or_exchanged(db: Database) -> None:
    release(db, FOUR)
    release(db, [*FOUR[:3], (4, 2, "flu")], "changed")
    release(db, [FOUR[0], FOUR[1], (3, 2, "cold"), (4, 2, "HIV")], "changed")
    release(db, [FOUR[0], (2, 1, "HIV"), (3, 2, "flu"), FOUR[3]], "changed")


@pytest.mark.slow
def test_a_quasi_identifier_that_is_shown_later(db: Database) -> None:
    release(db, FOUR)
    columns = {"q": {"role": "sensitive"}, "s": {"role": "quasi_identifying"}}
    whole = declared()["columns"] | columns
    release(db, FOUR, "role", release="other", columns=whole)


ANATOMY = {
    "method": {"name": "anatomy"},
    "privacy": [{"model": "anatomy_l_diversity", "column": "s", "l": 2}],
}


def test_exact_rows_beside_classes(db: Database) -> None:
    """Attack: a moment in each exact row tells whose it is, and classes hide it for nothing."""
    rows: list[Row] = [(1, 20261126, "a"), (2, 20261127, "b")]
    release(db, rows)
    release(db, rows, "form", release="rows", **ANATOMY)


def test_classes_beside_exact_rows(db: Database) -> None:
    rows: list[Row] = [(1, 20261126, "a"), (2, 20261127, "b")]
    release(db, rows, release="rows", **ANATOMY)
    release(db, rows, "form")


@pytest.mark.slow
def test_a_distribution_that_moves(db: Database) -> None:
    """Attack: t-closeness of every version to what its own source has, by other groups."""
    close = {"model": "t_closeness", "column": "s", "t": 0.3}
    asked: dict[str, Any] = {"privacy": [{"model": "k_anonymity", "k": 4}, close]}
    rows: list[Row] = [(n, n // 4, "ab"[n % 2]) for n in range(8)]
    release(db, rows, **asked)
    # Whole groups, held against another distribution, are the same groups.
    assert release(db, rows, release="half", where="q = 0", **asked)["half 1"] == "holds"
    newcomers: list[Row] = [(n, 0, "b") for n in range(8, 12)]
    release(db, [*rows, *newcomers], "crossing", **asked)


@pytest.mark.slow
def test_a_stronger_model_later(db: Database) -> None:
    rows: list[Row] = [(1, 1, "a"), (2, 1, "b"), (3, 2, "a"), (4, 2, "c")]
    release(db, rows)
    assert release(db, rows, release="strong", l=2)["strong 1"] == "holds"
    changed = [*rows[:3], (4, 2, "d")]
    release(db, changed, "changed", release="stronger", l=2)


@pytest.mark.slow
def test_what_is_accepted_is_void(db: Database) -> None:
    release(db, FOUR, k=4)
    found = release(db, FOUR[:3], k=3, republication="warn")
    assert found == {"r 1": "void", "r 2": "void"}
    told = db.admin.execute("select guarantee from pganon_private.version").fetchall()
    assert {item["over_versions"] for (stated,) in told for item in stated} == {ONE_VERSION}
    shown = pganon("show", "r", "--dsn", db.dsn("steward"), "--json").json
    assert [version["over_versions"] for version in shown["versions"]] == ["void", "void"]
    lines = pganon("show", "r", "--dsn", db.dsn("steward")).out.splitlines()
    assert sum("void" in line for line in lines) == 2
    ((seen,),) = db.admin.execute("select guarantee from pganon.releases").fetchall()
    assert seen.endswith("and has no other version")


@pytest.mark.slow
def test_who_was_forgotten_is_in_no_group_that_is_compared(db: Database) -> None:
    release(db, FOUR)
    db.source("create table public.gone as select 4 as id")
    forget_people(db.connect("steward"), "r", "public.gone")
    release(db, FOUR, "crossing")


@pytest.mark.slow
def test_what_the_steward_is_told(db: Database, tmp_path: Path) -> None:
    release(db, FOUR, k=4)
    release(db, FOUR[:3], k=3, republication="warn")
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(declared()))
    told = pganon("guard", str(path), "--dsn", db.dsn("steward"), "--json").json
    assert [(v["release"], v["people"], v["groups"]) for v in told.get("versions", [])] == [
        ("r", 4, 1),
        ("r", 3, 1),
    ], list(told.items())
    assert [c["reason"] for c in told["crossings"]] == ["crossing"]


@pytest.mark.slow
def test_every_version_that_is_crossed_is_void(db: Database) -> None:
    """Attack: the same groups were shown twice, and only the first one is named."""
    release(db, FOUR, k=4)
    release(db, FOUR, release="again", k=4)
    found = release(db, FOUR[:3], release="less", k=3, republication="warn")
    assert found == {"r 1": "void", "again 1": "void", "less 1": "void"}


@pytest.mark.slow
def test_figures_are_held_against_the_largest_promise(db: Database) -> None:
    """A weaker version does not lower what the first one promised."""
    rows: list[Row] = [(n, n // 4, "ab"[n % 2]) for n in range(8)]
    release(db, rows, k=4)
    driver.publish(db, declared(k=2, where="id not in (0, 4)", republication="warn"))
    row = db.admin.execute(
        "select details -> 'guard' from pganon_private.ledger where event = 'released'"
        " order by id desc limit 1"
    ).fetchone()
    assert row == ({"guard_shared": 6, "guard_smallest": 1, "guard_below_k": 8},)


@pytest.mark.slow
def test_only_versions_with_the_same_people_clash(db: Database) -> None:
    """Other people's columns may have other roles."""
    rows: list[Row] = [(n, n // 2, "ab"[n % 2]) for n in range(6)]
    release(db, rows, where="id < 2", release="one")
    release(db, rows, where="id in (2, 3)", release="two")
    columns = {"q": {"role": "sensitive"}, "s": {"role": "quasi_identifying"}}
    other = {"release": "other", "columns": declared()["columns"] | columns, "where": "id >= 2"}
    release(db, rows, "role", **other)
    found = release(db, rows, **other, republication="warn")
    assert found == {"one 1": "holds", "two 1": "void", "other 1": "void"}
