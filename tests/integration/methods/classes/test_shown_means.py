"""Numbers shown as means of classes, or of groups of similar ones: optimal, exact, verified."""

from __future__ import annotations

import gzip
import itertools
import os
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PganonError, PolicyError, PreconditionError, PrivacyRefusal, Unbalanced
from pganon.methods.common.form import class_records
from pganon.publish import lifecycle
from pganon.run.options import Options
from pganon.run.release import run_release
from pganon.sqltools import fragment, named, query
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.sources.builders import make_table, policy

COLUMNS = {"q": "integer", "r": "text", "x": "numeric", "d": "text", "n": "integer"}
GROUPS = {"groups": 3}
VALUES: list[Any] = [Decimal(n * n * 37 % 211 - 60) / 2 for n in range(60)]


def declared(shown: Any = GROUPS, **changes: Any) -> dict[str, Any]:
    said = policy({"q": "q", "r": "q", "d": "s", "n": "i"}, 4, **changes)
    said["method"] = changes.get("method", {"name": "one_dimensional"})
    column = {"role": "insensitive", **({"shown": shown} if shown else {})}
    return {**said, "columns": {**said["columns"], "x": column}}


def source(db: Database, *values: Any, kind: str = "numeric") -> None:
    rows = [[n % 7, "ab"[n % 2], value, "xyz"[n % 3], n] for n, value in enumerate(values)]
    make_table(db.connect("source_owner"), {**COLUMNS, "x": kind}, rows)


def run(db: Database, policy: dict[str, Any], **options: Any) -> Any:
    return run_release(driver.loaded(policy), dsn=db.dsn("steward"), options=Options(**options))


def rows(db: Database) -> list[dict[str, Any]]:
    return driver.fetch(db.connect(), driver.sql.SQL("SELECT * FROM published.r"))


def lost(values: list[Any]) -> Fraction:
    mean = Fraction(sum(map(Fraction, values)), len(values))
    return sum(((Fraction(v) - mean) ** 2 for v in values), Fraction(0))


def best(values: list[Any], least: int) -> Fraction:
    """The least sum of squares of any division into groups of so many, by trying all."""
    if not values:
        return Fraction(0)
    first, *others = values
    return min(
        lost([first, *chosen]) + best([v for i, v in enumerate(others) if i not in at], least)
        for size in range(least - 1, len(others) + 1)
        if size == len(others) or len(others) - size >= least
        for at in itertools.combinations(range(len(others)), size)
        for chosen in [[others[i] for i in at]]
    )


def check(found: list[dict[str, Any]], values: list[Any], least: int, *, whole: bool) -> None:
    """Classes show enough, no group is smaller than said, and sums are those of the values."""
    classes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        classes[row["class_id"]].append(row)
    for members in classes.values():
        own = {row["n"]: values[row["n"]] for row in members if values[row["n"]] is not None}
        shown = {row["n"]: row["x"] for row in members if row["x"] is not None}
        if len(own) < least:
            assert not shown
            continue
        assert shown.keys() == own.keys()
        total, exactly = (sum(map(Fraction, found.values())) for found in (shown, own))
        assert abs(total - exactly) <= len(own) * Fraction(1, 2_000_000)
        groups: dict[Any, list[Any]] = defaultdict(list)
        for n, mean in shown.items():
            groups[mean].append(own[n])
        assert min(map(len, groups.values())) >= least
        assert len(groups) == 1 or not whole
        for mean, members_of in groups.items():
            exact = Fraction(sum(map(Fraction, members_of)), len(members_of))
            assert abs(Fraction(mean) - exact) <= Fraction(1, 2_000_000)
        if not whole and len(own) < 9:
            assert sum(map(lost, groups.values())) == best(sorted(own.values()), least)


# -- groups ----------------------------------------------------------------------------------------


def groups_of(conn: Any, values: list[Any], least: int) -> list[list[Any]] | None:
    row = conn.execute(
        "SELECT pganon.groups_of(%s::numeric[], %s)", [list(map(Decimal, values)), least]
    ).fetchone()
    if row[0] is None:
        return None
    found: dict[int, list[Any]] = defaultdict(list)
    for place, value in zip(row[0], values, strict=True):
        found[place].append(value)
    return list(found.values())


