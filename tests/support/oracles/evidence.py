"""Evidence of a release by its definitions, from rows of the source and of what was published.

Whoever may have several records is given by a name; without names every row is somebody else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import date
from fractions import Fraction
from itertools import accumulate
from typing import Any

import pytest

Holders = Mapping[Hashable, set[Hashable]]
"""Who has a value."""


def everybody_else(values: Iterable[Any]) -> dict[Hashable, set[Hashable]]:
    """Holders of values of which each is of somebody else."""
    found: dict[Hashable, set[Hashable]] = defaultdict(set)
    for place, value in enumerate(values):
        found[value].add(place)
    return found


def check_sizes(found: Mapping[str, Any], sizes: Iterable[int], smallest: int) -> None:
    """Of groups, which have people."""
    held = list(sizes)
    assert (found["groups"], found["smallest"], found["largest"]) == (
        len(held),
        min(held),
        max(held),
    )
    check_counted(found, Counter({n: n * times for n, times in Counter(held).items()}), smallest)
    told, counts = [0, sum(held)], dict[str, int]()
    for limit in found["above"]:
        counts[limit] = sum(n for n in held if Fraction(1, n) > Fraction(limit))
    for name, n in [*counts.items(), ("alone", held.count(1))]:
        shown = all(n == one or abs(n - one) >= smallest for one in told)
        of = found["alone"] if name == "alone" else found["above"][name]
        assert of == (n if shown else None), name
        told += [n] if shown else []
    for upto in accumulate(one["people"] for one in found["bins"]):
        assert all(upto == one or abs(upto - one) >= smallest for one in told)


def check_chances(
    among: Mapping[str, Any], picked: Iterable[tuple[int, int]], smallest: int
) -> None:
    """Of a population: for every class its records, and of how many people one is picked."""
    held = [(n, Fraction(1, max(1, people))) for n, people in picked]
    highest = max(chance for _, chance in held)
    assert among["highest"] == pytest.approx(float(highest))
    people = round(Fraction(sum(n for n, _ in held), smallest)) * smallest
    steps = round(sum(n * chance for n, chance in held) / (smallest * highest))
    mean = steps * smallest * highest / people
    assert among["mean"] == (pytest.approx(float(mean)) if mean else None)


def check_counted(found: Mapping[str, Any], people: Counter[int], smallest: int) -> None:
    """Of people by a number."""
    assert found["people"] == people.total()
    assert found["smallest"] == min(people)
    assert sum(one["people"] for one in found["bins"]) == people.total()
    for one in found["bins"]:
        last = float("inf") if one["to"] is None else one["to"]
        assert one["people"] == sum(n for at, n in people.items() if one["from"] <= at <= last)
        assert one["people"] == 0 or one["people"] >= smallest


def check_values(
    found: Mapping[str, Any],
    groups: Mapping[Any, Counter[Any]],
    holders: Holders,
    smallest: int,
    totals: Mapping[Any, int] | None = None,
    fewest: int | None = None,
) -> None:
    """Of a sensitive column.

    Args:
        groups: of every group how many have a value.
        totals: its people, where some of them have several values.
        fewest: records that are of so many people at least, where records are counted.
    """
    fewest = smallest if fewest is None else fewest
    sizes = {key: c.total() for key, c in groups.items()} if totals is None else totals
    people = sum(sizes.values())
    commonest = [(max(c.values()), sizes[key]) for key, c in groups.items()]
    assert found["most"] == pytest.approx(max(n / total for n, total in commonest))
    most = sum(n for n, _ in commonest)
    told = most == people or people - most >= fewest
    assert found["mean"] == (pytest.approx(most / people) if told else None)
    for one in found["bins"]:
        inside = [t for n, t in commonest if one["from"] < n / t <= one["to"] + 1e-12]
        assert one["people"] == sum(inside)
        assert one["people"] == 0 or one["people"] >= fewest
    whole = Counter[Any]()
    highest: dict[Any, float] = defaultdict(float)
    for key, counted in groups.items():
        whole += counted
        for value, n in counted.items():
            highest[value] = max(highest[value], n / sizes[key])
    for one in found["values"]:
        assert one["share"] == pytest.approx(whole[one["value"]] / people, abs=1e-6)
        assert one["highest"] == pytest.approx(highest[one["value"]], abs=1e-6)
        assert len(holders[one["value"]]) >= smallest
    hidden = set(whole) - {one["value"] for one in found["values"]}
    assert bool(hidden) == bool(found["others"])
    if not hidden:
        return
    check_others(found["others"], hidden, holders, smallest)
    theirs: float = sum(whole[value] for value in hidden)
    if totals is not None:
        theirs = len(set().union(*(holders[value] for value in hidden)))
    assert found["others"]["share"] == pytest.approx(theirs / people)
    worst = max(highest[value] / (whole[value] / people) for value in hidden)
    over = found["others"]["times_over"]
    assert next(t for t in (100, 50, 20, 10, 5, 0) if worst > t) == (over or 0)


def check_others(
    found: Mapping[str, Any], hidden: set[Any], holders: Holders, smallest: int
) -> None:
    """Values without a name are several, of enough people, and no more than it takes."""
    assert found["values"] == len(hidden) >= 2
    assert len(set().union(*(holders[value] for value in hidden))) >= smallest
    for value in set(holders) - hidden:
        assert len(holders[value]) >= smallest


def check_distribution(
    found: Mapping[str, Any],
    values: Counter[Any],
    spread: Mapping[Any, float],
    holders: Holders,
    smallest: int,
) -> None:
    """Of a quasi-identifier.

    Args:
        values: of the records of the source.
        spread: records of the release, each spread over the values that it may have.
    """
    bins, others = found["bins"], found.get("others")
    records, released = values.total(), sum(spread.values())
    if found["kind"] == "steps":
        # Who has none is in no step.
        records -= values[None]
        released -= spread.get(None, 0.0)
    seen: set[Any] = set()
    for one in bins:
        inside = {value for value in values if within(one, value)}
        seen |= inside
        assert one["source"] == pytest.approx(sum(values[v] for v in inside) / records, abs=1e-4)
        shown = sum(spread.get(v, 0.0) for v in inside) / released
        assert one["release"] == pytest.approx(shown, abs=1e-4)
        assert not inside or len(set().union(*(holders[v] for v in inside))) >= smallest
    hidden = set(values) - seen
    if found["kind"] == "steps":
        assert hidden <= {None} or not bins
        return
    if not bins:
        assert (others, found["largest_error"]) == (None, None)
        return
    assert bool(hidden) == bool(others)
    if others:
        check_others(others, hidden, holders, smallest)
        share = sum(spread.get(v, 0.0) for v in hidden) / released
        assert others["release"] == pytest.approx(share, abs=1e-4)
    every = [*bins, *([others] if others else [])]
    largest = max(abs(one["source"] - one["release"]) for one in every)
    assert found["largest_error"] == pytest.approx(largest, abs=1e-4)


def within(one: Mapping[str, Any], value: Any) -> bool:
    """Whether a bin has the value; dates are counted in years."""
    if "value" in one:
        return one["value"] == value
    if value is None:
        return False
    place = value.year if isinstance(value, date) else value
    after = one["from"] is None or place >= one["from"]
    return after and (one["below"] is None or place < one["below"])


Shown = tuple[Callable[[Any], bool], float]
"""Whether what is shown covers a value, and how wide it is."""


def check_attribute(
    found: Mapping[str, Any],
    shown: Iterable[tuple[Shown, int]],
    source: Iterable[Any],
    smallest: int,
    exactly: float,
    holders: Holders | None = None,
) -> None:
    """Of a quasi-identifier.

    Args:
        shown: what is shown of groups, each with its records.
        source: its values, of those who show it.
        exactly: how wide it is where one value is shown.
    """
    every = list(source)
    values = Counter(every)
    spread: dict[Any, float] = defaultdict(float)
    exact = wide = records = 0.0
    for (holds, width), n in shown:
        covered = [value for value in values if holds(value)]
        records, exact, wide = records + n, exact + n * (width == exactly), wide + n * width
        for value in covered:
            spread[value] += n / len(covered)
    assert found["exact"] == pytest.approx(exact / records, abs=1e-6)
    assert found["width"] == pytest.approx(wide / records, abs=1e-4)
    held = everybody_else(every) if holders is None else holders
    check_distribution(found["distribution"], values, spread, held, smallest)


def leaves(found: Any) -> Iterator[Any]:
    """All that a document says."""
    if isinstance(found, Mapping):
        found = list(found.values())
    if not isinstance(found, list):
        yield found
        return
    for one in found:
        yield from leaves(one)
