"""Equal records of a source that are read as one row: the same release, of the same source."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any, LiteralString

import pytest
from psycopg import sql

from pganon.attacks.measure import Settings, attack
from pganon.catalog import introspect
from pganon.encode.distribution import beside_source
from pganon.encode.work import SNAP
from pganon.errors import PganonError
from pganon.forms.request import Request, Workload, parse_classify
from pganon.forms.work import DEALT
from pganon.plan.explain import explain
from pganon.run import context
from pganon.run.context import plan_release
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import citus, faults
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, loaded, prepared, run
from tests.support.sources.builders import make_table, policy
from tests.support.sources.every_model import EVERY

RECORDS = 480
COLUMNS = {
    "age": "integer",
    "zip": "text",
    "disease": "text",
    "cost": "numeric",
    "x": "double precision",
    "code": "char(4)",
}
ALL: dict[str, Any] = {
    "age": {},
    "zip": {},
    "disease": "sensitive",
    "cost": "insensitive",
    "x": "insensitive",
    "code": "insensitive",
}
METHODS: dict[str, dict[str, Any]] = {
    "one_dimensional": {"name": "one_dimensional"},
    "relaxed": {"name": "one_dimensional", "variant": "relaxed"},
    "mondrian": {"name": "mondrian"},
    "full_domain": {"name": "full_domain"},
}
OF_CLASSES = [model for model, (method, _) in EVERY.items() if method in METHODS]
DIVERSE = [{"model": "distinct_l_diversity", "column": "disease", "l": 2}]
DRY = Options(dry_run=True, seed=b"1")
HIERARCHIES = {
    "age": {"hierarchy": {"intervals": [5, 20]}},
    "zip": {"hierarchy": {"prefix": [1]}},
}
OF_RUN = ("read_records", "different_rows", "different_records", "counted_encoded", "stamp_")
"""Facts about rows and tables of the run itself."""


@pytest.fixture
def source(db: Database) -> Database:
    """No key: of 480 records about 250 are different, some in how a value looks alone."""
    rng = random.Random(7)
    looks = [["1.0", "0", "ab"], ["1.00", "-0", "ab"], ["2", "1.5", "a"], [None, None, None]]
    rows = [
        [
            min(rng.choice([20, 21, 30, 31, 44, 47, 52, 60, 71]), rng.randint(20, 99))
            if rng.random() < 0.9
            else None,
            rng.choice(["Z1", "Z1", "Z2", None]),
            rng.choice("abcd"),
            *rng.choice(looks[:2] if rng.random() < 0.6 else looks),
        ]
        for _ in range(RECORDS)
    ]
    owner = db.connect("source_owner")
    make_table(owner, COLUMNS, rows)
    owner.execute("ALTER TABLE public.t DROP COLUMN id")
    owner.execute(
        """
        CREATE TABLE public.resident AS
        SELECT t.age, t.zip FROM public.t AS t CROSS JOIN generate_series(1, 3);
        GRANT SELECT ON public.resident TO steward
        """
    )
    return db


def counted(monkeypatch: pytest.MonkeyPatch, does: bool) -> None:
    monkeypatch.setattr(context, "repeats", lambda *arguments, **named: does)


def both(
    db: Database, monkeypatch: pytest.MonkeyPatch, document: dict[str, Any], **options: Any
) -> tuple[Staged, Staged]:
    found: list[Staged] = []
    for does in (False, True):
        counted(monkeypatch, does)
        found.append(run(db.owner(), document, described=True, **options))
        assert found[-1].plan.spec.counted is does
    one, other = found
    return one, other


def check(one: Staged, other: Staged) -> None:
    """Equal facts, but for the last digits of sums, and equal relations, in the same order."""
    facts, others = (
        {name: value for name, value in staged.facts.items() if not name.startswith(OF_RUN)}
        for staged in (one, other)
    )
    floats = [name for name, value in facts.items() if isinstance(value, float)]
    assert [others.pop(name) for name in floats] == pytest.approx(
        [facts.pop(name) for name in floats], rel=1e-12
    )
    assert others == facts
    for part in ("classes", "records"):
        ordered = sql.SQL("SELECT t::text AS row FROM {} AS t ORDER BY ctid")
        first, second = (fetch(s.conn, ordered.format(s.name(part))) for s in (one, other))
        assert first == second
        assert first


def of_method(method: str, columns: dict[str, Any]) -> dict[str, Any]:
    if method != "full_domain":
        return columns
    return {name: {**HIERARCHIES.get(name, {}), **of(said)} for name, said in columns.items()}


def of(said: Any) -> dict[str, Any]:
    return {"role": said} if isinstance(said, str) else said


@pytest.mark.parametrize("model", ["k_anonymity", "distinct_l_diversity", "t_closeness"])
def test_divided_cells(source: Database, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    """Which records of a cell are in which class is decided by how they look."""
    document = policy(ALL, EVERY[model][1], method=METHODS["relaxed"])
    one, other = both(source, monkeypatch, document)
    check(one, other)
    dealt = sql.SQL("SELECT count(*) AS n FROM {}").format(other.state.work(DEALT).identifier)
    assert fetch(other.conn, dealt)[0]["n"] > 0


@pytest.mark.parametrize("nulls", ["as_value", "own_class", "suppress"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_the_same_release(
    source: Database, monkeypatch: pytest.MonkeyPatch, method: str, nulls: str
) -> None:
    columns = {**ALL, **{name: {"nulls": nulls} for name in ("age", "zip")}}
    document = policy(of_method(method, columns), 4, method=METHODS[method], suppression_limit=0.9)
    one, other = both(source, monkeypatch, document)
    check(one, other)
    assert other.facts["records"] == RECORDS
    assert other.facts["different_rows"] < RECORDS * 2 / 3
    rows = fetch(other.conn, sql.SQL("SELECT count(*) AS n FROM {}").format(other.name("records")))
    assert rows[0]["n"] == other.facts["published"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_rows_in_shards(source: Database, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Of a table that Citus distributes equal rows are counted before they come here."""
    citus.pretend(source, {"public.t": 8})
    citus.distribute(source, "public.t", "age")
    document = policy(of_method(method, ALL), 4, method=METHODS[method], suppression_limit=0.9)
    one, other = both(source, monkeypatch, {**document, "trust": ["source_owner"]})
    check(one, other)
    assert one.plan.spec.shards is not None
    assert (beside_source(one.plan.spec) is None) is (method == "relaxed")
    assert beside_source(other.plan.spec) is None
    assert other.facts["different_rows"] < RECORDS * 2 / 3


