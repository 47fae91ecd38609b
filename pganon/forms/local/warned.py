"""What the steward should know of a release of local groups and buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from pganon.identifiers import quote
from pganon.spec.model import ReleaseSpec


def warnings(spec: ReleaseSpec, facts: Mapping[str, Any]) -> list[str]:
    return [*_shown_values(spec), *_own_predicates(spec), *_unmeasured(spec, facts)]


def _shown_values(spec: ReleaseSpec) -> Iterator[str]:
    names = [item.published for item in spec.sensitive if item.hidden is not None]
    if names:
        yield (
            f"records that show {', '.join(map(quote, names))} teach readers about those that hide"
            " it: whoever learns from the first may infer values of the others with more certainty"
            " than the guarantee says; how much is not measured"
        )


def _own_predicates(spec: ReleaseSpec) -> Iterator[str]:
    """Columns that are hidden because of their own value."""
    for name, column in spec.policy.columns.items():
        when = column.sensitive_when
        if when is not None and when.predicate is not None and name in when.columns:
            yield (
                f"column {quote(name)} is hidden where its own value fulfils a condition: that a"
                " record hides it says so to every reader"
            )


def _unmeasured(spec: ReleaseSpec, facts: Mapping[str, Any]) -> Iterator[str]:
    """Pairs of columns that too few records hide both of."""
    for one, other in combinations(spec.sensitive, 2):
        if facts.get(f"linked{one.index}_{other.index}_few"):
            yield (
                f"too few records hide both {quote(one.published)} and {quote(other.published)} to"
                " measure whether their buckets tell of each other"
            )
