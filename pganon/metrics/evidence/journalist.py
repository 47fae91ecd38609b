"""The risk among people of a population: the reader does not know who is in the source.

A record is picked out of the F_E people whom its class E covers: 1 / F_E, and 1 where it covers
nobody (El Emam, Guide to the De-Identification of Personal Health Information, 2013: the
journalist).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from pganon.metrics.evidence.merging import told
from pganon.policy.reporting import Limit, Reporting
from pganon.sqltools import fragment, named, num, query
from pganon.steps import Check, State
from pganon.steps.facts import Facts, count, measure

FEWEST = count("fewest", "population_")
MEAN = measure("mean", "population_")


def check(limits: Sequence[Limit], covered: Callable[[State], exp.Select]) -> Check:
    """`covered` has a row (n, covered) for every class: records, and people whom it covers."""
    above = [count(f"above{number}", "population_") for number, _ in enumerate(limits)]
    return Check(
        "population_sizes",
        "people of the population whom the classes cover",
        lambda s: _counted(covered(s), limits),
        gives=[FEWEST, MEAN, *above],
    )


def document(facts: Facts, asked: Reporting, smallest: float) -> dict[str, Any]:
    """As JSON: people whom a class covers at least, chances, records above each limit."""
    fewest = facts[FEWEST]
    return {
        "smallest": fewest,
        "highest": 1 / max(1, fewest),
        "mean": facts[MEAN],
        "above": {
            limit.name: told(facts[count(f"above{number}", "population_")], smallest)
            for number, limit in enumerate(asked.accepted)
        },
    }


def _counted(covered: exp.Select, limits: Sequence[Limit]) -> exp.Select:
    tree = query(
        "select coalesce(min(c.covered), 0) as fewest,"
        " coalesce(sum(c.n / greatest(c.covered, 1)::float8) / nullif(sum(c.n), 0), 0) as mean"
        " from c",
        {"c": covered},
    )
    parts = [
        fragment(
            "coalesce(sum(c.n) filter (where c.covered <= :largest), 0)::bigint",
            largest=num(limit.largest),
        )
        for limit in limits
    ]
    return tree.select(*[named(part, f"above{n}") for n, part in enumerate(parts)])
