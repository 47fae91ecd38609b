"""What read_relation sees, on real servers and as a role with SELECT alone."""

from __future__ import annotations

import psycopg
import pytest

from pganon.catalog.introspect import read_relation
from pganon.errors import PreconditionError, UsageError
from pganon.identifiers import QualifiedName
from tests.support.harness.cluster import Database

TYPES = """
CREATE SCHEMA s;
CREATE TYPE s.mood AS ENUM ('low', 'high');
CREATE DOMAIN s.grade AS integer NOT NULL;
CREATE DOMAIN s.top_grade AS s.grade CHECK (value > 0);
CREATE TYPE s.pair AS (a int, b int);
CREATE TYPE s.text AS ENUM ('a');
CREATE TABLE s.all_types (
    c1 smallint, c2 integer NOT NULL, c3 bigint, c4 numeric(8,2), c5 real, c6 double precision,
    c7 date, c8 timestamp, c9 timestamptz, c10 boolean, c11 text, c12 varchar(10), c13 char(3),
    c14 s.mood, c15 uuid, c16 s.grade, c17 s.top_grade, c18 jsonb, c19 int[], c20 s.pair,
    c21 interval, c22 name, c23 s.text, c24 "char", c25 int4range
);
"""
KINDS = {
    "c1": "integer", "c2": "integer", "c3": "integer", "c4": "numeric", "c5": "float",
    "c6": "float", "c7": "date", "c8": "timestamp", "c9": "timestamptz", "c10": "boolean",
    "c11": "text", "c12": "text", "c13": "bpchar", "c14": "enum", "c15": "uuid",
    "c16": "integer", "c17": "integer", "c18": "unsupported", "c19": "unsupported",
    "c20": "unsupported", "c21": "unsupported", "c22": "text", "c23": "enum",
    "c24": "unsupported", "c25": "unsupported",
}  # fmt: skip


def test_types_and_nullability(bare_db: Database) -> None:
    bare_db.source(TYPES)
    relation = read_relation(bare_db.connect(), "s.all_types")
    assert {c.name: c.kind for c in relation.columns} == KINDS
    assert [c.name for c in relation.columns if not c.nullable] == ["c2"]
    by_name = {c.name: c for c in relation.columns}
    assert by_name["c4"].type_name == "numeric(8,2)"
    assert by_name["c17"].type_name == "s.top_grade"
    assert by_name["c17"].base == "integer"
    assert by_name["c14"].base == "s.mood"
    assert relation.name == QualifiedName("s", "all_types")
    assert (relation.kind, relation.owner) == ("table", "source_owner")
    assert relation.row_security is False


def test_a_domain_does_not_keep_null_out(bare_db: Database) -> None:
    """The reason why a domain's NOT NULL does not count."""
    bare_db.source("""
        CREATE DOMAIN public.grade AS integer NOT NULL;
        CREATE TABLE public.t (g public.grade);
        INSERT INTO public.t VALUES ((SELECT g FROM public.t WHERE false));
    """)
    found = bare_db.admin.execute("SELECT count(*) FROM public.t WHERE g IS NULL").fetchone()
    assert found == (1,)
    assert read_relation(bare_db.connect(), "t").columns[0].nullable is True


def test_citext(bare_db: Database) -> None:
    try:
        bare_db.admin.execute("CREATE EXTENSION citext SCHEMA public")
    except psycopg.Error:
        pytest.skip("the server has no citext")
    bare_db.source("CREATE TABLE public.t (a public.citext)")
    column = read_relation(bare_db.connect(), "t").columns[0]
    assert (column.kind, column.base) == ("citext", "public.citext")


HOSTILE = [
    ('"A, b"."t""x.y"', QualifiedName("A, b", 't"x.y')),
    ('"A, b"."select"', QualifiedName("A, b", "select")),
    ('"A, b".' + '"' + "é" * 31 + '"', QualifiedName("A, b", "é" * 31)),
    ("public.Mixed", QualifiedName("public", "mixed")),
    ('"Mixed"', QualifiedName("public", "Mixed")),
    ("mixed", QualifiedName("public", "mixed")),
    ('"A, b"."%s; drop table x"', QualifiedName("A, b", "%s; drop table x")),
]


