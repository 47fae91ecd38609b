"""A column of weights of which classes show the mean: what is published, verified and refused."""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest import mock

import pytest
from psycopg import sql
from psycopg.types.range import Range

from pganon.cli.report_data import collect
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal, Unbalanced
from pganon.forms.confidential import told_measures
from pganon.methods.common.form import averages
from pganon.methods.common.form import classes as of_classes
from pganon.publish import lifecycle
from pganon.report.document import document
from pganon.report.page import page
from pganon.report.words import percent
from pganon.run.options import Options
from pganon.run.release import run_release
from pganon.sqltools import fragment, named, query
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.documents import valid
from tests.support.sources.builders import make_table, policy
from tests.unit.report.test_page import check_figures

COLUMNS = {"q": "integer", "r": "text", "w": "numeric", "d": "text", "n": "integer"}
LEVELS = {"role": "quasi_identifying", "hierarchy": {"intervals": [3, 6]}}
WEIGHTS = [Decimal(7 + n * n % 43) / 4 for n in range(60)]


def declared(shown: str = "mean", **changes: Any) -> dict[str, Any]:
    """Column `n` says which record a published one is."""
    q = LEVELS if changes.get("method") == {"name": "full_domain"} else "q"
    said = policy({"q": q, "r": "q", "d": "s", "n": "i"}, 3, **changes)
    weight = {"role": "weight"} if shown == "none" else {"role": "weight", "shown": shown}
    return {**said, "columns": {**said["columns"], "w": weight}}


def source(db: Database, *weights: Any, name: str = "t", kind: str = "numeric") -> None:
    rows = [[n % 7, "ab"[n % 2], weight, "xyz"[n % 3], n] for n, weight in enumerate(weights)]
    columns = {**COLUMNS, "w": kind}
    make_table(db.connect("source_owner"), columns, rows, name=("public", name))


def run(db: Database, policy: dict[str, Any], **options: Any) -> Any:
    return run_release(driver.loaded(policy), dsn=db.dsn("steward"), options=Options(**options))


def rows(db: Database, view: str = "r") -> list[dict[str, Any]]:
    text = sql.SQL("SELECT * FROM published.{}").format(sql.Identifier(view))
    return driver.fetch(db.connect(), text)


