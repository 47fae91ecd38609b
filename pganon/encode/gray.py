"""The place of integer points on the curve of Gray codes.

Faloutsos, "Gray codes for partial match and range queries", IEEE Transactions on Software
Engineering 14, 1988: the bits of the coordinates level by level, from the highest on, are read as a
Gray code. Points one after the other differ in one bit of one coordinate.

A place is the sum modulo 2 of one number for every coordinate, since each of its bits is the
parity of all bits of the code up to it. A dictionary can thus say what a value adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from sqlglot import exp

from pganon.encode.hilbert import word_widths
from pganon.sqltools import chain, fragment, num


def gray_summand(
    coordinate: exp.Expr, number: int, dimensions: int, bits: int
) -> tuple[exp.Expr, ...]:
    """Bits of a coordinate in the words of the place, most significant word first.

    Words are those of :func:`pganon.encode.hilbert.word_widths`, as bigints.

    Args:
        coordinate: a bigint in [0, 2^bits). Higher bits are ignored.
        number: which of the coordinates it is, from 0.
    """
    widths = word_widths(dimensions, bits)
    ends = list(accumulate(widths))
    words: list[exp.Expr] = []
    for width, end in zip(widths, ends, strict=True):
        added: list[exp.Expr] = []
        for bit in reversed(range(bits)):
            place = (bits - 1 - bit) * dimensions + number
            if place < end:
                ones = (1 << min(end - place, width)) - 1
                added.append(
                    fragment(
                        "-(:x >> :bit & 1) & :ones", x=coordinate, bit=num(bit), ones=num(ones)
                    )
                )
        words.append(sum_modulo_2(added))
    return tuple(words)


def sum_modulo_2(numbers: Sequence[exp.Expr]) -> exp.Expr:
    """Bit by bit; 0 of no numbers."""
    return chain(exp.BitwiseXor, numbers) if numbers else fragment("0::bigint")
