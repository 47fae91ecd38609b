"""Versions beside which a version is judged where its policy takes columns to be independent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pganon.guard.independence import (
    Compared,
    associated_pairs,
    association_steps,
    components,
    shown_by,
    unshared,
)
from pganon.guard.replayed import population_by_id
from pganon.guard.told import Tell, Told
from pganon.plan.build import Plan
from pganon.publish.memory import About
from pganon.run.computation import Computation
from pganon.run.rebuilding import entered


@dataclass(frozen=True)
class Together:
    """The versions that tell of the same columns as a new one.

    Attributes:
        versions: these, the oldest first.
        columns: of them and the new one, whose values are remembered.
        others: columns of the other versions, which are taken to tell nothing of these.
    """

    versions: tuple[About, ...]
    columns: tuple[str, ...]
    others: tuple[str, ...]


def together(
    computation: Computation, tell: Tell, population: int, about: Sequence[About]
) -> Together | None:
    """None: the versions all tell of the same columns, or of what cannot be compared.

    Args:
        tell: what the new version tells.
        about: the versions about the population.
    """
    shown = [*map(_shown, about), _new(computation.plan, tell(computation.state))]
    pairs = unshared(shown)
    if pairs:
        tells = [
            *(_teller(v) for v, one in zip(about, shown, strict=False) if one.remembered),
            tell,
        ]
        secret = population_by_id(population)(computation.state)
        computation.guard(association_steps(tells, secret, pairs))
    found = components(shown, associated_pairs(pairs, computation.state.facts))
    own = next(one for one in found if len(about) in one)
    if len(own) == len(shown):
        return None
    return Together(
        tuple(version for place, version in enumerate(about) if place in own),
        _columns(shown, lambda place: place in own),
        _columns(shown, lambda place: place not in own),
    )


def _columns(shown: Sequence[Compared], chosen: Callable[[int], bool]) -> tuple[str, ...]:
    kept = (one.remembered for place, one in enumerate(shown) if chosen(place))
    return tuple(sorted(frozenset().union(*kept)))


def _shown(version: About) -> Compared:
    guard = version.guard or {}
    names = [name for name, _ in guard.get("columns", ())]
    roles = {name: column["role"] for name, column in version.columns.items()}
    return shown_by(roles, names, known="columns" in guard and not guard.get("plain"))


def _new(plan: Plan, told: Told) -> Compared:
    roles = {name: column.role for name, column in plan.spec.policy.columns.items()}
    return shown_by(roles, [name for name, _ in told.columns])


def _teller(version: About) -> Tell:
    found = entered(version)
    histogram = found.histogram
    assert histogram is not None
    return lambda state: found.told(found.members, histogram)
