"""QS k-anonymity: how many value combinations of a QS set a cluster leaves possible.

A table that was joined from several sources has a set of quasi-sensitive attributes from each. Who
knows a person's values in one set must not learn those in another. A cluster shows, per
attribute, the distinct values of its records; a set then has as many combinations as the product
of their numbers, and as many *supported* ones as occur in a relation of combinations that exist.

A histogram here has the QS sets as values and their combinations as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator
from sqlglot import exp

from pganon.policy.model import Name, RelationName
from pganon.policy.refusals import known_word, refuse_one
from pganon.privacy.base import Judged
from pganon.privacy.declaration import MeasuredModel
from pganon.privacy.rows import Relation
from pganon.sqltools import aliased, col, fragment, num, query, stacked, text

Element = Callable[[exp.Expr, int], exp.Expr]
"""From an element of an array of attribute i to its form in the combinations; never NULL."""


class QSKAnonymity(MeasuredModel):
    """Every cluster has at least k value combinations in every QS set."""

    # In every cluster every QS set has at least k combinations, every attribute `min_values`.
    #
    # With `count: product` all combinations count: whoever does not know which ones exist has a
    # confidence of at most 1/k in any of them, since the values of an attribute can be permuted.
    # With `supported` only those that exist count, and clusters have k records: whoever knows them
    # is left with k candidates, which need not be equally likely. With fewer records than k the
    # values of a cluster might fit one choice of candidates alone. Does not protect a single
    # attribute (`min_values` makes it have several values), nor from who knows values of both sets
    # or other members of the cluster.

    judged: ClassVar[Judged] = Judged.COMBINATIONS
    symbol: ClassVar[str] = "k"
    exact: ClassVar[bool] = True

    model: Literal["qs_k_anonymity"]
    k: Annotated[int, Field(ge=1, le=2**31 - 1)]
    count: Annotated[Literal["supported", "product"], known_word("way to count combinations")] = (
        "supported"
    )
    min_values: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    public: dict[Name, RelationName] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _public_is_counted(self) -> QSKAnonymity:
        if self.public and self.count == "product":
            refuse_one(
                "count: product reads no table; it counts combinations whether they exist or not",
                at=("public",),
                suggestion="remove public, or write count: supported",
            )
        return self

    @property
    def parameters(self) -> dict[str, object]:
        return {
            "k": self.k,
            "count": self.count,
            "min_values": self.min_values,
            "size": self.size,
            "bounds": "candidates" if self.counts_supported else "probability",
        }

    @property
    def label(self) -> str:
        values = f", min_values = {self.min_values}" if self.min_values > 1 else ""
        records = f" and {self.k} records" if self.counts_supported else ""
        return f"{self.name} k = {self.k} of {self.count} combinations{records}{values}"

    def sentence(self, known: str, column: str) -> str:
        exist = " that exist" if self.counts_supported else ""
        return (
            "Whoever knows what a person has in all sets of columns but one is left with at least"
            f" {self.k} combinations of that one{exist}."
        )

    @property
    def counts_supported(self) -> bool:
        return self.count == "supported"

    @property
    def size(self) -> int:
        """Fewest records of a cluster."""
        return self.k if self.counts_supported else 1

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("min(:n)", n=col("n", rows))


@dataclass(frozen=True)
class QSSet:
    """A QS set of a relation with an array of distinct values per attribute.

    Attributes:
        attributes: indexes of its attributes, in order.
        arrays: names of their columns in that relation.
        combinations: relation (v1, v2, ..) of the combinations that exist, each once.
    """

    attributes: Sequence[int]
    arrays: Sequence[str]
    combinations: Relation | None = None


def product_histogram(clusters: Relation, by: str, sets: Mapping[int, QSSet]) -> exp.Select:
    """SELECT by, value (number of the set), n (size of the product) for every cluster and set."""
    return stacked(
        [
            query(
                "select :set as value, :n as n from c", {"c": clusters}, set=num(s), n=_size(qs_set)
            ).select(col(by, "c"))
            for s, qs_set in sets.items()
        ]
    )


def _size(qs_set: QSSet) -> exp.Expr:
    """float8: exact as far as anybody reads it, and it never overflows."""
    result = fragment("1::float8")
    for name in qs_set.arrays:
        result = fragment(":a * cardinality(:b)", a=result, b=col(name, "c"))
    return result


def supported_histogram(
    clusters: Relation, by: str, sets: Mapping[int, QSSet], element: Element
) -> exp.Select:
    """SELECT by, value (number of the set), n (supported combinations) per cluster and set.

    Values are appended attribute by attribute, and only what begins a combination that exists is
    carried on: never more rows than clusters have supported beginnings, times one attribute.
    """
    return stacked(
        [
            query(
                "select :set as value, coalesce(s.n, 0) as n from c left join s on :c = :s",
                {"c": clusters, "s": _number_supported(clusters, by, qs_set, element)},
                set=num(number),
                c=col(by, "c"),
                s=col(by, "s"),
            ).select(col(by, "c"), copy=False)
            for number, qs_set in sets.items()
        ]
    )


def _number_supported(clusters: Relation, by: str, qs_set: QSSet, element: Element) -> exp.Select:
    existing = supported_combinations(clusters, by, qs_set, element)
    counted = query("select count(*)::float8 as n from b", {"b": existing})
    return counted.select(col(by, "b"), copy=False).group_by(col(by, "b"), copy=False)


def supported_combinations(
    clusters: Relation, by: str, qs_set: QSSet, element: Element
) -> exp.Select:
    """SELECT by, v1, v2, ..: the combinations of a set that exist, of every cluster."""
    begun = _extended(clusters, by, None, qs_set, 0, element)
    for last in range(1, len(qs_set.arrays)):
        begun = _extended(clusters, by, begun, qs_set, last, element)
    return begun


def _extended(
    clusters: Relation,
    by: str,
    begun: exp.Select | None,
    qs_set: QSSet,
    last: int,
    element: Element,
) -> exp.Select:
    """(by, v1, .., v<last + 1>): the beginnings with one value more, as far as they exist.

    `begun` becomes part of it, not a copy: attribute by attribute that would be many copies.
    """
    assert qs_set.combinations is not None
    values = query(
        "select unnest(:array) as x from c", {"c": clusters}, array=col(qs_set.arrays[last], "c")
    ).select(col(by, "c"), copy=False)
    name = f"v{last + 1}"
    extended = query(
        "select :x as x from u", {"u": values}, x=element(col("x", "u"), qs_set.attributes[last])
    ).select(col(by, "u"), copy=False)
    names = [f"v{place + 1}" for place in range(last)]
    if begun is not None:
        together = exp.EQ(this=col(by, "b"), expression=col(by, "e"))
        pairs = exp.select(col(by, "b"), *[col(n, "b") for n in names], col("x", "e"))
        # Left to itself the planner, which cannot know how few values a cluster has, may join
        # every cluster with all combinations first. OFFSET '0' keeps the order of the joins;
        # without the quotes it would keep parallel workers out as well.
        pairs = pairs.from_(begun.subquery("b", copy=False), copy=False)
        pairs = pairs.join(extended.subquery("e", copy=False), on=together, copy=False)
        extended = pairs.offset(text("0"), copy=False)
    existing = exp.select(*[col(n, "p") for n in (*names, name)]).distinct()
    existing = existing.from_(aliased(qs_set.combinations, "p"), copy=False)
    same = [exp.EQ(this=col(n, "e"), expression=col(n, "p")) for n in names]
    same.append(exp.EQ(this=col("x", "e"), expression=col(name, "p")))
    return (
        exp.select(col(by, "e"), *[col(n, "p") for n in (*names, name)])
        .from_(extended.subquery("e", copy=False), copy=False)
        .join(existing.subquery("p", copy=False), on=exp.and_(*same), copy=False)
    )
