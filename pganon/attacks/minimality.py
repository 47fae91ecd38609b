"""The attacker who knows the method, and the quasi-identifiers of everybody in the release.

Every SELECT is about groups that are classes, of a staged release.

cells      (cell, class_id, codes, w): the quasi-identifiers of members, as codes
known      (t, class_id, cell): targets that somebody in a class has the quasi-identifiers of
groups     (node, attr, class_id): classes that are looked at, by their numbers below 0, and groups
           that became such classes by a cut on an attribute, with these
members    (node, cell, codes, w): of these groups
places     (node, attr, cell, pos): see :class:`pganon.methods.common.minimality.Minimality`; of
           groups that were cut, by that attribute alone
rows       (class_id, w, k<j>): what the members of these classes have, values as numbers
told       (cell, item, k, score): shares of values in the worlds that remain
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.attacks.worlds import Condition
from pganon.encode.axis import axes
from pganon.encode.combination import cell_columns
from pganon.encode.work import CODED
from pganon.forms.elements import own_value
from pganon.forms.work import GROUPED_CLASSES
from pganon.identifiers import QualifiedName
from pganon.methods.common.minimality import Minimality
from pganon.resolved.guarantee import decides_by_values
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, conjunction, equal, fragment, named, num, query
from pganon.steps import State

Table = QualifiedName

UNTOLD = "groups are made without sensitive values, so it tells nothing"
UNKNOWN = "the worlds that remain under this method are not enumerated"

GROUPS = (("node", "bigint"), ("attr", "integer"), ("class_id", "bigint"))
TOLD = (("cell", "bigint"), ("item", "integer"), ("k", "integer"), ("score", "float8"))


def unmeasured(spec: ReleaseSpec, minimality: Minimality | None) -> str | None:
    """Why the attack is not measured of releases of a policy; None where it is."""
    if not decides_by_values(spec):
        return UNTOLD
    return UNKNOWN if minimality is None else minimality.unmeasured(spec)


def cells(spec: ReleaseSpec, state: State) -> exp.Select:
    """All classes, as they are encoded."""
    codes = [axis.code for axis in axes(spec.attributes)]
    counted = query(
        "select g.class_id, count(*) as w from c join g on :same",
        {"c": state.work(CODED), "g": state.work(GROUPED_CLASSES)},
        same=equal(cell_columns(spec, state), "g", "c"),
    )
    by = [col(name, "g") for name in ("class_id", *codes)]
    counted = counted.select(*by[1:]).group_by(*[one.copy() for one in by])
    order = [exp.Ordered(this=col(name, "n")) for name in ("class_id", *codes)]
    number = exp.Window(
        this=exp.func("row_number", dialect="postgres"), order=exp.Order(expressions=order)
    )
    return query("select n.* from n", {"n": counted}).select(named(number, "cell"))


def known(spec: ReleaseSpec, state: State, cells: Table, targets: Table) -> exp.Select:
    """Values that nobody in the release has are no codes, so they are in no cell."""
    tree = query("select t.t, c.class_id, c.cell from t", {"t": targets})
    same: list[exp.Expr] = []
    for axis in axes(spec.attributes):
        i, alias = axis.index, f"d{axis.index}"
        on = exp.EQ(this=col("value", alias), expression=col(f"q{i}", "t"))
        tree = tree.join(aliased(axis.dictionary(state), alias), on=on, join_type="left")
        same.append(
            fragment(
                ":c = case when :q is null then 0 else :code end",
                c=col(axis.code, "c"),
                q=col(f"q{i}", "t"),
                code=col("code", alias),
            )
        )
    return tree.join(aliased(cells, "c"), on=conjunction(same))


def rows(spec: ReleaseSpec, state: State, groups: Table, values: Sequence[Table]) -> exp.Select:
    """Args: values: (v, k) of every sensitive column, its values by number."""
    tree = query(
        "select g.class_id, count(*) as w from c join g on :same"
        " join a on a.class_id = g.class_id and a.node < 0",
        {"c": state.work(CODED), "g": state.work(GROUPED_CLASSES), "a": groups},
        same=equal(cell_columns(spec, state), "g", "c"),
    )
    numbers: list[exp.Expr] = []
    for item, table in zip(spec.sensitive, values, strict=True):
        alias = f"n{item.index}"
        on = exp.EQ(this=col("v", alias), expression=own_value(item, "c"))
        tree = tree.join(aliased(table, alias), on=on)
        numbers.append(named(col("k", alias), f"k{item.index}"))
    by = [col("class_id", "g"), *[col("k", f"n{item.index}") for item in spec.sensitive]]
    return tree.select(*numbers).group_by(*by)


def numbered(hist: Table) -> exp.Select:
    """SELECT v, k: the values of a column by number from 0."""
    return query(
        'select v.v, (row_number() over (order by v.v collate "C") - 1)::int as k from v',
        {"v": query("select distinct h.v from h", {"h": hist})},
    )


def sizes(cells: Table) -> exp.Select:
    """SELECT class_id, n."""
    return query(
        "select c.class_id, sum(c.w)::bigint as n from c group by c.class_id order by c.class_id",
        {"c": cells},
    )


def members(spec: ReleaseSpec, cells: Table, groups: Table) -> exp.Select:
    tree = query(
        "select g.node, c.cell, c.w from g join c on c.class_id = g.class_id",
        {"g": groups, "c": cells},
    )
    return tree.select(*[col(axis.code, "c") for axis in axes(spec.attributes)])


def places(
    spec: ReleaseSpec, state: State, minimality: Minimality, members: Table, groups: Table
) -> exp.Select:
    return query(
        "select p.node, p.attr, p.cell, p.pos from p"
        " join (select distinct o.node, o.attr from g as o) as g on g.node = p.node"
        " where coalesce(g.attr, p.attr) = p.attr",
        {"p": minimality.positions(spec, state, members), "g": groups},
    )


def attacked(known: Table) -> exp.Select:
    """SELECT the numbers of the classes of targets."""
    return query("select distinct k.class_id from k", {"k": known})


def in_order(table: Table, *columns: str) -> exp.Select:
    """SELECT these columns in their order."""
    names = [col(name, "t") for name in columns]
    tree = query("select 1 from t", {"t": table}).select(*names, append=False)
    return tree.order_by(*[name.copy() for name in names])


def conditions(spec: ReleaseSpec, minimality: Minimality) -> list[Condition]:
    """What is required of sensitive columns, by their place."""
    places = {item.index: place for place, item in enumerate(spec.sensitive)}
    return [
        Condition(places[requirement.sensitive], minimality.holds(requirement.model))
        for requirement in spec.requirements
        if requirement.sensitive is not None
    ]


def scored(column: int, known: Table, told: Table, values: Table) -> exp.Select:
    """SELECT t, v, score of the targets of whom something is told, of the column at a place."""
    return query(
        "select k.t, v.v, s.score from k join s on s.cell = k.cell and s.item = :item"
        " join v on v.k = s.k",
        {"k": known, "s": told, "v": values},
        item=num(column),
    )
