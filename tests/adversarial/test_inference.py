"""Attack: learn from the release alone which records have which values (deFinetti).

Naive Bayes needs no background knowledge: that some values are in the groups of some people more
often than in others is published.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import PrivacyRefusal
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.oracles import inference as oracle
from tests.support.oracles.inference import Record
from tests.support.sources import visits
from tests.support.sources.visits import VIEWS, build, document, published, release, requirement

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

DISEASES = ("flu", "cold", "ulcer", "asthma", "gout", visits.SECRET)
ALLOWED = {"limit": 0.5, "share": 0.01}


def rows(count: int, *, tied: bool, seed: int = 3) -> list[tuple[Any, ...]]:
    """(age, zip, ward, nights, disease): the zip code tells the disease, or nothing does."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        disease = rng.choice(DISEASES)
        place = DISEASES.index(disease) if tied else rng.randrange(6)
        found.append(
            (rng.randint(20, 60), f"Z{place}", rng.choice("abc"), rng.randint(0, 9), disease)
        )
    return found


def publish(db: Database, table: list[tuple[Any, ...]], l: int = 3, **changes: Any) -> Any:  # noqa: E741
    build(db, table)
    return release(db, privacy=requirement(l), method={"name": "anatomy"}, **changes)


def about_inference(warnings: tuple[str, ...]) -> list[str]:
    return [warning for warning in warnings if "inferred" in warning]


def test_what_the_release_says_about_whose_values_it_holds(db: Database) -> None:
    """A reader attacks the two views, and is right; the run knew, and said so."""
    table = rows(600, tied=True)
    result = publish(db, table)
    seen = published(db.connect("analyst"))
    guessed = oracle.posteriors(
        [Record(number, row) for number, row in seen.qit],
        defaultdict(Counter, seen.groups),
        {disease: disease for disease in DISEASES},
    )
    truth = {row[:4]: row[4] for row in table}
    right = [
        truth[row] == max(one, key=lambda value: one[value])
        for (_, row), one in zip(seen.qit, guessed, strict=True)
        if sum(other[:4] == row for other in table) == 1
    ]
    assert sum(right) > 0.9 * len(right) > 450
    found = result.utility.inferred["disease"]
    assert found.accuracy >= sum(right) / len(right) - 0.05
    assert (found.records, found.limit) == (600, 0.5)
    assert min(found.accuracy, found.correct, found.share, found.above) > 0.9
    related = result.utility.related[0]
    assert (related.column, related.sensitive) == ("zip", "disease")
    assert related.association > 0.9
    (warning,) = about_inference(result.warnings)
    assert "disease" in warning
    assert f"{found.share:.4g} of the records" in warning
    assert "larger l" in warning
    assert visits.SECRET not in warning


def test_refused_where_the_policy_says_so(db: Database, tmp_path: Path) -> None:
    build(db, rows(600, tied=True))
    asked = document(method={"name": "anatomy"}, inference=ALLOWED)
    with pytest.raises(PrivacyRefusal) as caught:
        release(db, method=asked["method"], inference=ALLOWED)
    error = caught.value
    assert (error.code, error.model, error.required) == ("inference", "inference", 0.01)
    assert error.observed is not None
    assert error.observed > 0.9
    assert '"disease"' in str(error) or "disease" in str(error)
    assert "larger l" in str(error.hint)
    conn = db.owner()
    assert faults.version(conn, "visits") is None
    assert [faults.content(db.admin, f"published.{view}") for view in VIEWS] == [None] * 3
    assert faults.run_tables(conn) == []
    assert faults.exposed(db.admin) == []
    assert faults.events(conn, "visits")[-1] == "refused: inference"
    details = faults.last_details(conn, "visits")
    assert details["required"] == 0.01
    assert details["observed"] == pytest.approx(error.observed)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(asked))
    ran = pganon("run", str(file), "--json", "--dsn", db.dsn())
    assert (ran.code, ran.json["error"]["code"]) == (1, "inference")
    assert visits.SECRET not in ran.out


def test_a_larger_share_is_accepted_without_a_word(db: Database) -> None:
    result = publish(db, rows(600, tied=True), inference={"share": 1})
    assert result.utility.inferred["disease"].share > 0.9
    assert about_inference(result.warnings) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("l", [2, 3])
def test_nothing_to_infer(db: Database, l: int, seed: int) -> None:  # noqa: E741
    """Whatever the attack believes of columns that say nothing: it is wrong too often."""
    result = publish(db, rows(600, tied=False, seed=seed), l, inference=ALLOWED)
    assert result.utility.inferred["disease"].share == 0
    assert result.utility.related[0].association < 0.2
    result = release(db, privacy=requirement(l), method={"name": "anatomy"})
    assert about_inference(result.warnings) == []


