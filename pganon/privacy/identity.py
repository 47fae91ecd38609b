"""Models for persons with several records whose link is published (identity reservation).

A group is a relation of (individual, value) with a number of records each; every individual is
in one group. Wang, Du, Luo and Li, "Two privacy-preserving approaches for data publishing with
identity reservation", Knowledge and Information Systems 2019.

The IR models keep an individual from being found among the pseudonyms of the group and bound the
records of a value. The EIR models also bound the sensitive values in every reasoning set, one
record per individual. None of them protects against a reader who knows one of the victim's values
or the number of the victim's records; IR (k, l) allows all individuals to share one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from sqlglot import exp

from pganon.privacy.base import CountModel, Judged, Model, ShareModel, share
from pganon.privacy.declaration import MeasuredModel
from pganon.privacy.frequency import AtLeastTwo
from pganon.privacy.rows import Relation
from pganon.sqltools import col, fragment, named, num, query


class IRKAnonymity(MeasuredModel, CountModel):
    """Every class holds at least k individuals."""

    # Its histogram is of individuals, not of values.

    judged: ClassVar[Judged] = Judged.PEOPLE
    symbol: ClassVar[str] = "k"
    counts: ClassVar[str] = "individuals"
    needs_values: ClassVar[bool] = False
    said: ClassVar[str] = "Everybody looks like at least {others} others of the release in {known}."

    model: Literal["ir_k_anonymity"]
    k: AtLeastTwo

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("count(*)")


class _RecordShare(ShareModel):
    judged: ClassVar[Judged] = Judged.RECORDS

    def aggregate(self, rows: str) -> exp.Expr:
        n = col("n", rows)
        return share(fragment("max(:n)", n=n), fragment("sum(:n)", n=n))


@dataclass(frozen=True)
class IRAlpha(_RecordShare):
    """No individual has more than the share alpha of a group's records (equality satisfies).

    Its histogram is of individuals.
    """

    alpha: float
    name: ClassVar[str] = "ir_alpha"
    symbol: ClassVar[str] = "alpha"
    counts: ClassVar[str] = "individuals"
    needs_values: ClassVar[bool] = False
    said: ClassVar[str] = "Nobody has more than {percent} of the records of a group."


@dataclass(frozen=True)
class IRBeta(_RecordShare):
    """No value has more than the share beta of a group's records (equality satisfies)."""

    beta: float
    name: ClassVar[str] = "ir_beta"
    symbol: ClassVar[str] = "beta"
    said: ClassVar[str] = (
        "In no group do more than {percent} of the records have the same value in {column}."
    )

    def most(self, share: float) -> float:
        return self.parameter


@dataclass(frozen=True)
class EIRBeta(ShareModel):
    """No value is held by more than the share beta of a group's individuals.

    Equality satisfies. The same as the bound on every reasoning set: all holders of a value may
    choose it. Rows count individuals instead of records, `total` those of the group.
    """

    beta: float
    name: ClassVar[str] = "eir_beta"
    judged: ClassVar[Judged] = Judged.MOST
    symbol: ClassVar[str] = "beta"
    counts: ClassVar[str] = "holders"
    said: ClassVar[str] = (
        "In no group do more than {percent} of the people have the same value in {column}."
    )

    def most(self, share: float) -> float:
        return self.parameter

    def aggregate(self, rows: str) -> exp.Expr:
        return exp.func("max", share(col("n", rows), col("total", rows)))


