"""Parts against what is published, which suppression moves away from the source's distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.work import reference
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.facts import SUPPRESSED
from pganon.methods.common.reachable import weaker
from pganon.privacy.base import Requirement
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import count, measure, or_null


def closeness_checks(spec: ReleaseSpec, released: Callable[[State], exp.Select]) -> list[Step]:
    """One check per requirement that compares with a distribution.

    Args:
        released: the cells of the parts that are released.
    """

    def check(number: int, requirement: Requirement) -> Step:
        model = requirement.model

        def select(state: State) -> exp.Expr:
            histogram = query(
                "select c.node, :value as value, sum(c.w)::bigint as n from c group by c.node, 2",
                {"c": released(state)},
                value=col(f"s{requirement.sensitive}", "c"),
            )
            published = state.work(reference(requirement.sensitive, "published"))
            return model.worst(model.measure(histogram, ["node"], published))

        def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
            if not row["failing"]:
                return None
            return PrivacyRefusal(
                f"{requirement.label} holds for the source, but"
                f" {row['failing']} parts kept apart by nulls: own_class miss it against the"
                f" published distribution, without the {state[SUPPRESSED]} suppressed"
                " records",
                model=model.name,
                required=model.parameter,
                observed=row["measured"],
                hint=f"{weaker(requirement, row['measured'])}, or use nulls: as_value",
                code=ErrorCode.CLOSENESS_AFTER_SUPPRESSION,
            )

        return Check(
            f"close{number}",
            f"{requirement.label} against what is published",
            select,
            problem,
            gives=[
                count("failing", f"close{number}_"),
                or_null(measure("measured", f"close{number}_")),
            ],
        )

    return [
        check(number, requirement)
        for number, requirement in enumerate(spec.measured)
        if requirement.model.needs_reference
    ]
