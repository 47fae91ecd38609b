"""Dry runs side by side: one snapshot, nothing published, everything in the ledger."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from pganon.candidates.figures import Compared
from pganon.database import Settings
from pganon.errors import PganonError, PreconditionError, StatementTimeout, UsageError
from pganon.forms.request import Request
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from pganon.publish import listing
from pganon.resolved.model import ReleaseSpec
from pganon.run.context import resolve_policy
from pganon.run.erasure import forget_people
from pganon.run.options import Options
from pganon.run.release import run_release
from pganon.run.tables import clean
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table


@pytest.fixture
def source(db: Database) -> Database:
    db.source(faults.SOURCE)
    return db


def compared(db: Database, *varied: str, **how: Any) -> Compared:
    return faults.compared(db.dsn(), *varied, **how)


def ledger(conn: Connection) -> list[tuple[int, str, dict[str, Any]]]:
    return conn.execute(
        "SELECT run_id, event, details FROM pganon_private.ledger ORDER BY id"
    ).fetchall()


def state(conn: Connection) -> list[tuple[object, ...]]:
    """All relations, secrets, locks and versions that there are."""
    return conn.execute(
        "SELECT 'c', c.oid::text, c.relname, c.relacl::text FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_'"
        " UNION ALL SELECT 's', s.run_id::text, '', '' FROM pganon_private.run_secret AS s"
        " UNION ALL SELECT 'a', a.kind, '', '' FROM pganon_private.activity AS a"
        " UNION ALL SELECT 'v', v.release, v.version::text, '' FROM pganon_private.version AS v"
        " UNION ALL SELECT 'p', p.release, p.revision::text, '' FROM pganon_private.policy AS p"
        " ORDER BY 1, 2, 3"
    ).fetchall()


@pytest.mark.slow
def test_figures_are_those_of_dry_runs(source: Database) -> None:
    found = compared(source, "k=8,12")
    assert [row.varied for row in found.candidates] == [{"k": 8}, {"k": 12}]
    for row in found.candidates:
        privacy = [{**model} for model in faults.POLICY["privacy"]]
        privacy[0]["k"] = row.varied["k"]
        how = Options(dry_run=True, seed=b"1", metrics=Request(workload=found.workload))
        alone = run_release(faults.policy(privacy=privacy), dsn=source.dsn(), options=how)
        figures = row.figures
        assert figures is not None
        assert alone.utility is not None
        assert (figures.highest_risk, figures.mean_risk) == (
            alone.utility.highest_risk,
            alone.utility.mean_risk,
        )
        assert (figures.loss, figures.verified) == (alone.utility.gcp, alone.verified)
        assert figures.median_error == alone.metrics.workload.count.median
        assert (figures.groups, figures.suppressed) == (alone.utility.classes, 0)
    assert (found.records, found.seed, found.release) == (24, 1, "patients")


@pytest.mark.slow
def test_it_leaves_nothing_but_rows_in_the_ledger(source: Database) -> None:
    conn = source.owner()
    before = state(conn)
    found = compared(source, "k=8,12,25", methods=("mondrian", "anatomy"))
    assert state(conn) == before
    assert driver.leftovers(source) == []
    assert faults.content(conn) is None
    first, *candidates, last = ledger(conn)
    assert first == (found.comparison, "started", {"candidates": 3})
    # Those of anatomy, which cannot serve the policy, never read anything.
    assert last == (found.comparison, "dry_run", {"candidates": 3, "refused": 1})
    started = [row for row in candidates if row[1] == "started"]
    assert [details for *_, details in started] == [{"comparison": found.comparison}] * 3
    assert [event for _, event, _ in candidates if event != "started"] == [
        *("dry_run", "dry_run", "refused")
    ]
    runs = [row.run_id for row in found.candidates if row.run_id is not None]
    assert runs == [run for run, *_ in started[:2]]


@pytest.mark.slow
def test_every_table_is_private(source: Database) -> None:
    """And belongs to the steward, as whom tests connect: no superuser's rights are needed."""
    conn = source.owner()
    seen: set[str] = set()

    def look(step: str) -> None:
        seen.update(faults.run_tables(conn))
        assert faults.exposed(conn) == [], step

    found = compared(source, "k=8,12", before=look)
    snapshots = {name for name in seen if name.endswith("_snap")}
    assert f"pganon_work.r{found.comparison}_snap" in snapshots
    assert len(snapshots) == 3
    assert not any(name.startswith("published.") for name in seen)


