"""Number of buckets of the sensitive tables by size."""

from __future__ import annotations

import json

from sqlglot import exp

from pganon.methods.buckets.metrics.parts import Parts, PartsOf
from pganon.sqltools import query, stacked
from pganon.steps import Check, State, Step
from pganon.steps.facts import Facts, label, or_null

_SIZES = or_null(label("bucket_sizes"))
"""JSON array of [size, buckets]."""


def steps(parts: PartsOf) -> list[Step]:
    """The check that observes the sizes of buckets."""
    return [Check("bucket_sizes", "buckets by size", lambda s: _sizes(parts(s), s), gives=[_SIZES])]


def _sizes(parts: Parts, state: State) -> exp.Expr:
    """Over all partitions; tables that share one are counted once."""
    sets = {part.link: part for part in parts.sensitive_tables}
    buckets = [
        query("select distinct t.group_id, t.size from t", {"t": state.work(part.work)})
        for part in sets.values()
    ]
    counted = query(
        "select b.size::bigint as size, count(*) as n from b group by 1", {"b": stacked(buckets)}
    )
    return query(
        "select json_agg(json_build_array(c.size, c.n) order by c.size)::text as bucket_sizes"
        " from c",
        {"c": counted},
    )


def histogram(facts: Facts) -> dict[str, int]:
    """Buckets by number of records, the smallest first; keys are texts, as in JSON."""
    return {str(size): n for size, n in json.loads(facts[_SIZES] or "[]")}
