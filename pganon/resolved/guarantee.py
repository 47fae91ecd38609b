"""The guarantee of a release, as its readers find it in `pganon.guarantees`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pganon.policy.options import UNSEEN
from pganon.privacy.base import (
    ALL_VERSIONS,
    KEPT_SETS,
    KEPT_VECTORS,
    ONE_VERSION,
    Judged,
    Model,
    Requirement,
)
from pganon.privacy.frequency import KAnonymity, RelativeFrequency
from pganon.privacy.population import PopulationModel
from pganon.privacy.profit import Profitability
from pganon.privacy.uniqueness import PopulationUniqueness
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.tables import EVENT_SHARE, GROUP_SIZE, HOLDERS

CHOICES = ("profile", "division", "buckets", "select")
"""Options of methods that decide against whom a bound holds."""

FIRST = "the first version of the release"
"""The reference distribution of a release that grows, as readers find it."""

POPULATION = "the population that the owner has given"
"""Whom a model counts, as readers find it: the name of the relation is not theirs to know."""

UNCOMPUTED = "does not compute how the method came to its groups"
"""An assumption about readers, wherever sensitive values decided on groups."""


def guarantee(spec: ReleaseSpec) -> list[dict[str, Any]]:
    """One object of JSON per requirement.

    In words, `requirement` names model and parameters, and `adversary` says against whom it holds:
    a `reader` of whom also everything is true that it `assumes`. `over_versions` says who of them
    may have other versions about the same people, too.
    """
    return [*[_stated(spec, requirement) for requirement in spec.requirements], *_of_tables(spec)]


_LIKE_OTHERS = "expects the same of all people of a group, and knows no rows of others"
"""An assumption about readers of related tables."""


def _of_tables(spec: ReleaseSpec) -> Iterator[dict[str, Any]]:
    """What is promised of groups in which other tables have their values."""
    related = spec.related
    if related is None:
        return
    rows, row = "that there are rows", "one value of a row"
    names = ", ".join(events.name for events in related.events)
    told = f"values of {names} are told of groups of at least {related.group_size} people"
    stated: list[tuple[str | None, str, dict[str, Any]]] = [
        (None, told, {"model": GROUP_SIZE, "people": related.group_size, "column": None})
    ]
    for events in related.events:
        of, k = {"table": events.name}, related.k
        who = f"whoever knows that somebody has rows of {events.name}"
        told = f"{who} finds at least {k} people of the group who have"
        stated.append((rows, told, {"model": HOLDERS, "k": k, "column": None, **of}))
        if events.membership is not None:
            beta = float(events.membership)
            told = f"of who could have rows of {events.name}, at most {_percent(beta)} have some"
            stated.append((None, told, {"model": EVENT_SHARE, "beta": beta, "column": None, **of}))
        for item in events.items:
            if item.limit is not None:
                beta, column = float(item.limit), item.published
                told = f"{who} finds no {column} that is held by over {_percent(beta)} of those"
                one = {"model": EVENT_SHARE, "beta": beta, "column": column, **of}
                stated.append((rows, told, one))
        for pair in events.pairs:
            beta, both = float(pair.limit), (pair.first.published, pair.second.published)
            column = " + ".join(both)
            told = f"whoever knows one of {' and '.join(both)} of a row of {events.name} finds"
            known = f"{told} at least {k} people of the group with every {both[1]} that is shown"
            stated.append((row, known, {"model": HOLDERS, "k": k, "column": column, **of}))
            most = f"{told} no other that is held by over {_percent(beta)} of those"
            one = {"model": EVENT_SHARE, "beta": beta, "column": column, **of}
            stated.append((row, most, one))
    for knows, told, item in stated:
        known = "who knows the quasi-identifiers of a person"
        known += f", and {knows}" if knows else ""
        yield {
            "requirement": in_words(item),
            **item,
            "sentence": told,
            "over_versions": _over_versions(spec, None),
            "reader": known,
            "assumes": [_LIKE_OTHERS],
            "adversary": f"{known}, and {_LIKE_OTHERS}",
        }


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _stated(spec: ReleaseSpec, requirement: Requirement) -> dict[str, Any]:
    model, given = requirement.model, requirement.given
    stated = {"model": model.name, **model.parameters, "column": requirement.column}
    if given is not None:
        stated["if_not_null"] = {**given.parameters, **_with_a_value(spec, given)}
    if model.needs_reference and spec.policy.refresh == "increments":
        stated["compared_with"] = FIRST
    if isinstance(model, PopulationModel):
        stated["counted_in"] = POPULATION
    method = spec.policy.method
    chosen = {name: getattr(method, name) for name in CHOICES if hasattr(method, name)}
    reader, *assumed = _assumed(spec)
    prior = _prior(spec)
    return {
        "requirement": in_words(stated),
        **stated,
        **chosen,
        "over_versions": _over_versions(spec, model),
        "reader": reader,
        "assumes": [*assumed, *([prior] if prior else [])],
        "adversary": ", and ".join(filter(None, [adversary(spec), prior])),
    }


_PHRASES = {"compared_with": "compared with", "counted_in": "counted in"}
_IN_OTHER_WORDS = ("model", "column", "if_not_null", *_PHRASES)


def in_words(stated: Mapping[str, Any]) -> str:
    """Model and parameters: `k_anonymity k=5`, `t_closeness(occupation) t=0.2`."""
    column = f"({stated['column']})" if stated.get("column") else ""
    rest = [f"{k}={v}" for k, v in stated.items() if k not in _IN_OTHER_WORDS and v is not None]
    given = ", ".join(f"{k}={v}" for k, v in stated.get("if_not_null", {}).items())
    if_given = [f"({given} if it is not NULL)"] if given else []
    phrases = [f"{words} {stated[key]}" for key, words in _PHRASES.items() if key in stated]
    return " ".join([f"{stated['model']}{column}", *rest, *if_given, *phrases])


def _over_versions(spec: ReleaseSpec, model: Model | None) -> str:
    """Where nobody can tell who is in other versions, or it is accepted, one version counts."""
    known = spec.individual or spec.record_key
    if isinstance(model, PopulationModel | PopulationUniqueness | Profitability):
        return ONE_VERSION  # nobody counts whom several versions cover together, or what they lose
    if not known or spec.policy.republication != "refuse":
        return ONE_VERSION
    if spec.invariant and model is not None and model.judged is Judged.MOST:
        return KEPT_SETS if len(spec.invariant_items) == 1 else KEPT_VECTORS
    return ALL_VERSIONS


def _prior(spec: ReleaseSpec) -> str | None:
    """The background knowledge that readers are assumed to have."""
    if spec.background is None:
        return None
    given = spec.background.knowledge.source == "relation"
    where = "the owner has given" if given else "follow from the source"
    return f"expects the same of all who have the same quasi-identifiers: the priors that {where}"


def _with_a_value(spec: ReleaseSpec, given: Model) -> dict[str, int]:
    """The k against readers who know that there is a value; records without one do not count.

    NULL has at most the share alpha / (1 + alpha) of n records, so at least n / (1 + alpha) have a
    value, and at least 1 / alpha do, since no value has more than the share alpha of them.
    """
    if not isinstance(given, RelativeFrequency):
        return {}
    k = max(r.model.k for r in spec.requirements if isinstance(r.model, KAnonymity))
    return {"k": math.ceil(max(k / (1 + given.limit), 1 / given.limit))}


def decides_by_values(spec: ReleaseSpec) -> bool:
    """Whether who computes the method learns of sensitive values from where groups are."""
    bounded = any(requirement.sensitive is not None for requirement in spec.requirements)
    return spec.policy.method.decides_by_values(bounded=bounded)


def adversary(spec: ReleaseSpec) -> str:
    """Against whom all requirements hold."""
    return ", and ".join(_assumed(spec))


def _assumed(spec: ReleaseSpec) -> list[str]:
    """Phrases that follow "a reader": what one may know, and what not."""
    method, uncomputed = spec.policy.method, [UNCOMPUTED] if decides_by_values(spec) else []
    if method.grouped == "quasi_sensitive":
        return ["who knows the values of a person in one QS set", *uncomputed]
    knows = ["who knows the quasi-identifiers of a person"]
    if method.encoding.reserves_identity:
        knows.append("knows neither a sensitive value nor the number of records of the person")
    elif spec.policy.records_per_individual == "many_accepted":
        knows.append("takes every record for a person of its own")
    if method.unlinks:
        knows.append("judges by the bucket of the person alone, not by what all buckets teach")
    elif any(requirement.sensitive is not None for requirement in spec.requirements):
        knows.append("knows no sensitive value of others in the class")
    knows += method.assumes(len(spec.sensitive))
    knows += [UNSEEN] if spec.leaves_surplus_out else []
    if spec.rules:
        knows.append("excludes values by no other rules than those of the policy")
    return [*knows, *uncomputed]
