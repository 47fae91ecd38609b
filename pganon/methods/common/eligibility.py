"""Which records can be released so that buckets under frequency conditions exist.

    kept_r   what is left of the records after r rounds of leaving some out; `kept_0` is made by the
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
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, CreateTable, Repeat, State, Step
from pganon.steps.facts import RECORDS, count, flag, label, or_null

ELIGIBLE = flag("eligible")

ROUNDS = count("trim_rounds")
"""Rounds, of which the last leaves nothing out."""

_FAILS = or_null(count("fails"))
"""First condition that a stratum violates; None if strata are too small or all are eligible."""

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


@dataclass(frozen=True)
class Eligibility:
    """Conditions of a method on the records of its strata.

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

    def steps(self) -> list[Step]:
        """RELEASED and SUPPRESSED, and the records as :meth:`kept`."""
        return [
            Repeat(
                name="trim",
                purpose="leave out records of values that are too frequent",
                body=lambda number: self._round(),
                until=ELIGIBLE,
                bound=lambda state: state[RECORDS] + 2,
                rounds=ROUNDS,
            ),
        ]

    def kept(self, state: State) -> QualifiedName:
        """The records that are released."""
        return self._table(state, state[ROUNDS] - 1)

    def leftovers(self, state: State) -> list[QualifiedName]:
        """Tables of the rounds."""
        return [self._table(state, number) for number in range(1, state[ROUNDS])]

    def _table(self, state: State, number: int) -> QualifiedName:
        return self.first(state) if number == 0 else state.work("kept", round=number)

    def _round(self) -> list[Step]:
        return [
            Check(
                "eligibility",
                "whether every stratum could be one bucket",
                lambda s: _figures(self, s),
                lambda row, state: self._problem(row, state),
                gives=[
                    *(ELIGIBLE, _FAILS, RELEASED, SUPPRESSED, count("strata"), flag("possible")),
                    *(or_null(count("small")), or_null(flag("together"))),
                    *(or_null(label("missed")), or_null(label("places"))),
                ],
            ),
            CreateTable(
                "trimmed",
                "records that are left",
                lambda s: self._table(s, s.round + 1),
                lambda s: _trimmed(self, s),
                when=lambda s: not s[ELIGIBLE],
            ),
        ]

    def _problem(self, row: Mapping[str, Any], state: State) -> PganonError | None:
        if row["eligible"]:
            return suppression_problem(self.spec, row, state)
        if self.spec.policy.on_infeasible == "suppress" and row["possible"]:
            return None  # the limit on suppressed records decides
        if row["strata"] == 0:
            return nothing_left(state)
        return _refusal(self, row, state)

    def records(self, state: State) -> QualifiedName:
        """The records of the current round."""
        return self._table(state, state.round)

    def part(self, table: str) -> exp.Expr:
        return num(0) if self.stratum is None else col(self.stratum, table)


# -- measures ---------------------------------------------------------------------------------


def _counted(eligibility: Eligibility, state: State) -> exp.Select:
    """(place, stratum, value, n): records per value of every condition and stratum."""
    parts = [
        query(
            "select :place as place, :stratum as stratum, :v as value, count(*) as n from k"
            " group by 2, 3",
            {"k": eligibility.records(state)},
            place=num(place),
            stratum=eligibility.part("k"),
            v=col(frequency.column, "k"),
        )
        for place, frequency in enumerate(eligibility.conditions(state))
    ]
    return stacked(parts)


def _worst(eligibility: Eligibility, state: State) -> exp.Select:
    """(place, stratum, size, most, different, l): how close every stratum is to its limits."""
    tree = query(
        "select c.place, c.stratum, sum(c.n) as size, max(c.n) as most, count(*) as different"
        " from c group by c.place, c.stratum",
        {"c": _counted(eligibility, state)},
    )
    needed = exp.paren(_needed(eligibility, state, "w"))
    return query("select w.*, :l as l from w", {"w": tree}, l=needed)


def _needed(eligibility: Eligibility, state: State, table: str) -> exp.Expr:
    """The l of the condition in column `place`."""
    needed = exp.Case(this=col("place", table))
    for place, frequency in enumerate(eligibility.conditions(state)):
        needed = needed.when(num(place), num(frequency.l))
    return needed


