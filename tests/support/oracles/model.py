"""Further privacy models and risks in plain Python, straight from their definitions.

Nothing of pganon is imported. Values of a group are lists, None among them is NULL, one value.
Exact where it can be: shares are fractions; infinity is `math.inf`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from tests.support.oracles.definitions import distinct_l, entropy_l, shares, t_equal, t_ordered

Values = Sequence[Any]


def alpha(values: Values) -> Fraction:
    return max(shares(values).values())


def recursive_c(values: Values, l: int) -> Fraction | float:  # noqa: E741
    """r1 / (r_l + ... + r_m), so r1 < c * (r_l + ...) for every c above it and no other."""
    counts = sorted(Counter(values).values(), reverse=True)
    tail = sum(counts[l - 1 :])
    return Fraction(counts[0], tail) if tail else math.inf


def beta_basic(values: Values, whole: Values) -> Fraction:
    p = shares(whole)
    gains = [(q - p[v]) / p[v] for v, q in shares(values).items() if q > p[v]]
    return max(gains, default=Fraction(0))


def beta_enhanced(values: Values, whole: Values) -> Fraction | float:
    """The smallest beta with (q - p) / p <= min(beta, -ln p) for all q > p, if there is one."""
    p = shares(whole)
    for v, q in shares(values).items():
        if q > p[v] and float((q - p[v]) / p[v]) > -math.log(p[v]) + 1e-12:
            return math.inf
    return beta_basic(values, whole)


def delta(values: Values, whole: Values) -> float:
    q = shares(values)
    return max(abs(math.log(q[v] / p)) if v in q else math.inf for v, p in shares(whole).items())


Paths = dict[Any, tuple[str, ...]]
"""Labels of every value, its own first, the root last, all equally many."""


def t_hierarchical(values: Values, whole: Values, paths: Paths) -> Fraction:
    """Section 5.2 of Li et al. (2007) as it is written: a cost at every inner node of the tree."""
    top = len(next(iter(paths.values()))) - 1
    q, p = shares(values), shares(whole)
    extra: dict[tuple[int, Any], Fraction] = {
        (0, v): q.get(v, Fraction(0)) - p.get(v, Fraction(0)) for v in paths
    }
    cost = Fraction(0)
    for height in range(1, top + 1):
        children: dict[Any, set[Any]] = defaultdict(set)
        for value, labels in paths.items():
            children[labels[height]].add(value if height == 1 else labels[height - 1])
        for node, below in children.items():
            moved = [extra[height - 1, child] for child in below]
            extra[height, node] = sum(moved, Fraction(0))
            pos = sum((e for e in moved if e > 0), Fraction(0))
            neg = -sum((e for e in moved if e < 0), Fraction(0))
            cost += Fraction(height, top) * min(pos, neg)
    return cost


Pairs = Sequence[tuple[Any, Any]]
"""Records of a group as (individual, value)."""


def ir_k(pairs: Pairs) -> int:
    return len({person for person, _ in pairs})


def ir_alpha(pairs: Pairs) -> Fraction:
    return alpha([person for person, _ in pairs])


def eir_beta(pairs: Pairs) -> Fraction:
    """Over all reasoning sets the largest share of individuals with the same value."""
    holders = Counter(value for _, value in set(pairs))
    return Fraction(max(holders.values()), ir_k(pairs))


def value_sets(pairs: Pairs) -> list[set[Any]]:
    sets: dict[Any, set[Any]] = defaultdict(set)
    for person, value in pairs:
        sets[person].add(value)
    return list(sets.values())


def eir_l(pairs: Pairs) -> int:
    """Fewest distinct values over all reasoning sets, by enumerating them."""
    return min(len(set(choice)) for choice in itertools.product(*value_sets(pairs)))


def smallest_hitting_set(family: Iterable[Iterable[Any]]) -> int:
    members = [set(member) for member in family]
    elements = sorted(set().union(*members))
    for size in range(len(elements) + 1):
        for chosen in itertools.combinations(elements, size):
            if all(member & set(chosen) for member in members):
                return size
    raise ValueError("no hitting set")


# -- whole tables -------------------------------------------------------------------------------


def groups(rows: Sequence[Any], key: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def measures(classes: Sequence[Values], ordered: bool, l: int) -> dict[str, float]:  # noqa: E741
    """Every measure of the worst class, under the names of pganon.assess."""
    whole = [value for group in classes for value in group]
    found: dict[str, Any] = {
        "distinct_l_diversity": min(map(distinct_l, classes)),
        "entropy_l_diversity": min(map(entropy_l, classes)),
        "recursive_cl_diversity": max(recursive_c(group, l) for group in classes),
        "frequency_l_diversity": min(1 / alpha(group) for group in classes),
        "alpha": max(map(alpha, classes)),
        "t_closeness": max(t_equal(group, whole) for group in classes),
        "beta_likeness": max(beta_basic(group, whole) for group in classes),
        "beta_likeness_enhanced": max(beta_enhanced(group, whole) for group in classes),
        "delta_disclosure": max(delta(group, whole) for group in classes),
    }
    if ordered:
        found["t_closeness_ordered"] = max(t_ordered(group, whole) for group in classes)
    return {name: float(value) for name, value in found.items()}


def separation(rows: Sequence[Any]) -> float:
    pairs = list(itertools.combinations(rows, 2))
    return sum(a != b for a, b in pairs) / len(pairs) if pairs else 1.0
