"""Tables with buckets of their own: which partition of the records the parts of a query are in.

A row of the quasi-identifier table (QIT) is a record, in a bucket of every partition. Its exact
columns are known together with any of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pganon.estimation.question import (
    Formula,
    Joined,
    Key,
    Leaf,
    Question,
    parts_of,
)
from pganon.estimation.release import AskedRelease, Part, Published


@dataclass(frozen=True)
class Side:
    """What a query is about in one partition.

    Attributes:
        number: from 1, in names.
        link: the column of the QIT with its buckets.
        keys: the numbers that its keys have in the whole query.
    """

    number: int
    link: str
    question: Question
    keys: tuple[int, ...]


@dataclass(frozen=True)
class Split:
    """A query about several partitions.

    Attributes:
        rows: a part of which the view has a row for every record; its columns are exact.
        condition: on these.
    """

    question: Question
    rows: Part
    condition: Leaf | None
    sides: tuple[Side, ...]

    def side_of(self, column: Published) -> Side | None:
        """Where a column is; None of those of the QIT."""
        return next(
            (side for side in self.sides if column in side.question.release.columns.values()), None
        )


def split(question: Question) -> Question | Split:
    """The query in its one partition, or in several."""
    release = question.release
    if not release.links:
        return question
    found = [link for link in links_of(release, question.parts) if link is not None]
    if len(found) < 2:
        return _placed(question, found[0]) if found else question
    inside: dict[str, list[Formula]] = {link: [] for link in found}
    condition = None
    for formula in question.conditions:
        (link,) = links_of(release, parts_of([formula]))
        if link is not None:
            inside[link].append(formula)
        else:
            assert isinstance(formula, Leaf)
            condition = formula
    sides: list[Side] = []
    for link, formulas in inside.items():
        columns = {n: c for n, c in release.columns.items() if _link(release, c.part) == link}
        keys = [i for i, key in enumerate(question.keys) if _link(release, key.part) == link]
        home = next((c.part for c in columns.values()), parts_of(formulas)[0] if formulas else None)
        assert home is not None
        own = Question(
            replace(release, home=home, columns=columns, links={}),
            tuple(question.keys[i] for i in keys),
            tuple(a for a in question.aggregates if a.column in columns.values()),
            tuple(formulas),
        )
        sides.append(Side(len(sides) + 1, link, own, tuple(keys)))
    if condition is not None:
        rows = condition.part
    else:
        parts = [column.part for column in release.columns.values()]
        exact = [part for part in parts if part.exact and part.view == release.home.view]
        rows = exact[0] if exact else replace(release.home, name="rows", exact=True)
    return Split(question, rows, condition, tuple(sides))


def links_of(release: AskedRelease, parts: Iterable[Part]) -> dict[str | None, None]:
    """The columns of the QIT with the buckets of parts, in order; None of its own exact columns."""
    return dict.fromkeys(_link(release, part) for part in parts if release.links)


def _link(release: AskedRelease, part: Part) -> str | None:
    if part.view != release.home.view:
        # A further QIT has the buckets of a column of the last one that is named as its own.
        return release.links.get(part.name, part.bucket)
    return None if part.exact else part.bucket


def _placed(question: Question, link: str) -> Question:
    """The query with exact columns of the QIT in the buckets of a partition."""
    release = question.release

    def moved(part: Part) -> Part:
        return part if _link(release, part) is not None else replace(part, bucket=link)

    def formula(given: Formula) -> Formula:
        if isinstance(given, Leaf):
            return replace(given, part=moved(given.part))
        assert isinstance(given, Joined)
        return Joined(given.every, tuple(map(formula, given.items)))

    columns = {n: replace(c, part=moved(c.part)) for n, c in release.columns.items()}
    home = replace(release.home, bucket=link)
    return Question(
        replace(release, home=home, columns=columns, links={}),
        tuple(Key(moved(key.part), key.expression) for key in question.keys),
        tuple(
            a if a.column is None else replace(a, column=columns[a.column.name])
            for a in question.aggregates
        ),
        tuple(map(formula, question.conditions)),
    )