_FIGURES = """
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


def _figures(eligibility: Eligibility, state: State) -> exp.Select:
    """One row: `eligible`, the first condition that `fails`, and counts for a message.

    `missed` are [most frequent, size] of the strata that violate a condition, `places` these
    conditions; `released` are all records, `small` those of the smallest stratum below the minimum;
    `possible`: some stratum has as many different values as a condition asks for; `together`: all
    strata would be eligible as one.
    """
    tree = query(
        _FIGURES,
        {"worst": _worst(eligibility, state)},
        s=num(eligibility.minimum),
        records=num(state[RECORDS]),
    )
    return tree.select(named(_together(eligibility, state), "together"))


def _together(eligibility: Eligibility, state: State) -> exp.Expr:
    if eligibility.stratum is None:
        return fragment("null::boolean")
    values = query(
        "select c.place, c.value, sum(c.n) as n from c group by c.place, c.value",
        {"c": _counted(eligibility, state)},
    )
    return scalar(
        query(
            "select bool_and(t.most * :l <= t.size) from"
            " (select v.place, max(v.n) as most, sum(v.n) as size from v group by v.place) as t",
            {"v": values},
            l=exp.paren(_needed(eligibility, state, "t")),
        )
    )


# -- refusal ----------------------------------------------------------------------------------


def _refusal(eligibility: Eligibility, row: Mapping[str, Any], state: State) -> PrivacyRefusal:
    """Refusal that names every condition that a stratum violates, and the largest l it allows."""
    conditions, among = eligibility.conditions(state), eligibility.among(state)
    if row["fails"] is None:
        return infeasible(
            f"{among} has {row['small']} records, a bucket needs at least {eligibility.minimum}",
            model=eligibility.model,
            required=eligibility.minimum,
            observed=int(row["small"]),
            hint="lower l or min_size, or leave these records out with `where`",
        )
    worst = _lowest(row)
    said = []
    for place, (most, size) in worst.items():
        frequency = conditions[place]
        null = " (one more for NULL)" if frequency.raised else ""
        said.append(
            f"{_named(eligibility.spec, frequency)}: its most frequent value has {most} of {size}"
            f" records, l = {frequency.l}{null} allows at most {size // frequency.l}"
        )
    first = next(iter(worst))
    where = "" if among == ALL else f", in {among}"
    most, size = worst[first]
    ways = [eligibility.remedy(state)] if row["together"] else []
    if row["possible"]:
        ways.append("leave records out with on_infeasible: suppress and a suppression_limit")
    return infeasible(
        f"not eligible: {'; '.join(said)}{where}",
        model=eligibility.model,
        required=conditions[first].l,
        observed=size // most,
        hint=_hint(eligibility.spec, conditions, worst, [way for way in ways if way]),
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


def _trimmed(eligibility: Eligibility, state: State) -> exp.Expr:
    """Records that remain of every stratum under the first condition that fails anywhere.

    A stratum with too few records for one bucket is left out as a whole.
    """
    columns = list(dict.fromkeys([eligibility.order, *eligibility.keep(state)]))
    small = query(
        "select w.stratum, bool_or(w.size < :s) as small from w group by w.stratum",
        {"w": _worst(eligibility, state)},
        s=num(eligibility.minimum),
    )
    tree = query(
        "select :stratum as part from k join s on s.stratum = :stratum and not s.small",
        {"k": eligibility.records(state), "s": small},
        stratum=eligibility.part("k"),
    ).select(*[col(name, "k") for name in columns])
    place = state[_FAILS]
    if place is not None:
        tree = _capped(eligibility, state, tree, place)
    return query("select 1 from r", {"r": tree}).select(
        *[col(name, "r") for name in columns], append=False
    )


def _capped(eligibility: Eligibility, state: State, tree: exp.Select, place: int) -> exp.Select:
    failing = eligibility.conditions(state)[place]
    counted = query(
        "select c.stratum, c.value, c.n from c where c.place = :p",
        {"c": _counted(eligibility, state)},
        p=num(place),
    )
    ranked = tree.select(
        named(
            fragment(
                "row_number() over (partition by :stratum, :v order by :order)",
                stratum=eligibility.part("k"),
                v=col(failing.column, "k"),
                order=col(eligibility.order, "k"),
            ),
            "rank",
        )
    )
    return query(
        "select r.* from r join c on c.stratum = r.part and r.rank <= c.cap",
        {"r": ranked, "c": query(_CAPS, {"c": counted}, l=num(failing.l))},
    )
