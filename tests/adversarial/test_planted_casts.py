"""Attack: casts, checks and labels of types that the owner of the source planted or changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

import pganon
from pganon.assessment import identifying_columns
from pganon.forms.request import Request, parse_workload
from pganon.identifiers import QualifiedName
from pganon.install import access
from pganon.loading import policy_from
from pganon.policy.loader import LoadedPolicy
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness.cli import pganon as command
from tests.support.harness.driver import publish, refused

pytestmark = pytest.mark.slow

TYPES = """
CREATE TYPE public.mood AS ENUM ('low', 'mid', 'high', 'top');
CREATE TYPE public.disease AS ENUM ('flu', 'cold', 'gout', 'mumps', 'acne', 'angina');
CREATE TYPE public.person AS ENUM ({people});
CREATE FUNCTION public.caught(text) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN
        IF current_user <> 'source_owner' THEN
            RAISE EXCEPTION 'code of the owner of a type ran: %', $1;
        END IF;
        RETURN true;
    END$$;
CREATE DOMAIN public.dmood AS public.mood CHECK (public.caught('a check of a domain'));
CREATE DOMAIN public.ddisease AS public.disease CHECK (public.caught('a check of a domain'));
CREATE DOMAIN public.years AS integer CHECK (public.caught('a check of a domain'));
CREATE DOMAIN public.word AS varchar(9) CHECK (public.caught('a check of a domain'));
"""
PLANTED = """
CREATE FUNCTION public.{name}(public.{type}) RETURNS {target} LANGUAGE plpgsql AS
    $$BEGIN PERFORM public.caught('a cast to {target}'); RETURN NULL; END$$;
CREATE CAST (public.{type} AS {target}) WITH FUNCTION public.{name}(public.{type}) AS {how};
"""
ARRAYS = """
CREATE FUNCTION public.{name}(public.{type}[]) RETURNS {target} LANGUAGE plpgsql AS
    $$BEGIN PERFORM public.caught('a cast of an array'); RETURN NULL; END$$;
CREATE CAST (public.{type}[] AS {target}) WITH FUNCTION public.{name}(public.{type}[]) AS IMPLICIT;
"""
TABLE = """
CREATE TABLE public.t (
    id public.person, part public.mood, q1 public.mood, q2 public.dmood, q3 public.years,
    q4 public.word, s1 public.disease, s2 public.ddisease, i public.dmood, PRIMARY KEY (id, part)
);
INSERT INTO public.t
SELECT ('p' || n)::public.person, 'low',
    (ARRAY['low', 'mid', 'high', 'top'])[1 + n % 4]::public.mood,
    (ARRAY['low', 'mid'])[1 + n / 24]::public.dmood, n % 5, 'w' || n % 3,
    (ARRAY['flu', 'cold', 'gout', 'mumps', 'acne', 'angina'])[1 + n % 6]::public.disease,
    (ARRAY['flu', 'cold', 'gout', 'mumps', 'acne', 'angina'])[1 + (n + n / 6) % 6]::public.ddisease,
    (ARRAY['low', 'top'])[1 + n % 2]::public.dmood
FROM generate_series(0, 47) AS n;
CREATE TABLE public.levels (value public.mood, level1 public.dmood, root text);
INSERT INTO public.levels VALUES
    ('low', 'low', '*'), ('mid', 'low', '*'), ('high', 'top', '*'), ('top', 'top', '*');
CREATE TABLE public.known AS SELECT DISTINCT q1, q2 FROM public.t;
CREATE TABLE public.tree (value public.disease, level1 public.dmood, root public.word);
INSERT INTO public.tree VALUES ('flu', 'low', 'w'), ('cold', 'low', 'w'), ('gout', 'mid', 'w'),
    ('mumps', 'mid', 'w'), ('acne', 'top', 'w'), ('angina', 'top', 'w');
