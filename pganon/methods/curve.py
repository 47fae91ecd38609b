"""Records in the order of a Hilbert curve over their attributes, so that neighbours are similar."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.hilbert import hilbert_index, hilbert_words
from pganon.plan.sqltools import cast, col, fragment, named, num, query
from pganon.plan.steps import State
from pganon.privacy.rows import Relation


def on_curve(
    axes: Sequence[Axis], state: State, cells: Relation, keep: Sequence[str]
) -> exp.Select:
    """SELECT keep.., h0, h1, ..: the index of every cell, from its codes."""
    bits = _bits(axes, state)
    top = 2**bits - 1
    tree = query("select c.* from c", {"c": cells})
    for axis in axes:
        last = axis.size(state) - 1 + int(axis.has_null(state))
        # Ranks are stretched over the whole range, so that every attribute divides the space
        # from the first bit on; NULL comes last.
        rank = fragment(
            "(case when :c = 0 then :last else :c - 1 end)::numeric",
            c=col(axis.code, "c"),
            last=num(max(last, 0)),
        )
        scaled = fragment(":r * :top / :last", r=rank, top=num(top), last=num(max(last, 1)))
        tree = tree.select(named(cast(exp.func("round", scaled), "bigint"), f"y{axis.index}"))
    return hilbert_index(tree, [f"y{axis.index}" for axis in axes], bits, keep)


def curve_order(axes: Sequence[Axis], state: State, table: str) -> list[exp.Expr]:
    """What to sort `table`, made by :func:`on_curve`, by."""
    words = hilbert_words(len(axes), _bits(axes, state))
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


def spots(axes: Sequence[Axis], state: State, records: Relation) -> exp.Select:
    """SELECT spot, c<i>: the place on the curve of all codes that records have, from 1."""
    codes = [axis.code for axis in axes]
    cells = query("select distinct 1 from k", {"k": records}).select(
        *[col(code, "k") for code in codes], append=False
    )
    tree = query(
        "select :spot::int as spot from h",
        {"h": on_curve(axes, state, cells, codes)},
        spot=numbered(curve_order(axes, state, "h")),
    )
    return tree.select(*[col(code, "h") for code in codes])


def places(
    axes: Sequence[Axis],
    records: Relation,
    found: Relation,
    keep: Sequence[str],
    within: Sequence[str] = (),
) -> exp.Select:
    """SELECT keep.., place: records numbered along the curve, from 1.

    Equal quasi-identifiers are in random order on their spot.

    Args:
        records: codes, `rid` and the columns `keep` and `within`.
        found: what :func:`spots` selects.
        within: columns of the parts that are numbered each by itself.
    """
    same = exp.and_(
        *[exp.EQ(this=col(axis.code, "k"), expression=col(axis.code, "s")) for axis in axes]
    )
    place = numbered([col("spot", "s"), col("rid", "k")])
    if within:
        place.set("partition_by", [col(name, "k") for name in within])
    tree = query("select 1 from k join s on :same", {"k": records, "s": found}, same=same)
    return tree.select(*[col(name, "k") for name in keep], named(place, "place"), append=False)
