"""Columns whose hidden values are associated, and which therefore share buckets.

With independent buckets, a reader who knows which values go together could look for the only pair
that both buckets of a record allow. Under `buckets: aligned` associated columns form a set: a
record has one number in all columns of the set that it hides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pganon.methods.local.form.facts import LINKS
from pganon.methods.local.form.layout import Layout
from pganon.resolved.model import Sensitive
from pganon.steps.facts import Facts


@dataclass(frozen=True)
class Link:
    """Association of two columns among the records that hide both.

    Attributes:
        strength: Cramer's V corrected for bias.
        determined: whether the value of one follows from that of the other.
        few: whether there are too few such records for a measurement.
    """

    one: Sensitive
    other: Sensitive
    records: int
    strength: float
    determined: bool
    few: bool

    @property
    def association(self) -> float:
        """Association in [0, 1]; 0 where it could not be measured."""
        if self.few or not self.records:
            return 0.0
        return 1.0 if self.determined else self.strength


def links(layout: Layout, facts: Facts) -> list[Link]:
    """All pairs of columns; none before they are measured."""
    items = layout.spec.sensitive
    pairs: list[Link] = []
    for i, j, records, strength, determined in json.loads(facts.get(LINKS) or "[]"):
        if j >= len(items):  # assumed for a plan
            continue
        one, other = items[i], items[j]
        few = 0 < records < 2 * max(layout.least(one), layout.least(other))
        pairs.append(Link(one, other, records, float(strength), bool(determined), few))
    return pairs


def sets(layout: Layout, facts: Facts) -> tuple[tuple[Sensitive, ...], ...]:
    """Sets of columns that share their buckets, of two or more each, in the order of the policy."""
    if not layout.aligned:
        return ()
    limit = getattr(layout.spec.policy.method, "link_threshold", 1.0)
    linked = [link for link in links(layout, facts) if link.association > limit]
    lowest = {item.index: item.index for item in layout.spec.sensitive}
    for link in linked:
        one, other = (lowest[item.index] for item in (link.one, link.other))
        least, most = min(one, other), max(one, other)
        lowest = {index: least if lead == most else lead for index, lead in lowest.items()}
    parts = [
        tuple(item for item in layout.spec.sensitive if lowest[item.index] == first)
        for first in sorted(set(lowest.values()))
    ]
    return tuple(part for part in parts if len(part) > 1)


def set_of(layout: Layout, facts: Facts, item: Sensitive) -> Sequence[Sensitive]:
    """The columns that share the buckets of this one, itself among them."""
    return next((part for part in sets(layout, facts) if item in part), (item,))


def leader(layout: Layout, facts: Facts, item: Sensitive) -> Sensitive:
    """The first column of the set: work tables of the buckets are named by its index."""
    return set_of(layout, facts, item)[0]
