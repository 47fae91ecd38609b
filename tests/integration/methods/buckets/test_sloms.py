"""Releases of the method sloms, judged from what is published and from the source."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from pganon.errors import PrivacyRefusal
from pganon.forms.request import Request, Workload
from pganon.methods.buckets.search import kaca
from tests.support.harness.cluster import Database
from tests.support.harness.driver import (
    Connection,
    Staged,
    drop_leftovers,
    fetch,
    publish,
    refused,
    run,
)
from tests.support.harness.examples import examples
from tests.support.oracles import definitions as oracle
from tests.support.oracles.sliced import Published, Row, columns, v1, v2, v3, v6, v8
from tests.support.sources import registry
from tests.support.sources.builders import KINDS, make_table, policy
from tests.support.sources.slamsa import Shown, check_joined, read, shown, staged_tables, tally
from tests.unit.methods.buckets.test_kaca import naive

pytestmark = pytest.mark.primary_server_only

SETTINGS = examples(2)
TABLES = [list(table) for table in registry.SENSITIVE]


def models(l: int, k: int | None = None) -> list[dict[str, Any]]:  # noqa: E741 (the field's letter)
    found = [{"model": "slicing_l_diversity", "l": l, "level": "unique"}]
    return found if k is None else [{"model": "k_anonymity", "k": k}, *found]


def of_registry(**options: Any) -> dict[str, Any]:
    method = {"name": "sloms", "sensitive_tables": TABLES, "link_threshold": 1, **options}
    return registry.document(method=method, privacy=models(3, 3))


# -- reading ----------------------------------------------------------------------------------


def members(staged: Staged) -> dict[int, set[int]]:
    """Keys of the source records in every class."""
    found: dict[int, set[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["class_id"], set()).add(int(row["member"]))
    return found


def frozen(found: Shown) -> Shown:
    """With arrays as tuples, so that rows can be counted."""
    parts = {part: [*map(_row, rows)] for part, rows in found.parts.items()}
    return Shown([*map(_row, found.joined)], parts)


def _row(row: Row) -> Row:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in row.items()}


def offences(p: Published, l: int, quasi: Sequence[str], sensitive: Sequence[str]) -> list[Any]:  # noqa: E741
    declared = [*quasi, *[f"{name}_null" for name in quasi], "class_id", "other", *sensitive]
    return [
        *v1(p),
        *v2(p, l, "unique"),
        *v3(p, 1, l),
        *v6(p, ["id", "rid", "member", "record"]),
        *v8(p, declared),
    ]


def small_classes(qit: Sequence[Row], k: int) -> list[Any]:
    """Classes with fewer than k records, or with records that show different values."""
    names = [n for n in columns([*qit]) if n != "other"]
    sizes = Counter(tuple(row[name] for name in names) for row in qit)
    numbers = {vector[names.index("class_id")] for vector in sizes}
    return [v for v, n in sizes.items() if n < k] + [None] * (len(sizes) - len(numbers))


# -- worked examples --------------------------------------------------------------------------

AGES = ((20, "F"), (22, "F"), (30, "M"), (50, "M"), (52, "M"), (54, "F"))


@pytest.mark.parametrize("k", [2, 3])
def test_classes_of_the_worked_example(db: Database, k: int) -> None:
    rows = [[*row, f"d{i}"] for i, row in enumerate(AGES)]
    make_table(
        db.connect("source_owner"), {"age": "integer", "sex": "text", "disease": "text"}, rows
    )
    declared = policy(
        {"age": "q", "sex": "q", "disease": "s"}, models(2, k), method={"name": "sloms"}
    )
    staged = run(db.owner(), declared)
    found = members(staged)
    assert sorted(map(sorted, found.values())) == [[1, 2, 6], [3, 4, 5]]
    seen = {
        (str(row["age"]), *row["sex"]): (row["age_null"], row["sex_null"], row["class_id"])
        for row in shown(staged).parts["qit"]
    }
    number = {min(ids): class_id for class_id, ids in found.items()}
    assert seen == {
        ("[20, 54]", "F"): (False, False, number[1]),
        ("[30, 52]", "M"): (False, False, number[3]),
    }
    # Both ranges of 34 years, weighed by three records each, and no loss by sex.
    assert staged.utility.ncp == {"age": pytest.approx((1 + 22 / 34) / 2), "sex": 0}
    assert (staged.utility.groups, staged.utility.smallest_group) == (2, 3)


@pytest.mark.slow
def test_the_loss_is_that_of_what_readers_see(db: Database) -> None:
    """Other methods with buckets publish quasi-identifiers exactly, and say so."""
    registry.build(db)
    summary = run(db.owner(), of_registry()).utility.summary()
    assert "GCP" in summary
    assert not any("exactly" in text for text in summary.values())
    spread = run(db.owner(), registry.document()).utility.summary()["spread"]
    assert spread.endswith("(GCP of the groups, which are published exactly)")


@pytest.mark.slow
def test_the_registry_from_the_policy_to_its_readers(db: Database) -> None:
    registry.build(db)
    result = publish(db, of_registry())
    assert result.version == 1
    found = frozen(read(db.connect("analyst"), "registry"))
    p = found.published
    assert sorted(found.parts) == ["qit", "st1", "st2", "st3"]
    assert [columns(st) for st in p.sts] == TABLES
    quasi = [name for part in registry.QUASI for name in part]
    sensitive = [name for table in TABLES for name in table]
    assert offences(p, 3, quasi, sensitive) == []
    assert small_classes(p.qits[0], 3) == []
    for relation in p.sts:
        assert tally(relation, columns(relation)) == tally(registry.ROWS, columns(relation))
    check_joined(found)
    assert len(found.joined) == 9 * 27
    checked = db.owner().execute("SELECT DISTINCT holds FROM pganon.verify('registry')").fetchall()
    assert checked == [(True,)]


@pytest.mark.slow
def test_associated_columns_of_different_tables(db: Database) -> None:
    registry.build(db)
    with refused("associated") as errors:
        run(db.owner(), of_registry(link_threshold=0.1))
    assert "one determines the other" in str(errors[0])
    assert "method slamsa with profile: aligned" in (errors[0].hint or "")
    run(db.owner(), of_registry(link_threshold=0, sensitive_tables=1) | {"suppression_limit": 1})


# -- records in no group ----------------------------------------------------------------------


LEFT = [(4, 2), (2, 2), (4, 1), (2, 3), (1, 1), (4, 2), (1, 3)]
"""Pairs of a table for which MSB leaves one record over."""


def left_over(k: int, limit: float) -> dict[str, Any]:
    each = [("x", 2), ("y", 2), ("z", 3)]
    return policy(
        {"q": "q", "x": "s", "y": "s", "z": "s"},
        [
            {"model": "k_anonymity", "k": k},
            *[
                {"model": "slicing_l_diversity", "column": name, "l": l, "level": "unique"}
                for name, l in each  # noqa: E741 (the field's own letter)
            ],
        ],
        method={"name": "sloms", "sensitive_tables": [["x", "y"], ["z"]], "link_threshold": 1},
        suppression_limit=limit,
    )


@pytest.mark.slow
def test_who_has_no_group_in_one_table_is_in_none(db: Database) -> None:
    """Groups of the other table are made anew, so that all have enough records."""
    rows = [[i, *pair, i] for i, pair in enumerate(LEFT)]
    make_table(db.connect("source_owner"), dict.fromkeys("qxyz", "integer"), rows)
    with refused("no_groups") as errors:
        run(db.owner(), left_over(2, 0.1))
    assert "found no group for 1 records" in str(errors[0])
    staged = run(db.owner(), left_over(2, 0.2))
    p = shown(staged).published
    assert (staged.facts["suppressed"], staged.facts["bucketize_rounds"]) == (1, 2)
    assert v1(p) == []
    assert v2(p, {"x": 2, "y": 2, "z": 3}, "unique") == []
    assert small_classes(p.qits[0], 2) == []
    (left_out,) = {row["z"] for row in shown(staged).parts["st2"]} ^ set(range(7))
    assert LEFT[left_out] == (4, 2)
    with refused("no_groups") as errors:
        run(db.owner(), left_over(7, 0.2))
    assert str(errors[0]) == "6 of 7 records are in groups, a release needs at least 7"


def test_columns_that_are_not_eligible(db: Database) -> None:
    """Suppression lets the rest have groups."""
    rows = [[i, "a" if i < 6 else f"b{i}"] for i in range(10)]
    make_table(db.connect("source_owner"), {"q": "integer", "x": "text"}, rows)
    declared = policy({"q": "q", "x": "s"}, models(2), method={"name": "sloms"})
    with refused("infeasible") as errors:
        run(db.owner(), declared)
    assert "column x: its most frequent value has 6 of 10 records" in str(errors[0])
    staged = run(db.owner(), declared | {"on_infeasible": "suppress", "suppression_limit": 0.5})
    found = shown(staged)
    assert sorted(found.parts) == ["qit", "st"]
    assert staged.facts["suppressed"] == 2
    # No k is asked for: classes have as many records as l.
    assert min(len(ids) for ids in members(staged).values()) == 2


# -- random tables ----------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, str], list[list[Any]], list[Any]]:
    """A policy, the columns, the rows and the attributes of the oracle."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
    size, count = draw(st.integers(4, 40)), draw(st.integers(1, 3))
    kinds_of: dict[str, str] = {}
    roles: dict[str, Any] = {}
    values: list[list[Any]] = []
    attributes: list[oracle.Attribute] = []
    for i, kind in enumerate(kinds):
        cell = st.integers(0, 9).flatmap(lambda n, v=kind.values: st.none() if n == 0 else v)
        column = draw(st.lists(cell, min_size=size, max_size=size))
        kinds_of[f"q{i}"], roles[f"q{i}"] = kind.sql_type, dict(kind.policy)
        values.append(column)
        attributes.append(kind.model(column, 1.0, "as_value"))
    secret = st.one_of(st.none(), *[st.integers(1, 12)] * 9)
    for name in ("other", *[f"s{j}" for j in range(count)]):
        kinds_of[name], roles[name] = "integer", "i" if name == "other" else "s"
        values.append(draw(st.lists(secret, min_size=size, max_size=size)))
    names = draw(st.permutations([f"s{j}" for j in range(count)]))
    cut = draw(st.integers(0, count - 1))
    method = {
        "name": "sloms",
        "sensitive_tables": [list(part) for part in (names[:cut], names[cut:]) if part],
        "link_threshold": 1,
        "priority": draw(st.sampled_from(["mbf", "msdcf", "mmdcf"])),
        "block_size": draw(st.sampled_from([2, 9, 5000])),
    }
    asked = models(draw(st.integers(2, 3)), draw(st.sampled_from([None, 2, 3, 4])))
    declared = policy(roles, asked, method=method, on_infeasible="suppress", suppression_limit=0.9)
    return declared, kinds_of, [list(row) for row in zip(*values, strict=True)], attributes


