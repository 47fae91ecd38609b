"""Records in the order of a curve over their attributes, so that neighbours are similar."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.hilbert import Index, hilbert_index, index_words
from pganon.encode.records import NUMBER
from pganon.plan.sqltools import col, fragment, named, num, query
from pganon.plan.steps import State
from pganon.privacy.rows import Relation

FINER = 6
"""Bits of an index beyond what would tell evenly spread records apart."""


def on_curve(
    axes: Sequence[Axis],
    state: State,
    cells: Relation,
    keep: Sequence[str],
    bits: int | None = None,
    index: Index = hilbert_index,
) -> exp.Select:
    """SELECT keep.., h0, h1, ..: the index of every cell, from its codes.

    With fewer `bits` per coordinate than tell all values of an attribute apart, neighbouring values
    share a coordinate.
    """
    bits = bits or _bits(axes, state)
    top = 2**bits - 1
    tree = query("select c.* from c", {"c": cells})
    for axis in axes:
        last = axis.size(state) - 1 + int(axis.has_null(state))
        place = col(axis.code, "c")
        if axis.has_null(state):  # it comes last
            place = fragment(
                "(case when :c = 0 then :last else :c end)", c=place, last=num(last + 1)
            )
        tree = tree.select(named(_stretched(place, top, max(last, 1)), f"y{axis.index}"))
    return index(tree, [f"y{axis.index}" for axis in axes], bits, keep)


def _stretched(place: exp.Expr, top: int, last: int) -> exp.Expr:
    """(place - 1) * top / last, rounded, for places from 1.

    Over the whole range, so that every attribute divides the space from the first bit on.
    """
    if 2 * top * (last + 1) < 2**63:
        # Whole numbers are several times faster than numeric, and round the same.
        return fragment(
            "(:place::bigint * :steps + :half) / :whole",
            place=place,
            steps=num(2 * top),
            half=num(last - 2 * top),
            whole=num(2 * last),
        )
    return fragment(
        "round((:place - 1)::numeric * :top / :last)::bigint",
        place=place,
        top=num(top),
        last=num(last),
    )


def curve_order(axes: Sequence[Axis], state: State, table: str) -> list[exp.Expr]:
    """What to sort `table`, made by :func:`on_curve`, by."""
    words = index_words(len(axes), _bits(axes, state))
    return [col(f"h{word}", table) for word in range(words)]


def numbered(order: Sequence[exp.Expr]) -> exp.Expr:
    """The number of a row in this order, from 1."""
    return exp.Window(
        this=fragment("row_number()"),
        order=exp.Order(expressions=[exp.Ordered(this=item.copy()) for item in order]),
    )


def _bits(axes: Sequence[Axis], state: State) -> int:
    """Bits per coordinate: enough for the attribute with the most values, NULL among them."""
    most = max(axis.size(state) + int(axis.has_null(state)) for axis in axes)
    return max((most - 1).bit_length(), 1)


def along_curve(
    axes: Sequence[Axis],
    state: State,
    records: Relation,
    keep: Sequence[str],
    within: Sequence[str] = (),
    order: str = NUMBER,
    index: Index = hilbert_index,
) -> exp.Select:
    """SELECT keep.., place: records numbered along the curve, from 1.

    The curve is as fine as it takes to tell blocks of records apart; records in one of its cells
    are in random order.

    Args:
        records: codes and the columns `keep`, `within` and `order`.
        within: columns of the parts that are numbered each by itself.
        order: column with a random order of the records.
        index: which curve.
    """
    names = list(dict.fromkeys([*keep, *within, order]))
    enough = state.count("records").bit_length() + FINER
    bits = min(_bits(axes, state), max(1, -(-enough // len(axes))))
    curve = on_curve(axes, state, records, names, bits, index)
    words = range(index_words(len(axes), bits))
    place = numbered([*[col(f"h{word}", "h") for word in words], col(order, "h")])
    if within:
        place.set("partition_by", [col(name, "h") for name in within])
    tree = query("select 1 from h", {"h": curve})
    return tree.select(*[col(name, "h") for name in keep], named(place, "place"), append=False)
