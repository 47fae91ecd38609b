"""What speaks against a model before any search (Wang, Du, Luo and Li 2019)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from pganon.search.hitting_sets import hits_within, minimum_hitting_set
from pganon.search.identity.models import EIRL, IRKL, IRAlphaBeta, Person


def obstacle(people: Sequence[Person], model: IRKL | EIRL | IRAlphaBeta) -> str | None:
    """Why no class of these individuals can satisfy the model; None if that is not known.

    Certain for the monotone models, which the class of all satisfies if any does. For (alpha,
    beta) these are necessary conditions, to be asked after :func:`hopeless`.

    Raises:
        SearchTooLarge: the minimum hitting set could not be found.
    """
    if isinstance(model, EIRL):
        return _too_easily_hit(people, model.l)
    values = len(set().union(*(person.counts for person in people)))
    if isinstance(model, IRKL):
        return _too_few(people, values, model)
    return _too_concentrated(people, values, model)


def _too_easily_hit(people: Sequence[Person], l: int) -> str | None:  # noqa: E741
    family = {frozenset(person.counts) for person in people}
    if hits_within(family, l - 1) is None:
        return None
    return (
        f"cannot satisfy EIR l-diversity: l = {l}, but the minimum hitting set over all "
        f"individuals has size {len(minimum_hitting_set(family))}"
    )


def _too_few(people: Sequence[Person], values: int, model: IRKL) -> str | None:
    if len(people) >= model.k and values >= model.l:
        return None
    return (
        f"cannot satisfy IR (k,l): k = {model.k}, l = {model.l}, but the data has "
        f"{len(people)} individuals and {values} sensitive values"
    )


def _too_concentrated(people: Sequence[Person], values: int, model: IRAlphaBeta) -> str | None:
    needed = [("alpha", model.alpha, "individuals", len(people))]
    if model.individuals:
        needed.append(("beta", model.beta, "individuals", len(people)))
    needed.append(("beta", model.beta, "distinct sensitive values", values))
    for name, share, what, number in needed:
        if number < math.ceil(1 / share):
            return (
                f"cannot satisfy (alpha, beta): {name} = {float(share):g} needs at least "
                f"{math.ceil(1 / share)} {what}, found {number}"
            )
    if model.individuals and forced_suppressions(people, model.beta) >= len(people):
        return f"cannot satisfy (alpha, beta): beta = {float(model.beta):g} suppresses everybody"
    return None


def hopeless(people: Sequence[Person], alpha: Fraction) -> list[int]:
    """Places of individuals with more than alpha of all records, of what is left again and again.

    No class can hold them, so they are suppressed. Ascending.
    """
    by_records = sorted(range(len(people)), key=lambda at: -people[at].records)
    left = sum(person.records for person in people)
    found: list[int] = []
    for at in by_records:
        # The others have fewer, so they are not hopeless unless this one is.
        if people[at].records <= alpha * left:
            break
        left -= people[at].records
        found.append(at)
    return sorted(found)


def forced_suppressions(people: Sequence[Person], beta: Fraction) -> int:
    """Fewest individuals to suppress so that no value has more than beta of those left (EIR).

    A lower bound of what any method suppresses.
    """
    holders = Counter(value for person in people for value in person.counts)
    most = max(holders.values(), default=0)
    if beta == 1:
        return 0
    return max(0, math.ceil((most - beta * len(people)) / (1 - beta)))
