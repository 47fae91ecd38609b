"""What goes out: every column of the source, its role, and what readers see of it."""

from __future__ import annotations

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

_HIDDEN = ("semi_sensitive",)

_ABOUT = {
    "title": "Title",
    "purpose": "Purpose",
    "legal_basis": "Legal basis",
    "recipients": "Recipients",
    "conditions": "Conditions",
    "contact": "Contact",
}


class About(Part):
    """What the policy declares; null where it does not."""

    label: str
    text: str | None


class Column(Part):
    """A column of the source, and what readers see of it."""

    name: str
    source: str
    role: str
    seen: str
    goes_out: bool


def about(found: Collected) -> list[About]:
    """What the steward declared."""
    return [About(label=label, text=found.about.get(key)) for key, label in _ABOUT.items()]


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
    return sorted(rows, key=lambda row: not row.goes_out)


def _seen(role: str, form: str | None) -> str:
    if form is None or form == "exact":
        return _EXACT.get(role, "the exact value")
    seen = _SEEN.get(form, "values of the whole group")
    return f"{seen}; where it is hidden, the number of a bucket" if role in _HIDDEN else seen
