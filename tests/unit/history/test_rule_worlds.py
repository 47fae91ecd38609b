"""After versions that the rule accepts, no value is likelier than its share in one group (T1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.support.oracles import verdicts as rule
from tests.support.oracles.rule import (
    PARTS,
    Seen,
    blocks,
    eras,
    posteriors,
    random_history,
    worlds,
)

MOST_ERAS = 11


def judged(seed: int, readers: int, without: str = "") -> Iterator[bool]:
    """Of posteriors of one history: whether they are above the share in the first group."""
    random = Random(seed)
    found = random_history(
        random,
        people=random.randint(3, 5),
        versions=random.randint(2, 4),
        accepted=True,
        readers=readers,
        without=without,
    )
    for reader in range(readers):
        mine = [seen for seen in found if reader in seen.readers]
        if len(mine) > 1:
            yield from _above(mine, reader, random)


def _above(history: list[Seen], reader: int, random: Random) -> Iterator[bool]:
    known = eras(history)
    if len({(p, n, e) for (_, p, n), e in known.items()}) > MOST_ERAS:
        return
    inside = blocks(history, reader)
    for ((person, name, era), value), found in posteriors(
        history, reader, worlds(history), random
    ).items():
        if person not in inside:
            continue
        place, group = inside[person]
        if name not in group.people[person] or known[place, person, name] != era:
            continue
        counted = Counter(values[name] for values in group.people.values())
        yield found > counted[value] / len(group.people) + 1e-9


def looked(seeds: range, readers: int = 1) -> int:
    """Posteriors of histories, of which none is above."""
    found = [above for seed in seeds for above in judged(seed, readers)]
    assert not any(found)
    return len(found)


@pytest.mark.parametrize("readers", [1, 2])
def test_no_posterior_is_above_the_share_in_a_group(readers: int) -> None:
    assert looked(range(200), readers) > 300


@pytest.mark.slow
@pytest.mark.parametrize("readers", [1, 2, 3])
def test_no_posterior_is_above_the_share_in_many_histories(readers: int) -> None:
    assert looked(range(200, 6000), readers) > 10_000


def is_needed(seeds: range, readers: int = 1, without: str = "") -> bool:
    """Whether some posterior is above."""
    return any(above for seed in seeds for above in judged(seed, readers, without))


def _always(*, value: bool) -> property:
    return property(lambda self: value)


SEEDS = range(20_000)


@pytest.mark.parametrize(
    ("part", "dropped"),
    [
        ("changed", _always(value=False)),
        pytest.param("covered", _always(value=True), marks=pytest.mark.slow),
        ("is_one", property(lambda self: len(self.olds) == 1)),
        ("whole", _always(value=True)),
    ],
)
def test_a_part_of_the_rule_that_is_dropped(
    monkeypatch: pytest.MonkeyPatch, part: str, dropped: property
) -> None:
    monkeypatch.setattr(rule._Overlap, part, dropped)  # pyright: ignore
    assert is_needed(SEEDS)


def test_who_is_left_out_must_be_whole_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "_of_left_out", lambda met: rule.Verdict())
    assert is_needed(SEEDS)


def test_a_published_distribution_is_judged_as_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    held = rule._verdict  # pyright: ignore

    def verdict(group: rule.Group, *others: Any) -> rule.Verdict:
        return rule.Verdict() if group.left_out and group.shown else held(group, *others)

    monkeypatch.setattr(rule, "_verdict", verdict)
    assert is_needed(SEEDS)


@pytest.mark.slow
def test_a_function_is_one_for_who_has_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    """For others it is a group like any other."""
    overlap = rule._overlap  # pyright: ignore
    every = set(range(100))
    monkeypatch.setattr(
        rule, "_overlap", lambda group, new, version, had: overlap(group, new, version, every)
    )
    assert is_needed(SEEDS, readers=2)


@pytest.mark.parametrize(
    ("without", "readers"),
    [(name, 2 if name == "gained" else 1) for name in PARTS],
)
@pytest.mark.slow
def test_what_a_history_needs(without: str, readers: int) -> None:
    assert is_needed(SEEDS, readers, without)
