"""What is to be looked at before a decision: only what applies to this version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pganon.forms.confidential import DIGEST, WARNINGS
from pganon.policy.reporting import AUTHORITIES
from pganon.privacy.base import VOID
from pganon.privacy.requirements import UNPROTECTED
from pganon.report import events, figures, guarantee, subgroups
from pganon.report.attacks import telling
from pganon.report.columns import about
from pganon.report.sources import Collected
from pganon.report.words import (
    count,
    exactly,
    listed,
    number,
    once,
    percent,
    plain,
    sentence,
    the_columns,
    value,
)
from pganon.resolved.warnings import UNLOCKED

HALF = 0.5
TIMES = 5
OFF = 0.05
"""Share of a group with one value; multiple of the share of everybody; error of a distribution.
Above these the reader is told."""

_NOTHING = re.compile(
    r"“\W*(n\W?a|n\W?d|k\W?a|not (applicable|available|asked|answered|known|stated)|no answer"
    r"|missing|unknown|refused|don.?t know|inapplicable|keine angabe|unbekannt|entf[aä]llt"
    r"|-\d+|[789]+)\W*”",
    re.IGNORECASE,
)
"""Values that often say nothing about a person, but not in all columns: who takes no drug for a
disease does not have it. So they are no less looked at until the policy declares them."""


def look_at(found: Collected) -> list[str]:
    """A sentence or two for each point."""
    return [
        *_unmeasured(found),
        *_limits(found),
        *subgroups.telling(found),
        *_found(found),
        *_common(found),
        *_missing(found),
        *_many_times(found),
        *telling(found),
        *_unprotected(found),
        *_exact(found),
        *_lost(found),
        *_torn(found),
        *_procedure(found),
        *_dates(found),
        *[f"The run warned: {plain(text, 2000)}." for text in found.measures.get(WARNINGS, ())],
    ]


def _unmeasured(found: Collected) -> Iterator[str]:
    if found.evidence_intact is False:
        yield (
            "The stored evidence is not the one that the ledger has the digest of: somebody changed"
            " it. Do not rely on this report; run the release again."
        )
    if found.withheld:
        yield (
            "Few are left out, so no figure that was measured of the source is told here: beside"
            " that of the release it could say what they have. The steward has all figures"
            " (pganon show)."
        )
    if not found.measured:
        yield (
            "The run that made this version measured no evidence: how groups of the source compare,"
            " how common values are in groups, and distributions are not in this report."
        )


def _limits(found: Collected) -> Iterator[str]:
    chance = figures.chance(found)
    if chance is None:
        return
    asked = found.policy.report
    above = figures.exceeded(chance.smallest, asked.accepted)
    if not above:
        return
    if asked.limits == AUTHORITIES:
        accept = "authorities accept for publication to everybody"
        more = " Readers under contract may be allowed more."
    else:
        accept, more = "the policy declares as accepted", ""
    yield (
        f"The highest chance to find a person is {once(chance.smallest)}, above {listed(above)},"
        f" which {accept}.{more}"
    )


def _common(found: Collected) -> Iterator[str]:
    by_certainty: dict[bool, list[str]] = {}
    maybe: list[str] = []
    for item in figures.sensitive(found):
        if item["most"] > HALF:
            named = _commonest(item)
            share = "" if item["most"] >= 1 else f" ({percent(item['most'])})"
            by_certainty.setdefault(item["most"] >= 1, []).append(f"{named}{share}")
            maybe += [named] if _NOTHING.match(named) else []
    for certain, values in by_certainty.items():
        yield (
            f"In at least one group {'all' if certain else 'over half'} have the same value:"
            f" {', '.join(values)}. Whoever finds the group {'knows' if certain else 'can guess'}"
            " it without finding the record."
        )
    if maybe:
        yield (
            f"Perhaps {', '.join(maybe)} {'say' if len(maybe) > 1 else 'says'} nothing about a"
            " person. If so, declare it in the policy, under report: missing."
        )


def _commonest(item: Mapping[str, Any]) -> str:
    """`“flu” in the column diagnosis`; a value that is too rare is not named."""
    values = [one for one in item["values"] if one["value"] not in item.get("missing", ())]
    most = max(values, key=lambda one: one["highest"], default=None)
    named = most is not None and most["highest"] >= round(item["most"], 6)
    what = f"“{value(most['value'])}”" if most and named else "a rare one"
    return f"{what} in {the_columns([item['column']])}"


def _missing(found: Collected) -> Iterator[str]:
    """Values that are not counted, of which some group may have many."""
    declared: list[str] = []
    for item in figures.sensitive(found):
        few = [one["value"] for one in item["values"] if one["highest"] <= HALF]
        names = [f"“{value(one)}”" for one in item.get("missing", ()) if one not in few]
        if names:
            declared.append(f"{' and '.join(names)} in {the_columns([item['column']])}")
    if declared:
        yield (
            f"The policy declares as missing: {', '.join(declared)}. In some groups many may have"
            " these in common, which is not said here. See that they say nothing about a person."
        )


def _many_times(found: Collected) -> Iterator[str]:
    said: list[str] = []
    unlimited: list[str] = []
    for item in figures.sensitive(found):
        column, whole = the_columns([item["column"]]), figures.whole(found, item)
        values = [one for one in item["values"] if one["value"] not in item.get("missing", ())]
        worst = max(values, key=lambda v: v["highest"] / v["share"], default=None)
        times = worst["highest"] / worst["share"] if worst else 0.0
        hidden = (item["others"] or {}).get("times_over")
        if worst is not None and times >= TIMES and times >= (hidden or 0):
            limited = guarantee.most_of(found, item["column"], worst["share"])
            if limited is None or limited >= 1:
                unlimited.append(item["column"])
            said.append(
                f"“{value(worst['value'])}” in {column} is {percent(worst['share'])} of all {whole}"
                f" and {percent(worst['highest'])} of one group, {number(round(times, 1))} times as"
                " much"
            )
        elif hidden:
            said.append(
                f"a rare value in {column} that is not named here is over {hidden} times as common"
                f" in one group as among all {whole}"
            )
    if said:
        tail = f" No requirement limits this in {the_columns(unlimited)}." if unlimited else ""
        yield f"A group can say far more than the whole: {'; '.join(said)}.{tail}"


def _found(found: Collected) -> Iterator[str]:
    if figures.exact(found):
        yield (
            f"{sentence(exactly(found.known))}, which others may know: a person can be found by"
            " them. Only the link to what is protected is hidden."
        )


def _unprotected(found: Collected) -> Iterator[str]:
    about = {found.published_name(r.column) for r in found.requirements if r.column}
    bare = [name for name in found.of_role("sensitive", "semi_sensitive") if name not in about]
    if bare and not any(text.startswith(UNPROTECTED) for text in found.measures.get(WARNINGS, ())):
        yield f"No requirement is about {the_columns(bare)}, which the policy calls sensitive."


def _exact(found: Collected) -> Iterator[str]:
    exact = found.of_role("insensitive")
    if exact:
        them = "it" if len(exact) == 1 else "them"
        yield (
            f"{sentence(exactly(exact))}. Whoever knows {them} of a person can often pick that"
            f" person's record from a group. Declare {them} as known to others if that is possible."
        )


def _lost(found: Collected) -> Iterator[str]:
    if figures.left_out(found) > figures.LEFT_OUT:
        yield (
            f"{percent(figures.left_out(found))} of the records are left out"
            f" ({count(found.version.suppressed)}). Counts over the release are too low, and not"
            " for all people alike."
        )
    off = [
        f"{number(100 * error)} percentage points in {the_columns([item['column']])}"
        for item in (found.evidence or {}).get("attributes", [])
        for error in [(item.get("distribution") or {}).get("largest_error")]
        if error is not None and error >= OFF
    ]
    if off:
        yield (
            f"Who spreads every group evenly sees distributions that are off by up to"
            f" {', and '.join(off)}."
        )


def _torn(found: Collected) -> Iterator[str]:
    unlocked = found.measures.get(UNLOCKED)
    if unlocked:
        yield (
            f"Nothing kept others from writing to {listed(unlocked)} while the rows were read from"
            " several servers, one after the other: of what was written at that time, a part may be"
            " in the release without the rest. All requirements hold of what was read."
        )


def _procedure(found: Collected) -> Iterator[str]:
    if found.version.over_versions == VOID:
        yield (
            "Readers who have several versions about the same people learn more than is required of"
            " each: see section 6."
        )
    elif found.policy.republication == "allow":
        yield (
            "The policy accepts whatever several versions together disclose (republication: allow)."
        )
    if not found.counts_people and not found.policy.several_each:
        yield (
            "Records are counted, not people: the policy does not say that every record is a person"
            " of its own. Who has several records is easier to find."
        )
    if not found.about.get("purpose"):
        yield "No purpose is declared (about in the policy)."
    approved = events.approval(found)
    if approved is None and found.request is None:
        yield "Nobody approved this version."
    if approved is not None and approved["details"].get(DIGEST) != events.recorded(found):
        yield "Who approved this version saw other evidence than that which was published with it."


def _dates(found: Collected) -> Iterator[str]:
    """Declared days that are over, and what was found out before there was this version."""
    declared, today = about(found), found.made_at.date().isoformat()
    expert, test = declared.expert, declared.intruder_test
    if declared.review_on and declared.review_on < today:
        yield f"The assessment was to be reviewed on {declared.review_on}."
    if expert.valid_until and expert.valid_until < today:
        yield f"The determination of the expert was valid until {expert.valid_until}."
    found_out = {"determination of the expert": expert.determined_on, "intruder test": test.on}
    for what, on in found_out.items():
        if on and on < found.version.published_at.date().isoformat():
            yield f"The {what} is of {on}, before this version was measured."
