"""What is estimated of all classes together: in the search, and again of what is staged.

An estimate follows from class sizes alone, which every query can count, and is made in Python. The
query that verifies a release counts them anew and compares them with those of which it was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.form import Tables
from pganon.methods.common.form.checks import requirement_check
from pganon.methods.common.form.class_description import class_sizes
from pganon.policy.options import CLASS_ID
from pganon.privacy.base import Relation, Requirement
from pganon.privacy.release import sizes
from pganon.privacy.uniqueness import PopulationUniqueness
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query, text
from pganon.steps import Check, State
from pganon.steps.facts import label
from pganon.steps.relations import CheckQuery

SIZES = label("sizes", "staged_")
"""The classes that are staged, as sizes with their numbers: `1:5,2:7`."""

HINT = "require less of the population, or raise the least levels"


class Missed(NamedTuple):
    """What is estimated of classes and too high, or why it cannot be."""

    share: float | None
    reason: str


def missed(models: Sequence[PopulationUniqueness], frequencies: Mapping[int, int]) -> Missed | None:
    """What the first of the models finds that does not allow the classes; None if all do."""
    for model in models:
        found = model.estimated(frequencies)
        if not model.allows(found):
            return Missed(found.share, found.reason)
    return None


def staged_check(spec: ReleaseSpec) -> list[Check]:
    """Refuses staged classes that miss a model; their sizes become a fact."""
    if not spec.estimated:
        return []

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        frequencies = read(state[SIZES])
        for model in spec.estimated:
            found = missed([model], frequencies)
            if found is not None:
                return PrivacyRefusal(
                    f"verification: {model.name} requires share <= {model.share:g}; of the staged"
                    f" release: {said(found.share, found.reason)}",
                    hint=HINT,
                    model=model.name,
                    required=model.share,
                    observed=found.share,
                    code=ErrorCode.VERIFICATION,
                )
        return None

    return [
        Check(
            "class_sizes",
            "what class sizes say about the population",
            lambda s: _listed(s.stage("records")),
            problem,
            gives=[SIZES],
        )
    ]


def said(share: float | None, reasons: str) -> str:
    """The least share that is too high, and why others are not estimable."""
    found = [] if share is None else [f"the least estimate is {share:.6g}"]
    return "; ".join([*found, *([f"not estimable: {reasons}"] if reasons else [])])


def _listed(records: Relation) -> exp.Select:
    return query(
        "select coalesce(string_agg(s.size::text || ':' || s.classes::text, ',' order by s.size),"
        " '') as sizes from s",
        {"s": sizes(class_sizes({"records": records}), [CLASS_ID])},
    )


def read(listed: str) -> dict[int, int]:
    """By size the number of classes."""
    pairs = (pair.split(":") for pair in listed.split(",") if pair)
    return {int(size): int(classes) for size, classes in pairs}


def estimated_checks(spec: ReleaseSpec, state: State, tables: Tables) -> list[CheckQuery]:
    """One per model; none measures anything of sizes that were not estimated of."""
    listed = state.facts.get(SIZES) or ""
    return [
        _check(requirement, requirement.model, listed, tables)
        for requirement in spec.requirements
        if isinstance(requirement.model, PopulationUniqueness)
    ]


def _check(
    requirement: Requirement, model: PopulationUniqueness, listed: str, tables: Tables
) -> CheckQuery:
    share = model.estimated(read(listed)).share if listed else None
    value = exp.null() if share is None else exp.Literal.number(repr(share))
    measured = query(
        "select case when l.sizes = :listed then :value end::numeric as measure from l",
        {"l": _listed(tables["records"])},
        listed=text(listed),
        value=value,
    )
    return requirement_check(requirement, measured, hint=HINT)
