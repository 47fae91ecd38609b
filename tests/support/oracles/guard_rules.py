"""What a cell must keep, from the definitions of the models, given its bounds and own values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.support.oracles import definitions

Shares = Mapping[str, Fraction]


@dataclass(frozen=True)
class Cell:
    """At most and at least so many of `size` people have a value; `own` is None if not known.

    Attributes:
        past: how many can have had one of the values before they changed; None if nobody did.
        past_own: so many different ones at least.
    """

    size: int
    most: Mapping[str, int]
    least: Mapping[str, int]
    own: Sequence[str] | None
    past: int | None = None
    past_own: int | None = None

    @property
    def told(self) -> bool:
        """Whether values were published of them."""
        return bool(self.most) or self.past is not None

    @property
    def likeliest(self) -> Fraction:
        return Fraction(max([*self.most.values(), self.past or 0]), self.size)


def alpha(cell: Cell, limit: Fraction) -> bool:
    return cell.likeliest <= limit


def frequency_l(cell: Cell, l: int) -> bool:  # noqa: E741
    return l * cell.likeliest <= 1


def distinct_l(cell: Cell, l: int) -> bool:  # noqa: E741
    now = [1 if cell.own is None else len(set(cell.own))] if cell.most else []
    past = [cell.past_own or 1] if cell.past is not None else []
    return all(n >= l for n in now + past)


def _eras(cell: Cell, shares: Shares) -> list[Mapping[str, Fraction]]:
    """Largest shares of values; of the past any value may have been as frequent as one can."""
    now = {value: Fraction(n, cell.size) for value, n in cell.most.items()}
    found = [now] if cell.most else []
    if cell.past is not None:
        found.append(dict.fromkeys(shares, Fraction(cell.past, cell.size)))
    return found


def beta_basic(cell: Cell, beta: Fraction, shares: Shares) -> bool:
    return all(
        value in shares and (q - shares[value]) / shares[value] <= beta
        for era in _eras(cell, shares)
        for value, q in era.items()
        if q > shares.get(value, 0)
    )


def t_equal(cell: Cell, t: Fraction, shares: Shares) -> bool:
    return all(
        sum(max(Fraction(0), q - shares.get(value, 0)) for value, q in era.items()) <= t
        for era in _eras(cell, shares)
    )


def delta(cell: Cell, limit: float, shares: Shares) -> bool:
    if cell.past is not None:
        return False
    return all(
        cell.least.get(value, 0) > 0
        and max(abs(math.log(n[value] / cell.size / share)) for n in (cell.most, cell.least))
        < limit
        for value, share in shares.items()
    ) and set(cell.most) <= set(shares)


def entropy_l(cell: Cell, l: int) -> bool:  # noqa: E741
    """Only of values that nobody changed: what people had earlier is judged elsewhere."""
    return cell.own is not None and definitions.entropy_at_least(cell.own, l)
