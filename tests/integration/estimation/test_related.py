"""Questions about related tables: what is true of the source is within the bounds."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import hypothesis
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from pganon.errors import DatabaseError, PganonError
from pganon.estimation.ask import answer as run
from pganon.estimation.ask import ask
from pganon.estimation.parse import parse_query
from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.estimation.release import AskedRelease, Part, Published, Reference, Slice, Table
from pganon.estimation.resolve import resolve
from pganon.identifiers import QualifiedName
from tests.integration.estimation.test_every_form import can_be_read
from tests.integration.methods.related.test_growing import add, grow, growing, moved
from tests.integration.methods.related.test_periods import days, timed
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only

Rows = dict[str, list[tuple[Any, ...]]]
Condition = tuple[str, Callable[[dict[str, Any]], bool]]
Asked = tuple[str, set[int]]
"""A condition on people as it is written, and of whom it is true."""

STAY = {
    **wards.ADMISSION,
    "columns": {**wards.ADMISSION["columns"], "kind": {"role": "insensitive"}},
    "together": [["ward_no", "admitted"], ["ward_no", "kind"]],
}
TYPED = {
    **wards.ROOT,
    "columns": {**wards.ROOT["columns"], "blood": {"role": "insensitive"}},
}
POLICIES: dict[str, tuple[dict[str, Any], int, float, int]] = {
    "chain": ({**wards.WHOLE, "patient": TYPED, "admission": STAY}, 3, 0.9, 20),
    "strict": ({**wards.WHOLE, "admission": STAY}, 2, 0.6, 6),
    "two ways": (
        {
            **wards.WHOLE,
            "admission": STAY,
            "diagnosis": {
                **wards.DIAGNOSIS,
                "references": {"admission_no": "admission", "patient_no": "patient"},
            },
        },
        *(2, 0.9, 12),
    ),
    "own": ({**wards.WHOLE, "admission": {**STAY, "groups": "own"}}, 3, 0.9, 20),
}


def released(db: Database, name: str, seed: int) -> Rows:
    """Few have a code `e`, each twice."""
    tables = wards.rows(220, seed)
    for number, person, *_ in tables["admission"][:6]:
        tables["diagnosis"] += [(number, person, "e")] * 2
    wards.build(db.connect("source_owner"), tables)
    declared, k, beta, size = POLICIES[name]
    driver.publish(db, wards.policy(declared, k, beta, group_size=size))
    can_be_read(db)
    return tables


def answer(db: Database, text: str) -> dict[str, Any]:
    with db.connect("analyst") as analyst:
        (row,) = ask(analyst, "hospital", text).as_dicts()
    return row


# -- random questions ------------------------------------------------------------------------------

VALUES: dict[str, tuple[str, list[Any]]] = {
    "code": ("diagnosis", ["a", "b", "c", "d"]),
    "ward_no": ("admission", [1, 2, 3, 4]),
    "admitted": ("admission", ["2020", "2021", "2022", "2023"]),
    "kind": ("admission", ["now", "plan"]),
    "study_no": ("patient_study", [1, 2, 3]),
}
WAYS = {
    "diagnosis": (
        "EXISTS (SELECT FROM diagnosis{where})",
        "EXISTS (SELECT 1 FROM diagnosis AS d JOIN admission AS a USING (admission_no)"
        " WHERE a.patient_no = p.patient_no{and})",
        "patient_no IN (SELECT a.patient_no FROM admission a, diagnosis"
        " WHERE a.admission_no = diagnosis.admission_no{and})",
        "EXISTS (SELECT FROM admission a WHERE a.patient_no = p.patient_no AND a.admission_no IN"
        " (SELECT admission_no FROM diagnosis{where}))",
    ),
    "admission": (
        "EXISTS (SELECT * FROM hospital.admission{where})",
        "EXISTS (SELECT FROM admission WHERE patient_no = p.patient_no{and})",
        "p.patient_no IN (SELECT patient_no FROM admission{where})",
    ),
    "patient_study": ("EXISTS (SELECT FROM patient_study{where})",),
}


def compared(draw: random.Random, column: str) -> Condition:
    """A condition on a column of events."""
    values = VALUES[column][1]
    some = draw.sample(values, 2)
    listed = ", ".join(map(repr, some))
    return draw.choice(
        [
            (f"{column} = {some[0]!r}", lambda row: row[column] == some[0]),
            (f"{column} IN ({listed})", lambda row: row[column] in some),
            (f"{column} IS NULL", lambda row: row[column] is None),
            (f"{column} <> {some[0]!r}", lambda row: row[column] not in (some[0], None)),
            (f"NOT {column} IN ({listed})", lambda row: row[column] not in (*some, None)),
            (
                f"({column} = {some[0]!r} OR {column} IS NULL)",
                lambda row: row[column] in (some[0], None),
            ),
        ]
    )


def held(tables: Rows, table: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every row with whose it is, and its values as they are published."""
    of_admission = {row[0]: row[1] for row in tables["admission"]}
    for row in tables[table]:
        if table == "diagnosis":
            yield of_admission[row[0]], {"code": row[2]}
        elif table == "admission":
            yield row[1], {"ward_no": row[2], "admitted": str(row[3])[:4], "kind": row[4]}
        else:
            yield row[0], {"study_no": row[1]}


