"""Distributions of the first version, with which new individuals of a release are compared.

Any other reference distribution would change with every increment. Rare values of a few new
individuals would then seem to be frequent ones.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.value_codes import referenced
from pganon.resolved.increments import First
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import num, query


def first_of(spec: ReleaseSpec, item: Sensitive) -> First | None:
    """Where its distributions of the column are; None where a run compares with its own."""
    growth = spec.growth
    if growth is None or item not in referenced(spec):
        return None
    return growth.first


def compares_with_first(spec: ReleaseSpec) -> bool:
    """Whether a run compares any column with the first version."""
    return any(first_of(spec, item) is not None for item in spec.sensitive)


def first_counts(spec: ReleaseSpec, item: Sensitive) -> exp.Select:
    """SELECT value, source_n, published_n: records of the first version by value, as text keys.

    Where that of its source was not kept, what it published stands for it.
    """
    first = first_of(spec, item)
    assert first is not None
    published = query(
        "select h.value, sum(h.n)::bigint as n from h where h.col = :number group by h.value",
        {"h": first.histogram},
        number=num(spec.sensitive.index(item) + 1),
    )
    source = _source(first, item) if item.column.name in first.columns else published
    return query(
        "select coalesce(s.value, p.value) as value, coalesce(s.n, 0) as source_n,"
        " coalesce(p.n, 0) as published_n from s full join p on p.value = s.value",
        {"s": source, "p": published},
    )


def _source(first: First, item: Sensitive) -> exp.Select:
    assert first.source is not None
    return query(
        "select r.value, r.n from r where r.attribute = :number",
        {"r": first.source},
        number=num(item.index),
    )
