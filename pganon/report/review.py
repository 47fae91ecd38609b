"""What is to be looked at before a decision: only what applies to this version."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.forms.evidence import DIGEST, WARNINGS
from pganon.policy.reporting import AUTHORITIES
from pganon.privacy.model_scope import VOID
from pganon.report import events, figures, guarantee, subgroups
from pganon.report.attacks import telling
from pganon.report.sources import Collected
from pganon.report.words import count, listed, number, percent, plain, value
from pganon.resolved.shards import UNLOCKED

HALF = 0.5
TIMES = 5
OFF = 0.05
"""Share of a group with one value; multiple of the share of everybody; error of a distribution.
Above these the reader is told."""


def look_at(found: Collected) -> list[str]:
    """A sentence or two for each point."""
    return [
        *_missing(found),
        *_limits(found),
        *subgroups.telling(found),
        *_found(found),
        *_common(found),
        *_many_times(found),
        *telling(found),
        *_unprotected(found),
        *_exact(found),
        *_lost(found),
        *_torn(found),
        *_procedure(found),
        *[f"The run warned: {plain(text, 2000)}." for text in found.measures.get(WARNINGS, ())],
    ]


def _missing(found: Collected) -> Iterator[str]:
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
        f"The highest chance to find a person is {percent(chance.highest)}, above"
        f" {listed(above)}, which {accept}.{more}"
    )


def _common(found: Collected) -> Iterator[str]:
    for item in figures.sensitive(found):
        if item["most"] > HALF:
            whole = item["most"] >= 1
            yield (
                f"There is a group in which {'all' if whole else percent(item['most'])} have the"
                f" same {plain(item['column'])}: whoever finds the group"
                f" {'knows' if whole else 'can guess'} it without finding the record."
            )


def _many_times(found: Collected) -> Iterator[str]:
    for item in figures.sensitive(found):
        column, whole = plain(item["column"]), figures.whole(found, item)
        worst = max(item["values"], key=lambda v: v["highest"] / v["share"], default=None)
        times = worst["highest"] / worst["share"] if worst else 0.0
        hidden = (item["others"] or {}).get("times_over")
        if worst is not None and times >= TIMES and times >= (hidden or 0):
            limited = guarantee.most_of(found, item["column"], worst["share"])
            tail = "" if limited is not None and limited < 1 else " No requirement limits this."
            yield (
                f"A group can say far more than the whole: “{value(worst['value'])}” is"
                f" {percent(worst['share'])} of all {whole} and"
                f" {percent(worst['highest'])} of one group,"
                f" {number(round(times, 1))} times as much.{tail}"
            )
        elif hidden:
            yield (
                f"A group can say far more than the whole: a rare {column} that is not named here"
                f" is over {hidden} times as common in one group as among all {whole}."
            )


def _found(found: Collected) -> Iterator[str]:
    if figures.exact(found):
        yield (
            f"What others may know ({listed(found.known)}) is published exactly: a person can be"
            " found by it. Only the link to what is protected is hidden."
        )


def _unprotected(found: Collected) -> Iterator[str]:
    about = {found.published_name(r.column) for r in found.requirements if r.column}
    bare = [name for name in found.of_role("sensitive", "semi_sensitive") if name not in about]
    if bare:
        yield f"No requirement is about {listed(bare)}, which the policy calls sensitive."


def _exact(found: Collected) -> Iterator[str]:
    exact = found.of_role("insensitive")
    if exact:
        them = "it" if len(exact) == 1 else "them"
        yield (
            f"{listed(exact)} {'is' if len(exact) == 1 else 'are'} published exactly. Whoever knows"
            f" {them} of a person can often pick that person's record from a group. Declare {them}"
            " as known to others if that is possible."
        )


def _lost(found: Collected) -> Iterator[str]:
    if figures.left_out(found) > figures.LEFT_OUT:
        yield (
            f"{percent(figures.left_out(found))} of the records are left out"
            f" ({count(found.version.suppressed)}). Counts over the release are too low, and not"
            " for all people alike."
        )
    for item in (found.evidence or {}).get("attributes", []):
        error = (item.get("distribution") or {}).get("largest_error")
        if error is not None and error >= OFF:
            yield (
                f"The distribution of {plain(item['column'])} is off by up to"
                f" {number(100 * error)} percentage points for who spreads every group evenly."
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
