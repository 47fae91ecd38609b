"""Tables with buckets of their own: which partition of the records the parts of a query are in.

A row of the quasi-identifier table (QIT) is a record, in a bucket of every partition. Its exact
columns are known together with any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pganon.estimation.question import (
    Aggregate,
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
    for formula in question.formulas:
        own = {_link(release, part) for part in parts_of([formula])}
        (link,) = own
        if link is not None:
            inside[link].append(formula)
        else:
            assert isinstance(formula, Leaf)
            condition = formula
    sides = [
        _side(question, number, link, formulas)
        for number, (link, formulas) in enumerate(inside.items(), 1)
    ]
    rows = condition.part if condition else _rows(release)
    return Split(question, rows, condition, tuple(sides))


def links_of(release: AskedRelease, parts: Iterable[Part]) -> dict[str | None, None]:
    """The columns of the QIT with the buckets of parts, in order; None of its own exact columns."""
    return dict.fromkeys(_link(release, part) for part in parts if release.links)


def _link(release: AskedRelease, part: Part) -> str | None:
    if part.view != release.home.view:
        # A further QIT has the buckets of a column of the last one that is named as its own.
        return release.links.get(part.name, part.bucket)
    return None if part.exact else part.bucket


def _rows(release: AskedRelease) -> Part:
    for column in release.columns.values():
        if column.part.exact and column.part.view == release.home.view:
            return column.part
    return replace(release.home, name="rows", exact=True)


def _side(question: Question, number: int, link: str, formulas: Sequence[Formula]) -> Side:
    release = question.release
    columns = {n: c for n, c in release.columns.items() if _link(release, c.part) == link}
    keys = [i for i, key in enumerate(question.keys) if _link(release, key.part) == link]
    first = next(iter(columns.values())).part
    own = replace(
        question,
        release=replace(release, home=first, columns=columns, links={}),
        keys=tuple(question.keys[i] for i in keys),
        aggregates=tuple(a for a in question.aggregates if a.column in columns.values()),
        leaves={f.part: f for f in formulas if isinstance(f, Leaf)},
        others=tuple(f for f in formulas if f in question.others),  # pyright: ignore[reportArgumentType]
    )
    return Side(number, link, own, tuple(keys))


def _placed(question: Question, link: str) -> Question:
    """The query with exact columns of the QIT in the buckets of a partition."""
    release = question.release

    def moved(part: Part) -> Part:
        return part if _link(release, part) is not None else replace(part, bucket=link)

    columns = {n: replace(c, part=moved(c.part)) for n, c in release.columns.items()}
    home = replace(release.home, bucket=link)
    return Question(
        replace(release, home=home, columns=columns, links={}),
        tuple(Key(moved(key.part), key.expression) for key in question.keys),
        tuple(_aggregate(a, columns) for a in question.aggregates),
        {moved(part): _formula(leaf, moved) for part, leaf in question.leaves.items()},  # pyright: ignore[reportArgumentType]
        tuple(_formula(other, moved) for other in question.others),  # pyright: ignore[reportArgumentType]
    )


def _aggregate(aggregate: Aggregate, columns: Mapping[str, Published]) -> Aggregate:
    if aggregate.column is None:
        return aggregate
    return replace(aggregate, column=columns[aggregate.column.name])


def _formula(formula: Formula, moved: Callable[[Part], Part]) -> Formula:
    if isinstance(formula, Leaf):
        return replace(formula, part=moved(formula.part))
    assert isinstance(formula, Joined)
    return Joined(formula.every, tuple(_formula(item, moved) for item in formula.items))
