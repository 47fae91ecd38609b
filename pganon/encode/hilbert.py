"""The Hilbert index of integer points in one SELECT, for any number of dimensions and bits.

The index is Skilling's ("Programming the Hilbert curve", AIP Conference Proceedings 707,
2004). His first loop goes from the highest bit q of the coordinates down to bit 1 and, on each
level, along the coordinates: where bit q of x_i is set, the bits of x_0 below q are inverted,
elsewhere they are swapped with those of x_i. What lies in x_0 is thus handed on from one coordinate
to the next, like this:

    hand = x_0 if bit q of x_0 is 0 else ~x_0
    for i = 1, 2, ...:  if bit q of x_i is 0:  x_i, hand = hand, x_i
                        else:                  hand = ~hand
    x_0 = hand

so that every value refers once to the one before it and CASE computes no more than it needs. Bits
from q upward turn into junk: bit q of every coordinate is put aside before. Read level by level,
the bits put aside are a Gray code, and the index is its decoding: each bit becomes the parity of
all bits up to it. (Skilling's last two loops do the same coordinate by coordinate.)

Every pass over the columns is a subquery that is :func:`computed_once`: written out, the text would
double with every level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.sqltools import cast, col, computed_once, fragment, named, num, query

WORD_BITS = 62
"""Bits of the index in a word; a bigint has room for them and no word is negative."""

_CHAIN = 16  # coordinates per pass: the last one's expression is that deep
_SHIFTS = ((1, 2, 3), (4, 8, 12), (16, 32, 48))  # give each bit the parity of the 64 up to it

_Columns = dict[str, exp.Expr]


def word_widths(dimensions: int, bits: int) -> list[int]:
    """Bits in every word of the index of points with `bits` bits in each dimension."""
    return _Shape(dimensions, bits).widths


def hilbert_index(
    points: exp.Select | QualifiedName, coordinates: Sequence[str], bits: int, keep: Sequence[str]
) -> exp.Select:
    """SELECT keep.., h0, h1, ..: the place of every point on the Hilbert curve.

    The words h<i> are bigints of :data:`WORD_BITS` bits, the last one of those that are left, most
    significant first: ordered by all of them, the points are in the order of the curve.

    Args:
        points: a relation with one row per point.
        coordinates: its columns with the coordinates, integers in [0, 2^bits) and not NULL.
            Higher bits are ignored.
        bits: bits of a coordinate, 1 to 62.
        keep: columns to carry over.
    """
    shape = _Shape(len(coordinates), bits)
    carried = [f"k{i}" for i in range(len(keep))]
    source: _Columns = {
        f"x{i}": cast(col(name, "p"), "bigint") for i, name in enumerate(coordinates)
    }
    source |= {inner: col(name, "p") for inner, name in zip(carried, keep, strict=True)}
    passes = [query("select 1 from p", {"p": points}).select(*_named(source), append=False)]
    for columns in (*_levels(shape), *_decoded(shape)):
        passes.append(exp.select(*_named({**columns, **_same(carried)})))
    kept = [named(col(inner), name) for inner, name in zip(carried, keep, strict=True)]
    result: _Columns = {}
    for number, (word, width) in enumerate(zip(shape.words, shape.widths, strict=True)):
        before = [col(name) for name in shape.words[:number]]
        result[f"h{number}"] = (
            fragment(
                ":word # (-(:before & 1) & :mask)",
                word=col(word),
                before=_parity(before),
                mask=num((1 << width) - 1),
            )
            if before
            else col(word)
        )
    last = exp.select(*kept, *_named(result))
    return _chained(passes, last, shape.stretch)


@dataclass(frozen=True)
class _Shape:
    """Dimensions and bits of the points, and values derived from them."""

    dimensions: int
    bits: int

    def __post_init__(self) -> None:
        if self.dimensions < 1 or not 1 <= self.bits <= WORD_BITS:
            raise ValueError(f"{self.dimensions} dimensions of {self.bits} bits")

    @property
    def coordinates(self) -> list[str]:
        return [f"x{i}" for i in range(self.dimensions)]

    @property
    def widths(self) -> list[int]:
        """Bits in every word."""
        full, remainder = divmod(self.dimensions * self.bits, WORD_BITS)
        return [WORD_BITS] * full + [remainder] * (remainder > 0)

    @property
    def words(self) -> list[str]:
        return [f"w{i}" for i in range(len(self.widths))]

    @property
    def stretch(self) -> int:
        """How many passes may be nested.

        The planner copies a subquery once for each subquery around it; beyond some 20 MB of
        copies it pays to store the rows in between, though these are then read by one process.
        """
        return isqrt(20_000 // (self.dimensions + len(self.widths) + 16))


def _levels(shape: _Shape) -> Iterator[_Columns]:
    """Columns of every pass, made of those of the pass before; at the end the Gray code."""
    xs = shape.coordinates
    words: _Columns = {}
    for bit in reversed(range(1, shape.bits)):
        words = _put_aside(shape, bit, words)
        hand = None
        for first in range(0, len(xs), _CHAIN):
            part = xs[first : first + _CHAIN]
            changed, hand = _handed_on(part, bit, hand)
            end = "x0" if part[-1] == xs[-1] else "hand"
            yield {**_same(xs), **words, **changed, end: hand}
            words, hand = _same(words), col("hand")
    yield _put_aside(shape, 0, words)


def _decoded(shape: _Shape) -> Iterator[_Columns]:
    """From words of a Gray code to words of its place."""
    for shifts in _SHIFTS:
        used = [shift for shift in shifts if shift < shape.widths[0]]
        if used:
            yield {word: _parity([col(word), *_shifted(word, used)]) for word in shape.words}


def _handed_on(part: Sequence[str], bit: int, hand: exp.Expr | None) -> tuple[_Columns, exp.Expr]:
    """New values of adjacent coordinates, and the value that the last of them hands on."""
    changed: _Columns = {}
    for name in part:
        x, mask = col(name), num(1 << bit)
        choice = "case when :x & :mask = 0 then :zero else :one end"
        if hand is None:
            hand = fragment(choice, x=x, mask=mask, zero=x, one=fragment("~:x", x=x))
        else:
            changed[name] = fragment(choice, x=x, mask=mask, zero=hand, one=x)
            inverted = fragment("~:hand", hand=hand)
            hand = fragment(choice, x=x, mask=mask, zero=x, one=inverted)
    assert hand is not None
    return changed, hand


def _put_aside(shape: _Shape, bit: int, words: _Columns) -> _Columns:
    """The words with this bit of every coordinate in its place."""
    result = dict(words)
    before = (shape.bits - 1 - bit) * shape.dimensions
    for place, name in enumerate(shape.coordinates, start=before):
        number, offset = divmod(place, WORD_BITS)
        word, width = shape.words[number], shape.widths[number]
        shift = width - 1 - offset - bit
        moved = fragment(
            "(:x & :mask) << :by" if shift >= 0 else "(:x & :mask) >> :by",
            x=col(name),
            mask=num(1 << bit),
            by=num(abs(shift)),
        )
        column = result.get(word)
        result[word] = (
            moved
            if column is None
            else exp.BitwiseOr(this=_operand(column), expression=exp.paren(moved))
        )
    return result


def _parity(expressions: Sequence[exp.Expr]) -> exp.Expr:
    result = expressions[0]
    for item in expressions[1:]:
        result = exp.BitwiseXor(this=result, expression=item)
    return result


def _shifted(word: str, shifts: Sequence[int]) -> list[exp.Expr]:
    return [exp.paren(fragment(":word >> :by", word=col(word), by=num(by))) for by in shifts]


def _operand(expression: exp.Expr) -> exp.Expr:
    """For the left of `|`. The server gives all bit operators one precedence, left to right."""
    alone = isinstance(expression, exp.Column | exp.BitwiseOr)
    return expression if alone else exp.paren(expression)


def _same(names: Sequence[str] | _Columns) -> _Columns:
    return {name: col(name) for name in names}


def _named(columns: _Columns) -> list[exp.Expr]:
    return [named(expression, name) for name, expression in columns.items()]


def _chained(passes: Sequence[exp.Select], last: exp.Select, stretch: int) -> exp.Select:
    """One query of SELECTs, each reading the one before.

    WITH keeps it flat for parsers; the server nests what is named by WITH and read once, unless
    it is MATERIALIZED.
    """
    for number, tree in enumerate(passes):
        name = exp.to_identifier(f"pass{number}", quoted=True)
        last.with_(
            name,
            as_=computed_once(tree),
            materialized=True if number % stretch == stretch - 1 else None,
            copy=False,
        )
        reader = passes[number + 1] if number + 1 < len(passes) else last
        reader.from_(exp.Table(this=name.copy()), copy=False)
    return last
