"""One-dimensional classes and their measures against a brute force written from the definitions."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.encode import axis
from pganon.errors import PrivacyRefusal
from pganon.methods.classes.one_dimensional import line
from pganon.methods.classes.one_dimensional.search import digits
from tests.integration.methods.classes.test_mondrian import (
    BOUNDED,
    COMPARED,
    capped,
    check_classes,
    check_measures,
    check_refusal,
    check_verified,
    minimum,
    parts,
    satisfied,
    with_ties,
)
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, Staged, drop_leftovers, run
from tests.support.harness.examples import examples
from tests.support.oracles import definitions, one_dimensional
from tests.support.oracles.definitions import Group, Record
from tests.support.sources.builders import REQUIREMENTS, Case, cases, make_table, policy

pytestmark = pytest.mark.primary_server_only

SETTINGS = examples(5)
SEED = 1

FURTHER = [
    *REQUIREMENTS,
    {"model": "alpha_k_anonymity", "column": "secret", "alpha": 0.5, "k": 2},
    {"model": "recursive_cl_diversity", "column": "secret", "c": 2, "l": 2},
    {"model": "beta_likeness", "column": "secret", "beta": 1.5},
    {"model": "delta_disclosure", "column": "secret", "delta": 1.5},
]


@st.composite
def lined(draw: st.DrawFn, *, rounds: int = 0, **keys: Any) -> Case:
    """The random tables and policies of Mondrian with options of this method."""
    case = draw(cases(**keys, models=False))
    case.policy["method"] = {
        "name": "one_dimensional",
        "variant": draw(st.sampled_from(["strict", "relaxed"])),
        "dominant": draw(st.sampled_from(["apart", "mixed"])),
        "refine": rounds,
    }
    case.policy["suppression_limit"] = draw(st.sampled_from([1.0, 1.0, 0.2]))
    more = draw(
        st.lists(st.sampled_from(FURTHER), max_size=2, unique_by=lambda r: str(r["model"]))
    )
    names = {"k_anonymity", "alpha_k_anonymity"}
    if any(r["model"] in names for r in more):
        case.policy["privacy"] = []
    case.policy["privacy"] += more
    return case


# -- the classes --------------------------------------------------------------------------------


@pytest.fixture
def tables(db: Any) -> tuple[Connection, Connection]:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def declared(case: Case) -> dict[str, Any]:
    """The policy without `on_infeasible` where it is refused, since nothing could be gained."""
    apart = any(attribute.nulls == "own_class" for attribute in case.attributes)
    bounded = any(r["model"] in BOUNDED for r in case.policy["privacy"])
    return case.policy | ({} if apart or bounded else {"on_infeasible": "refuse"})


def releasable(case: Case, records: Sequence[Record]) -> list[Group]:
    """The parts that satisfy all requirements as one class."""
    privacy = case.policy["privacy"]
    return [
        part
        for part in (capped(privacy, part) for part in parts(case, records))
        if all(satisfied(requirement, part, [records]) for requirement in privacy)
    ]


def check(tables: tuple[Connection, Connection], case: Case) -> Staged | None:
    source, owner = tables
    make_table(source, case.columns, case.rows)
    drop_leftovers(owner)
    case.policy = declared(case)
    records, privacy = case.records, case.policy["privacy"]
    feasible = releasable(case, records)
    released = [record for part in feasible for record in part]
    references = [records] if len(released) == len(records) else [records, released]
    try:
        staged = run(owner, case.policy, seed=SEED)
    except PrivacyRefusal as refusal:
        check_refusal(refusal, case, feasible, references)
        return None
    if staged.plan.spec.numbers_records:
        feasible = releasable(case, with_ties(staged, records))
    groups = expected(case, feasible, references)
    released = [record for group in groups for record in group]
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for record in released}
    check_classes(staged, case, groups, privacy, references)
    check_measures(staged, case, groups, len(records), max(map(minimum, privacy)))
    check_verified(
        staged,
        groups,
        [r for r in privacy if r in REQUIREMENTS or r["model"] == "k_anonymity"],
        [records, released],
    )
    check_tuples(staged)
    return staged


def expected(case: Case, feasible: list[Group], references: list[Group]) -> list[Group]:
    method, privacy = case.policy["method"], case.policy["privacy"]
    compares = any(r["model"] in COMPARED for r in privacy)
    smallest = max(map(minimum, privacy))
    released = sum(map(len, feasible))
    left = len(case.rows) - released
    allowed = math.floor(case.policy["suppression_limit"] * len(case.rows) + 1e-9) - left
    made = one_dimensional.OneDimensional(
        case.attributes,
        lambda group: all(satisfied(r, group, references) for r in privacy),
        smallest,
        apart=method["dominant"] == "apart",
        relaxed=method["variant"] == "relaxed",
        several=any(r["model"] != "k_anonymity" for r in privacy),
        compares=compares,
        rounds=method["refine"],
        seed=SEED + 2,
        limit=0 if compares else max(min(allowed, released - smallest), 0),
        price=method.get("price", 1.0),
        size=line.BLOCK,
    )
    groups = made.classes(feasible)
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for group in groups for record in group}
    return made.merged(groups)


def check_tuples(staged: Staged) -> None:
    """A class number and what it shows determine each other, in what is published, too."""
    shown: dict[str, int] = {}
    for row in staged.classes.values():
        text = str([value for name, value in row.items() if name.startswith("q")])
        assert shown.setdefault(text, row["class_id"]) == row["class_id"]
    assert len(shown) == len(staged.classes)


@pytest.mark.random_tables
@SETTINGS
@given(case=lined())
def test_classes_are_those_of_the_brute_force(tables: Any, case: Case) -> None:
    check(tables, case)


@pytest.mark.random_tables
@SETTINGS
@given(case=lined(), price=st.sampled_from([0, 0.1, 0.3]))
def test_outliers_are_those_of_the_brute_force(tables: Any, case: Case, price: float) -> None:
    case.policy["privacy"] = [r for r in case.policy["privacy"] if r["model"] not in COMPARED]
    if case.policy["privacy"]:
        case.policy["method"]["price"] = price
        check(tables, case)


@pytest.mark.random_tables
@SETTINGS
@given(case=lined(), size=st.integers(1, 20))
def test_every_block_has_the_classes_of_the_brute_force(
    tables: Any, case: Case, size: int
) -> None:
    """Blocks that miss a requirement are joined."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line, "BLOCK", size)
        check(tables, case)


@pytest.mark.random_tables
@SETTINGS
@given(case=lined(rounds=6), size=st.sampled_from([25, 60_000]))
def test_refined_classes_are_those_of_the_brute_force(
    tables: Any, case: Case, size: int
) -> None:
    for attribute, (name, column) in zip(
        case.attributes, case.policy["columns"].items(), strict=False
    ):
        assert name.startswith("q")
        # Numbers of blocks enter the draws, and parts have no order that the policy says.
        if attribute.nulls == "own_class":
            attribute.nulls = column["nulls"] = "as_value"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line, "BLOCK", size)
        check(tables, case)
