"""Alternatives answered one by one, where one SELECT over buckets has no figures for them together.

`a OR b` is `a`, or else `b` where `a` is not true: such *ways* exclude each other, each is a
conjunction, and figures of counts and sums add up. So do those of the ways in which it is not true,
which are what is left of all records: a second pair of bounds. A third one, of counts, are those of
`a` and `b` alone: at least the larger, at most both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from pganon.estimation.conditions import ALONE, not_true
from pganon.estimation.question import (
    FIGURES,
    FLAGS,
    Aggregate,
    Displayed,
    Formula,
    Joined,
    Key,
    Leaf,
    Question,
    figures,
    leaves_of,
    parts_of,
)
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part
from pganon.sqltools import col, conjunction, fragment, named, query, stacked

MAX_WAYS = 24
"""Ways in which alternatives can be true or not, each of which reads the views."""

Way = tuple[Leaf, ...]

_HOLDS, _FAILS, _OPEN, _ALL, _ALONE = range(5)
"""Kinds of ways: of `open` ones it is not known whether the alternatives are true, and those of
each alternative `alone` do not exclude those of others."""


# -- which they are -----------------------------------------------------------------------------


def arranged(
    release: AskedRelease,
    keys: tuple[Key, ...],
    aggregates: tuple[Aggregate, ...],
    items: Sequence[Formula],
) -> Question:
    """The question on records that fulfil all of these, some of which are answered one by one.

    These are about columns that are grouped or measured, or in several alternatives, or about one
    that some records do not show.
    """
    question = Question(release, keys, aggregates, alternatives=Joined(True, tuple(items)))
    several = len({release.link(part) for part in question.parts} - {None}) > 1
    used = {key.part for key in keys} | {a.column.part for a in aggregates if a.column is not None}
    leaves: list[Formula] = []
    others: list[Formula] = []
    found: list[Formula] = []
    for item in items:
        parts = parts_of([item])
        if several:
            _check_partitions(release, item)
        if isinstance(item, Leaf):
            leaves.append(item)
        elif isinstance(item, Joined) and len(set(parts)) == len(parts) and not used & set(parts):
            others.append(item)
        else:
            found.append(item)
    question = Question(release, keys, aggregates, (*leaves, *others))
    if not found:
        return question
    if release.person is not None:
        raise Unsupported(
            "of a release with several records per individual, conditions on the same columns in"
            " several alternatives of WHERE or FILTER (OR), or on a grouped or measured column, or"
            " one known together with it, in an alternative, are not estimated yet",
            None,
            ALONE,
        )
    whole = found[0] if len(found) == 1 else Joined(True, tuple(found))
    if sum(map(len, _ways(whole).values())) > MAX_WAYS:
        raise Unsupported(
            f"there are more than {MAX_WAYS} ways in which alternatives can be true or not",
            None,
            ALONE,
        )
    return replace(question, alternatives=whole)


def _check_partitions(release: AskedRelease, formula: Formula) -> None:
    """Not in alternatives are columns of several partitions."""
    if not isinstance(formula, Joined):
        return
    found = list(leaves_of(formula))
    if not formula.every and len({release.link(part) for part in parts_of([formula])}) > 1:
        raise Unsupported(
            "columns that records have in buckets of their own are in alternatives (OR, or NOT"
            " with AND) with others",
            found[-1].condition,
            ALONE,
        )
    for item in formula.items:
        _check_partitions(release, item)


def _ways(formula: Formula) -> dict[int, list[Way]]:
    """Conjunctions that exclude each other, by whether the formula is true in them.

    Too many are cut off.
    """
    if isinstance(formula, Leaf):
        return {_HOLDS: [(formula,)], _FAILS: [(not_true(formula),)], _OPEN: []}
    if isinstance(formula, Displayed):
        return {_HOLDS: [*formula.holds], _FAILS: [*formula.fails], _OPEN: [*formula.open]}
    item, *rest = formula.items
    first = _ways(item)
    if not rest:
        return first
    others = _ways(Joined(formula.every, tuple(rest)))
    # An item decides all, or leaves it to the others.
    decides, leaves = (_FAILS, _HOLDS) if formula.every else (_HOLDS, _FAILS)
    found = {
        decides: first[decides] + _both(first[leaves] + first[_OPEN], others[decides]),
        leaves: _both(first[leaves], others[leaves]),
        _OPEN: _both(first[_OPEN], others[leaves] + others[_OPEN])
        + _both(first[leaves], others[_OPEN]),
    }
    return {kind: ways[: MAX_WAYS + 1] for kind, ways in found.items()}


def _both(ways: list[Way], others: list[Way]) -> list[Way]:
    return [(*way, *other) for way in ways for other in others]


# -- figures ------------------------------------------------------------------------------------


def answered(question: Question, answer: Callable[[Question], exp.Select]) -> exp.Select:
    """The columns of an answer to a question with alternatives, from those to its ways.

    Args:
        answer: the columns of an answer to a question without any.
    """
    whole = question.alternatives
    assert whole is not None
    needed = [*question.aggregates, _COUNT]
    for aggregate in question.aggregates:
        if aggregate.measure == "avg":
            needed += [Aggregate(measure, aggregate.column) for measure in ("sum", "count")]
    needed = list(dict.fromkeys(needed))
    asked = replace(question, aggregates=tuple(needed), alternatives=None)
    found = _ways(whole)
    if isinstance(whole, Joined) and not whole.every:
        alone = [way for item in whole.items for way in _ways(item)[_HOLDS]]
        if len(alone) + sum(map(len, found.values())) <= MAX_WAYS:
            found[_ALONE] = alone
    parts = [(_ALL, asked)]
    parts += [(kind, _restricted(asked, way)) for kind, ways in found.items() for way in ways]
    rows = [query(f"select f.*, {kind} as kind from f", {"f": answer(one)}) for kind, one in parts]
    names = [f"k{number}" for number in range(len(question.keys))]
    keys = ", ".join(f"w.{name}" for name in names)
    text = f"select {keys} from w group by {keys}" if keys else "select from w"
    totals = query(text, {"w": _weighed(stacked(rows), needed, names)}).select(*_totals(needed))
    counted = needed.index(_COUNT)
    tree = query(f"select t.lower{counted} = 0 as {FLAGS[2]} from t", {"t": totals})
    if keys:
        tree = tree.where(fragment(f"t.upper{counted} > 0"))
    for number, aggregate in enumerate(question.aggregates):
        values = _figures(aggregate, number, needed)
        ends = zip(values, FIGURES, strict=True)
        tree = tree.select(*[named(fragment(value), f"a{number}{end}") for value, end in ends])
    return tree.select(*[col(name, "t") for name in (*names, *FLAGS[:2])])


_COUNT = Aggregate("count", None)


def _restricted(question: Question, way: Way) -> Question:
    """The records of a way: its parts are in no other condition."""
    own: dict[Part, list[exp.Expr]] = {}
    for leaf in way:
        own.setdefault(leaf.part, []).append(exp.paren(leaf.condition.copy()))
    leaves = [formula for formula in question.conditions if isinstance(formula, Leaf)]
    leaves += [Leaf(part, conjunction(found)) for part, found in own.items()]
    return replace(question, conditions=(*leaves, *question.others))


def _weighed(ways: exp.Select, needed: list[Aggregate], keys: list[str]) -> exp.Select:
    """With bounds of means over all ways that hold.

    The greatest mean takes as many records as may be of the ways of the greatest means, and as few
    as must be of the others.
    """
    tree = query("select u.* from u", {"u": ways})
    by = "partition by u.kind" + "".join(f", u.{name}" for name in keys)
    for number, aggregate in enumerate(needed):
        if aggregate.measure != "avg":
            continue
        count = f"u.a{needed.index(Aggregate('count', aggregate.column))}"
        for end, order in (("lower", "asc"), ("upper", "desc")):
            value = f"u.a{number}_{end}"
            over = f"over ({by} order by {value} {order} nulls last)"
            more = f"({count}_upper - {count}_lower)"
            added = f"sum({count}_lower * {value}) over ({by}) + sum({more} * {value}) {over}"
            many = f"sum(case when {value} is not null then {count}_lower end) over ({by})"
            many += f" + sum(case when {value} is not null then {more} end) {over}"
            mean = fragment(f"case when {value} is not null then ({added}) / nullif({many}, 0) end")
            tree = tree.select(named(mean, f"m{number}_{end}"))
    return tree


def _totals(needed: list[Aggregate]) -> list[exp.Expr]:
    """(e, lower, upper, low, high of every aggregate, and flags) of all ways."""
    count = needed.index(_COUNT)
    found = {
        "share": f"coalesce({_sum(f'w.a{count}', _HOLDS)} / nullif({_sum(f'w.a{count}', _HOLDS)}"
        f" + {_sum(f'w.a{count}', _FAILS)}, 0), 0)",
        "known": f"coalesce(sum(w.a{count}_upper) {_only(_OPEN)}, 0) = 0",
        FLAGS[0]: f"coalesce(max(w.{FLAGS[0]}) {_only(_HOLDS)}, 0)",
        FLAGS[1]: f"coalesce(bool_or(w.{FLAGS[1]}) {_only(_HOLDS)}, false)",
    }
    for number, aggregate in enumerate(needed):
        a = f"w.a{number}"
        if aggregate.measure in ("min", "max"):
            own = {end: f"{aggregate.measure}({a}_{end})" for end in ("lower", "upper")}
        elif aggregate.measure == "avg":
            mean = f"w.m{number}"
            own = {"lower": f"min({mean}_lower)", "upper": f"max({mean}_upper)"}
            own |= {"low": f"min({a}_low)", "high": f"max({a}_high)"}
        else:
            own = {}
            ends = {"e": "", "lower": "_lower", "upper": "_upper", "low": "_low", "high": "_high"}
            for name, end in ends.items():
                found[f"{name}{number}"] = _sum(a + end, _HOLDS)
            some, most = _sum(a, _OPEN), _sum(f"{a}_upper", _OPEN)
            found[f"e{number}"] += f" + ({some}) * ({found['share']})"
            found[f"high{number}"] += f" + ({most})"
            lowest, highest = [found[f"lower{number}"]], found[f"upper{number}"]
            if aggregate.measure == "count":
                lowest.append(f"max({a}_lower) {_only(_ALONE)}")
                highest = f"least({highest}, sum({a}_upper) {_only(_ALONE)})"
            lowest.append(f"{_sum(f'{a}_lower', _ALL)} - ({_sum(f'{a}_upper', _FAILS)}) - ({most})")
            found[f"lower{number}"] = f"greatest({', '.join(lowest)})"
            left = f"{_sum(f'{a}_upper', _ALL)} - ({_sum(f'{a}_lower', _FAILS)})"
            found[f"upper{number}"] = f"least({highest} + ({most}), {left})"
        found |= {f"{name}{number}": f"{value} {_only(_HOLDS)}" for name, value in own.items()}
    return [named(fragment(value), name) for name, value in found.items()]


def _only(kind: int) -> str:
    return f"filter (where w.kind = {kind})"


def _sum(value: str, kind: int) -> str:
    """Of the ways of a kind; NULL if that of one is not known."""
    known = f"count({value}) {_only(kind)} = count(*) {_only(kind)}"
    return f"(case when {known} then coalesce(sum({value}) {_only(kind)}, 0) end)"


def _figures(aggregate: Aggregate, number: int, needed: list[Aggregate]) -> list[str]:
    """In the order of :data:`FIGURES`; the error is not known unless the bounds meet.

    Of values of records in open ways nothing is known but how many there are.
    """
    estimate, lower, upper = (f"t.{name}{number}" for name in ("e", "lower", "upper"))
    error = f"case when {lower} = {upper} then 0::float8 end"
    if aggregate.measure == "avg":
        added, many = (
            f"t.e{needed.index(Aggregate(measure, aggregate.column))}"
            for measure in ("sum", "count")
        )
        estimate = f"({added} / nullif({many}, 0))"
        lower, upper = (f"case when {added} is not null then {end} end" for end in (lower, upper))
    elif aggregate.measure == "count":
        lower, upper = f"{lower}::bigint", f"{upper}::bigint"
    ends = (f"t.low{number}", f"t.high{number}")
    found = figures(aggregate, (estimate, lower, upper, *ends, error))
    if aggregate.measure not in ("min", "max"):
        found[0] = f"case when {estimate} is not null then {found[0]} end"
    if aggregate.measure == "count":
        return found
    return [f"case when t.known then {text} end" for text in found]
