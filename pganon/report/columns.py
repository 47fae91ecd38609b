"""What goes out: every column of the source, its role, and what readers see of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pganon.policy.tables import EventColumn, EventTable, LookupColumn, LookupTable
from pganon.policy.words import UNPUBLISHED_ROLES
from pganon.report.parts import Part
from pganon.report.sources import Collected

_ROLES = {
    "identifying": "withheld",
    "individual": "tells people apart",
    "quasi_identifying": "others may know it",
    "quasi_sensitive": "known to the source that it comes from",
    "sensitive": "protected",
    "semi_sensitive": "protected for some people",
    "insensitive": "assumed unknown to others",
    "weight": "how many people a record stands for",
}

_SEEN = {
    "range": "a range, the same for the whole group",
    "set": "the values among which those of the group are",
    "ordinal": "the values among which those of the group are, in order",
    "label": "a coarser term of a hierarchy, the same for the whole group",
    "mean": "the mean of the group",
    "weight": "the mean of the group",
    "mode": "the most frequent value of the group",
}

_EXACT = {
    "sensitive": "the exact value, but only as one of the group",
    "insensitive": "the exact value, in the same row",
}

_TOLD = "every value of a group of people, with the number who have it"

_HIDDEN = ("semi_sensitive",)


class Expert(Part):
    """Who determined that the risk is very small."""

    name: str | None
    credentials: str | None
    relation: str | None
    determined_on: str | None
    valid_until: str | None
    conclusion: str | None


class IntruderTest(Part):
    """Who tried to find somebody."""

    by: str | None
    on: str | None
    sources: str | None
    result: str | None


class About(Part):
    """What the policy declares; null where it does not."""

    title: str | None
    purpose: str | None
    legal_basis: str | None
    legal_basis_iri: str | None
    legislation: list[str] | None
    recipients: str | None
    conditions: str | None
    contact: str | None
    controls: str | None
    motives: str | None
    harms: str | None
    mitigation: str | None
    roles: str | None
    review_on: str | None
    rationale: str | None
    other_columns: str | None
    threshold: str | None
    utility: str | None
    expert: Expert
    intruder_test: IntruderTest


class Column(Part):
    """A column of the source, and what readers see of it."""

    name: str
    source: str
    role: str
    seen: str
    goes_out: bool


def about(found: Collected) -> About:
    """What the steward declared."""
    given: dict[str, Any] = {**dict.fromkeys(About.model_fields), **found.about}
    for name, part in (("expert", Expert), ("intruder_test", IntruderTest)):
        given[name] = part(**{**dict.fromkeys(part.model_fields), **(given[name] or {})})
    return About(**given)


def columns(found: Collected) -> list[Column]:
    """Declared columns by role, those that go out first, then all others of the source."""
    forms = {column["name"]: column.get("form") for column in found.columns}
    rows = []
    for name, column in found.declared.items():
        shown = found.published_name(name)
        goes_out = column.role not in UNPUBLISHED_ROLES or column.shown != "none"
        rows.append(
            Column(
                name=shown if goes_out else name,
                source=name,
                role=_ROLES[column.role],
                seen=_seen(column.role, forms.get(shown)) if goes_out else "nothing",
                goes_out=goes_out,
            )
        )
    rows += [
        Column(name=name, source=name, role="not declared", seen="nothing", goes_out=False)
        for name in found.source_columns
        if name not in found.policy.columns
    ]
    rows += _of_tables(found)
    return sorted(rows, key=lambda row: not row.goes_out)


def _of_tables(found: Collected) -> Iterator[Column]:
    for name, table in found.policy.tables.items():
        declared = getattr(table, "columns", {})
        if isinstance(table, LookupTable):
            declared = {table.key: LookupColumn(), **declared}
        elif not isinstance(table, EventTable):
            continue
        for column, one in declared.items():
            role = one.role if isinstance(one, EventColumn) else None
            goes_out = role != "identifying"
            shown = (one.published_as or column) if goes_out else column
            yield Column(
                name=f"{name}.{shown}",
                source=f"{table.source}.{column}",
                role=_ROLES[role] if role else "of a table without people",
                seen=_TOLD if role and goes_out else "as it is" if goes_out else "nothing",
                goes_out=goes_out,
            )


def _seen(role: str, form: str | None) -> str:
    if form is None or form == "exact":
        return _EXACT.get(role, "the exact value")
    seen = _SEEN.get(form, "values of the whole group")
    return f"{seen}; where it is hidden, the number of a bucket" if role in _HIDDEN else seen
