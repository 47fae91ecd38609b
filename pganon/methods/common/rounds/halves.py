"""Both sides of the cuts that compete."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.methods.common.rounds.rule import CutRule, at
from pganon.sqltools import col, equal, query
from pganon.steps import State

SIDE = ("node", "attr", "is_left")


def halves(rule: CutRule, state: State) -> exp.Expr:
    """(node, attr, is_left, n, extents, [side columns]): both sides of these cuts."""
    tree = query(
        "select r.node, r.attr, r.cum <= b.cum as is_left, sum(r.w)::bigint as n"
        " from ranked as r join b on b.node = r.node and b.attr = r.attr"
        " group by r.node, r.attr, r.cum <= b.cum",
        {"b": rule.competing(state, rule.cuts(state)), **at(state, "ranked")},
    )
    merged = [axis for axis in rule.axes if rule.covers and axis.merged(state, "r")]
    tree = tree.select(*[item for axis in merged for item in axis.merged(state, "r")])
    tree = tree.select(*rule.side_columns(state))
    counted = [axis for axis in rule.axes if axis not in merged]
    if not counted:
        return tree
    return (
        query("select m.* from m", {"m": tree})
        .join(_counted(rule, state, counted).subquery("k"), on=equal(SIDE, "k", "m"))
        .select(*[col(item.alias, "k") for axis in counted for item in axis.extent(state, "c")])
    )


def _counted(rule: CutRule, state: State, counted: list[Axis]) -> exp.Select:
    """(node, attr, is_left, extents) of attributes whose extents `ranked` does not have."""
    side = exp.paren(rule.is_left(state, "b"))
    tree = query(
        "select b.node, b.attr, :left as is_left from cells as c join b on b.node = c.node",
        {"b": rule.competing(state, rule.cuts(state)), **at(state, "cells")},
        left=side,
    )
    tree = rule.with_place(state, tree, "b")
    tree = tree.select(*[item for axis in counted for item in axis.extent(state, "c")])
    return tree.group_by(col("node", "b"), col("attr", "b"), side.copy())
