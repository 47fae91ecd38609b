"""Mondrian's classes and their measures against a brute force written from the definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from pganon.errors import PrivacyRefusal
from tests.support.harness.driver import Connection, Staged, drop_leftovers, fetch, run
from tests.support.harness.examples import examples
from tests.support.oracles import definitions as oracle
from tests.support.oracles import model as further
from tests.support.oracles.definitions import Group, Record
from tests.support.oracles.outliers import Outliers, Undecided
from tests.support.sources.builders import Case, cases, make_table, policy

pytestmark = pytest.mark.primary_server_only

SETTINGS = examples(3)
BOUNDED = ("alpha_k_anonymity", "entropy_l_diversity", "recursive_cl_diversity")
COMPARED = ("t_closeness", "beta_likeness", "delta_disclosure")


# -- the requirements as the oracle sees them ---------------------------------------------------


def minimum(requirement: dict[str, Any]) -> int:
    """Fewest records of a group that can satisfy it."""
    return math.ceil(requirement.get("k") or requirement.get("l") or 1)


def satisfied(requirement: dict[str, Any], group: Group, references: Sequence[Group]) -> bool:
    """Args: references: the source, and what is released if that is less."""
    values = [record.sensitive[0] for record in group]
    match requirement["model"]:
        case "k_anonymity":
            return len(group) >= requirement["k"]
        case "distinct_l_diversity":
            return oracle.distinct_l(values) >= requirement["l"]
        case "entropy_l_diversity":
            return oracle.entropy_at_least(values, Fraction(str(requirement["l"])))
        case "alpha_k_anonymity":
            return len(group) >= requirement["k"] and further.alpha(values) <= Fraction(
                str(requirement["alpha"])
            )
        case "recursive_cl_diversity":
            return further.recursive_c(values, requirement["l"]) < requirement["c"]
        case "beta_likeness":
            whole = [[r.sensitive[0] for r in reference] for reference in references]
            return all(further.beta_enhanced(values, w) <= requirement["beta"] for w in whole)
        case "delta_disclosure":
            whole = [[r.sensitive[0] for r in reference] for reference in references]
            return all(further.delta(values, w) < requirement["delta"] for w in whole)
    t = Fraction(str(requirement["t"]))
    return all(
        distance(requirement, values, reference, references[0]) <= t for reference in references
    )


def distance(
    requirement: dict[str, Any], values: Sequence[Any], reference: Group, source: Group
) -> Fraction:
    """Over the values of the source, also where suppression took one away."""
    whole = [record.sensitive[0] for record in reference]
    if requirement.get("distance") != "ordered":
        return oracle.t_equal(values, whole)
    domain = {record.sensitive[0] for record in source}
    return oracle.t_ordered(values, whole, sorted(domain, key=lambda v: (v is None, v or 0)))


def parts(case: Case, records: Sequence[Record]) -> list[Group]:
    """Records that the rules for NULL keep, apart by which own_class attributes are NULL."""
    found: dict[tuple[bool, ...], Group] = {}
    for record in records:
        pairs = list(zip(case.attributes, record.qi, strict=True))
        if not any(a.nulls == "suppress" and v is None for a, v in pairs):
            key = tuple(v is None for a, v in pairs if a.nulls == "own_class")
            found.setdefault(key, []).append(record)
    return list(found.values())


def capped(privacy: list[dict[str, Any]], part: Group) -> Group:
    """The part without as few records of its most frequent values as it takes; all if none do."""
    bounds = [r for r in privacy if r["model"] in BOUNDED]

    def stays(cap: int) -> Iterator[Record]:
        seen: Counter[Any] = Counter()
        for record in sorted(part, key=lambda record: record.tie):
            seen[record.sensitive] += 1
            if seen[record.sensitive] <= cap:
                yield record

    for cap in range(len(part), 0, -1):
        kept = list(stays(cap))
        if all(satisfied(requirement, kept, []) for requirement in bounds):
            return kept
    return part


# -- properties ---------------------------------------------------------------------------------


Tables = tuple[Connection, Connection]


@pytest.fixture
def tables(db: Any) -> Tables:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def check(tables: Tables, case: Case, *, relaxed: bool = False) -> Staged | None:
    source, owner = tables
    make_table(source, case.columns, case.rows)
    drop_leftovers(owner)
    case.policy = case.mondrian
    records = case.records
    privacy = case.policy["privacy"]
    feasible = [
        part
        for part in (capped(privacy, part) for part in parts(case, records))
        if all(satisfied(requirement, part, [records]) for requirement in privacy)
    ]
    released = [record for part in feasible for record in part]
    references = [records] if len(released) == len(records) else [records, released]
    try:
        staged = run(owner, case.policy)
    except PrivacyRefusal as refusal:
        check_refusal(refusal, case, feasible, references)
        return None
    assert released
    if staged.plan.spec.numbers_records:
        numbered = [capped(privacy, part) for part in parts(case, with_ties(staged, records))]
        feasible = [
            part
            for part in numbered
            if all(satisfied(requirement, part, [records]) for requirement in privacy)
        ]
        released = [record for part in feasible for record in part]
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for record in released}
    smallest = max(map(minimum, privacy))
    mondrian = oracle.Mondrian(
        case.attributes,
        lambda group: all(satisfied(r, group, references) for r in privacy),
        smallest,
        case.policy["method"]["choose"],
        relaxed,
    )
    groups = [group for part in feasible for group in mondrian.partition(part)]
    groups = without_outliers(case, mondrian, groups, released)
    if groups is None:
        return None
    released = [record for group in groups for record in group]
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for record in released}
    check_classes(staged, case, groups, privacy, references)
    check_measures(staged, case, groups, len(records), smallest)
    check_verified(staged, groups, privacy, [records, released])
    return staged


def without_outliers(
    case: Case, mondrian: oracle.Mondrian, groups: list[Group], released: list[Record]
) -> list[Group] | None:
    """What stays of the classes; None where the numbers of classes decide that."""
    if any("t" in requirement for requirement in case.policy["privacy"]):
        return groups  # classes are compared with what is released
    limit, price = case.policy["suppression_limit"], case.policy["method"].get("price", 1)
    out = len(case.rows) - len(released)
    allowed = math.floor(limit * len(case.rows) + 1e-9) - out
    try:
        return Outliers(mondrian, price).remaining(
            groups, min(allowed, len(released) - mondrian.smallest)
        )
    except Undecided:
        return None


def check_refusal(
    refusal: PrivacyRefusal, case: Case, feasible: list[Group], references: list[Group]
) -> None:
    """Refused only where nothing can be released, or closeness fails after suppression."""
    if refusal.code == "closeness_after_suppression":
        close = [r for r in case.policy["privacy"] if "t" in r]
        assert not all(satisfied(r, part, references) for r in close for part in feasible)
    elif refusal.code == "suppression_limit":
        limit = case.policy["suppression_limit"]
        assert sum(map(len, feasible)) < (1 - limit) * len(case.rows) + 1e-9
    else:
        assert refusal.code in ("too_few_records", "infeasible", "all_suppressed")
        smallest = max(map(minimum, case.policy["privacy"]))
        assert not feasible or len(case.rows) < smallest, refusal


def with_ties(staged: Staged, released: Sequence[Record], number: str = "rid") -> list[Record]:
    """The records with the random numbers that decided between equal values."""
    select = sql.SQL("SELECT record, {} AS tie FROM {}").format(
        sql.Identifier(number), staged.state.work("coded").identifier
    )
    ties = {int(row["record"]): row["tie"] for row in fetch(staged.conn, select)}
    return [Record(r.id, r.qi, r.sensitive, ties.get(r.id, 0)) for r in released]


def check_classes(
    staged: Staged,
    case: Case,
    groups: list[Group],
    privacy: list[dict[str, Any]],
    references: list[Group],
) -> None:
    found = staged.members
    expected = {frozenset(record.id for record in group): group for group in groups}
    assert {frozenset(ids) for ids in found.values()} == set(expected)
    shown = staged.classes
    for class_id, ids in found.items():
        group = expected[frozenset(ids)]
        assert all(satisfied(requirement, group, references) for requirement in privacy)
        for i, attribute in enumerate(case.attributes):
            value, has_null = attribute.published(record.qi[i] for record in group)
            assert shown[class_id][f"q{i}"] == value
            if attribute.nulls == "as_value":
                assert shown[class_id][f"q{i}_null"] == has_null
            for record in group:
                assert contains(attribute, shown[class_id][f"q{i}"], record.qi[i])
    assert sorted(str(r["secret"]) for r in staged.table("records")) == sorted(
        str(record.sensitive[0]) for group in groups for record in group
    )


def contains(attribute: oracle.Attribute, published: Any, value: Any) -> bool:
    if value is None:
        return True
    if isinstance(attribute, oracle.Tree) and not isinstance(attribute, oracle.Intervals):
        return published in attribute.paths[value]
    return value in published


def check_measures(
    staged: Staged, case: Case, groups: list[Group], records: int, smallest: int
) -> None:
    expected = oracle.utility(case.attributes, groups, records, smallest)
    got = staged.utility
    assert got.gcp == pytest.approx(expected["gcp"], abs=1e-9)
    assert got.discernibility == expected["discernibility"]
    assert got.average_class == pytest.approx(expected["average_class"])
    for i in range(len(case.attributes)):
        assert got.ncp[f"q{i}"] == pytest.approx(expected[f"ncp{i}"], abs=1e-9)


def check_verified(
    staged: Staged, groups: list[Group], privacy: list[dict[str, Any]], references: list[Group]
) -> None:
    """The measures that verification took are those of the worst group."""
    for requirement in privacy:
        name = requirement["model"]
        values = [[record.sensitive[0] for record in group] for group in groups]
        expected: list[float]
        if name == "k_anonymity":
            expected = [min(map(len, groups))]
        elif name == "distinct_l_diversity":
            expected = [min(map(oracle.distinct_l, values))]
        elif name == "entropy_l_diversity":
            expected = [min(map(oracle.entropy_l, values))]
        else:
            expected = [
                float(max(distance(requirement, v, one, references[0]) for v in values))
                for one in references
            ]
        assert staged.verified(name) == pytest.approx(expected, abs=1e-9)


def with_a_value_of_nobody_released(**method: Any) -> Case:
    """Of (1, 1) the distance from all is 1/2 over the two values released, 2/5 over all three."""
    rows = [[1, 1], [2, 1], [3, 2], [4, 2], [None, 3]]
    column = oracle.Ordered([row[0] for row in rows], 1.0, "suppress")
    closeness = {"model": "t_closeness", "column": "secret", "t": 0.4, "distance": "ordered"}
    asked = policy(
        {"q0": {"nulls": "suppress"}, "secret": "s"},
        [{"model": "k_anonymity", "k": 2}, closeness],
        method=method,
        on_infeasible="suppress",
        suppression_limit=1.0,
    )
    return Case({"q0": "integer", "secret": "integer"}, rows, asked, [column])


def test_distances_are_over_the_values_of_the_source(tables: Tables) -> None:
    staged = check(tables, with_a_value_of_nobody_released(name="mondrian", choose="loss"))
    assert staged is not None
    assert sorted(map(sorted, staged.members.values())) == [[1, 2], [3, 4]]


@pytest.mark.random_tables
@SETTINGS
@given(case=cases())
def test_strict_classes_are_those_of_the_brute_force(tables: Any, case: Case) -> None:
    check(tables, case)


@pytest.mark.random_tables
@SETTINGS
@given(case=cases(relaxed=True))
def test_relaxed_classes_are_those_of_the_brute_force(tables: Any, case: Case) -> None:
    check(tables, case, relaxed=True)


@pytest.mark.random_tables
@SETTINGS
@given(
    case=st.one_of(cases(), cases(relaxed=True)),
    price=st.sampled_from([0, 0.1, 0.3, 0.6, 1]),
    limit=st.sampled_from([0.1, 0.25, 0.5, 1]),
)
@pytest.mark.slow
def test_outliers_are_those_of_the_brute_force(
    tables: Any, case: Case, price: float, limit: float
) -> None:
    compared = [r for r in case.policy["privacy"] if "t" in r]
    for requirement in compared:
        case.policy["privacy"].remove(requirement)
    case.policy["method"]["price"] = price
    case.policy["suppression_limit"] = limit
    check(tables, case, relaxed=case.policy["method"]["variant"] == "relaxed")
