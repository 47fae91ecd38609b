"""How the people of a release are linked to the values that it publishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.forms.shape import Histogram, Relations
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, query
from pganon.steps import State


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


def linked_by(
    histogram: Histogram, group: str
) -> Callable[[ReleaseSpec, State, Relations], Linked]:
    """Of a form whose histograms have one column with numbers of groups, which members have, too.

    Args:
        group: the column with the number of the group that shows the quasi-identifiers.
    """

    def linked(spec: ReleaseSpec, state: State, tables: Relations) -> Linked:
        columns: list[LinkedColumn] = []
        for item in spec.sensitive:
            (link,), counted = histogram(spec, state, tables, item)
            rows = query(
                "select :link as link, h.value, h.n from h", {"h": counted}, link=col(link, "h")
            )
            columns.append(LinkedColumn(item.column.name, link, rows))
        links = dict.fromkeys([group, *[column.link for column in columns]])
        return Linked(tuple(links), tuple(columns))

    return linked


def part_number(group: exp.Expr, values: Sequence[exp.Expr]) -> exp.Expr:
    """A number of the records of a group that show these values beside the sensitive ones.

    A hash, so that members and published relations give the same one.
    """
    parts = [fragment(":v::text", v=value) for value in values]
    whole = exp.func("jsonb_build_array", group, *parts)
    return fragment("hashtextextended(:whole::text, 0)", whole=whole)
