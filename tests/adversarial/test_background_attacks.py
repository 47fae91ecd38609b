"""Attacks on releases that hold against background knowledge."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pganon.errors import PganonError
from pganon.publish import lifecycle
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.driver import Staged, fetch, loaded, publish, refused, run
from tests.support.oracles.background_search import posterior
from tests.support.sources.background import ROLES, SUPPRESSES, beta_policy, build, groups
from tests.support.sources.builders import make_table
from tests.support.sources.stays import texts

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

SECRET = "Zanzibar-7319"
"""A value of the source that no message may hold."""

KERNEL = {"kernel": {"bandwidth": {"age": 0.4, "sex": 0.5}}}
METHODS: dict[str, Any] = {
    "random": {"name": "beta_primacy"},
    "sweep": {"name": "beta_primacy", "select": "sweep", "division": "none"},
    "nearest": {"name": "beta_primacy", "select": "nearest", "division": "eligible"},
    "trim": {"name": "beta_primacy", "lemma2": "trim"},
    "kinc": {"name": "kinc"},
    "kagg": {"name": "kagg"},
    "kinc_mic": {"name": "kinc_mic"},
    "kagg_mic": {"name": "kagg_mic"},
    "js_reduce": {"name": "js_reduce"},
}


def people(n: int = 160, seed: int = 5) -> list[tuple[Any, ...]]:
    """What people have depends on age and sex, but everybody may have everything."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        age, sex = rng.randrange(20, 60), rng.choice("FM")
        weights = [3, 2 + (sex == "F"), 1 + age / 30, 2, 1.5]
        rows.append((age, sex, rng.choices([SECRET, "b", "c", "d", None], weights)[0]))
    return rows


def declared(name: str = "random", **others: Any) -> dict[str, Any]:
    """Clusters of this policy are the sexes."""
    asked = {"k": 3, "beta": 2.0, "j": 0.06, "knowledge": KERNEL, **SUPPRESSES, **others}
    if name == "js_reduce":
        # It leaves out who finds no class, which moves the published shares.
        asked["closeness"] = {"model": "t_closeness", "t": 0.95}
    return beta_policy(METHODS[name], **asked)


# -- order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_the_order_of_the_source_changes_nothing(db: Database, name: str) -> None:
    rows = people()
    build(db, [*rows, *rows[:30]])
    db.source("ALTER TABLE public.t DROP COLUMN id", grant=False)
    found = []
    for order in ("1", "2"):
        db.source(
            f"""
            CREATE TABLE public.other AS TABLE public.t;
            TRUNCATE public.t;
            INSERT INTO public.t SELECT * FROM public.other AS o ORDER BY md5(o::text || '{order}');
            DROP TABLE public.other
            """,
            grant=False,
        )
        done = publish(db, declared(name), seed=b"a seed of a test")
        found.append([*texts(db, done.run_id).values(), *private(db, done.run_id)])
    assert found[0] == found[1]


def private(db: Database, run_id: int) -> list[list[Any]]:
    """What the owner keeps of priors."""
    return [
        [
            tuple(row.values())
            for row in fetch(
                db.admin,
                sql.SQL("SELECT * FROM {}").format(
                    sql.Identifier("pganon_private", f"r{run_id}_{part}")
                ),
            )
        ]
        for part in ("audit", "prior")
    ]


@pytest.mark.parametrize("name", METHODS)
def test_class_numbers_are_in_no_order(db: Database, name: str) -> None:
    """Neither of the curve nor of blocks, which would tell what was cut first."""
    build(db, [(20 + n % 97, "FM"[n % 2], "abcd"[n * 7 % 4]) for n in range(300)])
    without = declared(name, knowledge=None)
    placed = []
    for seed in range(3):
        staged = run(db.owner(), without, seed=seed)
        held = staged.members
        assert sorted(held) == list(range(1, len(held) + 1))
        ages = {number: min((key - 1) % 97 for key in keys) for number, keys in held.items()}
        placed.append(sorted(held, key=lambda number, ages=ages: (ages[number], number)))
    assert placed[0] != placed[1]
    if len(placed[0]) > 20:
        assert sum(map(_correlation, placed)) / 3 < 0.35


