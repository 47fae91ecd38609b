"""Roles that come to read two versions about the same people without having been judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.privacy.base import ONE_VERSION
from pganon.run import grants
from pganon.run.grants import change_readers
from pganon.run.release import run_release
from tests.integration.methods.local.test_local import make_example
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.builders import make_table, policy
from tests.support.sources.versions import other, people_decide

KNOWN = """
    SELECT readable_by, (SELECT count(DISTINCT i.id) FROM unnest(readable_ids) AS i(id))
    FROM pganon_private.version WHERE release = 'r'
"""
COLUMNS = {"age": "q", "zip": "q", "disease": "s"}


def people(db: Database) -> None:
    rows = [[20 + n % 40, f"z{n % 7}", f"d{n % 5}"] for n in range(80)]
    make_table(db.admin, {"age": "int", "zip": "text", "disease": "text"}, rows)
    db.admin.execute("GRANT SELECT ON public.t TO steward")


def release(reader: str, **changes: Any) -> dict[str, Any]:
    return policy(
        COLUMNS,
        4,
        **{
            "trust": ["source_owner"],
            "audiences": "by_reader",
            "republication": "refuse",
            "publish": {"readers": [reader]},
            **changes,
        },
    )


def without_zip(reader: str) -> dict[str, Any]:
    document = release(reader, release="other")
    return document | {"columns": document["columns"] | {"zip": {"role": "identifying"}}}


def go(db: Database, document: dict[str, Any]) -> None:
    run_release(driver.loaded(document), dsn=db.dsn("steward"))


def two_releases(db: Database, roles: list[str]) -> Connection:
    """Each with a reader of its own; together they show too much."""
    people(db)
    go(db, release(roles[0]))
    go(db, without_zip(roles[1]))
    return db.owner()


@pytest.mark.slow
@pytest.mark.parametrize("auditor", ["nobody", "granted", "gone"])
def test_somebody_else_has_both(db: Database, roles: list[str], auditor: str) -> None:
    """By a grant of an administrator, which nobody judged."""
    conn = two_releases(db, roles)
    both = "SELECT ON published.r, published.other"
    if auditor != "nobody":
        db.admin.execute(f"GRANT {both} TO {roles[2]}".encode())
    if auditor == "gone":
        change_readers(conn, "r", add=["analyst"])  # who finds the grant
        db.admin.execute(f"REVOKE {both} FROM {roles[2]}".encode())
    with driver.refused("republication"):
        change_readers(conn, "r", add=[roles[1]])


def test_a_role_that_was_renamed_has_what_it_had(db: Database, roles: list[str]) -> None:
    """Also where somebody else has its name now, who is taken for it as well."""
    people(db)
    go(db, release(roles[0]))
    renamed = f"{roles[0]}_x"
    rename = "ALTER ROLE {} RENAME TO {}"
    db.admin.execute(rename.format(roles[0], renamed).encode())
    db.admin.execute(f"CREATE ROLE {roles[0]}".encode())
    try:
        for reader in (renamed, roles[0]):
            with driver.refused("republication"):
                go(db, without_zip(reader))
        row = db.owner().execute(KNOWN).fetchone()
        assert row == ([roles[0], renamed], 1), "names count after a restore, with other numbers"
    finally:
        db.admin.execute(f"DROP ROLE {roles[0]}".encode())
        db.admin.execute(rename.format(renamed, roles[0]).encode())


@pytest.mark.slow
def test_a_grant_is_told_by_a_run_that_only_lets_others_in(db: Database, roles: list[str]) -> None:
    people(db)
    go(db, release(roles[0], refresh="increments"))
    db.admin.execute(f"GRANT SELECT ON published.r TO {roles[2]}".encode())
    again = release(roles[0], refresh="increments", publish={"readers": roles[:2]})
    found = run_release(driver.loaded(again), dsn=db.dsn("steward"))
    assert (found.outcome, found.version) == ("unchanged", 1)
    assert f"{roles[2]} can read version 1 of r since it was published" in found.warnings


@pytest.mark.slow
def test_somebody_else_has_several_partitions(db: Database, roles: list[str]) -> None:
    make_example(db)
    driver.publish(db, people_decide(publish={"readers": roles[:1]}, audiences="by_reader"))
    driver.publish(db, other(publish={"readers": roles[1:2]}, audiences="by_reader"))
    both = f"GRANT SELECT ON published.r, published.other TO {roles[2]}"
    db.admin.execute(both.encode())
    with driver.refused("republication"):
        change_readers(db.owner(), "other", add=[roles[0]])


@pytest.mark.slow
def test_a_rollback_shows_another_version(db: Database, roles: list[str]) -> None:
    """What is refused to one who asks for the other version must not come by going back."""
    people(db)
    go(db, release(roles[0]))
    db.admin.execute("UPDATE public.t SET age = 90 - age WHERE id % 3 = 0")
    db.admin.execute("DELETE FROM public.t WHERE id = 5")
    conn = db.owner()
    change_readers(conn, "r", remove=roles[:1])
    go(db, release(roles[1]))
    with driver.refused("republication"):
        change_readers(conn, "r", add=roles[:1])
    with driver.refused("republication"):
        grants.rollback(conn, "r", 1)
    shown = conn.execute("SELECT version FROM pganon.releases WHERE release = 'r'").fetchone()
    assert shown == (2,)
    change_readers(conn, "r", remove=[roles[1]])
    assert grants.rollback(conn, "r", 1).now == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", ["added", "again"])
def test_a_role_that_was_made_again(db: Database, roles: list[str], how: str) -> None:
    """It is still listed as a reader, and others are its members now."""
    conn = two_releases(db, roles)
    one, another, _ = roles
    again = f"DROP OWNED BY {one}; DROP ROLE {one}; CREATE ROLE {one}; GRANT {one} TO {another}"
    db.admin.execute(again.encode())
    with driver.refused("republication"):
        if how == "added":
            change_readers(conn, "r", add=[one])
        else:
            go(db, release(one))


SEVERAL = {"person": {"role": "individual"}, **COLUMNS}
MODELS = [
    {"model": "k_anonymity", "k": 4},
    {"model": "distinct_l_diversity", "column": "disease", "l": 3},
]


@pytest.mark.slow
@pytest.mark.parametrize("second", ["records", "people"])
def test_records_of_a_person_in_several_groups(db: Database, second: str) -> None:
    """A person can be told by all of them, so nothing else is shown of these people."""
    rows = [[f"p{n // 3}", n * 37 % 90, n * 53 % 90, f"d{n * 7 % 6}"] for n in range(120)]
    columns = {"person": "text", "age": "int", "zip": "int", "disease": "text"}
    make_table(db.admin, columns, rows)
    db.admin.execute("GRANT SELECT ON public.t TO steward")
    accepted = {"records_per_individual": "many_accepted"}
    go(db, policy(SEVERAL, MODELS, trust=["source_owner"], **accepted))
    if second == "people":
        db.admin.execute("DELETE FROM public.t WHERE id % 3 <> substr(person, 2)::int % 3")
        accepted = {}
    without = SEVERAL | {"zip": {"role": "identifying"}}
    with driver.refused("republication"):
        go(db, policy(without, MODELS, release="other", trust=["source_owner"], **accepted))


def looked(db: Database, command: str, tmp_path: Path) -> list[str]:
    """Warnings of a command that looks."""
    name = "r"
    if command == "guard":
        name = str(tmp_path / "policy.json")
        Path(name).write_text(json.dumps(release("analyst")))
    return pganon(command, name, "--dsn", db.dsn("steward"), "--json").json["warnings"]


def promises(conn: Connection) -> dict[str, tuple[str, bool]]:
    """By release: `over_versions`, and whether readers find that one version is what counts."""
    rows = conn.execute("SELECT release, over_versions, guarantee FROM pganon_private.version")
    return {
        name: (state, all(item["over_versions"] == ONE_VERSION for item in stated))
        for name, state, stated in rows.fetchall()
    }


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "command", ["verify", pytest.param("guard", marks=SLOW), pytest.param("status", marks=SLOW)]
)
@pytest.mark.slow
def test_a_grant_by_hand_voids_what_it_joins(
    db: Database, roles: list[str], command: str, tmp_path: Path
) -> None:
    """Nobody is asked, so it cannot be refused: the next look finds it, and says so once."""
    conn = two_releases(db, roles)
    db.admin.execute(f"GRANT SELECT ON published.other TO {roles[0]}".encode())
    assert promises(conn) == {"r": ("holds", False), "other": ("holds", False)}
    assert looked(db, command, tmp_path) == [
        f"{roles[0]} can read version 1 of other since it was published",
        "the guarantees of version 1 of other and version 1 of the release r are void for who has"
        " both",
    ]
    assert promises(conn) == {"r": ("void", True), "other": ("void", True)}
    rows = conn.execute("SELECT count(*), min(reason) FROM pganon_private.crossing").fetchall()
    assert rows == [(1, "crossing")]
    assert looked(db, command, tmp_path) == []
    assert driver.leftovers(db) == []


@pytest.mark.slow
def test_a_grant_that_changes_nothing_for_its_role(
    db: Database, roles: list[str], tmp_path: Path
) -> None:
    conn = two_releases(db, roles)
    db.admin.execute(f"GRANT SELECT ON published.other TO {roles[2]}".encode())
    assert looked(db, "verify", tmp_path) == [
        f"{roles[2]} can read version 1 of other since it was published"
    ]
    assert promises(conn) == {"r": ("holds", False), "other": ("holds", False)}


@pytest.mark.parametrize("how", ["readers", pytest.param("renewal", marks=SLOW)])
@pytest.mark.slow
def test_no_change_of_readers_hides_a_grant(db: Database, roles: list[str], how: str) -> None:
    """Attack: what is done to a release remembers its readers, and so must judge them."""
    conn = two_releases(db, roles)
    db.admin.execute(f"GRANT SELECT ON published.other TO {roles[0]}".encode())
    if how == "readers":
        warnings = change_readers(conn, "other", remove=[roles[1]]).warnings
    else:
        again = driver.loaded(without_zip(roles[1]))
        warnings = run_release(again, dsn=db.dsn("steward")).warnings
    assert any("are void for who has both" in text for text in warnings)
    assert promises(conn)["r"] == ("void", True)


def merged(reader: str) -> dict[str, Any]:
    """All people in one group, which is a union of any others."""
    found = release(reader, release="other")
    return {**found, "privacy": [{"model": "k_anonymity", "k": 80}]}


@pytest.mark.parametrize("how", ["added", pytest.param("granted", marks=SLOW)])
@pytest.mark.slow
def test_a_reader_of_a_finer_version_gains_a_coarser_one(
    db: Database, roles: list[str], how: str, tmp_path: Path
) -> None:
    """He learns nothing from it, and its bounds are not his."""
    people(db)
    go(db, release(roles[0]))
    go(db, merged(roles[1]))
    conn = db.owner()
    assert promises(conn)["other"] == ("holds", False)
    if how == "added":
        change_readers(conn, "other", add=[roles[0]])
    else:
        db.admin.execute(f"GRANT SELECT ON published.other TO {roles[0]}".encode())
        looked(db, "status", tmp_path)
    assert promises(conn) == {"r": ("holds", False), "other": ("finer", False)}
    with driver.refused("republication") as errors:
        change_readers(conn, "r", add=[roles[1]])
    assert errors[0].reason == "finer"  # pyright: ignore


@pytest.mark.slow
def test_everybody_gains_what_one_role_must_not_have(db: Database, roles: list[str]) -> None:
    conn = two_releases(db, roles)
    with driver.refused("republication"):
        change_readers(conn, "other", add=["public"])


@SLOW
def test_a_role_gains_the_next_version(db: Database, roles: list[str]) -> None:
    """It had the first; what it has not is the second, with a person less."""
    people(db)
    go(db, release(roles[0]))
    db.admin.execute("DELETE FROM public.t WHERE id = 5")
    conn = db.owner()
    change_readers(conn, "r", add=[roles[1]], remove=[roles[0]])
    change_readers(conn, "r", remove=[roles[1]])
    go(db, release(roles[2]))
    for role in roles[:2]:
        with driver.refused("republication"):
            change_readers(conn, "r", add=[role])
    with driver.refused("republication"):
        grants.rollback(conn, "r", 1)
