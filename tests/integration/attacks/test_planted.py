"""Who chooses whom to attack, on tables of which it is known what their releases give away."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from pganon.attacks import baseline
from pganon.attacks.findings import Attacked, Finding
from pganon.forms.confidential import told_finding
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

# `pair` is a drawn value of two people of one age; `few` one of ten people whose years are low, and
# else, as `drawn`, of one person alone, whose years a hundred have; `team` tells `pay`.
PLANTED = """
CREATE TABLE public.person AS
SELECT n AS id, n / 2 AS pair_age, n / 10 AS age,
    CASE WHEN n < 120 THEN n / 10 ELSE 1000 + n / 100 END AS years,
    't' || n % 4 AS team, 'p' || n % 4 AS pay,
    'd' || abs(hashint4(n / 2)::bigint) % 50 AS pair,
    'd' || abs(hashint4(CASE WHEN n < 120 THEN n / 10 ELSE n END)::bigint) % 50 AS few,
    'd' || abs(hashint4(-n)::bigint) % 50 AS drawn
FROM generate_series(0, 5999) AS n;
ALTER TABLE public.person ADD PRIMARY KEY (id)
"""


def policy(k: int, *quasi: str, sensitive: str, method: str = "mondrian") -> dict[str, Any]:
    models: list[dict[str, Any]] = [{"model": "k_anonymity", "k": k}]
    if method == "anatomy":
        models = [{"model": "anatomy_l_diversity", "column": sensitive, "l": k}]
    return {
        "release": "people",
        "source": "public.person",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in quasi},
            sensitive: {"role": "sensitive"},
        },
        "privacy": models,
        "method": {"name": method},
    }


def attacked(db: Database, declared: dict[str, Any], **how: Any) -> Attacked:
    settings = {"targets": 3000, "control": 0.5, **how}
    return faults.attacked(db.dsn(), driver.loaded(declared), **settings)


def by(found: Attacked, adversary: str) -> Finding:
    return next(one for one in found.findings if one.adversary == adversary)


@pytest.mark.slow
def test_each_class_has_one_drawn_value(db: Database) -> None:
    db.source(PLANTED)
    found = attacked(db, policy(2, "pair_age", sensitive="pair"))
    assert (found.targets, found.known_others, found.learned) == (3000, 1, True)
    one = by(found, "quasi_identifiers")
    assert one.choice is not None
    assert one.choice.loss.low > 0.97
    assert one.certain is not None
    assert one.certain.share == 1
    assert one.certain.attempts > 2900
    # All on the same number of people.
    for rate in (one.release, one.members, one.control):
        assert rate is not None
        assert rate.attempts == 3000


@pytest.mark.slow
def test_values_of_nothing(db: Database) -> None:
    """Also who knows one other of a class of hundred learns nothing."""
    db.source(PLANTED)
    found = attacked(db, policy(100, "age", sensitive="drawn"))
    for adversary in ("quasi_identifiers", "others_known", "correlations"):
        one = by(found, adversary)
        assert one.choice is not None
        assert one.choice.loss.low < 0 < one.choice.loss.high
        assert one.certain is None


@pytest.mark.slow
def test_few_are_found_surely(db: Database) -> None:
    """Sixty of three thousand: on average hardly anything is given away, and of them everything."""
    db.source(PLANTED)
    found = attacked(db, policy(10, "years", sensitive="few"))
    one = by(found, "quasi_identifiers")
    assert one.difference is not None
    assert one.difference.value < 0.09
    assert told_finding(asdict(one), 11)["gains"]
    assert not told_finding(asdict(replace(one, choice=None, value_choice=None)), 11)["gains"]
    assert one.certain is not None
    assert one.certain.share == 1
    assert 40 <= one.certain.attempts <= 80
    assert one.choice is not None
    assert one.choice.attack.share == 1
    assert one.choice.attack.attempts == one.certain.attempts
    assert one.choice.loss.low > 0.5
    assert one.choice.base is not None
    assert one.choice.base.share < 0.7


@pytest.mark.slow
def test_one_value_is_guessed_alone(db: Database) -> None:
    """Of a thousand one in twenty has the rare one, in classes where nobody has another one."""
    db.source(
        PLANTED + "; UPDATE public.person SET few = CASE WHEN n < 300 THEN 'Zanzibar-7319'"
        " WHEN abs(hashint4(n)::bigint) % 10 = 0 THEN 'Zanzibar-7319' ELSE 'usual' END"
        " FROM (SELECT id AS n FROM public.person) AS p WHERE id = n;"
        # Ages say nothing of strangers.
        " UPDATE public.person SET age = abs(hashint4(age)::bigint) % 1000000"
    )
    found = attacked(db, policy(10, "age", sensitive="few"))
    one = by(found, "quasi_identifiers")
    assert one.value_choice is not None
    assert one.value_choice.value == "=Zanzibar-7319"
    assert one.value_choice.attack.share == 1
    assert 100 < one.value_choice.attack.attempts < 200


@pytest.mark.slow
@pytest.mark.parametrize("learns", [True, False])
def test_what_anybody_knows_is_not_lost(
    db: Database, learns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "LEARNS", learns)
    db.source(PLANTED)
    found = attacked(db, policy(10, "team", "age", sensitive="pay"), targets=400)
    assert found.learned is learns
    one = by(found, "quasi_identifiers")
    assert one.release is not None
    assert one.release.share > 0.9
    assert one.choice is None
    one = by(attacked(db, policy(10, "team", sensitive="pay"), targets=399), "correlations")
    assert (one.choice, one.value_choice) == (None, None)


@pytest.mark.slow
def test_who_is_in_the_source(db: Database) -> None:
    """Of people who look alike nothing is told; exact values of one person tell it."""
    db.source(PLANTED)
    same = attacked(db, policy(50, "team", sensitive="drawn"), targets=500, priors=(0.5, 0.1))
    one = by(same, "list")
    assert one.difference is not None
    assert one.difference.value == 0
    assert [p.chance for p in one.posteriors] == [pytest.approx(0.5), pytest.approx(0.1)]
    apart = attacked(
        db, policy(2, "id", sensitive="drawn", method="anatomy"), targets=500, priors=(0.1,)
    )
    for adversary in ("list", "whole_record"):
        one = by(apart, adversary)
        assert one.attack == "membership"
        assert one.difference is not None
        assert one.difference.value == 1
        assert [(p.prior, p.chance) for p in one.posteriors] == [(0.1, 1)]


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing(db: Database) -> None:
    db.source(
        PLANTED + "; CREATE TABLE public.other AS SELECT * FROM public.person ORDER BY drawn;"
        " ALTER TABLE public.other ADD PRIMARY KEY (id)"
    )
    declared = policy(10, "age", sensitive="few")
    found = [
        attacked(db, {**declared, "source": source}, targets=400).findings
        for source in ("public.person", "public.other")
    ]
    assert found[0] == found[1]
