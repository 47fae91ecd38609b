"""Reasons for the loss of a release: the cost and the disclosure of each quasi-identifier.

A class must mix sensitive values. Where a value of a quasi-identifier occurs with only one
sensitive value, its records must share their class with those of other values, and the column is
generalized although it may be of little use to anybody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.facts import KEPT
from pganon.encode.records import number_of
from pganon.encode.semi_sensitive import applies
from pganon.encode.value_codes import valued
from pganon.encode.work import CODED, sensitive_values
from pganon.forms.utility import Utility
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.sqltools import col, num, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import RECORDS, Fact, count

_CHANCE = math.log(1e-6)
"""Logarithm of the probability above which records of one value may have one sensitive value by
chance: the product of the sensitive value's share over the records."""


@dataclass(frozen=True)
class Reason:
    """Loss that one quasi-identifier causes.

    Attributes:
        column: as it is published.
        loss: its NCP.
        gcp_without: GCP of the release without the column; None where it was not asked for, or
            no such release can be made.
        decides: by sensitive column, the share of the records that have a value of this column
            with which only one sensitive value occurs, more often than by chance.
    """

    column: str
    loss: float | None
    gcp_without: float | None = None
    decides: dict[str, float] = field(default_factory=dict)


def reason_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """One Check per quasi-identifier and sensitive column, over the encoded records."""
    return tuple(
        _check(spec, axis.attribute, item)
        for axis in axes(spec.attributes)
        for item in valued(spec)
    )


def reasons(spec: ReleaseSpec, state: State, utility: Utility) -> tuple[Reason, ...]:
    """Reasons from the facts: columns that decide most first, then those that lose most."""
    by_column = [
        Reason(a.published, utility.ncp.get(a.published), None, _decides(spec, state, a.index))
        for a in spec.attributes
    ]
    return tuple(
        sorted(by_column, key=lambda r: (-max(r.decides.values(), default=0), -(r.loss or 0)))
    )


def texts(all_reasons: Sequence[Reason]) -> list[str]:
    """One sentence per column that decides a sensitive one."""
    return [
        f"{reason.column} decides {sensitive}: {share:.2%} of the records have a value of"
        f" {reason.column} with which only one value of {sensitive} occurs"
        for reason in all_reasons
        for sensitive, share in reason.decides.items()
    ]


def _decides(spec: ReleaseSpec, state: State, number: int) -> dict[str, float]:
    shares: dict[str, float] = {}
    for item in valued(spec):
        records = state[_deciding(number, item.index)]
        if records:
            shares[item.published] = records / state[KEPT]
    return shares


def _deciding(axis: int, item: int) -> Fact[int]:
    """Records with a value of a quasi-identifier that only one sensitive value occurs with."""
    return count("records", f"decides{axis}_{item}_")


def _check(spec: ReleaseSpec, attribute: Attribute, sensitive: Sensitive) -> Check:
    axis, item = attribute.index, sensitive.index

    def select(state: State) -> exp.Expr:
        pairs = query(
            "select :c as c, :s as s, :n as n from r group by 1, 2",
            {"r": state.work(CODED)},
            n=number_of(spec, "r"),
            c=col(f"c{axis}", "r"),
            s=col(f"s{item}", "r"),
        )
        for column in (attribute, sensitive):
            condition = applies(column, "r")
            pairs = pairs if condition is None else pairs.where(condition)
        # A value with one sensitive value.
        alone = query(
            "select sum(p.n) as n, min(p.s) as s from p group by p.c having count(*) = 1",
            {"p": pairs},
        )
        return query(
            "select coalesce(sum(a.n), 0)::bigint as records from a join d on d.code = a.s"
            " where a.n * ln(d.n::float8 / :all) < :chance",
            {"a": alone, "d": state.work(sensitive_values(item))},
            all=num(state[RECORDS]),
            chance=exp.Literal.number(repr(_CHANCE)),
        )

    return Check(
        f"decides_{axis}_{item}",
        f"whether {attribute.published} decides a sensitive column",
        select,
        gives=[_deciding(axis, item)],
    )
