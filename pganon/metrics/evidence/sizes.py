"""Sizes of groups: of a release, and of the source, where records with equal quasi-identifiers are
a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.metrics.evidence.merging import merged, nested
from pganon.policy.reporting import Limit
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import Check, State
from pganon.steps.facts import Fact, Facts, count

BINS = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))
"""Sizes that are counted together, the first and the last of them."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the groups of one relation.

    Attributes:
        name: begins the names of its facts.
        by: what people are counted by, beside `n`, the people of a group.
    """

    name: str
    by: str = "n"

    def check(
        self, purpose: str, groups: Callable[[State], exp.Select], limits: Sequence[Limit] = ()
    ) -> Check:
        """`groups` has a row with these columns for every group."""
        return Check(
            f"{self.name}_sizes",
            purpose,
            lambda s: self._counted(groups(s), limits),
            gives=[self._fact(name) for name in self._columns(limits)],
        )

    def document(
        self, facts: Facts, smallest: float, limits: Sequence[Limit] = ()
    ) -> dict[str, Any] | None:
        """As JSON; None if there are no groups."""
        found = {name: facts[self._fact(name)] for name in self._columns(limits)}
        people = found["people"]
        if people == 0:
            return None
        above = [found[f"above{number}"] for number, _ in enumerate(limits)]
        *above, alone = nested([*above, found["people0"]], people, smallest)
        bins = merged(
            [found[f"people{n}"] for n, _ in enumerate(BINS)],
            smallest,
            known=[held for held in above if held is not None],
        )
        return {
            "people": people,
            "groups": found["groups"],
            "smallest": found["smallest"],
            "largest": found["largest"],
            "alone": alone,
            "above": {limit.name: held for limit, held in zip(limits, above, strict=True)},
            "bins": [
                {
                    "from": BINS[first][0],
                    "to": BINS[last][1],
                    "people": sum(found[f"people{n}"] for n in range(first, last + 1)),
                }
                for first, last in bins
            ],
        }

    @property
    def people(self) -> Fact[int]:
        """Of all groups."""
        return self._fact("people")

    def _fact(self, name: str) -> Fact[int]:
        return count(name, f"{self.name}_")

    def _columns(self, limits: Sequence[Limit]) -> list[str]:
        above = [f"above{number}" for number, _ in enumerate(limits)]
        people = [f"people{number}" for number, _ in enumerate(BINS)]
        return ["groups", "people", "smallest", "largest", *above, *people]

    def _counted(self, groups: exp.Select, limits: Sequence[Limit]) -> exp.Expr:
        tree = query(
            "select count(*) as groups, coalesce(sum(g.n), 0)::bigint as people,"
            " coalesce(min(:size), 0) as smallest, coalesce(max(:size), 0) as largest from g",
            {"g": groups},
            size=col(self.by, "g"),
        )
        ranges = [(0, limit.largest) for limit in limits]
        ranges += [(first, 2**31 if last is None else last) for first, last in BINS]
        parts = [
            fragment(
                "coalesce(sum(g.n) filter (where :size between :first and :last), 0)::bigint",
                size=col(self.by, "g"),
                first=num(first),
                last=num(last),
            )
            for first, last in ranges
        ]
        return tree.select(
            *[
                named(part, name)
                for part, name in zip(parts, self._columns(limits)[4:], strict=True)
            ]
        )
