"""Attack: code of other roles in what a policy names, run with the rights of the steward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pganon
from pganon.catalog.code import reading
from pganon.catalog.model import ExternalObjects
from pganon.identifiers import QualifiedName
from pganon.loading import policy_from
from pganon.policy.loader import LoadedPolicy
from pganon.run.context import plan_release
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness.cli import pganon as command
from tests.support.harness.driver import leftovers, publish, refused
from tests.support.sources.builders import policy

pytestmark = pytest.mark.slow

# What runs as anybody else than its owner leaves a trace outside of the transaction: a number.
SETUP = """
CREATE SEQUENCE public.calls;
GRANT ALL ON SEQUENCE public.calls TO PUBLIC;
CREATE FUNCTION public.evil(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
    $$BEGIN
        IF current_user <> 'source_owner' THEN PERFORM nextval('public.calls'); END IF;
        RETURN $1;
    END$$;
CREATE FUNCTION public.group_of(text, integer) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN PERFORM public.evil(1); RETURN '*'; END$$;
CREATE TABLE public.base (q integer NOT NULL, s text);
INSERT INTO public.base SELECT n % 4, n % 3 FROM generate_series(1, 24) AS n;
"""
COPY = "CREATE TABLE public.t AS SELECT * FROM public.base;"
SOURCES = {
    "view": ("CREATE VIEW public.t AS SELECT * FROM public.base;", "view public.t"),
    "function in a view": (
        "CREATE VIEW public.t AS SELECT public.evil(q) AS q, s FROM public.base;",
        "function public.evil(integer)",
    ),
    "view below a view": (
        "CREATE VIEW public.v AS SELECT public.evil(q) AS q, s FROM public.base;"
        "CREATE VIEW public.t AS SELECT * FROM public.v;",
        "view public.v",
    ),
    "operator in a view": (
        "CREATE OPERATOR public.~~~ (FUNCTION = public.evil, RIGHTARG = integer);"
        "CREATE VIEW public.t AS SELECT (OPERATOR(public.~~~) q) AS q, s FROM public.base;",
        "operator public.~~~(NONE,integer)",
    ),
    "aggregate in a view": (
        "CREATE FUNCTION public.step(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE"
        " AS 'SELECT public.evil($2)';"
        "CREATE AGGREGATE public.last(integer) (SFUNC = public.step, STYPE = integer);"
        "CREATE VIEW public.t AS SELECT public.last(q) AS q, s FROM public.base GROUP BY q, s;",
        "function public.step(integer,integer)",
    ),
    "cast to a domain in a view": (
        "CREATE DOMAIN public.d AS integer CHECK (public.evil(VALUE) IS NOT NULL);"
        "CREATE VIEW public.t AS SELECT q::public.d AS q, s FROM public.base;",
        "type public.d",
    ),
    "predicate of an index": (
        COPY + "CREATE INDEX ON public.t (q) WHERE public.evil(1) = 1;",
        "function public.evil(integer)",
    ),
    "expression of an index": (
        COPY + "CREATE INDEX ON public.t (public.evil(q));",
        "function public.evil(integer)",
    ),
    "statistics": (
        COPY + "CREATE STATISTICS public.x ON (q + public.evil(1)), s FROM public.t;",
        "function public.evil(integer)",
    ),
    "check of the table": (
        COPY + "ALTER TABLE public.t ADD CHECK (q >= public.evil(0));",
        "function public.evil(integer)",
    ),
    "generated column": (
        "CREATE TABLE public.t (q integer NOT NULL, s text,"
        " g integer GENERATED ALWAYS AS (public.evil(q)) STORED);"
        "INSERT INTO public.t SELECT * FROM public.base;",
        "function public.evil(integer)",
    ),
    "partition key": (
        "CREATE TABLE public.t (q integer NOT NULL, s text) PARTITION BY LIST (public.evil(q));"
        "CREATE TABLE public.t0 PARTITION OF public.t DEFAULT;"
        "INSERT INTO public.t SELECT * FROM public.base;",
        "function public.evil(integer)",
    ),
    "index of a partition": (
        "CREATE TABLE public.t (q integer NOT NULL, s text) PARTITION BY LIST (q);"
        "CREATE TABLE public.t0 PARTITION OF public.t DEFAULT;"
        "INSERT INTO public.t SELECT * FROM public.base;"
        "CREATE INDEX ON public.t0 (q) WHERE public.evil(1) = 1;",
        "function public.evil(integer)",
    ),
    "index of a child": (
        COPY + "CREATE TABLE public.child () INHERITS (public.t);"
        "CREATE INDEX ON public.child (q) WHERE public.evil(1) = 1;",
        "function public.evil(integer)",
    ),
    "index below a view": (
        "CREATE TABLE public.x AS SELECT * FROM public.base;"
        "CREATE INDEX ON public.x (q) WHERE public.evil(1) = 1;"
        "CREATE VIEW public.t AS SELECT * FROM public.x;",
        "function public.evil(integer)",
    ),
    "domain of a column": (
        "CREATE DOMAIN public.d AS text CHECK (public.evil(1) = 1);" + COPY
        + "ALTER TABLE public.t ALTER s TYPE public.d;",
        "type public.d",
    ),
    "cast of an enum": (
        "CREATE TYPE public.e AS ENUM ('0', '1', '2');"
        "CREATE FUNCTION public.as_text(public.e) RETURNS text LANGUAGE sql AS"
        " 'SELECT public.evil(1)::text';"
        "CREATE CAST (public.e AS text) WITH FUNCTION public.as_text(public.e);" + COPY
        + "ALTER TABLE public.t ALTER s TYPE public.e USING s::public.e;",
        "function public.as_text(public.e)",
    ),
    "index of a materialized view": (
        "CREATE MATERIALIZED VIEW public.t AS SELECT * FROM public.base;"
        "CREATE INDEX ON public.t (q) WHERE public.evil(1) = 1;",
        "function public.evil(integer)",
    ),
}  # fmt: skip
POLICY = policy({"q": "q", "s": "s"}, 2)
T = ExternalObjects((QualifiedName("public", "t"),))
TRUSTING = {**POLICY, "trust": ["source_owner"]}


def loaded(data: dict[str, Any]) -> LoadedPolicy:
    return LoadedPolicy(policy_from(data), None, Path.cwd())


def called(db: Any) -> bool:
    (found,) = db.admin.execute("SELECT is_called FROM public.calls").fetchone()
    return found


@pytest.mark.parametrize("kind", SOURCES)
def test_code_of_the_owner_of_the_source(db: Any, kind: str) -> None:
    text, named = SOURCES[kind]
    db.source(SETUP + text)
    with refused("untrusted_code") as caught:
        publish(db, POLICY)
    assert f"{named} of source_owner" in str(caught[0])
    assert "trust: [source_owner]" in str(caught[0].hint)
    with refused("untrusted_code"):
        plan_release(loaded(POLICY), dsn=db.dsn())
    with refused("untrusted_code"):
        pganon.assess("public.t", ["q"], ["s"], dsn=db.dsn())
    for arguments in (
        ("policy", "init", "public.t"),
        ("assess", "public.t", "--qi", "q"),
    ):
        ran = command("--dsn", db.dsn(), *arguments)
        assert (ran.code, named in ran.err, "--trust source_owner" in ran.err) == (2, True, True)
    assert not called(db)
    assert leftovers(db) == []
    assert publish(db, TRUSTING).released == 12 if "aggregate" in kind else 24
    assert pganon.assess("public.t", ["q"], trust=["source_owner"], dsn=db.dsn()).measures


@pytest.mark.parametrize(
    "text",
    [
        COPY,
        "CREATE MATERIALIZED VIEW public.t AS SELECT public.evil(q) AS q, s FROM public.base;",
        COPY + "CREATE INDEX ON public.t (abs(q)) WHERE q > 0;",
        COPY + "ALTER TABLE public.t ADD CHECK (q >= 0), ADD d integer DEFAULT public.evil(1);",
        COPY + "CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM public.evil(1); RETURN NEW; END';"
        "CREATE TRIGGER x BEFORE INSERT ON public.t FOR EACH ROW EXECUTE FUNCTION public.f();",
        "CREATE TYPE public.e AS ENUM ('0', '1', '2');" + COPY
        + "ALTER TABLE public.t ALTER s TYPE public.e USING s::public.e;",
    ],
    ids=["table", "materialized view", "index", "check and default", "trigger", "enum"],
)  # fmt: skip
def test_what_runs_nothing_needs_no_trust(db: Any, text: str) -> None:
    db.source(SETUP + text)
    db.admin.execute("SELECT setval('public.calls', 1, false)")
    assert publish(db, POLICY).released == 24
    assert command("--dsn", db.dsn(), "policy", "init", "public.t").code == 0
    assert pganon.assess("public.t", ["q"], dsn=db.dsn()).measures
    assert not called(db)


def test_code_of_the_steward_and_of_superusers(db: Any) -> None:
    db.source(SETUP)
    db.admin.execute("ALTER FUNCTION public.evil(integer) OWNER TO CURRENT_USER")
    db.admin.execute("CREATE SCHEMA mine AUTHORIZATION steward")
    db.connect().execute(
        "CREATE FUNCTION mine.f(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1';"
        "CREATE VIEW mine.t AS SELECT public.evil(mine.f(q)) AS q, s FROM public.base"
    )
    assert publish(db, {**POLICY, "source": "mine.t"}).released == 24
    with refused("untrusted_code"):
        pganon.assess("mine.t", ["q"], dsn=db.admin_dsn)


def test_code_of_others_below_code_that_is_trusted(db: Any) -> None:
    db.source(SETUP + "CREATE VIEW public.v AS SELECT 1 AS n")
    db.admin.execute("CREATE SCHEMA mine AUTHORIZATION steward")
    steward = db.connect()
    steward.execute(
        "CREATE DOMAIN mine.d AS integer CHECK (public.evil(VALUE) IS NOT NULL);"
        "CREATE FUNCTION mine.f(integer) RETURNS integer LANGUAGE sql"
        " BEGIN ATOMIC SELECT $1 + n FROM public.v; END;"
    )
    for value, named in (
        ("q::mine.d", "function public.evil(integer)"),
        ("mine.f(q)", "view public.v"),
    ):
        steward.execute(
            "DROP VIEW IF EXISTS mine.t;"
            f"CREATE VIEW mine.t AS SELECT {value} AS q, s FROM public.base".encode()
        )
        with refused("untrusted_code") as caught:
            publish(db, {**POLICY, "source": "mine.t"})
        assert f"{named} of source_owner" in str(caught[0])


def test_the_server_of_a_foreign_table(db: Any) -> None:
    db.admin.execute(
        "CREATE FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN DATA WRAPPER w TO source_owner"
    )
    db.source(
        "CREATE SERVER away FOREIGN DATA WRAPPER w;"
        "CREATE FOREIGN TABLE public.t (q integer, s text) SERVER away"
    )
    with refused("untrusted_code") as caught:
        plan_release(loaded(POLICY), dsn=db.dsn())
    assert "server away of source_owner" in str(caught[0])
    assert plan_release(loaded(TRUSTING), dsn=db.dsn()).spec


def test_whom_a_policy_trusts(db: Any) -> None:
    db.source(SETUP + SOURCES["view"][0])
    with refused("untrusted_code"):
        publish(db, {**POLICY, "trust": ["analyst"]})
    missing = {**POLICY, "trust": ["source_owner", "No Body"]}
    for act in (plan_release, publish):
        with refused("missing_role") as caught:
            act(loaded(missing), dsn=db.dsn()) if act is plan_release else act(db, missing)
        assert '"No Body"' in str(caught[0])


def test_readers_measure_what_pganon_published(db: Any) -> None:
    db.source(SETUP + COPY)
    publish(db, {**POLICY, "publish": {"readers": ["analyst"]}})
    assert pganon.assess("published.r", ["q"], dsn=db.dsn("analyst")).measures


def test_public_relations_and_hierarchies(db: Any) -> None:
    db.source(
        SETUP + COPY + "CREATE VIEW public.known AS SELECT DISTINCT public.evil(q) AS q FROM base;"
        "CREATE VIEW public.levels AS SELECT public.evil(n) AS v, '*' AS top"
        " FROM generate_series(0, 3) AS n;"
    )
    quasi_sensitive = policy(
        {name: {"role": "quasi_sensitive", "set": name} for name in "qs"},
        [{"model": "qs_k_anonymity", "k": 2, "public": {"q": "public.known"}}],
        method={"name": "qs_efficient"},
    )
    trees = [
        policy({"q": {"hierarchy": {kind: name}, "type": "categorical"}, "s": "s"}, 2)
        for kind, name in (("table", "public.levels"), ("function", "public.group_of"))
    ]
    for data in (quasi_sensitive, *trees):
        with refused("untrusted_code"):
            publish(db, data)
        assert not called(db)
    for number, data in enumerate((quasi_sensitive, *trees)):
        publish(db, {**data, "release": f"r{number}", "trust": ["source_owner"]})
        assert called(db)


def test_every_step_that_reads_outside_is_guarded(db: Any) -> None:
    """Tables may change between the first look and the step that reads them."""
    db.source(
        SETUP + COPY + "CREATE TABLE public.levels AS SELECT n AS v, '*' AS top"
        " FROM generate_series(0, 3) AS n; CREATE TABLE public.known AS SELECT q FROM public.base"
    )
    quasi_sensitive = policy(
        {name: {"role": "quasi_sensitive", "set": name} for name in "qs"},
        [{"model": "qs_k_anonymity", "k": 2, "public": {"q": "public.known"}}],
        method={"name": "qs_efficient"},
    )
    tree = policy({"q": {"hierarchy": {"table": "public.levels"}, "type": "categorical"}}, 2)
    for table, data, before in (
        ("t", POLICY, "snapshot"),
        ("levels", tree, "tree_0_table"),
        ("known", quasi_sensitive, "snapshot"),
    ):
        # A view in the place of a table, after the plan was made.
        def swap(phase: str, step: str, purpose: str, before: str = before, t: str = table) -> None:
            if step == before:
                db.source(
                    f"ALTER TABLE public.{t} RENAME TO old_{t};"
                    f"CREATE VIEW public.{t} AS SELECT * FROM public.old_{t}"
                    " WHERE public.evil(1) = 1"
                )

        with refused("untrusted_code"):
            run_release(loaded(data), dsn=db.dsn(), options=Options(on_step=swap, jobs=1))
        assert not called(db)
        db.source(f"DROP VIEW public.{table}; ALTER TABLE public.old_{table} RENAME TO {table}")


def test_a_view_cannot_be_replaced_between_check_and_read(db: Any) -> None:
    db.source(SETUP + COPY)
    conn, other = db.owner(), db.connect("source_owner")
    other.execute("SET lock_timeout = '300ms'")
    with reading(conn, T, []), pytest.raises(Exception, match="lock timeout"):
        other.execute("ALTER TABLE public.t RENAME TO u")


def test_an_index_added_in_between_undoes_the_read(db: Any) -> None:
    db.source(SETUP + COPY)
    conn, other = db.owner(), db.connect("source_owner")
    with refused("untrusted_code"), reading(conn, T, []):
        other.execute("CREATE INDEX ON public.t (q) WHERE public.evil(1) = 1")
        conn.execute("CREATE TABLE pganon_work.made AS SELECT * FROM public.t")
    assert leftovers(db) == []
