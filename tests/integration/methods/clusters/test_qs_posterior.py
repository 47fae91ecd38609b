"""What k candidates leave to a reader who knows which combinations exist."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.driver import fetch, publish, refused
from tests.support.sources.builders import make_table
from tests.support.sources.qs_runs import METHODS, clustered

LEFT, RIGHT = list("abcde"), list("fghij")
BITS = dict.fromkeys([*LEFT, *RIGHT], "integer")


def sizes(db: Any) -> list[int]:
    return [row["size"] for row in fetch(db.owner(), sql.SQL("SELECT size FROM published.r"))]


def promised(db: Any) -> dict[str, Any]:
    """The guarantee that readers see."""
    (row,) = fetch(
        db.owner(),
        sql.SQL("SELECT jsonb_agg(details ORDER BY position) AS guarantee FROM pganon.guarantees"),
    )
    (found,) = row["guarantee"]
    return found


def worst(existing: set[tuple[Any, ...]], shown: list[set[Any]], size: int) -> Fraction:
    """Highest share of a combination for the first record, over all worlds that fit."""
    fitting = [c for c in existing if all(v in s for v, s in zip(c, shown, strict=True))]
    values = [(place, value) for place, column in enumerate(shown) for value in column]

    def ways(needed: list[tuple[int, Any]], records: int) -> int:
        """Of records that have all that is needed, by inclusion and exclusion."""
        return sum(
            (-1) ** left * sum(all(c[p] != v for p, v in without) for c in fitting) ** records
            for left in range(len(needed) + 1)
            for without in itertools.combinations(needed, left)
        )

    most = max(ways([(p, v) for p, v in values if c[p] != v], size - 1) for c in fitting)
    return Fraction(most, ways(values, size))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_few_records_do_not_hide_behind_many_combinations(db: Any, method: str) -> None:
    """Two opposite records have all values of five bits, and no other two records do."""
    every = list(itertools.product((0, 1), repeat=5))
    rows = [bits * 2 for bits in [every[0], every[31], *every[1:15]]]
    make_table(db.connect("source_owner"), BITS, rows)
    for block_size in (2, 1000):  # a piece of two records could be no cluster
        options = {"name": method, "block_size": block_size}
        publish(db, clustered({"x": LEFT, "y": RIGHT}, 8, method=options))
        assert min(sizes(db)) >= 8


@pytest.mark.parametrize("method", METHODS)
def test_posteriors_of_small_clusters(db: Any, method: str) -> None:
    """As they follow from what is published, and from the combinations of the source."""
    names = ["year", "colour", "zone", "hour"]
    rows = [(n * 7 % 5, f"c{n % 3}", f"z{n * 5 % 4}", n * 11 % 3) for n in range(24)]
    make_table(
        db.connect("source_owner"),
        dict(zip(names, ("integer", "text", "text", "integer"), strict=True)),
        rows,
    )
    sets = {"vehicle": names[:2], "sighting": names[2:]}
    result = publish(db, clustered(sets, 3, method=method))
    shown = fetch(db.owner(), sql.SQL("SELECT * FROM published.r"))
    for place, (name, attributes) in enumerate(sets.items()):
        existing = {row[2 * place : 2 * place + 2] for row in rows}
        expected = max(
            worst(existing, [set(row[a]) for a in attributes], row["size"]) for row in shown
        )
        found = result.utility.posterior[name]
        assert found.worst == pytest.approx(float(expected))
        assert len([row for row in shown if row["size"] <= 5]) <= found.clusters <= len(shown)
        assert f"posterior {name}" in result.utility.summary()
    assert (promised(db)["size"], promised(db)["bounds"]) == (3, "candidates")


def test_products_bound_a_probability_and_no_size(db: Any) -> None:
    rows = [(n % 2, n // 2 % 2, n % 2, n // 2 % 2) for n in range(8)]
    make_table(db.connect("source_owner"), dict.fromkeys("abcd", "integer"), rows)
    result = publish(db, clustered({"x": ["a", "b"], "y": ["c", "d"]}, 4, count="product"))
    assert result.utility.posterior == {}
    assert (promised(db)["size"], promised(db)["bounds"]) == (1, "probability")


def test_fewer_records_than_k(db: Any) -> None:
    """The public tables have combinations enough, but no cluster could have k records."""
    source = db.connect("source_owner")
    make_table(
        source, dict.fromkeys("abcd", "integer"), [(1, 2, 1, 2), (2, 1, 2, 1), (None, 1, 1, 1)]
    )
    known = list(itertools.product((1, 2), repeat=2))
    make_table(source, dict.fromkeys("ab", "integer"), known, name=("public", "ab"))
    make_table(source, dict.fromkeys("cd", "integer"), known, name=("public", "cd"))
    nulls = {"a": {"nulls": "suppress"}}
    policy = clustered({"x": ["a", "b"], "y": ["c", "d"]}, 3, nulls, suppression_limit=0.5)
    policy["privacy"][0]["public"] = {"x": "public.ab", "y": "public.cd"}
    with refused("infeasible") as caught:
        publish(db, policy)
    assert str(caught[0]).startswith("there are only 2 records; k = 3 cannot be reached")
    policy["privacy"][0]["k"] = 2
    publish(db, policy)
    assert sizes(db) == [2]
