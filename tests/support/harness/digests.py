"""Who the people are that a published version remembers by digests."""

from __future__ import annotations

from typing import Any

from psycopg import sql

from tests.support.harness.cluster import Database

_PEOPLE = """
    SELECT encode(substr(sha256(o.secret || convert_to(k.key, 'UTF8')), 1, 16), 'hex')::uuid, k.key
    FROM pganon_private.run_secret AS s JOIN pganon_private.population AS o ON o.id = s.population
    CROSS JOIN (SELECT DISTINCT {key}::text AS key FROM {table}) AS k
    WHERE s.run_id = %s AND k.key IS NOT NULL
"""


def keys(db: Database, run_id: int, key: str, table: tuple[str, str]) -> dict[Any, str]:
    """Texts of the values of a column, by their digests in the version that a run published."""
    text = sql.SQL(_PEOPLE).format(key=sql.Identifier(key), table=sql.Identifier(*table))
    return dict(db.admin.execute(text, [run_id]).fetchall())


def members(
    db: Database, run_id: int, group: str, *, key: str = "id", table: tuple[str, str]
) -> list[tuple[str, int]]:
    """The key of everybody whom the version released, with a group."""
    known = keys(db, run_id, key, table)
    text = sql.SQL("SELECT m.member, m.{} FROM {} AS m WHERE m.marks IS NOT NULL").format(
        sql.Identifier(group), sql.Identifier("pganon_private", f"r{run_id}_members")
    )
    return [(known[member], number) for member, number in db.admin.execute(text).fetchall()]
