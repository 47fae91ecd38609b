"""After versions that the rule accepts, no value is likelier than its share in one group (T1)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from pganon.history import rule
from tests.support.oracles.rule import blocks, eras, posteriors, random_history, worlds


def violations(seeds: range) -> tuple[int, int]:
    """Posteriors that were looked at, and those above the share in the first group."""
    looked = above = 0
    for seed in seeds:
        random = Random(seed)
        history = random_history(random, people=random.randint(3, 5), versions=3, accepted=True)
        known = eras(history)
        if len(history) < 2 or len({(p, n, e) for (_, p, n), e in known.items()}) > 11:
            continue
        inside = blocks(history)
        for ((person, name, era), value), found in posteriors(
            history, worlds(history), random
        ).items():
            place, group = inside[person]
            if name not in group.people[person]:
                # What a later version shows of the same people.
                place = min(
                    at for (at, p, n), e in known.items() if (p, n, e) == (person, name, era)
                )
                group = next(g for g in history[place].groups if person in g.people)
            if known.get((place, person, name)) != era:
                continue
            counted = Counter(values[name] for values in group.people.values())
            looked += 1
            above += found > counted[value] / len(group.people) + 1e-9
    return looked, above


def test_no_posterior_is_above_the_share_in_a_group() -> None:
    looked, above = violations(range(300))
    assert looked > 500
    assert above == 0


@pytest.mark.slow
def test_no_posterior_is_above_the_share_in_many_histories() -> None:
    looked, above = violations(range(300, 6000))
    assert looked > 10_000
    assert above == 0


def _always(value: bool) -> property:
    return property(lambda self: value)


def _is_one(met: rule._Met) -> bool:  # pyright: ignore
    return len(met.olds) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "dropped"),
    [
        ("changed", _always(value=False)),
        ("covered", _always(value=True)),
        ("is_one", property(_is_one)),
        ("whole", _always(value=True)),
    ],
)
def test_every_part_is_needed(
    monkeypatch: pytest.MonkeyPatch, part: str, dropped: property
) -> None:
    monkeypatch.setattr(rule._Met, part, dropped)  # pyright: ignore
    _, above = violations(range(3000))
    assert above > 0
