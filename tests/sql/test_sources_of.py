"""pganon.sources_of: where the rows of a relation come from."""

from __future__ import annotations

import pytest

from tests.support.harness.cluster import Database

MADE = """
CREATE SCHEMA "s ""x";
CREATE TABLE public.t (a integer);
CREATE TABLE "s ""x"."T.t" (a integer);
CREATE VIEW public.one AS SELECT t.a FROM public.t;
CREATE VIEW public.two AS SELECT o.a FROM public.one AS o, "s ""x"."T.t" AS x
    WHERE EXISTS (SELECT FROM pg_class);
CREATE MATERIALIZED VIEW public.three AS SELECT * FROM public.two;
CREATE TABLE public.whole (a integer) PARTITION BY LIST (a);
CREATE TABLE public.part PARTITION OF public.whole DEFAULT;
CREATE TABLE public.child () INHERITS (public.t);
CREATE FUNCTION public.f() RETURNS SETOF integer LANGUAGE sql BEGIN ATOMIC
    SELECT a FROM public.whole; END;
CREATE FUNCTION public.g() RETURNS SETOF integer LANGUAGE sql BEGIN ATOMIC SELECT public.f(); END;
CREATE VIEW public.four AS SELECT * FROM public.g() AS a;
CREATE TABLE public.log (a integer);
CREATE RULE noted AS ON INSERT TO public.t DO ALSO INSERT INTO public.log VALUES (new.a);
CREATE SEQUENCE public.counter;
CREATE VIEW public.own AS SELECT last_value AS a FROM public.counter;
"""
T = ['"public"."child"', '"public"."t"']
BELOW = {
    "public.t": T,
    "public.child": ['"public"."child"'],
    "public.one": ['"public"."child"', '"public"."one"', '"public"."t"'],
    "public.two": [*T[:1], '"public"."one"', *T[1:], '"public"."two"', '"s ""x"."T.t"'],
    "public.whole": ['"public"."part"', '"public"."whole"'],
    "public.part": ['"public"."part"'],
    "public.four": ['"public"."four"', '"public"."part"', '"public"."whole"'],
    "public.own": ['"public"."own"'],
}


def test_sources(db: Database) -> None:
    db.source(MADE, grant=False)
    conn = db.owner()
    for name, expected in BELOW.items():
        found = conn.execute("SELECT pganon.sources_of(to_regclass(%s))", [name]).fetchone()
        assert found == (expected,), name
    three = conn.execute("SELECT pganon.sources_of('public.three'::regclass)").fetchone()
    assert three is not None
    assert set(three[0]) == {*BELOW["public.two"], '"public"."three"'}


@pytest.mark.primary_server_only
def test_nothing(db: Database) -> None:
    assert db.owner().execute("SELECT pganon.sources_of(NULL)").fetchone() == (None,)
    assert db.owner().execute("SELECT pganon.sources_of(1)").fetchone() == (None,)
