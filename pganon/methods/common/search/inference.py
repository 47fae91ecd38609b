"""The deFinetti attack: naive Bayes, learned with EM from tables that only buckets link.

Kifer: Attacks on privacy and deFinetti's theorem, SIGMOD 2009. Who sees the quasi-identifiers of a
bucket beside its sensitive values does not see which belong together. Over many buckets it shows
all the same: where a value is in buckets with one kind of record more often than in others, it is
theirs. So every record starts with the shares of the values of its bucket. From these probabilities
follows how frequent every value of an attribute is among the records with a sensitive value; by
Bayes' rule, with attributes taken as independent of each other, follow new probabilities; and so
on. They always add up to one for a record, and to its count for a value of a bucket. Without the
latter, rounds end with one value for all records.

A second learner does the same with attributes joined to pairs that predict a sensitive value better
than each attribute does. Where a value is the sum of two attributes, neither predicts it and both
together do (semi-naive Bayes; Kononenko, EWSL 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pganon.steps.tasks import TaskResult

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RECORDS = 5_000
"""Most records by which pairs are chosen."""

ATTRIBUTES = 20
"""Most attributes of which pairs are made, in the order of the columns: there are 190 pairs."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Labels:
    """Kinds of the values of records, as codes from 0, with weights.

    Attributes:
        record: to which a kind belongs; a record may have several kinds.
        kind, weight: the kind, and how probable it is.
    """

    record: Ints
    kind: Ints
    weight: Floats


def joined(attributes: Sequence[Ints], pairs: Sequence[Pair]) -> list[Ints]:
    """The attributes, with both of a pair as one."""
    single = set(range(len(attributes))) - {at for pair in pairs for at in pair}
    return [
        *[attributes[at] for at in sorted(single)],
        *[_joint(attributes[one], attributes[other]) for one, other in pairs],
    ]


def _joint(one: Ints, other: Ints) -> Ints:
    return np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]


def telling(attributes: Sequence[Ints], labels: Labels) -> list[Pair]:
    """Pairs with more information than both attributes, and than any pair has by chance.

    The best ones come first, and every attribute is in one of them at most. What chance does is
    seen by attributes of other records.
    """
    if len(attributes) < 2:
        return []
    gains = _gains(_Sample.of(attributes, labels))
    least = max(abs(by_chance) for _, by_chance in gains.values())
    chosen: list[Pair] = []
    for pair in sorted(gains, key=lambda pair: (-gains[pair][0], pair)):
        if gains[pair][0] > least and not {at for other in chosen for at in other} & {*pair}:
            chosen.append(pair)
    return chosen


def _gains(sample: _Sample) -> dict[Pair, Floats]:
    """Information of every pair beyond that of its attributes: as they are, and by chance."""
    gains = [sample.excess(codes) for codes in sample.attributes]
    return {
        (i, j): sample.excess(_joint(sample.attributes[i], sample.attributes[j]))
        - gains[i]
        - gains[j]
        for i, j in combinations(range(len(gains)), 2)
    }


