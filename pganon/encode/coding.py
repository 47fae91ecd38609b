"""Records as codes: one query over the snapshot, which joins it with all dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.combination import COMBINATION, combined, weighted_sum
from pganon.encode.curve import adds_up, coarse_bits, curve_words, on_curve, placed, summand
from pganon.encode.gray import sum_modulo_2
from pganon.encode.lookups import Joined, dictionary, joined
from pganon.encode.people import owner_columns
from pganon.encode.records import (
    DRAW,
    TIMES,
    hides,
    number_of,
    numbered_by,
    random_order,
    tells_hidden,
)
from pganon.encode.semi_sensitive import applies
from pganon.encode.sensitive import looked_up_code, with_code
from pganon.encode.value_codes import valued
from pganon.encode.work import SNAP, WEIGHT, weighs
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, num, query, total
from pganon.steps import State

_ADDED = "added"
"""Column of a lookup: what its values add to the number of a combination."""


def kept_records(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT of `coded`; see :mod:`pganon.encode.codes`."""
    every = axes(spec.attributes)
    if not spec.policy.method.encoding.along_curve:
        return _where_kept(spec, _records(spec, state, []))
    words = curve_words(every, state, coarse_bits(every, state)) if adds_up(every) else []
    records = _where_kept(spec, _records(spec, state, words))
    names = [name for name in records.named_selects if name not in words]
    if not words:
        records = on_curve(every, state, records, names, coarse_bits(every, state))
    return placed(every, state, records, names, order=DRAW)


def left_out_records(spec: ReleaseSpec, state: State) -> exp.Select:
    """The same of the records that the rules for NULL suppress; they have no place on a curve."""
    unknown = _unknown(spec)
    assert unknown is not None
    return _records(spec, state, []).where(unknown)


