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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pganon.errors import PganonError
from pganon.forms.facts import SUPPRESSED
from pganon.identifiers import QualifiedName
from pganon.methods.common.eligibility.conditions import ALL, FAILS, Conditions, Frequency
from pganon.methods.common.eligibility.measures import measures
from pganon.methods.common.eligibility.refusal import refusal
from pganon.methods.common.eligibility.trimming import trimmed
from pganon.methods.common.suppression import RELEASED, nothing_left, suppression_problem
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import count, flag, label, or_null

__all__ = ["ALL", "ROUNDS", "Eligibility", "Frequency"]

ELIGIBLE = flag("eligible")

ROUNDS = count("trim_rounds")
"""Rounds, of which the last leaves nothing out."""


@dataclass(frozen=True)
class Eligibility(Conditions):
    """Rounds of leaving records out until the strata satisfy all conditions."""

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
