"""What is not told of a version of which few people are left out, beside what readers see of it.

A figure of the source beside the same figure of the release says what those have who are in the one
alone. While they are fewer than `report.smallest`, documents for others than the steward have no
figure that depends on who was left out: the same release gives the same document, whoever that was.
Evidence is stored without them; measures are stored whole, for the steward, and told without them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from pganon.encode.facts import MOST_EACH
from pganon.encode.people import has_several
from pganon.policy.model import Policy
from pganon.resolved.model import ReleaseSpec
from pganon.steps.facts import Facts

WITHHELD = "withheld"
"""In the measures of a version: that this holds of it."""

_OF_SOURCE = ("t_closeness", "beta_likeness", "delta_disclosure", "background_knowledge")
"""Models that compare groups with the source, unless it is with what is published."""

_OF_POPULATION = ("k_map", "delta_presence", "average_risk")
"""Models that count people of a population. It has those who are left out, and may have nobody else
beside those who are released."""

_OF_WEIGHTS = ("weighted", "deff", "presence")

_LOSSES = ("gcp", "ncp_total", "paper_gcp", "objective", "baseline")
"""Losses and distances, which are shares of what the source has; as `ncp`, one by column."""


def few_left_out(policy: Policy, records: int) -> bool:
    """Whether some people are left out, and fewer than may be counted.

    Records of one person may be many, so any number of them may be of few people.
    """
    return records > 0 and (policy.several_each or records < policy.report.smallest)


def fewest_records(spec: ReleaseSpec, facts: Facts) -> float:
    """How many records are of `report.smallest` people at least, whoever has them."""
    if not has_several(spec):
        return spec.policy.report.smallest
    return inf if several_in_earlier(spec) else spec.policy.report.smallest * facts[MOST_EACH]


def several_in_earlier(spec: ReleaseSpec) -> bool:
    """Whether people have several records in earlier increments, of which nobody knows whose they
    are."""
    return has_several(spec) and spec.growth is not None and spec.growth.version is not None


def told_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence without figures of the source."""
    attributes = [
        {**one, "distribution": None, **_without_values(one)} for one in evidence["attributes"]
    ]
    sizes = {**evidence["class_sizes"], "source": None}
    found = {**evidence, "class_sizes": sizes, "attributes": attributes}
    if "subgroups" in evidence:
        # Values of records that groups generalize: the same groups may be of others.
        found["subgroups"] = []
    if (evidence.get("population") or {"by_weights": True})["by_weights"] is False:
        found["population"] = None
        if found.get("record_risk"):
            found["record_risk"] = {**found["record_risk"], "journalist": None}
    if "candidates" in evidence:
        # Combinations are counted if a record has them, also one that is left out.
        kept = [one for one in evidence["candidates"] if one["kind"] != "combinations"]
        found["candidates"] = kept
    return found


def _without_values(attribute: Mapping[str, Any]) -> dict[str, None]:
    # How many values lie between two that have an order, the source says.
    return {"exact": None, "width": None} if attribute["form"] == "set" else {}


def told_measures(measures: Mapping[str, Any]) -> dict[str, Any]:
    """Measures of a version as others than the steward are told them."""
    dropped = ("metrics", "increment", "utility", "verified") if measures.get(WITHHELD) else ()
    if "weights" in measures:  # with the release alone: what is left out is the steward's
        told = {n: v for n, v in measures["weights"].items() if n in _OF_WEIGHTS}
        measures = {**measures, "weights": told}
    # Shares have all digits there, so that those count few; warnings say what is to be known.
    found = {n: value for n, value in measures.items() if n not in ("alike", "means", *dropped)}
    if not dropped:
        return found
    if "utility" in measures:
        utility = measures["utility"]
        gone = {name: None for name in _LOSSES if name in utility}
        ncp: dict[str, None] = dict.fromkeys(utility.get("ncp", {}))
        found["utility"] = {**utility, **gone, "ncp": ncp}
        if "partitions" in utility:
            groups = {name: {**one, "gcp": None} for name, one in utility["partitions"].items()}
            found["utility"]["partitions"] = groups
    found["verified"] = [_told(check) for check in measures.get("verified", [])]
    return found


def _told(check: Mapping[str, Any]) -> dict[str, Any]:
    compared = check["model"] in _OF_SOURCE and check["against"] != "published"
    combined = check["against"].endswith(" combinations")
    counted = check["model"] in _OF_POPULATION
    return {**check, "measured": None} if compared or combined or counted else dict(check)