def fact(draw: random.Random, tables: Rows, ways: bool) -> Asked:
    columns = draw.choice(
        [
            *((), ("code",), ("code",), ("ward_no",), ("study_no",), ("ward_no", "admitted")),
            *(("admitted",), ("kind",), ("ward_no", "kind")),
        ]
    )
    table = VALUES[columns[0]][0] if columns else draw.choice(list(WAYS))
    found = [compared(draw, column) for column in columns]
    text = " AND ".join(one for one, _ in found)
    if columns == ("ward_no",) and draw.random() < 0.3:
        number = draw.randint(1, 4)
        named = f"ward_no IN (SELECT w.ward_no FROM ward AS w WHERE name = 'ward {number}')"
        text, found = named, [(named, lambda row: row["ward_no"] == number)]
    way = draw.choice(WAYS[table][: None if ways else 1])
    where = {"where": f" WHERE {text}" if text else "", "and": f" AND {text}" if text else ""}
    people = {p for p, row in held(tables, table) if all(holds(row) for _, holds in found)}
    return way.format(**where), people


def joined(draw: random.Random, asked: list[Asked], everybody: set[int]) -> Asked:
    """Some of them by AND, OR and NOT."""
    if len(asked) == 1:
        text, people = asked[0]
        if draw.random() < 0.3 and " IN (SELECT" not in text.split("EXISTS")[0]:
            return f"NOT {text}", everybody - people
        return text, people
    place = draw.randint(1, len(asked) - 1)
    (one, left), (two, right) = (
        joined(draw, part, everybody) for part in (asked[:place], asked[place:])
    )
    if draw.random() < 0.65:
        return f"({one} AND {two})", left & right
    return f"({one} OR {two})", left | right


def of_root(draw: random.Random, tables: Rows, typed: bool) -> Asked:
    if typed and draw.random() < 0.5:
        letter = draw.choice("ABO")
        return f"blood = '{letter}'", {row[0] for row in tables["patient"] if row[3] == letter}
    year = draw.randint(1935, 2000)
    sex = draw.choice("FM")
    return draw.choice(
        [
            (f"born < {year}", {row[0] for row in tables["patient"] if row[1] < year}),
            (f"sex = '{sex}'", {row[0] for row in tables["patient"] if row[2] == sex}),
            (
                f"(p.born > {year} OR sex = '{sex}')",
                {row[0] for row in tables["patient"] if row[1] > year or row[2] == sex},
            ),
        ]
    )


REFUSED = ("buckets of their own", "not together", "has no column", "names rows of several")


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", [1, *[pytest.param(n, marks=pytest.mark.slow) for n in (2, 3)]])
@pytest.mark.slow
def test_what_is_true_is_within_the_bounds(db: Database, name: str, seed: int) -> None:
    tables = released(db, name, seed)
    draw = random.Random(f"{name} {seed}")
    everybody = {row[0] for row in tables["patient"]}
    refused = 0
    for _ in range(30):
        facts = [fact(draw, tables, name == "chain") for _ in range(draw.choice([1, 1, 2, 3]))]
        text, people = joined(draw, facts, everybody)
        if draw.random() < 0.6:
            condition, own = of_root(draw, tables, name == "chain")
            text, people = f"{condition} AND {text}", people & own
        query = f"SELECT count(*) AS n, sum(born) AS s FROM patient AS p WHERE {text}"
        try:
            row = answer(db, query)
        except EstimateRefused as error:
            refused += 1
            if not any(said in str(error) for said in REFUSED):
                raise
            continue
        born = {one[0]: one[1] for one in tables["patient"]}
        for column, true in (("n", len(people)), ("s", sum(born[p] for p in people))):
            lower, upper = row[f"{column}_lower"], row[f"{column}_upper"]
            assert lower <= true <= upper, (query, column, true, row)
            assert lower <= row[column] <= upper, (query, row)
    assert refused < 15


# -- expected values, over all worlds --------------------------------------------------------------

GROUPS = QualifiedName("worlds", "groups")
EVENTS = Part("group_id", False, GROUPS, "group_id", "people", events=True)
PEOPLE = QualifiedName("worlds", "people")
_OWN = Part("people", True, PEOPLE, "class_id", None)


def _table(name: str, above: tuple[str, ...], *slices: tuple[str, ...]) -> Table:
    columns = {
        column: Published(column, "exact", "integer", None, False, EVENTS)
        for one in slices
        for column in one
    }
    views = [QualifiedName("worlds", "_".join((name, *one))) for one in slices]
    return Table(
        name,
        columns,
        part=EVENTS,
        holders=name,
        slices=tuple(Slice(*each) for each in zip(views, slices, strict=True)),
        path=(name, *above),
    )


TABLES = {
    "stay": _table("stay", (), ("ward",), ("ward", "year")),
    "code": _table("code", ("stay",), ("code",)),
    "drug": _table("drug", ("stay",), ("drug",)),
    "study": _table("study", (), ("study",)),
}
RELEASE = AskedRelease(
    "hospital",
    1,
    PEOPLE,
    _OWN,
    None,
    {"blood": Published("blood", "exact", "integer", None, False, _OWN)},
    {"group_id": "group_id"},
    root="patient",
    tables=TABLES,
)


@dataclass(frozen=True)
class World:
    """What a group of people publishes: of whom nothing else is known, all are alike.

    Attributes:
        classes: the class of everybody, and a value that is known with it.
        holders: of every table.
        values: people with a value, by table and value; in every table all who have rows have 0.
        years: by ward, people who have a year with it.
    """

    classes: tuple[tuple[int, int], ...]
    holders: dict[str, int]
    values: dict[str, dict[Any, int]]
    years: dict[Any, dict[int, int]]


