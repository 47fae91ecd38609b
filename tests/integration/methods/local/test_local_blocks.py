"""Groups and their numbers are the same, however many are cut by rounds in SQL and in Python."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.methods.local import medians
from tests.integration.methods.local.test_local_random import ROLES, table
from tests.support.harness.cluster import Database
from tests.support.harness.driver import drop_leftovers, run
from tests.support.sources.local import build, diverse, policy

pytestmark = pytest.mark.primary_server_only


def released(db: Database, seed: int, block: int, patch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """Who is in which group, what groups show, and in how many blocks they were cut."""
    patch.setattr(medians, "BLOCK", block)
    conn = db.owner()
    drop_leftovers(conn)
    method = {"name": "lgb_mdp", "ineligible": "withhold"}
    principles = [diverse(name, 2) for name in ("x", "y", "s")]
    settings = {"on_infeasible": "suppress", "suppression_limit": 0.9}
    staged = run(conn, policy(table(seed), method, 2, principles, ROLES, **settings))
    members = {str(row["member"]): row["group_id"] for row in staged.table("members")}
    groups = sorted(map(str, staged.table("groups")))
    return members, groups, staged.facts["cut_rounds"], staged.facts["blocks"]


@pytest.mark.parametrize(
    "seed", [0, *[pytest.param(n, marks=pytest.mark.slow) for n in range(1, 6)]]
)
def test_blocks_do_not_matter(db: Database, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    build(db, table(seed), ROLES)
    members, groups, _, blocks = released(db, seed, 1, monkeypatch)
    assert blocks == 0
    most = 0
    for size in (5, 12, 250_000):
        *found, rounds, blocks = released(db, seed, size, monkeypatch)
        assert found == [members, groups]
        most = max(most, blocks)
    assert rounds == 1
    assert most > 1
