"""Regions of a first version by the definition: what goes the same way at all of its cuts.

Cuts are read as they are stored; values are sent through them one by one, and what a region should
show follows from who gets there. Nothing here is pganon's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Cut = Mapping[str, Any]
Steps = tuple[tuple[Cut, bool], ...]
"""Cuts of a column on the way to a region, and whether the way goes left."""


@dataclass(frozen=True)
class Kind:
    """A quasi-identifier.

    Attributes:
        declared: in the policy.
        left: whether a value, which may be NULL, goes left at a cut.
        shown: whether what is published for a region holds exactly the values that get there; given
            the published value, and by value whether it gets there.
        candidates: values to try, from the cuts of the column and the values of the first version.
        path: of a tree the labels of a value from itself to the top.
    """

    declared: dict[str, Any]
    left: Callable[[Cut, Any], bool]
    candidates: Callable[[list[Cut], list[Any]], list[Any]]
    shown: Callable[[Any, Callable[[Any], bool], list[Any]], bool]
    path: Callable[[Any], Sequence[str]] = lambda value: ()


def ways(cuts: Sequence[Cut]) -> dict[int, tuple[list[str], dict[str, Steps]]]:
    """By region the columns that are NULL in it by its part, and the steps of every column."""
    nodes = {cut["node"]: cut for cut in cuts}
    found: dict[int, tuple[list[str], dict[str, Steps]]] = {}

    def walk(node: int, apart: list[str], steps: dict[str, Steps]) -> None:
        if node < 0:
            found[node] = (apart, steps)
            return
        cut = nodes[node]
        name = cut["column_name"]
        if name is None:
            walk(cut["left_node"], apart, steps)
            return
        for is_left, side in ((True, "left_node"), (False, "right_node")):
            walk(cut[side], apart, {**steps, name: (*steps.get(name, ()), (cut, is_left))})

    for cut in cuts:
        if cut["nulls"] is not None:
            walk(cut["node"], cut["nulls"], {})
    return found


def gets_there(kind: Kind, steps: Steps, value: Any) -> bool:
    return all(kind.left(cut, value) == is_left for cut, is_left in steps)


def region_of(kinds: Mapping[str, Kind], cuts: Sequence[Cut], row: Mapping[str, Any]) -> int | None:
    """Where a record goes; None if nobody had such NULLs."""
    own = sorted(n for n, k in kinds.items() if k.declared.get("nulls") == "own_class")
    apart = [name for name in own if row[name] is None]
    nodes = {cut["node"]: cut for cut in cuts}
    starts = [c["node"] for c in cuts if c["nulls"] is not None and sorted(c["nulls"]) == apart]
    if not starts:
        return None
    (node,) = starts
    while node > 0:
        cut = nodes[node]
        name = cut["column_name"]
        left = name is None or kinds[name].left(cut, row[name])
        node = cut["left_node"] if left else cut["right_node"]
    return node


# -- lines --------------------------------------------------------------------------------------


def line(
    declared: dict[str, Any],
    read: Callable[[str], Any],
    step: Any,
    far: Any,
    domain: tuple[Any, Any] | None = None,
) -> Kind:
    """Numbers, dates and timestamps: a range holds what gets there, and nothing else."""

    def left(cut: Cut, value: Any) -> bool:
        end = cut["threshold"]
        if value is None:
            return True
        if end is None:
            return False
        return value < read(end) if cut["level"] else value <= read(end)

    def candidates(cuts: list[Cut], values: list[Any]) -> list[Any]:
        ends = [read(cut["threshold"]) for cut in cuts if cut["threshold"] is not None]
        near = [end + d for end in (*ends, *values) for d in (-step, 0 * step, step)]
        found = {*near, *([min(near) - far, max(near) + far] if near else [])}
        if domain is not None:
            found = {v for v in found if domain[0] <= v <= domain[1]} | {*domain}
        return sorted(found)

    def shown(value: Any, there: Callable[[Any], bool], tried: list[Any]) -> bool:
        got = [v for v in tried if there(v)]
        if value is None:
            return not got
        if domain is not None and (value.lower_inf or value.upper_inf):
            return False
        outside = [] if domain is None else [domain[0] - step, domain[1] + step]
        return {v for v in tried if v in value} == {*got} and not any(v in value for v in outside)

    return Kind(declared, left, candidates, shown)


# -- sets ---------------------------------------------------------------------------------------


def listed(declared: dict[str, Any], values: Sequence[Any], *, ordered: bool = False) -> Kind:
    """All values of a list that get there, in its order."""
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]

    def read(text: str | None) -> Any:
        if text is None:
            return None
        return Decimal(text) if isinstance(values[0], Decimal) else values[texts.index(text)]

    def left(cut: Cut, value: Any) -> bool:
        if ordered:
            end = -1 if cut["threshold"] is None else texts.index(cut["threshold"])
            return value is None or values.index(value) <= end
        return value in [read(member) for member in cut["members"]]

    def shown(value: Any, there: Callable[[Any], bool], tried: list[Any]) -> bool:
        order = list(values) if ordered or "enum" in declared else sorted(values)
        return (value or []) == [v for v in order if there(v)]

    return Kind(_plain(declared), left, lambda cuts, found: list(values), shown)


# -- trees --------------------------------------------------------------------------------------


def tree(
    declared: dict[str, Any],
    path: Callable[[Any], Sequence[str]],
    candidates: Callable[[list[Any]], Iterable[Any]],
) -> Kind:
    """The lowest label that is above everything that gets there.

    Args:
        path: labels of a value from itself to the top.
        candidates: from values of the first version all that there could be, as far as it matters.
    """

    def left(cut: Cut, value: Any) -> bool:
        return (None if value is None else path(value)[cut["level"]]) in cut["members"]

    def shown(value: Any, there: Callable[[Any], bool], tried: list[Any]) -> bool:
        paths = [path(v) for v in tried if there(v)]
        if not paths:
            return value is None
        return value == next(
            labels[0] for labels in zip(*paths, strict=True) if len({*labels}) == 1
        )

    return Kind(declared, left, lambda cuts, values: sorted(candidates(values)), shown, path)


def _plain(declared: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in declared.items() if key != "enum"}