@pytest.fixture
def connections(db: Database) -> Any:
    return db.connect("source_owner"), db.owner()


@pytest.mark.random_tables
@SETTINGS
@given(drawn=tables())
def test_random_tables(connections: Any, drawn: Any) -> None:
    declared, kinds_of, rows, attributes = drawn
    source, owner = connections
    make_table(source, kinds_of, rows)
    drop_leftovers(owner)
    staged = attempt(owner, declared)
    if isinstance(staged, str):
        assert staged in REFUSALS
        return
    found = frozen(shown(staged))
    p = found.published
    l = declared["privacy"][-1]["l"]  # noqa: E741 (the field's own letter)
    k = declared["privacy"][0].get("k", l)
    quasi = [name for name in kinds_of if name.startswith("q")]
    sensitive = [name for name in kinds_of if name.startswith("s")]
    assert offences(p, l, quasi, sensitive) == []
    assert small_classes(p.qits[0], k) == []
    assert [columns(st) for st in p.sts] == declared["method"]["sensitive_tables"]
    check_joined(found)
    classes = members(staged)
    released = set().union(*classes.values())
    assert len(released) == len(rows) - staged.facts["suppressed"]
    check_values(p, classes, kinds_of, rows)
    for i, attribute in enumerate(attributes):
        attribute.released = {rows[key - 1][i] for key in released}
    check_recoded(p.qits[0], classes, rows, attributes)
    if len(released) == len(rows) <= declared["method"]["block_size"]:
        assert {*map(frozenset, classes.values())} == expected_classes(staged, rows, attributes, k)