@dataclass(frozen=True)
class _Sample:
    """Some of the records.

    Attributes:
        others: two orders of the records, in which each has the attributes of another one.
    """

    attributes: list[Ints]
    labels: Labels
    others: tuple[Ints, Ints]

    @classmethod
    def of(cls, attributes: Sequence[Ints], labels: Labels) -> _Sample:
        step = -(-len(attributes[0]) // RECORDS)
        taken = labels.record % step == 0
        some = [codes[::step] for codes in attributes[:ATTRIBUTES]]
        random = np.random.default_rng(0)
        return cls(
            some,
            Labels(labels.record[taken] // step, labels.kind[taken], labels.weight[taken]),
            (random.permutation(len(some[0])), random.permutation(len(some[0]))),
        )

    def excess(self, codes: Ints) -> Floats:
        """Information beyond what an attribute seems to have by chance, of the records' own values
        and of those that other records have."""
        chance, again = (self._information(codes[order]) for order in self.others)
        return np.array([self._information(codes) - chance, again - chance])

    def _information(self, codes: Ints) -> float:
        """Mutual information of the attribute and the kind of value, in nats."""
        kinds = int(self.labels.kind.max()) + 1
        pairs, place = np.unique(
            codes[self.labels.record] * kinds + self.labels.kind, return_inverse=True
        )
        both = np.bincount(place, weights=self.labels.weight)
        code, kind = pairs // kinds, pairs % kinds
        apart = np.bincount(code, weights=both)[code] * np.bincount(kind, weights=both)[kind]
        return float((both * np.log(both * both.sum() / apart)).sum() / both.sum())


ROUNDS = 8
"""Most rounds of EM. Later ones make the reader surer, and rarely right more often."""

UNCHANGED = 1e-4
"""Largest change of a probability with which rounds end."""

RESCALINGS = 4
"""How often a round scales probabilities to the counts of the buckets and back to one per record.
"""

SMOOTHING = 10.0
"""Records with the shares of the whole table that are added to those of every sensitive value."""

MOST_VALUES = 50
"""Different values of a number or date above which neighbouring ones are taken as one."""

_LEAST = -600.0
"""Lowest logarithm of a probability relative to the likeliest one: exp() of it is above 0."""


@dataclass(frozen=True)
class Published:
    """Tables of n records that are linked by buckets.

    Attributes:
        bucket: of every record, from 0 and in this order.
        attributes: of every column that is known of a record, the value of each, as a code from 0.
        cell_bucket, cell_value, cell_count: the sensitive table, a row per bucket and value, in
            this order; values are codes from 0.
        cell_kind: values of the same kind are alike: what is learned of one holds for the others.
    """

    bucket: Ints
    attributes: Sequence[Ints]
    cell_bucket: Ints
    cell_value: Ints
    cell_count: Ints
    cell_kind: Ints


@dataclass(frozen=True)
class Candidates:
    """Every record with every value of its bucket, record by record.

    Attributes:
        record: number of the record.
        cell: number of the row of the sensitive table.
        first: where the candidates of each record begin.
    """

    record: Ints
    cell: Ints
    first: Ints

    @classmethod
    def of(cls, seen: Published) -> Candidates:
        cells = np.bincount(seen.cell_bucket)
        each = cells[seen.bucket]
        record = np.repeat(np.arange(len(seen.bucket)), each)
        first = np.cumsum(each) - each
        place = np.arange(len(record)) - first[record]
        return cls(record, (np.cumsum(cells) - cells)[seen.bucket][record] + place, first)

    @cached_property
    def each(self) -> Ints:
        """Number of candidates of every record."""
        return np.diff(self.first, append=len(self.record))

    def largest(self, values: Floats) -> Floats:
        """The largest of every record, for each of its candidates."""
        return np.repeat(np.maximum.reduceat(values, self.first), self.each)

    def total(self, values: Floats) -> Floats:
        """The sum of every record, for each of its candidates."""
        return np.repeat(np.add.reduceat(values, self.first), self.each)


class _Learned:
    """How frequent the values of one attribute are among the records with a sensitive value."""

    def __init__(self, seen: Published, candidates: Candidates, codes: Ints) -> None:
        kind = seen.cell_kind[candidates.cell]
        kinds = int(seen.cell_kind.max()) + 1
        # Only pairs that can be: there may be many values of both.
        pairs, self.pair = np.unique(codes[candidates.record] * kinds + kind, return_inverse=True)
        shares = np.bincount(codes) / len(codes)
        records = np.bincount(seen.cell_kind, weights=seen.cell_count)
        self.added = SMOOTHING * shares[pairs // kinds]
        self.among = records[pairs % kinds] + SMOOTHING

    def log_likelihood(self, probability: Floats) -> Floats:
        """Of every candidate, from the probabilities of all."""
        expected = np.bincount(self.pair, weights=probability, minlength=len(self.added))
        return np.log((expected + self.added) / self.among)[self.pair]


def posteriors(seen: Published, candidates: Candidates) -> Floats:
    """The probability of every candidate, for a reader who has the published tables alone."""
    count = seen.cell_count.astype(float)
    prior = count[candidates.cell]
    columns = [_Learned(seen, candidates, codes) for codes in seen.attributes]
    probability = prior / candidates.total(prior)
    for _ in range(ROUNDS):
        likely = np.log(prior)
        for column in columns:
            likely += column.log_likelihood(probability)
        likely -= candidates.largest(likely)
        before = probability
        probability = _fitted(np.exp(np.maximum(likely, _LEAST)), candidates, count)
        if np.abs(probability - before).max() < UNCHANGED:
            break
    return probability


def _fitted(weights: Floats, candidates: Candidates, count: Floats) -> Floats:
    """Scaled so that a record's add up to one, those of a value in a bucket nearly to its count."""
    weights = weights / candidates.total(weights)
    for _ in range(RESCALINGS):
        sums = np.bincount(candidates.cell, weights=weights, minlength=len(count))
        weights *= (count / sums)[candidates.cell]
        weights /= candidates.total(weights)
    return weights


# -- from rows of a release ---------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Columns of a row, in this order; all are whole numbers.

    Attributes:
        keys: how many say in which bucket a record is.
        on_line: for every attribute, whether its codes are in the order of the values; 0 is NULL.
        value_on_line: the same of the sensitive value, which comes last.
    """

    keys: int
    on_line: tuple[bool, ...]
    value_on_line: bool


def guesses(layout: Layout, rows: Sequence[tuple[Any, ...]]) -> TaskResult:
    """Rows (learner, posterior, right): of every record, how probable its likeliest value is for
    the reader, and whether it has that. Learner 1 is naive Bayes, 2 the same with pairs of
    attributes, if some predict more together.

    The attack takes from the sensitive column no more than what every bucket counts.
    """
    if not rows:
        return TaskResult([])
    ordered = _in_order(rows)
    keys = ordered[:, : layout.keys]
    starts = np.any(keys[1:] != keys[:-1], axis=1)
    bucket = np.concatenate(([0], np.cumsum(starts)))
    codes = _Codes.of(layout, ordered)
    seen = codes.published(bucket)
    candidates = Candidates.of(seen)
    count = seen.cell_count.astype(float)[candidates.cell]
    shares = count / candidates.total(count)
    labels = Labels(candidates.record, seen.cell_kind[candidates.cell], shares)

    def learned(pairs: Sequence[Pair]) -> Floats:
        return posteriors(codes.together(pairs).published(bucket), candidates)

    return _by_both(learned, telling(codes.attributes, labels), seen, candidates, codes.value)


def _in_order(rows: Sequence[tuple[Any, ...]]) -> Ints:
    table = np.array(rows, dtype=np.int64)
    # Sums depend in their last digits on the order in which the server gives rows.
    return table[np.lexsort(table.T[::-1])]


def _by_both(
    learned: Callable[[Sequence[Pair]], Floats],
    pairs: Sequence[Pair],
    seen: Published,
    candidates: Candidates,
    value: Ints,
) -> TaskResult:
    """Guesses with probabilities that are learned without pairs, and with them."""
    learners = [learned([]), *([learned(pairs)] if pairs else [])]
    return TaskResult(
        [
            (number, *guess)
            for number, probability in enumerate(learners, start=1)
            for guess in _best(seen, candidates, probability, value)
        ]
    )


def _best(
    seen: Published, candidates: Candidates, probability: Floats, value: Ints
) -> list[tuple[float, bool]]:
    """The likeliest candidate of every record, and whether it is the record's value."""
    best = np.flatnonzero(probability == candidates.largest(probability))
    record, first = np.unique(candidates.record[best], return_index=True)
    best = best[first]
    right = seen.cell_value[candidates.cell[best]] == value[record]
    return list(zip(probability[best].tolist(), right.tolist(), strict=True))


@dataclass(frozen=True)
class _Codes:
    """Codes from 0 without gaps: of every attribute, and of the value and its kind."""

    attributes: Sequence[Ints]
    value: Ints
    kind: Ints

    @classmethod
    def of(cls, layout: Layout, ordered: Ints) -> _Codes:
        attributes = [
            alike(ordered[:, layout.keys + i], on_line=on_line)
            for i, on_line in enumerate(layout.on_line)
        ]
        _, value = np.unique(ordered[:, -1], return_inverse=True)
        return cls(attributes, value, alike(ordered[:, -1], on_line=layout.value_on_line))

    def together(self, pairs: Sequence[Pair]) -> _Codes:
        return _Codes(joined(self.attributes, pairs), self.value, self.kind)

    def among(self, chosen: NDArray[np.bool_]) -> _Codes:
        attributes = [codes[chosen] for codes in self.attributes]
        return _Codes(attributes, self.value[chosen], self.kind[chosen])

    def published(self, bucket: Ints) -> Published:
        """Published tables of the records, which are in the order of their buckets."""
        values = int(self.value.max()) + 1
        cells, first, count = np.unique(
            bucket * values + self.value, return_index=True, return_counts=True
        )
        return Published(
            bucket=bucket,
            attributes=self.attributes,
            cell_bucket=cells // values,
            cell_value=cells % values,
            cell_count=count,
            cell_kind=self.kind[first],
        )


def alike(codes: Ints, *, on_line: bool) -> Ints:
    """Codes from 0 without gaps; neighbours on a line are one where there are too many values.

    Each takes about as many records. Equal values stay together, and 0, which is NULL, and what is
    below it alone.
    """
    values, code, count = np.unique(codes, return_inverse=True, return_counts=True)
    if not on_line or len(values) <= MOST_VALUES:
        return code
    place = np.cumsum(count) - count
    piece = np.where(values <= 0, values - 1, place * MOST_VALUES // len(codes))
    return np.unique(piece[code], return_inverse=True)[1]


# -- from records that show their value -----------------------------------------------------------

SHOWN = 0
"""In place of a bucket: the record shows its value."""

HIDDEN = -1
"""In place of the code of an attribute: the record hides its value."""


def taught_guesses(layout: Layout, rows: Sequence[tuple[Any, ...]]) -> TaskResult:
    """The same of the records in buckets, for who learns from those that show their value.

    Where people decide who hides a value, those who show it are labelled: how frequent every value
    of an attribute is among them is counted, not learned from buckets.
    """
    ordered = _in_order(rows) if rows else np.zeros((0, 1), dtype=np.int64)
    hidden = ordered[:, 0] != SHOWN
    if not hidden.any():
        return TaskResult([])
    codes = _Codes.of(layout, ordered)
    _, bucket = np.unique(ordered[hidden, 0], return_inverse=True)
    records, shown = codes.among(hidden), codes.among(~hidden)
    seen = records.published(bucket)
    candidates = Candidates.of(seen)

    def learned(pairs: Sequence[Pair]) -> Floats:
        every = codes.together(pairs)
        held = every.among(hidden).published(bucket)
        return _taught(held, candidates, every, every.among(~hidden))

    n = len(shown.value)
    labels = Labels(np.arange(n), shown.kind, np.ones(n))
    pairs = telling(shown.attributes, labels) if n else []
    return _by_both(learned, pairs, seen, candidates, records.value)


def _taught(seen: Published, candidates: Candidates, every: _Codes, shown: _Codes) -> Floats:
    """The probability of every candidate, by naive Bayes from the records of `shown`."""
    count = seen.cell_count.astype(float)
    kinds = int(every.kind.max()) + 1
    kind = seen.cell_kind[candidates.cell]
    among = np.bincount(shown.kind, minlength=kinds)[kind] + SMOOTHING
    prior = count[candidates.cell]
    likely = np.log(prior)
    for all_codes, taught, held in zip(
        every.attributes, shown.attributes, seen.attributes, strict=True
    ):
        shares = np.bincount(all_codes) / len(all_codes)
        counted = np.bincount(taught * kinds + shown.kind, minlength=len(shares) * kinds)
        values = held[candidates.record]
        likely += np.log((counted[values * kinds + kind] + SMOOTHING * shares[values]) / among)
    likely -= candidates.largest(likely)
    return _fitted(np.exp(np.maximum(likely, _LEAST)), candidates, count)
