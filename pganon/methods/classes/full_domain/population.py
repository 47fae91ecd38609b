"""People of a population in the classes of a node.

keyed_people  (key, levels, n)  people of the population by their keys, and the level from which on
              they have the label of the key, for values that the source lacks

A value that is below no label of the source is in no class.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis
from pganon.encode.work import POPULATION, place
from pganon.identifiers import QualifiedName
from pganon.methods.classes.full_domain.keys import Layout
from pganon.methods.classes.full_domain.search.lattice import Node
from pganon.privacy.base import Relation
from pganon.privacy.population import with_presence
from pganon.sqltools import aliased, col, equal, fragment, named, num, query
from pganon.steps import State


def keyed_people(state: State) -> QualifiedName:
    return state.work("keyed_people")


def people(layout: Layout) -> exp.Select:
    """SELECT key, levels, n."""
    state = layout.state
    tree = query("select p.n from p", {"p": state.work(POPULATION)})
    for axis in layout.axes:
        value, alias = col(f"q{axis.index}", "p"), f"d{axis.index}"
        on = exp.EQ(this=col("value", alias), expression=value)
        codes = aliased(_codes(axis, state), alias)
        known = fragment(":code is not null", code=col("code", alias))
        if axis.has_null(state):
            known = exp.or_(known, fragment(":value is null", value=value.copy()))
        tree = tree.join(codes, on=on, join_type="left").where(known)
        tree = tree.select(
            named(fragment("coalesce(:code, 0)", code=col("code", alias)), axis.code),
            named(fragment("coalesce(:level, 0)", level=col("level", alias)), _level(axis)),
        )
    levels = [col(_level(axis), "c") for axis in layout.axes]
    keyed = query("select c.n from c", {"c": tree}).select(*layout.keys("c"), *levels)
    columns = [col(name, "k") for name in (*layout.words, *map(_level, layout.axes))]
    counted = query("select sum(k.n)::bigint as n from k", {"k": keyed}).select(*columns)
    return counted.group_by(*[column.copy() for column in columns])


def _codes(axis: Axis, state: State) -> exp.Select:
    if isinstance(axis, TreeAxis):
        return query(
            "select t.value, t.code, t.level from t where t.code is not null",
            {"t": state.work(place(axis.index))},
        )
    return query(
        "select d.value, d.code, 0 as level from d where d.code > 0",
        {"d": axis.dictionary(state)},
    )


def _level(axis: Axis) -> str:
    return f"m{axis.index}"


def classes_in_population(layout: Layout, node: Node, records: Relation) -> exp.Select:
    """SELECT key, n, covered, presence: the classes of a node beside the population.

    Args:
        records: by their keys below any node.
    """
    nulls = _joined_nulls(layout, node)
    keys = layout.masked(node, "t")
    shown = [
        named(
            fragment(f"{some}(:key & :bit <> 0)", key=col(word, "t"), bit=num(bit)), f"{x}{place}"
        )
        for place, (word, bit) in nulls.items()
        for x, some in (("z", "bool_or"), ("o", "bool_and"))
    ]
    classes = query("select sum(t.n)::bigint as n from t", {"t": records}).select(*keys, *shown)
    classes = classes.group_by(*[key.this.copy() for key in keys])
    found = _people(layout, node, nulls)
    tree = query("select c.n, coalesce(sum(p.n), 0)::bigint as covered from c", {"c": classes})
    on = [equal(layout.words, "p", "c")]
    on += [
        fragment(
            "case when :p then :some else not :alone end",
            p=col(f"z{place}", "p"),
            some=col(f"z{place}", "c"),
            alone=col(f"o{place}", "c"),
        )
        for place in nulls
    ]
    columns = [col(word, "c") for word in layout.words]
    tree = tree.select(*columns).join(aliased(found, "p"), on=exp.and_(*on), join_type="left")
    tree = tree.group_by(*[column.copy() for column in columns], col("n", "c"))
    return with_presence(tree)


def _people(layout: Layout, node: Node, nulls: dict[int, tuple[str, int]]) -> exp.Select:
    """SELECT key, flags of values that are missing, n: people who have a label on the node."""
    keys = layout.masked(node, "o")
    missing = [
        named(fragment(":key & :bit <> 0", key=col(word, "o"), bit=num(bit)), f"z{place}")
        for place, (word, bit) in nulls.items()
    ]
    tree = query("select sum(o.n) as n from o", {"o": keyed_people(layout.state)})
    tree = tree.select(*keys, *missing)
    for axis, level in zip(layout.axes, node, strict=True):
        if isinstance(axis, TreeAxis):
            has = fragment(":m <= :level", m=col(_level(axis), "o"), level=num(level))
            tree = tree.where(has)
    return tree.group_by(*[column.this.copy() for column in (*keys, *missing)])


def _joined_nulls(layout: Layout, node: Node) -> dict[int, tuple[str, int]]:
    """By the place of a quasi-identifier, where NULL is in its key, where it joins the values.

    A class shows whether it has NULL, or nothing else (flags z, o of its place): it covers nobody
    without a value, or nobody with one.
    """
    return {
        place: (layout.words[field.word], 1 << (field.shift + sum(field.widths)))
        for place, (field, level) in enumerate(zip(layout.fields, node, strict=True))
        if field.null and field.root_joins and level == len(field.widths)
    }