@st.composite
def _groups(draw: st.DrawFn) -> World:
    m = draw(st.integers(1, 4))
    classes = tuple((draw(st.integers(1, 2)), draw(st.integers(0, 1))) for _ in range(m))
    stay = draw(st.integers(0, m))
    holders = {
        "stay": stay,
        "code": draw(st.integers(0, stay)),
        "drug": draw(st.integers(0, stay)),
        "study": draw(st.integers(0, m)),
    }
    values = {
        name: {0: n, **{v: draw(st.integers(0, n)) for v in (1, 2)[: 2 if name == "code" else 1]}}
        for name, n in holders.items()
    }
    years = {ward: {0: n, 1: draw(st.integers(0, n))} for ward, n in values["stay"].items() if n}
    return World(classes, holders, values, years)


def _subsets(people: frozenset[int], n: int) -> list[frozenset[int]]:
    return [frozenset(some) for some in itertools.combinations(sorted(people), n)]


def worlds(found: World, used: set[str]) -> Iterator[dict[str, frozenset[int]]]:
    """Who has rows in the tables that are used, and every fact; all equally likely."""
    everybody = frozenset(range(len(found.classes)))

    def of(
        names: list[str], known: dict[str, frozenset[int]]
    ) -> Iterator[dict[str, frozenset[int]]]:
        if not names:
            yield known
            return
        name, *rest = names
        above = {"code": "stay", "drug": "stay"}.get(name)
        for held in _subsets(known[above] if above else everybody, found.holders[name]):
            yield from _valued(name, held, rest, {**known, name: held})

    def _valued(name, held, rest, known):
        listed = [v for v in (1, 2) if v in found.values[name]]
        for some in itertools.product(*[_subsets(held, found.values[name][v]) for v in listed]):
            more = {f"{name} {v}": p for v, p in zip(listed, some, strict=True)}
            if name != "stay" or "year" not in used:
                yield from of(rest, {**known, **more})
                continue
            wards = {0: held, **dict(zip(listed, some, strict=True))}
            for both in itertools.product(
                *[_subsets(wards[w], years[1]) for w, years in found.years.items()]
            ):
                dated = {f"year {w}": p for w, p in zip(found.years, both, strict=True)}
                yield from of(rest, {**known, **more, **dated})

    yield from of([name for name in found.holders if name in used], {})


FACTS: dict[str, tuple[str, Callable[[dict[str, frozenset[int]]], frozenset[int]]]] = {
    "stay": ("EXISTS (SELECT FROM stay)", lambda w: w["stay"]),
    "ward": ("EXISTS (SELECT FROM stay WHERE ward = 1)", lambda w: w["stay 1"]),
    "code": ("EXISTS (SELECT FROM code WHERE code = 1)", lambda w: w["code 1"]),
    "other": ("EXISTS (SELECT FROM code WHERE code = 2)", lambda w: w["code 2"]),
    "codes": (
        "EXISTS (SELECT FROM code WHERE code IN (1, 2))",
        lambda w: w["code 1"] | w["code 2"],
    ),
    "drug": ("EXISTS (SELECT FROM drug WHERE drug = 1)", lambda w: w["drug 1"]),
    "study": ("EXISTS (SELECT FROM study WHERE study = 1)", lambda w: w["study 1"]),
    "year": (
        "EXISTS (SELECT FROM stay WHERE ward = 1 AND year = 1)",
        lambda w: w.get("year 1", frozenset()),
    ),
    "years": (
        "EXISTS (SELECT FROM stay WHERE year = 1)",
        lambda w: w.get("year 1", frozenset()) | w.get("year 0", frozenset()),
    ),
}
USES = {"ward": {"stay"}, "other": {"code"}, "codes": {"code"}}
USES |= {name: {"stay", "year"} for name in ("year", "years")}


def fill(conn: Any, found: list[World]) -> None:
    conn.execute("DROP SCHEMA IF EXISTS worlds CASCADE; CREATE SCHEMA worlds")
    conn.execute("CREATE TABLE worlds.people (class_id int, group_id int, blood int)")
    conn.execute(
        "CREATE TABLE worlds.groups (group_id int, people bigint, stay bigint, code bigint,"
        " drug bigint, study bigint)"
    )
    for name in ("stay_ward", "code_code", "drug_drug", "study_study"):
        column = name.split("_")[1]
        conn.execute(f"CREATE TABLE worlds.{name} (group_id int, {column} int, persons bigint)")
    conn.execute(
        "CREATE TABLE worlds.stay_ward_year (group_id int, ward int, year int, persons bigint)"
    )
    for group, one in enumerate(found):
        for class_id, blood in one.classes:
            row = [class_id + 2 * group, group, blood]
            conn.execute("INSERT INTO worlds.people VALUES (%s, %s, %s)", row)
        row = [group, len(one.classes), *one.holders.values()]
        conn.execute("INSERT INTO worlds.groups VALUES (%s, %s, %s, %s, %s, %s)", row)
        for name, values in one.values.items():
            view = {"stay": "stay_ward"}.get(name, f"{name}_{name}")
            for value, n in values.items():
                if n:
                    insert = f"INSERT INTO worlds.{view} VALUES (%s, %s, %s)"
                    conn.execute(insert, [group, value, n])
        for ward, years in one.years.items():
            for year, n in years.items():
                if n:
                    insert = "INSERT INTO worlds.stay_ward_year VALUES (%s, %s, %s, %s)"
                    conn.execute(insert, [group, ward, year, n])


