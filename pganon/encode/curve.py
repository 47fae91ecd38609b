"""Records in the order of a curve over their attributes, so that neighbours are similar."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.gray import gray_summand
from pganon.encode.hilbert import hilbert_index, word_widths
from pganon.encode.records import NUMBER, PLACE
from pganon.privacy.rows import Relation
from pganon.sqltools import cast, col, fragment, named, num, query
from pganon.steps import State
from pganon.steps.facts import RECORDS

FINER = 6
"""Bits of an index beyond those that would distinguish evenly spread records."""

_MANY = 7
"""Attributes from which on both curves give blocks of the same spread: the mean over ACS, Adult and
a generated table is 1.00 then (0.93 to 1.07), 1.03 with six attributes and 3 with one."""


def on_curve(
    axes: Sequence[Axis],
    state: State,
    cells: Relation,
    keep: Sequence[str],
    bits: int | None = None,
) -> exp.Select:
    """SELECT keep.., h0, h1, ..: the Hilbert index of every cell, from its codes.

    With too few `bits` per coordinate to distinguish all values of an attribute, neighbouring
    values share a coordinate.
    """
    bits = bits or _bits(axes, state)
    tree = query("select c.* from c", {"c": cells})
    for axis in axes:
        place = _coordinate(axis, state, col(axis.code, "c"), bits)
        tree = tree.select(named(place, f"y{axis.index}"))
    return hilbert_index(tree, [f"y{axis.index}" for axis in axes], bits, keep)


def adds_up(axes: Sequence[Axis]) -> bool:
    """Whether records go along the curve of Gray codes.

    With few attributes Hilbert's is better by far; with many it is as good, and takes long.
    """
    return len(axes) >= _MANY


def summand(
    axes: Sequence[Axis], number: int, state: State, code: exp.Expr, bits: int
) -> tuple[exp.Expr, ...]:
    """Bits of the value with a code in the index on the curve of Gray codes, word by word."""
    place = cast(exp.paren(_coordinate(axes[number], state, code, bits)), "bigint")
    return gray_summand(place, number, len(axes), bits)


def _coordinate(axis: Axis, state: State, code: exp.Expr, bits: int) -> exp.Expr:
    """From 0 to 2^bits - 1; NULL comes last."""
    last = axis.size(state) - 1 + int(axis.has_null(state))
    if axis.has_null(state):
        code = fragment("(case when :c = 0 then :last else :c end)", c=code, last=num(last + 1))
    return _stretched(code, 2**bits - 1, max(last, 1))


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


def curve_words(axes: Sequence[Axis], state: State, bits: int | None = None) -> list[str]:
    """Columns of an index, most significant first."""
    return [f"h{i}" for i in range(len(word_widths(len(axes), bits or _bits(axes, state))))]


def numbered(order: Sequence[exp.Expr], within: Sequence[exp.Expr] = ()) -> exp.Window:
    """The number of a row in this order, from 1."""
    return exp.Window(
        this=fragment("row_number()"),
        partition_by=[item.copy() for item in within],
        order=exp.Order(expressions=[exp.Ordered(this=item.copy()) for item in order]),
    )


def piece_of(place: exp.Expr, pieces: exp.Expr, records: exp.Expr) -> exp.Expr:
    """The piece, from 0, of a place from 1, if there are as many records in each, to one."""
    return fragment(
        "((:place - 1)::bigint * :pieces / :records)::int",
        place=place,
        pieces=pieces,
        records=records,
    )


def _bits(axes: Sequence[Axis], state: State) -> int:
    """Bits per coordinate: enough for the attribute with the most values, NULL among them."""
    most = max(axis.size(state) + int(axis.has_null(state)) for axis in axes)
    return max((most - 1).bit_length(), 1)


def coarse_bits(axes: Sequence[Axis], state: State) -> int:
    """Bits per coordinate: as many as it takes to distinguish blocks of records."""
    enough = state[RECORDS].bit_length() + FINER
    return min(_bits(axes, state), max(1, -(-enough // len(axes))))


def along_curve(
    axes: Sequence[Axis],
    state: State,
    records: Relation,
    keep: Sequence[str],
    within: Sequence[str] = (),
    order: str = NUMBER,
) -> exp.Select:
    """SELECT keep.., place: records numbered along the Hilbert curve, from 1.

    The curve is as fine as it takes to distinguish blocks of records; records in one of its cells
    are in random order.

    Args:
        records: codes and the columns `keep`, `within` and `order`.
        within: columns of the parts, each of which is numbered separately.
        order: column with a random order of the records.
    """
    names = list(dict.fromkeys([*keep, *within, order]))
    curve = on_curve(axes, state, records, names, coarse_bits(axes, state))
    return placed(axes, state, curve, keep, within, order)


def placed(
    axes: Sequence[Axis],
    state: State,
    curve: exp.Select,
    keep: Sequence[str],
    within: Sequence[str] = (),
    order: str = NUMBER,
) -> exp.Select:
    """The same of records that have the words of a coarse index."""
    words = curve_words(axes, state, coarse_bits(axes, state))
    place = numbered(
        [col(name, "h") for name in (*words, order)], [col(name, "h") for name in within]
    )
    tree = query("select 1 from h", {"h": curve})
    return tree.select(*[col(name, "h") for name in keep], named(place, PLACE), append=False)