def _correlation(numbers: list[int]) -> float:
    """Spearman's, of a permutation of 1..n with its positions; without its sign."""
    n = len(numbers)
    squares = sum((number - place) ** 2 for place, number in enumerate(numbers, start=1))
    return abs(1 - 6 * squares / (n * (n * n - 1)))


def test_rows_lie_in_the_order_of_what_they_show(db: Database) -> None:
    build(db, people())
    staged = run(db.owner(), declared())
    shown = [(row["class_id"], row["s"] is None, row["s"]) for row in staged.table("records")]
    assert shown == sorted(shown, key=str) or shown == sorted(
        shown, key=lambda row: (row[0], row[1], row[2] or "")
    )
    numbers = [row["class_id"] for row in staged.table("classes")]
    assert numbers == sorted(numbers)


# -- who reads what -----------------------------------------------------------------------------

PRIVATE = ("audit", "prior", "members", "reference")


@pytest.fixture
def released(db: Database) -> int:
    build(db, people())
    done = publish(db, declared(publish={"readers": ["analyst"]}))
    for part in PRIVATE:
        db.admin.execute(f"ANALYZE pganon_private.r{done.run_id}_{part}".encode())
    return done.run_id


@pytest.mark.parametrize("role", ["analyst", "source_owner"])
def test_priors_are_for_the_owner_alone(db: Database, released: int, role: str) -> None:
    assert faults.exposed(db.owner()) == []
    conn = db.connect(role)
    for part in PRIVATE:
        relation = f"pganon_private.r{released}_{part}"
        for text in (f"SELECT FROM {relation}", f"COPY {relation} TO STDOUT"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(text.encode())
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        found = conn.execute(f"SELECT FROM {view} WHERE schemaname ~ 'pganon'".encode())
        assert found.fetchall() == []


def test_views_and_comments_tell_nothing_of_priors(db: Database, released: int) -> None:
    analyst = db.connect("analyst")
    seen = analyst.execute(
        "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname !~ '^(pg_|information_schema|pganon$)'"
        " AND has_any_column_privilege(c.oid, 'SELECT') ORDER BY 1"
    )
    assert [row[0] for row in seen.fetchall()] == ["r", "r_flat"]
    names = analyst.execute("SELECT * FROM published.r LIMIT 0").description or ()
    assert [column.name for column in names] == [
        "class_id",
        "age",
        "age_null",
        "sex",
        "sex_null",
        "s",
    ]
    described = [
        str(row[0]) for row in analyst.execute("SELECT description FROM pg_description").fetchall()
    ]
    assert not any(SECRET in text for text in described)
    said = str(analyst.execute("SELECT r FROM pganon.releases AS r").fetchall())
    assert "background_knowledge" in said
    assert "verified" in said
    assert "by the owner" in said
    assert "cluster" not in said


# -- tampering ----------------------------------------------------------------------------------

AUDIT, PRIOR = "{private}.{run}_audit", "{private}.{run}_prior"
RECORDS = "{data}.{run}_records"
ONE = "class_id = (SELECT min(class_id) FROM {private}.{run}_audit)"

TAMPERED: dict[str, tuple[str, set[str]]] = {
    "a class of two clusters": (
        f"UPDATE {AUDIT} SET cluster = cluster + 1 WHERE ctid ="
        f" (SELECT min(ctid) FROM {AUDIT} WHERE class_id = (SELECT class_id FROM {AUDIT}"
        " GROUP BY class_id HAVING count(*) > 1 LIMIT 1))",
        {"audit"},
    ),
    "records of another cluster": (
        f"INSERT INTO {AUDIT} SELECT b.class_id, b.cluster, a.prior, 0 FROM {AUDIT} AS a,"
        f" (SELECT * FROM {AUDIT} LIMIT 1) AS b WHERE a.cluster <> b.cluster",
        {"background_knowledge"},
    ),
    "all clusters in one": (f"UPDATE {AUDIT} SET cluster = 1", {"background_knowledge"}),
    "more records of a prior": (f"UPDATE {AUDIT} SET n = n + 1 WHERE {ONE}", {"audit"}),
    "a class without priors": (f"DELETE FROM {AUDIT} WHERE {ONE}", {"audit"}),
    "priors of a class that is none": (
        f"UPDATE {AUDIT} SET class_id = class_id + 1000 WHERE {ONE}",
        {"audit"},
    ),
    "a prior that is gone": (
        f"DELETE FROM {PRIOR} WHERE prior = (SELECT min(prior) FROM {AUDIT})",
        {"audit"},
    ),
    "a prior twice": (f"INSERT INTO {PRIOR} SELECT * FROM {PRIOR} LIMIT 1", {"audit"}),
    "another prior": (
        f"UPDATE {PRIOR} SET probabilities = ARRAY[1, 0, 0, 0, 0]::float8[]"
        f" WHERE prior = (SELECT min(prior) FROM {AUDIT})",
        {"background_knowledge"},
    ),
    "a prior that is none": (
        f"UPDATE {PRIOR} SET probabilities = NULL WHERE prior = (SELECT min(prior) FROM {AUDIT})",
        {"audit"},
    ),
    "probabilities that are none": (
        f"UPDATE {PRIOR} SET probabilities = (SELECT array_agg(p / 2 ORDER BY i)"
        " FROM unnest(probabilities) WITH ORDINALITY AS u(p, i))",
        {"audit"},
    ),
    "records in another class": (
        f"UPDATE {RECORDS} SET class_id = (SELECT max(class_id) FROM {RECORDS})"
        f" WHERE class_id = (SELECT min(class_id) FROM {RECORDS}) AND ctid <>"
        f" (SELECT min(ctid) FROM {RECORDS})",
        {"audit"},
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_verify_finds_what_was_changed_in_the_store(db: Database, released: int, what: str) -> None:
    conn = db.owner()
    assert [m for m in lifecycle.verify(conn, "r") if not m.holds] == []
    text, expected = TAMPERED[what]
    names = {"run": f"r{released}", "data": "pganon_data", "private": "pganon_private"}
    changed = conn.execute(text.format(**names).encode())
    assert changed.rowcount > 0
    failing = {m.model for m in lifecycle.verify(conn, "r") if not m.holds}
    assert {*expected, "fingerprint"} <= failing


def test_a_class_of_two_clusters_is_not_published(db: Database) -> None:
    """Found in the staged relations, where there is no fingerprint yet."""
    build(db, people())
    text, _ = TAMPERED["all clusters in one"]
    number = 1

    def act() -> None:
        names = {"run": f"r{number}", "data": "pganon_stage", "private": "pganon_stage"}
        db.owner().execute(text.format(**names).encode())

    hook = faults.at("verify.fingerprint", act)
    with pytest.raises(PganonError) as caught:
        faults.run(db.dsn(), loaded(declared()), before=hook, jobs=1)
    assert hook.reached  # type: ignore[attr-defined]
    assert caught.value.code == "verification"
    assert SECRET not in f"{caught.value} {caught.value.hint}"


# -- limits of J --------------------------------------------------------------------------------


def named_j(error: PganonError) -> float:
    """The J that a refusal says leaves no record out."""
    _, _, said = str(error.hint).partition("the smallest j that leaves none is ")
    return float(said.split(",")[0])


@pytest.mark.parametrize("name", ["random", "kinc", "kagg_mic"])
def test_a_tiny_bandwidth_is_refused_and_a_j_that_is_enough_named(db: Database, name: str) -> None:
    """The prior of everybody is what he has: a cluster is of one value, which no class may be."""
    build(db, [(20 + n, "F", "ab"[n % 2] if n % 5 else SECRET) for n in range(30)])
    asked = {"k": 2, "beta": 2.0, "knowledge": {"kernel": {"bandwidth": 0.001}}}
    with refused("infeasible") as caught:
        run(db.owner(), beta_policy(METHODS[name], j=0.3, **asked))
    said = f"{caught[0]} {caught[0].hint}"
    assert "j = 0.3 leaves 30 of 30 records without a class" in said
    assert "in clusters that violate beta_likeness" in said
    assert "suppress" not in said, "nobody would be left"
    assert SECRET not in said
    assert named_j(caught[0]) == 1
    assert sum(map(len, groups(run(db.owner(), beta_policy(METHODS[name], j=1, **asked))))) == 30


def test_the_j_that_is_named_is_the_smallest(db: Database) -> None:
    build(db, people(120))
    asked = {"on_infeasible": "refuse", "suppression_limit": 0, "beta": 0.6, "k": 5}
    with refused("infeasible") as caught:
        run(db.owner(), declared(**{**asked, "j": 0.0001}))
    enough = named_j(caught[0])
    assert 0.001 < enough < 1
    staged = run(db.owner(), declared(**{**asked, "j": enough}))
    assert sum(map(len, groups(staged))) == 120
    with refused("infeasible"):
        run(db.owner(), declared(**{**asked, "j": enough - 0.001}))


@pytest.mark.parametrize("name", METHODS)
def test_a_j_of_0_puts_equal_priors_together(db: Database, name: str) -> None:
    """Sexes have no influence here, and two ages are far apart: two priors."""
    build(
        db,
        [
            (20, "FM"[n % 2], "ab"[n // 2 % 2]) if n < 24 else (60, "FM"[n % 2], "aab"[n // 2 % 3])
            for n in range(48)
        ],
    )
    known = {"kernel": {"bandwidth": {"age": 0.5, "sex": 2}}}
    staged = run(db.owner(), declared(name, j=0, knowledge=known))
    held = staged.table("audit")
    assert len(held) == len({row["class_id"] for row in held})
    assert staged.verified("background_knowledge") == [0]
    assert {frozenset(key <= 24 for key in group) for group in groups(staged)} == {
        frozenset([True]),
        frozenset([False]),
    }


@pytest.mark.parametrize("name", METHODS)
def test_a_j_of_1_asks_for_no_priors(db: Database, name: str) -> None:
    build(db, people())
    staged = run(db.owner(), declared(name, j=1))
    assert groups(staged) == groups(run(db.owner(), declared(name, knowledge=None)))
    assert not {"audit", "prior"} & {r.part for r in staged.plan.relations(staged.state)}
    assert staged.verified("background_knowledge") == []


# -- what is not protected ----------------------------------------------------------------------


@pytest.mark.parametrize("value", ["a", None])
@pytest.mark.parametrize("name", ["random", "kagg", "js_reduce"])
def test_a_constant_sensitive_column_is_refused(db: Database, name: str, value: str | None) -> None:
    build(db, [(20 + n, "F", value and SECRET) for n in range(12)])
    asked = {"k": 2, "beta": 2.0}
    with refused("constant") as caught:
        run(db.owner(), beta_policy(METHODS[name], **asked))
    assert "sensitive column s has the same value in all records" in str(caught[0])
    assert SECRET not in f"{caught[0]} {caught[0].hint}"
    accepted = {**ROLES, "s": {"role": "sensitive", "unprotected": "accept"}}
    staged = run(db.owner(), beta_policy(METHODS[name], columns=accepted, **asked))
    assert sum(map(len, groups(staged))) == 12


def test_other_methods_do_not_accept_a_column_that_a_model_is_about(db: Database) -> None:
    build(db, people(20))
    accepted = {**ROLES, "s": {"role": "sensitive", "unprotected": "accept"}}
    with refused("policy") as caught:
        run(db.owner(), beta_policy("mondrian", columns=accepted))
    assert "beta_likeness is about the column" in str(caught[0])


def clustered(staged: Staged) -> dict[int, set[int]]:
    """Classes of every cluster."""
    found: dict[int, set[int]] = {}
    for row in staged.table("audit"):
        found.setdefault(row["cluster"], set()).add(row["class_id"])
    return found


def test_dropped_clusters_change_the_reference(db: Database) -> None:
    """Without the cluster of b, the share of c in what is published is less, and its limit, too."""
    rows = [(20, "F", "abc"[n % 3] if n < 12 else "a") for n in range(14)]
    rows += [(60, "M", "b")] * 10
    build(db, rows)
    known = {"kernel": {"bandwidth": 0.4}}
    staged = run(db.owner(), declared(knowledge=known, k=2, beta=0.8, j=0.01))
    kept = {key for group in groups(staged) for key in group}
    assert kept == set(range(1, 15))
    assert len(clustered(staged)) == 1
    assert len(staged.verified("beta_likeness")) == 2
    assert max(staged.verified("beta_likeness")) <= 0.8 + 1e-9


def test_dropped_clusters_count_as_suppressed(db: Database) -> None:
    build(db, [*[(20, "F", "abc"[n % 3]) for n in range(15)], *[(60, "M", "b")] * 5])
    known = {"kernel": {"bandwidth": 0.4}}
    asked = declared(knowledge=known, k=2, beta=0.8, j=0.01, suppression_limit=0.2)
    with refused("suppression_limit") as caught:
        run(db.owner(), asked)
    assert "5 of 20 records would be suppressed" in str(caught[0])
    run(db.owner(), {**asked, "suppression_limit": 0.25})


def audited(conn: Connection, run_id: int) -> list[tuple[Any, ...]]:
    name = sql.Identifier("pganon_private", f"r{run_id}_audit")
    return conn.execute(sql.SQL("SELECT * FROM {}").format(name)).fetchall()


def test_cluster_numbers_say_nothing_to_readers(db: Database, released: int) -> None:
    """They follow the order of priors; nothing that is published has them."""
    assert audited(db.owner(), released)
    columns = db.admin.execute(
        "SELECT DISTINCT attname::text FROM pg_attribute AS a JOIN pg_class AS c ON c.oid ="
        " a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE nspname IN ('published', 'pganon_data') AND attnum > 0"
    ).fetchall()
    assert not {"cluster", "prior"} & {row[0] for row in columns}


# -- priors that somebody else gives ------------------------------------------------------------

GIVEN = {"relation": "public.prior"}


def give(db: Database, priors: dict[str, list[float]], values: str) -> None:
    """Priors by sex."""
    rows = [
        (sex, value, p)
        for sex, each in priors.items()
        for value, p in zip(values, each, strict=True)
    ]
    types = {"sex": "text", "s": "text", "probability": "float8"}
    make_table(db.connect("source_owner"), types, rows, name=("public", "prior"))


def by_sex(**others: Any) -> dict[str, Any]:
    columns = {name: ROLES[name] for name in ("sex", "s")}
    return declared(**{"columns": columns, "knowledge": GIVEN, "k": 2, **others})


def couples(n: int = 24) -> list[tuple[Any, ...]]:
    return [("FM"[i % 2], "ab"[i // 2 % 2]) for i in range(n)]


def test_a_prior_that_changes_later_changes_nothing(db: Database) -> None:
    """What was stored counts, for classes were made from it; the next run reads anew."""
    build(db, couples(), {"sex": "text", "s": "text"})
    give(db, {"F": [0.5, 0.5], "M": [0.6, 0.4]}, "ab")
    publish(db, by_sex(j=0.1))
    give(db, {"F": [1, 0], "M": [0, 1]}, "ab")
    conn = db.owner()
    assert [m for m in lifecycle.verify(conn, "r") if not m.holds] == []
    db.source("DROP TABLE public.prior", grant=False)
    assert [m for m in lifecycle.verify(conn, "r") if not m.holds] == []
    give(db, {"F": [1, 0], "M": [0, 1]}, "ab")
    staged = run(conn, by_sex(j=0.1))
    assert len(clustered(staged)) == 2


def test_a_prior_of_a_stranger(db: Database) -> None:
    """Who writes the priors decides who is in which class: functions of others do not run."""
    build(db, couples(), {"sex": "text", "s": "text"})
    give(db, {"F": [0.5, 0.5], "M": [0.6, 0.4]}, "ab")
    db.connect("source_owner").execute(
        "CREATE FUNCTION public.evil(p float8) RETURNS float8 LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN p; END $$;"
        "CREATE VIEW public.believed AS SELECT sex, s, public.evil(probability) AS probability"
        " FROM public.prior; GRANT SELECT ON public.believed TO steward"
    )
    asked = by_sex(knowledge={"relation": "public.believed"})
    with refused("untrusted_code") as caught:
        publish(db, asked)
    assert "public.believed" in str(caught[0])
    assert publish(db, {**asked, "trust": ["source_owner"]}).version == 1


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("DELETE FROM public.prior WHERE sex = 'M'", "no prior for 1 combinations"),
        ("UPDATE public.prior SET probability = 0.4", "the probabilities of 2 combinations"),
        ("UPDATE public.prior SET probability = 'NaN'", "4 probabilities are negative, NaN"),
        ("INSERT INTO public.prior SELECT id + 10, sex, s, 0 FROM public.prior", "4 rows repeat"),
        ("DELETE FROM public.prior", "has no rows"),
    ],
)
def test_priors_that_are_none_are_refused_without_values(
    db: Database, change: str, part: str
) -> None:
    build(db, couples(), {"sex": "text", "s": "text"})
    db.source(f"UPDATE public.t SET s = '{SECRET}' WHERE s = 'a'", grant=False)
    give(db, {"F": [0.5, 0.5], "M": [0.6, 0.4]}, "ab")
    db.source(f"UPDATE public.prior SET s = '{SECRET}' WHERE s = 'a'", grant=False)
    db.source(change, grant=False)
    with refused("bad_priors") as caught:
        run(db.owner(), by_sex())
    assert part in str(caught[0])
    assert SECRET not in f"{caught[0]} {caught[0].hint}"


def test_a_prior_that_rules_out_what_somebody_has(db: Database) -> None:
    """It is wrong, and allowed; the owner is told of how many records."""
    build(db, couples(), {"sex": "text", "s": "text"})
    give(db, {"F": [1, 0], "M": [0.9, 0.1]}, "ab")
    staged = run(db.owner(), by_sex(j=0.5))
    said = staged.plan.method.form.publication.warnings(staged.plan.spec, staged.state.facts)
    assert any("probability 0" in text and "6" in text for text in said), said


def test_g8_j_does_not_bound_the_posterior(db: Database) -> None:
    """A limit that the documentation states: hiv is ruled out for F, so M has it for certain."""
    build(db, [("F", "flu"), ("M", "hiv")], {"sex": "text", "s": "text"})
    rows = [("F", "flu", 1.0), ("M", "flu", 0.95), ("M", "hiv", 0.05)]
    types = {"sex": "text", "s": "text", "probability": "float8"}
    make_table(db.connect("source_owner"), types, rows, name=("public", "prior"))
    staged = run(db.owner(), by_sex(j=0.03))
    assert groups(staged) == [[1, 2]]
    assert staged.verified("background_knowledge") == [pytest.approx(0.025462, abs=1e-6)]
    priors = {row["prior"]: row["probabilities"] for row in staged.table("prior")}
    held = [priors[row["prior"]] for row in staged.table("audit") for _ in range(row["n"])]
    found = posterior(held, [1, 1])
    assert found is not None
    assert max(map(max, found)) == 1
