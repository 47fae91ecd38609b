"""The method `danonyir`: classes grown in Python from the individuals of a block.

Wang, Du, Luo and Li 2019, Algorithm 1. In one block it is the paper's algorithm; blocks of similar
individuals bound its cost, which is quadratic in a block. Residuals join a class of their own block
or are suppressed.

    blocked   (block, rid)   individuals in blocks
    classed   (rid, gid)     the class of every individual that has one
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, Literal

import numpy as np
from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis
from pganon.methods.identity.individuals import block_steps, blocks
from pganon.methods.identity.shape import Shape, hull_columns
from pganon.methods.partitions import grouped_rows, rows_of_blocks
from pganon.plan.sqltools import col, named, query
from pganon.plan.steps import DropTables, Found, Search, State, Step
from pganon.policy import model as declared
from pganon.policy.identity import DAnonyIR
from pganon.search.identity.classes import Individuals
from pganon.search.identity.danonyir import danonyir
from pganon.search.identity.elements import Attribute, Categorical, Numeric
from pganon.search.identity.every import Every
from pganon.search.identity.feasibility import hopeless
from pganon.search.identity.models import EIRL, IRKL, IRAlphaBeta, Model, Person, eir_alpha_beta
from pganon.search.identity.tree import Tree

AT_ONCE = 20_000
"""Individuals whose blocks are read and searched in one batch."""

_WORD = (1 << 64) - 1


def danonyir_steps(shape: Shape) -> list[Step]:
    options = shape.spec.policy.method
    assert isinstance(options, DAnonyIR)
    size = options.block_size
    return [
        *block_steps(shape, size),
        Search(
            "classes",
            "classes grown individual by individual",
            lambda s: s.work("classed"),
            (("rid", "bigint"), ("gid", "bigint")),
            given=lambda s: _given(shape, s),
            batches=lambda s: -(-blocks(s, size) // _blocks_at_once(size)),
            rows=lambda s, batch: _rows(shape, s, batch, _blocks_at_once(size)),
            tasks=lambda s, given, rows: _tasks(shape, s, given, rows, options.residuals),
        ),
        DropTables("tidy", "the blocks", lambda s: [s.work("blocked")]),
    ]


def _blocks_at_once(size: int) -> int:
    return max(1, AT_ONCE // size)


def _given(shape: Shape, state: State) -> exp.Select:
    """Where values of ordered attributes are, and the trees of the others."""
    tree = query("select 1 as nothing")
    for axis in shape.axes:
        if isinstance(axis, OrderedAxis):
            tree = tree.select(named(axis.positions(state), f"places{axis.index}"))
        elif isinstance(axis, TreeAxis):
            tree = tree.select(named(axis.paths(state), f"paths{axis.index}"))
            tree = tree.select(named(axis.losses(state), f"losses{axis.index}"))
    return tree


def _rows(shape: Shape, state: State, batch: int, at_once: int) -> exp.Select:
    names = ["sensitive", *[name for axis in shape.axes for name in hull_columns(axis, state)]]
    blocked = query(
        "select b.block, b.rid from b join i on i.rid = b.rid",
        {"b": state.work("blocked"), "i": state.work("individuals")},
    ).select(*[col(name, "i") for name in names])
    return rows_of_blocks(blocked, names, batch, at_once)


def _tasks(
    shape: Shape,
    state: State,
    given: Mapping[str, Any],
    rows: Sequence[tuple[Any, ...]],
    residuals: str,
) -> list[_Grow]:
    readers = [_reader(axis, state, given) for axis in shape.axes]
    return [
        _Grow(
            block=block,
            rows=tuple(found),
            readers=readers,
            model=_model(shape),
            handle="loss" if residuals == "generalize" else "suppress",
        )
        for block, found in groupby(rows, key=lambda row: row[0])
    ]


# -- the model --------------------------------------------------------------------------------


def _model(shape: Shape) -> Model:
    return Every(tuple(_search_model(d) for d in shape.spec.policy.privacy))


def _search_model(declaration: declared.PrivacyModel) -> Model:
    match declaration:
        case declared.IRKAnonymity():
            return IRKL(declaration.k)
        case declared.IRKLAnonymity():
            return IRKL(declaration.k, declaration.l)
        case declared.EIRLDiversity():
            return EIRL(declaration.l)
        case declared.IRAlphaBetaAnonymity():
            return IRAlphaBeta(_exact(declaration.alpha), _exact(declaration.beta))
        case declared.EIRAlphaBetaAnonymity():
            return eir_alpha_beta(_exact(declaration.alpha), _exact(declaration.beta))
        case _:
            raise TypeError(f"not a model of identity reservation: {declaration.model}")


def _exact(share: float) -> Fraction:
    """The share as it was written: 0.57 is 57/100, which no binary number is."""
    return Fraction(str(share))


# -- reading individuals ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    """Reads (lo, hi, [null]) of an ordered attribute."""

    places: tuple[float, ...]
    nulls: bool

    @property
    def width(self) -> int:
        return 2 + self.nulls

    def read(self, columns: Sequence[Sequence[Any]]) -> tuple[Attribute, np.ndarray]:
        places = (float("nan"), *self.places)
        domain = Numeric(0.0, 1.0 if len(self.places) > 1 else 0.0, self.nulls)
        low = [places[code or 0] for code in columns[0]]
        high = [places[code or 0] for code in columns[1]]
        return domain, domain.parts(low, high, columns[2] if self.nulls else None)


@dataclass(frozen=True)
class _Words:
    """Reads the bit words of a nominal attribute."""

    size: int
    codes: int
    width: int

    def read(self, columns: Sequence[Sequence[Any]]) -> tuple[Attribute, np.ndarray]:
        domain = Categorical(self.size, self.codes)
        return domain, domain.parts(_codes(words) for words in zip(*columns, strict=True))


def _codes(words: Sequence[int]) -> list[int]:
    return [
        64 * place + bit
        for place, word in enumerate(words)
        for bit in range(64)
        if (word & _WORD) >> bit & 1
    ]


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Reads (lo, hi, [null]) of an attribute with a hierarchy: leaves from left to right."""

    paths: np.ndarray
    costs: np.ndarray
    nulls: bool

    @property
    def width(self) -> int:
        return 2 + self.nulls

    def read(self, columns: Sequence[Sequence[Any]]) -> tuple[Attribute, np.ndarray]:
        domain = Tree(self.paths, nulls=self.nulls, costs=self.costs)
        nulls = columns[2] if self.nulls else [False] * len(columns[0])
        sets = (
            {code for code in (lo, hi) if code} | ({0} if null else set())
            for lo, hi, null in zip(columns[0], columns[1], nulls, strict=True)
        )
        return domain, domain.parts(sets)


