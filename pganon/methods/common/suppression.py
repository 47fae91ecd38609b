"""Records that a method leaves out, held against the limit of the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal, Unbalanced
from pganon.forms.facts import EARLIER_RECORDS, EARLIER_SUPPRESSED, SUPPRESSED
from pganon.privacy.base import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import fragment, num, query
from pganon.steps import Check, State
from pganon.steps.facts import RECORDS, count

_ROWS = fragment("count(*)")

RELEASED = count("released", assumed=1000)
"""Records that are released."""


def suppressed_check(
    spec: ReleaseSpec, released: Callable[[State], Relation], records: exp.Expr = _ROWS
) -> Check:
    """Observes SUPPRESSED, and refuses the run where it is too much.

    Args:
        released: relation of what is released.
        records: number of records, as an aggregate over its rows `t`.
    """
    return Check(
        "suppressed",
        "records left out, held against the limit",
        lambda s: query(
            "select :released as released, :all - :released as suppressed from t",
            {"t": released(s)},
            released=records,
            all=num(s[RECORDS]),
        ),
        lambda row, state: suppression_problem(spec, row, state),
        gives=[RELEASED, SUPPRESSED],
    )


def allowance(spec: ReleaseSpec, state: State) -> int:
    """How many more records the limit allows to leave out than :data:`SUPPRESSED`."""
    limit, records = spec.suppression_limit, _all_records(state)
    most = min(int(limit * records) + 1, records)
    while most / records > limit:
        most -= 1
    return max(most - state[SUPPRESSED] - _before(state), 0)


def nothing_left(spec: ReleaseSpec, state: State) -> PrivacyRefusal:
    """Refusal of a run that would suppress every record."""
    return PrivacyRefusal(
        f"all {state[RECORDS]} records would be suppressed; there is nothing to release",
        hint=f"choose another rule for nulls, or weaker requirements{_or_keep_more(spec)}",
        code=ErrorCode.ALL_SUPPRESSED,
    )


def suppression_problem(
    spec: ReleaseSpec, row: Mapping[str, Any], state: State
) -> PganonError | None:
    """All, too many or fewer than no records suppressed; names the smallest limit that would do."""
    if row["suppressed"] < 0:
        return Unbalanced(f"{row['released']} of {state[RECORDS]} records are left")
    if row["released"] == 0:
        return nothing_left(spec, state)
    suppressed, records = row["suppressed"] + _before(state), _all_records(state)
    share = suppressed / records
    if share <= spec.suppression_limit:
        return None
    return PrivacyRefusal(
        f"{suppressed} of {records} records would be suppressed, more than"
        f" suppression_limit {spec.suppression_limit:g} allows",
        required=spec.suppression_limit,
        observed=share,
        hint=f"the smallest limit that is enough is {enough(row['suppressed'], state):g}"
        f"{_or_keep_more(spec)}",
        code=ErrorCode.SUPPRESSION_LIMIT,
    )


def _or_keep_more(spec: ReleaseSpec) -> str:
    """The end of a hint, where an option of the method may leave fewer records out."""
    option = spec.policy.method.keeps_more
    return f"; {option} may leave fewer out" if option else ""


def enough(left_out: int, state: State) -> float:
    """The smallest limit with four decimals that allows to leave out so many more records."""
    return -(-10_000 * (left_out + _before(state)) // _all_records(state)) / 10_000


def _before(state: State) -> int:
    """Records that are left out of the versions that the run adds to."""
    return state.facts.get(EARLIER_SUPPRESSED) or 0


def _all_records(state: State) -> int:
    """Those of the run, and of the versions that it adds to."""
    return state[RECORDS] + (state.facts.get(EARLIER_RECORDS) or 0)