@pytest.mark.random_tables
@given(
    values=st.lists(st.integers(-9, 9), max_size=9).map(sorted),
    least=st.integers(2, 4),
)
@examples(20)
def test_groups_are_the_best(db: Database, values: list[int], least: int) -> None:
    with db.owner() as conn:
        found = groups_of(conn, values, least)
    if len(values) < least:
        assert found is None
        return
    assert found is not None
    assert [value for group in found for value in group] == values, "groups are runs of the numbers"
    assert all(least <= len(group) < 2 * least for group in found)
    assert sum(map(lost, found)) == best(values, least)


@pytest.mark.primary_server_only
def test_groups_by_hand(db: Database) -> None:
    with db.owner() as conn:
        found = groups_of(conn, [0, 0, 10, 11, 12, 50, 60, 61], 3)
    assert found == [[0, 0, 10, 11, 12], [50, 60, 61]]
    assert float(sum(map(lost, found or []))) == pytest.approx(221.2, abs=0.01)
    runs = [[0, 0, 10], [11, 12, 50, 60, 61]]
    assert float(sum(map(lost, runs))) == pytest.approx(2_625.467, abs=0.001)


FILE = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/adult.data.gz"


@pytest.mark.primary_server_only
@pytest.mark.skipif(not FILE.exists(), reason="PGANON_DATA holds no adult/adult.data.gz")
def test_golden_figures_of_adult(db: Database) -> None:
    """Hours by age, sex and race, in groups of 3."""
    with gzip.open(FILE, "rt") as file:
        people = [line.strip().split(", ") for line in file]
    classes: dict[Any, list[int]] = defaultdict(list)
    for one in people:
        if len(one) == 15 and "?" not in one:
            classes[one[0], one[9], one[8]].append(int(one[12]))
    withheld = squares = Fraction(0)
    with db.owner() as conn:
        for hours in classes.values():
            found = groups_of(conn, sorted(hours), 3)
            withheld += len(hours) if found is None else 0
            squares += sum(map(lost, found or []), Fraction(0))
    assert withheld == 180
    assert float(squares) == pytest.approx(122_229.5, abs=0.06)


# -- releases --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        {"name": "one_dimensional"},
        {"name": "one_dimensional", "variant": "relaxed"},
        {"name": "mondrian"},
    ],
)
@pytest.mark.parametrize("shown", ["mean", GROUPS])
def test_records_show_means(db: Database, method: dict[str, Any], shown: Any) -> None:
    values = [None if n % 11 == 0 else value for n, value in enumerate(VALUES)]
    source(db, *values)
    result = driver.publish(db, declared(shown, method=method))
    whole = shown == "mean"
    check(rows(db), values, 4 if whole else 3, whole=whole)
    (verified,) = [one for one in result.verified if one.model == "microaggregation"]
    assert verified.measured >= verified.required == (4 if whole else 3)
    assert all(finding.holds for finding in lifecycle.verify(db.owner(), "r"))


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("double precision", [0.1 * n - 2 for n in range(40)]),
        ("bigint", [2**60 - n * n for n in range(40)]),
        ("numeric", [Decimal(f"{n - 20}.{'7' * 200}{n}") for n in range(40)]),
        ("smallint", [5] * 40),
    ],
)
def test_numbers_of_all_types(db: Database, kind: str, values: list[Any]) -> None:
    source(db, *values, kind=kind)
    driver.publish(db, declared())
    exact = [Decimal(repr(v)) if isinstance(v, float) else v for v in values]
    check(rows(db), exact, 3, whole=False)


@pytest.mark.primary_server_only
@pytest.mark.parametrize("shown", ["mean", GROUPS])
def test_too_few_values_are_withheld_and_counted(db: Database, shown: Any) -> None:
    values = [value if n < 9 else None for n, value in enumerate(VALUES)]
    source(db, *values)
    result = driver.publish(db, declared(shown))
    check(rows(db), values, 4 if shown == "mean" else 3, whole=shown == "mean")
    few = 9 - sum(row["x"] is not None for row in rows(db))
    assert few > 0
    assert any(said.startswith(f"{few} values of x are in no mean") for said in result.warnings)


