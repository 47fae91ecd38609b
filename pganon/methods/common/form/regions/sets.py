"""Bounds of ordinal and categorical columns: all values that could be in a region."""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.values import in_order, order_label
from pganon.forms.elements import element
from pganon.resolved.model import Attribute, Scale
from pganon.sqltools import cast, col, fragment, num, query, text


def set_bounds(attribute: Attribute, paths: exp.Select, taken: exp.Select) -> exp.Select:
    """SELECT path, g, z, loss, glm, height; arguments as of
    :func:`pganon.methods.common.form.regions.classes.line_bounds`."""
    listed = attribute.listed
    assert listed is not None  # else the policy is refused
    labels = exp.Array(expressions=[text(label) for label in listed])
    every = query(
        "select u.label, u.place, :value as value"
        " from unnest(:labels::text[]) with ordinality as u(label, place)",
        labels=labels,
        value=cast(col("label", "u"), attribute.value_type),
    )
    there = query(
        "select p.path, u.value, :place as place from p cross join u"
        " where not 0 = any(p.path) and not exists (select 1 from s"
        " where s.path = p.path and :left <> s.is_left)",
        {"p": paths.copy(), "u": every, "s": taken.copy()},
        place=_place(attribute),
        left=exp.paren(_is_left(attribute, labels.copy())),
    )
    sets = query(
        "select h.path, array_agg(:item order by h.place) as g, count(*) as n from h"
        " group by h.path",
        {"h": there},
        item=element(attribute, col("value", "h")),
    )
    members = query(
        "select p.path, x.g, p.z, coalesce(x.n, 0) as n from p left join x on x.path = p.path",
        {"p": with_nulls(attribute, paths, taken), "x": sets},
    )
    return query(
        "select f.path, f.g, f.z, :loss as loss, :loss as glm, 0 as height from f",
        {"f": members},
        loss=exp.paren(_loss(attribute, len(listed))),
    )


def with_nulls(attribute: Attribute, paths: exp.Select, taken: exp.Select) -> exp.Select:
    """SELECT path, z: whether NULL goes this way, and is shown in a column of its own."""
    if attribute.null_column is None:
        return query("select p.path, false as z from p", {"p": paths.copy()})
    left = "true"
    if attribute.scale is not Scale.ORDERED:
        left = "array_position(s.members, null) is not null"
    return query(
        "select p.path, coalesce(bool_and((:left) = s.is_left), true) as z from p"
        " left join s on s.path = p.path group by p.path",
        {"p": paths.copy(), "s": taken.copy()},
        left=fragment(left),
    )


def _place(attribute: Attribute) -> exp.Expr:
    """Sort key of the values of an array."""
    if attribute.scale is Scale.ORDERED:
        return col("place", "u")
    return in_order(attribute.column, col("value", "u"))


def _is_left(attribute: Attribute, labels: exp.Expr) -> exp.Expr:
    """Whether a value `u` is to the left of the cut `s`."""
    if attribute.scale is Scale.ORDERED:
        end = "u.place <= coalesce(array_position(:labels::text[], :threshold), 0)"
        threshold = col("threshold", "s")
        if attribute.value_type == "numeric":
            threshold = order_label(attribute.value_type, threshold)
        return fragment(end, labels=labels, threshold=threshold)
    members = cast(col("members", "s"), f"{attribute.value_type}[]")
    return fragment("coalesce(u.value = any(:members), false)", members=members)


def _loss(attribute: Attribute, values: int) -> exp.Expr:
    """As :class:`pganon.encode.axis.OrderedAxis` and NominalAxis count it, of all values."""
    if attribute.scale is Scale.ORDERED:
        return fragment(
            "case when f.n = 0 then 0 when f.z then 1 else (f.n - 1)::float8 / :m end",
            m=num(max(values - 1, 1)),
        )
    null = attribute.null_column is not None
    return fragment(
        "greatest(f.n + f.z::int - 1, 0)::float8 / :m", m=num(max(values + int(null) - 1, 1))
    )