def attempt(owner: Connection, declared: dict[str, Any]) -> Staged | str:
    """A release, or the code of its refusal."""
    try:
        return run(owner, declared)
    except PrivacyRefusal as refusal:
        return refusal.code


REFUSALS = ("no_groups", "all_suppressed", "suppression_limit", "infeasible")


def check_values(
    p: Published, classes: dict[int, set[int]], kinds_of: dict[str, str], rows: list[list[Any]]
) -> None:
    """The tables have the values of the released records, as often as they do."""
    released = set().union(*classes.values())
    source = registry.records(kinds_of, [rows[key - 1] for key in sorted(released)])
    assert tally(p.qits[0], ["other"]) == tally(source, ["other"])
    for relation in p.sts:
        names = columns(relation)
        assert tally(relation, names) == tally(source, names)


def check_recoded(
    qit: Sequence[Row], classes: dict[int, set[int]], rows: list[list[Any]], attributes: list[Any]
) -> None:
    """Every class shows what the oracle makes of the values of its records."""
    for row in qit:
        held = [rows[key - 1] for key in classes[row["class_id"]]]
        for i, attribute in enumerate(attributes):
            value, has_null = attribute.published(record[i] for record in held)
            value = tuple(value) if isinstance(value, list) else value
            assert (row[f"q{i}"], row[f"q{i}_null"]) == (value, has_null)


