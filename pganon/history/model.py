"""Versions about the same people, as the rule compares them."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.history.reasons import NO_WAYS, Ways
from pganon.identifiers import QualifiedName
from pganon.resolved.presentation import Presentation


@dataclass(frozen=True)
class Tables:
    """Where it is remembered who was in which group of a version.

    Attributes:
        members: `member` uuid, and columns with numbers of groups.
        groups: see :mod:`pganon.history.groups`.
        link: the column of the members with the number of a person's group.
        functions: `grp`, `of`: groups that are a function of the version with that root, or, of
            :data:`~pganon.resolved.presentation.UNION`, a union of whole groups of every version;
            None where there are no such groups.
    """

    members: QualifiedName
    groups: QualifiedName
    link: str
    functions: QualifiedName | None = None


@dataclass(frozen=True)
class Past:
    """A run whose groups were ever readable.

    Attributes:
        root: the run of the first version of a release that grows, or its own: what grows is one
            version.
        label: of its release and version.
    """

    root: int
    label: str
    manner: Presentation
    tables: Tables


@dataclass(frozen=True)
class New:
    """A version that the rule is held against, as a run staged it or as it was published.

    Attributes:
        number: of the reader among those of the run, for names of work tables and facts.
        told: whether a distribution is published that tells of who was left out.
        ways: what there is instead.
    """

    manner: Presentation
    tables: Tables
    told: bool = False
    number: int = 0
    ways: Ways = NO_WAYS
