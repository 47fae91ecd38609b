"""A public table in the policy: only its combinations count, and a cluster needs k of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import psycopg
import pytest

from pganon.errors import PolicyError
from tests.support.harness.driver import leftovers, publish, refused
from tests.support.sources.builders import make_table

YEARS, COLOURS = range(2000, 2006), ["black", "blue", "white", None]
RECORDS = [[year, colour, year % 4, f"z{n % 5}"] for n, (year, colour) in
           enumerate(product(YEARS, COLOURS))]  # fmt: skip


def _policy(k: int, method: str = "qs_greedy", **others: Any) -> dict[str, Any]:
    return {
        "release": "r",
        "source": "public.t",
        "columns": {
            "year": {"role": "quasi_sensitive", "set": "vehicle"},
            "colour": {"role": "quasi_sensitive", "set": "vehicle"},
            "hour": {"role": "quasi_sensitive", "set": "sighting"},
            "zone": {"role": "quasi_sensitive", "set": "sighting"},
        },
        "privacy": [{"model": "qs_k_anonymity", "k": k, "public": {"vehicle": "public.reg"}}],
        "method": {"name": method},
        **others,
    }


def _tables(db: Any, registered: list[list[Any]], kind: str = "integer") -> psycopg.Connection[Any]:
    source = db.connect("source_owner")
    make_table(source, {"year": "integer", "colour": "text", "hour": "integer", "zone": "text"},
               RECORDS)  # fmt: skip
    make_table(source, {"year": kind, "colour": "text"}, registered, name=("public", "reg"))
    return source


@pytest.mark.parametrize("method", ["qs_greedy", "qs_efficient"])
def test_clusters_have_k_combinations_of_the_public_table(db: Any, method: str) -> None:
    # Every second combination is registered; 1990 and green occur in no record.
    registered = [[y, c] for n, (y, c) in enumerate(product(YEARS, COLOURS)) if n % 2]
    registered += [[1990, "black"], [2000, "green"], [2001, None]]
    _tables(db, [*registered, *registered])
    result = publish(db, _policy(3, method))
    known = {(y, c) for y, c in registered}
    rows = db.connect("steward").execute("SELECT year, colour, size FROM published.r").fetchall()
    counts = [len(known & set(product(years, colours))) for years, colours, _ in rows]
    assert sum(size for *_, size in rows) == len(RECORDS)
    assert min(counts) >= 3
    assert result.utility.supported["vehicle"].least == min(counts)
    assert result.verified[1].measured >= 3


@pytest.mark.slow
def test_fewer_registered_combinations_need_larger_clusters(db: Any) -> None:
    _tables(db, [[y, c] for y, c in product(YEARS, COLOURS)])
    many = publish(db, _policy(3)).utility.clusters
    _tables(db, [[2000, "black"], [2003, "blue"], [2005, "white"]])
    few = publish(db, _policy(3, republication="allow")).utility
    assert few.clusters < many
    assert few.product["vehicle"].least >= 9  # three years and three colours at least


@pytest.mark.slow
def test_fewer_registered_combinations_tell_nothing_more_of_the_same_clusters(db: Any) -> None:
    """Whoever has the public table has it for the version before, too: what a cluster loses by it
    is no news."""
    source = _tables(db, [[y, c] for y, c in product(YEARS, COLOURS)])
    whole = _policy(18, republication="refuse")  # one cluster of everybody
    assert publish(db, whole).utility.supported["vehicle"].least == 24
    source.execute("DELETE FROM public.reg WHERE year = 2000")
    second = publish(db, whole)
    assert second.utility.supported["vehicle"].least == 20
    assert second.version == 2
    source.execute("DELETE FROM public.reg WHERE year = 2001")
    with refused("infeasible"):
        publish(db, whole)
    # Somebody leaves: the others are told apart.
    source.execute("DELETE FROM public.t WHERE id = 1")
    with refused("republication"):
        publish(db, _policy(4, republication="refuse"))


def test_what_the_public_table_cannot_reach_is_refused(db: Any) -> None:
    _tables(db, [[2000, "black"], [2003, "blue"], [2100, "blue"]])
    with refused("infeasible") as caught:
        publish(db, _policy(3))
    assert 'QS set "vehicle" has only 2 value combinations in 24 records; k = 3' in str(caught[0])
    assert leftovers(db) == []
    _tables(db, [[2100, "blue"]])
    with refused("infeasible") as caught:
        publish(db, _policy(1))
    assert "name a public table with combinations that the records have" in (caught[0].hint or "")


def test_a_public_table_that_does_not_fit_is_refused_with_all_problems(db: Any) -> None:
    source = _tables(db, [["2000", "black"]], kind="text")
    source.execute("ALTER TABLE public.reg RENAME colour TO color")
    with pytest.raises(PolicyError) as raised:
        publish(db, _policy(3))
    text = str(raised.value)
    assert "public.reg has no column colour" in text
    assert "column year is integer in public.t and text in public.reg" in text


def test_a_public_table_that_is_missing_or_closed_is_refused(db: Any) -> None:
    source = _tables(db, [[2000, "black"]])
    source.execute("REVOKE SELECT ON public.reg FROM PUBLIC, steward")
    with refused("source_privilege"):
        publish(db, _policy(3))
    source.execute("DROP TABLE public.reg")
    with refused("source_missing"):
        publish(db, _policy(3))
    assert leftovers(db) == []
