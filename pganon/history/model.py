"""Versions about the same people, as the rule compares them."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.history.reasons import NO_ALTERNATIVES, Alternatives
from pganon.identifiers import QualifiedName
from pganon.resolved.presentation import Presentation


@dataclass(frozen=True)
class GroupTables:
    """Tables that keep who was in which group of a version.

    Attributes:
        members: `member` uuid, and columns with numbers of groups.
        groups: see :mod:`pganon.forms.group_data`.
        link: the column of the members with the number of a person's group.
        functions: `grp`, `of`: groups that are a function of the version with that root, or, of
            :data:`pganon.resolved.presentation.UNION`, a union of whole groups of every version;
            None without such groups.
    """

    members: QualifiedName
    groups: QualifiedName
    link: str
    functions: QualifiedName | None = None


@dataclass(frozen=True)
class EarlierVersion:
    """A version whose groups were ever readable.

    Attributes:
        root: the run of the first version of a release that grows, else the run of the version:
            all versions of a release that grows count as one.
        label: release and version, for messages.
    """

    root: int
    label: str
    manner: Presentation
    tables: GroupTables


@dataclass(frozen=True)
class NewVersion:
    """A version that the rule is checked for, staged by a run or published before.

    Attributes:
        number: of the reader among those of the run, for names of work tables and facts.
        alternatives: possible releases instead of this version, for the hint of a refusal.
    """

    manner: Presentation
    tables: GroupTables
    number: int = 0
    alternatives: Alternatives = NO_ALTERNATIVES
