"""GeneIR again, from the description of Wang, Du, Luo and Li (2019), with sets of values.

Nothing of pganon is imported. An element has the set of values below the node that is shown per
attribute, with None for NULL.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.oracles.definitions import Tree
from tests.support.oracles.identity import Requirement, holds

Element = tuple[frozenset[Any], ...]
Records = Sequence[tuple[Sequence[Any], Any]]
"""Quasi-identifiers and sensitive value of every record of an individual."""


@dataclass
class Class:
    members: frozenset[Any]
    element: Element


def geneir(
    people: Mapping[Any, Records],
    trees: Sequence[Tree],
    requirements: Sequence[Requirement],
    sequence: Iterable[int],
    order: Sequence[Any],
) -> list[Class]:
    """Classes in the order of their completion.

    Args:
        sequence: attribute that goes up a level at every step.
        order: individuals by their number, in which residuals are handled.
    """

    def satisfied(members: Iterable[Any]) -> bool:
        pairs = [(person, value) for person in members for _, value in people[person]]
        return all(holds(requirement, pairs) for requirement in requirements)

    own = elements(people, trees)
    levels = [0] * len(trees)
    left, found = set(people), []
    for attribute in (None, *sequence):
        if attribute is not None:
            levels[attribute] += 1
        groups: dict[tuple[int, ...], set[Any]] = defaultdict(set)
        for person in left:
            shown = zip(trees, own[person], levels, strict=True)
            groups[tuple(_shows(*given) for given in shown)].add(person)
        for _, members in sorted(groups.items()):
            if satisfied(members):
                element = _element(trees, _union(own[p] for p in members), levels)
                found.append(Class(frozenset(members), element))
                left -= members
    for person in [person for person in order if person in left]:
        handle(
            person,
            own[person],
            people,
            trees,
            [c for c in found if satisfied({person} | c.members)],
        )
    return found


def elements(people: Mapping[Any, Records], trees: Sequence[Tree]) -> dict[Any, Element]:
    """What individuals show at least."""
    return {person: _own(trees, records) for person, records in people.items()}


def handle(
    person: Any,
    own: Element,
    people: Mapping[Any, Records],
    trees: Sequence[Tree],
    classes: Sequence[Class],
) -> None:
    """The closest of these classes takes a residual, whatever that costs."""
    joined = [_element(trees, _union([own, c.element]), [0] * len(trees)) for c in classes]
    distances = []
    for item, element in zip(classes, joined, strict=True):
        records = sum(len(people[p]) for p in item.members)
        more = records * (cost(trees, element) - cost(trees, item.element))
        distances.append(
            round(more + len(people[person]) * (cost(trees, element) - cost(trees, own)), 9)
        )
    if classes:
        best = distances.index(min(distances))
        classes[best].members |= {person}
        classes[best].element = joined[best]


def cost(trees: Sequence[Tree], element: Element) -> float:
    return sum(tree.loss(values) for tree, values in zip(trees, element, strict=True))


def _own(trees: Sequence[Tree], records: Records) -> Element:
    values = [frozenset(quasi[at] for quasi, _ in records) for at in range(len(trees))]
    return _element(trees, values, [0] * len(trees))


def _union(elements: Iterable[Sequence[frozenset[Any]]]) -> list[frozenset[Any]]:
    return [frozenset().union(*sets) for sets in zip(*elements, strict=True)]


def _element(
    trees: Sequence[Tree], sets: Sequence[frozenset[Any]], levels: Sequence[int]
) -> Element:
    return tuple(_below(*given) for given in zip(trees, sets, levels, strict=True))


def _below(tree: Tree, values: frozenset[Any], level: int) -> frozenset[Any]:
    """Values below the ancestor of all on a level, or on that where they have one."""
    known = values - {None}
    if not known:
        return values
    reached = max(level, tree.level(set(known)))
    return frozenset(tree.below(next(iter(known)), reached)) | (values & {None})


def _shows(tree: Tree, values: frozenset[Any], level: int) -> int:
    """A key of the group: the first value below the node; 0 is NULL, -1 everything."""
    nulls = None in tree.values and tree.nulls != "suppress"
    if nulls and (level >= tree.top() or (None in values and len(values) > 1)):
        return -1
    if None in values:
        return 0
    return min(tree.codes[value] for value in _below(tree, values, level))
