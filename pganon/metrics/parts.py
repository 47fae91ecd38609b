"""Relations of a release as codes, and how much of their groups matches what queries ask.

mpart<p>            (numbers.., c<i>, s<j>, n, size)   the relation at place p of the shape: the
                    `number` of a group, and `size`, all its records. The last one of records has
                    all columns with numbers instead, and no `size`
<relation>_matched  (query, item, numbers.., size, n)   its records that match what queries ask of
                    it; no row: nothing matches, or nothing is asked of what is not the last one
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.encode.sensitive import looked_up, with_code
from pganon.encode.work import dictionary
from pganon.forms.elements import element
from pganon.forms.form import Tables
from pganon.forms.shape import PublishedRelation, Shape, linking
from pganon.identifiers import QualifiedName
from pganon.metrics.boxes import box_table
from pganon.metrics.keys import Cells
from pganon.policy.options import CLASS_ID
from pganon.sqltools import cast, col, equal, fragment, materialized, named, query
from pganon.steps import CreateTable, State

NUMBER = "number"
MATCHED = "_matched"


@dataclass(frozen=True)
class Part(PublishedRelation):
    """A relation of the release as codes, or shares of the box of every class.

    Attributes:
        work: its work table.
        numbers: columns of that with numbers of groups.
        box: whether it is no relation of the release.
    """

    work: str = ""
    numbers: tuple[str, ...] = (NUMBER,)
    box: bool = False

    @property
    def codes(self) -> list[str]:
        return [f"c{attribute.index}" for attribute in self.attributes]

    @property
    def sized(self) -> tuple[str, ...]:
        """Columns that tell its groups apart, and say how large they are."""
        return (NUMBER, "size") if self.numbers == (NUMBER,) else self.numbers

    def cells(self, places: int) -> Cells:
        return Cells(self.attributes, self.sensitive, places)

    def matched(self, state: State) -> QualifiedName:
        """Its work table of what matches."""
        return state.work(self.work + MATCHED)


Parts = tuple[Part, ...]
"""What records and values of a release are in. The last one of records says in which groups."""

PartsOf = Callable[[State], Parts]


def parts(shape: Shape) -> Parts:
    """Its relations of records and values.

    Where classes share generalized quasi-identifiers, their boxes have these columns.
    """
    last = linking(shape)
    found = tuple(
        Part(
            **vars(relation),
            work=f"mpart{place}",
            numbers=relation.groups if relation is last else (NUMBER,),
        )
        for place, relation in enumerate(shape)
        if relation.rows != "group"
    )
    if CLASS_ID not in last.groups:
        return found
    boxes = [
        Part("", "record", (NUMBER,), (a,), link=CLASS_ID, work=box_table(a), box=True)
        for a in last.attributes
    ]
    return (
        *boxes,
        *[replace(part, attributes=()) if part.rows == "record" else part for part in found],
    )


def values(parts: Parts) -> list[Part]:
    """Those of sensitive values."""
    return [part for part in parts if part.rows == "value"]


def beside(parts: Parts, asked: Part | None = None) -> list[Part]:
    """Those with quasi-identifiers, without `asked` and the last one of records."""
    return [part for part in parts if part.attributes and part not in (asked, linking(parts))]


# -- relations as codes ----------------------------------------------------------------------------


def part_steps(of: PartsOf, tables: Callable[[State], Tables]) -> list[CreateTable]:
    return _each(
        of,
        "metric",
        "a published relation as codes",
        lambda part, s: as_codes(part, tables(s), s),
    )


def _each(
    of: PartsOf,
    prefix: str,
    purpose: str,
    select: Callable[[Part, State], exp.Expr],
    suffix: str = "",
    those: Callable[[Parts], Sequence[Part]] = lambda parts: parts,
) -> list[CreateTable]:
    """A step for every relation that the release may have, and that is one of `those` if it has."""

    def step(work: str) -> CreateTable:
        def here(state: State) -> list[Part]:
            return [part for part in those(of(state)) if part.work == work]

        return CreateTable(
            f"{prefix}_{work[1:]}{suffix}",
            purpose,
            lambda s: s.work(work + suffix),
            lambda s: select(here(s)[0], s),
            when=lambda s: bool(here(s)),
        )

    return [step(part.work) for part in of(State(0)) if not part.box]


def as_codes(part: Part, tables: Tables, state: State) -> exp.Select:
    """SELECT (numbers.., c<i>, s<j>, n, size); equal rows are counted as one."""
    tree = query("select 1 from t", {"t": tables[part.part]}).select(
        *[named(col(g, "t"), n) for g, n in zip(part.groups, part.numbers, strict=True)],
        named(fragment("t.count" if part.count else "1"), "n"),
        append=False,
    )
    for attribute in part.attributes:
        i = attribute.index
        shown = element(attribute, col("value", f"d{i}"))
        on = exp.EQ(this=_text(shown), expression=_text(col(attribute.published, "t")))
        code = fragment("coalesce(:c, 0)", c=col("code", f"d{i}"))
        tree = looked_up(tree, state.work(dictionary(i)), f"d{i}", on).select(named(code, f"c{i}"))
    for item in part.sensitive:
        tree = with_code(tree, item, col(item.published, "t"), state, always=True)
    held = [f"s{item.index}" for item in part.sensitive]
    columns = [col(name, "x") for name in (*part.numbers, *part.codes, *held)]
    grouped = query("select sum(x.n)::float8 as n from x", {"x": tree}).select(*columns)
    if part.sized != part.numbers:
        size = "(sum(sum(x.n)) over (partition by x.number))::float8"
        grouped = grouped.select(named(fragment(size), "size"))
    return grouped.group_by(*[column.copy() for column in columns])


def _text(value: exp.Expr) -> exp.Expr:
    return fragment(':v collate "C"', v=cast(exp.paren(value), "text"))


# -- what matches ----------------------------------------------------------------------------------


def match_steps(of: PartsOf, places: int) -> list[CreateTable]:
    """From `mqueries` to what matches in every relation."""
    return _each(
        of,
        "workload",
        "published records that match, by group",
        lambda part, s: matched(part, places, s),
        MATCHED,
        lambda parts: [part for part in parts if part.attributes or part.sensitive],
    )


def matched(part: Part, places: int, state: State) -> exp.Select:
    """SELECT (query, item, numbers.., size, n)."""
    cells, questions = part.cells(places), state.work("mqueries")
    last = NUMBER not in part.numbers
    # What cells match is found once, and not for every group that has them.
    found = query(
        "select q.query, q.item from q join d on :matched",
        {
            "q": questions,
            "d": query("select distinct 1 from c").select(
                *[col(name, "c") for name in cells.names], append=False
            ),
        },
        matched=cells.matched("d"),
    ).select(*[col(name, "d") for name in cells.names if name != "item"])
    columns = [col("query", "m"), col("item", "m"), *[col(name, "c") for name in part.sized]]
    tree = query(
        "select sum(c.n) as n from m join c on :same",
        {"m": found},
        same=equal(cells.names, "c", "m"),
    ).select(*columns)
    tree = tree.group_by(*[column.copy() for column in columns])
    rows = cells.select(state.work(part.work), questions, part.sized, every=last)
    return materialized(tree, c=rows)