def expected_classes(
    staged: Staged, rows: list[list[Any]], attributes: list[Any], k: int
) -> set[frozenset[int]]:
    """Those of KACA from its definition, on the records in their random order."""
    name = staged.state.work("coded").identifier
    ordered = fetch(staged.conn, sql.SQL("SELECT record FROM {} ORDER BY rid").format(name))
    keys = [int(row["record"]) for row in ordered]
    taken = [_kaca(a, [rows[key - 1][i] for key in keys]) for i, a in enumerate(attributes)]
    return {frozenset(keys[place] for place in group) for group in naive(taken, len(keys), k)}


def _kaca(attribute: oracle.Attribute, values: list[Any]) -> Any:
    if isinstance(attribute, oracle.Tree):
        levels = range(attribute.top())
        paths = [[None if v is None else attribute.ancestor(v, x) for x in levels] for v in values]
        return kaca.Category([*map(tuple, paths)])  # pyright: ignore[reportArgumentType]
    if isinstance(attribute, oracle.Ordinal):
        order = {v: attribute.rank(v) for v in attribute.domain}
    elif isinstance(attribute, oracle.Ordered):
        order = {v: v.toordinal() if hasattr(v, "toordinal") else v for v in attribute.domain}
    else:
        return kaca.Category([(v,) for v in values])
    places = [None if v is None else Fraction(order[v]) for v in values]
    return kaca.Number(places, _declared(attribute))  # pyright: ignore[reportArgumentType]


def _declared(attribute: oracle.Ordered) -> Any:
    """The width of the declared span, if there is one."""
    if attribute.declared is None:
        return None
    low, high = attribute.declared
    return Fraction((high - low).days) if hasattr(low, "toordinal") else Fraction(high - low)


def test_classes_that_are_equally_near() -> None:
    """They are in fractions, which the oracle must keep: shares of a line may be rounded."""
    rows = [
        (-5, "xl", "s"),
        (-3, "xxl", "s"),
        (5, "xxl", "xxl"),
        (-4, "l", "m"),
        (7, "xs", "xs"),
        (-4, "m", "s"),
        (-3, "xxl", "s"),
    ]
    kinds = [k for k in KINDS if k.name in ("integer in a domain", "ordinal")]
    kinds.append(kinds[-1])
    listed = list(zip(*rows, strict=True))
    attributes = [
        kind.model(column, 1.0, "as_value") for kind, column in zip(kinds, listed, strict=True)
    ]
    exact = [_kaca(a, column) for a, column in zip(attributes, listed, strict=True)]
    shares = [
        kaca.Number([a.position(v) for v in column], 1.0)
        for a, column in zip(attributes, listed, strict=True)
    ]
    assert naive(exact, len(rows), 2) == kaca.kaca(shares, 2).classes


# -- metrics ----------------------------------------------------------------------------------

EVERYTHING = Request(everything=True, workload=Workload(30, 2, 0.3, 1))
NAMES = ("sex", "age", "zip")


def share(row: Row, name: str, asked: Sequence[Any]) -> Fraction:
    """Of the box of a row: of the sexes that it shows, or of the numbers from first to last."""
    box = row[name]
    if name == "sex":
        return Fraction(sum(value in asked for value in box), len(box))
    low, high = max(box.lower, asked[0]), min(box.upper, asked[-1])
    return Fraction(max(int(high - low) + 1, 0), int(box.upper - box.lower) + 1)


def estimate(p: Published, asked: dict[str, Sequence[Any]], column: str, wanted: Any) -> Fraction:
    """Records that are expected to be in all of these cells and to have one of these values."""
    j, st = next((j, st) for j, st in enumerate(p.sts) if column in columns(st))
    found = Fraction()
    for row in p.qits[0]:
        bucket = [r[column] for r in st if r["group_id"] == p.link(row, j)]
        part = Fraction(sum(value in wanted for value in bucket), len(bucket))
        found += math.prod([share(row, n, values) for n, values in asked.items()], start=part)
    return found