@pytest.mark.parametrize("model", OF_CLASSES)
def test_every_model(source: Database, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    method, privacy = EVERY[model]
    columns = of_method(method, {"age": {}, "zip": {}, "disease": "sensitive"})
    document = policy(columns, privacy, method={"name": method}, suppression_limit=0.9)
    check(*both(source, monkeypatch, document))


def test_classes_that_do_not_pay(source: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    pays = {"model": "profitability", "gain": 9, "cost": 2, "loss": 9, "benefit": 1}
    document = policy(
        ALL,
        [{"model": "k_anonymity", "k": 3}, pays],
        method={"name": "mondrian"},
        on_infeasible="suppress",
        suppression_limit=0.9,
    )
    one, other = both(source, monkeypatch, document)
    check(one, other)
    assert 0 < one.facts["suppressed"] < RECORDS


@pytest.mark.slow
def test_metrics_and_evidence(source: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random queries, sums, predictions and subgroups ask for records, not for rows."""
    document = policy({**ALL, "zip": {"nulls": "suppress"}}, 4, suppression_limit=0.5)
    document["report"] = {"subgroups": ["zip"]}
    for target in ("disease", "cost"):
        request = Request(
            everything=True,
            workload=Workload(queries=30, predicates=1, selectivity=0.4, seed=1),
            classify=parse_classify(target),
        )
        check(*both(source, monkeypatch, document, request=request))


@pytest.mark.slow
def test_an_unchanged_source(source: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fingerprint does not say how it was read."""
    dsn, document = source.dsn("steward"), loaded(policy(ALL, 4, republication="allow"))
    counted(monkeypatch, False)
    first = run_release(document, dsn=dsn)
    counted(monkeypatch, True)
    again = run_release(document, dsn=dsn)
    assert (first.version, first.outcome) == (1, "released")
    assert again.outcome == "unchanged"
    source.connect("source_owner").execute(
        "INSERT INTO public.t SELECT * FROM public.t WHERE zip = 'Z1' LIMIT 1"
    )
    assert run_release(document, dsn=dsn).outcome == "released"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": {}}, r"column x holds NaN or an infinity in 3 records"),
        ({"age": {"nulls": "reject"}}, r"column age is NULL in \d\d records"),
        ({"age": {"domain": [25, 60]}}, r"outside its domain in \d\d\d records"),
    ],
)
def test_refusals_count_records(
    source: Database, monkeypatch: pytest.MonkeyPatch, columns: dict[str, Any], message: str
) -> None:
    source.connect("source_owner").execute(
        "UPDATE public.t SET x = 'NaN' WHERE ctid = ANY (ARRAY(SELECT ctid FROM public.t LIMIT 3))"
    )
    found = []
    for does in (False, True):
        counted(monkeypatch, does)
        with pytest.raises(PganonError, match=message) as caught:
            run(source.owner(), policy({"zip": {}, **columns}, 4))
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_people_who_are_not_in_the_population(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.connect("source_owner").execute(
        "DELETE FROM public.resident WHERE ctid = ANY (ARRAY(SELECT DISTINCT ON (age, zip) ctid"
        " FROM public.resident ORDER BY age, zip, ctid)) OR zip = 'Z2' AND age > 40"
    )
    method, privacy = EVERY["delta_presence"]
    columns = of_method(method, {"age": {}, "zip": {}})
    document = policy(columns, privacy, method={"name": method}, suppression_limit=0.9)
    found = []
    for does in (False, True):
        counted(monkeypatch, does)
        with pytest.raises(PganonError) as caught:
            run(source.owner(), document)
        found.append((caught.value.code, str(caught.value)))
    assert found[0] == found[1]
    assert found[0][0] == "not_in_population"


@pytest.mark.parametrize("model", [*OF_CLASSES, "relaxed", None])
def test_every_reader_knows_of_the_number(
    source: Database, monkeypatch: pytest.MonkeyPatch, model: str | None
) -> None:
    """Whatever reads rows of the source asks how many records they are."""
    counted(monkeypatch, True)
    method, privacy = EVERY.get(model or "", (model or "mondrian", DIVERSE))
    columns = ALL if model is None else {"age": {}, "disease": "sensitive"}
    columns = of_method(method, {**columns, "zip": {"nulls": "suppress"}})
    document = policy(columns, privacy, method=METHODS[method])
    request = Request()
    if model is None:
        request = Request(True, Workload(9, 1, 0.4, 1), classify=parse_classify("disease"))
    plan = prepared(source.owner(), document, request=request).plan
    found = [*explain(plan), *explain(replace(plan, reasoned=True))]
    rows = re.compile(r'(FROM|JOIN) "pganon_work"."r0_(snap|coded|left_out)"')
    readers = {f"{one.phase}.{one.step}": one.sql for one in found if rows.search(one.sql)}
    assert len(readers) > 8
    assert [name for name, text in readers.items() if '"times"' not in text] == []


@pytest.mark.parametrize(
    ("change", "steps", "message"),
    [
        ("DELETE FROM {} WHERE q0 = 44", 1, "were read, and"),
        ("DELETE FROM {} WHERE q0 = 44", 2, "were to be encoded"),
        ("UPDATE {} SET times = times + 1", 2, "were to be encoded"),
    ],
)
def test_lost_rows_are_found(
    source: Database,
    monkeypatch: pytest.MonkeyPatch,
    change: LiteralString,
    steps: int,
    message: str,
) -> None:
    """Rows and records are counted; `steps` of the snapshot are over when some are gone."""
    counted(monkeypatch, True)
    computation = prepared(source.owner(), policy(ALL, 4))
    snapshot, encode = computation.plan.reading
    computation.walk(replace(snapshot, steps=snapshot.steps[:steps]))
    table = computation.state.work(SNAP).identifier
    source.owner().execute(sql.SQL(change).format(table))
    with pytest.raises(PganonError, match=message):
        computation.walk(replace(snapshot, steps=snapshot.steps[steps:]), encode)


@pytest.mark.parametrize(
    ("change", "others"),
    [
        ("ALTER TABLE public.t ADD COLUMN id serial PRIMARY KEY", {}),
        ("ALTER TABLE public.t ADD COLUMN w integer NOT NULL DEFAULT 2", {"w": "weight"}),
        ("ALTER TABLE public.t ADD COLUMN who text", {"who": "individual"}),
    ],
)
def test_sources_that_are_not_counted(
    source: Database,
    monkeypatch: pytest.MonkeyPatch,
    change: LiteralString,
    others: dict[str, Any],
) -> None:
    """Records with a key, a weight or a person are each another one."""
    source.connect("source_owner").execute(change)
    counted(monkeypatch, True)
    more = {"records_per_individual": "many_accepted"} if "who" in others else {}
    plan = prepared(source.owner(), policy({"age": {}, **others}, 4, **more)).plan
    assert not plan.spec.counted


@pytest.mark.parametrize("method", ["anatomy", "slicing"])
def test_methods_that_place_records(
    source: Database, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    counted(monkeypatch, True)
    privacy = {
        "anatomy": [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}],
        "slicing": [{"model": "slicing_l_diversity", "column": "disease", "l": 2}],
    }
    columns = {"age": {}, "zip": {}, "disease": "sensitive"}
    document = policy(columns, privacy[method], method={"name": method})
    assert not prepared(source.owner(), document).plan.spec.counted


@pytest.mark.slow
def test_candidates_share_a_snapshot_of_records(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its columns do not depend on the method."""
    found: list[Any] = []
    for does in (False, True):
        counted(monkeypatch, does)
        compared = faults.compared(source.dsn(), "k=4,6", loaded=loaded(policy(ALL, 4)))
        rows = [row.figures for row in compared.candidates]
        found.append([replace(figures, seconds=0.0) for figures in rows if figures is not None])
    assert found[0] == found[1]
    assert len(found[0]) == 2


@pytest.mark.slow
def test_attacks(source: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """People are records of the snapshot."""
    found: list[Any] = []
    for does in (False, True):
        counted(monkeypatch, does)
        attacked = attack(
            loaded(policy(ALL, DIVERSE)), Settings(), dsn=source.dsn(), options=Options()
        )
        assert attacked.records == RECORDS
        found.append(attacked.findings)
    assert found[0] == found[1]


def test_dry_runs(source: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What columns cost, and which of them decide."""
    source.connect("source_owner").execute("UPDATE public.t SET disease = 'z' WHERE zip = 'Z2'")
    found: list[Any] = []
    for does in (False, True):
        counted(monkeypatch, does)
        result = run_release(loaded(policy(ALL, DIVERSE)), dsn=source.dsn("steward"), options=DRY)
        found.append((result.reasons, result.utility, result.verified))
    assert found[0] == found[1]
    assert any(reason.decides for reason in found[0][0])


# -- when it pays ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "pays"),
    [
        ("n % 40 AS a, n % 7 AS b", True),
        ("n % 40 AS a, n % 7 AS b, (random() * 30)::int AS c", False),
        ("n % 40 AS a, n AS b", False),
        ("n % 40 AS a, NULL::integer AS b", True),
        ("1 AS a", True),
        (", ".join(["n AS a"] + [f"n AS a{place}" for place in range(120)]), False),
    ],
    ids=["few", "many", "a key", "nothing", "one", "keys"],
)
def test_when_rows_repeat(
    db: Database, monkeypatch: pytest.MonkeyPatch, columns: LiteralString, pays: bool
) -> None:
    """At least two rows and a half for each different one, as the statistics say."""
    monkeypatch.setattr(introspect, "REPEATED_FROM", 2_000)
    names = [part.split()[-1] for part in columns.split(", ")]
    owner = db.connect("source_owner")
    owner.execute("SELECT setseed(0.5)")
    made = "CREATE TABLE public.t AS SELECT {} FROM generate_series(1, 2800) AS n"
    owner.execute(sql.SQL(made).format(sql.SQL(columns)))
    owner.execute("GRANT SELECT ON public.t TO steward")
    conn = db.owner()
    relation = introspect.read_relation(conn, "public.t")
    assert not introspect.repeats(conn, relation, names), "no statistics"
    owner.execute("ANALYZE public.t")
    assert introspect.repeats(conn, relation, names) is pays
    assert not introspect.repeats(conn, relation, [*names, "nowhere"])
    owner.execute("TRUNCATE public.t")
    monkeypatch.setattr(introspect, "ask", None)  # nothing is asked of columns then
    assert not introspect.repeats(conn, relation, names), "too few rows"


@pytest.mark.parametrize(
    ("kinds", "here", "there"), [(200, True, True), (400, True, False), (2_000, False, False)]
)
def test_when_rows_repeat_in_shards(
    db: Database, monkeypatch: pytest.MonkeyPatch, kinds: int, here: bool, there: bool
) -> None:
    """At least ten rows for each different one, in a shard: each sends its own."""
    monkeypatch.setattr(introspect, "REPEATED_FROM", 2_000)
    citus.pretend(db, {})
    owner, conn = db.connect("source_owner"), db.owner()
    made = sql.SQL("SELECT n % {} AS a, n % 5 AS b FROM generate_series(1, 2800) AS n").format(
        kinds
    )
    owner.execute(sql.SQL("CREATE TABLE public.t AS {}").format(made))
    owner.execute("GRANT SELECT ON public.t TO steward")
    relation = introspect.read_relation(conn, "public.t")
    db.admin.execute("INSERT INTO pg_dist_shard VALUES ('public.t', 2), ('public.t', 3)")
    assert not introspect.repeats(conn, relation, ["a"], in_shards=True), "no shard"
    owner.execute(sql.SQL("CREATE TABLE public.t_2 AS {}").format(made))
    owner.execute("GRANT SELECT ON public.t_2 TO steward")
    assert not introspect.repeats(conn, relation, ["a"], in_shards=True), "no statistics"
    db.admin.execute(
        b"CREATE SCHEMA other; CREATE TABLE other.t_2 AS SELECT n AS a FROM generate_series(1, 99)"
        b" AS n; GRANT USAGE ON SCHEMA other TO steward; GRANT SELECT ON other.t_2 TO steward;"
        b" ANALYZE other.t_2"
    )
    owner.execute("ANALYZE public.t, public.t_2")
    assert introspect.repeats(conn, relation, ["a"]) is here
    assert introspect.repeats(conn, relation, ["a"], in_shards=True) is there
    assert not introspect.repeats(conn, relation, ["a", "nowhere"], in_shards=True)
    monkeypatch.setattr(introspect, "REPEATED_FROM", 2_801)
    assert not introspect.repeats(conn, relation, ["a"], in_shards=True), "too few rows"
    monkeypatch.setattr(introspect, "REPEATED_FROM", 2_000)
    db.admin.execute(
        b"CREATE TABLE public.u (); ALTER TABLE public.t_2 RENAME TO u_2;"
        b" UPDATE pg_dist_shard SET logicalrelid = 'public.u'::regclass"
    )
    assert not introspect.repeats(conn, relation, ["a"], in_shards=True), "of another table"
    db.admin.execute(
        b"SET allow_system_table_mods = on; CREATE OR REPLACE FUNCTION"
        b" pg_catalog.run_command_on_all_nodes(text, OUT nodeid integer, OUT success boolean,"
        b" OUT result text) RETURNS SETOF record LANGUAGE sql AS $$ SELECT 1, false, 'ERROR' $$;"
        b" UPDATE pg_dist_shard SET logicalrelid = 'public.t'::regclass"
    )
    assert not introspect.repeats(conn, relation, ["a"], in_shards=True), "no answer"


@pytest.mark.parametrize("analyzed", ["public.t", "public.t_1"])
def test_the_plan_says_so(db: Database, monkeypatch: pytest.MonkeyPatch, analyzed: str) -> None:
    """By statistics of the table, or of one of its shards."""
    monkeypatch.setattr(introspect, "REPEATED_FROM", 100)
    owner, made = db.connect("source_owner"), "SELECT n % 9 AS a FROM generate_series(1, 900) AS n"
    for table in dict.fromkeys(("public.t", analyzed)):
        owner.execute(
            f"CREATE TABLE {table} AS {made}; GRANT SELECT ON {table} TO steward".encode()
        )
    if analyzed != "public.t":
        citus.pretend(db, {"public.t": 1})
        citus.distribute(db, "public.t", "a")
    asked = loaded(policy({"a": {}}, 4, trust=["source_owner"]))
    found = []
    for done in ("SELECT", f"ANALYZE {analyzed}"):
        owner.execute(done.encode())
        plan = plan_release(asked, dsn=db.dsn("steward"))
        found.append(plan.reading[0].steps[0].purpose)
    assert found == ["read the source, once", "read the source, once, and count equal rows"]
