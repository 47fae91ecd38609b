"""What a version tells of people, as its members and histograms say: the tables that judging reads.

They are made in the same way for a version that a run staged and for one that was published before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.guard import work
from pganon.guard.model import Version
from pganon.identifiers import QualifiedName
from pganon.sqltools import (
    aliased,
    cast,
    col,
    conjunction,
    fragment,
    named,
    num,
    query,
    stacked,
)
from pganon.steps import CreateTable, State, Step

LEFT_OUT = -1
"""Number of the group of who was left out, in doubt for a remembered value."""


@dataclass(frozen=True)
class Told:
    """A version as its own tables remember it.

    Attributes:
        members: `member` uuid, numbers of groups, `marks` bigint[]; several rows of a person where
            records of one may be in several groups, or have several values.
        histogram: `col` integer, counted from 1 as the columns here; `link`, `value`, `n`.
        links: columns of the members with numbers of groups.
        columns: remembered columns by name, with the column of the members that links them.
        several: whether a person may have several records.
    """

    members: QualifiedName
    histogram: QualifiedName
    links: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    several: bool

    @property
    def plain(self) -> bool:
        """Whether the one group of a person says it all."""
        return len(self.links) == 1 and not self.several


Tell = Callable[[State], Told]
"""What a version tells; links may depend on what a run observed."""


def told_steps(
    tell: Tell,
    version: Version,
    *,
    plain: bool,
) -> tuple[Step, ...]:
    """Make work tables of :mod:`pganon.guard.work` from a version's own.

    Args:
        plain: whether the one group of a person says it all, whatever a run observes.
    """

    def made(
        name: str,
        purpose: str,
        select: Callable[[_Tables, State], exp.Expr],
        when: Callable[[Told], bool] = lambda told: True,
    ) -> Step:
        return CreateTable(
            f"guard_{name}" if name.startswith("told") else name,
            purpose,
            lambda s: s.work(name),
            lambda s: select(_Tables(tell(s), version, plain), s),
            when=lambda s: when(tell(s)),
        )

    def combined(told: Told) -> bool:
        return not plain

    part = version.part
    return (
        made(
            f"{COMBINATIONS}{part}",
            "combinations of groups of a person",
            _Tables.combinations,
            combined,
        ),
        made(
            f"{PEOPLE}{part}",
            "all combinations of every person",
            _Tables.people,
            lambda t: t.several,
        ),
        made(f"{SETS}{part}", "sets of combinations", _Tables.sets, lambda t: t.several),
        made(work.new(part).name, "who is in which combination of groups", _Tables.new),
        made(work.links(part).name, "the groups of every combination", _Tables.links),
        made(work.histogram(part).name, "values of the groups", _Tables.histogram),
    )


COMBINATIONS, PEOPLE, SETS = "told_combinations", "told_people", "told_sets"
"""Work tables on the way."""


@dataclass(frozen=True)
class _Tables:
    told: Told
    version: Version
    plain: bool

    def _work(self, state: State, name: str) -> QualifiedName:
        return state.work(f"{name}{self.version.part}")

    def _place(self, name: str) -> int:
        """The number of a column in the memory."""
        return self.version.columns.index(name) + 1

    def _held(self, table: str) -> list[exp.Expr]:
        """Numbers of groups, 0 for none."""
        return [fragment("coalesce(:n, 0)::bigint", n=col(name, table)) for name in self.told.links]

    def combinations(self, state: State) -> exp.Expr:
        """(grp, l0, l1, ..): 0 where a person is in no group."""
        links = [named(number, f"l{place}") for place, number in enumerate(self._held("m"))]
        each = query("select distinct 1 from m where m.marks is not null", {"m": self.told.members})
        each = each.select(*links, append=False)
        return query("select row_number() over () as grp, c.* from c", {"c": each})

    def _combined(self, state: State) -> exp.Select:
        """SELECT of `m`, the members, and `c`, their combination if they are in any."""
        same = [
            exp.EQ(this=col(f"l{place}", "c"), expression=number)
            for place, number in enumerate(self._held("m"))
        ]
        table = aliased(self._work(state, COMBINATIONS), "c")
        tree = query("select 1 from m", {"m": self.told.members})
        return tree.join(table, on=conjunction(same), join_type="left")

    def _marks(self, table: str) -> exp.Expr:
        """The marks in the order of the memory."""
        names = [name for name, _ in self.told.columns]
        found = [
            fragment(f"{table}.marks[{names.index(name) + 1}]")
            if name in names
            else fragment("null::bigint")
            for name in self.version.columns
        ]
        return cast(exp.Array(expressions=found), "bigint[]")

    def new(self, state: State) -> exp.Expr:
        person = named(col("member", "m"), "person")
        marks = named(self._marks("m"), "marks")
        if self.plain:
            number = fragment(
                "case when m.marks is null then :out else (:link)::bigint end",
                out=num(LEFT_OUT),
                link=col(self.told.links[0], "m"),
            )
            tree = query("select 1 from m", {"m": self.told.members})
            return tree.select(person, named(number, "grp"), marks, append=False)
        if not self.told.several:
            number = fragment("coalesce(c.grp, :out)", out=num(LEFT_OUT))
            tree = self._combined(state)
            return tree.select(person, named(number, "grp"), marks, append=False)
        return query(
            "select p.member as person, s.grp, :marks as marks from p"
            " join s on s.groups = p.groups",
            {"p": self._work(state, PEOPLE), "s": self._work(state, SETS)},
            marks=self._marks("p"),
        )

    def people(self, state: State) -> exp.Expr:
        """(member, groups, marks): all combinations of a person's records, all values marked."""
        marks = [
            fragment(_ONE_MARK, mark=fragment(f"m.marks[{place}]"))
            for place, _ in enumerate(self.told.columns, start=1)
        ]
        number = fragment("coalesce(c.grp, :out)", out=num(LEFT_OUT))
        return (
            self._combined(state)
            .select(
                col("member", "m"),
                named(fragment("array_agg(distinct :n)", n=number), "groups"),
                named(cast(exp.Array(expressions=marks), "bigint[]"), "marks"),
                append=False,
            )
            .group_by(col("member", "m"))
        )

    def sets(self, state: State) -> exp.Expr:
        """(grp, groups): LEFT_OUT where nothing else is known of people."""
        each = query("select distinct p.groups from p", {"p": self._work(state, PEOPLE)})
        return query(
            "select case when e.groups = array[:out]::bigint[] then :out"
            " else row_number() over () end as grp, e.groups from e",
            {"e": each},
            out=num(LEFT_OUT),
        )

    def links(self, state: State) -> exp.Expr:
        """(grp, col, link)."""
        if self.plain:
            each = query("select distinct h.col, h.link from h", {"h": self.told.histogram})
            return query(
                "select e.link as grp, :col as col, e.link from e",
                {"e": each},
                col=self._numbered(col("col", "e")),
            )
        if not self.told.columns:
            return query("select 1::bigint as grp, 1 as col, 1::bigint as link where false")
        each = stacked([self._linked(state, name, link) for name, link in self.told.columns])
        if not self.told.several:
            return each
        return query(
            "select e.grp, e.col, case when count(*) = 1 then min(e.link) else :own end as link"
            " from e group by e.grp, e.col",
            {"e": each},
            own=_of_several("e"),
        )

    def _linked(self, state: State, name: str, link: str) -> exp.Select:
        """SELECT DISTINCT grp, col, link of a column."""
        combinations = self._work(state, COMBINATIONS)
        source = query(
            "select c.grp, :link as link from c",
            {"c": combinations},
            link=col(f"l{self.told.links.index(link)}", "c"),
        )
        if self.told.several:
            source = query(
                "select s.grp, c.link from (select t.grp, unnest(t.groups) as one from t) as s"
                " join c on c.grp = s.one",
                {"t": self._work(state, SETS), "c": source},
            )
        return query(
            "select distinct x.grp, :place as col, x.link from x where x.link <> 0",
            {"x": source},
            place=num(self._place(name)),
        )

    def histogram(self, state: State) -> exp.Expr:
        """(col, link, value, n): where a person may be in several groups, theirs together, too."""
        own = query(
            "select :col as col, h.link, h.value, h.n from h",
            {"h": self.told.histogram},
            col=self._numbered(col("col", "h")),
        )
        if not self.told.several or not self.told.columns:
            return own
        each = stacked([self._linked(state, name, link) for name, link in self.told.columns])
        many = query(
            "select e.*, count(*) over (partition by e.grp, e.col) as k from e", {"e": each}
        )
        together = query(
            "select m.col, :own as link, h.value, sum(h.n)::bigint as n from m"
            " join h on h.col = m.col and h.link = m.link where m.k > 1"
            " group by m.grp, m.col, h.value",
            {"m": many, "h": own.copy()},
            own=_of_several("m"),
        )
        return stacked([own, together])

    def _numbered(self, number: exp.Expr) -> exp.Expr:
        """The number of a column in the memory, from that in the version."""
        places = [self._place(name) for name, _ in self.told.columns]
        if places == list(range(1, len(places) + 1)):
            return number
        cases = exp.Case(this=number)
        for own, place in enumerate(places, start=1):
            cases = cases.when(num(own), num(place), copy=False)
        return cases


def _of_several(table: str) -> exp.Expr:
    """The link of people who are in several groups of a column: of all of these together."""
    return fragment("-:grp", grp=col("grp", table))


_ONE_MARK = (
    "case when min(:mark) = max(:mark) then min(:mark) when count(:mark) > 0 then"
    " hashtextextended(array_agg(distinct :mark)::text, 0) end"
)
"""The mark of a set of values. An aggregate of distinct values has them in order."""


def columns_after(columns: Sequence[str], published: Sequence[str]) -> tuple[str, ...]:
    """The columns of a memory after a version: new ones come last, by name."""
    return (*columns, *sorted(set(published) - set(columns)))