"""
TARGETS = ("text", "varchar", "name", "json", "jsonb", "integer", "numeric")


@pytest.fixture
def source(db: Any) -> Any:
    people = ", ".join(f"'p{n}'" for n in range(48))
    db.source(TYPES.format(people=people) + TABLE)
    planted = [
        PLANTED.format(name=f"{type_}_as_{target}", type=type_, target=target, how=how)
        for type_ in ("mood", "disease", "person")
        for number, target in enumerate(TARGETS)
        for how in [("IMPLICIT", "ASSIGNMENT")[number % 4 == 3]]
    ]
    planted += [
        ARRAYS.format(name=f"{type_}_array_as_{target}", type=type_, target=target.strip("[]"))
        for type_ in ("mood", "disease", "dmood", "ddisease")
        for target in ("text", "json")
    ]
    db.source("".join(planted))
    return db


def declared(columns: dict[str, Any], privacy: list[dict[str, Any]], **others: Any) -> Any:
    return {
        "release": "r",
        "source": "public.t",
        "trust": ["source_owner"],
        "columns": columns,
        "privacy": privacy,
        **others,
    }


Q = {"role": "quasi_identifying"}
IN = {"role": "insensitive"}
S = {"role": "sensitive"}
ALL_Q = {"q1": Q, "q2": {**Q, "type": "ordinal"}, "q3": Q, "q4": Q}
WHERE = (
    "q1 >= 'low' and q2 between 'low' and 'high' and lower(q1) <> 'x' and q1 <> q2 || 'x'"
    " and q2 in ('low', 'mid') and s1 is not null and coalesce(s2, 'flu') <> 'x' and q3 < 9"
    " and s1::text like '%' and case q1 when 'low' then true else q4 <> 'x' end and q1 >= q1"
)
RULES = [
    {"when": {"q1": "low"}, "never": {"s1": "cold"}},
    {"when": {"q2": {"min": "high"}, "q3": {"max": 0}}, "never": {"s2": ["flu"]}},
]
L2 = {"model": "slicing_l_diversity", "l": 2}
METHODS: dict[str, Any] = {
    "mondrian": declared(
        {**ALL_Q, "s1": S, "s2": {**S, "hierarchy": {"table": "public.tree"}}, "i": IN},
        [
            {"model": "k_anonymity", "k": 2},
            {"model": "t_closeness", "column": "s1", "t": 0.9, "distance": "ordered"},
            {"model": "t_closeness", "column": "s2", "t": 0.9, "distance": "hierarchical"},
            {"model": "distinct_l_diversity", "column": "s2", "l": 2},
        ],
        method={"name": "mondrian"},
        where=WHERE,
    ),
    "mondrian with hierarchies": declared(
        {
            "q1": {**Q, "hierarchy": {"table": "public.levels"}},
            "q2": {**Q, "hierarchy": {"order": {"values": ["low", "mid", "high", "top"],
                                                "fanout": [2, 2]}}},
            "q4": {**Q, "hierarchy": {"prefix": [1]}},
            "s1": S,
        },
        [{"model": "k_anonymity", "k": 2}, {"model": "beta_likeness", "column": "s1", "beta": 9}],
        method={"name": "mondrian"},
    ),
    "qs": declared(
        {
            "q1": {"role": "quasi_sensitive", "set": "a"},
            "q2": {"role": "quasi_sensitive", "set": "a", "type": "ordinal"},
            "s1": {"role": "quasi_sensitive", "set": "b"},
            "i": IN,
        },
        [{"model": "qs_k_anonymity", "k": 2, "public": {"a": "public.known"}}],
        method={"name": "qs_efficient"},
    ),
    "anatomy": declared(
        {**ALL_Q, "s2": S, "i": IN},
        [{"model": "anatomy_l_diversity", "column": "s2", "l": 2}],
        method={"name": "anatomy"},
    ),
    "slicing": declared({"q1": Q, "q2": Q, "s2": S}, [L2], method={"name": "slicing"}),
    "slamsa": declared(
        {**ALL_Q, "s1": S, "s2": S, "i": IN}, [L2], method={"name": "slamsa"}, exclusions=RULES
    ),
    "msb": declared(
        {**ALL_Q, "s1": S, "s2": S}, [{**L2, "level": "unique"}], method={"name": "msb"}
    ),
    "sloms": declared(
        {"q1": Q, "q2": Q, "s1": S, "s2": S},
        [{**L2, "level": "unique"}],
        method={"name": "sloms"},
    ),
    "geneir": declared(
        {
            "id": {"role": "individual"},
            "q1": {**Q, "hierarchy": {"table": "public.levels"}},
            "s2": S,
            "i": IN,
        },
        [{"model": "ir_k_anonymity", "k": 2}],
        method={"name": "geneir"},
        records_per_individual="many_accepted",
    ),
    "danonyir": declared(
        {"id": {"role": "individual"}, "q1": Q, "q2": Q, "s2": S, "i": IN},
        [{"model": "eir_l_diversity", "column": "s2", "l": 2}],
        method={"name": "danonyir"},
        records_per_individual="many_accepted",
    ),
}  # fmt: skip


def users_types(source: Any) -> list[str]:
    """Columns of pganon's tables and of published views whose type is not the server's own, citext
    apart."""
    found = source.admin.execute(
        "SELECT format('%s.%s', c.oid::regclass, a.attname) FROM pg_attribute AS a"
        " JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS y ON y.oid = a.atttypid"
        " WHERE c.relnamespace::regnamespace::text IN"
        " ('pganon_work', 'pganon_stage', 'pganon_data', 'pganon_private', 'published')"
        " AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v')"
        " AND y.typnamespace <> 'pg_catalog'::regnamespace AND y.typname !~ '^_?citext$'"
    ).fetchall()
    return [name for (name,) in found]


@pytest.mark.parametrize("method", METHODS)
def test_no_code_of_who_owns_a_type_runs(source: Any, method: str, tmp_path: Path) -> None:
    policy = METHODS[method]
    everything = method == "mondrian"
    workload = parse_workload("queries=20,predicates=1,selectivity=0.2,seed=1")
    metrics = Request(everything=True, workload=workload) if everything else Request()
    loaded = LoadedPolicy(policy_from(policy), None, Path.cwd())
    kept: set[str] = set()
    options = Options(metrics=metrics, on_step=lambda *step: kept.update(users_types(source)))
    result = run_release(loaded, dsn=source.dsn(), options=options)
    assert kept == set()
    assert result.released == 48
    owner = source.owner()
    verified = owner.execute("SELECT bool_and(holds) FROM pganon.verify('r')").fetchone()
    assert verified == (True,)
    views = owner.execute(
        "SELECT viewname::text FROM pg_views WHERE schemaname = 'published'"
    ).fetchall()
    assert views
    for (view,) in views:  # else readers could not export them
        assert access.is_harmless(owner, QualifiedName("published", view)), view
    # A second version compares the sources.
    assert publish(source, policy).version == 2
    assert users_types(source) == []
    for ending in ("csv", "parquet"):
        out = tmp_path / f"out.{ending}"
        assert command("--dsn", source.dsn(), "export", "r", "-o", str(out)).code == 0
        assert out.stat().st_size > 0


def test_measuring_runs_none(source: Any) -> None:
    source.source("CREATE TABLE public.everybody AS SELECT q1::text AS q1, q2::text AS q2 FROM t")
    found = pganon.assess(
        "public.t",
        ["q1", "q2"],
        ["s1", "s2"],
        individual="id",
        population="public.everybody",
        require={"k": 2, "eir_l": 2, "t_ordered": 0.9},
        trust=["source_owner"],
        dsn=source.dsn(),
    )
    assert {item.measure for item in found.measures} >= {"t_closeness_ordered", "eir_l_diversity"}
    assert identifying_columns("public.t", trust=["source_owner"], dsn=source.dsn())
    conn = source.connect()
    for call in (
        "pganon.equivalence_classes('public.t', '{q1,q2,s1}')",
        "pganon.beta_likeness('public.t', '{q1}', 's2', 'basic')",
        "pganon.delta_disclosure('public.t', '{q2}', 's2')",
        "pganon.t_closeness('public.t', '{q2}', 's2')",
        "pganon.t_closeness('public.t', '{q2}', 's2', 'ordered')",
        "pganon.t_closeness('public.t', '{q2}', 's2', 'hierarchical', 'public.tree')",
        "pganon.risk('public.t', '{q1,q2}', 'public.known')",
        "pganon.risk('public.t', '{q1,q2}', household => 's1')",
        "pganon.special_uniques('public.t', '{id,q1,q2,q3,q4}')",
        "pganon.quasi_identifiers('public.t', '{id,q1,q2,q3,q4}', 0.5)",
        "pganon.greedy_set('public.t', '{id,q1,q2,q3,q4}', 0.5, 2)",
        "pganon.suda('public.t', '{id,q1,q2,q3,q4}', 2, 0.1)",
    ):
        assert conn.execute(f"SELECT * FROM {call}".encode()).fetchall(), call


def test_citext(db: Any) -> None:
    have = "SELECT FROM pg_available_extensions WHERE name = 'citext'"
    if not db.admin.execute(have).rowcount:
        pytest.skip("the server has no citext")
    db.admin.execute("CREATE EXTENSION citext SCHEMA public")
    db.source(TYPES.format(people="'a'"))
    for number, target in enumerate(("json", "jsonb", "integer", "numeric")):
        how = ("IMPLICIT", "ASSIGNMENT")[number % 2]
        name = f"citext_as_{target}"
        text = PLANTED.format(name=name, type="citext", target=target, how=how)
        db.admin.execute(text.encode())
        db.admin.execute(f"ALTER FUNCTION public.{name} OWNER TO source_owner".encode())
    db.source(
        "CREATE DOMAIN public.c AS public.citext CHECK (public.caught('a check of a domain'));"
        "CREATE TABLE public.t (id public.citext, part public.citext, q public.citext,"
        " s public.c, i public.citext, PRIMARY KEY (id, part));"
        "INSERT INTO public.t SELECT n, 'p', 'q' || n % 2, (ARRAY['a', 'A', 'b'])[1 + n % 3], n"
        " FROM generate_series(1, 12) AS n"
    )
    privacy = [
        {"model": "k_anonymity", "k": 2},
        {"model": "distinct_l_diversity", "column": "s", "l": 2},
    ]
    columns = {"id": {"role": "individual"}, "q": Q, "s": S, "i": IN}
    where = "q <> 'x' and lower(s) <> 'x' and i like '%'"
    policy = declared(columns, privacy, method={"name": "mondrian"}, where=where)
    with refused("untrusted_code"):
        publish(db, {**policy, "trust": []})
    assert publish(db, policy).released == 12
    assert users_types(db) == []
    found = pganon.assess(
        "public.t", ["q"], ["s"], individual="id", trust=["source_owner"], dsn=db.dsn()
    )
    assert {m.value for m in found.measures if m.measure == "distinct_l_diversity"} == {2}


def test_an_enum_is_measured_in_its_order(db: Any) -> None:
    db.source(
        "CREATE TYPE public.e AS ENUM ('z', 'a%', 'b'); CREATE DOMAIN public.d AS public.e;"
        "CREATE TABLE public.t (q integer, s public.d, n integer);"
        "INSERT INTO public.t VALUES (1, 'z', 1), (1, 'a%', 2), (2, 'a%', 2), (2, 'b', 3)"
    )
    conn = db.connect()
    text = "SELECT pganon.t_closeness('public.t', '{q}', %s, 'ordered')"
    (by_label,) = conn.execute(text, ["s"]).fetchone()
    (by_number,) = conn.execute(text, ["n"]).fetchone()
    assert by_label == by_number


def test_a_first_policy_runs_none(source: Any) -> None:
    ran = command("--dsn", source.dsn(), "policy", "init", "public.t", "--trust", "source_owner")
    assert (ran.code, "q1: {role" in ran.out) == (0, True)
    assert "trust: [source_owner]" in ran.out


def test_labels_changed_afterwards_change_no_release(source: Any) -> None:
    publish(source, METHODS["mondrian"])
    owner = source.owner()
    shown = "SELECT array_agg(x::text ORDER BY x::text) FROM published.r AS x"
    before = owner.execute(shown).fetchone()
    source.source(
        "ALTER TYPE public.disease RENAME VALUE 'flu' TO 'x';"
        "ALTER TYPE public.disease RENAME VALUE 'cold' TO 'flu';"
        "ALTER TYPE public.disease RENAME VALUE 'x' TO 'cold'"
    )
    assert owner.execute(shown).fetchone() == before
    source.source(
        "DROP TYPE public.mood, public.disease, public.person CASCADE;"
        "DROP DOMAIN public.years, public.word CASCADE"
    )
    assert owner.execute(shown).fetchone() == before
    holds = owner.execute("SELECT bool_and(holds) FROM pganon.verify('r')").fetchone()
    assert holds == (True,)


def test_labels_changed_while_a_run_begins(source: Any) -> None:
    """The order of a plan is that of the labels when it was made."""

    def swap(phase: str, step: str, purpose: str) -> None:
        if step == "snapshot":
            source.source("ALTER TYPE public.disease RENAME VALUE 'flu' TO 'grippe'")

    loaded = LoadedPolicy(policy_from(METHODS["anatomy"]), None, Path.cwd())
    with pytest.raises(pganon.PganonError) as caught:
        run_release(loaded, dsn=source.dsn(), options=Options(on_step=swap))
    assert caught.value.code == "source_changed"


def test_a_fingerprint_of_an_earlier_release(source: Any) -> None:
    """Tables that were stored with columns of such types are still rendered without casts."""
    owner = source.owner()
    owner.execute(
        "CREATE TABLE pganon_data.old AS SELECT q1, q2, ARRAY[s1] AS s, ARRAY[s2] AS a,"
        " q3 FROM public.t"
    )
    owner.execute(
        "INSERT INTO pganon_private.run_secret (run_id, key, seed_a, seed_b, partition_seed)"
        " VALUES (7, '\\x00', 1, 2, 3)"
    )
    (found,) = owner.execute(
        "SELECT pganon.fingerprint(7, ARRAY['pganon_data.old'::regclass])"
    ).fetchone()
    assert len(found) == 33


@pytest.mark.parametrize("text", ["q1 = 'medium'", "q2 in ('low', 'x')", "q1 > 'x'"])
def test_a_text_that_is_no_label(source: Any, text: str) -> None:
    with pytest.raises(pganon.PolicyError, match="is no label of it"):
        publish(source, {**METHODS["anatomy"], "where": text})


def test_the_planted_casts_are_dangerous(source: Any) -> None:
    """Without it the tests above would show nothing."""
    conn = source.connect()
    for text in (
        "q1::text",
        "q2::text",
        "to_jsonb(q1)",
        "q3::integer::public.years",
        "lower(q1)",
        "row_to_json(t)",
        "ARRAY[q1]::text",
    ):
        with pytest.raises(psycopg.errors.RaiseException):
            conn.execute(f"SELECT {text} FROM public.t".encode())
