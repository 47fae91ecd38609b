"""Guarantees of releases that keep the records of individuals together, from published values.

Plain Python from the definitions of Wang, Du, Luo and Li (2019); nothing of pganon is imported. A
row is (class_id, individual_no, value), one per published record; None is a value like the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.support.oracles.model import (
    alpha,
    eir_beta,
    ir_alpha,
    ir_k,
    smallest_hitting_set,
    value_sets,
)

Row = tuple[Any, Any, Any]
Pairs = Sequence[tuple[Any, Any]]
"""Records of one class as (individual, value); of several sensitive columns, values by column."""

Requirement = Mapping[str, Any]
"""A requirement as a policy writes it."""


def classes(rows: Iterable[Row]) -> dict[Any, list[tuple[Any, Any]]]:
    found: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)
    for number, individual, value in rows:
        found[number].append((individual, value))
    return found


# -- models -----------------------------------------------------------------------------------


def values(pairs: Pairs) -> list[Any]:
    return [value for _, value in pairs]


def reasoning_values(pairs: Pairs) -> int:
    """Fewest values of a set that takes one record of every individual, by brute force."""
    return smallest_hitting_set([set(map(repr, held)) for held in value_sets(pairs)])


def about(requirement: Requirement, pairs: Pairs) -> Pairs:
    """The pairs with the value of the column that the requirement is about; of none any will do."""
    return [
        (p, v[requirement.get("column", next(iter(v)))] if isinstance(v, dict) else v)
        for p, v in pairs
    ]


def holds(requirement: Requirement, pairs: Pairs) -> bool:
    """Whether a class satisfies the requirement; shares are compared as they are written."""
    pairs = about(requirement, pairs)
    share = {name: Fraction(str(requirement.get(name, 1))) for name in ("alpha", "beta")}
    match requirement["model"]:
        case "ir_k_anonymity":
            return ir_k(pairs) >= requirement["k"]
        case "ir_kl_anonymity":
            enough = ir_k(pairs) >= requirement["k"]
            return enough and len(set(values(pairs))) >= requirement["l"]
        case "ir_alpha_beta_anonymity":
            within = ir_alpha(pairs) <= share["alpha"]
            return within and alpha(values(pairs)) <= share["beta"]
        case "eir_l_diversity":
            return reasoning_values(pairs) >= requirement["l"]
        case "eir_alpha_beta_anonymity":
            return ir_alpha(pairs) <= share["alpha"] and eir_beta(pairs) <= share["beta"]
    raise ValueError(requirement["model"])


def violations(requirements: Iterable[Requirement], rows: Iterable[Row]) -> list[Any]:
    """(class, model) of every class that misses a requirement."""
    found = classes(rows)
    return [
        (number, requirement["model"])
        for requirement in requirements
        for number, pairs in found.items()
        if not holds(requirement, pairs)
    ]


def reachable(requirement: Requirement, pairs: Pairs) -> bool:
    """Whether nothing is known from all records that keeps every class from satisfying it.

    The class of all individuals satisfies a model without shares if any does; shares need as many
    individuals and values as add up to one. Where everybody has a value, so has everybody of a
    class, which EIR allows up to a share of 1.
    """
    pairs = about(requirement, pairs)
    if "alpha" not in requirement:
        return holds(requirement, pairs)
    if requirement["model"] == "eir_alpha_beta_anonymity" and requirement["beta"] < 1:
        sets = [set(held) for held in value_sets(pairs)]
        if sets and set.intersection(*sets):
            return False
    needed = [(ir_k(pairs), requirement["alpha"]), (len(set(values(pairs))), requirement["beta"])]
    return all(count * Fraction(str(share)) >= 1 for count, share in needed)


# -- structure --------------------------------------------------------------------------------


def offences(rows: Sequence[Row], elements: Iterable[tuple[Any, Any]]) -> list[str]:
    """What is wrong with the numbers of classes and individuals.

    Args:
        elements: (class_id, what the class shows of quasi-identifiers) of every record.
    """
    of_individual = Counter(person for _, person in {(number, p) for number, p, _ in rows})
    shown = Counter(number for number, _ in set(elements))
    found = [f"individual {p} in {n} classes" for p, n in of_individual.items() if n > 1]
    found += [f"class {number} shows {n} elements" for number, n in shown.items() if n > 1]
    for name, numbers in (("individuals", of_individual), ("classes", shown)):
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            found.append(f"numbers of {name} have gaps")
    return found


# -- risks ------------------------------------------------------------------------------------


def vulnerable(rows: Iterable[Row], l: int, beta: Fraction = Fraction(1)) -> Fraction:  # noqa: E741
    """Share of the classes with a reasoning set of fewer than l values, or of which more than the
    share beta of the individuals have one value."""
    rows = list(rows)
    return Fraction(len(missed(rows, l, beta)), len(classes(rows)))


def missed(rows: Iterable[Row], l: int, beta: Fraction = Fraction(1)) -> set[Any]:  # noqa: E741
    """These classes."""
    return {
        number
        for number, pairs in classes(rows).items()
        if reasoning_values(pairs) < l or eir_beta(pairs) > beta
    }


def highest_share(rows: Iterable[Row]) -> Fraction:
    return max(map(eir_beta, classes(rows).values()))


def smallest_count_group(rows: Iterable[Row]) -> int:
    """Fewest individuals of a class with equally many records."""
    groups = Counter(
        (number, records)
        for number, pairs in classes(rows).items()
        for records in Counter(person for person, _ in pairs).values()
    )
    return min(groups.values())


def exposed(rows: Iterable[Row], beside: bool = False) -> list[Any]:
    """Individuals with several values of which nobody else in the class has one.

    Args:
        beside: everybody has values of another column, too.
    """
    found = []
    for pairs in classes(rows).values():
        holders = Counter(value for _, value in set(pairs))
        for person in {person for person, _ in pairs}:
            own = {value for p, value in pairs if p == person}
            if (beside or len(own) > 1) and any(holders[value] == 1 for value in own):
                found.append(person)
    return sorted(found)


# -- loss -------------------------------------------------------------------------------------

Cost = Callable[[Any], Fraction]


def numeric(low: Any, high: Any) -> Cost:
    """Equation 11, of a published range."""
    return lambda shown: Fraction(shown.upper - shown.lower) / Fraction(high - low)


def categorical(size: int) -> Cost:
    """Equation 12, of a published array."""
    return lambda shown: Fraction(len(shown) - 1, size - 1)


def loss(
    records: Iterable[Mapping[str, Any]], costs: Mapping[str, Cost], suppressed: int = 0
) -> Fraction:
    """Equation 14 for sources without generalized values."""
    lost = sum((costs[name](row[name]) for row in records for name in costs), Fraction(0))
    return lost + suppressed * len(costs)