class EIRLDiversity(MeasuredModel, CountModel):
    """In every class one record of every individual have at least l values, whichever are taken."""

    # A reasoning set takes one record of every individual. The smallest number of values in one is
    # the size of a minimum hitting set of the individuals' sets of values, which is searched
    # exactly; measures stop at l. The adversary's confidence in one value is bounded by
    # (n - l + 1) / n among n individuals, not by 1 / l.

    conditional = True
    judged: ClassVar[Judged] = Judged.RECORDS
    symbol: ClassVar[str] = "l"
    counts: ClassVar[str] = "pairs"
    said: ClassVar[str] = (
        "Whichever record of everybody in a group is meant, these have at least {model.l}"
        " different values in {column}."
    )

    model: Literal["eir_l_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=1000)]  # noqa: E741

    def aggregate(self, rows: str) -> exp.Expr:
        raise TypeError("a minimum hitting set is no aggregate over a histogram; use measure()")

    def measure(
        self,
        histogram: Relation,
        by: Sequence[str],
        reference: Relation | None = None,
        undecided: int | None = None,
    ) -> exp.Select:
        """The size of a minimum hitting set of every group, at most l.

        Args:
            histogram: relation (by..., individual, value), a row per value that an individual has.
            undecided: measure of a group that the search cannot decide; None: an error.
        """
        part = [f"g{i}" for i in range(len(by))]
        held = query("select distinct h.individual, h.value from h", {"h": histogram})
        held = held.select(
            *[named(col(name, "h"), key) for name, key in zip(by, part, strict=True)]
        )
        text = _SIZES.replace("groups", ", ".join(part)).replace(
            "same_group", " and ".join(f"c.{key} = b.{key}" for key in part)
        )
        stopped = exp.null() if undecided is None else num(undecided)
        measured = query(text, {"held": held}, l=num(self.l), undecided=stopped)
        sizes = query("select s.measure from s", {"s": measured})
        return sizes.select(
            *[named(col(key, "s"), name) for name, key in zip(by, part, strict=True)]
        )


_SIZES = """
    with coded as materialized (
        select v.*, (dense_rank() over (partition by groups order by v.value) - 1)::int as code,
            count(*) over (partition by groups, v.value) as holders,
            count(*) over (partition by groups, v.individual) as many
        from held as v
    ), bounds as materialized (
        select groups, greatest(count(distinct k.code) filter (where k.many = 1),
            ceil(sum(1.0 / k.holders) - 1e-6)) as least
        from (
            select groups, i.individual, min(i.many) as many, min(i.code) as code,
                max(i.holders) as holders
            from coded as i group by groups, i.individual
        ) as k group by groups
    ), undecided as (
        select c.*, max(c.code) over (partition by groups) + 1 as width
        from (select c.* from coded as c join bounds as b on same_group where b.least < :l) as c
    ), families as (
        select groups, array_agg(m.mask) as family
        from (
            select groups, u.individual,
                bit_or(set_bit(repeat('0', u.width)::varbit, u.code, 1)) as mask
            from undecided as u group by groups, u.individual
        ) as m group by groups
    )
    select s.* from (
        select groups, :l::bigint as measure from bounds as d where d.least >= :l
        union all
        select groups, pganon.hitting_set_size(f.family, :l, :undecided)::bigint as measure
        from families as f
    ) as s
"""
"""Values of individuals with one value must all be hit; and weights of the individuals, 1 / (most
holders of one of their values), add up to no more than the size of any hitting set. What these
bounds do not settle is searched."""


_HISTOGRAMS = {
    "records": "select r.value, count(*) as n from r group by r.value",
    "individuals": "select r.individual as value, count(*) as n from r group by r.individual",
    "pairs": "select distinct r.individual, r.value from r",
    "holders": "select r.value, count(distinct r.individual) as n from r group by r.value",
}
"""The rows that models read, by the unit that they count."""


def histogram(counts: str, records: Relation, by: str) -> exp.Select:
    """Histogram by the column `by`, for models that count records, individuals, holders or pairs.

    Args:
        records: relation (by, individual, value), one row per record.
    """
    tree = query(_HISTOGRAMS[counts], {"r": records}).select(col(by, "r"))
    return tree.group_by(col(by, "r")) if tree.args.get("group") else tree


def measured(
    model: Model, records: Relation, by: str, *, undecided: int | None = None
) -> exp.Select:
    """SELECT by, measure of every group, from its records; see :func:`histogram`.

    Args:
        undecided: measure of a group that the exact search cannot decide; None: an error.
    """
    counts: str = getattr(model, "counts", "records")
    rows = histogram(counts, records, by)
    if isinstance(model, EIRLDiversity):
        return model.measure(rows, [by], undecided=undecided)
    if counts != "holders":
        return model.measure(rows, [by])
    # An individual may hold several values: the total is not the sum over them.
    everybody = query("select count(distinct r.individual) as total from r", {"r": records})
    everybody = everybody.select(col(by, "r")).group_by(col(by, "r"))
    both = query(
        "select h.value, h.n, t.total from h join t on :same",
        {"h": rows, "t": everybody},
        same=exp.EQ(this=col(by, "h"), expression=col(by, "t")),
    ).select(col(by, "h"))
    tree = exp.select(col(by, "g"), named(model.aggregate("g"), "measure"))
    return tree.from_(both.subquery("g")).group_by(col(by, "g"))
