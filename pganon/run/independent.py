"""Versions beside which a version is judged where its policy takes columns to be independent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
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
from pganon.run.executor import Executor
from pganon.run.rebuilding import entered
from pganon.steps import State, Step


@dataclass(frozen=True)
class Together:
    """The versions that tell of the same columns as a new one.

    Attributes:
        versions: these, the oldest first.
        columns: of them and the new one, whose values are remembered.
        others: columns of the other versions, which are taken to tell nothing of these.
        joined: whether it is the new one that makes them tell of the same columns.
    """

    versions: tuple[About, ...]
    columns: tuple[str, ...]
    others: tuple[str, ...]
    joined: bool


def together(
    computation: Computation, tell: Tell, population: int, about: Sequence[About], part: int = 0
) -> Together | None:
    """None: the versions all tell of the same columns, or of what cannot be compared.

    Args:
        tell: what the new version tells.
        about: the versions about the population that somebody has.
        part: for names of tables and facts.
    """
    shown = [*map(_shown, about), _new(computation.plan, tell(computation.state))]
    measuring = _Measuring(computation.guard, population, computation.state, part)
    tells = [*_tells(about, shown), tell]
    (own,) = measuring.parts(shown, tells, {len(about)})
    if len(own.places) == len(shown) and not own.joined:
        return None
    return Together(
        tuple(version for place, version in enumerate(about) if place in own.places),
        _columns(shown, lambda place: place in own.places),
        _columns(shown, lambda place: place not in own.places),
        own.joined,
    )


def was_assumed(about: Sequence[About]) -> bool:
    """Whether one of these versions took columns to be independent."""
    rules = (rule for version in about for rule in (version.guard or {}).get("rules", ()))
    return any(rule.get("independent") for rule in rules)


def held_apart(
    executor: Executor, population: int, about: Sequence[About], runs: Collection[int], part: int
) -> Iterator[tuple[list[About], int]]:
    """Versions that tell of the same columns as one of these runs, with the place of the first to
    be held against what was promised of columns alone; nothing where nobody took that for granted.

    Args:
        part: for names of tables and facts.
    """
    if not was_assumed(about):
        return
    shown = [*map(_shown, about)]
    measuring = _Measuring(executor.run, population, executor.state, part)
    new = {place for place, version in enumerate(about) if version.run_id in runs}
    for own in measuring.parts(shown, [*_tells(about, shown)], new):
        places = sorted(own.places)
        first = next(n for n, place in enumerate(places) if place in new)
        yield [about[place] for place in places], 1 if own.joined else max(first, 1)


@dataclass(frozen=True)
class _Part:
    """Places of versions that tell of the same columns, and whether new ones make them do so."""

    places: frozenset[int]
    joined: bool


@dataclass(frozen=True)
class _Measuring:
    run: Callable[[Sequence[Step]], State]
    population: int
    state: State
    part: int

    def parts(
        self, shown: Sequence[Compared], tells: Sequence[Tell], new: Collection[int]
    ) -> list[_Part]:
        """Those with a new version; `tells` are of the versions with remembered columns."""
        pairs, state = unshared(shown), self.state
        if pairs:
            secret = population_by_id(self.population)(state)
            state = self.run(association_steps(tells, secret, pairs, self.part))
        associated = associated_pairs(pairs, state.facts, self.part)

        def joined(own: frozenset[int]) -> bool:
            before = [shown[place] for place in sorted(own.difference(new))]
            return len(components(before, associated)) > 1

        found = components(shown, associated)
        return [_Part(own, joined(own)) for own in found if not own.isdisjoint(new)]


def _tells(about: Sequence[About], shown: Sequence[Compared]) -> Iterator[Tell]:
    return (_teller(v) for v, one in zip(about, shown, strict=False) if one.remembered)


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
