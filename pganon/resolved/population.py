"""Who a version is about: people told apart by one key, in one source or several.

One source and one key are one population, whatever policy, method or release. A policy may give it
a name, and so join sources; where a source could belong to several, it has to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pganon.catalog.model import Column
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, quote

OLD, NEW = "old", "new"
"""Columns of a relation of people whose key changed."""


@dataclass(frozen=True)
class KnownPopulation:
    """A population that versions are about, or of whom some were forgotten.

    Attributes:
        released_from: names of the sources of its versions.
        key: names of the columns that tell people apart, of the first source.
        near: whether it shares a relation with the source that is asked about, or has a version
            with the same rows.
    """

    id: int
    name: str | None
    released_from: frozenset[str]
    key: tuple[str, ...]
    near: bool = True

    @property
    def label(self) -> str:
        if self.name is not None:
            return f"the population {quote(self.name)}"
        if not self.released_from:
            return "people who were forgotten"
        return f"the people of {', '.join(sorted(self.released_from))}"


@dataclass(frozen=True)
class Asked:
    """The population that a policy and its source declare.

    Attributes:
        source: name of the source, as versions remember it.
        columns: names of its columns.
        key: of those that tell people apart.
        accepts: whether the policy takes the risk that its people are those of another name.
    """

    name: str | None
    source: str
    columns: frozenset[str]
    key: tuple[str, ...]
    accepts: bool = False


@dataclass(frozen=True)
class People:
    """Whom the source of a run is about, as versions know them.

    Attributes:
        population: whose secret makes their digests.
        forgotten: whether anybody was forgotten.
        newest: who has to be in the source still: people of the newest version of the release.
        same: who has to be the same: people of all versions, where the key has another name, or
            rows another key.
        others: of whom somebody has to be known: people of all versions over a relation of the
            source, where the release has no version yet.
        beside: by which columns they are known in other sources that these versions read.
        closed: such sources that the run may not read.
    """

    population: int
    forgotten: bool = False
    newest: Members | None = None
    same: Members | None = None
    others: Members | None = None
    beside: Mapping[QualifiedName, tuple[Column, ...]] = field(default_factory=dict)
    closed: tuple[QualifiedName, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether there is anything to find out about them."""
        return self.forgotten or any((self.newest, self.same, self.others))


@dataclass(frozen=True)
class Members:
    """Tables with the column `member`, and whose people these are."""

    tables: tuple[QualifiedName, ...]
    label: str


def chosen(asked: Asked, known: Sequence[KnownPopulation]) -> KnownPopulation | None:
    """The population of a source; None for one of which nothing was released.

    Args:
        known: populations that are near, or have the name.

    Raises:
        PreconditionError: population, the policy has to say which one it is, or says otherwise.
    """
    near = [one for one in known if one.near]
    found = _unnamed(asked, near) if asked.name is None else _named(asked, near, known)
    # The source has the key of the population, and the policy names another.
    near_it = found is not None and found.near and found.key != asked.key
    if found is not None and near_it and asked.columns.issuperset(found.key):
        keys = ", ".join(map(quote, found.key))
        raise refused(
            f"{asked.source} has the key {keys} of {found.label}, and the policy tells people apart"
            f" by {', '.join(map(quote, asked.key))}",
            f"tell them apart by {keys}: the same people under two keys are not known again",
        )
    return found


def _named(
    asked: Asked, near: Sequence[KnownPopulation], known: Sequence[KnownPopulation]
) -> KnownPopulation | None:
    named = next((one for one in known if one.name == asked.name), None)
    settled = named is not None and asked.source in named.released_from
    others = [
        one
        for one in near
        if one is not named
        and (
            asked.source in one.released_from
            or asked.columns.issuperset(one.key)
            or not (settled or asked.accepts)
        )
    ]
    unnamed = [one for one in near if one.name is None]
    if named is None and len(unnamed) == 1 and all(one in unnamed for one in others):
        return unnamed[0]
    if others or (named is None and unnamed):
        other = (others or unnamed)[0]
        raise refused(
            f"{asked.source} was released as {other.label} before, not as {quote(asked.name or '')}"
            if asked.source in other.released_from
            else f"{asked.source} shares relations with {other.label}",
            f"write population: {{name: {other.name}}}; for other people whom"
            f" {', '.join(map(quote, asked.key))} tells apart, publish one version with"
            " republication: warn"
            if other.name is not None
            else "people of several populations cannot be joined any more; leave the name out",
        )
    return named


def _unnamed(asked: Asked, near: Sequence[KnownPopulation]) -> KnownPopulation | None:
    own = [one for one in near if one.key == asked.key and asked.source in one.released_from]
    if own or len(near) == 1:
        return (own or near)[0]
    if not near:
        return None
    raise refused(
        f"{asked.source} shares relations with several populations:"
        f" {'; '.join(one.label for one in near)}",
        "write population: {name: NAME}, with the same name in every policy about the same people",
    )


def refused(what: str, hint: str) -> PreconditionError:
    return PreconditionError(what, hint=hint, code=ErrorCode.POPULATION)