def classes(found: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    made = defaultdict(list)
    for row in found:
        made[row["class_id"]].append(row)
    return list(made.values())


def rounded(weights: list[Any]) -> Fraction:
    """The mean to six decimals, halves up."""
    exact = Fraction(sum(map(Fraction, weights)), len(weights))
    return Fraction((exact * 2_000_000 + 1) // 2, 1_000_000)


def one_digit(value: Fraction, *, up: bool) -> Fraction:
    unit = Fraction(1)
    while unit > value:
        unit /= 10
    while unit * 10 <= value:
        unit *= 10
    digits = value / unit
    return unit * (-(-digits // 1) if up else digits // 1)


def check(found: list[dict[str, Any]], weights: list[Any]) -> None:
    assert sorted(row["n"] for row in found) == sorted(range(len(weights)))
    for members in classes(found):
        own = [Fraction(weights[row["n"]]) for row in members]
        assert {Fraction(row["w"]) for row in members} == {rounded(own)}
        if "w_range" in members[0]:
            ends = one_digit(min(own), up=False), one_digit(max(own), up=True)
            shown = {(r["w_range"].lower, r["w_range"].upper) for r in members}
            assert {(Fraction(a), Fraction(b)) for a, b in shown} == {ends}


@pytest.mark.parametrize(
    "method",
    [
        {"name": "one_dimensional"},
        {"name": "one_dimensional", "variant": "relaxed"},
        {"name": "mondrian"},
        {"name": "mondrian", "variant": "relaxed"},
        {"name": "full_domain"},
    ],
)
def test_classes_show_the_mean_and_a_range(db: Database, method: dict[str, Any]) -> None:
    source(db, *WEIGHTS)
    result = driver.publish(db, declared("range", method=method))
    found = rows(db)
    check(found, WEIGHTS)
    assert abs(sum(r["w"] for r in found) - sum(WEIGHTS)) <= len(found) * Decimal("5e-7")
    assert (result.weighted or {})["weighted"] == pytest.approx(float(sum(WEIGHTS)))
    squares, mean = sum(w * w for w in WEIGHTS), sum(WEIGHTS)
    assert (result.weighted or {})["deff"] == pytest.approx(float(60 * squares / mean**2))
    assert (result.weighted or {})["presence"] == pytest.approx(
        1 / float(min(r["w"] for r in found))
    )
    assert (result.weighted or {})["left_out"] == pytest.approx(0, abs=1e-12)
    assert {(r["n"], r["w"], r["w_low"], r["w_high"]) for r in rows(db, "r_flat")} == {
        (r["n"], r["w"], r["w_range"].lower, r["w_range"].upper) for r in found
    }
    assert all(finding.holds for finding in lifecycle.verify(db.owner(), "r"))


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("bigint", [10**12 + n for n in range(30)]),
        ("double precision", [0.1 * (n + 1) for n in range(30)]),
        ("numeric", [Decimal(f"1.{'3' * 400}{n}") for n in range(30)]),
        ("numeric", [Decimal(1000 - n % 2) for n in range(30)]),
        ("numeric", [Decimal("0.001") * (1 + n % 12) for n in range(30)]),
        ("smallint", [1] * 30),
    ],
)
def test_means_are_rounded_once_whatever_the_digits(
    db: Database, kind: str, weights: list[Any]
) -> None:
    source(db, *weights, kind=kind)
    driver.publish(db, declared("range"))
    exact = [Decimal(repr(w)) if isinstance(w, float) else w for w in weights]
    check(rows(db), exact)


@pytest.mark.primary_server_only
@pytest.mark.parametrize("weight", [Decimal("1e-9"), Decimal(10) ** 20, Decimal(10) ** 400])
def test_weights_that_are_no_numbers_of_people(db: Database, weight: Decimal) -> None:
    source(db, *[weight] * 30)
    with pytest.raises(PganonError) as caught:
        driver.publish(db, declared())
    assert re.search("too large.* column w|column w are too large", caught.value.message)
    assert "scale the column" in (caught.value.hint or "")


@pytest.mark.primary_server_only
def test_every_record_needs_a_weight(db: Database) -> None:
    wrong = (0, -1, None, Decimal("Infinity"), Decimal("NaN"))
    source(db, *[Decimal("31.25")] * 9, *wrong)
    with pytest.raises(PreconditionError) as caught:
        driver.publish(db, declared("range"))
    assert caught.value.message == "column w has no weight in 5 records"


@pytest.mark.primary_server_only
def test_who_is_left_out_is_in_no_mean(db: Database) -> None:
    """Nor in the figures that others than the steward are told."""
    source(db, *WEIGHTS)
    db.connect("source_owner").execute("UPDATE public.t SET q = 900, w = 5000 WHERE id = 1")
    result = driver.publish(db, declared("range", suppression_limit=0.1))
    found = rows(db)
    assert result.suppressed > 0
    kept = {row["n"] for row in found}
    assert 0 not in kept
    assert (result.weighted or {})["left_out"] > 0.5
    total = sum(WEIGHTS[n] for n in kept)
    assert (result.weighted or {})["weighted"] == pytest.approx(float(total))
    for members in classes(found):
        assert Fraction(members[0]["w"]) == rounded([WEIGHTS[row["n"]] for row in members])
    ((measures,),) = db.owner().execute("SELECT measures FROM pganon_private.version").fetchall()
    assert measures["weights"]["left_out"] > 0.5
    told = told_measures(measures)
    assert set(told["weights"]) == {"weighted", "deff", "presence"}
    assert "means" not in told


@pytest.mark.primary_server_only
def test_the_comment_says_what_means_are_for(db: Database) -> None:
    source(db, *WEIGHTS)
    driver.publish(db, declared("range"))
    said = dict(
        db.connect()
        .execute(
            "SELECT attname, col_description(attrelid, attnum) FROM pg_attribute"
            " WHERE attrelid = 'published.r'::regclass AND attnum > 0"
        )
        .fetchall()
    )
    squares, total = sum(w * w for w in WEIGHTS), sum(WEIGHTS)
    assert said["w"] == (
        "Sample weight. Mean of the class. Design effect by weights"
        f" {60 * squares / total**2:.2f} (Kish). It gives no standard errors."
    )
    assert "rounded outward to one digit" in said["w_range"]


@pytest.mark.primary_server_only
def test_take_all_strata_are_told(db: Database) -> None:
    source(db, *[Decimal("1.5")] * 30)
    warned = driver.publish(db, declared()).warnings
    assert any("0.67 of the people" in said and "known to be sampled" in said for said in warned)
    source(db, *[Decimal("2")] * 30)
    assert not any("sampled" in said for said in driver.publish(db, declared()).warnings)


@pytest.mark.primary_server_only
def test_sources_of_which_no_step_keeps_the_snapshot(db: Database) -> None:
    weights = [Decimal(1 + n % 53) / 4 for n in range(3000)]
    source(db, *weights)
    result = driver.publish(db, declared("range"))
    check(rows(db), weights)
    assert (result.weighted or {})["left_out"] == 0


# -- over time -----------------------------------------------------------------------------------


@pytest.mark.primary_server_only
@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@pytest.mark.slow
def test_the_same_groups_may_show_weights_later_and_new_ones(db: Database, variant: str) -> None:
    source(db, *WEIGHTS)
    method = {"name": "one_dimensional", "variant": variant}
    said = declared("none", method=method)
    assert run(db, said).version == 1
    shown = declared("range", method=method)
    assert run(db, shown).version == 2
    check(rows(db), WEIGHTS)
    comment = "SELECT col_description('published.r'::regclass, attnum) FROM pg_attribute WHERE"
    comment += " attrelid = 'published.r'::regclass AND attname = 'w'"
    before = db.connect().execute(comment.encode()).fetchall()
    again = run(db, shown)
    assert (again.outcome, again.version) == ("unchanged", 2)
    assert db.connect().execute(comment.encode()).fetchall() == before
    other = [w + n % 5 for n, w in enumerate(WEIGHTS)]
    with db.connect("source_owner") as owner:
        owner.execute("UPDATE public.t SET w = w + n % 5")
    third = run(db, shown)
    assert (third.outcome, third.version) == ("released", 3)
    check(rows(db), other)
    assert run(db, declared("none", method=method)).version == 4
    assert all(finding.holds for finding in lifecycle.verify(db.owner(), "r"))


@pytest.mark.primary_server_only
def test_who_leaves_alone_shows_no_weight(db: Database) -> None:
    """The difference of two sums would be theirs: the rule about groups decides before."""
    source(db, *WEIGHTS)
    assert run(db, declared()).version == 1
    with db.connect("source_owner") as owner:
        owner.execute("DELETE FROM public.t WHERE id = 1")
    with pytest.raises(PrivacyRefusal):
        run(db, declared())


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_increments_show_the_means_of_their_classes(db: Database) -> None:
    source(db, *WEIGHTS)
    growing = declared("range", method={"name": "mondrian"}, refresh="increments")
    assert run(db, growing).version == 1
    with db.connect("source_owner") as owner:
        owner.execute(
            "INSERT INTO public.t SELECT n + 1, n % 7, 'a', 3 + n % 4, 'xyz', n"
            " FROM generate_series(60, 89) AS n"
        )
    second = run(db, growing)
    assert (second.version, second.weighted) == (2, None)
    comments = "SELECT comment FROM pganon.release_columns WHERE column_name = 'w'"
    assert "Design" not in str(db.owner().execute(comments.encode()).fetchall())
    weights = [*WEIGHTS, *[Decimal(3 + n % 4) for n in range(60, 90)]]
    check(rows(db), weights)
    with pytest.raises(PganonError, match="other views or columns"):
        run(db, declared("mean", method={"name": "mondrian"}, refresh="increments"))


# -- attacks -------------------------------------------------------------------------------------


@pytest.mark.primary_server_only
def test_joining_by_weight_finds_k_records(db: Database) -> None:
    """Whoever knows all that is shown of a class knows no record from another."""
    source(db, *WEIGHTS)
    driver.publish(db, declared("range"))
    alike = defaultdict(int)
    for row in rows(db):
        alike[row["q"], tuple(row["r"]), row["w"], row["w_range"]] += 1
    assert min(alike.values()) >= 3


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("w = w + 0.000001 WHERE class_id = 1", ["fingerprint"]),
        ("w = 0 WHERE class_id = 1", ["structure", "fingerprint"]),
        ("w = NULL WHERE class_id = 1", ["structure", "fingerprint"]),
        ("w = 'Infinity' WHERE class_id = 1", ["structure", "fingerprint"]),
        ("w_range = NULL WHERE class_id = 1", ["structure", "fingerprint"]),
        ("w_range = '[90,91]' WHERE class_id = 1", ["structure", "fingerprint"]),
    ],
)
def test_verify_finds_a_changed_weight(db: Database, change: str, found: list[str]) -> None:
    source(db, *WEIGHTS)
    result = driver.publish(db, declared("range"))
    conn = db.owner()
    conn.execute(f"UPDATE pganon_data.r{result.run_id}_classes SET {change}".encode())
    wrong = [one.model for one in lifecycle.verify(conn, "r") if not one.holds]
    assert wrong == found


