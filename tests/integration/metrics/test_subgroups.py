"""The chance to find people by the values of a quasi-identifier, in the evidence of a version."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.plan.explain import explain
from tests.support.harness import driver
from tests.support.harness.cluster import Database

# People of one race are in classes of four, others in classes of hundred; ten have a race of which
# nobody is to be told anything, as have those who beside them would tell it.
SOURCE = """
CREATE TABLE public.person (id integer PRIMARY KEY, age integer NOT NULL, race text, pay text);
INSERT INTO public.person
SELECT n, CASE WHEN n < 200 THEN n / 4 ELSE 1000 + n / 100 END,
    CASE WHEN n < 200 THEN 'Zanzibar' WHEN n < 210 THEN 'one of ten' WHEN n < 225 THEN 'fifteen'
        WHEN n >= 1000 AND n < 1100 THEN NULL ELSE 'usual' END, 'p' || n % 3
FROM generate_series(0, 2199) AS n
"""


def policy(**changes: Any) -> dict[str, Any]:
    return {
        "release": "people",
        "source": "public.person",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "race": {"role": "quasi_identifying", "as": "origin"},
            "pay": {"role": "sensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": 4}],
        "method": {"name": "mondrian"},
        "report": {"subgroups": ["race"]},
        "publish": {"readers": ["analyst"]},
        **changes,
    }


def evidence(db: Database) -> dict[str, Any]:
    row = db.admin.execute(
        "SELECT evidence::text FROM pganon_private.version ORDER BY run_id DESC LIMIT 1"
    ).fetchone()
    assert row is not None
    return json.loads(row[0])


def sizes(db: Database) -> dict[str | None, list[int]]:
    """By race, the size of everybody's class, from what is published."""
    classes = Counter[int]()
    boxes: dict[int, Any] = {}
    shown = "SELECT class_id, age, origin, origin_null FROM published.people"
    for row in db.owner().execute(shown):
        classes[row[0]] += 1
        boxes[row[0]] = row[1:]
    found: dict[str | None, list[int]] = defaultdict(list)
    for age, race in db.connect("source_owner").execute("SELECT age, race FROM public.person"):
        [home] = [
            number
            for number, (ages, races, null) in boxes.items()
            if age in ages and (null if race is None else race in (races or []))
        ]
        found[race].append(classes[home])
    return found


