"""Queries that restrict a sensitive column, answered from classes: worked ones and random ones."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from pganon.errors import PrivacyRefusal, UsageError
from pganon.forms.metrics import Bounds
from pganon.forms.request import Request, Workload
from pganon.metrics.report import ClassMetrics
from pganon.run.executor import Executor
from tests.integration.methods.individuals.test_identity import (
    AFTER_POSTCODES,
    as_in_the_paper,
    seed_of,
    seed_of_sequence,
)
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, Staged, drop_leftovers, fetch, run
from tests.support.harness.examples import examples
from tests.support.oracles import workload as oracle
from tests.support.sources.builders import make_table, policy
from tests.support.sources.identity import (
    HIERARCHIES,
    PEOPLE,
    TABLE_3,
    TABLE_4,
    build,
    eir,
    ir,
    members,
    of_paper,
)

pytestmark = pytest.mark.primary_server_only

SETTINGS = examples(3)


@pytest.fixture
def tables(db: Database) -> tuple[Connection, Connection]:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def work(staged: Staged, table: str) -> list[dict[str, Any]]:
    return fetch(
        staged.conn, sql.SQL("SELECT * FROM {}").format(staged.state.work(table).identifier)
    )


def answers(staged: Staged) -> dict[int, tuple[int, float]]:
    """(exact, estimate) by query."""
    exact, guessed = (
        {row["query"]: row["n"] for row in work(staged, table)} for table in ("mexact", "mestimate")
    )
    queries = [row["query"] for row in work(staged, "mqueries")]
    return {q: (exact.get(q, 0), guessed.get(q, 0)) for q in sorted(queries)}


def labels_of(tree: Mapping[str, Any]) -> dict[str, set[str]]:
    """Leaves below every label of nested mappings; a leaf is a label, too."""
    found: dict[str, set[str]] = {}
    for label, below in tree.items():
        children = labels_of(below) if isinstance(below, Mapping) else {v: {v} for v in below}
        found.update(children)
        found[label] = set[str]().union(*children.values())
    return found


def known(labels: oracle.Labels, values: Sequence[Any]) -> oracle.Labels:
    """Values that the source does not have are not covered."""
    return {label: set(below) & set(values) for label, below in labels.items()}


# -- the paper's table --------------------------------------------------------------------------

AGES = range(33, 39)


@dataclasses.dataclass(frozen=True)
class Example:
    """A query of the paper's table: what the source has, and the estimate and its relative error
    on Table 4, and on Table 3 with its labels."""

    asked: dict[str, Any]
    exact: int
    table_4: tuple[Fraction | int, Fraction | int | None]
    table_3: tuple[Fraction | int, Fraction | int | None]


EXAMPLES = {
    "5.1-query 1": Example(
        {"age": range(34, 37), "disease": {"Hypertension"}},
        2,
        (Fraction(7, 6), Fraction(5, 12)),
        (Fraction(9, 10), Fraction(11, 20)),
    ),
    "5.1-query 2": Example(
        {"gender": {"F"}, "postcode": {"10070", "10073"}, "disease": {"Leukaemia", "Heart"}},
        2,
        (Fraction(4, 3), Fraction(1, 3)),
        (1, Fraction(1, 2)),
    ),
    "5.1-query 3": Example(
        {
            "gender": {"F"},
            "age": range(33, 39),
            "postcode": {"10087", "10076"},
            "disease": {"Hypertension", "Diabetes", "Cancer"},
        },
        3,
        (Fraction(25, 24), Fraction(47, 72)),
        (Fraction(11, 20), Fraction(49, 60)),
    ),
    "5.1-query 4": Example({"disease": {"Hypertension", "Heart"}}, 5, (5, 0), (5, 0)),
    "5.1-query 5": Example(
        {"gender": {"M"}, "age": range(33, 34), "disease": {"HIV"}}, 0, (0, None), (0, None)
    ),
}
REQUEST = Request(workload=Workload(queries=1, predicates=3))


def ask(staged: Staged, query: Mapping[str, Any]) -> ClassMetrics:
    """Answers a query of the paper's table in place of the one that was drawn."""
    conn, table = staged.conn, staged.state.work("mqueries").identifier
    columns = ("gender", "age", "postcode")
    every = dict(zip(columns, zip(*[p[:3] for p in PEOPLE.values()], strict=True), strict=True))
    codes = {
        column: _codes(staged, column, values) for column, values in {**every, **query}.items()
    }
    row: dict[str, Any] = {"item": 0}
    for i, column in enumerate(columns):
        row |= {f"a{i}": i, f"first{i}": None, f"last{i}": None, f"bits{i}": None}
        if column == "age":
            away = [age - AGES[0] for age in AGES if age in query.get("age", ()) and _held(age)]
            # Without a restriction, whatever a range may hold.
            away = away or [-1000, 1000]
            given = [code for code, asked in enumerate(codes["age"]) if asked]
            row |= {f"first{i}": min(given), f"last{i}": max(given)}
            row |= {f"low{i}": min(away), f"high{i}": max(away)}
        else:
            row[f"bits{i}"] = bits(codes[column])
    row |= {"first": None, "last": None, "bits": bits(codes["disease"])}
    values = sql.SQL(", ").join(
        sql.SQL("{} = {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in row.items()
    )
    conn.execute(sql.SQL("UPDATE {} SET {}").format(table, values))
    answering = ("exact", "shares", "estimate", "error_n")
    answered = {f"workload_{name}" for name in answering}
    steps = [s for phase in staged.plan.phases for s in phase.steps if s.name in answered]
    for name in ("mexact", "mshares", "mestimate"):
        conn.execute(sql.SQL("DROP TABLE {}").format(staged.state.work(name).identifier))
    found = staged.plan.metrics(Executor(conn, staged.state).run(steps))
    assert isinstance(found, ClassMetrics)
    return found


def _held(age: int) -> bool:
    return any(person[1] == age for person in PEOPLE.values())


def _dictionary(staged: Staged, column: str) -> str:
    spec = staged.plan.spec
    for attribute in spec.attributes:
        if attribute.published == column:
            return f"dict{attribute.index}"
    return "sdict0"


def _codes(staged: Staged, column: str, values: Any) -> list[bool]:
    """Whether each code from 0 is of one of the values."""
    wanted = {str(value) for value in values}
    rows = work(staged, _dictionary(staged, column))
    mine = {row["code"] for row in rows if str(row["value"]) in wanted}
    return [code in mine for code in range(max(row["code"] for row in rows) + 1)]


def bits(codes: Sequence[bool]) -> str:
    return "".join(str(int(asked)) for asked in codes)


def check(staged: Staged, example: Example, expected: tuple[Any, Any]) -> None:
    estimate, error = expected
    got = ask(staged, example.asked)
    labels = {c: labels_of(HIERARCHIES[c]["inline"]) for c in ("gender", "postcode")}
    rows = staged.rows()
    labelled = {c: of for c, of in labels.items() if isinstance(rows[0][c], str)}
    assert oracle.estimate(rows, example.asked, {"disease"}, labelled) == estimate
    assert answers(staged) == {1: (example.exact, pytest.approx(float(estimate)))}
    assert got.workload is not None
    found = dataclasses.astuple(got.workload.count)
    if error is None:
        # Of nothing no error is a share: the query counts as one without an answer.
        assert found == oracle.Errors(None, None, 1, None, None, None)
    else:
        same = pytest.approx(float(error))
        assert found == oracle.Errors(same, same, 0, same, same, same)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_a_query_on_table_4(db: Database, example: Example) -> None:
    build(db.connect("source_owner"))
    owner = db.owner()
    staged = run(owner, of_paper(eir(3)), seed=seed_of(owner, as_in_the_paper), request=REQUEST)
    assert set(members(staged).values()) == TABLE_4
    check(staged, example, example.table_4)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_a_query_on_table_3(db: Database, example: Example) -> None:
    """Labels of hierarchies in the place of ranges and sets."""
    build(db.connect("source_owner"))
    declared = of_paper(ir(3, 3), hierarchies=True, name="geneir", suppression_limit=0)
    seed = seed_of_sequence(AFTER_POSTCODES)
    staged = run(db.owner(), declared, seed=seed, request=REQUEST)
    assert set(members(staged).values()) == TABLE_3
    check(staged, example, example.table_3)


# -- random tables ------------------------------------------------------------------------------

ZIPS = {"*": {"1*": ["10", "11", "12"], "2*": ["20", "21"]}}
QUASI: dict[str, tuple[str, st.SearchStrategy[Any], Any]] = {
    # No float8 tells these apart.
    "a": ("bigint", st.sampled_from([2**60 + n for n in (1, 2, 2, 5, 9)] + [None]), "q"),
    "b": ("text", st.sampled_from(["x", "y", "z", None]), "q"),
    "c": ("numeric", st.sampled_from([Decimal(n) / 4 for n in (-3, 0, 1, 7)] + [None]), "q"),
    "d": ("date", st.sampled_from([dt.date(2020, 1, n) for n in (1, 2, 9, 30)] + [None]), "q"),
    "z": ("text", st.sampled_from(["10", "11", "12", "20", "21"]), {"hierarchy": {"inline": ZIPS}}),
}
SENSITIVE: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "s": ("text", st.sampled_from(["p", "p", "q", "r", None])),
    "t": ("integer", st.sampled_from([1, 3, 3, 4, 9, None])),
    # Names that tables of queries have, too; 1.0 and 1.00 are one value.
    "code": ("numeric", st.sampled_from([Decimal("1.0"), Decimal("1.00"), Decimal(2)])),
}


