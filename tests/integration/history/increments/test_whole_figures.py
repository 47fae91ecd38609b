"""Figures of a version that grows, compared with what its published rows say by definition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from pganon.cli.report_data import collect
from pganon.forms.utility import ClassUtility, IdentityUtility
from pganon.publish import comparison, lifecycle, listing
from pganon.publish.figures import Verified
from pganon.publish.release_state import Version
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.integration.history.increments.test_increments import growing_policy, more_visits
from tests.support.harness import driver, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles.evidence import check_sizes, check_values
from tests.support.sources.builders import make_table
from tests.support.sources.builders import policy as make_policy

Row = dict[str, Any]
Lost = Callable[[Row], float]
"""NCP of a row."""

SOURCE = """
CREATE TABLE public.guest (
    id integer PRIMARY KEY, age integer, born date, grade text, job text, zip text, visits integer,
    disease text
);
"""
GRADES = ("low", "mid", "high", "top")
QUASI: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi_identifying"},
    "born": {"role": "quasi_identifying"},
    "grade": {"role": "quasi_identifying", "type": "ordinal", "order": list(GRADES)},
    "job": {"role": "quasi_identifying", "weight": 2},
    "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [2, 1]}},
    "visits": {"role": "quasi_identifying", "hierarchy": {"intervals": [10, 40]}},
}
WEIGHTS = {name: column.get("weight", 1) for name, column in QUASI.items()}


def policy(**changes: Any) -> dict[str, Any]:
    return {
        "release": "guests",
        "source": "public.guest",
        "columns": {**QUASI, "disease": {"role": "sensitive"}},
        "privacy": [
            {"model": "k_anonymity", "k": 3},
            {"model": "distinct_l_diversity", "column": "disease", "l": 2},
        ],
        "method": {"name": "mondrian"},
        "refresh": "increments",
        "suppression_limit": 0.5,
        **changes,
    }


def arrive(db: Database, first: int, last: int, *, older: int = 0, years: int = 5) -> None:
    """Guests, whose ages begin at 20 + `older`, and who were born within some years."""
    db.source(
        f"INSERT INTO public.guest SELECT n, 20 + {older} + n * 7 % 23,"
        f" date '1980-01-01' + n * 31 % (365 * {years}),"
        " ('{low,mid,high,top}'::text[])[1 + n % 4], nullif('j' || n * 5 % 6, 'j2'),"
        f" chr(65 + n % {2 + years}) || n % 3 || n % 2, n * 13 % 70,"
        " ('{flu,cold,HIV}'::text[])[1 + n % 3]"
        f" FROM generate_series({first}, {last}) AS n",
        grant=False,
    )


def run(db: Database, **changes: Any) -> RunResult:
    return run_release(driver.loaded(policy(**changes)), dsn=db.dsn())


def fetched(conn: Connection, text: str) -> list[Row]:
    cursor = conn.execute(text.encode())
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


# -- the definitions ---------------------------------------------------------------------------


def spans(rows: list[Row], source: list[Row]) -> dict[str, Lost]:
    """NCP of a row by column, on the scale of the source and of what is published."""
    return {
        "age": _line(rows, source, "age", lambda upper: upper),
        "born": _line(rows, source, "born", lambda upper: upper - timedelta(days=1)),
        "grade": _ordinal(rows, source),
        "job": _nominal(rows, source),
        "zip": _label(source),
        "visits": _interval(source),
    }


def _line(rows: list[Row], source: list[Row], name: str, last: Callable[[Any], Any]) -> Lost:
    ends = [end for row in rows for end in (row[name].lower, last(row[name].upper))]
    ends += [row[name] for row in source if row[name] is not None]
    low, high = min(ends), max(ends)
    return lambda row: float((last(row[name].upper) - row[name].lower) / (high - low))


def _ordinal(rows: list[Row], source: list[Row]) -> Lost:
    known = [value for row in rows for value in row["grade"]] + [row["grade"] for row in source]
    known = [value for value in known if value in GRADES]
    places = sorted(GRADES.index(value) for value in known)
    width = places[-1] - places[0]
    return lambda row: (GRADES.index(row["grade"][-1]) - GRADES.index(row["grade"][0])) / width


def _nominal(rows: list[Row], source: list[Row]) -> Lost:
    known = {value for row in rows for value in (*(row["job"] or ()), *[None] * row["job_null"])}
    domain = known | {row["job"] for row in source}
    return lambda row: (len(row["job"] or ()) + row["job_null"] - 1) / (len(domain) - 1)


def _label(source: list[Row]) -> Lost:
    leaves = {row["zip"] for row in source}

    def lost(row: Row) -> float:
        prefix = row["zip"].rstrip("*")
        below = [leaf for leaf in leaves if leaf.startswith(prefix)]
        return 0.0 if len(below) == 1 else len(below) / len(leaves)

    return lost


def _interval(source: list[Row]) -> Lost:
    """Intervals of 10 and 40, and all of the latter."""
    values = [row["visits"] for row in source]
    top = max(values) // 40 * 40 + 40 - min(values) // 40 * 40

    def lost(row: Row) -> float:
        low, high = int(row["visits"].lower), int(row["visits"].upper)
        if low == high:
            return 0.0
        width = high - low
        return 1.0 if width > 40 or (width == 40 and top == 40) else width / top

    return lost


def expected(
    rows: list[Row],
    source: list[Row],
    out: int,
    of_others: Mapping[str, Lost] = MappingProxyType({}),
) -> ClassUtility:
    """The figures of classes from the rows of the view alone.

    Args:
        of_others: what columns lose that do not follow from these.
    """
    sizes = Counter(row["class_id"] for row in rows)
    lost = spans(rows, source) | dict(of_others)
    ncp = {name: sum(map(of, rows)) / len(rows) for name, of in lost.items()}
    weights = sum(WEIGHTS.values())
    loss = sum(ncp[name] * weight for name, weight in WEIGHTS.items()) / weights
    records = len(rows) + out
    return ClassUtility(
        gcp=(loss * len(rows) + out) / records,
        ncp=ncp,
        discernibility=sum(n * n for n in sizes.values()) + out * records,
        average_class=len(rows) / len(sizes) / 3,
        classes=len(sizes),
        smallest_class=min(sizes.values()),
        largest_class=max(sizes.values()),
        highest_risk=1 / min(sizes.values()),
        mean_risk=len(sizes) / len(rows),
    )


def same(found: ClassUtility, wanted: ClassUtility) -> None:
    """All figures, one by one."""
    left, right = dict(found.__dict__), dict(wanted.__dict__)
    assert left.pop("ncp") == pytest.approx(right.pop("ncp"), abs=1e-9)
    assert left == pytest.approx(right, abs=1e-9)


def diversity(rows: list[Row]) -> dict[str, float]:
    """What `verified` must say."""
    values: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        values[row["class_id"]].append(row["disease"])
    return {
        "structure": 0,
        "k_anonymity": min(map(len, values.values())),
        "distinct_l_diversity": min(len(set(found)) for found in values.values()),
    }


def verified(found: tuple[Verified, ...]) -> dict[str, float]:
    assert len({one.model for one in found}) == len(found)
    return {one.model: one.measured for one in found}


def current(db: Database) -> Version:
    known = listing.find(db.owner(), "guests")
    assert known.current is not None
    return known.current


def checked(db: Database, result: RunResult) -> list[Row]:
    """The result of a run, and what the version remembers."""
    conn = db.owner()
    rows = fetched(conn, "SELECT * FROM published.guests")
    source = fetched(conn, "SELECT * FROM public.guest")
    wanted = expected(rows, source, result.suppressed)
    assert isinstance(result.utility, ClassUtility)
    same(result.utility, wanted)
    assert verified(result.verified) == diversity(rows)
    kept = current(db).measures
    same(ClassUtility.recorded(kept["utility"]), wanted)
    assert tuple(Verified(**one) for one in kept["verified"]) == result.verified
    told(conn, rows, result.suppressed)
    again = {found.model: found.measured for found in lifecycle.verify(conn, "guests")}
    assert {model: again[model] for model in verified(result.verified)} == diversity(rows)
    return rows


def told(conn: Connection, rows: list[Row], out: int) -> None:
    """The evidence of the newest version is about all groups that it shows.

    While few are left out, nothing is told of sets, whose values the source counts.
    """
    found = collect(conn, "guests")
    assert found.evidence is not None
    assert found.evidence_intact
    sizes = Counter(row["class_id"] for row in rows)
    release = found.evidence["class_sizes"]["release"]
    assert (release["people"], release["groups"]) == (len(rows), len(sizes))
    assert (release["smallest"], release["largest"]) == (min(sizes.values()), max(sizes.values()))
    of_class: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        of_class[row["class_id"]][row["disease"]] += 1
    (sensitive,) = found.evidence["sensitive"]
    most = max(max(held.values()) / held.total() for held in of_class.values())
    assert sensitive["most"] == pytest.approx(most)
    exact = {item["column"]: item["exact"] for item in found.evidence["attributes"]}
    alone = sum(len(row["job"] or ()) + row["job_null"] == 1 for row in rows) / len(rows)
    assert exact["job"] == (None if 0 < out < 11 else pytest.approx(alone, abs=1e-6))
    one = sum(row["age"].lower == row["age"].upper for row in rows) / len(rows)
    assert exact["age"] == pytest.approx(one, abs=1e-6)


@pytest.fixture
def guests(db: Database) -> Database:
    db.source(SOURCE)
    arrive(db, 1, 60)
    return db


@pytest.mark.slow
def test_of_three_increments(guests: Database) -> None:
    """Also where newcomers have other ages, more jobs, and codes of their own."""
    checked(guests, run(guests))
    arrive(guests, 61, 72, older=30)
    second = run(guests)
    rows = checked(guests, second)
    assert second.increment is not None
    assert (second.increment.released, len(rows)) == (12, 72)
    assert second.increment.utility.classes < second.utility.classes
    arrive(guests, 73, 76)
    guests.source("UPDATE public.guest SET disease = 'flu' WHERE id > 72", grant=False)
    with driver.refused("infeasible"):
        run(guests)  # these four are permanently suppressed
    arrive(guests, 77, 94, years=12)
    third = run(guests)
    assert third.suppressed == 4
    rows = checked(guests, third)
    mine = [row for row in rows if row["class_id"] > second.utility.classes]
    sizes = Counter(row["class_id"] for row in mine)
    assert third.increment is not None
    found = third.increment.utility
    assert isinstance(found, ClassUtility)
    assert (found.classes, found.smallest_class) == (len(sizes), min(sizes.values()))
    assert verified(third.increment.verified) == diversity(mine)


@pytest.mark.slow
def test_without_groups_that_are_withdrawn(guests: Database) -> None:
    """By a run that adds others, and by one that has nobody to add."""
    everything = run(guests, leavers="withdraw")
    arrive(guests, 61, 80)
    run(guests, leavers="withdraw")
    smallest = min(
        fetched(guests.owner(), "SELECT class_id, count(*) AS n FROM published.guests GROUP BY 1"),
        key=lambda row: (row["n"], row["class_id"]),
    )
    for keys, newcomers in (((7, 13), 20), ((21, 42, 65), 0)):
        guests.source(f"DELETE FROM public.guest WHERE id IN {keys}", grant=False)
        if newcomers:
            arrive(guests, 101, 100 + newcomers, older=9)
        result = run(guests, leavers="withdraw")
        conn = guests.owner()
        rows = fetched(conn, "SELECT * FROM published.guests")
        source = fetched(conn, "SELECT * FROM public.guest")
        assert result.added is not None
        assert result.added.withdrawn_groups > 0
        assert isinstance(result.utility, ClassUtility)
        same(result.utility, expected(rows, source, result.suppressed))
        same(ClassUtility.recorded(current(guests).measures["utility"]), result.utility)
        told(conn, rows, result.suppressed)
        assert (result.increment is None) is (newcomers == 0)
        # Groups that are shown no longer stay verified: earlier versions show them.
        assert verified(result.verified)["k_anonymity"] <= result.utility.smallest_class
        again = {f.model: f.measured for f in lifecycle.verify(conn, "guests")}
        assert all(
            again[model] == measured for model, measured in verified(result.verified).items()
        )
    assert everything.utility is not None
    assert smallest["n"] >= 3


@pytest.mark.slow
def test_after_a_version_that_was_made_at_once(guests: Database) -> None:
    run(guests, refresh="recompute", leavers="keep")
    arrive(guests, 61, 80, older=15)
    checked(guests, run(guests))


@pytest.mark.slow
def test_what_is_said_of_both(guests: Database) -> None:
    """The whole first, what was added under its own words; also after nothing happened."""
    first = run(guests)
    arrive(guests, 61, 69)
    second = run(guests)
    assert second.utility is not None
    assert second.increment is not None
    steward = ("--dsn", guests.dsn("steward"))
    shown = pganon("show", "guests", *steward).out
    assert f"classes         {second.utility.classes} of" in shown
    apart = "of what the version added to the one before, alone:"
    whole, alone = shown.split(apart)
    assert f"classes         {second.increment.utility.classes} of" in alone
    assert "GCP" in whole
    known = listing.find(guests.owner(), "guests")
    told = comparison.compare(*comparison.two_versions(known, None, None))
    classes = [d for d in told if d.what == "classes"]
    assert [(d.before, d.after) for d in classes] == [
        (first.utility and first.utility.classes, second.utility.classes)
    ]
    again = run(guests)
    assert (again.outcome, again.utility, again.verified) == (
        "unchanged",
        second.utility,
        second.verified,
    )


@pytest.mark.slow
def test_of_values_that_are_in_no_source_any_more(guests: Database) -> None:
    """What groups show spans the scale, too; what is lost of a label without leaves is kept."""
    first = run(guests)
    arrive(guests, 61, 72, older=40, years=9)
    second = run(guests)
    guests.source("DELETE FROM public.guest WHERE age > 40 OR zip LIKE 'A%'", grant=False)
    guests.source("DELETE FROM public.guest WHERE grade = 'low'", grant=False)
    guests.source("UPDATE public.guest SET born = 'infinity' WHERE id = 5", grant=False)
    guests.source("UPDATE public.guest SET grade = 'odd' WHERE id = 6", grant=False)
    arrive(guests, 101, 112)
    guests.source("UPDATE public.guest SET zip = 'B' || substr(zip, 2) WHERE id > 100", grant=False)
    third = run(guests)
    assert first.utility is not None
    assert second.utility is not None
    assert second.increment is not None
    rows = fetched(guests.owner(), "SELECT * FROM published.guests")
    finite = "CASE WHEN isfinite(born) THEN born END AS born"
    columns = f"id, age, {finite}, grade, job, zip, visits"
    source = fetched(guests.owner(), f"SELECT {columns} FROM public.guest")
    assert any(row["zip"].startswith("A") for row in rows)
    known = _label(source)

    def label(row: Row) -> float:
        if not row["zip"].startswith("A"):
            return known(row)
        earlier = first if row["class_id"] <= first.utility.classes else second.increment
        return earlier.utility.ncp["zip"]  # pyright: ignore

    assert isinstance(third.utility, ClassUtility)
    same(third.utility, expected(rows, source, third.suppressed, {"zip": label}))


STAYS = """
CREATE TABLE public.stay (
    id integer PRIMARY KEY, person integer NOT NULL, age integer, zip text, disease text
);
"""


def stay(db: Database, first: int, last: int) -> None:
    """One to three stays of every person."""
    db.source(
        "INSERT INTO public.stay SELECT p * 10 + n, p, 20 + p * 7 % 23, 'A' || p % 4,"
        " ('{flu,cold,HIV,gout}'::text[])[1 + (p + n) % 4]"
        f" FROM generate_series({first}, {last}) AS p, generate_series(1, 1 + p % 3) AS n",
        grant=False,
    )


@pytest.mark.slow
def test_of_individuals(db: Database) -> None:
    """Risks count people; what a hitting set is, is compared elsewhere."""
    db.source(STAYS)
    document: dict[str, Any] = {
        "release": "stays",
        "source": "public.stay",
        "columns": {
            "person": {"role": "individual"},
            "age": {"role": "quasi_identifying"},
            "zip": {"role": "quasi_identifying"},
            "disease": {"role": "sensitive"},
        },
        "privacy": [{"model": "ir_kl_anonymity", "column": "disease", "k": 2, "l": 2}],
        "method": {"name": "danonyir"},
        "refresh": "increments",
        "increment_size": 4,
        "suppression_limit": 0.5,  # where the draws of a run leave somebody over
    }
    results: list[RunResult] = []
    for last in (30, 40, 50):
        stay(db, (len(results) and last - 9) or 1, last)
        results.append(run_release(driver.loaded(document), dsn=db.dsn()))
    rows = fetched(db.owner(), "SELECT * FROM published.stays")
    people: dict[int, set[int]] = defaultdict(set)
    holders: dict[tuple[int, str], set[int]] = defaultdict(set)
    stays: Counter[tuple[int, int]] = Counter()
    for row in rows:
        people[row["class_id"]].add(row["individual_no"])
        holders[row["class_id"], row["disease"]].add(row["individual_no"])
        stays[row["class_id"], row["individual_no"]] += 1
    several = {
        person
        for (number, _), owners in holders.items()
        for person in owners
        if len(owners) == 1
        and sum(person in held for (other, _), held in holders.items() if other == number) > 1
    }
    as_many = Counter((number, n) for (number, _), n in stays.items())
    found = results[-1].utility
    assert isinstance(found, IdentityUtility)
    released = sum(map(len, people.values()))
    assert (found.individuals, found.exposed) == (released, len(several))
    assert found.highest_risk == 1 / min(map(len, people.values()))
    assert found.mean_risk == pytest.approx(len(people) / released)
    assert found.smallest_count_group == min(as_many.values())
    assert found.highest_share == pytest.approx(
        max(len(owners) / len(people[number]) for (number, _), owners in holders.items())
    )
    evidence = collect(db.owner(), "stays").evidence
    assert evidence is not None
    totals = {number: len(who) for number, who in people.items()}
    check_sizes(evidence["class_sizes"]["release"], totals.values(), 11)
    counted: dict[int, Counter[str]] = defaultdict(Counter)
    everybody: dict[Any, set[Any]] = defaultdict(set)
    for (number, disease), owners in holders.items():
        counted[number][disease] += len(owners)
        everybody[disease] |= owners
    check_values(evidence["sensitive"][0], counted, everybody, 11, totals)
    sizes = Counter(row["class_id"] for row in rows)
    assert (found.classes, found.smallest_class, found.largest_class) == (
        len(sizes),
        min(sizes.values()),
        max(sizes.values()),
    )
    ages = [row["age"] for row in fetched(db.owner(), "SELECT * FROM public.stay")]
    lost = [float(row["age"].upper - row["age"].lower) / (max(ages) - min(ages)) for row in rows]
    assert found.ncp["age"] == pytest.approx(sum(lost) / len(rows))
    assert found.ncp["zip"] == pytest.approx(sum((len(r["zip"]) - 1) / 3 for r in rows) / len(rows))


@pytest.mark.slow
def test_of_means(db: Database) -> None:
    """They do not tell what they stand for: every increment loses what its run measured."""
    db.source(plans.SOURCE)
    policy = growing_policy("kinc_mic")
    first = run_release(policy, dsn=db.dsn())
    more_visits(db, "25 + n % 9", diseases=6)
    second = run_release(policy, dsn=db.dsn())
    assert first.utility is not None
    assert second.utility is not None
    assert second.increment is not None
    mine = second.increment.released
    for column, loss in second.utility.ncp.items():
        both = first.utility.ncp[column] * first.released
        both += second.increment.utility.ncp[column] * mine
        assert loss == pytest.approx(both / (first.released + mine))


def test_of_values_in_common(db: Database) -> None:
    """The share is that of all records, not of the added ones."""
    columns = {"age": "integer", "job": "text", "heart": "text"}
    rows = [[n, f"j{n % 3}", "a"] for n in range(12)]
    make_table(db.connect("source_owner"), columns, rows)
    document = make_policy(
        {"age": "q", "job": "s", "heart": "s"},
        [{"model": "slicing_l_diversity", "column": "job", "l": 2}],
        method={"name": "slamsa", "sensitive_tables": [["heart"], ["job"]]},
        refresh="increments",
        increment_size=4,
    )
    shares: list[str] = []
    for statement in (
        "",
        "INSERT INTO t SELECT n, n, 'j' || n % 3, 'b' || n % 3 FROM generate_series(13, 24) AS n",
    ):
        db.source(statement, grant=False)
        result = driver.publish(db, document)
        shares += [w.split(":")[1].split(" are")[0] for w in result.warnings if "no model" in w]
    assert shares == [" 100 % of the released records", " 50 % of the released records"]
