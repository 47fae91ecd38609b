"""Information about records that is lost: non-uniform entropy, KL divergence of the whole table,
classes whose sensitive values say too much."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.sensitive import sensitive_key
from pganon.forms.facts import PUBLISHED
from pganon.metrics.coverage import covered
from pganon.metrics.source import few
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, conjunction, fragment, named, num, query, scalar
from pganon.steps import State
from pganon.steps.facts import RECORDS, Fact, count, measure, or_null


def entropy_facts(spec: ReleaseSpec) -> list[Fact[Any]]:
    """Facts that :func:`entropy` gives."""
    facts = [fact for a in spec.attributes for fact in (bits(a.index), all_bits(a.index))]
    return [or_null(count("records", "metric_entropy_")), *facts]


def bits(index: int) -> Fact[float | None]:
    """Bits lost of a quasi-identifier."""
    return or_null(measure(f"bits{index}", "metric_"))


def all_bits(index: int) -> Fact[float | None]:
    """The same if every record were suppressed."""
    return or_null(measure(f"all_bits{index}", "metric_"))


KL = or_null(measure("kl", "metric_"))
UNCOVERED = or_null(measure("uncovered", "metric_"))
"""Fact that :func:`divergence` gives; None where the table was too large to compare."""


def vulnerable_facts(spec: ReleaseSpec) -> list[Fact[Any]]:
    """Facts that :func:`vulnerable` gives."""
    facts = [vulnerable_share(item.index) for item in spec.sensitive]
    return [count("columns", "metric_vulnerable_"), *facts]


def vulnerable_share(index: int) -> Fact[float | None]:
    """Share of the groups in which one value of a sensitive column is too frequent."""
    return or_null(measure(f"vulnerable{index}", "metric_"))


def entropy(spec: ReleaseSpec, state: State) -> exp.Expr:
    """One row: `bits<i>` lost per attribute, and `all_bits<i>` if every record were suppressed.

    A record loses -log2 of the share that its value has among all source records with a value
    that the published one covers.
    """
    tree = query(
        "select sum(s.n) as records from s left join b on b.group_id = s.group_id",
        {"s": state.work("msource"), "b": state.work("mboxes")},
    )
    for axis in axes(spec.attributes):
        i, alias = axis.index, f"d{axis.index}"
        tree = tree.join(
            aliased(axis.dictionary(state), alias),
            on=exp.EQ(this=col("code", alias), expression=col(axis.code, "s")),
        )
        lost = "sum(s.n * ln(:mass::float8 / :n)) / ln(2::float8)"
        records, weight = num(state[RECORDS]), col("n", alias)
        mass = fragment("coalesce(:m, :all)", m=col(f"mass{i}", "b"), all=records)
        tree = tree.select(
            named(fragment(lost, mass=mass, n=weight), bits(i).column),
            named(fragment(lost, mass=records, n=weight), all_bits(i).column),
        )
    return tree


def divergence(spec: ReleaseSpec, state: State) -> exp.Expr:
    """One row: `kl` of the source's combinations of values from the published ones.

    A released record is spread evenly over the combinations that its published values cover.
    `uncovered` is the share of source records with a combination that nothing published covers;
    `kl` is a sum over the others.
    """
    if not few(state):
        return query("select null::float8 as kl, null::float8 as uncovered")
    attributes = axes(spec.attributes)
    names = [axis.code for axis in attributes]
    cells = query("select s.cell, sum(s.n)::float8 as n from s", {"s": state.work("msource")})
    cells = cells.select(*[col(name, "s") for name in names])
    cells = cells.group_by(col("cell", "s"), *[col(name, "s") for name in names])
    density: exp.Expr = fragment("b.n::float8")
    for axis in attributes:
        density = fragment(":d / :c", d=density, c=col(f"covers{axis.index}", "b"))
    inside = conjunction(
        [exp.paren(covered(axis, col(axis.code, "c"), "b")) for axis in attributes]
    )
    tree = query(
        "select c.cell, c.n, sum(:d) as density from c join b on :inside group by c.cell, c.n",
        {"c": cells, "b": state.work("mboxes")},
        d=density,
        inside=inside,
    )
    return query(
        "select sum(f.n / :records * ln(f.n / :records / (f.density / :released))) as kl,"
        " 1 - sum(f.n) / :records as uncovered from f",
        {"f": tree},
        records=num(state[RECORDS]),
        released=num(state[PUBLISHED]),
    )


def vulnerable(spec: ReleaseSpec, published: exp.Select, threshold: float) -> exp.Expr:
    """One row: `vulnerable<j>`, the share of groups in which one value has more than the share
    `threshold` of the records, per sensitive column."""
    tree = query("select 1 as columns")
    for item in spec.sensitive:
        counted = query("select v.group_id, count(*) as n from v", {"v": published}).group_by(
            col("group_id", "v"), sensitive_key(item, col(f"v{item.index}", "v"))
        )
        groups = query(
            "select c.group_id, max(c.n)::float8 / sum(c.n) as share from c group by c.group_id",
            {"c": counted},
        )
        share = query(
            "select avg((g.share > :t)::int)::float8 from g",
            {"g": groups},
            t=exp.Literal.number(repr(threshold)),
        )
        tree = tree.select(named(scalar(share), vulnerable_share(item.index).column))
    return tree