@dataclasses.dataclass
class Case:
    quasi: list[str]
    sensitive: list[str]
    rows: list[dict[str, Any]]
    predicates: int
    individuals: bool

    @property
    def declared(self) -> dict[str, Any]:
        columns: dict[str, Any] = {name: QUASI[name][2] for name in self.quasi}
        columns |= dict.fromkeys(self.sensitive, "s")
        if not self.individuals:
            columns["more"] = "i"
            return policy(columns, 3, suppression_limit=1.0)
        model = {"model": "ir_kl_anonymity", "column": self.sensitive[0], "k": 2, "l": 2}
        method = {"name": "danonyir"}
        columns["who"] = "individual"
        return policy(columns, [model], method=method, suppression_limit=1.0)

    def make(self, source: Connection) -> None:
        types = {name: QUASI[name][0] for name in self.quasi}
        types |= {name: SENSITIVE[name][0] for name in self.sensitive}
        types |= {"who": "integer", "more": "integer"}
        make_table(source, types, [[row[name] for name in types] for row in self.rows])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    individuals = draw(st.booleans())
    quasi = draw(st.lists(st.sampled_from(sorted(QUASI)), min_size=1, max_size=4, unique=True))
    most = 1 if individuals else 3
    names = st.sampled_from(sorted(SENSITIVE))
    sensitive = draw(st.lists(names, min_size=1, max_size=most, unique=True))
    values = {name: QUASI[name][1] for name in quasi}
    values |= {name: SENSITIVE[name][1] for name in sensitive}
    values |= {"who": st.integers(1, 12), "more": st.integers(-5, 5)}
    rows = draw(st.lists(st.fixed_dictionaries(values), min_size=8, max_size=45))
    return Case(quasi, sensitive, rows, draw(st.integers(1, 3)), individuals)