def test_chances_are_those_of_the_published_classes(db: Database) -> None:
    db.source(SOURCE)
    driver.publish(db, policy())
    found, of_race = evidence(db), sizes(db)
    every = [n for sizes in of_race.values() for n in sizes]
    assert min(every) == 4
    all_of = found["record_risk"]["prosecutor"]
    assert all_of["people"] == 2200
    assert all_of["mean"] == pytest.approx(sum(1 / n for n in every) / 2200, abs=2e-3)
    subgroups = {one["value"]: one for one in found["subgroups"] if not one["others"]}
    assert subgroups.keys() == {"Zanzibar", "usual", None}
    others = [one for one in found["subgroups"] if one["others"]]
    assert [(one["column"], one["value"]) for one in others] == [("origin", None)]
    of_race["others"] = of_race.pop("one of ten") + of_race.pop("fifteen")
    for race, told in [*subgroups.items(), ("others", others[0])]:
        own, chance = sorted(of_race[race], reverse=True), told["prosecutor"]
        # In steps of eleven people.
        assert chance["people"] % 11 == 0
        assert abs(chance["people"] - len(own)) <= 5.5
        exact = sum(1 / n for n in own) / len(own)
        steps = exact * len(own) / 11 / 0.25
        assert (chance["mean"] is None) == (steps <= 0.5)
        if chance["mean"] is not None:
            assert chance["mean"] == pytest.approx(round(steps) * 11 * 0.25 / chance["people"])
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
            # Of all whom the steps leave possible.
            enough = round(min(share, 1 - share) * (chance["people"] - 5.5), 9) >= 11
            place = -(-round(share * len(own), 6) // 1) - 1
            assert chance[name] == (1 / own[int(place)] if enough else None), (race, name)
        for name, most in (("0.09", 11),):
            above = sum(n <= most for n in own) / len(own)
            assert chance["above"][name] == pytest.approx(above, abs=5.5 / chance["people"])
    planted = subgroups["Zanzibar"]["prosecutor"]
    # Eleven of two hundred are above the 95 % quantile, not eleven above the 99 % quantile.
    assert (planted["people"], planted["mean"], planted["p50"], planted["p99"]) == (
        *(198, 0.25, 0.25),
        None,
    )
    assert planted["above"] == {"0.09": 1}
    assert subgroups["usual"]["prosecutor"]["p95"] == 0.01
    assert "one of ten" not in json.dumps(found)
    assert "fifteen" not in json.dumps(found)


@pytest.mark.parametrize("by", ["weights", "population"])
def test_who_does_not_know_who_is_in_the_data_picks_among_the_population(
    db: Database, by: str
) -> None:
    """In the population everybody is there as often as he weighs."""
    db.source(
        SOURCE
        + "; ALTER TABLE public.person ADD w integer; UPDATE public.person SET w = 1 + id % 3;"
        " CREATE TABLE public.city AS SELECT p.age, p.race FROM public.person AS p,"
        " generate_series(1, p.w);"
    )
    declared = policy()
    declared["report"]["limits"] = [0.09, 0.2]
    if by == "weights":
        declared["columns"]["w"] = {"role": "weight"}
    else:
        declared["report"]["population"] = "public.city"
    driver.publish(db, declared)
    found = evidence(db)
    homes = dict[int, int]()
    weights: dict[int, int] = defaultdict(int)
    races: dict[int, str | None] = {}
    shown = db.owner().execute(
        "SELECT class_id, age, origin, origin_null FROM published.people GROUP BY 1, 2, 3, 4"
    )
    boxes = [*shown.fetchall()]
    for one, age, race in db.connect("source_owner").execute(
        "SELECT id, age, race FROM public.person"
    ):
        [homes[one]] = [
            number
            for number, ages, origins, null in boxes
            if age in ages and (null if race is None else race in (origins or []))
        ]
        weights[homes[one]] += 1 + one % 3
        races[one] = race
    covered = {one: weights[home] for one, home in homes.items()}
    assert found["population"]["smallest"] == min(covered.values())
    highest = 1 / min(covered.values())
    told: dict[str | None, Any] = {None: found["record_risk"]["journalist"]}
    told |= {one["value"]: one["journalist"] for one in found["subgroups"] if one["value"]}
    assert told.keys() == {None, "Zanzibar", "usual"}
    for race, chance in told.items():
        own = sorted((n for one, n in covered.items() if race in (None, races[one])), reverse=True)
        exact = sum(1 / n for n in own) / len(own)
        assert chance["mean"] == pytest.approx(exact, abs=11 * highest / chance["people"])
        assert chance["p90"] == 1 / own[-(-90 * len(own) // 100) - 1]
        for name, most in (("0.09", 11), ("0.2", 5)):
            above = sum(n <= most for n in own) / len(own)
            assert chance["above"][name] == pytest.approx(above, abs=5.5 / chance["people"])
    assert told["Zanzibar"]["above"]["0.09"] > told["usual"]["above"]["0.09"] == 0


def test_classes_are_compared_with_the_population_once(db: Database) -> None:
    db.source(SOURCE)
    report = {"subgroups": ["race", "age"], "population": "public.person"}
    steps = explain(driver.prepared(db.owner(), policy(report=report)).plan)
    own = [one for one in steps if one.phase == "evidence"]
    compared = [one.step for one in own if 'stage"."r0_population' in one.sql]
    # The chances of people have those whom no class covers.
    assert compared == ["mcovers", "population_presence"]
    assert [one.step for one in own if "classes_numbered" in one.sql] == ["mcovers"]
    risks = ["population_sizes", "record_risk", "record_risk0", "record_risk1"]
    assert sorted(one.step for one in own if '_mcovered"' in one.sql) == risks


def test_nothing_is_said_of_few_people(db: Database) -> None:
    db.source(SOURCE + "; DELETE FROM public.person WHERE id >= 10")
    driver.publish(db, policy())
    found = evidence(db)
    assert (found["record_risk"], found["subgroups"]) == (None, [])


@pytest.mark.slow
def test_few_who_are_left_out_leave_no_subgroups(db: Database) -> None:
    """Groups may be the same whoever of two people is left out; chances by their values are not."""
    for left_out, told in ((1, False), (11, True)):
        db.source(
            SOURCE.replace("age integer NOT NULL", "age integer")
            + f"; INSERT INTO public.person SELECT -n, NULL, 'usual'"
            f" FROM generate_series(1, {left_out}) AS n"
        )
        declared = policy(suppression_limit=0.01)
        declared["columns"]["age"]["nulls"] = "suppress"
        driver.publish(db, declared)
        found = evidence(db)
        assert bool(found["subgroups"]) is told
        assert found["record_risk"]["prosecutor"]["people"] == 2200
        db.source("DROP TABLE public.person CASCADE", grant=False)


def test_refusals(db: Database) -> None:
    db.source(SOURCE)
    for changes, message in (
        ({"report": {"subgroups": ["pay"]}}, "column pay is not quasi_identifying"),
        ({"report": {"subgroups": ["nobody"]}}, "column nobody is not quasi_identifying"),
        ({"refresh": "increments"}, "not told of increments"),
        (
            {
                "method": {"name": "anatomy"},
                "privacy": [{"model": "anatomy_l_diversity", "column": "pay", "l": 2}],
            },
            "not told of groups of the method anatomy",
        ),
    ):
        with pytest.raises(PolicyError, match=message):
            driver.publish(db, policy(**changes))
    for wrong in (["race", "race"], ["race", "a", "b", "c", "d"]):
        with pytest.raises(PolicyError):
            driver.loaded(policy(report={"subgroups": wrong}))