@pytest.mark.slow
def test_a_source_that_changes_meanwhile_changes_nothing(source: Database) -> None:
    owner = source.connect("source_owner")
    wanted = compared(source, "k=8,12")

    change = faults.at(
        "candidate 2 of 2: snapshot.snapshot",
        lambda: owner.execute("DELETE FROM public.patient WHERE id > 2"),
    )
    found = compared(source, "k=8,12", before=change)
    assert owner.execute("SELECT count(*) FROM public.patient").fetchone() == (2,)
    assert [row.figures and row.figures.loss for row in found.candidates] == [
        row.figures and row.figures.loss for row in wanted.candidates
    ]
    assert found.records == 24


@pytest.mark.slow
def test_the_source_is_read_once(source: Database) -> None:
    with source.connect("source_owner") as owner:
        # A view that counts its readings.
        owner.execute(
            "CREATE SEQUENCE public.readings; GRANT USAGE ON SEQUENCE public.readings TO steward;"
            "CREATE VIEW public.counted AS SELECT p.* FROM public.patient AS p"
            " CROSS JOIN (SELECT nextval('public.readings') AS n OFFSET 0) AS r;"
            "GRANT SELECT ON public.counted TO steward"
        )
    view = faults.policy(source="public.counted", release="counted", trust=["source_owner"])
    compared(source, "k=8,12", loaded=view)
    with source.connect("source_owner") as owner:
        assert owner.execute("SELECT last_value, is_called FROM public.readings").fetchone() == (
            1,
            True,
        )


@pytest.mark.slow
def test_a_hierarchy_that_changes_meanwhile_ends_it(source: Database) -> None:
    owner = source.connect("source_owner")
    owner.execute(
        "CREATE TABLE public.places (city text, region text, all_places text);"
        "INSERT INTO public.places VALUES ('Rome', 'south', 'any'), ('Bern', 'south', 'any'),"
        " ('Oslo', 'north', 'any'), ('Kyiv', 'north', 'any');"
        "GRANT SELECT ON public.places TO steward"
    )
    columns = json.loads(json.dumps(faults.POLICY["columns"]))
    columns["city"]["hierarchy"] = {"table": "public.places"}

    change = faults.at(
        "candidate 2 of 2: snapshot.snapshot",
        lambda: owner.execute("UPDATE public.places SET region = 'east' WHERE city = 'Kyiv'"),
    )
    loaded = faults.policy(columns=columns)
    compared(source, "k=8,12", loaded=loaded)
    with pytest.raises(PreconditionError) as error:
        compared(source, "k=8,12", loaded=loaded, before=change)
    assert error.value.code == "source_changed"
    assert "changed between the dry runs" in error.value.message
    assert driver.leftovers(source) == []
    assert faults.events(source.owner())[-2:] == ["failed: source_changed"] * 2


@pytest.mark.slow
def test_candidates_may_name_other_relations(source: Database) -> None:
    """Each is what it was to every candidate that names it."""
    owner = source.connect("source_owner")
    for name in ("registered", "known"):
        owner.execute(
            f"CREATE TABLE public.{name} AS SELECT age, city FROM public.patient;"
            f"GRANT SELECT ON public.{name} TO steward"
        )
    owner.execute("INSERT INTO public.known VALUES (90, 'Rome')")
    sets = {"age": "person", "city": "person", "sex": "visit", "disease": "visit"}
    columns = {name: {"role": "quasi_sensitive", "set": of} for name, of in sets.items()}
    loaded = load_policy(
        json.dumps(
            {
                "release": "patients",
                "source": "public.patient",
                "columns": columns,
                "privacy": [{"model": "qs_k_anonymity", "k": 3}],
                "method": {"name": "qs_greedy"},
            }
        )
    )
    public = "public={person: public.registered},{person: public.known}"
    found = compared(source, public, "k=2,3", loaded=loaded)
    assert [row.figures is not None for row in found.candidates] == [True] * 4, found.candidates
    change = faults.at(
        "candidate 3 of 4: snapshot.snapshot",
        lambda: owner.execute("DELETE FROM public.known WHERE city = 'Rome'"),
    )
    assert len(compared(source, public, "k=2,3", loaded=loaded, before=change).candidates) == 4
    change = faults.at(
        "candidate 4 of 4: snapshot.snapshot",
        lambda: owner.execute("DELETE FROM public.known WHERE city = 'Oslo'"),
    )
    with pytest.raises(PreconditionError, match="changed between the dry runs"):
        compared(source, public, "k=2,3", loaded=loaded, before=change)


