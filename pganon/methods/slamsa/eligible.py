"""Which records can be released, and in which strata.

    judged   (rid, stratum, c<i>, s<j>, t<j>)   every record; t<j> is the row of a sensitive table
    kept_r   the same, what is left after r rounds of leaving records out

A stratum has the records to which the same exclusion rules apply; buckets do not reach over its
border. Buckets that satisfy all conditions exist in a stratum if and only if the stratum as one
bucket does: the conditions add up, and the stratum itself is such a bucket.

With `on_infeasible: suppress` rounds leave records out, each for the first condition that fails
somewhere: of every value at most c are kept, the largest c with sum of min(f, c) >= l * c.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.exclusions import applies_to_codes, conditions, excluded
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.cells import nothing_left, suppression_problem
from pganon.methods.slamsa.columns import arrangement
from pganon.methods.slamsa.shape import Frequency, Shape
from pganon.plan.sqltools import cast, col, fragment, named, num, query, stacked, total
from pganon.plan.steps import Check, CreateTable, Repeat, State, Step
from pganon.spec.model import Rule


def eligible_steps(shape: Shape) -> list[Step]:
    return [
        *[_contradiction(rule, number) for number, rule in enumerate(shape.spec.rules)],
        CreateTable(
            "judged",
            "records with what buckets are judged by",
            lambda s: s.work("kept", round=0),
            lambda s: _judged(shape, s),
        ),
        Repeat(
            name="trim",
            purpose="leave out records of values that are too frequent",
            body=lambda number: _trimming(shape),
            until="eligible",
            bound=lambda state: state.count("records") + 2,
        ),
        Check(
            "suppressed",
            "records left out, held against the limit",
            lambda s: query(
                "select count(*) as released, :records - count(*) as suppressed from k",
                {"k": kept(s)},
                records=num(s.count("records")),
            ),
            lambda row, state: (
                nothing_left(state)
                if not row["released"]
                else suppression_problem(shape.spec, row, state)
            ),
        ),
    ]


def kept(state: State):
    """The records that are released."""
    return state.work("kept", round=state.count("trim_rounds") - 1)


def frequencies(shape: Shape, state: State) -> list[Frequency]:
    """All conditions on the values of a bucket."""
    found = shape.of_columns
    if shape.of_tables is None:
        return found
    for number, table in enumerate(arrangement(shape.spec, state).sensitive):
        columns = tuple(item.index for item in table.sensitive)
        # A table of one column needs no code of its own.
        name = f"s{columns[0]}" if len(columns) == 1 else f"t{number}"
        found.append(Frequency(name, columns, shape.of_tables))
    return found


def _judged(shape: Shape, state: State) -> exp.Expr:
    tree = query("select c.rid from c", {"c": state.work("coded")})
    tree = tree.select(named(_stratum(shape, state), "stratum"))
    tree = tree.select(*[col(code, "c") for code in shape.codes])
    names: list[str] = []
    for frequency in frequencies(shape, state):
        if frequency.column in names:
            continue
        names.append(frequency.column)
        values = [col(f"s{i}", "c") for i in frequency.columns]
        if len(values) == 1:
            tree = tree.select(values[0])
            continue
        ranked = exp.Window(
            this=fragment("dense_rank()"),
            order=exp.Order(expressions=[exp.Ordered(this=value) for value in values]),
        )
        tree = tree.select(named(cast(ranked, "integer"), frequency.column))
    return tree


def _stratum(shape: Shape, state: State) -> exp.Expr:
    """A digit to base 3 per condition of the rules: false, true, or unknown for a NULL."""
    digits: list[exp.Expr] = [cast(num(0), "bigint")]
    for place, when in enumerate(conditions(shape.spec)):
        digit = fragment(
            "coalesce(:holds::int, 2) * :weight::bigint",
            holds=applies_to_codes(when, state, "c"),
            weight=num(3**place),
        )
        digits.append(digit)
    return exp.paren(total(digits))


# -- exclusion rules --------------------------------------------------------------------------


def _contradiction(rule: Rule, number: int) -> Check:
    def select(state: State) -> exp.Expr:
        return query(
            "select count(*) as contradictions from c where :applies and :excluded",
            {"c": state.work("coded")},
            applies=applies_to_codes(rule.when, state, "c"),
            excluded=excluded(rule, col(f"v{rule.sensitive.index}", "c")),
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["contradictions"]:
            return None
        return PreconditionError(
            f'{row["contradictions"]} records contradict the exclusion rule "{rule.label}"',
            hint="correct the records or the rule: nobody can rule out what does occur",
            code="rule_contradicted",
        )

    return Check(f"rule{number}", f"no record contradicts: {rule.label}", select, problem)


# -- eligibility ------------------------------------------------------------------------------


def _trimming(shape: Shape) -> list[Step]:
    return [
        Check(
            "eligibility",
            "whether every stratum could be one bucket",
            lambda s: _eligibility(shape, s),
            lambda row, state: _problem(shape, row, state),
        ),
        CreateTable(
            "trimmed",
            "records that are left",
            lambda s: s.work("kept", round=s.round + 1),
            lambda s: _trimmed(shape, s),
            when=lambda s: not s.facts["eligible"],
        ),
    ]


def _counted(shape: Shape, state: State) -> exp.Select:
    """(place, stratum, value, n, size): records per value of every condition and stratum."""
    parts = [
        query(
            "select :place as place, k.stratum, :v as value, count(*) as n,"
            " sum(count(*)) over (partition by k.stratum) as size from k group by k.stratum, :v",
            {"k": state.work("kept", round=state.round)},
            place=num(place),
            v=col(frequency.column, "k"),
        )
        for place, frequency in enumerate(frequencies(shape, state))
    ]
    return stacked(parts)


def _worst(shape: Shape, state: State) -> exp.Select:
    """(place, stratum, size, most, l)."""
    tree = query(
        "select c.place, c.stratum, min(c.size) as size, max(c.n) as most"
        " from c group by c.place, c.stratum",
        {"c": _counted(shape, state)},
    )
    needed = exp.Case(this=col("place", "w"))
    for place, frequency in enumerate(frequencies(shape, state)):
        needed = needed.when(num(place), num(frequency.l))
    return query("select w.*, :l as l from w", {"w": tree}, l=exp.paren(needed))


def _eligibility(shape: Shape, state: State) -> exp.Expr:
    """One row: `eligible`, the first condition that `fails`, and the figures for a message.

    `reachable` is the largest l of every condition over all records, `small` the records of the
    smallest stratum that is too small.
    """
    tree = query(
        "select coalesce(bool_and(w.most * w.l <= w.size and w.size >= :s), true) as eligible,"
        " min(w.place) filter (where w.most * w.l > w.size) as fails,"
        " min(w.size) filter (where w.size < :s) as small, count(distinct w.stratum) as strata"
        " from w",
        {"w": _worst(shape, state)},
        s=num(shape.minimum_size),
    )
    whole = query(
        "select c.place, c.value, sum(c.n) as n, sum(sum(c.n)) over (partition by c.place) as size"
        " from c group by c.place, c.value",
        {"c": _counted(shape, state)},
    )
    reachable = query(
        "select h.place, max(h.n)::bigint as most, min(h.size)::bigint as counted from h"
        " group by h.place",
        {"h": whole},
    )
    listed = query(
        "select json_agg(json_build_array(r.most, r.counted) order by r.place)::text from r",
        {"r": reachable},
    )
    return tree.select(named(listed.subquery(), "frequent"))


def _problem(shape: Shape, row: Mapping[str, Any], state: State) -> PganonError | None:
    if row["eligible"] or shape.spec.policy.on_infeasible == "suppress":
        return None  # the limit on suppressed records decides
    return _refusal(shape, row, state)


def _refusal(shape: Shape, row: Mapping[str, Any], state: State) -> PganonError:
    """Names every condition that the whole table misses, with the largest l that it allows."""
    found = frequencies(shape, state)
    figures = [tuple(map(int, pair)) for pair in json.loads(row["frequent"] or "[]")]
    missed = [
        (frequency, most, counted)
        for frequency, (most, counted) in zip(found, figures, strict=True)
        if most * frequency.l > counted
    ]
    if missed:
        said = "; ".join(
            f"{_named(shape, f)}: its most frequent value has {most} of {counted} records,"
            f" l = {f.l} allows at most {counted // f.l}; at most l = {counted // most} is possible"
            for f, most, counted in missed
        )
        first, most, counted = missed[0]
        return PrivacyRefusal(
            f"not eligible: {said}",
            model="slicing_l_diversity",
            required=first.l,
            observed=counted // most,
            hint="require a smaller l of these columns, leave them out, or leave records out with"
            " on_infeasible: suppress and a suppression_limit",
            code="infeasible",
        )
    return _stratum_refusal(shape, row, found)


def _named(shape: Shape, frequency: Frequency) -> str:
    names = [quote(shape.spec.sensitive[i].column.name) for i in frequency.columns]
    return f"column {names[0]}" if len(names) == 1 else f"columns {', '.join(names)} together"


def _stratum_refusal(
    shape: Shape, row: Mapping[str, Any], found: list[Frequency]
) -> PrivacyRefusal:
    labels = "; ".join(dict.fromkeys(rule.label for rule in shape.spec.rules))
    among = f'a stratum of the exclusion rules "{labels}"' if labels else "the table"
    if row["fails"] is None:
        return PrivacyRefusal(
            f"{among} has {row['small']} records, a bucket needs at least {shape.minimum_size}",
            model="slicing_l_diversity",
            required=shape.minimum_size,
            observed=int(row["small"]),
            hint="lower l or min_size, or leave these records out with `where`",
            code="infeasible",
        )
    failing = found[int(row["fails"])]
    return PrivacyRefusal(
        f"{among} is not eligible for l = {failing.l} on {_named(shape, failing)}: a value is too"
        " frequent among the records to which the same rules apply",
        model="slicing_l_diversity",
        required=failing.l,
        hint="require a smaller l, or leave the rule out if nobody can know it",
        code="infeasible",
    )


# -- suppression ------------------------------------------------------------------------------

_CAPS = """
    select r.stratum, min(floor((r.total - r.before) / (:l - r.rank + 1)))::bigint as cap
    from (
        select c.stratum, row_number() over w as rank, sum(c.n) over w - c.n as before,
            sum(c.n) over (partition by c.stratum) as total from c
        window w as (partition by c.stratum order by c.n desc, c.value)
    ) as r
    where r.rank <= :l group by r.stratum having count(*) = :l
