"""The edition for readers as a document of JSON.

It has no time at which it was made: who may read a release gets the same bytes as its steward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pganon.metrics.evidence.shares import STEPS
from pganon.metrics.evidence.sizes import BINS
from pganon.policy.reporting import Reporting
from pganon.privacy import frequency, identity, likeness, population, release
from pganon.privacy.base import Model
from pganon.report import figures
from pganon.report.dataset import dataset
from pganon.report.outcome import NONE, chance_row, row
from pganon.report.promises import limits_of
from pganon.report.readers.seen import Commonest, Seen
from pganon.report.words import count, guess, listed, percent, plain

FORMAT = "pganon report 1"

_ACCEPTED = Reporting().accepted
"""Limits of authorities: those of a policy are not for readers."""

_MODELS: tuple[type[Model], ...] = (
    frequency.KAnonymity,
    frequency.BucketSize,
    frequency.RelativeFrequency,
    frequency.DistinctLDiversity,
    frequency.EntropyLDiversity,
    frequency.RecursiveCLDiversity,
    frequency.AnatomyLDiversity,
    frequency.SlicingLDiversity,
    frequency.LocalBucketDiversity,
    identity.IRKAnonymity,
    identity.IRAlpha,
    identity.IRBeta,
    identity.EIRBeta,
    likeness.TCloseness,
    likeness.BetaLikeness,
    likeness.DeltaDisclosure,
    release.AverageRisk,
    population.AverageRisk,
    population.KMap,
)
"""Those of which a guarantee has all that their sentences say."""


def document(seen: Seen, files: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """Everything that the page shows.

    Args:
        files: exported ones, each with its `name` and `sha256`.
    """
    chance = _chance(seen)
    sensitive = [_sensitive(name, found) for name, found in seen.commonest.items()]
    report = {
        "format": FORMAT,
        "uid": f"{seen.release}/{seen.version}",
        "edition": "readers",
        "command": "pganon report",
        "program": seen.program,
        "summary": " ".join(_summary(seen, chance, sensitive)),
        "outcome": list(_outcome(seen, chance, sensitive)),
        "properties": {
            "release": seen.release,
            "version": seen.version,
            "request": None,
            "method": seen.method,
            "published_at": seen.published_at.isoformat(),
            "released": _people(seen) if chance else None,
            "members": seen.members,
            "known": seen.known,
            "sensitive": seen.sensitive,
            "exact": seen.exact,
            "alone": seen.alone,
        },
        "views": seen.views,
        "columns": [
            {key: one[key] for key in ("name", "type", "comment", "form")} for one in seen.first
        ],
        "risk": {
            "release": chance,
            "source": None,
            "limits": figures.limits(_ACCEPTED),
        },
        "class_sizes": {"release": _sizes(seen) if chance else None},
        "guarantee": [_stated(seen, item) for item in seen.guarantee],
        "adversary": next((item["adversary"] for item in seen.guarantee), None),
        "sensitive": sensitive,
        "not_protected": limits_of(
            models={item["model"] for item in seen.guarantee},
            sensitive=seen.sensitive,
            insensitive=seen.insensitive,
            people=seen.individual is not None,
            grouped=chance is not None,
            exact=seen.exact,
        ),
        "files": list(files),
        "proof": {"evidence_sha256": None},
    }
    return {**report, "dataset": dataset(report)}


def _chance(seen: Seen) -> dict[str, Any] | None:
    if not seen.sizes:
        return None
    smallest = min(size for size, _ in seen.sizes)
    groups = sum(groups for _, groups in seen.sizes)
    return {"smallest": smallest, "highest": 1 / smallest, "mean": groups / _people(seen)}


def _people(seen: Seen) -> int:
    return sum(size * groups for size, groups in seen.sizes)


def _sizes(seen: Seen) -> dict[str, Any]:
    sizes = seen.sizes
    return {
        "people": _people(seen),
        "groups": sum(groups for _, groups in sizes),
        "smallest": min(size for size, _ in sizes),
        "largest": max(size for size, _ in sizes),
        "above": {
            limit.name: sum(size * groups for size, groups in sizes if size <= limit.largest)
            for limit in _ACCEPTED
        },
        "bins": [
            {
                "from": first,
                "to": last,
                "people": sum(
                    size * groups
                    for size, groups in sizes
                    if first <= size and (last is None or size <= last)
                ),
            }
            for first, last in BINS
        ],
    }


def _sensitive(column: str, found: Sequence[Commonest]) -> dict[str, Any]:
    records = sum(one.records * one.groups for one in found)
    people = [0] * STEPS
    for one in found:
        # A share on a border counts below it, as in the edition for the officer.
        people[-(-one.most * STEPS // one.records) - 1] += one.records * one.groups
    return {
        "column": column,
        "most": max(one.most / one.records for one in found),
        "mean": sum(one.most * one.groups for one in found) / records,
        "fewest_values": min(one.values for one in found),
        "limit": None,
        "bins": [
            {"from": place / STEPS, "to": (place + 1) / STEPS, "people": held}
            for place, held in enumerate(people)
        ],
    }


def _stated(seen: Seen, item: Mapping[str, Any]) -> dict[str, Any]:
    column, model = item["column"], _model(item)
    return {
        "model": item["model"],
        "name": item["model"].replace("_", " "),
        "column": column,
        "published": column,
        "requirement": item["requirement"],
        "required": None if model is None else model.parameter,
        "sentence": f"The release satisfies {item['requirement']}."
        if model is None
        else model.sentence(listed(seen.known), column or ""),
        "over_versions": item.get("over_versions"),
    }


def _model(item: Mapping[str, Any]) -> Model | None:
    """None if the guarantee does not have all that the model is."""
    counted = item.get("counted_in")
    known = item if counted is None else {**item, "population": counted}
    for model in _MODELS:
        needed = model.needed()
        same = model.name == item["model"] and ("population" in needed) == (counted is not None)
        if same and all(name in known for name in needed):
            return model.of(**{name: known[name] for name in needed})
    return None


# -- words --------------------------------------------------------------------------------------


def _summary(
    seen: Seen, chance: Mapping[str, Any] | None, sensitive: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    if chance is not None:
        yield (
            f"Whoever knows {listed(seen.known)} of a person finds at least {chance['smallest']}"
            f" {seen.members} that look the same, so {guess(alone=seen.alone)} is right at most"
            f" once in {chance['smallest']} times."
        )
    elif seen.exact:
        yield f"{listed(seen.known)} are published exactly, so people can be found by them."
    for item in sensitive[:2]:
        name = plain(item["column"])
        if item["most"] < 1:
            yield f"In no group do more than {percent(item['most'])} have the same {name}."
        else:
            yield f"In some groups all have the same {name}."
    yield "All figures were counted in what you can read yourself."


def _outcome(
    seen: Seen, chance: Mapping[str, Any] | None, sensitive: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    if chance is not None:
        groups = sum(groups for _, groups in seen.sizes)
        least, largest = min(seen.sizes)[0], max(seen.sizes)[0]
        figure = f"{count(least)} {seen.members}"
        yield row("smallest", "Smallest group", figure, "who look the same", "counted", NONE)
        yield chance_row(least, _ACCEPTED)
        yield row("groups", "Groups", count(groups), f"of {least} to {largest}", "counted", NONE)
    for item in sorted(sensitive, key=lambda one: -one["most"])[:1]:
        yield row(
            "common",
            f"Most common {plain(item['column'], 30)} in a group",
            percent(item["most"]),
            f"at most; on average {percent(item['mean'])}",
            "counted",
            NONE,
        )