@pytest.mark.slow
def test_what_is_refused_is_a_row(source: Database) -> None:
    found = compared(source, "k=25,8", methods=("mondrian", "anatomy"))
    assert [(row.verdict, row.code) for row in found.candidates] == [
        ("refused", "too_few_records"),
        ("candidate", None),
        ("refused", "policy"),
        ("refused", "policy"),
    ]
    assert found.candidates[0].reason == (
        "public.patient has 24 records, a class needs at least 25"
    )
    assert "the method anatomy cannot guarantee k_anonymity" in (found.candidates[2].reason or "")
    assert [row.exit_code for row in found.candidates] == [1, 0, 2, 2]


def test_one_that_takes_too_long_is_a_row(source: Database) -> None:
    """And later ones have the same time again, which the end of the first did not."""
    conns: list[Connection] = []
    timeouts: list[str] = []

    def late(step: str) -> None:
        row = conns[0].execute("SHOW statement_timeout").fetchone()
        assert row is not None
        timeouts.append(row[0])
        if step.startswith("candidate 1 of 2: partition"):
            raise StatementTimeout("a statement took too long")

    settings = Settings(statement_timeout="10min")
    with faults.run_connection(conns.append):
        found = compared(source, "k=8,12", before=late, settings=settings)
    assert [row.code for row in found.candidates] == ["statement_timeout", None]
    assert found.candidates[0].exit_code == 3
    assert set(timeouts) == {"10min"}
    assert driver.leftovers(source) == []


def test_what_is_wrong_with_all_ends_it(source: Database) -> None:
    conn = source.owner()
    with pytest.raises(PganonError, match="not roles of the server"):
        compared(source, "k=8", loaded=faults.policy(publish={"readers": ["nobody_such"]}))
    with pytest.raises(PganonError, match=r"no table or view public\.nothing"):
        compared(source, "k=8", loaded=faults.policy(source="public.nothing"))
    assert ledger(conn) == []


@pytest.mark.parametrize("refresh", ["increments", "invariant"])
def test_a_release_that_grows_has_nothing_to_compare(source: Database, refresh: str) -> None:
    if refresh == "increments":
        loaded = faults.policy(refresh=refresh)
    else:
        text = {
            "release": "patients",
            "source": "public.patient",
            "columns": {"age": {"role": "quasi_identifying"}, "disease": {"role": "sensitive"}},
            "privacy": [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}],
            "method": {"name": "anatomy"},
            "refresh": refresh,
        }
        loaded = load_policy(json.dumps(text))
    with pytest.raises(UsageError, match=f"refresh: {refresh}"):
        compared(source, loaded=loaded)


@pytest.mark.slow
def test_nobody_else_works_on_the_release_meanwhile(source: Database) -> None:
    codes: list[str] = []

    def run() -> None:
        with pytest.raises(PreconditionError) as error:
            faults.run(source.dsn())
        codes.append(error.value.code)

    compared(source, "k=8,12", before=faults.at("candidate 1 of 2: snapshot.snapshot", run))
    assert codes == ["busy"]


@pytest.mark.slow
def test_beside_versions_that_there_are(source: Database) -> None:
    """What other versions tell is not held against candidates; a run decides about that."""
    faults.run(source.dsn())
    conn = source.owner()
    before = state(conn), faults.content(conn)
    found = compared(source, "k=8,11")
    assert "refused" not in {row.verdict for row in found.candidates}
    assert (state(conn), faults.content(conn)) == before
    tried = listing.show(conn, "patients").compared
    assert tried is not None
    assert (tried.candidates, tried.comparisons) == (2, 1)
    compared(source, "k=8,11,12")
    tried = listing.show(conn, "patients").compared
    assert tried is not None
    assert (tried.candidates, tried.comparisons) == (5, 2)


@pytest.mark.slow
def test_people_who_were_forgotten_are_not_counted(source: Database) -> None:
    faults.run(source.dsn())
    source.source("CREATE TABLE public.gone AS SELECT id FROM public.patient WHERE id < 3")
    forget_people(source.connect("steward"), "patients", "public.gone")
    found = compared(source, "k=8")
    assert found.records == 22
    how = Options(dry_run=True, seed=b"1")
    assert run_release(faults.policy(), dsn=source.dsn(), options=how).records == 22