def test_hostile_names(bare_db: Database) -> None:
    bare_db.source('CREATE SCHEMA "A, b"')
    conn = bare_db.connect()
    for i, (text, name) in enumerate(HOSTILE):
        if text == "mixed":
            continue
        bare_db.source(f'CREATE TABLE {text} ("a.b" int, "c""d" int, "Order" int, c{i} int)')
        relation = read_relation(conn, text)
        assert relation.name == name
        assert relation.column_names == ("a.b", 'c"d', "Order", f"c{i}")
        again = read_relation(conn, str(name))
        assert again.oid == relation.oid
    assert read_relation(conn, "mixed").name == QualifiedName("public", "mixed")


def test_dropped_columns_and_keys(bare_db: Database) -> None:
    bare_db.source("""
        CREATE TABLE public.t (gone int, a int, b int, u int UNIQUE, p int, PRIMARY KEY (b, a));
        CREATE UNIQUE INDEX ON public.t (p) WHERE p > 0;
        ALTER TABLE public.t DROP COLUMN gone;
        CREATE TABLE public.deferred (a int PRIMARY KEY DEFERRABLE);
    """)
    conn = bare_db.connect()
    relation = read_relation(conn, "t")
    assert relation.primary_key == ("b", "a")
    assert [(c.name, c.attnum) for c in relation.columns] == [
        ("a", 2),
        ("b", 3),
        ("u", 4),
        ("p", 5),
    ]
    assert relation.unique == {"u"}
    assert read_relation(conn, "deferred").primary_key == ()


def test_inheritance(bare_db: Database) -> None:
    """A parent's key and NOT NULL do not bind rows of children that lack them."""
    bare_db.source("""
        CREATE TABLE public.parent (id int PRIMARY KEY, a int);
        CREATE TABLE public.child () INHERITS (public.parent);
        ALTER TABLE ONLY public.child ALTER COLUMN a SET NOT NULL;
        CREATE TABLE public.part (id int PRIMARY KEY, a int NOT NULL) PARTITION BY RANGE (id);
        CREATE TABLE public.part1 PARTITION OF public.part FOR VALUES FROM (0) TO (9);
    """)
    conn = bare_db.connect()
    parent = read_relation(conn, "parent")
    assert parent.primary_key == ()
    assert parent.columns[1].nullable is True
    part = read_relation(conn, "part")
    assert (part.kind, part.primary_key) == ("partitioned table", ("id",))
    assert [c.nullable for c in part.columns] == [False, False]


def test_a_child_without_the_constraint(bare_db: Database) -> None:
    if bare_db.version >= 18:
        bare_db.source("""
            CREATE TABLE public.parent (a int, CONSTRAINT n NOT NULL a NO INHERIT);
            CREATE TABLE public.child () INHERITS (public.parent);
        """)
    else:
        bare_db.source("""
            CREATE TABLE public.parent (a int NOT NULL);
            CREATE TABLE public.child () INHERITS (public.parent);
            ALTER TABLE public.child ALTER COLUMN a DROP NOT NULL;
        """)
    assert read_relation(bare_db.connect(), "parent").columns[0].nullable is True


def test_a_constraint_that_was_never_validated(bare_db: Database) -> None:
    if bare_db.version < 18:
        pytest.skip("NOT NULL NOT VALID came with PostgreSQL 18")
    bare_db.source("""
        CREATE TABLE public.t (a int);
        INSERT INTO public.t VALUES (NULL);
        ALTER TABLE public.t ADD CONSTRAINT n NOT NULL a NOT VALID;
    """)
    assert read_relation(bare_db.connect(), "t").columns[0].nullable is True


def test_views_are_nullable(bare_db: Database) -> None:
    bare_db.source("""
        CREATE TABLE public.t (a int NOT NULL);
        CREATE VIEW public.v AS SELECT a FROM public.t;
        CREATE MATERIALIZED VIEW public.m AS SELECT a FROM public.t;
        CREATE MATERIALIZED VIEW public.empty AS SELECT a FROM public.t WITH NO DATA;
    """)
    conn = bare_db.connect()
    assert [read_relation(conn, n).kind for n in ("v", "m")] == ["view", "materialized view"]
    assert all(read_relation(conn, n).columns[0].nullable for n in ("v", "m"))
    with pytest.raises(PreconditionError, match="never been filled") as caught:
        read_relation(conn, "empty")
    assert caught.value.hint == 'run REFRESH MATERIALIZED VIEW "public"."empty"'