def values_of(rows: Sequence[Mapping[str, Any]], column: str) -> list[Any]:
    """By code, from 1."""
    return sorted({row[column] for row in rows} - {None})


def query_of(case: Case, staged: Staged, row: Mapping[str, Any]) -> dict[str, Any]:
    spec = staged.plan.spec
    item = spec.sensitive[row["item"]].published
    asked: dict[str, Any] = {}
    quasi = [spec.attributes[row[name]].published for name in row if name in ("a0", "a1", "a2")]
    for place, column in (*((str(p), name) for p, name in enumerate(quasi)), ("", item)):
        known = values_of(case.rows, column)
        if row.get(f"first{place}") is not None:
            asked[column] = known[row[f"first{place}"] - 1 : row[f"last{place}"]]
        elif row.get(f"bits{place}") is not None:
            chosen = enumerate(known, start=1)
            asked[column] = [v for code, v in chosen if row[f"bits{place}"][code] == "1"]
    return asked


def exactly(case: Case, asked: Mapping[str, Any], column: str | None = None) -> int:
    found = [row for row in case.rows if oracle.matches(row, asked)]
    return len(found) if column is None else sum(row[column] or 0 for row in found)


@pytest.mark.random_tables
@given(case=cases(), seed=st.integers(0, 1000))
@SETTINGS
@pytest.mark.slow
def test_random_queries(tables: tuple[Connection, Connection], case: Case, seed: int) -> None:
    source, owner = tables
    case.make(source)
    drop_leftovers(owner)
    workload = Workload(20, case.predicates, 0.2, seed, sensitive=True)
    try:
        staged = run(owner, case.declared, request=Request(workload=workload))
    except PrivacyRefusal:
        return
    got = staged.plan.metrics(staged.state)
    assert isinstance(got, ClassMetrics)
    published, pairs, drawn = staged.rows(), [], set()
    conditions = min(case.predicates, len(case.quasi)) + 1
    found, sums = answers(staged), [_sums(staged, table) for table in ("mexact", "mestimate")]
    labels = {"z": known(labels_of(ZIPS), [row.get("z") for row in case.rows])}
    proved = {row["query"]: (row["lower"], row["upper"]) for row in work(staged, "mestimate")}
    widths = []
    for row in work(staged, "mqueries"):
        asked = query_of(case, staged, row)
        assert len(asked) == conditions
        for column, values in asked.items():
            size = len(values_of(case.rows, column))
            assert len(values) == min(max(1, round(size * 0.2 ** (1 / conditions))), size)
        drawn.update(set(asked) & set(case.sensitive))
        exact = exactly(case, asked)
        guess = oracle.estimate(published, asked, case.sensitive, labels)
        pairs.append((exact, guess))
        assert found[row["query"]] == (exact, close(guess))
        bounds = oracle.bounds(published, asked, case.sensitive, labels)
        assert proved.get(row["query"], (0, 0)) == bounds
        widths += [(bounds[1] - bounds[0]) / exact] if exact else []
        if not case.individuals:
            added = oracle.estimate(published, asked, case.sensitive, labels, "more")
            assert [found.get(row["query"], 0) for found in sums] == [
                exactly(case, asked, "more"),
                close(added),
            ]
    assert drawn == set(case.sensitive)
    assert got.workload is not None
    assert got.workload.workload == workload
    assert dataclasses.astuple(got.workload.count) == tuple(map(close, oracle.errors(pairs)))
    assert got.workload.bounds == Bounds(close(median(widths)) if widths else None, 0)