@pytest.mark.slow
def test_an_interrupt_removes_everything(source: Database) -> None:
    conn = source.owner()
    before = state(conn)

    def interrupt(step: str) -> None:
        if step.startswith("candidate 2 of 2: partition"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as error:
        compared(source, "k=8,12", before=interrupt)
    assert error.value.__notes__ == [
        "this is not all: candidate 2 may be better, and had no dry run",
        "nothing was published, and its tables were removed",
    ]
    assert state(conn) == before
    assert faults.events(conn) == [
        *("started", "started", "dry_run", "started"),
        *("failed: interrupted", "failed: interrupted"),
    ]


def test_a_snapshot_that_cannot_be_removed_is_left_to_the_next_run(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while a backup holds it; what was measured is shown."""

    def held(conn: Connection, run_id: int) -> int:
        raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout")

    conn = source.owner()
    with monkeypatch.context() as patched:
        patched.setattr("pganon.run.dry_run.drop_run", held)
        found = compared(source, "k=8")
    assert [row.verdict for row in found.candidates] == ["candidate"]
    assert faults.events(conn)[-1] == "dry_run"
    assert faults.run_tables(conn) == [f"pganon_work.r{found.comparison}_snap"]
    assert clean(conn).interrupted == ()
    assert driver.leftovers(source) == []


@pytest.mark.slow
def test_losses_of_different_forms(source: Database) -> None:
    """Both answer the same queries, which restrict the sensitive column as buckets need."""
    loaded = faults.policy(
        columns={
            "age": {"role": "quasi_identifying", "nulls": "suppress"},
            "disease": {"role": "sensitive"},
        },
        privacy=[
            {"model": "k_anonymity", "k": 3},
            {"model": "t_closeness", "column": "disease", "t": 0.6},
        ],
        suppression_limit=0.2,
    )
    found = compared(source, loaded=loaded, methods=("mondrian", "lgb_mdp"))
    classes, local = (row.figures for row in found.candidates)
    assert classes is not None
    assert local is not None
    assert (classes.form, local.form) == ("classes", "groups")
    assert (local.highest_risk, local.mean_risk) == (None, None)
    assert classes.highest_risk is not None
    assert classes.highest_risk > 0.09
    assert (classes.suppressed, local.suppressed) == (2 / 24, 2 / 24)
    assert classes.median_error is not None
    assert local.median_error is not None
    assert found.workload.sensitive is True
    assert [row.verdict for row in found.candidates] == ["above_limit", "candidate"]
    alone = compared(source, loaded=loaded, methods=("mondrian",))
    assert alone.workload.sensitive is False


@pytest.mark.slow
def test_a_form_that_answers_no_queries(db: Database) -> None:
    make_table(
        db.connect("source_owner"), vehicles.COLUMNS, vehicles.rows(60), name=("public", "vehicle")
    )
    loaded = vehicles.policy(method={"name": "qs_greedy"})
    first, second = compared(db, "k=2,3", loaded=loaded).candidates
    assert first.figures is not None
    assert second.figures is not None
    assert (first.figures.form, first.figures.median_error) == ("clusters", None)
    assert first.figures.groups > second.figures.groups
    assert first.figures.loss < second.figures.loss
    assert {first.verdict, second.verdict} == {"candidate"}


def test_a_table_that_is_altered_before_it_is_read(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[LoadedPolicy] = []

    def altered(conn: Connection, loaded: LoadedPolicy) -> ReleaseSpec:
        asked.append(loaded)
        if len(asked) == 3:
            with source.connect("source_owner") as owner:
                owner.execute("ALTER TABLE public.patient ALTER COLUMN days TYPE bigint")
        return resolve_policy(conn, loaded)

    monkeypatch.setattr("pganon.candidates.compare.resolve_policy", altered)
    with pytest.raises(PreconditionError) as error:
        compared(source, "k=8,12")
    assert error.value.code == "source_changed"
    assert ledger(source.owner()) == []


KILLED = (
    "snapshot.snapshot",
    "candidate 1 of 2: snapshot.inspect",
    "candidate 2 of 2: verify.utility",
)
"""Steps before which a comparison dies."""


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_killed(source: Database) -> None:
    """Everything stays private, and the next run or comparison removes what is left."""
    conn = source.owner()
    before = state(conn)
    with faults.ForkServer() as server:
        for step in KILLED:
            with server.stopped(source.dsn(), step, "comparison"):
                assert faults.exposed(conn) == [], step
                assert bool(faults.run_tables(conn)) is (step != KILLED[0]), step
            faults.wait_for_backends(conn)
            assert faults.exposed(conn) == [], step
            assert faults.content(conn) is None
            cleaned = clean(conn)
            # The comparison, and the candidate that was measured.
            assert len(cleaned.interrupted) == 1 + step.startswith("candidate"), step
            assert cleaned.alive == ()
            assert state(conn) == before, step
        with server.stopped(source.dsn(), KILLED[-1], "comparison"):
            pass
        faults.wait_for_backends(conn)
    compared(source, "k=8,12")
    assert state(conn) == before
    # Three of the killed ones had begun with a candidate, two with both.
    tried = conn.execute(
        "SELECT count(*) FROM pganon_private.ledger WHERE event = 'started'"
        " AND details ? 'comparison'"
    ).fetchone()
    assert tried == (1 + 2 + 2 + 2,)
