"""What was required and measured, and which bounds follow from all requirements together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pganon.privacy.base import Judged, Requirement, from_below
from pganon.report.parts import Number, Part
from pganon.report.sources import Collected
from pganon.report.words import number, percent, plain, the_columns
from pganon.resolved.tables import EVENT_SHARE

_NAMES = {
    "k_anonymity": "k-anonymity",
    "alpha_k_anonymity": "(alpha, k)-anonymity",
    "distinct_l_diversity": "distinct l-diversity",
    "entropy_l_diversity": "entropy l-diversity",
    "recursive_cl_diversity": "recursive (c, l)-diversity",
    "t_closeness": "t-closeness",
    "beta_likeness": "beta-likeness",
    "delta_disclosure": "delta-disclosure",
}

Bound = Literal["at least", "above", "at most", "below"]
_BOUNDS: dict[str, Bound] = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}

_STRUCTURE = (
    "The stored tables fit together: no group is without {people}, and none is there twice."
)


SameAs = Literal[
    "https://www.w3id.org/statbarnsdc#MinimumThresholdCheck",
    "https://www.w3id.org/statbarnsdc#ClassDisclosure",
]


class Check(Part):
    """A requirement, and what was measured of the worst group."""

    model: str
    name: str
    column: str | None
    published: str | None
    against: str | None
    sentence: str
    bound: Bound
    required: Number
    measured: Number | None
    same_as: SameAs | None


def same_as(model: str, column: str | None) -> SameAs | None:
    """The check, or the risk against which a model is, as the ontology of ACRO names it."""
    if model == "k_anonymity":
        return "https://www.w3id.org/statbarnsdc#MinimumThresholdCheck"
    return None if column is None else "https://www.w3id.org/statbarnsdc#ClassDisclosure"


def required(found: Collected) -> list[Check]:
    """Every check of the run."""
    return [
        Check(
            model=check["model"],
            name=_NAMES.get(check["model"]) or check["model"].replace("_", " "),
            column=check["column"],
            published=check["column"] and _shown(found, check["column"]),
            against=None if check["model"] == EVENT_SHARE else check["against"],
            sentence=_sentence(found, check),
            bound=_BOUNDS[check["bound"]],
            required=check["required"],
            measured=check["measured"],
            same_as=same_as(check["model"], check["column"]),
        )
        for check in found.measures.get("verified", [])
    ]


def _shown(found: Collected, column: str) -> str:
    """As it is published, where it is a column of the policy."""
    return found.published_name(column) if column in found.policy.columns else column


def _sentence(found: Collected, check: Mapping[str, Any]) -> str:
    if check["model"] == "structure":
        return _STRUCTURE.format(people=found.rows)
    for requirement in found.requirements:
        if requirement.model.name == check["model"] and _about(requirement, check):
            column = _published(found, requirement)
            return requirement.model.sentence(
                found.knowing, the_columns([column]) if column else ""
            )
    model, shown = check["model"], _shown(found, check["column"]) if check["column"] else ""
    # Of related tables there are pairs of columns, and the share of those who could have rows.
    kind = "pair" if " + " in shown else "members" if check["against"] else ""
    kinds = (check["symbol"], kind)
    said = next((found.said[n] for k in kinds if (n := f"{model}.{k}") in found.said), None)
    said = said or found.said.get(model)
    if said is not None:
        return said.format(
            column=the_columns([shown]),
            table=plain(shown),
            against=plain(check["against"] or ""),
            required=number(check["required"]),
            percent=percent(check["required"]),
        )
    return f"Every group satisfies the check {check['model'].replace('_', ' ')}."


def _about(requirement: Requirement, check: Mapping[str, Any]) -> bool:
    same = requirement.column == check["column"] or requirement.sensitive is None
    model = requirement.model
    return same and (model.symbol, model.parameter) == (check["symbol"], check["required"])


def _published(found: Collected, requirement: Requirement) -> str | None:
    return requirement.column and found.published_name(requirement.column)


def fewest_people(found: Collected) -> int:
    """People of a group at least, by all requirements."""
    return max((r.model.minimum_size for r in found.requirements), default=1)


def fewest_combinations(found: Collected) -> int:
    """Combinations that are left in every group, by all requirements."""
    kept = [r.model for r in found.requirements if r.model.judged is Judged.COMBINATIONS]
    return max((int(model.parameter) for model in kept), default=1)


def most_of(found: Collected, column: str, share: float) -> float | None:
    """The tightest limit on the share of a value that `share` of all have; None without one."""
    limits = [
        requirement.model.most(share)
        for requirement in found.requirements
        if requirement.column is not None and _published(found, requirement) == column
    ]
    return min((limit for limit in limits if limit is not None), default=None)


def fewest_values(found: Collected, column: str) -> int | None:
    """Different values of a column in every group, as measured; None if no check says so."""
    for check in found.measures.get("verified", []):
        named = check["column"] is not None and found.published_name(check["column"])
        if check["model"] == "distinct_l_diversity" and named == column:
            return int(check["measured"])
    return None


def commonest_event(found: Collected) -> Mapping[str, Any] | None:
    """The check of the value of related tables that most of who has rows in a group have."""
    shares = [
        check
        for check in found.measures.get("verified", [])
        if check["model"] == EVENT_SHARE and not check["against"]
    ]
    return max(shares, key=lambda check: check["measured"], default=None)


def presence(found: Collected) -> list[tuple[str, float]]:
    """(`most` or `least`, chance) that somebody of the population is in the data, as measured, or
    as required where that is not told."""
    return [
        (
            "least" if from_below(check["bound"]) else "most",
            check["required"] if check["measured"] is None else check["measured"],
        )
        for check in found.measures.get("verified", [])
        if check["model"] == "delta_presence"
    ]