@pytest.mark.primary_server_only
def test_records_that_look_the_same(db: Database) -> None:
    """Which are counted and repeated where nothing is grouped within classes."""
    source(db, *[n % 4 for n in range(3000)])
    said = declared()
    columns = {name: column for name, column in said["columns"].items() if name != "n"}
    few = [{"model": "k_anonymity", "k": 60}]
    driver.publish(db, {**said, "columns": columns, "privacy": few})
    found = rows(db)
    assert abs(sum(row["x"] for row in found) - 4500) <= 3000 * Decimal("5e-7")
    assert min(Counter((row["class_id"], row["x"]) for row in found).values()) >= 3


@pytest.mark.primary_server_only
def test_infinite_numbers_are_refused(db: Database) -> None:
    source(db, *[*VALUES[:-1], Decimal("NaN")])
    with pytest.raises(PreconditionError, match="column x holds NaN or an infinity in 1 records"):
        driver.publish(db, declared())


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("columns", "part"),
    [
        ({"role": "quasi_identifying", "shown": "mean"}, "shown is for weight"),
        ({"role": "insensitive", "shown": "range"}, "a range is shown of weights"),
        ({"role": "insensitive", "shown": {"groups": 1}}, "columns.x.shown"),
        ({"role": "insensitive", "shown": {"group": 3}}, "columns.x.shown"),
        ({"role": "weight", "shown": GROUPS}, "weights are shown by classes"),
        ({"role": "sensitive", "shown": GROUPS}, "unprotected: accept"),
    ],
)
def test_what_a_policy_may_not_say(db: Database, columns: dict[str, Any], part: str) -> None:
    said = declared()
    with pytest.raises(PolicyError) as caught:
        driver.loaded({**said, "columns": {**said["columns"], "x": columns}})
    assert part in str(caught.value)


@pytest.mark.primary_server_only
def test_texts_have_no_means(db: Database) -> None:
    source(db, *VALUES, kind="text")
    with pytest.raises(PolicyError, match="means are of numbers"):
        driver.publish(db, declared())


@pytest.mark.primary_server_only
def test_what_is_sensitive_and_accepted_as_such(db: Database) -> None:
    source(db, *VALUES)
    said = declared()
    column = {"role": "sensitive", "unprotected": "accept", "shown": GROUPS}
    driver.publish(db, {**said, "columns": {**said["columns"], "x": column}})
    check(rows(db), VALUES, 3, whole=False)
    about = [*said["privacy"], {"model": "distinct_l_diversity", "column": "x", "l": 2}]
    with pytest.raises(PolicyError, match="is about the column"):
        driver.loaded({**said, "columns": {**said["columns"], "x": column}, "privacy": about})


@pytest.mark.primary_server_only
@pytest.mark.parametrize("method", ["one_dimensional", "mondrian", "full_domain"])
@pytest.mark.slow
def test_means_beside_a_quasi_identifier(db: Database, method: str) -> None:
    """Of the values of the class, which its range covers, and in no other groups."""
    source(db, *VALUES)
    with db.connect("source_owner") as owner:
        owner.execute("UPDATE public.t SET q = NULL WHERE id % 13 = 0")
    said = declared(None, method={"name": method}, suppression_limit=0.5)
    q = {"role": "quasi_identifying"}
    q |= {"hierarchy": {"intervals": [3, 9]}} if method == "full_domain" else {}
    assert run(db, {**said, "columns": {**said["columns"], "q": q}}).version == 1
    shown = {**said, "columns": {**said["columns"], "q": {**q, "mean": True}}}
    assert run(db, shown).version == 2
    own = [None if (n + 1) % 13 == 0 else n % 7 for n in range(60)]
    found = rows(db)
    check([{**row, "x": row["q_mean"]} for row in found], own, 4, whole=True)
    flat = driver.fetch(db.connect(), driver.sql.SQL("SELECT n, q_mean FROM published.r_flat"))
    assert {(r["n"], r["q_mean"]) for r in flat} == {(r["n"], r["q_mean"]) for r in found}
    assert all(finding.holds for finding in lifecycle.verify(db.owner(), "r"))