Formula = tuple[
    str, set[str], Callable[[dict[str, frozenset[int]], frozenset[int]], frozenset[int]]
]


def _atom(name: str) -> Formula:
    text, people = FACTS[name]
    return text, USES.get(name, {name}), lambda w, every: people(w)


def _no(one: Formula) -> Formula:
    return f"NOT {one[0]}", one[1], lambda w, every: every - one[2](w, every)


def _pair(one: Formula, other: Formula, every: bool) -> Formula:
    word = "AND" if every else "OR"

    def holds(w: dict[str, frozenset[int]], all_: frozenset[int]) -> frozenset[int]:
        left, right = one[2](w, all_), other[2](w, all_)
        return left & right if every else left | right

    return f"({one[0]} {word} {other[0]})", one[1] | other[1], holds


DEPENDENT = ({"codes", "code"}, {"codes", "other"}, {"ward", "year"}, {"ward", "years"})
DEPENDENT += ({"year", "years"},)
"""Facts about the same values, which are nevertheless taken to be independent."""


@st.composite
def _formulas(draw: st.DrawFn) -> Formula:
    names = draw(st.lists(st.sampled_from(list(FACTS)), min_size=1, max_size=3, unique=True))
    hypothesis.assume(not any(both <= set(names) for both in DEPENDENT))
    parts = [_no(_atom(n)) if draw(st.booleans()) else _atom(n) for n in names]
    if draw(st.booleans()):
        parts.append(parts[0])  # which says nothing more
    # Alternatives that cross tables, in a conjunction, are taken to be unrelated to the rest.
    every = draw(st.booleans())
    return functools.reduce(lambda one, other: _pair(one, other, every), parts)


@given(found=st.lists(_groups(), min_size=1, max_size=2), formula=_formulas(), blood=st.booleans())
@examples(60)
@pytest.mark.slow
def test_the_estimate_is_the_mean_over_all_worlds(
    db: Database, found: list[World], formula: Formula, blood: bool
) -> None:
    text, used, holds = formula
    used = used | {"stay"} if used & {"code", "drug"} else used
    mean, variance, least, most = Fraction(0), Fraction(0), 0, 0
    for one in found:
        everybody = frozenset(range(len(one.classes)))
        asked = frozenset(i for i in everybody if not blood or one.classes[i][1])
        counts = [len(holds(w, everybody) & asked) for w in worlds(one, used)]
        own = Fraction(sum(counts), len(counts))
        mean += own
        variance += Fraction(sum(c * c for c in counts), len(counts)) - own**2
        least, most = least + min(counts), most + max(counts)
    where = f"blood = 1 AND {text}" if blood else text
    resolved = resolve(parse_query(f"SELECT count(*) FROM patient WHERE {where}"), RELEASE)
    with db.connect() as conn:
        fill(conn, found)
        row = run(conn, resolved, "column").as_dicts()[0]
    assert row["count_lower"] <= least <= most <= row["count_upper"]
    assert row["count"] == pytest.approx(float(mean), abs=1e-9)
    assert row["count_error"] ** 2 == pytest.approx(float(variance), abs=1e-6)


# -- what is asked how -----------------------------------------------------------------------------


@pytest.fixture
def hospital(db_after: Any) -> Database:
    db, _ = db_after(_hospital)
    return db


def _hospital(db: Database) -> None:
    released(db, "chain", 1)


