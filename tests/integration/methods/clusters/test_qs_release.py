"""Releases of QS k-anonymity: what is published and measured, by the oracle."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import event, given

from pganon.errors import PreconditionError, PrivacyRefusal
from tests.support.harness.driver import Connection, Staged, drop_leftovers, run
from tests.support.harness.examples import examples
from tests.support.oracles.qs import (
    Cluster,
    Combinations,
    Published,
    constants,
    gcp,
    ncp_total,
    product,
    reachable,
    supported,
    verify,
)
from tests.support.sources.builders import KINDS, make_table
from tests.support.sources.qs_runs import (
    METHODS,
    Table,
    clustered,
    expected_clusters,
    kinds_of,
    members,
    tables,
)

pytestmark = pytest.mark.primary_server_only

SETTINGS = examples(2)
INTEGER, NUMERIC, NOMINAL, TREE = (
    next(kind for kind in KINDS if kind.name == name)
    for name in ("integer", "numeric", "nominal", "tree")
)


# -- random tables -----------------------------------------------------------------------------


@pytest.mark.random_tables
@pytest.mark.slow
def test_random_tables(db: Any) -> None:
    source, owner = db.connect("source_owner"), db.owner()

    @SETTINGS
    @given(tables())
    def holds(table: Table) -> None:
        check(source, owner, table)

    holds()


def check(source: Connection, owner: Connection, table: Table) -> None:
    make_table(source, table.columns, table.rows)
    drop_leftovers(owner)
    try:
        staged = run(owner, table.policy)
    except PrivacyRefusal as refusal:
        check_refusal(refusal, table)
        event(str(refusal.code))
        return
    except PreconditionError as refusal:
        check_uniform(refusal, table)
        event(str(refusal.code))
        return
    event(f"{table.policy['method']['name']}, {staged.facts['blocks']} blocks")
    found = members(staged)
    assert sorted(itertools.chain(*found.values())) == table.kept
    assert kinds_of(list(found.values()), table) == kinds_of(
        expected_clusters(staged, table), table
    )
    check_published(staged, table, found)
    check_utility(staged.utility, table, list(found.values()))


def check_refusal(refusal: PrivacyRefusal, table: Table) -> None:
    """Refused only where nothing satisfies the requirement."""
    if not table.kept:
        assert refusal.code == "all_suppressed"
        return
    assert refusal.code == "infeasible"
    condition = table.condition()
    asked = table.requirement
    best = reachable(table.kept, condition.sets, asked["count"], condition.known)
    lacking = [(name, n) for name, n in best.items() if n < asked["k"]]
    if lacking:
        name, most = lacking[0]
        assert str(refusal).startswith(
            f'QS set "{name}" has only {most} value combinations in {len(table.kept)} records;'
            f" k = {asked['k']} cannot be reached"
        )
    else:
        assert not condition.holds(table.kept)
        assert "min_values" in str(refusal)


def check_uniform(refusal: PreconditionError, table: Table) -> None:
    """Refused only where a block of the quadratic method would be far too large."""
    assert refusal.code == "blocks_too_uniform"
    method = table.policy["method"]
    width = len(table.kinds)
    different = len({tuple(table.rows[record - 1][:width]) for record in table.kept})
    assert method["name"] == "qs_greedy"
    assert different > 8 * method["block_size"]


def check_published(staged: Staged, table: Table, found: dict[int, list[int]]) -> None:
    """Arrays hold the values of the members and nothing else, bags those of every member."""
    names = list(table.kinds)
    rows = {row["cluster_no"]: row for row in staged.table("clusters")}
    assert sorted(rows) == sorted(found) == list(range(1, len(found) + 1))
    for number, cluster in found.items():
        held = [table.rows[record - 1] for record in cluster]
        row = rows[number]
        assert row["size"] == len(cluster)
        for i, name in enumerate(names):
            assert set(row[name]) == {values[i] for values in held}
        assert Counter(row["bag"]) == Counter(values[-1] for values in held)
    published = [
        Published(number, {name: row[name] for name in names}, row["size"])
        for number, row in rows.items()
    ]
    asked = table.requirement
    known = combinations(table) if asked["count"] == "supported" else None
    assert (
        verify(published, table.names, len(table.kept), asked["k"], asked["min_values"], known)
        == []
    )
    (requirement,) = staged.verified("qs_k_anonymity")[:1]
    condition = table.condition()
    assert requirement == min(
        condition.counted(cluster, name) for name in table.names for cluster in found.values()
    )


def combinations(table: Table) -> Combinations:
    """Those of the records that are kept, as they are published."""
    names = list(table.kinds)
    return {
        s: {tuple(table.rows[r - 1][names.index(name)] for name in held) for r in table.kept}
        for s, held in table.names.items()
    }


def check_utility(utility: Any, table: Table, clusters: Sequence[Cluster]) -> None:
    condition = table.condition()
    sets = condition.sets
    assert math.isclose(utility.gcp, gcp(clusters, sets), abs_tol=1e-9)
    suppressed = len(table.rows) - len(table.kept)
    total = ncp_total(clusters, sets) + suppressed * len(table.kinds)
    assert math.isclose(utility.ncp_total, total, abs_tol=1e-9)
    assert utility.constants == constants(clusters, sets)
    sizes = sorted(map(len, clusters))
    assert (utility.clusters, utility.smallest_cluster) == (len(sizes), sizes[0])
    assert (utility.mean_cluster, utility.largest_cluster) == (sum(sizes) / len(sizes), sizes[-1])
    for name, qs_set in sets.items():
        check_counts(utility.product[name], [product(c, qs_set) for c in clusters])
        known = condition.known[name]
        check_counts(utility.supported[name], [supported(c, qs_set, known) for c in clusters])


def check_counts(measured: Any, counted: list[int]) -> None:
    ordered = sorted(counted)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    assert (measured.least, measured.most, measured.median) == (ordered[0], ordered[-1], middle)
    assert math.isclose(measured.mean, sum(counted) / len(counted))


# -- blocks ------------------------------------------------------------------------------------


def many(size: int, seed: int) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    return [
        (
            rng.randrange(30),
            rng.choice(["a", "b", "c", None]),
            Decimal(rng.randrange(50)) / 4,
            rng.choice("abcdefgh"),
            rng.randrange(4),
        )
        for _ in range(size)
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("k", "count"), [(3, "supported"), (12, "product"), (7, "supported")])
def test_blocks(db: Any, method: str, k: int, count: str) -> None:
    kinds = dict(zip(("a", "b", "c", "d"), (INTEGER, NOMINAL, NUMERIC, TREE), strict=True))
    sets = {"one": ["a", "b"], "two": ["c", "d"]}
    rows = [(*row[:3], row[3] if row[3] in "abcdef" else None, row[4]) for row in many(200, k)]
    declared = clustered(
        sets,
        k,
        {"d": {**TREE.policy}, "bag": {"role": "insensitive"}},
        method={"name": method, "block_size": 8},
        count=count,
    )
    for name in kinds:
        declared["columns"][name]["nulls"] = "as_value"
    table = Table(kinds, sets, rows, declared)
    make_table(db.connect("source_owner"), table.columns, rows)
    staged = run(db.owner(), declared)
    pieces = -(-staged.facts["cells"] // 8)
    # The pieces of the stricter requirements do not all reach it.
    assert 3 < staged.facts["blocks"] <= pieces
    assert (staged.facts["blocks"] < pieces) == (k > 3)
    found = members(staged)
    assert kinds_of(list(found.values()), table) == kinds_of(
        expected_clusters(staged, table), table
    )
    check_published(staged, table, found)
    check_utility(staged.utility, table, list(found.values()))