def _sums(staged: Staged, table: str) -> dict[int, float]:
    """Sums of the insensitive column, which is the last that can be added up, by query."""
    rows = work(staged, table)
    last = max((name for name in rows[0] if name.startswith("t")), default="n") if rows else "n"
    return {row["query"]: row[last] for row in rows}


def close(value: Any) -> Any:
    return None if value is None else pytest.approx(float(value), rel=1e-9, abs=1e-9)


def test_answers_outside_the_bounds_are_counted(db: Database) -> None:
    """There are none, so bounds are changed: two by more than the suppressed record explains."""
    rows = [(age, "p") for age in (1, 1, 2, 2, 3, 3)] + [(40, "p")]
    make_table(db.connect("source_owner"), {"age": "integer", "s": "text"}, rows)
    declared = policy({"age": "q", "s": "s"}, 2, suppression_limit=0.2)
    staged = run(db.owner(), declared, request=Request(workload=Workload(5, 1, 0.3)))
    assert staged.facts["suppressed"] == 1
    table = staged.state.work("mestimate").identifier
    counted = "SELECT query, coalesce(n, 0) AS n FROM {}"
    exact = staged.state.work("mexact").identifier
    staged.conn.execute(sql.SQL("DELETE FROM {}").format(table))
    staged.conn.execute(
        sql.SQL(
            "INSERT INTO {} (query, n, lower, upper) SELECT e.query, e.n,"
            " e.n + (e.query = 1)::int, e.n - CASE e.query WHEN 2 THEN 1 WHEN 3 THEN 2 ELSE 0 END"
            " FROM ({}) AS e"
        ).format(table, sql.SQL(counted).format(exact))
    )
    steps = [s for p in staged.plan.phases for s in p.steps if s.name == "workload_bounds"]
    found = staged.plan.metrics(Executor(staged.conn, staged.state).run(steps))
    assert isinstance(found, ClassMetrics)
    assert found.workload is not None
    assert found.workload.bounds is not None
    assert found.workload.bounds.outside == 2


