"""Attacks on planted tables, who is held out, and what is left behind."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pganon.attacks import measure
from pganon.attacks.findings import Attacked
from pganon.attacks.intervals import Difference
from pganon.attacks.reader_view import Release
from pganon.errors import PreconditionError, PrivacyRefusal, UsageError
from pganon.forms.confidential import told_finding
from pganon.run.tables import clean
from tests.support.harness import driver, faults, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

# `town` tells `told` of everybody; `drawn` is told by nothing, and `coin` has two values.
PLANTED = """
CREATE TABLE public.person (
    id integer PRIMARY KEY, age integer NOT NULL, town text NOT NULL,
    told text NOT NULL, drawn text NOT NULL, coin text NOT NULL
);
INSERT INTO public.person
SELECT n, n, 't' || n % 4, 'd' || n % 4, 'Zanzibar-7319-' || abs(hashint4(n)::bigint) % 50,
    'c' || abs(hashint4(-n)::bigint) % 2
FROM generate_series(1, 400) AS n
"""


def policy(k: int, *sensitive: str, **changes: Any) -> dict[str, Any]:
    return {
        "release": "people",
        "source": "public.person",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "town": {"role": "quasi_identifying"},
            **{name: {"role": "sensitive"} for name in sensitive},
        },
        "privacy": [{"model": "k_anonymity", "k": k}],
        "method": {"name": "mondrian"},
        **changes,
    }


def attacked(db: Database, declared: dict[str, Any], **how: Any) -> Attacked:
    return faults.attacked(db.dsn(), driver.loaded(declared), **how)


def shares(
    found: Attacked, adversary: str, column: str | None = None
) -> tuple[float, float, float, Difference]:
    """Of the release, of members and of the control group, and the difference of these."""
    [one] = [f for f in found.findings if (f.adversary, f.column) == (adversary, column)]
    assert one.release
    assert one.members
    assert one.control
    assert one.difference
    return one.release.share, one.members.share, one.control.share, one.difference


def planted(db: Database) -> dict[int, Attacked]:
    db.source(PLANTED)
    return {
        2: attacked(db, policy(2, "told", "drawn")),
        60: attacked(db, policy(60, "coin"), targets=50),
    }


def test_what_a_release_gives_away_and_what_anybody_knows(db_after: Any) -> None:
    """Of pairs, the value of one is half of what a reader sees."""
    _, found = db_after(planted)
    # With two columns each list of the attacker has one.
    assert found[2].not_measured == ()
    assert {one.attack for one in found[2].findings} == {
        *("singling_out", "linkability", "membership", "inference")
    }
    release, leaked, guessed, difference = shares(found[2], "quasi_identifiers", "drawn")
    assert min(release, leaked) > 0.3
    assert guessed < 0.15
    assert difference.low > 0.15
    _, more, _, _ = shares(found[2], "others_known", "drawn")
    assert more > leaked + 0.2
    # The town tells it of people who are in no release.
    _, members, control, difference = shares(found[2], "correlations", "told")
    assert members == control == 1.0
    assert difference.low < 0 < difference.high
    [stated] = [one for one in found[2].findings if one.attack == "singling_out"]
    # Of more rows than that.
    assert [rate and rate.attempts for rate in (stated.release, stated.members)] == [100, 100]
    _, members, control, _ = shares(found[2], "published_row")
    assert members > 0.9
    assert control < 0.1


def _run(table: str) -> int:
    return int(table.split("_")[1].split(".r")[1])


@pytest.mark.slow
def test_values_that_nothing_tells(db_after: Any) -> None:
    _, found = db_after(planted)
    for adversary in ("quasi_identifiers", "others_known", "correlations"):
        *_, difference = shares(found[60], adversary, "coin")
        [one] = [f for f in found[60].findings if f.adversary == adversary]
        assert [rate and rate.attempts for rate in (one.release, one.members, one.control)] == (
            [50, 50, 50]
        )
        assert difference.low < 0 < difference.high
    assert (found[60].people, found[60].control_people, found[60].targets) == (400, 100, 50)
    assert (found[60].records, found[60].known_others) == (400, 1)


@pytest.mark.slow
def test_everybody_held_out_is_a_control(db: Database) -> None:
    """Pairs have a value of their own. A row is true of one person held out if his twin is not."""
    db.source(
        "CREATE TABLE public.twin AS SELECT n AS id, 30 AS age, 't' AS town, 'd' || n / 2 AS told"
        " FROM generate_series(2, 201) AS n; ALTER TABLE public.twin ADD PRIMARY KEY (id)"
    )
    conn = db.owner()
    values: dict[int, str] = {}

    def look(step: str) -> None:
        if step == "shadow release: encode.source":
            [name] = [t for t in faults.run_tables(conn) if t.endswith("_drawn")]
            rows = conn.execute(f"SELECT place, s0 FROM {name}".encode()).fetchall()
            values.update(rows)

    declared = policy(5, "told", source="public.twin")
    found = faults.attacked(
        db.dsn(), driver.loaded(declared), before=look, targets=1000, control=0.245, seed=3
    )
    held = found.control_people
    assert held == 49
    assert len(values) == 200
    out = Counter(value for place, value in values.items() if place <= held)
    alone = {value for value, n in out.items() if n == 1}
    assert values[held] in alone
    [stated] = [one for one in found.findings if one.attack == "singling_out"]
    assert stated.control is not None
    assert stated.members is not None
    assert stated.control.successes == stated.members.successes == len(alone)
    assert stated.members.attempts == len(alone)


@pytest.mark.slow
def test_people_are_drawn_by_who_they_are(db: Database) -> None:
    """Whatever the order of rows, with all of their records, with and without a key."""
    db.source(
        "CREATE TABLE public.a AS SELECT n / 2 AS who, 20 + n % 9 AS age, 't' || n % 3 AS town,"
        " 'd' || n % 5 AS told FROM generate_series(0, 199) AS n;"
        "CREATE TABLE public.b AS SELECT * FROM public.a ORDER BY age DESC, who"
    )
    conn = db.owner()
    drawn: list[list[Any]] = []

    def look(step: str) -> None:
        if step == "shadow release: encode.source":
            [name] = [t for t in faults.run_tables(conn) if t.endswith("_drawn")]
            rows = conn.execute(f"SELECT person, place FROM {name} ORDER BY 1, 2".encode())
            drawn.append(rows.fetchall())
            snapshots = [t for t in faults.run_tables(conn) if t.endswith("_snap")]
            shadow = max(snapshots, key=_run)
            left.append(conn.execute(f"SELECT FROM {shadow}".encode()).rowcount)

    left: list[int] = []
    for columns in ({"who": {"role": "individual"}}, {}):
        found = []
        for source in ("public.a", "public.b"):
            declared = policy(3, "told", source=source, release=source[-1])
            declared["columns"] |= columns
            if columns:
                declared["records_per_individual"] = "many_accepted"
            found.append(faults.attacked(db.dsn(), driver.loaded(declared), before=look))
        assert drawn[-1] == drawn[-2]
        assert [f.people for f in found] == [100 if columns else 200] * 2
        held = round(0.25 * found[0].people)
        assert {place for _, place in drawn[-1]} == set(range(1, found[0].people + 1))
        assert left[-1] == sum(place > held for _, place in drawn[-1])
        assert found[0].findings == found[1].findings
        for one in found[0].findings:
            if one.attack == "inference":
                assert one.control is not None
                assert one.control.attempts == found[0].targets  # one record of each
    faults.attacked(
        db.dsn(), driver.loaded(policy(3, "told", source="public.a")), seed=2, before=look
    )
    assert drawn[-1] != drawn[-2]
    # Of a person with two records both have one place.
    assert len({person for person, _ in drawn[0]}) == 100


@pytest.mark.slow
def test_nothing_is_left_but_rows_in_the_ledger(db: Database) -> None:
    db.source(PLANTED)
    conn = db.owner()
    seen: set[str] = set()

    def look(step: str) -> None:
        seen.update(faults.run_tables(conn))
        assert faults.exposed(conn) == [], step

    found = faults.attacked(db.dsn(), driver.loaded(policy(5, "told")), before=look)
    assert {name.split("_", 2)[2] for name in seen} >= {"drawn", "shadow", "known", "targets"}
    assert driver.leftovers(db) == []
    assert conn.execute("SELECT count(*) FROM pganon_private.run_secret").fetchone() == (0,)
    assert conn.execute("SELECT count(*) FROM pganon_private.version").fetchone() == (0,)
    rows = conn.execute(
        "SELECT event, details, run_id = %s FROM pganon_private.ledger ORDER BY id", [found.run_id]
    ).fetchall()
    child = {"attack": found.run_id}
    assert rows == [
        *(("started", {}, True), ("started", child, False), ("dry_run", {}, False)),
        *(("started", child, False), ("dry_run", {}, False), ("dry_run", {}, True)),
    ]
    text = json.dumps([row[1] for row in rows])
    assert "Zanzibar" not in text


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_reports_have_the_attacks_on_what_they_are_about(db: Database, tmp_path: Path) -> None:
    """Those on the same policy and the same data, and no others."""
    db.source(PLANTED)
    conn = db.owner()
    policy_5 = policy(5, "told", publish={"readers": ["analyst"]})
    assert attacked(db, policy_5).versions == ()
    driver.publish(db, policy_5)
    file = tmp_path / "report.json"

    def reported(*about: str) -> dict[str, Any] | None:
        ran = pganon("report", *about, "-o", str(file), "--force", "--dsn", db.dsn())
        assert ran.code == 0, ran.err
        return json.loads(file.read_text())["attacks"]

    assert attacked(db, policy(6, "told")).versions == ()
    assert attacked(db, policy(5, "told", release="others")).versions == ()
    renamed = policy(5, "told")
    renamed["columns"]["told"] |= {"as": "said"}
    assert attacked(db, renamed).versions == ()
    assert reported("people") is None
    # Readers make no other groups.
    found = attacked(db, policy(5, "told"), seed=3)
    assert (found.versions, found.requests) == ((1,), ())
    shown = reported("people")
    assert shown is not None
    assert (shown["seed"], shown["people"], shown["targets"]) == (3, 400, 100)
    plain = json.loads(json.dumps(found.as_dict()))
    told = [told_finding(one, 11) for one in plain["findings"]]
    assert told != plain["findings"], "of some attacks nearly everybody is a victim"
    assert [{name: one[name] for name in told[0]} for one in shown["findings"]] == told
    kept = conn.execute(
        "SELECT details -> 'findings' FROM pganon_private.ledger WHERE event = 'attacked'"
    ).fetchone()
    assert kept == (told,), "which approvers read"
    assert "Zanzibar" not in file.read_text()
    # One record is another one.
    db.source("UPDATE public.person SET told = 'other' WHERE id = 9")
    assert attacked(db, policy_5).versions == ()
    waits = policy(7, "told", publish={"approval": {"by": ["source_owner"]}}, republication="warn")
    driver.publish(db, waits)
    found = attacked(db, waits)
    assert (found.versions, len(found.requests)) == ((), 1)
    assert attacked(db, {**waits, **policy(8, "told")}).requests == ()
    held = reported("--request", str(found.requests[0]))
    assert held is not None
    assert reported("people") == shown
    ((run,),) = conn.execute(
        "SELECT run_id FROM pganon.ledger WHERE event = 'awaiting_approval'"
    ).fetchall()
    rows = conn.execute(
        "SELECT version, run_id = %s, details -> 'attack' FROM pganon.ledger"
        " WHERE event = 'attacked' ORDER BY id",
        [run],
    ).fetchall()
    assert [row[:2] for row in rows] == [(1, False), (None, True)]
    assert rows[1][2] == found.run_id


@pytest.mark.slow
def test_relations_beside_the_source(db: Database) -> None:
    """Some of their values only those have who are held out. They stay as they are meanwhile."""
    db.source(
        PLANTED
        + "; CREATE TABLE public.ages AS SELECT n::text AS age, n / 10 || '*' AS tens, '*' AS every"
        " FROM generate_series(1, 400) AS n; CREATE TABLE public.everybody AS"
        " SELECT age, town FROM public.person;"
        " GRANT SELECT ON public.ages, public.everybody TO steward"
    )
    declared = policy(5, "told", method={"name": "full_domain"})
    declared["columns"]["age"]["hierarchy"] = {"table": "public.ages"}
    k_map = {"model": "k_map", "k": 5, "population": "public.everybody"}
    declared["privacy"].append(k_map)
    assert attacked(db, declared).people == 400

    def change(step: str) -> None:
        if step == "shadow release: encode.source":
            db.source("DELETE FROM public.everybody WHERE age = 400")

    with pytest.raises(PreconditionError) as changed:
        faults.attacked(db.dsn(), driver.loaded(declared), before=change)
    assert changed.value.code == "source_changed"
    assert driver.leftovers(db) == []


def test_an_interrupt_removes_everything(db: Database) -> None:
    db.source(PLANTED)
    conn = db.owner()
    calls: list[str] = []

    def interrupt(step: str) -> None:
        calls.append(step)
        if calls.count("attack.attack_predicates0") == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        faults.attacked(db.dsn(), driver.loaded(policy(5, "told")), before=interrupt)
    assert driver.leftovers(db) == []
    assert conn.execute("SELECT count(*) FROM pganon_private.run_secret").fetchone() == (0,)


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_killed(db: Database) -> None:
    db.source(PLANTED)
    conn = db.owner()
    loaded = driver.loaded(policy(5, "told"))
    with faults.ForkServer() as server:
        for step in ("attack.shadow", "attack.attack_hist0", "shadow release: verify.utility"):
            with server.stopped(db.dsn(), step, "attack", loaded):
                assert faults.exposed(conn) == [], step
                assert faults.run_tables(conn) != [], step
            faults.wait_for_backends(conn)
            assert faults.exposed(conn) == [], step
            # The run that all belongs to, and the dry run that it had begun with.
            assert len(clean(conn).interrupted) == 1 + (step != "attack.shadow"), step
            assert driver.leftovers(db) == [], step


def test_refusals(db: Database) -> None:
    db.source(PLANTED + "; CREATE TABLE public.few AS SELECT * FROM public.person WHERE id < 70")
    with pytest.raises(PreconditionError, match="69 people: a control group of 17") as few:
        attacked(db, policy(5, "told", source="public.few"))
    assert few.value.code == "too_few_records"
    with pytest.raises(UsageError, match="refresh: increments"):
        attacked(db, policy(5, "told", refresh="increments"))
    with pytest.raises(PrivacyRefusal, match="without the control group: "):
        attacked(db, policy(350, "told"))
    assert driver.leftovers(db) == []


def test_a_form_that_is_not_known(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    db.source(PLANTED)
    monkeypatch.setattr(measure, "release_of", lambda plan, _: Release(plan.spec, (), None))
    with pytest.raises(UsageError, match="mondrian makes cannot be attacked yet"):
        attacked(db, policy(5, "told"))
    assert driver.leftovers(db) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", plans.METHODS)
def test_every_method(db: Database, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the records decide which columns stand together."""
    db.source(plans.SOURCE)
    monkeypatch.setattr(measure, "FEWEST", 10)
    loaded = plans.policy_of(method)
    found = faults.attacked(db.dsn(), loaded, control=0.4, targets=20)
    roles = {column.role for column in loaded.policy.columns.values()}
    kinds = {one.attack for one in found.findings}
    assert kinds == {"singling_out", "linkability", "membership"} | (
        {"inference"} if roles & {"sensitive", "semi_sensitive"} else set()
    )
    assert {one.attack for one in found.not_measured} == {"inference"} - kinds
    assert driver.leftovers(db) == []


def test_what_is_not_measured_is_said(db: Database, tmp_path: Path) -> None:
    db.source(PLANTED)
    declared = policy(5)
    del declared["columns"]["town"]
    file = tmp_path / "people.json"
    file.write_text(json.dumps(declared))
    ran = pganon("attack", str(file), "--control", "0.25", "--json", "--dsn", db.dsn())
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["not_measured"] == [
        {
            "attack": "linkability",
            "reason": "people are known by one column alone",
        },
        {
            "attack": "inference",
            "reason": "the policy has no sensitive column",
        },
    ]
    # Of classes of five, no row stands for one record.
    stated, listed = document["findings"]
    assert stated["members"] is None
    assert (listed["attack"], listed["adversary"]) == ("membership", "list")
    assert document["control_people"] == 100