def unknown_records(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT one row with `unknown`, their number."""
    unknown = _unknown(spec)
    if unknown is None:
        return query("select 0 as unknown")
    number = number_of(spec, "t")
    return query("select :n as unknown from t", {"t": state.work(SNAP)}, n=number).where(unknown)


def suppresses_nulls(spec: ReleaseSpec) -> bool:
    """Whether there are rules for NULL that leave records out."""
    return any(attribute.nulls == "suppress" for attribute in spec.attributes)


def _where_kept(spec: ReleaseSpec, tree: exp.Select) -> exp.Select:
    unknown = _unknown(spec)
    return tree if unknown is None else tree.where(exp.not_(unknown))


def _unknown(spec: ReleaseSpec) -> exp.Expr | None:
    unknown = [
        _missing(attribute) for attribute in spec.attributes if attribute.nulls == "suppress"
    ]
    return exp.paren(exp.or_(*unknown)) if unknown else None


def _missing(attribute: Attribute) -> exp.Expr:
    missing = fragment(":q is null", q=col(f"q{attribute.index}", "t"))
    condition = applies(attribute, "t")
    return missing if condition is None else exp.paren(exp.and_(condition, missing))


def _records(spec: ReleaseSpec, state: State, words: list[str]) -> exp.Select:
    """All records, with the `words` of their index on the curve of Gray codes."""
    tree = query("select 1 from t", {"t": state.work(SNAP)})
    every = axes(spec.attributes)
    index = _Index(every, state, words)
    numbered = combined(spec, state)
    numbers: list[exp.Expr] = []
    codes: dict[int, exp.Expr] = {}
    summands: list[list[exp.Expr]] = [[] for _ in words]

    def computed(together: Sequence[Axis]) -> list[exp.Expr]:
        added = [named(_combined(spec, state, together), _ADDED)] if numbered else []
        return [*index.sums(together), *added]

    for lookup in _lookups(every, state, computed):
        same = [
            exp.EQ(this=lookup.column(axis, "value"), expression=col(f"q{axis.index}", "t"))
            for axis in lookup.axes
        ]
        relation = lookup.relation(state)
        tree = tree.join(relation, on=exp.and_(*same), join_type="left", copy=False)
        for axis in lookup.axes:
            code = fragment("coalesce(:code, 0)", code=lookup.column(axis, "code"))
            codes[axis.index] = named(cast(code, axis.code_type(state)), axis.code)
        for bits, word in zip(summands, index.of(lookup), strict=True):
            bits.append(word)
        numbers.append(fragment("coalesce(:n, 0)", n=col(_ADDED, lookup.alias)))
    columns = [codes[axis.index] for axis in every]
    columns += [named(total(numbers), COMBINATION)] if numbered else []
    columns += [named(col(f"s{item.index}", "t"), f"v{item.index}") for item in spec.sensitive]
    columns += [col(f"p{item.index}", "t") for item in spec.carried]
    columns += [col(WEIGHT, "t")] if weighs(spec) or spec.averaged else []
    columns += [col(f"g{item.index}", "t") for item in spec.microaggregated]
    columns += [col("record", "t")] if spec.record_key else []
    owners = ["individual"] if spec.individual else owner_columns(spec)
    columns += [col(name, "t") for name in owners]
    columns += [col(hidden.flag, "t") for hidden in spec.hidden]
    columns += [hides(spec, "t")] if tells_hidden(spec) else []
    columns += [col("cohort", "t")] if spec.in_cohorts else []
    columns += [col(TIMES, "t")] if spec.counted else []
    by = numbered_by(spec)
    columns += random_order(spec, state, "t", looked_up_code(by, state) if by else None)
    sums = zip(words, summands, strict=True)
    columns += [named(sum_modulo_2(bits), word) for word, bits in sums]
    tree = tree.select(*columns, append=False)
    for item in valued(spec):
        tree = with_code(tree, item, col(f"s{item.index}", "t"), state)
    return tree


def _lookups(
    every: tuple[Axis, ...], state: State, computed: Callable[[Sequence[Axis]], list[exp.Expr]]
) -> Iterator[Joined]:
    """An attribute with NULL is looked up alone: a record with NULL has no row there."""
    yield from joined([axis for axis in every if not axis.has_null(state)], state, computed)
    for axis in every:
        if axis.has_null(state):
            yield Joined((axis,), tuple(computed([axis])))


def _combined(spec: ReleaseSpec, state: State, together: Sequence[Axis]) -> exp.Expr:
    """What a combination of values adds to the number of all."""
    code = {axis.index: col("code", dictionary(axis)) for axis in together}
    attributes = [axis.attribute for axis in together]
    return weighted_sum(spec, state, attributes, lambda attribute: code[attribute.index])


@dataclass(frozen=True)
class _Index:
    """Bits of values in the `words` of an index on the curve of Gray codes, if there are any."""

    every: tuple[Axis, ...]
    state: State
    words: list[str]

    def sums(self, together: Sequence[Axis]) -> list[exp.Expr]:
        """Bits of a combination of values, named as the words."""
        if not self.words:
            return []
        added = [self._summand(axis, col("code", dictionary(axis))) for axis in together]
        sums = [sum_modulo_2(word) for word in zip(*added, strict=True)]
        return [named(word, name) for word, name in zip(sums, self.words, strict=True)]

    def of(self, lookup: Joined) -> list[exp.Expr]:
        """The same of a record that was looked up."""
        (first, *_) = lookup.axes
        words: list[exp.Expr] = [col(word, lookup.alias) for word in self.words]
        if not self.words or not first.has_null(self.state):
            return words
        return [
            fragment("coalesce(:word, :null)", word=word, null=null)
            for word, null in zip(words, self._summand(first, num(0)), strict=True)
        ]

    def _summand(self, axis: Axis, code: exp.Expr) -> tuple[exp.Expr, ...]:
        return summand(self.every, self.every.index(axis), self.state, code, self._bits)

    @cached_property
    def _bits(self) -> int:
        return coarse_bits(self.every, self.state)