# -- what is asked ------------------------------------------------------------------------------


def asked_of(staged: Staged) -> Workload:
    found = staged.plan.metrics(staged.state)
    assert isinstance(found, ClassMetrics)
    assert found.workload is not None
    return found.workload.workload


@pytest.mark.parametrize(
    ("sensitive", "columns", "expected"),
    [
        (None, {"age": "q", "disease": "s"}, False),
        (True, {"age": "q", "disease": "s"}, True),
        (True, {"age": "q"}, False),
    ],
)
def test_other_classes_ask_a_sensitive_column_on_request(
    db: Database, sensitive: bool | None, columns: dict[str, Any], expected: bool
) -> None:
    build(db.connect("source_owner"))
    request = Request(workload=Workload(9, sensitive=sensitive))
    staged = run(db.owner(), policy(columns, 2), request=request)
    assert asked_of(staged).sensitive is expected


@pytest.mark.parametrize(("sensitive", "expected"), [(None, True), (False, False)])
@pytest.mark.slow
def test_identity_reservation_asks_it_by_default(
    db: Database, sensitive: bool | None, expected: bool
) -> None:
    build(db.connect("source_owner"))
    request = Request(workload=Workload(9, sensitive=sensitive))
    staged = run(db.owner(), of_paper(eir(2), suppression_limit=1.0), request=request)
    assert asked_of(staged).sensitive is expected


def test_tables_that_buckets_link_always_ask_it(db: Database) -> None:
    build(db.connect("source_owner"))
    models = [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}]
    declared = policy({"age": "q", "disease": "s"}, models, method={"name": "anatomy"})
    with pytest.raises(UsageError, match="sensitive=no") as caught:
        run(db.owner(), declared, request=Request(workload=Workload(9, sensitive=False)))
    assert "leave out sensitive=no" in (caught.value.hint or "")


@pytest.mark.slow
def test_it_is_said_what_queries_were_on(db: Database, tmp_path: Path) -> None:
    build(db.connect("source_owner"))
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(of_paper(eir(3), suppression_limit=1.0)))
    arguments = ("run", str(file), "--dsn", db.dsn("steward"), "--workload")
    ran = pganon(*arguments, "queries=20,predicates=1", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["metrics"]["workload"]["workload"] == {
        "queries": 20,
        "predicates": 1,
        "selectivity": 0.05,
        "seed": 1,
        "sensitive": True,
    }
    for said, restricted in (("yes", " and a sensitive column"), ("no", "")):
        ran = pganon(*arguments, f"queries=20,predicates=1,sensitive={said}", "--force")
        assert ran.code == 0, ran.err
        expected = f"20 random queries on 1 quasi-identifiers{restricted}, selectivity"
        assert expected in " ".join(ran.out.split())
