"""A bound on estimated population uniques: full-domain recoding against brute force."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from pganon.errors import PreconditionError, PrivacyRefusal
from pganon.methods.classes.full_domain import rounds
from pganon.publish import lifecycle
from pganon.resolved.guarantee import guarantee
from pganon.risk.estimate import Estimate
from pganon.risk.sample import Sample
from pganon.risk.uniques import estimates
from tests.support.harness.driver import Connection, drop_leftovers, publish, refused, run
from tests.support.harness.examples import examples
from tests.support.oracles.levels import Column, Node, Table
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

Tables = tuple[Connection, Connection]
LETTERS = {letter: (letter, letter in "ab", "*") for letter in "abcd"}
TREE = {"all": {"left": ["a", "b"], "right": ["c", "d"]}}
ESTIMATORS = ("dankar", "zayatz", "pitman", "snb")


@pytest.fixture
def tables(db: Any) -> Tables:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def estimate(sizes: Mapping[int, int], people: int, estimator: str) -> Estimate:
    """As a requirement takes it."""
    found = estimates(Sample.of(sizes, people))
    if estimator != "dankar":
        return found[estimator]
    if sum(size * n for size, n in sizes.items()) <= people / 10:
        return found["pitman"]
    numbers = [found[name] for name in ("snb", "zayatz") if found[name].uniques is not None]
    return min(numbers, key=lambda one: one.uniques or 0)


class Case:
    """A random table with some levels left out, and a policy."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.people = rng.choice([45, 200, 100_000])
        self.estimator = rng.choice(ESTIMATORS)
        self.share = rng.choice([0, 0.001, 0.05, 0.2, 0.4])
        self.k = rng.choice([None, 2])
        size = rng.randint(8, 40)
        ranges = {v: (v, v // 5 * 5, v // 10 * 10, "*") for v in range(20)}
        self.records = [
            (rng.choice("abcd"), min(int(rng.paretovariate(0.7)) - 1, 19), number)
            for number in range(size)
        ]
        ages = [age for _, age, _ in self.records]
        width = max(ages) // 10 * 10 + 10 - min(ages) // 10 * 10
        tops = rng.choice([(2, 3), (2, 3), (1, 2), (2, 1)])
        levels = [[0, top] for top in tops]
        columns = [
            Column(LETTERS, widths=(1,), levels=(0, tops[0])),
            Column(ranges, ranged=True, widths=(0, 5, 10, width), levels=(0, tops[1])),
        ]
        self.limit = rng.choice([0, 0, 3])
        self.table = Table(columns, self.records, lambda group, _: len(group) >= (self.k or 1))
        self.wanted = {
            "model": "population_uniqueness",
            "population_size": self.people,
            "share": self.share,
            "estimator": self.estimator,
        }
        k = [{"model": "k_anonymity", "k": self.k}] if self.k else []
        self.policy = policy(
            {
                "letter": {"hierarchy": {"inline": TREE}, "levels": levels[0]},
                "age": {"hierarchy": {"intervals": [5, 10]}, "levels": levels[1]},
                "s": "i",
            },
            [*k, self.wanted],
            method={"name": "full_domain"},
            suppression_limit=self.limit / size,
        )

    def nodes(self) -> list[tuple[tuple[int, int, Node], Estimate]]:
        """All whose failing records are few enough, by cost, with what is estimated."""
        found = []
        for node in itertools.product(*[column.allowed for column in self.table.columns]):
            failed = self.table.failing(node)
            if len(failed) > self.limit:
                continue
            gaps = self.table.gaps(node)
            cost = self.table.loss(node) + sum(gaps[number] for number in failed)
            groups = [g for g in self.table.classes(node) if not failed.intersection(g)]
            one = estimate(Counter(map(len, groups)), self.people, self.estimator)
            found.append(((cost, sum(node), node), one))
        return sorted(found, key=lambda pair: pair[0])


@pytest.mark.random_tables
@examples(12)
@given(seed=st.integers(0, 10**9))
@pytest.mark.slow
def test_the_cheapest_of_all_levels(tables: Tables, seed: int) -> None:
    source, owner = tables
    case = Case(seed)
    make_table(source, {"letter": "text", "age": "integer", "s": "integer"}, case.records)
    drop_leftovers(owner)
    nodes = case.nodes()
    allowed = [
        (key[2], one.uniques / case.people)
        for key, one in nodes
        if one.uniques is not None and one.uniques / case.people <= case.share
    ]
    if allowed:
        staged = run(owner, case.policy)
        node = tuple(level for level, _ in staged.utility.levels.values())
        assert (node, staged.verified("population_uniqueness")[0]) == allowed[0], seed
        return
    with pytest.raises(PrivacyRefusal) as caught:
        run(owner, case.policy)
    shares = [one.uniques / case.people for _, one in nodes if one.uniques is not None]
    if shares:
        assert f"the least estimate is {min(shares):.6g}" in str(caught.value), seed
    for reason in {one.reason for _, one in nodes if one.reason}:
        assert reason in str(caught.value), seed


# -- worked examples -----------------------------------------------------------------------------

AGES = [21, 21, 21, 22, 22, 23, 23, 24, 25, 26, 31, 31, 32, 33, 34, 35]


def declared(levels: list[int], **wanted: Any) -> dict[str, Any]:
    columns = {"age": {"hierarchy": {"intervals": [2, 10]}, "levels": levels}, "s": "i"}
    model = {"model": "population_uniqueness", "population_size": 1000, "share": 0.02, **wanted}
    return policy(columns, [model], method={"name": "full_domain"})


def aged(source: Connection, ages: list[int]) -> None:
    make_table(source, {"age": "integer", "s": "integer"}, [[age, n] for n, age in enumerate(ages)])


def test_what_is_not_estimable_is_missed_for_its_reason(tables: Tables) -> None:
    """All alone: by Pitman's estimator, which none stands in for. And no pairs by SNB."""
    source, owner = tables
    aged(source, [21, 22, 23, 24])
    with refused("infeasible") as caught:
        run(owner, declared([0, 0], share=0.9))
    assert "population_uniqueness share = 0.9" in str(caught[0])
    assert "1 that satisfy the rest miss it: not estimable: all_unique" in str(caught[0])
    aged(source, [21, 21, 21, 22, 23, 24])
    with refused("infeasible") as caught:
        run(owner, declared([0, 0], share=0.9, estimator="snb"))
    assert str(caught[0]).endswith("not estimable: no_pairs")


def test_the_highest_levels_leave_nobody_alone(tables: Tables) -> None:
    source, owner = tables
    aged(source, AGES)
    staged = run(owner, declared([0, 3], share=0))
    assert staged.utility.levels["age"] == (2, 3)
    assert staged.verified("population_uniqueness") == [0]
    (stated,) = guarantee(staged.plan.spec)
    assert stated["over_versions"] == "readers of one version"
    words = "population_uniqueness population_size=1000 share=0.0 estimator=dankar"
    assert stated["requirement"] == words


def test_too_few_nodes_to_tell(tables: Tables) -> None:
    """What was tried is said; others may do."""
    source, owner = tables
    aged(source, AGES)
    few = declared([0, 1], share=0)
    few["method"]["max_nodes"] = 1
    with refused("levels_not_found") as caught:
        run(owner, few)
    assert "1 miss population_uniqueness share = 0: the least estimate is" in str(caught[0])


def test_a_population_that_is_not_larger(tables: Tables) -> None:
    source, owner = tables
    aged(source, AGES)
    with pytest.raises(PreconditionError, match="population size 16 must be above 16"):
        run(owner, declared([0, 3], population_size=16))


def test_staged_classes_are_judged_again(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the search has found."""
    source, owner = tables
    aged(source, AGES)
    monkeypatch.setattr(rounds, "missed", lambda models, sizes: None)
    with refused("verification") as caught:
        run(owner, declared([0, 0], share=0.01))
    assert "requires share <= 0.01; of the staged release: the least estimate is" in str(caught[0])


def test_verify_counts_class_sizes_anew(tables: Tables, db: Any) -> None:
    source, owner = tables
    aged(source, AGES)
    publish(db, declared([0, 3], share=0.3))
    source.execute("DROP TABLE public.t")
    (found,) = [one for one in lifecycle.verify(owner, "r") if one.model == "population_uniqueness"]
    assert found.holds
    assert found.measured is not None
    assert 0 < found.measured <= 0.3
    stored = "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relname ~ '^r[0-9]+_records$'"
    ((table,),) = db.admin.execute(stored).fetchall()
    db.admin.execute(
        sql.SQL("UPDATE {0} SET class_id = (SELECT max(class_id) FROM {0})").format(sql.SQL(table))
    )
    (found,) = [one for one in lifecycle.verify(owner, "r") if one.model == "population_uniqueness"]
    assert not found.holds
    assert found.measured is None
