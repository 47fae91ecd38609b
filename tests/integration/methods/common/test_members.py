"""What the steward remembers of records without a key."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.support.harness.cluster import Database
from tests.support.harness.driver import run
from tests.support.oracles.remembered import hashed
from tests.support.sources.builders import make_table, policy

TEXTS = ["", "a", "ab", "NULL", "é", "\\x00", '"', ",", "{a,b}", None]
REQUIRED = [{"model": "anatomy_l_diversity", "column": "s", "l": 2}]


def test_hashes_stand_for_values_and_nothing_else(db: Database) -> None:
    """No two records of different values have the same, wherever one value ends."""
    rows = [
        [one, other, number, f"s{i}"]
        for i in range(2)
        for one in TEXTS
        for other in TEXTS
        for number in (None, -1, 10**12)
    ]
    source = db.connect("source_owner")
    make_table(source, {"q": "text", "r": "text", "n": "bigint", "s": "text"}, rows)
    source.execute("ALTER TABLE public.t DROP COLUMN id")
    method = {"name": "anatomy", "block_size": 50}
    columns = {"q": "q", "r": "q", "n": "q", "s": "s"}
    staged = run(db.owner(), policy(columns, REQUIRED, method=method))
    row = db.admin.execute(
        "SELECT key FROM pganon_private.run_secret WHERE run_id = %s", [staged.state.run_id]
    ).fetchone()
    assert row is not None

    def member(published: dict[str, Any]) -> bytes:
        number = None if published["n"] is None else str(published["n"])
        return hashed(row[0], [published["q"], published["r"], number])

    known = Counter((bytes(m["member"]), m["group_id"]) for m in staged.table("members"))
    assert known == Counter((member(r), r["group_id"]) for r in staged.table("qit"))
    assert len({hash_ for hash_, _ in known}) == len(TEXTS) ** 2 * 3
