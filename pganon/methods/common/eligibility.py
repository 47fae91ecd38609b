"""Which records can be released so that buckets under frequency conditions exist.

    kept_r   the records that remain after r rounds of leaving some out; `kept_0` is made by the
             method, or is `coded` itself

Buckets that satisfy all conditions exist in a stratum if and only if the stratum as one bucket
does: the conditions add up, and the stratum itself is such a bucket. Buckets do not reach over the
border of a stratum.

With `on_infeasible: suppress` rounds leave records out, each for the first condition that fails
somewhere: of every value at most c are kept, the largest c with sum of min(f, c) >= l * c, which is
as many as can be kept for this condition.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.records import NUMBER
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.facts import SUPPRESSED
from pganon.identifiers import QualifiedName, quote
from pganon.methods.common.reachable import LEAST, infeasible
from pganon.methods.common.suppression import RELEASED, nothing_left, suppression_problem
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import RECORDS, count, flag, label, or_null

FAILS = or_null(count("fails"))
"""First condition that a stratum violates; None if strata are too small or all are eligible."""

ELIGIBLE = flag("eligible")

ROUNDS = count("trim_rounds")
"""Rounds, of which the last leaves nothing out."""

ALL = "the table"
"""Name of the one stratum of records that are not divided."""


@dataclass(frozen=True)
class Frequency:
    """A condition on every bucket: no value of a column in more than 1/l of its records.

    Attributes:
        column: work column with a code of the value.
        columns: indexes of the sensitive columns that it is made from.
        raised: whether l is one more than the policy asks for, because of NULL.
    """

    column: str
    columns: tuple[int, ...]
    l: int  # noqa: E741 (the field's own letter)
    raised: bool = False


def combination_number(values: Sequence[exp.Expr]) -> exp.Expr:
    """A number per combination of values, for strata; 0 without values."""
    if not values:
        return num(0)
    order = exp.Order(expressions=[exp.Ordered(this=value) for value in values])
    return cast(exp.Window(this=fragment("dense_rank()"), order=order), "integer")


@dataclass(frozen=True)
class Eligibility:
    """Rounds of leaving records out until the strata satisfy all conditions of a method.

    Attributes:
        first: the records before any is left out: `order`, codes and the columns of conditions.
        keep: columns that later steps read.
        conditions: by the state of the run, since they may be about tables that it decided.
        stratum: column of `first` with the stratum; None: all records are one.
        minimum: fewest records of a stratum.
        among: what a stratum is, for messages.
        remedy: how all records become one stratum, for messages.
        model: name of the privacy model.
        order: column with a random order of the records.
    """

    spec: ReleaseSpec
    first: Callable[[State], QualifiedName]
    keep: Callable[[State], Sequence[str]]
    conditions: Callable[[State], Sequence[Frequency]]
    model: str
    stratum: str | None = None
    minimum: int = 1
    among: Callable[[State], str] = lambda state: ALL
    remedy: Callable[[State], str | None] = lambda state: None
    order: str = NUMBER

    def table(self, state: State, number: int) -> QualifiedName:
        """The records after so many rounds of leaving some out."""
        return self.first(state) if number == 0 else state.work("kept", round=number)

    def records(self, state: State) -> QualifiedName:
        """The records of the current round."""
        return self.table(state, state.round)

    def part(self, table: str) -> exp.Expr:
        """The stratum of a row of `table`."""
        return num(0) if self.stratum is None else col(self.stratum, table)

    def steps(self) -> list[Step]:
        """RELEASED and SUPPRESSED, and the records as :meth:`kept`."""
        return [
            Loop(
                "trim",
                "leave out records of values that are too frequent",
                body=lambda number: self._round(),
                until=ELIGIBLE,
                rounds=ROUNDS,
                carries=["kept"],
            ),
        ]

    def kept(self, state: State) -> QualifiedName:
        """The records that are released."""
        return self.table(state, state[ROUNDS] - 1)

    def _round(self) -> list[Step]:
        return [
            Check(
                "eligibility",
                "whether every stratum could be one bucket",
                lambda s: measures(self, s),
                lambda row, state: self._problem(row, state),
                gives=[
                    *(ELIGIBLE, FAILS, RELEASED, SUPPRESSED, count("strata"), flag("possible")),
                    *(or_null(count("small")), or_null(flag("together"))),
                    *(or_null(label("missed")), or_null(label("places"))),
                ],
            ),
            table(
                "trimmed",
                "records that are left",
                lambda s: trimmed(self, s),
                later=1,
                into="kept",
                when=lambda s: not s[ELIGIBLE],
            ),
        ]

    def _problem(self, row: Mapping[str, Any], state: State) -> PganonError | None:
        if row["eligible"]:
            return suppression_problem(self.spec, row, state)
        if self.spec.policy.on_infeasible == "suppress" and row["possible"]:
            return None  # the limit on suppressed records decides
        if row["strata"] == 0:
            return nothing_left(self.spec, state)
        return refusal(self, row, state)


def counted(asked: Eligibility, state: State) -> exp.Select:
    """(place, stratum, value, n): records per value of every condition and stratum."""
    parts = [
        query(
            "select :place as place, :stratum as stratum, :v as value, count(*) as n from k"
            " group by 2, 3",
            {"k": asked.records(state)},
            place=num(place),
            stratum=asked.part("k"),
            v=col(frequency.column, "k"),
        )
        for place, frequency in enumerate(asked.conditions(state))
    ]
    return stacked(parts)


def worst(asked: Eligibility, state: State) -> exp.Select:
    """(place, stratum, size, most, different, l): how close every stratum is to its limits."""
    tree = query(
        "select c.place, c.stratum, sum(c.n) as size, max(c.n) as most, count(*) as different"
        " from c group by c.place, c.stratum",
        {"c": counted(asked, state)},
    )
    needed = exp.paren(_needed(asked, state, "w"))
    return query("select w.*, :l as l from w", {"w": tree}, l=needed)


def _needed(asked: Eligibility, state: State, table: str) -> exp.Expr:
    """The l of the condition in column `place`."""
    needed = exp.Case(this=col("place", table))
    for place, frequency in enumerate(asked.conditions(state)):
        needed = needed.when(num(place), num(frequency.l))
    return needed


_MEASURES = """
    with w as materialized (select * from worst)
    select coalesce(bool_and(w.most * w.l <= w.size and w.size >= :s), false) as eligible,
        min(w.place) filter (where w.most * w.l > w.size) as fails,
        min(w.size) filter (where w.size < :s)::bigint as small,
        count(distinct w.stratum) as strata,
        coalesce(bool_or(w.different >= w.l), false) as possible,
        coalesce(sum(w.size) filter (where w.place = 0), 0)::bigint as released,
        :records - coalesce(sum(w.size) filter (where w.place = 0), 0)::bigint as suppressed,
        (select json_agg(json_build_array(v.most, v.size) order by v.place, v.stratum)::text
            from w as v where v.most * v.l > v.size) as missed,
        (select json_agg(v.place order by v.place, v.stratum)::text
            from w as v where v.most * v.l > v.size) as places
    from w
