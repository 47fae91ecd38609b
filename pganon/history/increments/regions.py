"""Regions of new individuals: the cuts of a first version replayed, as joins on the node.

    pending     (person, q<i>.., l<i>..)   their records; labels of a tree from the leaf up
    newcomers   (person, region)           those with a region; an unseen pattern of NULLs has none,
                nor has a value outside the bounds of its region, where groups show their region

Every record goes to exactly one side of every cut: numbers, dates and ordinal values to the left if
they are NULL or at most the threshold; others to the left if they, or the child of the ancestor
that they are below, are in the stored set, else to the right, unseen ones and NULL too.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.values import in_order, order_label
from pganon.forms.elements import element
from pganon.hierarchies import hierarchy_steps, leaf_kind
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import Attribute, ReleaseSpec, Scale, Shown
from pganon.sqltools import aliased, cast, col, fragment, named, query, text
from pganon.steps import CreateTable, State, Step

PENDING = "pending"


def tree_steps(spec: ReleaseSpec) -> list[Step]:
    """Steps that make the ancestors of values, for columns with cuts between children of a tree."""
    steps: list[Step] = []
    for attribute in _labelled(spec):
        i, column = attribute.index, attribute.column.name
        declared = spec.policy.columns[column]
        assert declared.hierarchy is not None
        kind = leaf_kind(declared.hierarchy, declared.type, attribute.value_type)
        steps.append(
            CreateTable(
                f"values_r{i}",
                f"values of {quote(column)} that newcomers have",
                lambda s, i=i: s.work(f"values_r{i}"),
                lambda s, i=i: query(
                    "select :q as value, count(*) as n from p where :q is not null group by :q",
                    {"p": s.work(PENDING)},
                    q=col(f"q{i}", "p"),
                ),
            )
        )
        steps += hierarchy_steps(
            f"r{i}",
            declared.hierarchy,
            lambda s, i=i: s.work(f"values_r{i}"),
            kind,
            spec.base_dir,
            quote(column),
        )
    return steps


def _labelled(spec: ReleaseSpec) -> list[Attribute]:
    return [a for a in spec.attributes if a.scale is Scale.TREE and not a.ranged]


def regions(
    spec: ReleaseSpec, state: State, cuts: QualifiedName, bounds: QualifiedName | None
) -> exp.Select:
    """SELECT (person, region) of the new individuals in `pending`.

    Args:
        bounds: bounds of every region, if groups show their regions.
    """
    values = [f"q{a.index}" for a in spec.attributes]
    labels = [f"l{a.index}" for a in _labelled(spec)]
    names = [
        fragment(
            "case when :q is null then :name end",
            q=col(f"q{a.index}", "p"),
            name=text(a.column.name),
        )
        for a in sorted(spec.attributes, key=lambda a: a.column.name)
        if a.nulls == "own_class"
    ]
    begun = query(
        "select p.person, c.node from p join c on c.nulls = :nulls",
        {"p": _with_labels(spec, state), "c": cuts},
        nulls=fragment("array_remove(:names::text[], null)", names=exp.Array(expressions=names)),
    ).select(*[col(name, "p") for name in (*values, *labels)])
    left = exp.Case(this=col("column_name", "c"))
    for attribute in spec.attributes:
        left.when(text(attribute.column.name), _left(attribute), copy=False)
    moved = query(
        "select w.person, case when c.column_name is null or :left then c.left_node"
        " else c.right_node end as node from walk as w join c on c.node = w.node",
        {"c": cuts},
        left=exp.paren(left),
    ).select(*[col(name, "w") for name in (*values, *labels)])
    tree = query("select w.person, w.node as region from walk as w where w.node < 0")
    if bounds is not None:
        tree = tree.join(aliased(bounds, "b"), on=fragment("b.region = w.node"))
        tree = tree.where(*[_covered(attribute) for attribute in spec.attributes])
    return tree.with_("walk", as_=exp.union(begun, moved, distinct=False), recursive=True)


def _with_labels(spec: ReleaseSpec, state: State) -> exp.Select:
    tree = query("select p.* from p", {"p": state.work(PENDING)})
    for attribute in _labelled(spec):
        i = attribute.index
        on = exp.EQ(this=col("value", f"t{i}"), expression=col(f"q{i}", "p"))
        table = aliased(state.work(f"tree_r{i}"), f"t{i}")
        tree = tree.join(table, on=on, join_type="left")
        tree = tree.select(named(col("labels", f"t{i}"), f"l{i}"))
    return tree


def _covered(attribute: Attribute) -> exp.Expr:
    """Whether the bounds `b` have the value of a record `w`.

    A list of values, an enum or a tree in a table or function may have changed since.
    Quasi-identifiers alone decide that.
    """
    value, shown = col(f"q{attribute.index}", "w"), col(f"g{attribute.index}", "b")
    null = fragment(":g is null", g=shown.copy())
    if attribute.null_column is not None:
        null = col(f"z{attribute.index}", "b")
    elif attribute.nulls in ("suppress", "reject"):
        null = exp.true()  # such records are suppressed or rejected elsewhere
    if attribute.form is Shown.RANGE:
        kind = {"numrange": "numeric"}.get(attribute.published_type, attribute.value_type)
        covered = fragment(":g @> :v", g=shown, v=cast(value, kind))
    elif attribute.form is Shown.LABEL:
        covered = fragment(":g = any(:l)", g=shown, l=col(f"l{attribute.index}", "w"))
    else:
        item = cast(element(attribute, value), "text")
        covered = fragment(":v = any(:g)", v=item, g=cast(shown, "text[]"))
    return (
        exp.Case()
        .when(fragment(":v is null", v=value.copy()), null)
        .else_(fragment("coalesce(:covered, false)", covered=exp.paren(covered)))
    )


def _left(attribute: Attribute) -> exp.Expr:
    """Whether a record `w` goes to the left of the cut `c`."""
    value, threshold = col(f"q{attribute.index}", "w"), col("threshold", "c")
    if attribute.scale is Scale.NOMINAL:
        # 1.0 and 1.00 are one value.
        kind = "numeric" if attribute.value_type == "numeric" else "text"
        return _among(cast(value, kind), cast(col("members", "c"), f"{kind}[]"))
    if attribute.scale is Scale.TREE and not attribute.ranged:
        label = fragment(":l[c.level + 1]", l=col(f"l{attribute.index}", "w"))
        return _among(label, col("members", "c"))
    kind = "numeric" if attribute.value_type == "bigint" else attribute.value_type
    if attribute.order is not None:
        labels = exp.Array(expressions=[text(label) for label in attribute.order])
        places = [
            fragment(
                "array_position(:labels::text[], :label)",
                labels=labels.copy(),
                label=order_label(attribute.value_type, v),
            )
            for v in (value, threshold)
        ]
    elif attribute.column.kind == "enum":
        places = [in_order(attribute.column, v) for v in (value, threshold)]
    elif attribute.value_type == "text":
        places = [fragment(':v collate "C"', v=v) for v in (value, threshold)]
    else:
        places = [value, cast(threshold, kind)]
    place, end = places
    if attribute.ranged:
        below = fragment("case when c.level > 0 then :v < :e else :v <= :e end", v=place, e=end)
    else:
        below = fragment(":v <= :e", v=place, e=end)
    return fragment(":v is null or coalesce(:below, false)", v=value.copy(), below=below)


def _among(value: exp.Expr, members: exp.Expr) -> exp.Expr:
    """Whether a stored set, which may contain NULL, has the value."""
    return fragment("array_position(:members, :v) is not null", v=value, members=members)
