"""Attack: intersect the buckets of several releases of the same people."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.cluster import Connection, Database
from tests.support.harness.driver import refused
from tests.support.oracles.worlds import posteriors
from tests.support.sources import stays
from tests.support.sources.stays import build, published, release

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]


def diseases(conn: Connection, name: str = "stays") -> dict[int, set[Any]]:
    """What every record, known by its age, may have."""
    p = published(conn, name)
    found = zip(p.qits[-1], posteriors(p, "disease"), strict=True)
    return {row["age"]: set(shares) for row, shares in found}


def alone(*seen: dict[int, set[Any]]) -> int:
    """Records that are left with one disease by all of them."""
    return sum(len(set.intersection(*[one[age] for one in seen])) == 1 for age in seen[0])


@pytest.fixture
def source(db: Database) -> Database:
    """Ages are numbers of records, in no order, so that whoever knows an age knows the record."""
    build(db, [(n * 37 % 101, "Z", *row[2:]) for n, row in enumerate(stays.rows(90))])
    return db


def test_versions_over_one_source_say_the_same(source: Database) -> None:
    analyst = source.connect("analyst")
    seen = []
    for _ in range(2):
        release(source)
        seen.append(diseases(analyst))
    assert seen[0] == seen[1]
    assert alone(*seen) == 0


def test_versions_over_changed_records_are_refused(source: Database) -> None:
    release(source)
    before = diseases(source.connect("analyst"))
    source.source("UPDATE public.stay SET drug = 'another' WHERE id = 1", grant=False)
    with refused("republication") as errors:
        release(source)
    assert stays.SECRET not in f"{errors[0]} {errors[0].hint}"
    assert diseases(source.connect("analyst")) == before
    warned = release(source, republication="warn")
    assert any("void for who has both" in warning for warning in warned.warnings)


def test_records_that_exchange_a_value_are_changed_records(source: Database) -> None:
    """Though every column has the same values as before."""
    release(source)
    exchange = (
        "UPDATE public.stay AS a SET drug = b.drug FROM public.stay AS b"
        " WHERE a.id IN ({0}, {1}) AND b.id = {0} + {1} - a.id"
    )
    found = source.admin.execute(
        "SELECT a.id, a.id + 1 FROM public.stay AS a JOIN public.stay AS b ON b.id = a.id + 1"
        " WHERE a.drug <> b.drug ORDER BY 1 LIMIT 3"
    )
    for pair in found.fetchall():
        source.source(exchange.format(*pair), grant=False)
        with refused("republication"):
            release(source)
        source.source(exchange.format(*pair), grant=False)
    assert release(source).version == 2


def test_another_name_says_the_same(source: Database) -> None:
    analyst = source.connect("analyst")
    release(source)
    release(source, release="others")
    assert diseases(analyst, "others") == diseases(analyst)


@pytest.mark.parametrize("name", ["stays", "others"])
def test_another_policy_is_refused(source: Database, name: str) -> None:
    """Its buckets differ: both leave people with one disease."""
    analyst = source.connect("analyst")
    release(source)
    seen = diseases(analyst)
    assert alone(seen) == 0
    other: dict[str, Any] = {"privacy": stays.requirement(3), "release": name}
    with refused("republication") as errors:
        release(source, **other)
    assert getattr(errors[0], "reason", None) == "crossing"
    done = release(source, **other, republication="warn")
    assert any("void for who has both" in warning for warning in done.warnings)
    assert alone(seen, diseases(analyst, name)) > 0


def test_options_without_effect_are_no_change(source: Database) -> None:
    analyst = source.connect("analyst")
    release(source)
    seen = diseases(analyst)
    release(source, options={"link_threshold": 0.5})
    assert diseases(analyst) == seen
    with refused("republication"):
        release(source, options={"norm": 1.0})
