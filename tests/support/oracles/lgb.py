"""Local generalization and bucketization in plain Python: tables, classes by flags, the driver.

From the definitions of Li, He and Sun, with their gaps closed as docs/reference says; nothing of
pganon is imported, everything is exact, and nothing is fast. Groups are in `lgb_groups`, buckets
in `lgb_buckets`, what is published and checked in `lgb_release`.

A form has a letter for every attribute of a row: g generalized, b in a bucket, w withheld.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

Value = Any
Key = Any
Rank = Callable[[str, Key], Any]
"""Random order of keys under a name; ascending."""


class Refused(ValueError):
    """What was asked for cannot be reached."""


def by_key(name: str, key: Key) -> Key:
    """The rank of worked examples."""
    return key


@dataclass(frozen=True)
class Attribute:
    """A published column.

    Attributes:
        order: of the values of a nominal attribute, else by collation "C".
        parents: of the values and nodes of a tree; its leaves are in the order of the keys.
        bounds: lowest and highest number, if they are declared.
        step: distance of the numbers that there can be; None: any number.
    """

    name: str
    kind: Literal["numeric", "nominal", "tree"] = "nominal"
    order: tuple[Value, ...] = ()
    parents: Mapping[Value, Value] = field(default_factory=dict)
    bounds: tuple[Value, Value] | None = None
    step: Fraction | None = Fraction(1)

    def place(self, value: Value) -> Any:
        """Sorts values; NULL is for the caller to place."""
        if self.kind == "numeric":
            return value
        if self.kind == "tree":
            return self.leaves().index(value)
        return self.order.index(value) if self.order else value.encode()

    def leaves(self, node: Value = None) -> list[Value]:
        """Values below a node, or all of them."""
        inner = set(self.parents.values())
        found = [one for one in self.parents if one not in inner]
        return [leaf for leaf in found if node is None or node in self.path(leaf)]

    def path(self, value: Value) -> list[Value]:
        """A value and what is above it, up to the root."""
        found = [value]
        while found[-1] in self.parents:
            found.append(self.parents[found[-1]])
        return found

    def null_first(self, value: Value) -> Any:
        return (0, 0) if value is None else (1, self.place(value))

    def null_last(self, value: Value) -> Any:
        return (1, 0) if value is None else (0, self.place(value))


def numeric(name: str, **declared: Any) -> Attribute:
    return Attribute(name, "numeric", **declared)


def nominal(name: str, *order: Value) -> Attribute:
    return Attribute(name, "nominal", order)


def tree(name: str, parents: Mapping[Value, Value]) -> Attribute:
    return Attribute(name, "tree", parents=parents)


@dataclass(frozen=True)
class Table:
    """Rows by key, and of every row the numbers of the attributes that are sensitive for it."""

    attributes: tuple[Attribute, ...]
    values: Mapping[Key, tuple[Value, ...]]
    hidden: Mapping[Key, frozenset[int]]

    def form(self, key: Key) -> str:
        """The mask of a row as a form."""
        return "".join("b" if a in self.hidden[key] else "g" for a in range(len(self.attributes)))

    def ignoring_flags(self) -> Table:
        """As Mondrian takes it: attributes that are sensitive for some are quasi-identifying."""
        return Table(self.attributes, self.values, dict.fromkeys(self.values, frozenset()))


def flagged(flag: bool | None) -> bool:
    """Whether a cell is sensitive; who does not say so hides it."""
    return flag is not False


# -- classes by what they show ------------------------------------------------------------------


def partition(table: Table) -> dict[str, list[Key]]:
    """The coarsest QI partition: rows by their quasi-identifying attributes."""
    found: dict[str, list[Key]] = defaultdict(list)
    for key in sorted(table.values):
        found[table.form(key)].append(key)
    return dict(found)


def common(one: str, other: str) -> str:
    """What rows of both forms can show alike."""
    return "".join(a if a == b else "w" for a, b in zip(one, other, strict=True))


SmallSubsets = Literal["suppress", "refuse", "merge"]


def small_subsets(
    parts: Mapping[str, Sequence[Key]],
    k: int,
    handling: SmallSubsets,
    limit: Fraction = Fraction(1),
) -> tuple[dict[str, list[Key]], list[Key]]:
    """Display classes of at least k rows, and the rows that are left out, from flags alone.

    Raises:
        Refused: too many rows would be left out, or there are fewer than k.
    """
    total = sum(map(len, parts.values()))
    if total < k:
        raise Refused(f"only {total} rows to publish, k = {k}")
    if handling == "merge":
        return _merged(parts, k), []
    small = {form: keys for form, keys in parts.items() if len(keys) < k}
    dropped = sorted(key for keys in small.values() for key in keys)
    if dropped and (handling == "refuse" or Fraction(len(dropped), total) > limit):
        raise Refused(f"{len(small)} subsets below k = {k} with {len(dropped)} of {total} rows")
    return {form: list(keys) for form, keys in parts.items() if form not in small}, dropped


def _merged(parts: Mapping[str, Sequence[Key]], k: int) -> dict[str, list[Key]]:
    found = {form: list(keys) for form, keys in parts.items()}
    while min(map(len, found.values())) < k:
        if len(found) == 1:
            raise Refused("fewer than k rows")
        one = min(found, key=lambda form: (len(found[form]), form))

        def cost(form: str, one: str = one) -> tuple[int, int, str]:
            rows = len(found[one]) + len(found[form])
            held = sum(len(found[f]) * f.count("w") for f in (one, form))
            return rows * common(one, form).count("w") - held, rows, form

        other = min((form for form in found if form != one), key=cost)
        keys = found.pop(one) + found.pop(other)
        form = common(one, other)
        found[form] = sorted(found.get(form, []) + keys)
    return found


# -- sizes of domains -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Extent:
    """What NCP divides by; from a declared domain or from cells that are shown."""

    width: Any = 0
    size: int = 0


def extents(table: Table, classes: Mapping[str, Iterable[Key]]) -> list[Extent]:
    found = []
    for a, attribute in enumerate(table.attributes):
        shown = {table.values[k][a] for f, keys in classes.items() if f[a] == "g" for k in keys}
        numbers = [] if attribute.kind != "numeric" else [v for v in shown if v is not None]
        low, high = attribute.bounds or (min(numbers, default=0), max(numbers, default=0))
        found.append(Extent(high - low, len(shown)))
    return found


def forms(classes: Mapping[str, Iterable[Key]]) -> dict[Key, str]:
    return {key: form for form, keys in classes.items() for key in keys}


def withheld(classes: Mapping[str, Sequence[Key]], attribute: int) -> dict[str, list[Key]]:
    """Classes after every sensitive cell of an attribute is shown to nobody."""
    found: dict[str, list[Key]] = defaultdict(list)
    for form, keys in classes.items():
        shown = "w" if form[attribute] == "b" else form[attribute]
        found[form[:attribute] + shown + form[attribute + 1 :]] += keys
    return dict(found)


def histogram(values: Iterable[Value], attribute: Attribute) -> list[tuple[Value, int]]:
    """Of sensitive values, in their order; NULL is a value and comes last."""
    counts = Counter(values)
    return [(value, counts[value]) for value in sorted(counts, key=attribute.null_last)]
