"""Whether columns with buckets of their own tell of each other.

A record has the number of a bucket for each of its hidden values. Who knows which values go
together can look for the only pair that both buckets allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sqlglot import exp

from pganon.association import Associated, association, dependencies, values
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.local.layout import withheld_fact
from pganon.identifiers import quote
from pganon.methods.division import MEASURE
from pganon.methods.local.shape import Shape
from pganon.spec.model import Sensitive
from pganon.sqltools import cast, col, named, num, query, scalar
from pganon.steps import Check, State, Step


def link_steps(shape: Shape) -> list[Step]:
    """A check for every pair of columns with buckets."""
    return [_check(shape, one, other) for one, other in combinations(shape.spec.sensitive, 2)]


def _check(shape: Shape, one: Sensitive, other: Sensitive) -> Check:
    return Check(
        f"linked{one.index}_{other.index}",
        f"whether buckets of {quote(one.published)} tell of {quote(other.published)}",
        lambda s: _measured(shape, one, other, s),
        lambda row, state: _associated(shape, one, other, row),
        prefix=f"linked{one.index}_{other.index}_",
    )


def _measured(shape: Shape, one: Sensitive, other: Sensitive, state: State) -> exp.Expr:
    """(records, association, dependencies) of the records that hide both values."""
    codes = [col(f"s{item.index}", "p") for item in (one, other)]
    both = query(
        "select :a as a, :b as b from p where :a > 0 and :b > 0",
        {"p": state.work("placed")},
        a=codes[0],
        b=codes[1],
    )
    if any(state.facts.get(withheld_fact(item)) for item in (one, other)):
        both = both.where(exp.false())
    columns = [
        Associated(item.published, col(name, "t"), cast(col(name, "t"), "float8"))
        if item.column.is_number or item.column.is_time
        else Associated(item.published, col(name, "t"))
        for item, name in zip((one, other), "ab", strict=True)
    ]
    fewest = 2 * max(shape.layout.least(one), shape.layout.least(other))
    counted = query("select count(*) from t", {"t": both})
    return query(
        "select x.records, x.records between 1 and :few as few from x",
        {"x": query("select :n as records", n=scalar(counted))},
        few=num(fewest - 1),
    ).select(
        named(scalar(association(both, columns, MEASURE)), "association"),
        named(scalar(dependencies(both, columns)), "dependencies"),
    )


def _associated(
    shape: Shape, one: Sensitive, other: Sensitive, row: Mapping[str, Any]
) -> PganonError | None:
    if row["few"] or not row["records"]:
        return None
    strength = values(row["association"]).get((0, 1), 0.0)
    determined = max(values(row["dependencies"]).values(), default=0.0)
    limit = shape.options.link_threshold
    if max(strength, determined) <= limit:
        return None
    known = "one determines the other" if determined else f"V = {strength:.2f}"
    return PrivacyRefusal(
        f"columns {quote(one.published)} and {quote(other.published)} are associated ({known}):"
        " independent buckets would reveal their values",
        model="local_bucket_diversity",
        required=limit,
        observed=max(strength, determined),
        hint="leave one of them out, or make one column of both; a higher link_threshold accepts"
        " that who knows which values go together learns more than 1/l",
        code="associated",
    )