def share_told(share: float, people: float, smallest: float) -> float | None:
    """A share of people; None of all but few of them, as the rest would be counted by it.

    Of records, where `smallest` is as many as :func:`fewest_records`.
    """
    rest = round(people * (1 - share))
    return None if 0 < rest < smallest else share


GAIN = 0.09
"""How much more often an attack may succeed because people are in the release, before the report
says so first. It is a chance that authorities accept (`pganon.policy.reporting.AUTHORITIES`), to
which El Emam, Mosquera and Bass (2020) hold what a release tells beyond identity, too."""

ADVANTAGE = 0.2
"""The same of who says who is in the source."""

LOSS = 0.5
"""An anonymity loss coefficient above this is a risk."""

STRANGERS = {"quasi_identifiers": "groups", "correlations": "naive_bayes"}
"""Who guesses of people that are not in the release, by what he does."""


def told_finding(finding: Mapping[str, Any], smallest: int) -> dict[str, Any]:
    """A finding of attacks without values, without shares of all but few people, and what these
    follow from; but whether the attack surely or perhaps gains too much. The same of one that is
    told.

    Who is surest of some guesses, or guesses one value, is among those with all of them: nothing
    is told of the first that counts few of the second.
    """
    found = {"certain": None, "choice": None, "value_choice": None, "posteriors": [], **finding}
    found["gains"], found["may_gain"] = _gains(found)
    for name in ("release", "members", "control"):
        found[name] = _told_rate(found[name], smallest)
    if any(found[name] and found[name]["share"] is None for name in ("members", "control")):
        found["difference"], found["posteriors"] = None, []
    beside = [found["release"]]
    for name in ("choice", "value_choice"):
        if (choice := found[name]) is not None:
            attack = _told_rate(choice["attack"], smallest, beside)
            # The surest guesses of those who are held out are among all of them, too.
            same = STRANGERS.get(found["adversary"]) == choice["baseline"]
            base = _told_rate(choice["base"], smallest, [found["control"]] if same else [])
            found[name] = {**choice, "value": None, "attack": attack, "base": base}
            if any(rate and rate["share"] is None for rate in (attack, base)):
                found[name] |= {"loss": None, "difference": None}
            beside.append(attack)
    found["certain"] = _told_rate(found["certain"], smallest, beside)
    return found


def _gains(found: Mapping[str, Any]) -> tuple[bool, bool]:
    """Surely, and perhaps."""
    if "gains" in found:
        return found["gains"], found.get("may_gain", False)
    least = found["difference"]["low"] if found["difference"] else -1.0
    if found["attack"] == "membership":
        return least > ADVANTAGE, False
    choices = [found[n] for n in ("choice", "value_choice") if found[n] is not None]
    if not choices:
        return least > GAIN, False
    lost = [one for one in choices if one["loss"]["value"] > LOSS]
    surely = any(
        one["loss"]["low"] > LOSS or (one["difference"] or {"low": -1.0})["low"] > GAIN
        for one in lost
    )
    return surely, bool(lost) and not surely


def _told_rate(
    rate: Mapping[str, Any] | None, smallest: int, beside: Sequence[Mapping[str, Any] | None] = ()
) -> Mapping[str, Any] | None:
    """A rate unless all but few succeed, also of those that others which are told count more."""
    if rate is None or rate["share"] is None:
        return rate
    told = share_told(rate["share"], rate["attempts"], smallest) is not None
    for other in beside:
        if other is not None and other["share"] is not None:
            more = abs(other["attempts"] - rate["attempts"])
            failed = abs(more - abs(other["successes"] - rate["successes"]))
            told = told and not (0 < more < smallest or 0 < failed < smallest)
    return rate if told else {"attempts": rate["attempts"], **dict.fromkeys(_OF_RATE)}


_OF_RATE = ("successes", "share", "low", "high")


DIGEST = "evidence_sha256"
"""The digest in the details of the event that published a version."""

WARNINGS = "warnings"
"""What its run warned of, in the measures of a version."""

JUDGEMENT = "judgement"
"""Key of the evidence that is there whatever a run measured: what holds beside other versions."""


def canonical(document: Mapping[str, Any]) -> str:
    """JSON with sorted keys and no blanks, to be written as UTF-8."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256(document: Mapping[str, Any]) -> str:
    """Digest (hex) of the canonical JSON."""
    return hashlib.sha256(canonical(document).encode()).hexdigest()


def evidence_details(evidence: Mapping[str, Any]) -> dict[str, str]:
    """Details of that event."""
    return {DIGEST: sha256(evidence)}
