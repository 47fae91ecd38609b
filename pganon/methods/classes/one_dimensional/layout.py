"""What searches read of a run besides units: attributes, their digits, distributions, the seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from pganon.encode import facts
from pganon.encode.axis import Axis
from pganon.encode.secrets import run_secret
from pganon.methods.classes.mondrian.conditions import reference_kinds, reference_table
from pganon.methods.classes.one_dimensional.line import BEHIND, Line
from pganon.methods.classes.one_dimensional.search import attributes as search
from pganon.methods.classes.one_dimensional.search.conditions import (
    Condition,
    Conditions,
    Values,
)
from pganon.methods.classes.one_dimensional.search.digits import (
    Digit,
    digits,
)
from pganon.methods.classes.one_dimensional.search.measures import Reference
from pganon.methods.classes.one_dimensional.search.ordering import moved_behind
from pganon.methods.classes.one_dimensional.search.windows import Units
from pganon.methods.common.attribute_arrays import attribute_arrays, given_with_losses
from pganon.methods.common.block_search import Given
from pganon.methods.common.packing import number_of_words, unpacked
from pganon.methods.common.search.attributes import Nominal
from pganon.privacy.base import Requirement
from pganon.sqltools import col, named, num, query, scalar
from pganon.steps import State

Ints = NDArray[np.int64]


def units_of(line: Line, state: State, given: Given, row: Sequence[Any]) -> Units:
    """The units of a row of :data:`~pganon.methods.classes.one_dimensional.PACKED`."""
    _, first, cells, *values = row
    held = _numbers(cells, 1 + number_of_words(line.axes, state))
    codes = np.stack(unpacked(line.axes, state, held[:, 1:])).astype(np.int64)
    weights, last = held[:, 0], first + len(held)
    if line.relaxed:
        codes = np.repeat(codes, weights, axis=1)
        weights = np.ones(codes.shape[1], dtype=np.int64)
    return Units(
        codes, weights, _conditions(line, state, given, np.arange(first, last + 1), values)
    )


def records_of(row: Sequence[Any], line: Line, state: State) -> Ints:
    """How many records every cell of the row has."""
    return _numbers(row[2], 1 + number_of_words(line.axes, state))[:, 0]


def _conditions(
    line: Line, state: State, given: Given, numbers: Ints, sent: Sequence[bytes]
) -> Conditions | None:
    """Args: numbers: those of the cells, and the next one."""
    columns = line.sensitive
    asked = [r for r in line.spec.requirements if r.model.needs_values]
    if not asked:
        return None
    values = [_values(line, state, j, numbers, part) for j, part in zip(columns, sent, strict=True)]
    conditions = [
        Condition(
            requirement.model,
            columns.index(requirement.sensitive or 0),
            _references(line, state, given, requirement),
        )
        for requirement in asked
    ]
    return Conditions(tuple(conditions), tuple(values))


def _values(line: Line, state: State, j: int, numbers: Ints, sent: bytes) -> Values:
    size = state[facts.value_count(j)] + 1
    if line.relaxed:
        held = _numbers(sent, 1)[:, 0]
        return Values(np.arange(len(held) + 1), held, np.ones(len(held), dtype=np.int64), size)
    held = _numbers(sent, 3)
    return Values(np.searchsorted(held[:, 0], numbers), held[:, 1], held[:, 2], size)


def _references(
    line: Line, state: State, given: Given, requirement: Requirement
) -> tuple[Reference, ...]:
    if not requirement.model.needs_reference:
        return ()
    j = requirement.sensitive or 0
    return tuple(_reference(line, state, given, j, kind) for kind in reference_kinds(state))


def _reference(line: Line, state: State, given: Given, j: int, kind: str) -> Reference:
    def listed(name: str) -> np.ndarray:
        return np.array(given[f"{kind}_{name}{j}"])

    codes, size = listed("value"), state[facts.value_count(j)] + 1
    shares = np.zeros(size)
    shares[codes] = listed("share")
    nodes = None
    if line.spec.sensitive[j].hierarchy is not None:
        numbered = [np.unique(level, return_inverse=True)[1] for level in listed("path").T]
        nodes = np.zeros((len(numbered), size), dtype=np.int64)
        nodes[:, codes] = np.stack(numbered) + 1
    return Reference(shares, codes[np.argsort(listed("position"))], nodes)


def _numbers(sent: bytes, columns: int) -> Ints:
    return np.frombuffer(sent, dtype=">i8").astype(np.int64).reshape(-1, columns)


def given_of_values(line: Line, state: State) -> exp.Select:
    """SELECT one row: of every attribute the places or paths of its values, and how many records
    have each, from NULL on."""
    tree = given_with_losses(line.axes, state)
    for axis in line.axes:
        counts = query(
            "select array_agg(coalesce(d.n, 0) order by x.code) from generate_series(0, :size)"
            " as x(code) left join d on d.code = x.code",
            {"d": axis.dictionary(state)},
            size=num(axis.size(state)),
        )
        tree = tree.select(named(scalar(counts), f"n{axis.index}"))
    return tree


def given_of_blocks(line: Line, state: State) -> exp.Select:
    """The same with the order of the attributes, and the seed."""
    tree = with_order(line, state, given_of_sample(line, state))
    return tree.select(named(scalar(run_secret(state, "partition_seed")), "seed"))


def with_order(line: Line, state: State, tree: exp.Select) -> exp.Select:
    if not line.searches_order:
        return tree
    behind = query(
        "select coalesce(array_agg(b.attribute order by b.place), '{}') from b",
        {"b": state.work(BEHIND)},
    )
    return tree.select(named(scalar(behind), BEHIND))


def given_of_sample(line: Line, state: State) -> exp.Select:
    """The values, and the distributions that classes are compared with."""
    tree = given_of_values(line, state)
    for requirement in line.spec.requirements:
        if not requirement.model.needs_reference:
            continue
        j = requirement.sensitive or 0
        path = ["path"] if line.spec.sensitive[j].hierarchy is not None else []
        for kind in reference_kinds(state):
            for name in ("value", "position", "share", *path):
                listed = query(
                    "select array_agg(:column order by r.value) from r",
                    {"r": reference_table(state, j, kind)},
                    column=col(name, "r"),
                )
                tree = tree.select(named(scalar(listed), f"{kind}_{name}{j}"))
    return tree


def attribute_of(axis: Axis, state: State, given: Given) -> search.Attribute:
    """An attribute as the search sees it."""
    mixes = axis.has_null(state) and axis.attribute.nulls != "own_class"
    seen = float(axis.attribute.weight), axis.size(state), mixes
    values = attribute_arrays(axis, state, given)
    if isinstance(values, Nominal):
        return search.Names(*seen, values)
    return search.Bounded(*seen, values)


@dataclass(frozen=True)
class Layout:
    """Attributes and their digits."""

    attributes: tuple[search.Attribute, ...]
    digits: tuple[Digit, ...]

    @classmethod
    def of(cls, line: Line, state: State, given: Given, *, apart: bool) -> Layout:
        attributes = tuple(attribute_of(axis, state, given) for axis in line.axes)
        counts = [np.array(given[f"n{axis.index}"], dtype=np.int64) for axis in line.axes]
        made = digits(attributes, counts, apart=apart)
        return cls(attributes, moved_behind(made, given.get(BEHIND) or ()))
