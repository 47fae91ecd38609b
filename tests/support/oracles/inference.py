"""The deFinetti attack in plain Python, as docs/reference/measures.md defines it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

ROUNDS, RESCALINGS, SMOOTHING, UNCHANGED = 8, 4, 10.0, 1e-4

Posterior = dict[Any, float]


@dataclass(frozen=True)
class Record:
    """What is known of a record: its bucket, and the values of its attributes."""

    bucket: Hashable
    values: tuple[Any, ...]


def posteriors(
    records: Sequence[Record], counts: dict[Hashable, Counter[Any]], kinds: dict[Any, Any]
) -> list[Posterior]:
    """The probability of every value of its bucket, for each record.

    Who takes two attributes as one has both in one of the values of a record.

    Args:
        counts: records per sensitive value of every bucket.
        kinds: what is learned of one value holds for all of its kind.
    """
    kind_sizes: Counter[Any] = Counter()
    for held in counts.values():
        for value, n in held.items():
            kind_sizes[kinds[value]] += n
    shares = [Counter(values) for values in zip(*[r.values for r in records], strict=True)]
    found = [
        {v: n / counts[r.bucket].total() for v, n in counts[r.bucket].items()} for r in records
    ]
    for _ in range(ROUNDS):
        expected: list[dict[Any, float]] = [defaultdict(float) for _ in shares]
        for record, one in zip(records, found, strict=True):
            for place, known in enumerate(record.values):
                for value, p in one.items():
                    expected[place][known, kinds[value]] += p
        new = []
        for record in records:
            logs = {}
            for value, n in counts[record.bucket].items():
                logs[value] = math.log(n)
                for place, known in enumerate(record.values):
                    seen = expected[place][known, kinds[value]]
                    seen += SMOOTHING * shares[place][known] / len(records)
                    logs[value] += math.log(seen / (kind_sizes[kinds[value]] + SMOOTHING))
            top = max(logs.values())
            new.append(_one({v: math.exp(log - top) for v, log in logs.items()}))
        for _ in range(RESCALINGS):
            new = _scaled(records, counts, new)
        change = max(abs(a[v] - b[v]) for a, b in zip(new, found, strict=True) for v in a)
        found = new
        if change < UNCHANGED:
            break
    return found


def taught(
    records: Sequence[Record],
    counts: dict[Hashable, Counter[Any]],
    kinds: dict[Any, Any],
    shown: Sequence[tuple[tuple[Any, ...], Any]],
) -> list[Posterior]:
    """The same for who counts among records that show (values of their attributes, their value)."""
    every = [*[record.values for record in records], *[values for values, _ in shown]]
    found = []
    for record in records:
        logs = {}
        for value, n in counts[record.bucket].items():
            like = [values for values, own in shown if kinds[own] == kinds[value]]
            logs[value] = math.log(n)
            for place, known in enumerate(record.values):
                share = sum(values[place] == known for values in every) / len(every)
                seen = sum(values[place] == known for values in like)
                logs[value] += math.log((seen + SMOOTHING * share) / (len(like) + SMOOTHING))
        top = max(logs.values())
        found.append(_one({v: math.exp(log - top) for v, log in logs.items()}))
    for _ in range(RESCALINGS):
        found = _scaled(records, counts, found)
    return found


def _one(weights: Posterior) -> Posterior:
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


def _scaled(
    records: Sequence[Record], counts: dict[Hashable, Counter[Any]], found: list[Posterior]
) -> list[Posterior]:
    sums: Counter[Any] = Counter()
    for record, one in zip(records, found, strict=True):
        for value, p in one.items():
            sums[record.bucket, value] += p  # pyright: ignore[reportArgumentType]
    return [
        _one({v: p * counts[r.bucket][v] / sums[r.bucket, v] for v, p in one.items()})
        for r, one in zip(records, found, strict=True)
    ]


@dataclass(frozen=True)
class Figures:
    """As the product reports them; `accuracy` and `share` lie between two bounds where the
    likeliest values of a record are equally likely."""

    confidence: float
    above: float
    accuracy: tuple[float, float]
    share: tuple[float, float]


def figures(found: Sequence[Posterior], truth: Sequence[Any], limit: float) -> Figures:
    n = len(found)
    best = [max(one.values()) for one in found]
    candidates = [
        {v for v, p in one.items() if p >= top - 1e-9} for one, top in zip(found, best, strict=True)
    ]
    sure = [held == {value} for held, value in zip(candidates, truth, strict=True)]
    maybe = [value in held for held, value in zip(candidates, truth, strict=True)]
    return Figures(
        confidence=sum(best) / n,
        above=sum(p > limit for p in best) / n,
        accuracy=(sum(sure) / n, sum(maybe) / n),
        share=(borne_out(best, sure, limit), borne_out(best, maybe, limit)),
    )


def borne_out(best: Sequence[float], right: Sequence[bool], limit: float) -> float:
    """Share of the records that are told with more than `limit`, and are right as often."""
    share = 0.0
    for least in sorted(set(best), reverse=True):
        hits = [ok for p, ok in zip(best, right, strict=True) if p >= least]
        chance = 4 * math.sqrt(len(hits) * limit * (1 - limit))
        if least > limit and sum(hits) > len(hits) * limit + chance:
            share = max(share, len(hits) / len(best))
    return share


def advantage(accuracy: float, n: int, allowed: float) -> float:
    """The lower end of Wilson's interval, three standard deviations wide, beyond what is allowed.

    It is where the standard error of guesses just explains how far the accuracy is above it.
    """
    guesses, low, high = n * (1 - allowed), 0.0, accuracy
    for _ in range(100):
        middle = (low + high) / 2
        if accuracy - middle > 4 * math.sqrt(middle * (1 - middle) / guesses):
            low = middle
        else:
            high = middle
    return max(0.0, (low - allowed) / (1 - allowed))


def measured(
    records: Sequence[Record],
    truth: Sequence[Any],
    limit: float,
    kinds: dict[Any, Any] | None = None,
) -> Figures:
    """The figures of an attack on records of which the steward knows the values."""
    counts: dict[Hashable, Counter[Any]] = defaultdict(Counter)
    for record, value in zip(records, truth, strict=True):
        counts[record.bucket][value] += 1
    return figures(posteriors(records, counts, kinds or {v: v for v in truth}), truth, limit)


def pieces(values: Sequence[Any], most: int = 50) -> list[Any]:
    """Of numbers with more different values than `most`: stretches of about as many records."""
    if len(set(values)) <= most:
        return list(values)
    line = sorted((value is not None, value or 0) for value in values)
    first = {key: place for place, key in reversed(list(enumerate(line)))}
    return [None if value is None else first[True, value] * most // len(values) for value in values]
