"""Models that say `merging_keeps`: two groups that satisfy them satisfy them as one group."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from pganon.identifiers import QualifiedName
from pganon.privacy import frequency, likeness
from pganon.privacy.base import Model
from pganon.privacy.models import MODELS
from pganon.sqltools import render
from tests.support.harness.driver import publish, refused
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

MEASURES: list[Model] = [
    frequency.KAnonymity.of(4),
    frequency.RelativeFrequency(Fraction(1, 2)),
    frequency.DistinctLDiversity.of(3),
    frequency.EntropyLDiversity.of(2.5),
    frequency.RecursiveCLDiversity.of(1.5, 2),
    frequency.RecursiveCLDiversity.of(0.8, 3),
    frequency.AnatomyLDiversity.of(3),
    likeness.TCloseness.of(0.4, "equal"),
    likeness.TCloseness.of(0.3, "ordered"),
    likeness.BetaLikeness.of(1.5, "basic"),
    likeness.BetaLikeness.of(1.0, "enhanced"),
    likeness.DeltaDisclosure.of(1.2),
]
VALUES, PAIRS = 5, 150


def histograms(seed: int) -> list[tuple[str, int, int]]:
    """(group, value, n): pairs of groups and their unions, named by pair and part."""
    draw, found = random.Random(seed), []
    for pair in range(PAIRS):
        parts = [
            {v: draw.choice((0, 1, 1, 2, 3, 6)) for v in range(1, VALUES + 1)} for _ in range(2)
        ]
        if not all(any(part.values()) for part in parts):
            continue
        together = {v: parts[0][v] + parts[1][v] for v in parts[0]}
        for name, part in zip("abu", [*parts, together], strict=True):
            found += [(f"{pair}{name}", v, n) for v, n in part.items() if n]
    return found


def name_of(model: Model) -> str:
    return model.label


@pytest.mark.parametrize("model", MEASURES, ids=name_of)
def test_one_group_of_two_that_satisfy_a_model_satisfies_it(db: Any, model: Model) -> None:
    conn = db.admin
    conn.execute("CREATE TABLE public.histogram (g text, value int, n bigint)")
    conn.execute(
        "CREATE TABLE public.whole (value int, position int, n bigint, share float8, domain int)"
    )
    rows = histograms(7)
    with conn.cursor() as cursor:
        cursor.executemany("INSERT INTO public.histogram VALUES (%s, %s, %s)", rows)
    conn.execute(
        "INSERT INTO public.whole SELECT value, value, sum(n),"
        " sum(n) / (sum(sum(n)) over ())::float8, count(*) OVER ()"
        " FROM public.histogram WHERE g LIKE '%u' GROUP BY value"
    )
    reference = QualifiedName("public", "whole") if model.needs_reference else None
    tree = model.measure(QualifiedName("public", "histogram"), ["g"], reference)
    found = conn.execute(f"SELECT g, measure FROM ({render(tree)}) AS m".encode()).fetchall()
    measured = dict(found)
    pairs = {group[:-1] for group in measured}
    kept = [p for p in pairs if all(model.satisfied_by(float(measured[p + x])) for x in "ab")]
    assert model.merging_keeps
    assert len(kept) > 3  # else the parameter is so strict that nothing is tried
    assert all(model.satisfied_by(float(measured[f"{pair}u"])) for pair in kept)
    assert not all(model.satisfied_by(float(measured[f"{pair}a"])) for pair in pairs)


def test_every_model_of_classes_is_tried() -> None:
    tried = {model.name for model in MEASURES}
    declared = {name for name in dir(frequency) + dir(likeness) if name[0].isupper()}
    known = {
        getattr(module, name).name
        for module in (frequency, likeness)
        for name in declared
        if isinstance(getattr(module, name, None), type)
        and issubclass(getattr(module, name), Model)
    }
    named = {model.model_fields["model"].annotation.__args__[0] for model in MODELS}
    assert (known & named) - {"slicing_l_diversity", "local_bucket_diversity"} <= tried


class Fewer(frequency.KAnonymity):
    """A class holds fewer than 4 records: larger ones are worse."""

    merging_keeps: ClassVar[bool] = False

    def holds(self, measure: Any) -> Any:
        return measure < 4


def test_without_it_one_class_of_all_decides_nothing(
    db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All records as one class miss such a model, and its groups may satisfy it."""
    make_table(
        db.connect("source_owner"), {"q": "integer", "s": "integer"}, [(n, 1) for n in range(4)]
    )
    declared = policy({"q": "q", "s": "s"}, 2)
    monkeypatch.setattr(frequency.KAnonymity, "measures", lambda model: (Fewer.of(model.k),))
    publish(db, declared)
    monkeypatch.setattr(Fewer, "merging_keeps", True)
    with refused("infeasible"):
        publish(db, {**declared, "release": "again", "republication": "allow"})
