"""Classes in which a record is worth more than an attack on it costs, against brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PganonError, PolicyError
from pganon.privacy.profit import ProfitabilityInPopulation
from pganon.publish import lifecycle
from pganon.resolved.guarantee import guarantee
from pganon.sqltools import query, render
from tests.integration.methods.classes.test_mondrian import parts
from tests.integration.methods.classes.test_population_cuts import PEOPLE, population, shown
from tests.support.harness.driver import Connection, drop_leftovers, publish, refused, run
from tests.support.harness.examples import examples
from tests.support.oracles import covered
from tests.support.oracles import definitions as oracle
from tests.support.oracles.definitions import Group
from tests.support.sources.builders import Case, cases, make_table, policy

pytestmark = pytest.mark.primary_server_only

Tables = tuple[Connection, Connection]


@pytest.fixture
def tables(db: Any) -> Tables:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def amounts(rng: random.Random) -> dict[str, Any]:
    return {
        "model": "profitability",
        "gain": rng.choice([2.5, 4, 6]),
        "cost": 1,
        "loss": rng.choice([1, 3, 10]),
        "benefit": rng.choice([0.5, 1, 2]),
    }


def profit(model: dict[str, Any], size: int, ncp: float) -> float:
    """Of a record among so many, in a class that loses so much."""
    attacked = Fraction(str(model["gain"])) / size > Fraction(str(model["cost"]))
    return model["benefit"] * (1 - ncp) - (model["loss"] / size if attacked else 0)


@pytest.mark.random_tables
@examples(10)
@given(case=cases(models=False), seed=st.integers(0, 10**9))
@pytest.mark.slow
def test_profits_are_those_of_the_brute_force(tables: Tables, case: Case, seed: int) -> None:
    rng = random.Random(seed)
    source, owner = tables
    counts, suppresses = rng.random() < 0.4, rng.random() < 0.5
    model = amounts(rng) | ({"population": PEOPLE} if counts else {})
    k = rng.randint(2, 3)
    case.policy["privacy"] = [{"model": "k_anonymity", "k": k}, model]
    case.policy["on_infeasible"] = "suppress" if suppresses and not counts else "refuse"
    case.policy["suppression_limit"] = rng.choice([0.5, 1]) if suppresses and not counts else 0
    people = population(rng, case)
    make_table(source, case.columns, case.rows)
    types = dict(list(case.columns.items())[:-1])
    make_table(source, types, people, name=("public", "people"))
    drop_leftovers(owner)
    choose = case.policy["method"]["choose"]
    mondrian = oracle.Mondrian(case.attributes, lambda g: len(g) >= k, k, choose, False)
    started = parts(case, case.records)
    kept = [record for part in started for record in part]
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for record in kept}
    groups = [g for part in started if len(part) >= k for g in mondrian.partition(part)]
    weights = sum(attribute.weight for attribute in case.attributes)

    def of(group: Group) -> float:
        size = covered.number(shown(case, group), people) if counts else len(group)
        return round(profit(model, max(size, 1), mondrian.weighted_loss(group) / weights), 9)

    if case.policy["on_infeasible"] == "suppress":
        groups = [group for group in groups if of(group) > 0]
    left = len(case.rows) - sum(map(len, groups))
    if not groups or left > case.policy["suppression_limit"] * len(case.rows):
        with pytest.raises(PganonError):
            run(owner, case.policy)
        return
    least = min(map(of, groups))
    if least <= 0:
        with refused("verification"):
            run(owner, case.policy)
        return
    staged = run(owner, case.policy)
    found = {frozenset(ids) for ids in staged.members.values()}
    assert found == {frozenset(record.id for record in group) for group in groups}, seed
    assert staged.verified("profitability") == pytest.approx([least], abs=1e-8)


# -- by hand -------------------------------------------------------------------------------------

MODEL = {"model": "profitability", "gain": 3, "cost": 1, "loss": 2, "benefit": 1}
K = {"model": "k_anonymity", "k": 2}
QI = {"x": "q", "s": "i"}


def ages(source: Connection) -> None:
    """Classes 0 to 1 and 9 to 10, of two records each, and 5, of four."""
    rows = [[x, n] for n, x in enumerate([0, 1, 5, 5, 5, 5, 9, 10])]
    make_table(source, {"x": "int", "s": "int"}, rows)


@pytest.mark.parametrize(
    ("method", "keys"),
    [
        ("mondrian", {}),
        ("one_dimensional", {}),
        ("full_domain", {"hierarchy": {"intervals": [5]}, "levels": [2, 2]}),
    ],
)
def test_attacks_on_pairs_pay(tables: Tables, method: str, keys: dict[str, Any]) -> None:
    """One of two is worth 3 / 2 to a reader, more than 1, and costs 2 / 2."""
    source, owner = tables
    ages(source)
    columns = {**QI, "x": {"role": "quasi_identifying", **keys}}
    declared = policy(columns, [K, MODEL], method={"name": method})
    with refused("verification") as caught:
        run(owner, declared)
    assert "profitability requires profit > 0" in str(caught[0])
    drop_leftovers(owner)
    worth = {**MODEL, "benefit": 1.5}
    if method != "full_domain":
        staged = run(owner, {**declared, "privacy": [K, worth]})
        assert staged.verified("profitability") == pytest.approx([1.5 * 0.9 - 1])
        assert len(staged.members) == 3
        said = guarantee(staged.plan.spec)[1]
        assert said["requirement"] == "profitability gain=3.0 cost=1.0 loss=2.0 benefit=1.5"
        assert said["over_versions"] == "readers of one version"


def test_attacks_on_people_of_a_population(tables: Tables) -> None:
    """Among twice as many people attacks on pairs do not pay."""
    source, owner = tables
    ages(source)
    people = [[x] for x in [0, 1, 5, 5, 5, 5, 9, 10] * 2]
    make_table(source, {"x": "int"}, people, name=("public", "people"))
    staged = run(owner, policy(QI, [K, {**MODEL, "population": PEOPLE}]))
    assert staged.verified("profitability") == pytest.approx([0.9])
    assert PEOPLE not in str(guarantee(staged.plan.spec))


def test_no_outlier_is_left_out_beside_it(tables: Tables) -> None:
    """The limit is for classes that do not pay."""
    source, owner = tables
    rows = [[x, n] for n, x in enumerate([1, 1, 1, 1, 1, 1000])]
    make_table(source, {"x": "int", "s": "int"}, rows)
    k = {"model": "k_anonymity", "k": 4}
    declared = policy(QI, [k], suppression_limit=0.2)
    assert run(owner, declared).facts["suppressed"] == 1
    drop_leftovers(owner)
    with refused("verification"):  # the class of all has no benefit
        run(owner, {**declared, "privacy": [k, MODEL]})


def test_an_attack_that_gains_its_cost_does_not_pay(tables: Tables) -> None:
    """3 / 3 is the cost. A class that covers nobody is attacked as if it covered one person."""
    each = query(
        "select v.n, v.n as covered, 0.5::float8 as ncp from (values (0), (2), (3)) as v(n)"
    )
    model = ProfitabilityInPopulation(PEOPLE, 3, 1, 2, 1)
    measured = query("select m.measure from m order by 1", {"m": model.measure(each, [])})
    rows = tables[1].execute(render(measured)).fetchall()
    assert [float(profit) for (profit,) in rows] == [-1.5, -0.5, 0.5]


def test_a_class_without_a_loss_is_taken_to_lose_everything(tables: Tables, db: Any) -> None:
    source, owner = tables
    ages(source)
    done = publish(db, policy(QI, [K, {**MODEL, "benefit": 1.5}]))
    losses = f"pganon_private.r{done.run_id}_losses"
    db.admin.execute(f"DELETE FROM {losses} WHERE class_id = (SELECT min(class_id) FROM {losses})")
    (found,) = [one for one in lifecycle.verify(owner, "r") if one.model == "profitability"]
    assert not found.holds
    assert found.measured <= 0


def test_classes_that_do_not_pay_are_left_out(tables: Tables, db: Any) -> None:
    source, owner = tables
    ages(source)
    declared = policy(QI, [K, MODEL], on_infeasible="suppress", suppression_limit=0.5)
    done = publish(db, declared)
    assert (done.released, done.suppressed) == (4, 4)
    source.execute("DROP TABLE public.t")
    assert all(one.holds for one in lifecycle.verify(owner, "r"))
    losses = f"pganon_private.r{done.run_id}_losses"
    db.admin.execute(f"DELETE FROM {losses}")
    missed = [one.model for one in lifecycle.verify(owner, "r") if not one.holds]
    assert "profitability" in missed
    drop_leftovers(owner)
    ages(source)
    with refused("suppression_limit"):
        run(owner, {**declared, "suppression_limit": 0.4})


def test_a_release_that_has_to_pay_has_no_increments(tables: Tables) -> None:
    ages(tables[0])
    growing = {"refresh": "increments", "republication": "refuse"}
    declared = policy({"x": "q", "s": {"role": "individual"}}, [K, MODEL], **growing)
    with pytest.raises(PolicyError, match="increments are not available with profitability"):
        run(tables[1], declared)
