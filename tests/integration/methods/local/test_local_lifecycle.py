"""Releases in which people decide, after publication and from version to version."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.publish import lifecycle
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.integration.methods.local.test_local import (
    EXAMPLE_COLUMNS,
    EXAMPLE_MODELS,
    METHODS,
    local_policy,
    make_example,
)
from tests.support.harness.cluster import Database
from tests.support.harness.driver import loaded, refused

pytestmark = pytest.mark.primary_server_only


def release(db: Database, method: str = "lgb_mdp", **others: Any) -> Any:
    declared = local_policy(
        EXAMPLE_COLUMNS,
        EXAMPLE_MODELS,
        method={"name": method, "link_threshold": 1},
        publish={"readers": ["analyst"]},
        **others,
    )
    return run_release(loaded(declared), dsn=db.dsn("steward"), options=Options())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_what_readers_get(db: Database, method: str) -> None:
    make_example(db)
    required = ", ".join(f"ALTER {name} SET NOT NULL" for name in ("gender", "age", "zip"))
    db.connect("source_owner").execute(f"ALTER TABLE public.t {required}")
    found = release(db, method)
    assert found.version == 1
    conn = db.connect("analyst")
    rows = conn.execute("SELECT * FROM published.r").fetchall()
    assert len(rows) == 8
    columns = [
        *("group_id", "gender", "age", "age_bucket", "age_form", "zip", "zip_bucket"),
        *("zip_form", "disease_bucket"),
    ]
    named = conn.execute("SELECT * FROM published.r").description
    assert [column.name for column in named or ()] == columns
    flat = conn.execute("SELECT age_low, age_high, age_form FROM published.r_flat").fetchall()
    assert {form for *_, form in flat} == {"g", "b"}
    assert all((low is None) == (form == "b") for low, _, form in flat)
    for column in ("age", "zip", "disease"):
        text = f"SELECT min({column}_bucket), sum(count) FROM published.r_values_{column}"
        assert conn.execute(text).fetchone() == (1, {"age": 4, "zip": 2, "disease": 8}[column])
    comments = conn.execute(
        "SELECT count(*) FILTER (WHERE col_description(attrelid, attnum) IS NULL), count(*)"
        " FROM pg_attribute WHERE attrelid = 'published.r'::regclass AND attnum > 0"
    ).fetchone()
    assert comments == (0, len(columns))


@pytest.mark.slow
def test_the_guarantee_names_the_reader(db: Database) -> None:
    make_example(db)
    release(db)
    rows = db.connect("analyst").execute("SELECT details, reader, assumes FROM pganon.guarantees")
    found = rows.fetchall()
    stated = [details for details, _, _ in found]
    (k,) = [each for each in stated if each["model"] == "k_anonymity"]
    assert k["k"] == 2
    held = {e["column"]: e["l"] for e in stated if e["model"] == "local_bucket_diversity"}
    assert held == {"age": 2, "zip": 2, "disease": 2}
    for each, reader, assumes in found:
        assert reader == "who knows the quasi-identifiers of a person"
        assert "knows which columns the person hides" in assumes
        assert "knows no hidden value of anybody" in assumes
        assert each["adversary"] == ", and ".join([reader, *assumes])
        assert "learns nothing from records that show a column" in each["adversary"]


def test_verified_again_and_changed(db: Database) -> None:
    make_example(db)
    run_id = release(db).run_id
    assert all(found.holds for found in lifecycle.verify(db.owner(), "r"))
    db.admin.execute(f"UPDATE pganon_data.r{run_id}_values0 SET count = 2")
    failing = {found.model for found in lifecycle.verify(db.owner(), "r") if not found.holds}
    assert failing >= {"buckets", "local_bucket_diversity"}


@pytest.mark.slow
def test_an_unchanged_source_keeps_groups_and_buckets(db: Database) -> None:
    """So that two releases cannot be put together to tell more."""
    make_example(db)
    first = release(db)
    assert release(db).run_id == first.run_id or release(db).version == 1
    other = release(db, release="other")
    for column in ("group_id", "age_bucket", "zip_bucket", "disease_bucket"):
        one, two = (
            db.admin.execute(
                f"SELECT array_agg(member ORDER BY member) FROM pganon_private.r{run}_members"
                f" GROUP BY {column} ORDER BY 1"
            ).fetchall()
            for run in (first.run_id, other.run_id)
        )
        assert one == two, column


@pytest.mark.slow
def test_other_flags_are_another_source(db: Database) -> None:
    """Who decides otherwise changes the release; beside the earlier one it tells who did."""
    make_example(db)
    release(db)
    db.connect("source_owner").execute("UPDATE public.t SET age_private = true WHERE id IN (1, 2)")
    with refused("republication") as caught:
        release(db)
    assert getattr(caught[0], "reason", None) == "several"


@pytest.mark.parametrize("change", ["policy", "copy"])
@pytest.mark.slow
def test_no_other_groups_of_the_same_people(db: Database, change: str) -> None:
    """Buckets of two versions intersect to less than l values."""
    make_example(db)
    release(db)
    if change == "policy":
        with refused("republication"):
            release(db, "lgb_ncp")
    else:
        owner = db.connect("source_owner")
        owner.execute("CREATE TABLE public.again (LIKE public.t INCLUDING ALL)")
        owner.execute("INSERT INTO public.again SELECT * FROM public.t")
        owner.execute("GRANT SELECT ON public.again TO steward")
        with refused("republication"):
            release(db, release="other", source="public.again")


def test_a_dry_run_looks_at_who_shows_and_who_hides(db: Database) -> None:
    make_example(db)
    declared = local_policy(EXAMPLE_COLUMNS, EXAMPLE_MODELS, method={"link_threshold": 1})
    options = Options(dry_run=True)
    found = run_release(loaded(declared), dsn=db.dsn("steward"), options=options)
    assert {reason.column for reason in found.reasons} == {"gender", "age", "zip"}
    assert all(reason.decides == {} for reason in found.reasons)
