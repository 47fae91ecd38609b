"""Keys of records: every value as its path from the root of its hierarchy, side by side.

    labels<i>  (code, level, lo, child, loss)  the label of every value on every level: the first
               code below it, and its number among the children of the label above
    slots<i>   (code, level, slot, n, cost, gap)  its number, and its loss

A level is a mask, and the class of a record on a node is `key & mask`. NULL is one more bit, which
the mask of the root clears under `nulls: as_value`, so that NULL joins the values there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis, axes
from pganon.errors import PganonError
from pganon.methods.classes.full_domain.search.lattice import Node
from pganon.resolved.model import ReleaseSpec, Shown
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked
from pganon.steps import State
from pganon.steps.facts import Fact, count, label

WORD = 62
"""Bits of a key that one bigint holds."""


def labels(axis: Axis, state: State):
    return state.work(f"labels{axis.index}")


def slots(axis: Axis, state: State):
    return state.work(f"slots{axis.index}")


def height(axis: Axis, state: State) -> int:
    """The level of the root."""
    return axis.levels(state) if isinstance(axis, TreeAxis) else 1


def shape(axis: Axis) -> Fact[str]:
    """The highest number of a child by level, from the values up: `3.1`; empty without a level."""
    return label(f"shape{axis.index}", assumed="1")


def ambiguous(axis: Axis) -> Fact[int]:
    """Labels that stand for other values on one level than on another."""
    return count(f"ambiguous{axis.index}", assumed=0)


def field_bits(text: str) -> int:
    """Bits that a shape takes."""
    return sum(int(most).bit_length() for most in text.split(".") if most)


def labels_of(axis: Axis, state: State) -> exp.Select:
    """SELECT (code, level, lo, child, loss)."""
    placed = _placed(axis, state)
    return query(
        "select p.code, p.level, p.lo, p.loss, (dense_rank() over"
        " (partition by p.level, u.lo order by p.lo) - 1)::bigint as child"
        " from p left join u on u.code = p.code and u.level = p.level + 1",
        {"p": placed, "u": placed},
    )


def _placed(axis: Axis, state: State) -> exp.Select:
    """SELECT (code, level, lo, loss): of a column without a hierarchy every value, and all."""
    if isinstance(axis, TreeAxis):
        return query("select t.code, t.level, t.lo, t.loss from t", {"t": axis.table(state)})
    values = query(
        "select d.code, d.position from d where d.code > 0", {"d": axis.dictionary(state)}
    )
    own = query("select v.code, 0 as level, v.code as lo, 0::float8 as loss from v", {"v": values})
    if isinstance(axis, OrderedAxis):
        loss = fragment("max(v.position) over () - min(v.position) over ()")
    else:
        assert isinstance(axis, NominalAxis)
        every = num(axis.size(state) + int(axis.has_null(state)))
        loss = axis.loss_of(state, every)
    whole = query(
        "select v.code, 1 as level, 1 as lo, :loss as loss from v", {"v": values}, loss=loss
    )
    return stacked([own, whole])


def shapes(spec: ReleaseSpec, state: State) -> exp.Select:
    """One row of :func:`shape` and :func:`ambiguous`."""
    tree = exp.select()
    for axis in axes(spec.attributes):
        most = query(
            "select max(l.child) as most, l.level from l where l.level < :top group by l.level",
            {"l": labels(axis, state)},
            top=num(height(axis, state)),
        )
        text = query(
            "select coalesce(array_to_string(array_agg(m.most order by m.level), '.'), '') from m",
            {"m": most},
        )
        tree = tree.select(
            named(scalar(text), shape(axis).column),
            named(_ambiguous(axis, state), ambiguous(axis).column),
        )
    return tree


def _ambiguous(axis: Axis, state: State) -> exp.Expr:
    if axis.attribute.form is not Shown.LABEL or not isinstance(axis, TreeAxis):
        return num(0)
    twice = query(
        "select t.label from t group by t.label having count(distinct t.lo) > 1"
        " or count(distinct t.hi) > 1",
        {"t": axis.table(state)},
    )
    return scalar(query("select count(*) from x", {"x": twice}))


@dataclass(frozen=True)
class Field:
    """The bits of one quasi-identifier in a key.

    Attributes:
        word, shift: the word that holds it, and its lowest bit there.
        widths: bits of a child's number by level, from the values up.
        null: whether one more bit says that there is no value.
        root_joins: whether NULL joins the values at the root.
    """

    word: int
    shift: int
    widths: tuple[int, ...]
    null: bool
    root_joins: bool

    @property
    def size(self) -> int:
        return sum(self.widths) + int(self.null)

    def below(self, level: int) -> int:
        """Bits below those of a level."""
        return sum(self.widths[:level])

    def slot_bits(self, level: int) -> int:
        """Bits that tell labels of a level apart."""
        return self.size - self.below(level)

    def mask(self, level: int) -> int:
        """The bits that a level keeps."""
        if level == len(self.widths) and self.root_joins:
            return 0
        return ((1 << self.slot_bits(level)) - 1) << (self.shift + self.below(level))


@dataclass(frozen=True)
class Layout:
    """Where the bits of all quasi-identifiers are."""

    axes: tuple[Axis, ...]
    state: State

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        found: list[Field] = []
        word = used = 0
        for axis in self.axes:
            top = height(axis, self.state)
            text = self.state[shape(axis)]
            widths = [int(most).bit_length() for most in text.split(".") if most]
            widths += [0] * (top - len(widths))  # nothing but NULLs
            field = Field(
                word,
                used,
                tuple(widths[:top]),
                axis.has_null(self.state),
                axis.attribute.nulls == "as_value" and axis.has_null(self.state),
            )
            if field.size > WORD:
                raise PganonError(f"paths of quasi-identifier {axis.index} have {field.size} bits")
            if used + field.size > WORD:
                word, used = word + 1, 0
                field = Field(word, 0, field.widths, field.null, field.root_joins)
            used += field.size
            found.append(field)
        return tuple(found)

    @property
    def heights(self) -> Node:
        return tuple(len(field.widths) for field in self.fields)

    @property
    def words(self) -> tuple[str, ...]:
        """Columns of a key."""
        return tuple(f"k{number}" for number in range(self.fields[-1].word + 1))

    def masks(self, node: Node) -> tuple[int, ...]:
        """What a node keeps of every word."""
        kept = [0] * len(self.words)
        for field, level in zip(self.fields, node, strict=True):
            kept[field.word] |= field.mask(level)
        return tuple(kept)

    def masked(self, node: Node, table: str) -> list[exp.Expr]:
        """The key of a class of the node, from the keys in `table`."""
        return [
            named(fragment(":k & :mask", k=col(word, table), mask=num(mask)), word)
            for word, mask in zip(self.words, self.masks(node), strict=True)
        ]

    def keys(self, table: str) -> list[exp.Expr]:
        """The key of a record, from its codes in `table`."""
        parts: list[list[exp.Expr]] = [[] for _ in self.words]
        for axis, field in zip(self.axes, self.fields, strict=True):
            paths = query(
                "select array_agg(s.slot << :shift order by s.code) from s where s.level = 0",
                {"s": slots(axis, self.state)},
                shift=num(field.shift),
            )
            first = num(1 if axis.has_null(self.state) else 0)
            parts[field.word].append(
                fragment(
                    "(:paths)[:code + :first]",
                    paths=scalar(paths),
                    code=col(axis.code, table),
                    first=first,
                )
            )
        return [named(_either(part), word) for part, word in zip(parts, self.words, strict=True)]

    def slot(self, place: int, level: int, table: str) -> exp.Expr:
        """Number of the label of a quasi-identifier on a level, from 0."""
        field = self.fields[place]
        # No cast to integer: sqlglot would take it for an index from 0.
        return fragment(
            "(:k >> :shift) & :mask",
            k=col(self.words[field.word], table),
            shift=num(field.shift + field.below(level)),
            mask=num((1 << field.slot_bits(level)) - 1),
        )


def _either(parts: list[exp.Expr]) -> exp.Expr:
    result = parts[0]
    for part in parts[1:]:
        result = fragment(":a | :b", a=result, b=part)
    return result


def slots_of(layout: Layout, place: int) -> exp.Select:
    """SELECT (code, level, lo, loss, slot): the numbers of all labels, NULL among them."""
    axis, field, state = layout.axes[place], layout.fields[place], layout.state
    offsets = [field.below(level) for level in range(len(field.widths) + 1)]
    array = exp.Array(expressions=[num(offset) for offset in offsets])
    paths = query(
        "select l.code, l.level, l.lo, l.loss,"
        " sum(u.child << (:at[u.level + 1] - :at[l.level + 1]))::bigint as slot"
        " from l join u on u.code = l.code and u.level >= l.level"
        " group by l.code, l.level, l.lo, l.loss",
        {"l": labels(axis, state), "u": labels(axis, state)},
        at=exp.paren(array),
    )
    if not axis.has_null(state):
        return paths
    missing = query(
        "select 0 as code, x.level, 0 as lo, 0::float8 as loss,"
        " 1::bigint << (:all - :at[x.level + 1]) as slot from generate_series(0, :top) as x(level)",
        at=exp.paren(array.copy()),
        all=num(sum(field.widths)),
        top=num(len(field.widths)),
    )
    return stacked([paths, missing])