@pytest.mark.primary_server_only
def test_verify_finds_a_mean_that_is_no_weight(db: Database) -> None:
    source(db, *WEIGHTS)
    result = driver.publish(db, declared())
    conn = db.owner()
    table = f"pganon_data.r{result.run_id}_classes"
    conn.execute(f"UPDATE {table} SET w = 0 WHERE class_id = 1".encode())
    wrong = [one.model for one in lifecycle.verify(conn, "r") if not one.holds]
    assert wrong == ["structure", "fingerprint"]


@pytest.mark.primary_server_only
@pytest.mark.parametrize("part", ["mean", "range"])
def test_classes_that_show_another_weight_are_refused(db: Database, part: str) -> None:
    """The run compares them with the records once they are staged."""
    source(db, *WEIGHTS)
    right = averages.with_averages

    def wrong(spec: Any, state: Any, found: Any) -> Any:
        tree = query("select t.* from t", {"t": right(spec, state, found)})
        shown = {"w": "t.w + 0.000001", "w_range": "t.w_range"}
        if part == "range":
            shown = {"w": "t.w", "w_range": "numrange(t.w, t.w, '[]')"}
        columns = [fragment(f"t.{name}") for name in ("class_id", "q", "r")]
        return tree.select(
            *columns, *[named(fragment(v), n) for n, v in shown.items()], append=False
        )

    refused = pytest.raises(Unbalanced, match="show other means than their records have")
    with mock.patch.object(of_classes, "with_averages", wrong), refused:
        driver.publish(db, declared("range"))