def work(staged: Staged, text: str) -> list[Row]:
    """Rows of a query over work tables of the run, whose names are in braces."""
    names = set(re.findall(r"{(\w+)}", text))
    tables = {name: staged.state.work(name).identifier for name in names}
    return fetch(staged.conn, sql.SQL(text).format(**tables))  # pyright: ignore


@pytest.mark.slow
def test_estimates_take_classes_as_uniform(db: Database) -> None:
    registry.build(db)
    staged = run(db.owner(), of_registry(), request=EVERYTHING)
    p = shown(staged).published
    sensitive = [name for table in TABLES for name in table]
    values = [
        {r["code"]: r["value"] for r in work(staged, f"SELECT code, value FROM {{dict{i}}}")}
        for i in range(3)
    ]
    held = [
        {r["code"]: r["value"] for r in work(staged, f"SELECT code, value FROM {{sdict{j}}}")}
        for j in range(6)
    ]
    found = work(staged, "SELECT * FROM {mquestions} JOIN {mdivergence} USING (question, r)")
    assert {row["r"] for row in found} == {1, 2, 3}
    for row in found:
        names = [NAMES[a] for place in range(4) if (a := row[f"a{place}"]) >= 0]
        column, value = sensitive[row["item"]], held[row["item"]][row["code"]]
        cells = {tuple(record[n] for n in names) for record in registry.ROWS}
        estimated = {
            cell: estimate(p, {n: [v] for n, v in zip(names, cell, strict=True)}, column, [value])
            for cell in cells
        }
        actual = Counter(
            tuple(record[n] for n in names) for record in registry.ROWS if record[column] == value
        )
        kl = sum(
            n / actual.total() * math.log(n / actual.total() / (estimated[cell] / total))
            for cell, n in actual.items()
            if (total := sum(estimated.values()))
        )
        assert row["kl"] == pytest.approx(kl, abs=1e-9)
    answers = {r["query"]: r["n"] for r in work(staged, "SELECT * FROM {mestimate}")}
    for row in work(staged, "SELECT * FROM {mqueries}"):
        asked = {NAMES[row[f"a{q}"]]: restricted(row, str(q), values[row[f"a{q}"]]) for q in (0, 1)}
        wanted = restricted(row, "", held[row["item"]], whole=True)
        expected = estimate(p, asked, sensitive[row["item"]], wanted)
        assert answers.get(row["query"], 0) == pytest.approx(float(expected), abs=1e-9)


def restricted(row: Row, place: str, values: dict[int, Any], *, whole: bool = False) -> list[Any]:
    """What a query asks for: single values, or the first and the last; `whole`: all between."""
    bits, first, last = (row[f"{name}{place}"] for name in ("bits", "first", "last"))
    if bits is not None:
        return [value for code, value in values.items() if bits[code] == "1"]
    codes = range(first, last + 1) if whole else (first, last)
    return [values[code] for code in codes]


# -- verification -----------------------------------------------------------------------------


@pytest.mark.slow
def test_verification_finds_what_does_not_hold(db: Database) -> None:
    """What a class shows, how many share it, and whether tables fit together."""
    registry.build(db)
    staged = run(db.owner(), of_registry())
    form = staged.plan.method.form
    tables = staged_tables(staged)
    checks = form.verification.checks(staged.plan.spec, staged.state, tables)

    def failing() -> set[tuple[str, str | None]]:
        return {
            (c.model, c.column)
            for c in checks
            if fetch(staged.conn, sql.SQL(c.sql))[0]["failing"]  # pyright: ignore
        }

    changes = {
        "UPDATE {qit} SET sex = '{X}' WHERE ctid = (SELECT min(ctid) FROM {qit})": {
            ("k_anonymity", None)
        },
        "UPDATE {qit} SET st2_group_id = 99 WHERE ctid = (SELECT min(ctid) FROM {qit})": {
            ("structure", None)
        },
        "UPDATE {st1} SET cancer = 'Lung' WHERE group_id = 1": {("slicing_l_diversity", "cancer")},
    }
    assert failing() == set()
    for text, wrong in changes.items():
        with staged.conn.transaction(force_rollback=True):
            names = {part: table.identifier for part, table in tables.items()}
            text = text.replace("{X}", "{{X}}")
            staged.conn.execute(sql.SQL(text).format(**names))  # pyright: ignore
            assert failing() == wrong
