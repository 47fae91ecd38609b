"""Records as codes: one query over the snapshot, which joins it with all dictionaries."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.curve import adds_up, coarse_bits, curve_words, on_curve, placed, summand
from pganon.encode.gray import sum_modulo_2
from pganon.encode.joined import Joined, joined
from pganon.encode.records import DRAW, random_order
from pganon.encode.sensitive import valued, with_code
from pganon.plan.sqltools import cast, col, computed_once, fragment, named, num, query
from pganon.plan.steps import State
from pganon.spec.model import ReleaseSpec


def kept_records(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT of `coded`; see :mod:`pganon.encode.codes`."""
    every = axes(spec.attributes)
    if not spec.policy.method.along_curve:
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


def _where_kept(spec: ReleaseSpec, tree: exp.Select) -> exp.Select:
    unknown = _unknown(spec)
    return tree if unknown is None else tree.where(exp.not_(unknown))


def _unknown(spec: ReleaseSpec) -> exp.Expr | None:
    unknown = [
        fragment(":q is null", q=col(f"q{attribute.index}", "t"))
        for attribute in spec.attributes
        if attribute.nulls == "suppress"
    ]
    return exp.paren(exp.or_(*unknown)) if unknown else None


def _records(spec: ReleaseSpec, state: State, words: list[str]) -> exp.Select:
    """All records, with the `words` of their index on the curve of Gray codes."""
    tree = query("select 1 from t", {"t": state.work("snap")})
    every = axes(spec.attributes)
    codes: dict[int, exp.Expr] = {}
    summands: list[list[exp.Expr]] = [[] for _ in words]
    for lookup in _lookups(every, state):
        tree = tree.join(
            _dictionary(lookup, every, state, words).subquery(lookup.alias),
            on=exp.and_(*[
                exp.EQ(this=col(f"q{a.index}", lookup.alias), expression=col(f"q{a.index}", "t"))
                for a in lookup.axes
            ]),
            join_type="left",
            copy=False,
        )  # fmt: skip
        for axis in lookup.axes:
            code = fragment("coalesce(:code, 0)", code=col(axis.code, lookup.alias))
            codes[axis.index] = named(cast(code, axis.code_type(state)), axis.code)
        for found, word in zip(summands, _words(lookup, every, state, words), strict=True):
            found.append(word)
    columns = [codes[axis.index] for axis in every]
    columns += [named(col(f"s{item.index}", "t"), f"v{item.index}") for item in spec.sensitive]
    columns += [col(f"p{item.index}", "t") for item in spec.carried]
    columns += [col("record", "t")] if spec.record_key else []
    columns += [col("individual", "t")] if spec.individual else []
    columns += random_order(spec, state, "t")
    sums = zip(words, summands, strict=True)
    columns += [named(sum_modulo_2(found), word) for word, found in sums]
    tree = tree.select(*columns, append=False)
    for item in valued(spec):
        tree = with_code(tree, item, col(f"s{item.index}", "t"), state)
    return tree


def _lookups(every: tuple[Axis, ...], state: State) -> Iterator[Joined]:
    """An attribute with NULL is looked up alone: a record without a value has no row there."""
    yield from joined([axis for axis in every if not axis.has_null(state)], state)
    for axis in every:
        if axis.has_null(state):
            yield Joined((axis,))


def _dictionary(
    lookup: Joined, every: tuple[Axis, ...], state: State, words: list[str]
) -> exp.Select:
    """SELECT q<i>.., c<i>.., and what the combination adds to the words."""

    def rows(axis: Axis) -> exp.Select:
        tree = query("select d.code, d.value from d", {"d": axis.dictionary(state)})
        if not words:
            return tree
        added = summand(every, every.index(axis), state, col("code", "d"))
        return computed_once(tree.select(*added))

    columns: list[exp.Expr] = []
    for axis in lookup.axes:
        alias = f"d{axis.index}"
        columns.append(named(col("value", alias), f"q{axis.index}"))
        columns.append(named(col("code", alias), axis.code))
    for word in words:
        both = sum_modulo_2([col(word, f"d{axis.index}") for axis in lookup.axes])
        columns.append(named(both, word))
    return lookup.rows(rows, columns)


def _words(
    lookup: Joined, every: tuple[Axis, ...], state: State, words: list[str]
) -> list[exp.Expr]:
    found: list[exp.Expr] = [col(word, lookup.alias) for word in words]
    (first, *_) = lookup.axes
    if not words or not first.has_null(state):
        return found
    null = summand(every, every.index(first), state, num(0))
    return [
        fragment("coalesce(:word, :null)", word=word, null=added.this)
        for word, added in zip(found, null, strict=True)
    ]