@pytest.mark.primary_server_only
def test_means_are_beside_numbers_alone(db: Database) -> None:
    source(db, *VALUES)
    said = declared(None)
    for name, part in (("r", "means are of numbers"), ("d", "mean is for quasi_identifying")):
        column = {**said["columns"][name], "mean": True}
        with pytest.raises(PolicyError, match=part):
            driver.publish(db, {**said, "columns": {**said["columns"], name: column}})
    named = {**said["columns"], "q": {"role": "quasi_identifying", "mean": True}}
    regions = {"method": {"name": "mondrian"}, "refresh": "increments", "ranges": "region"}
    with pytest.raises(PolicyError, match="classes show their regions"):
        driver.loaded({**said, **regions, "regions": "leaves", "columns": named})
    named["x"] = {"role": "insensitive", "as": "q_mean"}
    with pytest.raises(PolicyError, match="two published columns would be named q_mean"):
        driver.publish(db, {**said, "columns": named})


@pytest.mark.parametrize(
    "model", [{"model": "k_map", "k": 5}, {"model": "delta_presence", "max": 0.5}]
)
def test_means_are_not_beside_people_of_a_population(model: dict[str, Any]) -> None:
    """Of a class [0, 30) with the mean 0 all records have 0, as few other people may."""
    said = policy({"q": {"mean": True}, "d": "s"}, [{**model, "population": "public.p"}])
    with pytest.raises(PolicyError, match="a mean tells people apart"):
        driver.loaded({**said, "method": {"name": "one_dimensional"}})
    driver.loaded({**said, "columns": {**said["columns"], "q": {"role": "quasi_identifying"}}})


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_increments_show_means_of_their_classes(db: Database) -> None:
    source(db, *VALUES)
    growing = declared(GROUPS, method={"name": "mondrian"}, refresh="increments")
    assert run(db, growing).version == 1
    with db.connect("source_owner") as owner:
        owner.execute(
            "INSERT INTO public.t SELECT n + 1, n % 7, 'a', n * n, 'xyz', n"
            " FROM generate_series(60, 89) AS n"
        )
    assert run(db, growing).version == 2
    check(rows(db), [*VALUES, *[Decimal(n * n) for n in range(60, 90)]], 3, whole=False)


# -- attacks ---------------------------------------------------------------------------------------


@pytest.mark.primary_server_only
def test_who_knows_a_number_finds_as_many_records(db: Database) -> None:
    source(db, *VALUES)
    driver.publish(db, declared())
    alike = Counter((row["class_id"], row["x"]) for row in rows(db))
    assert min(alike.values()) >= 3
    assert {row["x"] for row in rows(db)}.isdisjoint(
        v for v, n in Counter(VALUES).items() if n == 1
    )


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("x = x + 0.000001 WHERE n = 1", ["microaggregation", "fingerprint"]),
        ("x = x + 1", ["fingerprint"]),
        ("x = NULL WHERE n < 30", ["microaggregation", "fingerprint"]),
    ],
)
def test_verify_finds_other_groups(db: Database, change: str, found: list[str]) -> None:
    source(db, *VALUES)
    result = driver.publish(db, declared())
    conn = db.owner()
    conn.execute(f"UPDATE pganon_data.r{result.run_id}_records SET {change}".encode())
    assert [one.model for one in lifecycle.verify(conn, "r") if not one.holds] == found


@pytest.mark.primary_server_only
def test_groups_do_not_depend_on_the_order_of_rows(db: Database) -> None:
    """Which of equal numbers is in which group is decided by what is published beside them."""
    values = [Decimal(int(n % 5 > 0)) for n in range(60)]
    said = {**declared(GROUPS), "privacy": [{"model": "k_anonymity", "k": 9}]}
    found = []
    for order in ("id", "id DESC", "id % 7, id"):
        source(db, *values)
        with db.connect("source_owner") as owner:
            owner.execute(
                f"CREATE TABLE public.c AS SELECT * FROM public.t ORDER BY {order}".encode()
            )
            owner.execute("TRUNCATE public.t; INSERT INTO public.t SELECT * FROM public.c")
            owner.execute("DROP TABLE public.c")
        with db.owner() as conn:
            staged = driver.run(conn, said)
            found.append(sorted((row["n"], row["d"], row["x"]) for row in staged.rows()))
    assert found[0] == found[1] == found[2]