REFUSED_TEXTS = [
    (
        "patient AS p WHERE EXISTS (SELECT FROM admission AS a JOIN diagnosis USING (admission_no)"
        " WHERE a.ward_no = 1 AND code = 'a')",
        "rows of several tables are not linked",
    ),
    (
        "patient WHERE EXISTS (SELECT FROM admission WHERE admitted = '2021' AND kind = 'now')",
        "admitted and kind are not together",
    ),
    ("patient WHERE EXISTS (SELECT FROM admission WHERE born < 1960)", "not linked"),
    ("patient WHERE EXISTS (SELECT FROM admission WHERE patient_no = 3)", "no column patient_no"),
    ("patient WHERE EXISTS (SELECT FROM doctor)", "no table doctor"),
    ("patient WHERE EXISTS (SELECT FROM ward WHERE name = 'ward 1')", "rows of one table"),
    ("patient WHERE EXISTS (SELECT FROM admission, diagnosis)", "rows of one table"),
    (
        "patient AS p WHERE EXISTS (SELECT FROM diagnosis WHERE patient_no = p.patient_no)",
        "these are no keys",
    ),
    (
        "patient AS p WHERE EXISTS (SELECT FROM admission AS a"
        " WHERE a.admission_no = p.patient_no)",
        "these are no keys",
    ),
    ("patient WHERE EXISTS (SELECT count(*) FROM admission WHERE ward_no = 9)", "alone"),
    ("patient WHERE EXISTS (SELECT FROM admission LIMIT 0)", "alone"),
    ("patient WHERE EXISTS (SELECT FROM admission GROUP BY ward_no)", "alone"),
    ("patient WHERE EXISTS (SELECT FROM admission UNION SELECT FROM diagnosis)", "alone"),
    ("patient WHERE EXISTS (SELECT FROM admission LEFT JOIN ward USING (ward_no))", "inner joins"),
    ("patient WHERE EXISTS (SELECT FROM admission TABLESAMPLE SYSTEM (1))", "names of tables"),
    ("patient WHERE EXISTS (SELECT FROM diagnosis() WHERE code = 'a')", "names of tables"),
    ("patient WHERE EXISTS (SELECT FROM diagnosis WHERE pg_sleep(9) IS NULL)", ""),
    ("patient WHERE EXISTS (SELECT FROM diagnosis WHERE code = (SELECT 'a'))", "by itself"),
    ("patient WHERE patient_no NOT IN (SELECT patient_no FROM admission)", "NOT IN"),
    ("patient WHERE NOT (born > 5 OR patient_no IN (SELECT patient_no FROM admission))", "NOT IN"),
    ("patient WHERE (EXISTS (SELECT FROM admission)) = true", "stands by itself"),
    ("patient WHERE born IN (SELECT born FROM patient AS q)", "no table patient"),
    ("patient WHERE born < 1960 OR EXISTS (SELECT FROM admission)", "of their own"),
    ("patient, ward", "rows of one table"),
    ("admission WHERE ward_no = 1 AND admitted = '2021'", "not counted by row"),
    ("admission AS a JOIN diagnosis USING (admission_no) WHERE ward_no = 1", "not linked"),
    ("admission JOIN patient ON ward_no = patient_no", "no keys"),
    ("admission, patient WHERE ward_no = 1", "by no keys"),
    (
        "admission AS a WHERE EXISTS (SELECT FROM diagnosis WHERE admission_no = a.admission_no)",
        "not linked",
    ),
    ("admission JOIN ward ON kind = name", "no keys"),
    (
        "patient WHERE EXISTS (SELECT FROM diagnosis JOIN admission AS a USING (admission_no)"
        " JOIN ward AS w ON w.ward_no = a.ward_no WHERE w.name = 'ward 9')",
        "not linked",
    ),
    (
        "patient WHERE EXISTS (SELECT FROM admission AS a JOIN ward AS w"
        " ON w.ward_no = a.ward_no AND w.ward_no = a.admitted)",
        "not linked",
    ),
    (
        "patient WHERE EXISTS (SELECT FROM admission AS a (x, y, kind) WHERE kind = 'now')",
        "an alias for columns",
    ),
    ("admission AS a JOIN patient USING (patient_no) GROUP BY a.sex", "of people alone"),
    ("admission GROUP BY sex", "of people alone"),
    (
        "patient JOIN admission USING (patient_no)"
        " HAVING count(*) FILTER (WHERE EXISTS (SELECT FROM diagnosis)) > 1",
        "of people alone",
    ),
    ("admission LEFT JOIN patient USING (patient_no)", "inner joins"),
    ("ward", "rows of one table"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED_TEXTS)
def test_what_nothing_links_is_refused(hospital: Database, text: str, words: str) -> None:
    with pytest.raises(EstimateRefused) as refused:
        answer(hospital, f"SELECT count(*) FROM {text}")
    assert words in refused.value.message, refused.value.message


@pytest.mark.parametrize(
    "text",
    [
        "admission JOIN patient ON patient.patient_no = admission.patient_no WHERE {}",
        "admission JOIN patient USING (patient_no) WHERE ward_no = 1 AND {}",
        "admission JOIN patient ON patient.patient_no = admission.patient_no AND {}",
        "admission WHERE EXISTS (SELECT FROM patient AS q"
        " WHERE q.patient_no = admission.patient_no AND {})",
        "patient WHERE EXISTS (SELECT FROM admission, ward WHERE {1}"
        " AND ward.ward_no = admission.ward_no)",
    ],
)
def test_no_function_of_a_query_reaches_the_server(hospital: Database, text: str) -> None:
    with pytest.raises(EstimateRefused, match=r"pg_sleep|query_to_xml"):
        answer(
            hospital,
            "SELECT count(*) FROM "
            + text.format("pg_sleep(born) IS NULL", "query_to_xml(name, true) IS NULL"),
        )


def test_rows_have_no_other_facts_in_a_filter(hospital: Database) -> None:
    with pytest.raises(EstimateRefused, match="of people alone"):
        answer(hospital, f"SELECT count(*) FILTER (WHERE {CODE_A}) FROM admission")


def test_facts_are_nested(hospital: Database) -> None:
    text = CODE_A
    for place, value in enumerate("bcdabcdab"):
        word, condition = ("AND", "OR")[place % 2], f"code > '{value}{place}'"
        text = f"({text} {word} NOT EXISTS (SELECT FROM diagnosis WHERE {condition}))"
    row = answer(hospital, f"SELECT count(*) AS n FROM patient WHERE {text}")
    assert row["n_lower"] <= row["n"] <= row["n_upper"]


def test_too_many_facts_are_refused(hospital: Database) -> None:
    facts = " AND ".join(["EXISTS (SELECT FROM diagnosis WHERE code = 'a')"] * 11)
    with pytest.raises(EstimateRefused, match="more than 10"):
        answer(hospital, f"SELECT count(*) FROM patient WHERE {facts}")


CODE_A = "EXISTS (SELECT FROM diagnosis WHERE code = 'a')"
CODE_B = "EXISTS (SELECT FROM diagnosis WHERE code = 'b')"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (CODE_A, False),
        (f"born < 1960 AND {CODE_A}", False),
        (f"{CODE_A} AND {CODE_B}", True),
        (f"{CODE_A} OR {CODE_B}", True),
        (f"{CODE_A} AND NOT {CODE_B}", True),
    ],
)
def test_several_facts_are_said_to_be_independent(
    hospital: Database, where: str, expected: bool
) -> None:
    row = answer(hospital, f"SELECT count(*) FROM patient WHERE {where}")
    assert row.get("independent", False) is expected


