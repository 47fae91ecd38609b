"""Hierarchies as codes: leaves numbered from left to right, ancestors as ranges of leaf codes.

Makes :func:`pganon.encode.work.dictionary` and :func:`pganon.encode.work.ancestors`.
"""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from pganon.encode.number_line import bounds
from pganon.encode.work import ancestors, dictionary
from pganon.hierarchies import hierarchy_steps, leaf_kind
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.resolved.model import Attribute
from pganon.sqltools import col, fragment, named, query, union_all
from pganon.steps import CreateTable, State, Step


def tree_steps(policy: Policy, base_dir: Path, attribute: Attribute) -> list[Step]:
    i = attribute.index
    name = attribute.column.name
    declared = policy.columns[name]
    hierarchy = declared.hierarchy
    assert hierarchy is not None
    kind = leaf_kind(hierarchy, declared.type, attribute.value_type)
    present = CreateTable(
        f"leaves{i}",
        f"values of {quote(name)} that need an ancestor",
        lambda s: s.work(f"leaves{i}"),
        lambda s: query(
            "select v.value, v.n from v where v.value is not null", {"v": s.work(f"values{i}")}
        ),
    )
    hierarchy_part = hierarchy_steps(
        str(i),
        hierarchy,
        lambda s: s.work(f"leaves{i}"),
        kind,
        base_dir,
        quote(name),
        keeps_leaves=attribute.in_regions or policy.publish.labels,
    )
    return [
        present,
        *hierarchy_part,
        CreateTable(
            f"leafcodes{i}",
            f"leaves of {quote(name)} from left to right",
            lambda s: s.work(f"leafcodes{i}"),
            lambda s: _leaf_codes(s, attribute),
        ),
        CreateTable(
            f"dictionary{i}",
            f"codes of {quote(name)}",
            lambda s: s.work(dictionary(i)),
            lambda s: union_all(
                [
                    query(
                        "select l.code, l.value, l.n, null::float8 as position from l",
                        {"l": s.work(f"leafcodes{i}")},
                    ),
                    query(
                        "select 0 as code, v.value, v.n, null::float8 as position"
                        " from v where v.value is null",
                        {"v": s.work(f"values{i}")},
                    ),
                ]
            ),
        ),
        CreateTable(
            f"levels{i}",
            f"ancestors of every value of {quote(name)}",
            lambda s: s.work(ancestors(i)),
            lambda s: _levels(s, attribute),
        ),
    ]


_LEAVES = """
    select row_number() over (order by t.value)::int as code, t.value, v.n, t.labels
    from t join v on v.value = t.value
"""
_LEAVES_BY_PATH = """
    select row_number() over (order by :path, t.value)::int as code, t.value, v.n, t.labels
    from t join v on v.value = t.value
"""


def downwards(table: str) -> exp.Expr:
    """Sort key of the leaves of a tree without ranges: their labels from the top down."""
    return fragment(
        "(select array_agg(x.label order by x.place desc)"
        ' from unnest(:labels) with ordinality as x(label, place)) collate "C"',
        labels=col("labels", table),
    )


def _leaf_codes(state: State, attribute: Attribute) -> exp.Expr:
    """Leaves numbered so that the leaves below every ancestor are neighbours."""
    tables = {
        "t": state.work(f"tree_{attribute.index}"),
        "v": state.work(f"values{attribute.index}"),
    }
    if not attribute.ranged:
        return query(_LEAVES_BY_PATH, tables, path=downwards("t"))
    return query(_LEAVES, tables).select(col("lowers", "t"), col("uppers", "t"))


def _levels(state: State, attribute: Attribute) -> exp.Expr:
    flat = query(
        "select l.code, x.place - 1 as level, x.label from l"
        " cross join lateral unnest(l.labels) with ordinality as x(label, place)",
        {"l": state.work(f"leafcodes{attribute.index}")},
    )
    if attribute.ranged:
        flat = flat.select(
            named(fragment("l.lowers[x.place - 1]"), "lower"),
            named(fragment("l.uppers[x.place - 1]"), "upper"),
        )
    if attribute.domain is not None:
        low, high = bounds(attribute)
        if attribute.column.is_number:
            low, high = (fragment("(:v)::numeric", v=value) for value in (low, high))
        top = "case when f.level = max(f.level) over () then :end else :own end"
        flat = query("select f.code, f.level, f.label from f", {"f": flat}).select(
            named(fragment(top, end=low, own=col("lower", "f")), "lower"),
            named(fragment(top, end=high, own=col("upper", "f")), "upper"),
        )
    spans = query(
        "select f.*, min(f.code) over (partition by f.level, f.label) as lo,"
        " max(f.code) over (partition by f.level, f.label) as hi,"
        " max(f.level) over () as top from f",
        {"f": flat},
    )
    if not attribute.ranged:
        loss = fragment(
            "case when s.hi = s.lo then 0 else (s.hi - s.lo + 1)::float8 / max(s.hi) over () end"
        )
    else:
        width = "s.upper - s.lower"
        if attribute.column.kind in ("timestamp", "timestamptz"):
            width = "extract(epoch from s.upper - s.lower)"
        loss = fragment(
            "case when s.level = 0 then 0 else (:w)::float8 /"
            " max((:w)::float8) filter (where s.level = s.top) over () end",
            w=fragment(width),
        )
        if attribute.domain is not None:
            loss = fragment("least(:loss, 1)", loss=loss)  # ranges may be wider than the domain
    tree = query(
        "select s.code, s.level::int as level, s.label, s.lo, s.hi from s", {"s": spans}
    ).select(named(loss, "loss"))
    return tree.select(col("lower", "s"), col("upper", "s")) if attribute.ranged else tree