def test_quasi_identifiers_that_go_together_are_no_alarm(db: Database) -> None:
    """Many columns that say the same make the attack sure of itself, and no more often right."""
    table = [
        (age, f"Z{age}", "abc"[age % 3], age % 10, d) for age, _, _, _, d in rows(2_000, tied=False)
    ]
    result = publish(db, table, 2, inference=ALLOWED)
    found = result.utility.inferred["disease"]
    assert found.share == 0
    assert found.accuracy < 0.6


def correlated(seed: int) -> list[tuple[Any, ...]]:
    """One half of the people has the zip code of their disease, the others any."""
    rng = random.Random(seed)
    found = []
    for number, row in enumerate(rows(1_200, tied=True, seed=seed)):
        zip_code = row[1] if rng.random() < 0.5 else f"Z{rng.randrange(6)}"
        found.append((40, zip_code, "a", number, row[4]))
    return found


def summed(seed: int) -> list[tuple[Any, ...]]:
    """Zip code and ward tell the disease together, and neither tells anything of it by itself."""
    rng = random.Random(seed)
    found = []
    for number in range(1_200):
        one, other = rng.randrange(4), rng.randrange(4)
        disease = DISEASES[(one + other) % 4]
        found.append((rng.randint(20, 60), f"Z{one}", "abcd"[other], number, disease))
    return found


def attacked(
    db: Database, table: list[tuple[Any, ...]], known: Callable[[tuple[Any, ...]], tuple[Any, ...]]
) -> float:
    """How many guesses are right of who learns from the two views alone, with `known` of a row."""
    seen = published(db.connect("analyst"))
    guessed = oracle.posteriors(
        [Record(number, known(row)) for number, row in seen.qit],
        defaultdict(Counter, seen.groups),
        {disease: disease for disease in DISEASES},
    )
    truth = {row[:4]: row[4] for row in table}
    assert len(truth) == len(table)
    right = [
        truth[row] == max(one, key=lambda value: one[value])
        for (_, row), one in zip(seen.qit, guessed, strict=True)
    ]
    return sum(right) / len(right)


@pytest.mark.parametrize(
    ("table", "known", "least"),
    [
        (correlated(1), lambda row: (row[1],), 0.65),
        (summed(1), lambda row: ((row[1], row[2]),), 0.95),
    ],
    ids=["correlated", "summed"],
)
def test_guesses_that_are_right_more_often_than_the_model_allows(
    db: Database,
    table: list[tuple[Any, ...]],
    known: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    least: float,
) -> None:
    """Whether or not any of them is sure, and by columns together as by each."""
    result = publish(db, table, 2)
    reached = attacked(db, table, known)
    assert reached > least
    found = result.utility.inferred["disease"]
    assert found.allowed == 0.5
    assert found.share < found.advantage
    assert found.accuracy >= reached - 0.2  # by the other columns, too
    assert found.advantage == pytest.approx(oracle.advantage(found.accuracy, 1_200, 0.5), abs=0.01)
    (warning,) = about_inference(result.warnings)
    assert f"guesses {found.accuracy:.4g} of {found.records} right, where 0.5 is allowed" in warning
    with pytest.raises(PrivacyRefusal) as caught:
        release(db, privacy=requirement(2), method={"name": "anatomy"}, inference={})
    assert caught.value.code == "inference"
    assert caught.value.observed == pytest.approx(max(found.share, found.advantage), abs=0.1)
    accepted = {"share": 1}
    result = release(db, privacy=requirement(2), method={"name": "anatomy"}, inference=accepted)
    assert about_inference(result.warnings) == []


def test_figures_are_the_stewards(db: Database, tmp_path: Path) -> None:
    publish(db, rows(600, tied=True))
    shown = pganon("show", "visits", "--dsn", db.dsn())
    assert "inference of disease" in shown.out
    assert "zip and disease" in shown.out
    document_of = pganon("show", "visits", "--json", "--dsn", db.dsn())
    measures = document_of.out
    assert '"inferred"' in measures
    analyst = pganon("show", "visits", "--json", "--dsn", db.dsn("analyst"))
    assert analyst.code == 0
    assert "inferred" not in analyst.out
    assert "association" not in analyst.out
    found = db.connect("analyst").execute("SELECT r::text FROM pganon.releases AS r").fetchall()
    assert not any("infer" in row[0] for row in found)


def test_the_sample_follows_the_seed(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is attacked is drawn under the secret of the run."""
    from pganon.methods.common.form import attacks

    monkeypatch.setattr(attacks, "RECORDS", 100)
    monkeypatch.setattr(attacks, "CANDIDATES", 500)
    build(db, rows(600, tied=True))
    again = [release(db, stable=True).utility.inferred["disease"] for _ in range(2)]
    assert again[0] == again[1]
    others = {release(db).utility.inferred["disease"].confidence for _ in range(3)}
    assert len(others) == 3
    assert again[0].confidence not in others
