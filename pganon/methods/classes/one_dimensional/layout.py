"""What searches read of a run besides units: attributes, their digits, distributions, the seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.secrets import run_secret
from pganon.methods.classes.mondrian.conditions import reference_kinds, reference_table
from pganon.methods.classes.one_dimensional.line import BEHIND, Line
from pganon.methods.classes.one_dimensional.search import attributes as search
from pganon.methods.classes.one_dimensional.search.digits import (
    Digit,
    digits,
)
from pganon.methods.classes.one_dimensional.search.ordering import moved_behind
from pganon.methods.common.attribute_arrays import attribute_arrays, given_with_losses
from pganon.methods.common.block_search import Given
from pganon.methods.common.search.attributes import Nominal, Ordered, Tree
from pganon.sqltools import col, named, num, query, scalar
from pganon.steps import State


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
    match attribute_arrays(axis, state, given):
        case Ordered(places=places):
            return search.Line(*seen, places)
        case Tree(paths=paths, losses=losses):
            return search.Tree(*seen, paths, losses)
        case Nominal(domain=domain):
            return search.Names(*seen, domain)


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
