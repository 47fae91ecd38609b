"""Formulas: conditions on one part joined, and formulas that share parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.estimation.question import Formula, Joined, Leaf, parts_of
from pganon.estimation.release import Part
from pganon.forms.matched import Matched, both, either


def not_true(leaf: Leaf) -> Leaf:
    """Where the condition is false or NULL."""
    condition = exp.Is(this=exp.paren(leaf.condition.copy()), expression=exp.true())
    return Leaf(leaf.part, exp.Not(this=condition))


def apart(items: Sequence[Formula]) -> list[Formula]:
    """Conditions that all must hold, those that share parts joined into one."""
    found: list[tuple[set[Part], list[Formula]]] = []
    for item in items:
        parts, own = set(parts_of([item])), [item]
        for other in [entry for entry in found if entry[0] & parts]:
            parts, own = parts | other[0], [*other[1], *own]
            found.remove(other)
        found.append((parts, own))
    return [own[0] if len(own) == 1 else Joined(True, tuple(own)) for _, own in found]


def merged(items: list[Formula], *, every: bool) -> list[Formula]:
    """Conditions on one part become one leaf."""
    own: dict[Part, exp.Expr] = {}
    others: list[Formula] = []
    for item in items:
        if isinstance(item, Leaf):
            before = own.get(item.part)
            joined = exp.and_ if every else exp.or_
            own[item.part] = joined(before, item.condition) if before else item.condition
        else:
            others.append(item)
    return [*[Leaf(part, condition) for part, condition in own.items()], *others]


def matched(n: exp.Expr, formula: Formula, leaves: Callable[[Leaf], Matched]) -> Matched:
    """A formula; probabilities and tight bounds only if every leaf is on another part."""
    if isinstance(formula, Leaf):
        return leaves(formula)
    assert isinstance(formula, Joined)
    items = [matched(n, item, leaves) for item in formula.items]
    return both(n, items) if formula.every else either(n, items)
