"""What the search reads of a run, and its tasks: the digits of all, the classes of a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from pganon.encode import facts
from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis
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
    along,
    digits,
    summands,
)
from pganon.methods.classes.one_dimensional.search.leaving import leaving_out
from pganon.methods.classes.one_dimensional.search.measures import Reference
from pganon.methods.classes.one_dimensional.search.ordering import moved_behind, searched
from pganon.methods.classes.one_dimensional.search.partition import partition, strips
from pganon.methods.classes.one_dimensional.search.refinement import (
    Draws,
    classes_of,
    refined,
)
from pganon.methods.classes.one_dimensional.search.windows import Problem, Units
from pganon.methods.common.block_search import Given
from pganon.methods.common.packed import array_text, number_of_words, unpacked
from pganon.methods.common.tree_arrays import given_with_losses
from pganon.sqltools import col, named, num, query, scalar
from pganon.steps import State
from pganon.steps.tasks import TaskResult

Ints = NDArray[np.int64]


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
    size, weight = axis.size(state), float(axis.attribute.weight)
    if isinstance(axis, OrderedAxis):
        places = np.array(given[axis.code] or (), dtype=float)
        return search.Line(weight, size, _mixes(axis, state), places)
    if isinstance(axis, TreeAxis):
        levels = axis.levels(state)
        paths = np.array(given[axis.code] or (), dtype=np.int64).reshape(size, levels)
        losses = np.array(given[f"losses{axis.index}"] or (), dtype=float)
        return search.Tree(
            weight,
            size,
            _mixes(axis, state),
            paths,
            losses.reshape(size, levels + 1),
        )
    assert isinstance(axis, NominalAxis)
    return search.Names(weight, size, _mixes(axis, state), axis.domain(state))


def _mixes(axis: Axis, state: State) -> bool:
    """Whether NULL may be in a class with values."""
    return axis.has_null(state) and axis.attribute.nulls != "own_class"


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


@dataclass(frozen=True)
class Order:
    """Which attributes' digits go behind all others, by a sample of the units."""

    layout: Layout
    problem: Problem
    units: Units

    def __call__(self) -> TaskResult:
        return TaskResult(list(enumerate(searched(self.problem, self.units, self.layout.digits))))


@dataclass(frozen=True)
class Added:
    """What every value adds to the number of a record, which puts records along the line."""

    layout: Layout

    def __call__(self) -> TaskResult:
        added = summands(self.layout.digits, self.layout.attributes)
        rows = [
            (number, word, code, adds)
            for number, of_attribute in enumerate(added)
            for word, by_code in enumerate(of_attribute)
            for code, adds in enumerate(by_code.tolist())
        ]
        return TaskResult(rows, {"words": len(added[0])})


@dataclass(frozen=True)
class Block:
    """The classes of the units of a block.

    Attributes:
        first: number of its first unit.
        limit: records that may be left out; `price`: of one, as a loss.
    """

    block: int
    first: int
    layout: Layout
    problem: Problem
    units: Units
    rounds: int
    limit: int
    price: float
    seed: int

    def __call__(self) -> TaskResult:
        order = along(self.layout.digits, list(self.units.codes))
        units = self.units.reordered(order)
        made = partition(self.problem, units, strips(self.problem, units))
        staying = leaving_out(self.problem, units, made, self.limit, self.price)
        classes = classes_of(self.problem, units, staying)
        if self.rounds:
            draws = Draws(f"{self.seed}|{self.block}|".encode())
            classes = refined(self.problem, units, classes, self.layout.digits, self.rounds, draws)
        labels = np.empty(len(order), dtype=np.int64)
        labels[order] = classes.labels
        return TaskResult([(self.block, self.first, array_text(labels))])


@dataclass(frozen=True)
class Reader:
    """What makes tasks of blocks.

    Attributes:
        rounds: of refinement.
        limit: records of all blocks that may be left out; `price`: of one, as a loss.
        records: of all blocks.
    """

    line: Line
    state: State
    given: Given
    layout: Layout
    problem: Problem
    rounds: int
    limit: int
    price: float
    records: int

    def task(self, row: Sequence[Any]) -> Block:
        """The task of a row of :data:`~pganon.methods.classes.one_dimensional.line.PACKED`."""
        units = Packed(self.line, self.state, self.given).units(row)
        return Block(
            row[0],
            row[1],
            self.layout,
            self.problem,
            units,
            self.rounds,
            self.limit * int(units.weights.sum()) // self.records,
            self.price,
            self.given["seed"],
        )


@dataclass(frozen=True)
class Packed:
    """Units as they are sent."""

    line: Line
    state: State
    given: Given

    def units(self, row: Sequence[Any]) -> Units:
        """Those of a row (block, first, cells, [values..])."""
        _, first, cells, *values = row
        axes = self.line.axes
        held = _numbers(cells, 1 + number_of_words(axes, self.state))
        codes = np.stack(unpacked(axes, self.state, held[:, 1:])).astype(np.int64)
        return Units(codes, held[:, 0], self._conditions(first, len(held), values))

    def _conditions(self, first: int, count: int, sent: Sequence[bytes]) -> Conditions | None:
        asked = [r for r in self.line.spec.requirements if r.sensitive in self.line.sensitive]
        asked = [r for r in asked if r.model.needs_values]
        if not asked:
            return None
        columns = self.line.sensitive
        values = tuple(
            self._values(j, first, count, part) for j, part in zip(columns, sent, strict=True)
        )
        conditions = tuple(
            Condition(
                requirement.model,
                columns.index(requirement.sensitive or 0),
                self._references(requirement.sensitive or 0)
                if requirement.model.needs_reference
                else (),
            )
            for requirement in asked
        )
        return Conditions(conditions, values)

    def _values(self, j: int, first: int, count: int, sent: bytes) -> Values:
        size = self.state[facts.value_count(j)] + 1
        if self.line.relaxed:
            held = _numbers(sent, 1)[:, 0]
            return Values(np.arange(count + 1), held, np.ones(count, dtype=np.int64), size)
        held = _numbers(sent, 3)
        starts = np.searchsorted(held[:, 0], first + np.arange(count + 1))
        return Values(starts, held[:, 1], held[:, 2], size)

    def _references(self, j: int) -> tuple[Reference, ...]:
        return tuple(self._reference(j, kind) for kind in reference_kinds(self.state))

    def _reference(self, j: int, kind: str) -> Reference:
        def listed(name: str) -> np.ndarray:
            return np.array(self.given[f"{kind}_{name}{j}"])

        codes, size = listed("value"), self.state[facts.value_count(j)] + 1
        shares = np.zeros(size)
        shares[codes] = listed("share")
        nodes = None
        if self.line.spec.sensitive[j].hierarchy is not None:
            paths = listed("path")
            numbered = [np.unique(level, return_inverse=True)[1] for level in paths.T]
            nodes = np.zeros((len(numbered), size), dtype=np.int64)
            nodes[:, codes] = np.stack(numbered) + 1
        return Reference(shares, codes[np.argsort(listed("position"))], nodes)


def _numbers(sent: bytes, columns: int) -> Ints:
    return np.frombuffer(sent, dtype=">i8").astype(np.int64).reshape(-1, columns)