"""


def measures(asked: Eligibility, state: State) -> exp.Select:
    """One row: `eligible`, the first condition that `fails`, and counts for a message.

    `missed` are [most frequent, size] of the strata that violate a condition, `places` these
    conditions; `released` are all records, `small` those of the smallest stratum below the minimum;
    `possible`: some stratum has as many different values as a condition asks for; `together`: all
    strata would be eligible as one.
    """
    tree = query(
        _MEASURES,
        {"worst": worst(asked, state)},
        s=num(asked.minimum),
        records=num(state[RECORDS]),
    )
    return tree.select(named(_together(asked, state), "together"))


def _together(asked: Eligibility, state: State) -> exp.Expr:
    if asked.stratum is None:
        return fragment("null::boolean")
    values = query(
        "select c.place, c.value, sum(c.n) as n from c group by c.place, c.value",
        {"c": counted(asked, state)},
    )
    return scalar(
        query(
            "select bool_and(t.most * :l <= t.size) from"
            " (select v.place, max(v.n) as most, sum(v.n) as size from v group by v.place) as t",
            {"v": values},
            l=exp.paren(_needed(asked, state, "t")),
        )
    )


def refusal(asked: Eligibility, row: Mapping[str, Any], state: State) -> PrivacyRefusal:
    """Refusal that names every condition that a stratum violates, and the largest l it allows."""
    conditions, among = asked.conditions(state), asked.among(state)
    if row["fails"] is None:
        return infeasible(
            f"{among} has {row['small']} records, a bucket needs at least {asked.minimum}",
            model=asked.model,
            required=asked.minimum,
            observed=int(row["small"]),
            hint="lower l or min_size, or leave these records out with `where`",
        )
    worst = _lowest(row)
    said = []
    for place, (most, size) in worst.items():
        frequency = conditions[place]
        null = " (one more for NULL)" if frequency.raised else ""
        said.append(
            f"{_named(asked.spec, frequency)}: its most frequent value has {most} of {size}"
            f" records, l = {frequency.l}{null} allows at most {size // frequency.l}"
        )
    first = next(iter(worst))
    where = "" if among == ALL else f", in {among}"
    most, size = worst[first]
    ways = [asked.remedy(state)] if row["together"] else []
    if row["possible"]:
        ways.append("leave records out with on_infeasible: suppress and a suppression_limit")
    return infeasible(
        f"not eligible: {'; '.join(said)}{where}",
        model=asked.model,
        required=conditions[first].l,
        observed=size // most,
        hint=_hint(asked.spec, conditions, worst, [way for way in ways if way]),
    )


def _hint(
    spec: ReleaseSpec,
    conditions: Sequence[Frequency],
    worst: Mapping[int, tuple[int, int]],
    ways: Sequence[str],
) -> str:
    """The l that can be required of columns that violate a condition, or other changes."""
    fitting, hopeless = [], []
    for place, (most, size) in worst.items():
        l = size // most - conditions[place].raised  # noqa: E741
        name = _named(spec, conditions[place])
        if l < LEAST:
            hopeless.append(name)
        else:
            fitting.append(f"at most l = {l}" + (f" of {name}" if len(worst) > 1 else ""))
    if not hopeless:
        return ", or ".join([f"require {', '.join(fitting)}", *ways])
    instead = ", or ".join(ways or ["choose other columns, or release other records"])
    return f"no l can be required of {', '.join(hopeless)}: {instead}"


def _lowest(row: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """By condition, the (most frequent, size) of the stratum that allows the smallest l."""
    lowest: dict[int, tuple[int, int]] = {}
    for place, (most, size) in zip(
        json.loads(row["places"]), json.loads(row["missed"]), strict=True
    ):
        previous = lowest.get(place)
        if previous is None or size * previous[0] < previous[1] * most:
            lowest[place] = (int(most), int(size))
    return lowest


def _named(spec: ReleaseSpec, frequency: Frequency) -> str:
    names = [quote(spec.sensitive[i].column.name) for i in frequency.columns]
    return f"column {names[0]}" if len(names) == 1 else f"columns {', '.join(names)} together"


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


def trimmed(asked: Eligibility, state: State) -> exp.Expr:
    """Records that remain of every stratum under the first condition that fails anywhere.

    A stratum with too few records for one bucket is left out as a whole.
    """
    columns = list(dict.fromkeys([asked.order, *asked.keep(state)]))
    small = query(
        "select w.stratum, bool_or(w.size < :s) as small from w group by w.stratum",
        {"w": worst(asked, state)},
        s=num(asked.minimum),
    )
    tree = query(
        "select :stratum as part from k join s on s.stratum = :stratum and not s.small",
        {"k": asked.records(state), "s": small},
        stratum=asked.part("k"),
    ).select(*[col(name, "k") for name in columns])
    place = state[FAILS]
    if place is not None:
        failing = asked.conditions(state)[place]
        histogram = query(
            "select c.stratum, c.value, c.n from c where c.place = :p",
            {"c": counted(asked, state)},
            p=num(place),
        )
        ranked = tree.select(
            named(
                fragment(
                    "row_number() over (partition by :stratum, :v order by :order)",
                    stratum=asked.part("k"),
                    v=col(failing.column, "k"),
                    order=col(asked.order, "k"),
                ),
                "rank",
            )
        )
        tree = query(
            "select r.* from r join c on c.stratum = r.part and r.rank <= c.cap",
            {"r": ranked, "c": query(_CAPS, {"c": histogram}, l=num(failing.l))},
        )
    return query("select 1 from r", {"r": tree}).select(
        *[col(name, "r") for name in columns], append=False
    )
