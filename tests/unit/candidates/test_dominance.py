"""Which candidates are beaten, against the definition in plain Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pganon.candidates.dominance import Measured, beaten, dominates

FIGURES = st.sampled_from(
    [0.0, 0.99, 1.0, 1.01, 1.015, 1.02, 1.0201, 1.03, 1.05, 2.0, float("inf")]
)


RISKS = (("highest", "mean"), ("highest", "mean", "t"), ("l",))
LOSSES = (("classes",), ("classes", "error"), ("buckets", "error"))


def _measured(
    risk: tuple[str, ...], loss: tuple[str, ...], figures: list[float], admissible: bool
) -> Measured:
    of_risk, of_loss, suppressed = figures[:3], figures[3:5], figures[5]
    return Measured(
        dict(zip(risk, of_risk, strict=False)),
        dict(zip(loss, of_loss, strict=False)),
        {"suppressed": suppressed},
        admissible,
    )


MEASURED = st.builds(
    _measured,
    st.sampled_from(RISKS),
    st.sampled_from(LOSSES),
    st.lists(FIGURES, min_size=6, max_size=6),
    st.booleans(),
)


def better(one: Measured, other: Measured) -> bool:
    """The definition: no column 2 % worse, one of them 2 % better, of figures of both."""
    if set(one.risk) != set(other.risk) or not set(one.loss) & set(other.loss):
        return False
    if other.admissible and not one.admissible:
        return False
    mine = {**one.risk, **one.loss, **one.beside}
    theirs = {**other.risk, **other.loss, **other.beside}
    columns = [key for key in mine if key in theirs]
    worse = [key for key in columns if mine[key] > theirs[key] * 1.02]
    gains = [key for key in columns if mine[key] * 1.02 < theirs[key]]
    return not worse and bool(gains)


@given(MEASURED, MEASURED)
def test_one_and_another(one: Measured, other: Measured) -> None:
    assert dominates(one, other) == better(one, other)
    assert not (dominates(one, other) and dominates(other, one))
    assert not dominates(one, one)


def circular(candidates: list[Measured], start: int, end: int) -> bool:
    """Whether a chain of better ones leads from one candidate to another."""
    seen: set[int] = set()
    ahead = [start]
    while ahead:
        number = ahead.pop()
        found = {
            n for n, other in enumerate(candidates) if better(candidates[number], other)
        } - seen
        seen |= found
        ahead += found
    return end in seen


@given(st.lists(MEASURED, max_size=5))
def test_all_of_them(candidates: list[Measured]) -> None:
    by = beaten(candidates)
    for number, one in enumerate(candidates):
        winners = [
            n
            for n, other in enumerate(candidates)
            if better(other, one) and not circular(candidates, number, n)
        ]
        assert by.get(number) == (winners[0] if winners else None)
    assert len(by) < len(candidates) or not candidates


def of(*figures: float, **others: bool) -> Measured:
    highest, loss, error = figures
    return Measured({"highest": highest}, {"classes": loss, "error": error}, {}, **others)


def test_a_circle_of_small_differences_beats_nobody() -> None:
    circle = [of(1, 1.03, 1.015), of(1.015, 1, 1.03), of(1.03, 1.015, 1)]
    assert all(dominates(circle[n], circle[n - 1]) for n in range(3))
    assert beaten(circle) == {}
    assert beaten([*circle, of(0.5, 0.5, 0.5)]) == {0: 3, 1: 3, 2: 3}


def test_what_is_above_the_limit_beats_nothing_below_it() -> None:
    above, below = of(0.0901, 0.1, 0.1, admissible=False), of(0.09, 0.5, 0.5)
    assert beaten([above, below]) == {}
    assert beaten([above, of(0.2, 0.5, 0.5, admissible=False)]) == {1: 0}


def test_losses_of_different_forms_are_not_compared() -> None:
    classes = Measured({"l": 1}, {"classes": 0.9, "error": 0.1}, {})
    buckets = Measured({"l": 1}, {"buckets": 0.1, "error": 0.1}, {})
    assert beaten([classes, buckets]) == {}
    fewer = Measured({"l": 1}, {"buckets": 0.1, "error": 0.05}, {})
    assert beaten([classes, fewer]) == {0: 1}
    alone = Measured({"l": 1}, {"clusters": 0.1}, {"suppressed": 0})
    assert beaten([Measured({"l": 1}, {"classes": 0.9}, {"suppressed": 0.5}), alone]) == {}


def test_stricter_is_not_beaten_by_looser() -> None:
    """Who varies l wants to see what it costs."""
    loose = Measured({"highest": 0.05, "l": 1 / 2}, {"classes": 0.1}, {})
    strict = Measured({"highest": 0.05, "l": 1 / 4}, {"classes": 0.2}, {})
    assert beaten([loose, strict]) == {}