@pytest.mark.parametrize(
    ("statement", "name", "what"),
    [
        ("CREATE SEQUENCE public.x", "x", "is a sequence"),
        ("CREATE TYPE public.x AS (a int)", "x", "is a composite type"),
        ("CREATE TABLE public.t (a int); CREATE INDEX x ON public.t (a)", "x", "is an index"),
    ],
)
@pytest.mark.primary_server_only
def test_other_kinds_are_refused(bare_db: Database, statement: str, name: str, what: str) -> None:
    bare_db.source(statement)
    with pytest.raises(PreconditionError, match=what):
        read_relation(bare_db.connect(), name)


@pytest.mark.primary_server_only
def test_missing_tables_get_near_names(bare_db: Database) -> None:
    bare_db.source("""
        CREATE TABLE public."Patients" (a int);
        CREATE SCHEMA hospital; CREATE TABLE hospital.visit (a int);
        CREATE TABLE public.hidden (a int);
    """)
    bare_db.admin.execute("REVOKE ALL ON public.hidden FROM steward")
    conn = bare_db.connect()
    hints = {}
    for source in ("patients", "public.patient", "visit", "hiden", "nowhere.visit", "nowhere.x"):
        with pytest.raises(PreconditionError, match="there is no table or view") as caught:
            read_relation(conn, source)
        hints[source] = caught.value.hint
    assert hints["patients"] == 'did you mean public."Patients"?'
    assert hints["public.patient"] == 'did you mean public."Patients"?'
    assert hints["visit"] == "did you mean hospital.visit?"
    assert "hidden" not in str(hints["hiden"])
    assert hints["nowhere.visit"] == "did you mean hospital.visit?"
    assert "schema nowhere has no table" in str(hints["nowhere.x"])


@pytest.mark.primary_server_only
def test_not_a_name(bare_db: Database) -> None:
    conn = bare_db.connect()
    for text in ("", "a.b.c", "a b", '"x', "t; drop table t"):
        with pytest.raises(UsageError):
            read_relation(conn, text)


def test_missing_privileges(bare_db: Database) -> None:
    bare_db.source(
        'CREATE SCHEMA "S x"; CREATE TABLE "S x".t (a int, "b c" int, d int)', grant=False
    )
    conn = bare_db.connect()
    with pytest.raises(PreconditionError, match="lacks USAGE on the schema") as caught:
        read_relation(conn, '"S x".t')
    assert caught.value.hint == 'let the owner run GRANT USAGE ON SCHEMA "S x" TO "steward"'
    bare_db.admin.execute('GRANT USAGE ON SCHEMA "S x" TO steward')
    with pytest.raises(PreconditionError, match="lacks SELECT on") as caught:
        read_relation(conn, '"S x".t')
    assert caught.value.hint == 'let the owner run GRANT SELECT ON "S x"."t" TO "steward"'
    bare_db.admin.execute('GRANT SELECT (a) ON "S x".t TO steward')
    assert [c.readable for c in read_relation(conn, '"S x".t').columns] == [True, False, False]


@pytest.mark.primary_server_only
def test_row_security_is_noted(bare_db: Database) -> None:
    bare_db.source("""
        CREATE TABLE public.t (a int);
        ALTER TABLE public.t ENABLE ROW LEVEL SECURITY;
    """)
    assert read_relation(bare_db.connect("steward"), "t").row_security is True
    assert read_relation(bare_db.connect("source_owner"), "t").row_security is False


@pytest.mark.primary_server_only
def test_search_path_changes_nothing(bare_db: Database) -> None:
    bare_db.source("""
        CREATE SCHEMA evil;
        CREATE TABLE evil.t (trap int);
        CREATE TABLE public.t (a int);
    """)
    conn = bare_db.connect()
    conn.execute("SET search_path = evil, public")
    assert read_relation(conn, "t").column_names == ("a",)


def test_collations(bare_db: Database) -> None:
    try:
        bare_db.source("""
            CREATE COLLATION public.blind (provider = icu, locale = 'und-u-ks-level2',
                deterministic = false);
            CREATE TABLE public.t (a text COLLATE public.blind, b text, c int);
        """)
    except psycopg.Error:
        pytest.skip("the server was built without ICU")
    columns = read_relation(bare_db.connect(), "t").columns
    assert [c.collation_deterministic for c in columns] == [False, True, True]
