"""Attack: a key in another spelling that its type calls equal makes another person of one."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pganon.errors import PolicyError
from tests.support.harness.cluster import Database
from tests.support.harness.driver import publish, refused
from tests.support.sources.builders import make_table, policy

HAVE_SPELLINGS = {
    "interval": ("1 day", "24 hours"),
    "jsonb": ("1", "1.0"),
    "json": ("1", "1.0"),
    "numrange": ("[1,2]", "[1.0,2.00]"),
    "numeric[]": ("{1}", "{1.0}"),
    "point": ("(0,1)", "(-0,1)"),
    "public.pair": ("(1,2)", "(1.0,2)"),
    "public.of_interval": ("1 day", "24 hours"),
}
TYPES = """
    CREATE TYPE public.pair AS (a numeric, b numeric);
    CREATE DOMAIN public.of_interval AS interval
"""
ALIKE = {
    "integer": ("1", "01"),
    "numeric": ("1", "1.00"),
    "float8": ("0", "-0"),
    "char(4)": ("a", "a "),
    "timestamptz": ("2020-01-01 00:00+00", "2020-01-01 01:00+01"),
    "uuid": ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
    "bytea": ("a", "\\x61"),
    "inet": ("10.0.0.1", "10.0.0.1/32"),
    "public.of_numeric": ("1", "1.00"),
}
MODELS = [
    {"model": "k_anonymity", "k": 2},
    {"model": "distinct_l_diversity", "column": "s", "l": 2},
]


def _table(db: Database, key: dict[str, str], rows: list[list[Any]]) -> None:
    make_table(db.connect("source_owner"), {**key, "q": "integer", "s": "text"}, rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", HAVE_SPELLINGS)
def test_types_with_spellings_tell_nobody_apart(db: Database, kind: str) -> None:
    """One person, once as each spelling, would fill a class of two."""
    db.source(TYPES)
    rows = [
        [spelling, 1, disease] for spelling, disease in zip(HAVE_SPELLINGS[kind], "ab", strict=True)
    ]
    _table(db, {"p": kind}, rows)
    with pytest.raises(PolicyError, match="spelled differently") as caught:
        publish(db, policy({"p": "individual", "q": "q", "s": "s"}, MODELS))
    assert "column p is " in str(caught.value)
    if kind in ("json", "point"):
        return  # these have no index
    db.source(
        "ALTER TABLE public.t DROP CONSTRAINT t_pkey;"
        "DELETE FROM public.t WHERE s = 'b'; ALTER TABLE public.t ADD PRIMARY KEY (p)"
    )
    with pytest.raises(PolicyError, match="spelled differently") as caught:
        publish(db, policy({"q": "q", "s": "s"}, MODELS))
    assert "declare `individual`" in str(caught.value)


@pytest.mark.slow
def test_a_key_that_tells_nobody_apart_may_tell_records(db: Database) -> None:
    rows = [[f"{n} days", n // 4, "ab"[n % 2]] for n in range(8)]
    _table(db, {"p": "interval"}, rows)
    db.source(
        "ALTER TABLE public.t DROP CONSTRAINT t_pkey; ALTER TABLE public.t ADD PRIMARY KEY (p)"
    )
    assert publish(db, policy({"id": "individual", "q": "q", "s": "s"}, MODELS)).released == 8


@pytest.mark.slow
def test_rewritten_keys_are_the_same_people(db: Database) -> None:
    """All types at once: every column of the key is written anew."""
    db.source("CREATE DOMAIN public.of_numeric AS numeric")
    types = {f"p{i}": kind for i, kind in enumerate(ALIKE)}
    rows = [[*(a for a, _ in ALIKE.values()), n // 4, "ab"[n % 2]] for n in range(8)]
    _table(db, types, rows)
    columns = dict.fromkeys(types, "identifying")
    declared = policy(
        {**columns, "id": "identifying", "q": "q", "s": "s"},
        MODELS,
        individual=[*types, "id"],
        republication="refuse",
        trust=["source_owner"],
    )
    publish(db, declared)
    spelled = ", ".join(f"p{i} = '{b}'::{kind}" for i, (kind, (_, b)) in enumerate(ALIKE.items()))
    db.source(f"UPDATE public.t SET {spelled}, s = translate(s, 'ab', 'ba')")
    with refused("republication") as caught:
        publish(db, declared)
    # Other people would be new.
    assert getattr(caught[0], "reason", None) == "changed"


@pytest.mark.slow
def test_a_primary_key_of_a_collation_that_ignores_case(db: Database) -> None:
    try:
        db.source(
            "CREATE COLLATION public.ci"
            " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("the server was built without ICU")
    _table(db, {"p": "text COLLATE public.ci"}, [[f"p{n}", n // 4, "ab"[n % 2]] for n in range(8)])
    db.source(
        "ALTER TABLE public.t DROP CONSTRAINT t_pkey; ALTER TABLE public.t ADD PRIMARY KEY (p)"
    )
    with pytest.raises(PolicyError, match=r"source: column p has the collation public\.ci"):
        publish(db, policy({"q": "q", "s": "s"}, MODELS))


@pytest.mark.slow
def test_citext_is_told_apart_as_the_type_does(db: Database) -> None:
    """In the collation of the database, whatever that of the column."""
    if not db.admin.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'").rowcount:
        pytest.skip("the server has no citext")
    db.admin.execute("CREATE EXTENSION citext SCHEMA public")
    kind = 'public.citext COLLATE "und-x-icu"'
    same = db.admin.execute("SELECT 'Ä'::public.citext = 'ä'::public.citext").fetchone()
    _table(db, {"p": kind}, [["Ä", 1, "a"], ["ä", 1, "b"], ["c", 1, "a"], ["d", 1, "b"]])
    declared = policy({"p": "individual", "q": "q", "s": "s"}, MODELS)
    if same == (True,):
        with refused("several_records_per_individual"):
            publish(db, declared)
    else:
        assert publish(db, declared).released == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "listed"), [("uuid", "text"), ("timestamptz", "date"), ("float8", "numeric")]
)
def test_people_who_objected_under_another_type_are_not_missed(
    db: Database, kind: str, listed: str
) -> None:
    _table(db, {"p": kind}, [])
    db.source(f"CREATE TABLE public.objections (p {listed})")
    declared = policy(
        {"p": "individual", "q": "q", "s": "s"}, MODELS, exclude={"relation": "public.objections"}
    )
    with pytest.raises(PolicyError, match=r"column p is .* in public\.objections"):
        publish(db, declared)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "listed"), [("integer", "numeric"), ("char(4)", "text")])
def test_people_who_objected_under_a_type_with_the_same_texts(
    db: Database, kind: str, listed: str
) -> None:
    _table(db, {"p": kind}, [[n, n // 4, "ab"[n % 2]] for n in range(8)])
    value = "3.00" if listed == "numeric" else "3"
    db.source(f"CREATE TABLE public.objections AS SELECT '{value}'::{listed} AS p")
    declared = policy(
        {"p": "individual", "q": "q", "s": "s"}, MODELS, exclude={"relation": "public.objections"}
    )
    assert publish(db, declared).released == 7
