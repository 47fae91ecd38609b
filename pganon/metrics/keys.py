"""Cells of the columns that a question or query is about.

A question has places: a<p> is the number of the quasi-identifier in place p, -1 where there is
none. The codes of a row are in key<p>, -1 where the row has no such quasi-identifier. `item` and
`value` are the same of the sensitive column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.metrics.draws import holds
from pganon.resolved.model import Attribute, Sensitive
from pganon.sqltools import col, conjunction, equal, fragment, named, num, query

NONE = -1


def asked(places: int) -> list[str]:
    """The columns a<p> of so many places."""
    return [f"a{place}" for place in range(places)]


def keys(places: int) -> list[str]:
    """The columns key<p> of so many places."""
    return [f"key{place}" for place in range(places)]


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


@dataclass(frozen=True)
class Cells:
    """The rows of a relation (c<i>, s<j>, ..), by what is asked of it.

    Attributes:
        attributes, items: its columns; it has a<p> and key<p> if there are quasi-identifiers, and
            `item` and `value` if there are sensitive columns.
        places: of a question.
    """

    attributes: Sequence[Attribute]
    items: Sequence[Sensitive]
    places: int

    @property
    def asked(self) -> list[str]:
        """What a question says of these columns."""
        return [*(asked(self.places) if self.attributes else ()), *(["item"] if self.items else ())]

    @property
    def names(self) -> list[str]:
        """The columns of a cell."""
        found = [*self.asked, *(keys(self.places) if self.attributes else ())]
        return [*found, *(["value"] if self.items else ())]

    def select(
        self,
        relation: QualifiedName | exp.Select,
        questions: QualifiedName,
        beside: Sequence[str] = (),
        sums: Sequence[str] = ("n",),
        *,
        every: bool = False,
    ) -> exp.Select:
        """SELECT names.., beside.., sums..: the rows of the relation, equal ones added up.

        Args:
            beside: columns that tell rows apart, too.
            every: whether its rows are there for questions about none of its columns, too.
        """
        rows = [col(name, "t") for name in (*beside, *sums)]
        if not self.asked:
            tree = query("select 1 from t", {"t": relation}).select(*rows, append=False)
            return summed(tree, beside, sums)
        tree = query(
            "select 1 from q cross join t",
            {"q": distinct(questions, self.asked), "t": relation},
        ).select(*[col(name, "q") for name in self.asked], *rows, append=False)
        for name, key in zip(asked(self.places), keys(self.places), strict=True):
            if self.attributes:
                codes = {attribute.index: f"c{attribute.index}" for attribute in self.attributes}
                tree = tree.select(named(_code(name, codes), key))
        if self.items:
            codes = {item.index: f"s{item.index}" for item in self.items}
            tree = tree.select(named(_code("item", codes), "value"))
        if not every:
            tree = tree.where(self.about("q"))
        return summed(tree, [*self.names, *beside], sums)

    def about(self, questions: str) -> exp.Expr:
        """Condition: a row of the questions is about one of the columns."""
        places = asked(self.places) if self.attributes else ()
        quasi = [among(name, questions, [a.index for a in self.attributes]) for name in places]
        items = [item.index for item in self.items]
        return exp.or_(*quasi, *([among("item", questions, items)] if items else []))

    def matched(self, table: str, *, value: bool = True) -> exp.Expr:
        """Condition: the query `q` asks for a cell of `table`, its sensitive value left aside
        without `value`."""
        places = {key: str(place) for place, key in enumerate(keys(self.places))}
        found = [holding(key, place, table) for key, place in places.items() if self.attributes]
        found += [holding("value", "", table)] if self.items and value else []
        return conjunction([equal(self.asked, table, "q"), *found])


def holding(key: str, place: str, table: str) -> exp.Expr:
    """Condition: a code satisfies the predicate of the query `q` in this place, if there is one."""
    code = col(key, table)
    asks = holds(place, code)
    return fragment("case when :key < 0 then true else :asks end", key=code, asks=asks)


def _code(asked: str, codes: dict[int, str]) -> exp.Expr:
    """The code of a row `t` in the column that the row `q` is about."""
    case = exp.Case(this=col(asked, "q"))
    for number, name in codes.items():
        case = case.when(num(number), col(name, "t"))
    return case.else_(num(NONE))


def among(name: str, table: str, numbers: Sequence[int]) -> exp.Expr:
    """Condition: a column is one of some numbers."""
    return exp.In(this=col(name, table), expressions=[num(number) for number in numbers])


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
