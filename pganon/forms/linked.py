"""How the people of a release are linked to the values that it publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.sqltools import fragment, query


@dataclass(frozen=True)
class LinkedColumn:
    """A column with values that others may learn of people.

    Attributes:
        name: in the source.
        link: column of the members with the number of the group that the values are of.
        histogram: SELECT (link, value, n) from the published relations: n records of a group have
            the value, or individuals where all records of one are in a group.
        exact: whether that is their number, and not only the most that there can be.
        rows: columns whose values stand in one published row, this one among them.
    """

    name: str
    link: str
    histogram: exp.Select
    exact: bool = True
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class LinkedRows:
    """Values of several columns that stand in one published row.

    Attributes:
        names: of the columns in the source.
        rows: SELECT (link, value): every such row of a group, the keys of its values in the order
            of the names as one text.
    """

    names: tuple[str, ...]
    rows: exp.Select


@dataclass(frozen=True)
class Linked:
    """Columns of the members that say with whom people are in a group, and of which values.

    Attributes:
        links: columns with numbers of groups; people who agree in all of them cannot be told apart.
        columns: in the order of the marks of the members.
        rows: of sensitive tables of several columns, where people keep signatures.
    """

    links: tuple[str, ...]
    columns: tuple[LinkedColumn, ...]
    rows: tuple[LinkedRows, ...] = ()


def linked_column(name: str, link: str, histogram: exp.Select, number: exp.Expr) -> LinkedColumn:
    """The same of a histogram `h` (.., value, n), of which the rows have the number of the link."""
    found = query(
        "select :link as link, h.value, sum(h.n)::bigint as n from h group by 1, 2",
        {"h": histogram},
        link=number,
    )
    return LinkedColumn(name, link, found)


def part_number(group: exp.Expr, values: Sequence[exp.Expr]) -> exp.Expr:
    """A number of the records of a group that show these values beside the sensitive ones.

    A hash, so that members and published relations give the same one.
    """
    parts = [fragment(":v::text", v=value) for value in values]
    whole = exp.func("jsonb_build_array", group, *parts)
    return fragment("hashtextextended(:whole::text, 0)", whole=whole)
