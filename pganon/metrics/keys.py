"""Cells of the quasi-identifiers that a question or query is about.

A question has places: a<p> is the number of the quasi-identifier in place p, -1 where there is
none. The codes of a row are in key<p>, -1 where the row has no such quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.metrics.draws import holds
from pganon.resolved.model import Attribute, Sensitive
from pganon.sqltools import col, conjunction, equal, fragment, named, num, query

NONE = -1


def asked(places: int) -> list[str]:
    """The columns a<p> of so many places."""
    return [f"a{place}" for place in range(places)]


def in_places(drawn: exp.Select, places: int) -> exp.Select:
    """(query, a<p>) from (query, attribute): quasi-identifiers of every query in their order."""
    placed = query(
        "select c.query, c.attribute,"
        " row_number() over (partition by c.query order by c.attribute) - 1 as place from c",
        {"c": drawn},
    )
    tree = query("select c.query from c group by c.query", {"c": placed})
    for place, name in enumerate(asked(places)):
        one = "coalesce(min(c.attribute) filter (where c.place = :p), :none)"
        tree = tree.select(named(fragment(one, p=num(place), none=num(NONE)), name))
    return tree


def keys(places: int) -> list[str]:
    """The columns key<p> of so many places."""
    return [f"key{place}" for place in range(places)]


def codes(attributes: Sequence[Attribute], places: int, asking: str, table: str) -> list[exp.Expr]:
    """The keys of a row of `table`, which has these attributes, for a row of `asking`."""
    return [_code(attributes, name, asking, table) for name in asked(places)]


def _code(attributes: Sequence[Attribute], name: str, asking: str, table: str) -> exp.Expr:
    if not attributes:
        return num(NONE)
    case = exp.Case(this=col(name, asking))
    for attribute in attributes:
        case = case.when(num(attribute.index), col(f"c{attribute.index}", table))
    return case.else_(num(NONE))


def keyed(tree: exp.Select, codes: Sequence[exp.Expr]) -> exp.Select:
    """`tree` with the keys as additional columns."""
    return tree.select(*[named(c, name) for name, c in zip(keys(len(codes)), codes, strict=True)])


def about(attributes: Sequence[Attribute], places: int, asking: str) -> exp.Expr:
    """Condition: a row of `asking` is about one of these attributes."""
    numbers = [attribute.index for attribute in attributes]
    return exp.or_(*[among(col(name, asking), numbers) for name in asked(places)])


def among(value: exp.Expr, numbers: Sequence[int]) -> exp.Expr:
    """Condition: a value is one of some numbers."""
    return exp.In(this=value, expressions=[num(number) for number in numbers])


def same(names: Sequence[str], table: str) -> exp.Expr:
    """Condition: `table` has the cells that the query `q` is about."""
    return equal(names, table, "q")


def matches(key: str, place: str, table: str) -> exp.Expr:
    """Condition: a code satisfies the predicate of the query `q` in this place, if there is one."""
    code = col(key, table)
    asked = holds(place, code)
    return fragment("case when :key < 0 then true else :asked end", key=code, asked=asked)


def all_match(places: int, table: str) -> exp.Expr:
    """Condition: the codes of `table` match the query `q` in all places."""
    return conjunction([matches(f"key{p}", str(p), table) for p in range(places)])


def code_asked(items: Sequence[Sensitive], table: str) -> exp.Expr:
    """`value`: the code in `table` of the sensitive column that the query `q` is about."""
    case = exp.Case(this=col("item", "q"))
    for item in items:
        case = case.when(num(item.index), col(f"s{item.index}", table))
    return named(case, "value")


def distinct(relation: QualifiedName | exp.Select, names: Sequence[str]) -> exp.Select:
    """SELECT of the distinct rows of some columns of a relation."""
    tree = query("select distinct 1 from x", {"x": relation})
    return tree.select(*[col(name, "x") for name in names], append=False)


def summed(tree: exp.Select, names: Sequence[str], sums: Sequence[str] = ("n",)) -> exp.Select:
    """(names.., sums..): each row of names once, with sums of other columns."""
    columns = [col(name, "x") for name in names]
    added = [named(exp.Sum(this=col(name, "x")), name) for name in sums]
    found = query("select 1 from x", {"x": tree}).select(*added, *columns, append=False)
    return found.group_by(*[column.copy() for column in columns])