_Reader = _Line | _Words | _Nodes


def _reader(axis: Axis, state: State, given: Mapping[str, Any]) -> _Reader:
    if isinstance(axis, NominalAxis):
        return _Words(axis.domain(state), axis.size(state) + 1, len(hull_columns(axis, state)))
    if isinstance(axis, TreeAxis):
        return _nodes(axis, state, given)
    return _Line(tuple(given[f"places{axis.index}"] or ()), axis.has_null(state))


def _nodes(axis: TreeAxis, state: State, given: Mapping[str, Any]) -> _Nodes:
    """Row 0 is NULL, which has nothing above it but the root."""
    levels, size = axis.levels(state), axis.size(state)
    paths = np.zeros((size + 1, levels), dtype=np.int64)
    costs = np.zeros((size + 1, levels + 1))
    costs[0, levels] = 1.0
    if size:
        paths[1:] = np.array(given[f"paths{axis.index}"]).reshape(size, levels)
        costs[1:] = np.array(given[f"losses{axis.index}"], dtype=float).reshape(size, levels + 1)
    if axis.has_null(state):
        costs[:, levels] = 1.0
    return _Nodes(paths, costs, axis.has_null(state))


@dataclass(frozen=True, eq=False)
class _Grow:
    """One block."""

    block: int
    rows: Sequence[tuple[Any, ...]]
    readers: Sequence[_Reader]
    model: Model
    handle: Literal["loss", "suppress"]

    def __call__(self) -> Found:
        people = [Person(Counter(row[2])) for row in self.rows]
        kept = self._kept(people)
        if not kept:
            return Found([])
        those_rows = [self.rows[at] for at in kept]
        domains, parts = self._attributes(those_rows)
        those = [people[at] for at in kept]
        records = np.array([person.records for person in those])
        base = sum(
            (records * domain.costs(part) for domain, part in zip(domains, parts, strict=True)),
            np.zeros(len(those)),
        )
        found = danonyir(Individuals(parts, those, base), self.model, domains, handle=self.handle)
        return Found(grouped_rows(self.block, [row[1] for row in those_rows], found.classes))

    def _kept(self, people: Sequence[Person]) -> list[int]:
        """Without individuals of whom no class of the block can hold all records."""
        assert isinstance(self.model, Every)
        left_out: set[int] = set()
        for model in self.model.models:
            if isinstance(model, IRAlphaBeta):
                left_out.update(hopeless(people, model.alpha))
        return [at for at in range(len(people)) if at not in left_out]

    def _attributes(
        self, rows: Sequence[tuple[Any, ...]]
    ) -> tuple[list[Attribute], list[np.ndarray]]:
        columns = list(zip(*[row[3:] for row in rows], strict=True))
        domains: list[Attribute] = []
        parts: list[np.ndarray] = []
        at = 0
        for reader in self.readers:
            domain, part = reader.read(columns[at : at + reader.width])
            domains.append(domain)
            parts.append(part)
            at += reader.width
        return domains, parts