@pytest.mark.primary_server_only
@pytest.mark.parametrize("value", ["r.x + 0.00003", "null"])
def test_records_that_show_another_mean_are_refused(db: Database, value: str) -> None:
    source(db, *VALUES)
    right = class_records._microaggregated

    def wrong(spec: Any, tree: Any) -> Any:
        found = query("select r.* from r", {"r": right(spec, tree)})
        names = ["class_id", "d", "n"]
        of = "r.class_id = 2" if value == "null" else "r.n = 7"
        shown = fragment(f"case when {of} then {value} else r.x end")
        return found.select(*[fragment(f"r.{n}") for n in names], named(shown, "x"), append=False)

    refused = pytest.raises(Unbalanced, match="1 classes show other means")
    with mock.patch.object(class_records, "_microaggregated", wrong), refused:
        driver.publish(db, declared())


@pytest.mark.primary_server_only
def test_verify_finds_a_second_mean_of_a_class(db: Database) -> None:
    source(db, *VALUES)
    with db.connect("source_owner") as owner:
        owner.execute("UPDATE public.t SET q = 1, r = 'a'")
    result = driver.publish(db, declared("mean"))
    conn = db.owner()
    table = f"pganon_data.r{result.run_id}_records"
    conn.execute(f"UPDATE {table} SET x = x + 1 WHERE n < 30".encode())
    wrong = [one.model for one in lifecycle.verify(conn, "r") if not one.holds]
    assert wrong == ["microaggregation", "fingerprint"]


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("before", "then"), [(GROUPS, {"groups": 4}), ({"groups": 4}, GROUPS), (GROUPS, None)]
)
@pytest.mark.slow
def test_other_groups_of_the_same_people_are_refused(db: Database, before: Any, then: Any) -> None:
    """Sums of three and of four similar values differ by one of them."""
    source(db, *VALUES)
    assert run(db, declared(before)).version == 1
    with pytest.raises(PrivacyRefusal):
        run(db, declared(then))
    assert run(db, declared(before), force=True).version == 2
    assert run(db, declared(before)).outcome == "unchanged"


@pytest.mark.primary_server_only
@pytest.mark.parametrize(("shown", "then"), [("mean", "x + 5"), (GROUPS, "x + 5"), ("mean", "-x")])
def test_a_changed_number_is_not_shown_beside_the_old_one(
    db: Database, shown: Any, then: str
) -> None:
    """The difference of both means would be that of one person."""
    source(db, *VALUES)
    assert run(db, declared(shown)).version == 1
    with db.connect("source_owner") as owner:
        owner.execute(f"UPDATE public.t SET x = {then} WHERE id = 1".encode())
    with pytest.raises(PrivacyRefusal):
        run(db, declared(shown))


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_a_changed_quasi_identifier_is_in_no_second_mean(db: Database) -> None:
    """Its class shows the same label, and a mean that differs by the change of one person."""
    source(db, *VALUES)
    q = {"role": "quasi_identifying", "hierarchy": {"intervals": [9]}, "mean": True}
    said = declared(None, method={"name": "full_domain"})
    said = {**said, "columns": {**said["columns"], "q": q}}
    assert run(db, said).version == 1
    with db.connect("source_owner") as owner:
        owner.execute("UPDATE public.t SET q = q + 1 WHERE id = 3")
    with pytest.raises(PrivacyRefusal):
        run(db, said)


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_means_of_the_same_classes_may_be_added(db: Database) -> None:
    source(db, *VALUES)
    said = declared()
    plain = {name: column for name, column in said["columns"].items() if name != "x"}
    assert run(db, {**said, "columns": plain}).version == 1
    assert run(db, declared("mean")).version == 2
    check(rows(db), VALUES, 4, whole=True)


@pytest.mark.primary_server_only
def test_errors_show_no_number(db: Database) -> None:
    source(db, *[Decimal("8.125e200") * n for n in range(59)], Decimal("Infinity"))
    with pytest.raises(PganonError) as caught:
        driver.publish(db, declared())
    assert "8125" not in f"{caught.value!r} {caught.value.hint}".replace(".", "")
