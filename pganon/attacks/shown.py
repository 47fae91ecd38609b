"""What readers see of a staged release, in the form that attacks need.

A *box* is a row of published quasi-identifiers in a group, without others that look the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from pganon.forms.elements import text_key, value_key
from pganon.resolved.model import Attribute, Carried, Sensitive, Shown
from pganon.sqltools import col, fragment, named, num, query, unparsed
from pganon.steps.relations import PublishedView


@dataclass(frozen=True)
class ShownView:
    """A published view with what it shows of records.

    Attributes:
        group: column with the number of the group of a row.
        weight: column with the number of records that a row stands for; None: one.
        bucket: column with the number of the bucket, where groups are cells of it.
        displays: columns that say how a record shows another one, by its published name.
    """

    view: PublishedView
    group: str
    attributes: tuple[Attribute, ...]
    sensitive: tuple[Sensitive, ...]
    carried: tuple[Carried, ...]
    weight: str | None
    bucket: str | None = None
    displays: Mapping[str, str] = field(default_factory=dict)

    @property
    def records(self) -> exp.Expr:
        """The number of records of a row of `v`."""
        return num(1) if self.weight is None else col(self.weight, "v")

    @property
    def rows(self) -> exp.Var:
        return unparsed(self.view.select)

    @property
    def links(self) -> dict[str | None, str]:
        """Columns with the numbers of buckets of other tables, by the part of these."""
        return {c.part: c.name for c in self.view.columns if c.form == "bucket"}

    @property
    def part(self) -> str | None:
        """What its sensitive columns are known together with."""
        names = {item.published for item in self.sensitive}
        return next((c.part for c in self.view.columns if c.name in names), None)

    @property
    def exact(self) -> tuple[Attribute, ...]:
        """Attributes whose values are published as they are."""
        return tuple(a for a in self.attributes if a.form is Shown.EXACT)


def boxes(view: ShownView, groups: Sequence[str]) -> exp.Select:
    """SELECT box, these groups as `g<place>`, n, x<i>, z<i>, e<i>: every box once, with the number
    of its records, which may be an expected one; e<i> are keys of exact values."""
    tree = query("select sum(:n) as n from v", {"v": view.rows}, n=view.records)
    shown = [named(col(group, "v"), f"g{place}") for place, group in enumerate(groups)]
    shown += cells(view, "v")
    tree = tree.select(*shown).group_by(*[num(place) for place in range(2, 2 + len(shown))])
    tree = query("select row_number() over () as box, b.* from b", {"b": tree})
    return tree


def cells(view: ShownView, table: str) -> list[exp.Expr]:
    """Published values as x<i>, whether they may be missing as z<i>, keys of exact ones as e<i>,
    and how values that somebody hides are shown as d<i>."""
    found: list[exp.Expr] = []
    for a in view.attributes:
        if a.hidden is not None:
            found.append(named(col(view.displays[a.published], table), f"d{a.index}"))
        found.append(named(col(a.published, table), f"x{a.index}"))
        if a.null_column is not None:
            found.append(named(col(a.null_column, table), f"z{a.index}"))
        if a.form is Shown.EXACT:
            found.append(named(text_key(col(a.published, table)), f"e{a.index}"))
    return found


def histogram(view: ShownView, item: Sensitive) -> exp.Select:
    """SELECT g, v, n: records of every group by the key of their sensitive value."""
    return query(
        "select :g as g, :value as v, sum(:n)::bigint as n from v group by 1, 2",
        {"v": view.rows},
        g=col(view.group, "v"),
        value=value_key(item, "v"),
        n=view.records,
    )


def admits(attribute: Attribute, box: str, person: str) -> exp.Expr:
    """Condition: the published value of a box can be that of a person.

    Args:
        box: table with x<i>, z<i>, d<i>.
        person: table with the value q<i>, as text t<i>, its labels l<i>, and flags f<h>.
    """
    shown = _admits_shown(attribute, box, person)
    if attribute.hidden is None:
        return shown
    return fragment(
        "case :d when 'g' then not :f and :shown when 'b' then :f else true end",
        d=col(f"d{attribute.index}", box),
        f=col(attribute.hidden.flag, person),
        shown=exp.paren(shown),
    )


def _admits_shown(attribute: Attribute, box: str, person: str) -> exp.Expr:
    """The same of a value that nobody hides."""
    i = attribute.index
    parts: dict[str, exp.Expr] = {name: col(f"{name}{i}", box) for name in "xz"}
    parts |= {name: col(f"{name}{i}", person) for name in "qtle"}
    parts["f"] = col(f"e{i}", box)
    match attribute.form:
        case Shown.EXACT:
            return fragment(":f = :e", **_used(parts, "fe"))
        case Shown.RANGE:
            inside = fragment(
                "((lower_inf(:x) or :q > lower(:x) or (lower_inc(:x) and :q = lower(:x)))"
                " and (upper_inf(:x) or :q < upper(:x) or (upper_inc(:x) and :q = upper(:x))))",
                **_used(parts, "xq"),
            )
        case Shown.SET | Shown.VALUES:
            inside = fragment(":t = any(:x::text[])", **_used(parts, "xt"))
        case Shown.LABEL:
            inside = fragment(":x::text = any(:l)", **_used(parts, "xl"))
        case Shown.MEAN | Shown.MODE:
            return exp.true()
    mixed = attribute.null_column is not None
    absent = parts["z"] if mixed else fragment(":x is null", x=parts["x"])
    return fragment(
        "case when :q is null then :absent else coalesce(:inside, false) end",
        q=parts["q"],
        absent=absent,
        inside=inside,
    )


def _used(parts: dict[str, exp.Expr], names: str) -> dict[str, exp.Expr]:
    return {name: parts[name].copy() for name in names}