def test_groups_and_filters(hospital: Database) -> None:
    """As of other conditions; the groups of an answer add up."""
    with hospital.connect("analyst") as analyst:
        text = f"SELECT sex, count(*) AS n, count(*) FILTER (WHERE {CODE_A}) AS a FROM hospital"
        rows = ask(analyst, "hospital", f"{text} WHERE {CODE_B} GROUP BY sex").as_dicts()
    both = answer(hospital, f"SELECT count(*) FROM patient WHERE {CODE_A} AND {CODE_B}")
    one = answer(hospital, f"SELECT count(*) FROM patient WHERE {CODE_B}")
    assert [row["sex"] for row in rows] == ["F", "M"]
    assert sum(row["a"] for row in rows) == pytest.approx(both["count"])
    assert sum(row["n"] for row in rows) == pytest.approx(one["count"])
    assert one["count_lower"] == one["count_upper"] == one["count"]


def test_what_is_read(hospital: Database) -> None:
    """A reader of the views that a question is about can ask it; no other relation is in it."""
    hospital.admin.execute("REVOKE SELECT ON ALL TABLES IN SCHEMA published FROM analyst")
    hospital.admin.execute(
        "GRANT SELECT ON published.hospital, published.hospital_groups,"
        " published.hospital_diagnosis_code TO analyst"
    )
    with hospital.connect("analyst") as analyst:
        found = ask(
            analyst, "hospital", f"SELECT count(*) FROM patient WHERE born < 1960 AND {CODE_A}"
        )
        tables = {
            table.sql()
            for table in parse_one(found.sql, dialect="postgres").find_all(exp.Table)
            if table.db
        }
        assert {name.split(" AS ")[0].replace('"', "") for name in tables} == {
            "published.hospital",
            "published.hospital_groups",
            "published.hospital_diagnosis_code",
        }
        with pytest.raises(DatabaseError, match="permission denied"):
            ask(
                analyst,
                "hospital",
                "SELECT count(*) FROM patient WHERE EXISTS (SELECT FROM"
                " admission WHERE ward_no = 1)",
            )


def test_rows_of_events(hospital: Database) -> None:
    """People, times the rows that each of them has of the value; without bounds."""
    true = hospital.admin.execute(
        "SELECT count(*), count(*) FILTER (WHERE ward_no = 2),"
        " count(*) FILTER (WHERE ward_no = 2 AND born < 1960)"
        " FROM hospital.admission JOIN hospital.patient USING (patient_no)"
    ).fetchone()
    assert true is not None
    for text, rows, exact in (
        ("admission", true[0], True),
        ("hospital JOIN admission USING (patient_no) WHERE ward_no = 2", true[1], True),
        ("admission WHERE ward_no = 2", true[1], True),
        (
            "admission AS a WHERE ward_no IN (SELECT ward_no FROM ward WHERE name = 'ward 2')",
            true[1],
            True,
        ),
        (
            "patient AS p JOIN admission AS a ON a.patient_no = p.patient_no"
            " WHERE ward_no = 2 AND born < 1960",
            true[2],
            False,
        ),
    ):
        row = answer(hospital, f"SELECT count(*) AS n FROM {text}")
        assert row["n"] == pytest.approx(rows, rel=1e-9 if exact else 0.15), text
        assert [row[f"n{end}"] for end in ("_lower", "_upper", "_low", "_high", "_error")] == [
            None
        ] * 5
        assert row["maybe_empty"]
    with pytest.raises(EstimateRefused, match="counted by count"):
        answer(hospital, "SELECT sum(born) FROM admission JOIN patient USING (patient_no)")


def test_rows_by_what_people_are(hospital: Database) -> None:
    text = (
        "SELECT p.sex AS s, count(*) AS n, count(*) FILTER (WHERE p.born < 1960) AS old"
        " FROM {}admission AS a JOIN {}patient AS p USING (patient_no) GROUP BY s ORDER BY s"
    )
    true = hospital.admin.execute(text.format("hospital.", "hospital.").encode()).fetchall()
    with hospital.connect("analyst") as analyst:
        rows = ask(analyst, "hospital", text.format("", "")).as_dicts()
    assert [row["s"] for row in rows] == ["F", "M"]
    assert sum(row["n"] for row in rows) == pytest.approx(sum(n for _, n, _ in true))
    for row, (_, n, old) in zip(rows, true, strict=True):
        assert (row["n"], row["old"]) == (pytest.approx(n, rel=0.15), pytest.approx(old, rel=0.2))


