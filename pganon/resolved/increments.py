"""Versions that grow: each is the one before plus groups of new individuals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pganon.identifiers import QualifiedName
from pganon.privacy.base import from_below
from pganon.sqltools import render
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA, CheckQuery, PublishedView

CUTS = "cuts"
"""Part of a release: the cuts of its first version by values, for new individuals."""

BOUNDS = "bounds"
"""Part of a release with `ranges: region`: what groups of every region show."""

REGIONS = "regions"
"""Part of such a release: the region of every group."""

WITHDRAWN = "withdrawn"
"""Part of a release: numbers of all groups that its views show no longer."""

STANDING = "standing_"
"""What the part is called that has the other groups of a stored table, before that table's name.
Views read it in place of the table, which verification goes on measuring."""

NUMBER = "number"
"""Column of that part."""

AS_RELEASED = "as_released"
"""Part of a release: marks of the quasi-identifiers that people had when they were tested."""

TESTED = "due"
"""Work table (person, cohort, [region]) of whom a run tests; a region where there are cuts."""
WHOLE = "everybody"
"""Work table of the records of the whole source, of which a run adds new individuals only."""


def cohorts_table(run_id: int) -> QualifiedName:
    """(person, cohort, [region]): the people whom a run will test, or did."""
    return QualifiedName(PRIVATE_SCHEMA, f"cohorts_{run_id}")


@dataclass(frozen=True)
class Cohorts:
    """Cohorts that one run committed to before it read any sensitive value.

    Attributes:
        run_id: the run that formed them.
        number: how many there are.
        divided: whether the table has the region of every cohort.
    """

    run_id: int
    number: int
    divided: bool = False

    @property
    def table(self) -> QualifiedName:
        return cohorts_table(self.run_id)


@dataclass(frozen=True)
class Increment:
    """The groups that one run added to a version.

    Attributes:
        selects: SELECT of every view over the relations of this run alone, or what stands of them.
        checks: the verification of these relations.
        released: records in its groups.
        suppressed: records of its cohorts that are permanently suppressed.
        numbered: the greatest number of a group.
        guarantee: what was promised of its groups, as :mod:`pganon.resolved.guarantee` states it.
        until: of tables with periods, the day before which rows are in it or in one before; of such
            an increment that adds a period to groups, `selects` of other views are empty.
        rows: of these tables, of people in groups.
    """

    run_id: int
    selects: tuple[str, ...]
    checks: tuple[CheckQuery, ...]
    released: int
    suppressed: int
    numbered: int
    guarantee: tuple[dict[str, Any], ...]
    until: str | None = None
    rows: int = 0

    def as_dict(self) -> dict[str, Any]:
        plain = dict(self.__dict__)
        return {**plain, "checks": [check.as_dict() for check in self.checks]}

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Increment:
        """An increment from its JSON form."""
        checks = tuple(CheckQuery(**check) for check in found["checks"])
        guarantee = tuple(found["guarantee"])
        selects = tuple(found["selects"])
        return cls(**{**found, "selects": selects, "checks": checks, "guarantee": guarantee})


@dataclass(frozen=True)
class First:
    """Tables with distributions of the sensitive values of the first version.

    Groups of all versions are compared with these, so that no new individual shifts them.

    Attributes:
        histogram: of what it published, by group.
        source: of its source, as its form keeps it; None where no model compared anything then.
        columns: names of the columns that it has.
    """

    histogram: QualifiedName
    source: QualifiedName | None = None
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Growth:
    """A run that adds groups of new individuals to the newest version of its release.

    Attributes:
        population: whose people they are.
        version: the number of that version; None for the first.
        views: its views.
        increments: what it is made of, oldest first.
        lost: of each of them, the mean NCP of every published column as its run measured it; a
            column is missing where nothing is known.
        relations: its tables: part, schema, name, rows.
        unfinished: cohorts that no run has finished; they come first.
        taken: tables with the people of every cohort there was.
        members: tables with the people of versions that were made at once.
        cuts: the cuts of the first version, where new individuals are divided by them.
        first: what groups are compared with, of a version that is not the first.
        partition: the partition part of the policy of the first version.
        records_out: records that are permanently suppressed because all of their cohorts failed.
        size: fewest people of a cohort.
        shown: records that the views of the version show.
        unlocked: tables that writers could change while it was read, or what it is made of.
        number: the column of every view, and of the members, with the number of a person's group;
            None where people are in several partitions.
        adds: whether the run makes groups; else it only withdraws some, or closes a period.
        closes: whether it does that.
    """

    size: int
    population: int | None = None
    version: int | None = None
    views: tuple[PublishedView, ...] = ()
    increments: tuple[Increment, ...] = ()
    lost: tuple[Mapping[str, float], ...] = ()
    relations: tuple[dict[str, Any], ...] = ()
    unfinished: Cohorts | None = None
    taken: tuple[QualifiedName, ...] = ()
    members: tuple[QualifiedName, ...] = ()
    cuts: QualifiedName | None = None
    first: First | None = None
    partition: Mapping[str, Any] | None = None
    records_out: int = 0
    shown: int = 0
    unlocked: tuple[str, ...] = ()
    number: str | None = None
    adds: bool = True
    closes: bool = False

    @property
    def until(self) -> str | None:
        """The day before which rows of tables with periods are published."""
        return max((one.until for one in self.increments if one.until), default=None)

    @property
    def in_cohorts(self) -> bool:
        """Whether the run may test several cohorts, or has to know which one a group is of."""
        if self.unfinished is not None and self.bounds is None:
            return self.unfinished.number > 1
        return self.cuts is not None

    @property
    def released(self) -> int:
        return sum(increment.released for increment in self.increments)

    @property
    def suppressed(self) -> int:
        return self.records_out + sum(increment.suppressed for increment in self.increments)

    @property
    def numbered(self) -> int:
        """The greatest number of a group so far."""
        return max((increment.numbered for increment in self.increments), default=0)

    def tables_of(self, part: str) -> tuple[QualifiedName, ...]:
        """The stored tables of all increments that are this part of a release."""
        items = (item for item in self.relations if item["part"] == part)
        return tuple(QualifiedName(item["schema"], item["name"]) for item in items)

    @property
    def standing(self) -> dict[QualifiedName, QualifiedName]:
        """What views read in place of stored tables."""
        return {
            QualifiedName(DATA_SCHEMA, item["part"].removeprefix(STANDING)): QualifiedName(
                item["schema"], item["name"]
            )
            for item in self.relations
            if item["part"].startswith(STANDING)
        }

    def shown_of(self, increment: Increment) -> list[QualifiedName]:
        """The stored tables of an increment that views were made to read."""
        return [
            QualifiedName(item["schema"], item["name"])
            for item in self.relations
            if item["schema"] == DATA_SCHEMA
            and item["name"].startswith(f"r{increment.run_id}_")
            and not item["part"].startswith(STANDING)
        ]

    @property
    def bounds(self) -> QualifiedName | None:
        """The table of what groups of every region show, where that is not what they contain."""
        return next(iter(self.tables_of(BOUNDS)), None)

    @property
    def resumes(self) -> bool:
        """Whether people of unfinished cohorts must be in the region that they were in."""
        return self.cuts is not None and self.unfinished is not None and self.unfinished.divided

    @property
    def withdrawn(self) -> QualifiedName | None:
        """The groups that the version does not show any more."""
        return next(iter(self.tables_of(WITHDRAWN)), None)

    def shared(self, renewed: Collection[str]) -> tuple[dict[str, Any], ...]:
        """Those of :attr:`relations` that the next version has, too.

        Args:
            renewed: parts that it makes anew.
        """
        return tuple(item for item in self.relations if item["part"] not in renewed)


def group_column(links: Iterable[str], views: Sequence[PublishedView]) -> str | None:
    """The one column of members that every view has, too; None where there is no such column."""
    columns = [
        link
        for link in links
        if all(link in {column.name for column in view.columns} for view in views)
    ]
    return columns[0] if len(columns) == 1 else None


def all_rows(increments: Sequence[Increment], place: int) -> str:
    """SELECT of the view at a place, over the relations of all increments."""
    selects = (increment.selects[place] for increment in increments)
    return " UNION ALL ".join(select for select in selects if select)


def all_views(
    increments: Sequence[Increment], views: Sequence[PublishedView]
) -> tuple[PublishedView, ...]:
    """The views of the newest increment, over the relations of all."""
    return tuple(
        replace(view, select=all_rows(increments, place)) for place, view in enumerate(views)
    )


def in_place(increment: Increment, tables: Mapping[QualifiedName, QualifiedName]) -> Increment:
    """The increment with views that read other tables."""
    selects = increment.selects
    for old, new in tables.items():
        # In a text that was rendered nothing else but a literal can look like a quoted name.
        names = render(old.table), render(new.table)
        selects = tuple(select.replace(*names) for select in selects)
    return replace(increment, selects=selects)


ADDED, EARLIER = "added under the newest policy", "of earlier policies"


def promised(increments: Sequence[Increment]) -> list[dict[str, Any]]:
    """The guarantee of a version; `groups` says of which where it is not that of all."""
    guarantees = [increment.guarantee for increment in increments]
    newest = guarantees[-1]
    statements: list[dict[str, Any]] = []
    for item in (item for one in reversed(guarantees) for item in one):
        if all(item in one for one in guarantees):
            stated = item
        else:
            groups = ADDED if item in newest else EARLIER
            requirement = f"{item['requirement']} for groups {groups}"
            stated = {**item, "groups": groups, "requirement": requirement}
        if stated not in statements:
            statements.append(stated)
    return statements


def all_checks(increments: Sequence[Increment]) -> tuple[CheckQuery, ...]:
    """One check for all increments that were released under the same requirement."""
    alike: dict[tuple[object, ...], list[CheckQuery]] = {}
    for increment in increments:
        for check in increment.checks:
            key = (check.model, check.column, check.against, check.bound, check.parameter)
            alike.setdefault(key, []).append(check)
    return tuple(_together(checks) for checks in alike.values())


def _together(checks: Sequence[CheckQuery]) -> CheckQuery:
    """The worst measure; nothing where one of them measures nothing."""
    first = checks[0]
    if len(checks) == 1:
        return first
    each = " UNION ALL ".join(_EACH.format(check.sql) for check in checks)
    text = _WORST.format(worst="min" if from_below(first.bound) else "max", each=each)
    return CheckQuery(**{**first.__dict__, "sql": text})


_EACH = "SELECT c.measured::numeric AS measured, c.failing::bigint AS failing FROM ({}) AS c"
_WORST = (
    "SELECT CASE WHEN bool_and(i.measured IS NOT NULL) THEN {worst}(i.measured) END AS measured,"
    " sum(i.failing)::bigint AS failing FROM ({each}) AS i"
)
