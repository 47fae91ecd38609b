"""What is guessed by a model that learned from the source without its targets.

It knows of strangers what analysts are to learn. What it guesses, a release does not give away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from sqlglot import exp

from pganon.attacks.curve import Guesses
from pganon.attacks.inference import digest
from pganon.attacks.people import KNOWN
from pganon.resolved.model import Attribute, ReleaseSpec, Scale, Sensitive
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State

LEARNS = find_spec("sklearn") is not None

MOST_RECORDS = 50_000
MOST_VALUES = 100
FEWEST_EACH = 10
"""What is learned: the most frequent values, of so many records each at least."""

_MOST_CATEGORIES = 255
"""That the model can tell apart without an order."""


def records(spec: ReleaseSpec, item: Sensitive, state: State, held: int, number: int) -> exp.Select:
    """SELECT learned, digest of the value, and for each quasi-identifier the place of its value: a
    record of each target, and of everybody else who was not held out."""
    tree = query(
        "select k.place > :held as learned, :v from k"
        " where k.first and (k.place <= :number or k.place > :held) order by k.place limit :most",
        {"k": state.work(KNOWN)},
        held=num(held),
        number=num(number),
        most=num(number + MOST_RECORDS),
        v=digest(state, col(f"v{item.index}", "k")),
    )
    for a in spec.attributes:
        value: exp.Expr = col(f"q{a.index}", "k")
        if a.hidden is not None:
            value = fragment("case when not :f then :q end", f=col(a.hidden.flag, "k"), q=value)
        place = fragment(
            "case when :q is not null then dense_rank() over (order by :q) - 1 end", q=value
        )
        tree = tree.select(named(place, f"c{a.index}"))
    return tree if item.hidden is None else tree.where(col(item.hidden.flag, "k"))


def guesses(
    rows: Sequence[tuple[Any, ...]], attributes: Sequence[Attribute], seed: int
) -> list[Guesses]:
    """Of the targets; none where there is nothing to be learned."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    often = Counter(row[1] for row in rows if row[0]).most_common(MOST_VALUES)
    learned = sorted(value for value, n in often if n >= FEWEST_EACH)
    if len(learned) < 2:
        return []
    places = np.array([row[2:] for row in rows], dtype=float)
    labels = np.array([row[1] for row in rows], dtype=object)
    training = np.array([row[0] for row in rows])
    nominal = [
        a.scale is not Scale.ORDERED
        and not a.ranged
        and np.nanmax(column, initial=0) < _MOST_CATEGORIES
        for a, column in zip(attributes, places.T, strict=True)
    ]
    known = training & np.isin(labels, learned)
    how: Any = {"categorical_features": nominal, "early_stopping": True, "random_state": seed}
    model = HistGradientBoostingClassifier(**how)
    # Threads that wait for each other take longer than one, and add up in any order.
    with threadpool_limits(1):
        model.fit(places[known], np.searchsorted(learned, labels[known]))
        shares = model.predict_proba(places[~training]).round(9)
    found: dict[tuple[str, float], list[bool]] = {}
    for label, share in zip(labels[~training], shares, strict=True):
        guess = learned[share.argmax()]
        found.setdefault((guess, float(share.max())), []).append(guess == label)
    return [Guesses(*key, len(right), sum(right)) for key, right in sorted(found.items())]