def test_rows_of_values_that_few_or_none_have(hospital: Database) -> None:
    """A value of fewer than ten people has as many rows per person as others."""
    (lacking, few, mean) = hospital.admin.execute(
        "SELECT (SELECT count(*) FROM hospital.diagnosis WHERE code IS NULL),"
        " (SELECT sum(persons) FROM published.hospital_diagnosis_code WHERE code = 'e'),"
        " (SELECT sum(rows) / sum(persons) FROM published.hospital_diagnosis_rows)"
    ).fetchone() or (0, 0, 0)
    assert 1 < few < 10
    row = answer(hospital, "SELECT count(*) FROM diagnosis WHERE code IS NULL")
    assert row["count"] == pytest.approx(lacking)
    row = answer(hospital, "SELECT count(*) FROM diagnosis WHERE code = 'e'")
    assert row["count"] == pytest.approx(float(few * mean))


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_versions_that_grew(db: Database) -> None:
    """A value has rows of every increment."""
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    grow(db, growing(publish={"readers": ["analyst"]}))
    add(db, moved(120, 7))
    grow(db, growing(publish={"readers": ["analyst"]}))
    repeated = "SELECT count(*) > count(DISTINCT value) FROM published.hospital_admission_rows"
    assert db.admin.execute(repeated).fetchone() == (True,)
    for condition in ("", "WHERE ward_no = 2"):
        text = f"SELECT count(*) FROM hospital.admission {condition}"
        assert db.admin.execute(text.encode()).fetchone() == (
            pytest.approx(answer(db, text)["count"]),
        )
    text = "SELECT count(DISTINCT patient_no) FROM hospital.admission WHERE ward_no = 2"
    (true,) = db.admin.execute(text.encode()).fetchone() or ()
    row = answer(
        db, "SELECT count(*) FROM patient WHERE EXISTS (SELECT FROM admission WHERE ward_no = 2)"
    )
    assert row["count_lower"] <= true <= row["count_upper"]
    assert row["count"] == pytest.approx(true)


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_tables_with_periods_are_not_estimated_from(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    day = days(monkeypatch)
    for today in ("2022-01-01", "2023-01-01"):
        day(today)
        grow(db, timed(publish={"readers": ["analyst"]}))
    with pytest.raises(EstimateRefused, match="admission") as refused:
        answer(
            db,
            "SELECT count(*) FROM patient WHERE EXISTS (SELECT FROM admission WHERE ward_no = 2)",
        )
    assert "none with a period is asked" in (refused.value.hint or "")
    (true,) = (
        db.admin.execute(b"SELECT count(*) FROM hospital.patient WHERE born < 1960").fetchone()
        or ()
    )
    row = answer(db, "SELECT count(*) FROM patient WHERE born < 1960")
    assert row["count_lower"] <= true <= row["count_upper"]


def test_in_sql_people_are_asked_and_events_refused(hospital: Database) -> None:
    with hospital.connect("analyst") as analyst:
        query = '{"measure": "count", "where": [{"column": "born", "lt": 1960}]}'
        rows = analyst.execute("SELECT lower, upper FROM pganon.estimate('hospital', %s)", [query])
        (found,) = rows.fetchall()
        row = answer(hospital, "SELECT count(*) FROM patient WHERE born < 1960")
        assert found == (row["count_lower"], row["count_upper"])
        with pytest.raises(psycopg.Error, match="code is of a table of events") as refused:
            analyst.execute(
                "SELECT * FROM pganon.estimate('hospital', %s)",
                ['{"measure": "count", "where": [{"column": "code", "eq": "a"}]}'],
            )
        assert refused.value.diag.sqlstate == "PA118"
        assert refused.value.diag.message_hint == "use `pganon estimate`"


# -- bounds, by the formulas -----------------------------------------------------------------------

TEN = World(
    tuple((1 + (i > 5), int(i % 5 == 0)) for i in range(10)),
    {"stay": 8, "code": 6, "drug": 5, "study": 7},
    {
        "stay": {0: 2, 1: 5, 2: 4},
        "code": {0: 1, 1: 4, 2: 5},
        "drug": {1: 3, 2: 2},
        "study": {1: 6, 2: 1},
    },
    # Of the two with ward 0 nobody knows which years they have.
    {1: {0: 3, 1: 4}, 2: {0: 1, 1: 3}},
)


def _some(table: str, condition: str = "") -> str:
    return f"EXISTS (SELECT FROM {table}{condition and ' WHERE ' + condition})"


@pytest.mark.parametrize(
    ("where", "lower", "estimate", "upper"),
    [
        (_some("stay"), 8, 8, 8),
        ("NOT " + _some("stay"), 2, 2, 2),
        (_some("stay", "ward = 1"), 5, 5, 5),
        (_some("stay", "ward = 9"), 0, 0, 0),
        # The largest, and all; then less those with other values.
        (_some("stay", "ward IN (0, 2)"), 4, 8 * (1 - 6 / 8 * 4 / 8), 6),
        (_some("stay", "ward IN (1, 2)"), 6, 8 * (1 - 3 / 8 * 4 / 8), 8),
        (_some("stay", "ward >= 0"), 8, 8, 8),
        # Of a table; of two that lead over one; of the whole group.
        (_some("code", "code = 1") + " AND " + _some("code", "code = 2"), 3, 6 * 4 * 5 / 36, 4),
        (_some("code", "code = 2") + " AND " + _some("drug", "drug = 1"), 0, 8 * 5 * 3 / 64, 3),
        (_some("code", "code = 2") + " AND " + _some("stay", "ward = 1"), 2, 8 * 25 / 64, 5),
        (_some("stay", "ward = 1") + " AND " + _some("study", "study = 1"), 1, 3, 5),
        (_some("code", "code = 1") + " OR " + _some("code", "code = 2"), 5, 6 * (1 - 2 / 36), 6),
        (_some("code", "code = 2") + " AND NOT " + _some("code", "code = 1"), 1, 5 * 2 / 6, 2),
        ("NOT " + _some("code", "code = 1") + " AND NOT " + _some("code"), 4, 4, 4),
        (_some("stay") + " AND " + _some("drug", "drug = 1"), 3, 3, 3),
        # Pairs: known; of the second alone, perhaps of those with the ward 0, as many as of others.
        (_some("stay", "ward = 1 AND year = 1"), 4, 4, 4),
        (_some("stay", "ward = 0 AND year = 1"), 0, 0, 2),
        (_some("stay", "year = 1 AND ward IN (1, 2)"), 4, 8 * (1 - 4 / 8 * 5 / 8), 7),
        (_some("stay", "year = 1"), 4, 8 * (1 - 4 / 8 * 5 / 8 * (1 - 2 * 7 / 11 / 8)), 8),
        (_some("stay", "ward = 1 AND year >= 0"), 5, 5, 5),
        (_some("stay", "year = 1 AND ward < 2"), 4, 8 * (1 - 4 / 8 * (1 - 2 * 4 / 7 / 8)), 6),
        (" AND ".join([_some("code", "code = 1")] * 2), 4, 4, 4),
        # Two of a table are likelier together than either is with one of another table.
        (
            " AND ".join(
                [_some("code", "code = 1"), _some("study", "study = 1"), _some("code", "code = 2")]
            ),
            *(0, 6 * 4 * 5 / 36 * 6 / 10, 4),
        ),
        # Beside what is known of people: two of ten.
        ("blood = 1 AND " + _some("stay", "ward = 1"), 0, 1, 2),
        ("blood = 0 AND " + _some("stay", "ward = 1"), 3, 4, 5),
    ],
)
def test_bounds_and_estimates_are_those_of_the_formulas(
    db: Database, where: str, lower: int, estimate: float, upper: int
) -> None:
    resolved = resolve(parse_query(f"SELECT count(*) FROM patient WHERE {where}"), RELEASE)
    with db.connect() as conn:
        fill(conn, [TEN])
        row = run(conn, resolved, "column").as_dicts()[0]
    assert (row["count_lower"], row["count_upper"]) == (lower, upper)
    assert row["count"] == pytest.approx(estimate)


def test_a_missing_value_is_a_value(db: Database) -> None:
    stay = {None: 2, 1: 5, 2: 4}
    years = {None: {0: 2}, **TEN.years}
    one = replace(TEN, values={**TEN.values, "stay": stay}, years=years)
    text = f"SELECT count(*) FROM patient WHERE {_some('stay', 'year = 0')}"
    with db.connect() as conn:
        fill(conn, [one])
        row = run(conn, resolve(parse_query(text), RELEASE), "column").as_dicts()[0]
    assert (row["count_lower"], row["count_upper"]) == (3, 6)
    assert row["count"] == pytest.approx(8 * (1 - 6 / 8 * 5 / 8 * 7 / 8))


def test_what_all_holders_have_is_no_condition(db: Database) -> None:
    """However it is written, all figures are the same."""
    study, rows = _some("study", "study = 1"), []
    with db.connect() as conn:
        fill(conn, [TEN])
        for some in (_some("stay"), _some("stay", "ward >= 0")):
            text = f"SELECT count(*) FROM patient WHERE {some} AND {study}"
            rows += run(conn, resolve(parse_query(text), RELEASE), "column").as_dicts()
    assert rows[0] == pytest.approx(rows[1])
    # Of ten 8 and 6.
    assert rows[0]["count_error"] ** 2 == pytest.approx(8 * 2 * 6 * 4 / (100 * 9))


LINKED = replace(
    RELEASE,
    tables={
        "stay": replace(
            TABLES["stay"],
            references=(Reference(["person", "site"], "patient", ["person", "site"]),),
        ),
        "code": replace(
            TABLES["code"],
            references=(
                Reference(["stay_no"], "stay", ["stay_no"]),
                Reference(["person"], "patient", ["person"]),
            ),
        ),
    },
)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("EXISTS (SELECT FROM stay AS s WHERE s.person = p.person AND p.site = s.site)", None),
        ("EXISTS (SELECT FROM stay AS s WHERE s.person = p.person)", "a part of the key"),
        # A row may lead to a person over the other columns alone.
        ("EXISTS (SELECT FROM code AS c WHERE c.person = p.person)", "names rows of several"),
        ("EXISTS (SELECT FROM code AS c)", None),
        ("EXISTS (SELECT FROM code AS c WHERE c.person = p.site)", "no keys"),
        ('"EXISTS 0" > 3 AND EXISTS (SELECT FROM code)', "no column"),
    ],
)
def test_keys_are_compared_as_declared(where: str, words: str | None) -> None:
    parsed = parse_query(f"SELECT count(*) FROM patient AS p WHERE {where}")
    if words is None:
        resolve(parsed, LINKED)
        return
    with pytest.raises(Unsupported, match=words):
        resolve(parsed, LINKED)


def test_views_of_others_are_not_read(hospital: Database) -> None:
    view = "published.hospital_diagnosis_code"
    hospital.admin.execute(
        f"DROP VIEW {view}; CREATE VIEW {view} AS SELECT * FROM (VALUES (1, 'a', random()))"
        f" AS v(group_id, code, persons); GRANT SELECT ON {view} TO analyst".encode()
    )
    with pytest.raises(PganonError, match="hospital_diagnosis_code") as refused:
        answer(hospital, f"SELECT count(*) FROM patient WHERE {CODE_A}")
    assert not isinstance(refused.value, DatabaseError)