@pytest.mark.primary_server_only
def test_a_range_shows_no_weight_of_one_record(db: Database) -> None:
    weights = [Decimal("123.45") + n for n in range(60)]
    source(db, *weights)
    driver.publish(db, declared("range"))
    ends = {end for row in rows(db) for end in (row["w_range"].lower, row["w_range"].upper)}
    assert ends == {Decimal(100), Decimal(200)}
    assert isinstance(rows(db)[0]["w_range"], Range)


def test_errors_show_no_weight(db: Database) -> None:
    source(db, *[Decimal("8.125e18")] * 30)
    with pytest.raises(PganonError) as caught:
        driver.publish(db, declared("range"))
    assert "8125" not in f"{caught.value!r} {caught.value} {caught.value.hint}".replace(".", "")


@pytest.mark.primary_server_only
def test_reports_say_how_many_people_records_stand_for(db: Database) -> None:
    source(db, *WEIGHTS)
    db.connect("source_owner").execute("UPDATE public.t SET q = 900, w = 5000 WHERE id = 1")
    result = driver.publish(db, declared("range", suppression_limit=0.1))
    report = valid(document(collect(db.owner(), "r")))
    people, presence = (result.weighted or {})["weighted"], (result.weighted or {})["presence"]
    assert f"they stand for {people:,.0f} people" in report["summary"]
    assert f"at most {percent(presence)} are among them" in report["summary"]
    (column,) = [one for one in report["columns"] if one["source"] == "w"]
    assert (column["goes_out"], column["seen"]) == (True, "the mean of the group")
    assert "left_out" not in str(report.get("dataset"))
    check_figures(page(report), report)


@pytest.mark.primary_server_only
def test_risk_by_means_is_that_by_exact_weights(db: Database) -> None:
    """By class it depends on the number of records and the sum of their weights alone."""
    source(db, *WEIGHTS)
    driver.publish(db, declared())
    found = rows(db)
    exact = [(row["class_id"], row["w"], WEIGHTS[row["n"]]) for row in found]
    with db.connect("source_owner") as owner:
        owner.execute("CREATE TABLE public.both (class integer, mean numeric, exact numeric)")
        with owner.cursor().copy("COPY public.both FROM STDIN") as copy:
            for row in exact:
                copy.write_row(row)
        owner.execute("GRANT SELECT ON public.both TO steward")

    def risk(weight: str) -> dict[str, float]:
        called = ("assess", "public.both", "--qi", "class", "--weight", weight, "--json")
        ran = pganon(*called, "--dsn", db.dsn("steward"))
        assert ran.code == 0, ran.err
        return {item["measure"]: item["value"] for item in ran.json["risk"]}

    assert risk("mean") == pytest.approx(risk("exact"), rel=1e-6)
    called = ("assess", "published.r_flat", "--qi", "class_id", "--weight", "w", "--json")
    released = pganon(*called, "--dsn", db.dsn("steward")).json["risk"]
    expected = next(item["value"] for item in released if item["measure"] == "expected")
    assert expected == pytest.approx(risk("exact")["expected"], rel=1e-6)