"""
"""With the values in falling order of frequency the largest c is the minimum over h < l of (sum of
f beyond the h-th) / (l - h), rounded down; with fewer than l values there is none."""


def _trimmed(shape: Shape, state: State) -> exp.Expr:
    """What is left of every stratum for the first condition that fails anywhere.

    A stratum with too few records for one bucket is left out as a whole.
    """
    small = query(
        "select w.stratum, w.size < :s as small from w group by 1, 2",
        {"w": _worst(shape, state)},
        s=num(shape.minimum_size),
    )
    names = [f.column for f in frequencies(shape, state)]
    columns = ["rid", "stratum", *shape.codes, *dict.fromkeys(names)]
    tree = query(
        "select 1 from k join s on s.stratum = k.stratum and not s.small",
        {"k": state.work("kept", round=state.round), "s": small},
    ).select(*[col(name, "k") for name in columns], append=False)
    if state.facts["fails"] is None:
        return tree
    place = state.count("fails")
    failing = frequencies(shape, state)[place]
    counted = query(
        "select c.stratum, c.value, c.n from c where c.place = :p",
        {"c": _counted(shape, state)},
        p=num(place),
    )
    caps = query(_CAPS, {"c": counted}, l=num(failing.l))
    ranked = tree.select(
        named(
            fragment(
                "row_number() over (partition by k.stratum, :v order by k.rid)",
                v=col(failing.column, "k"),
            ),
            "rank",
        )
    )
    result = query(
        "select 1 from r join c on c.stratum = r.stratum and r.rank <= c.cap",
        {"r": ranked, "c": caps},
    )
    return result.select(*[col(name, "r") for name in columns], append=False)
