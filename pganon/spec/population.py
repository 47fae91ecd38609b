"""Who a version is about: people told apart by one key, in one source or several.

One source and one key are one population, whatever policy, method or release. A policy may give it
a name, and so join sources; where a source could belong to several, it has to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pganon.errors import PreconditionError
from pganon.identifiers import quote

CODE = "population"

OLD, NEW = "old", "new"
"""Columns of a relation of people whose key changed."""


@dataclass(frozen=True)
class Known:
    """A population that versions are about.

    Attributes:
        sources: names of their sources, and of all relations that rows of these come from.
        released_from: the sources alone.
        key: names of the columns that tell people apart, of the first source.
    """

    id: int
    name: str | None
    sources: frozenset[str]
    released_from: frozenset[str]
    key: tuple[str, ...]

    @property
    def label(self) -> str:
        if self.name is not None:
            return f"the population {quote(self.name)}"
        return f"the people of {', '.join(sorted(self.released_from))}"


@dataclass(frozen=True)
class Asked:
    """What a policy and its source say.

    Attributes:
        source: name of the source, as versions remember it.
        sources: that, and of all relations that its rows come from.
        key: names of the columns that tell people apart.
    """

    name: str | None
    source: str
    sources: frozenset[str]
    key: tuple[str, ...]


def chosen(asked: Asked, known: Sequence[Known], copied: int | None = None) -> Known | None:
    """The population of a source; None for one of which nothing was released.

    Args:
        known: populations that share a relation with the source, have the name, or are `copied`.
        copied: the population of a version with the same rows, from a table of another name.

    Raises:
        PreconditionError: population, the policy has to say which one it is, or says otherwise.
    """
    near = [one for one in known if one.sources & asked.sources or one.id == copied]
    if asked.name is None:
        return _unnamed(asked, near)
    named = next((one for one in known if one.name == asked.name), None)
    others = [one for one in near if one is not named and asked.source in one.released_from]
    unnamed = [one for one in near if one.name is None]
    if named is None and len(unnamed) == 1 and all(one in unnamed for one in others):
        return unnamed[0]
    if others or (named is None and unnamed):
        other = (others or unnamed)[0]
        raise _refused(
            f"{asked.source} was released as {other.label} before, not as {quote(asked.name)}",
            f"write population: {{name: {other.name}}}"
            if other.name is not None
            else "people of several populations cannot be joined any more; leave the name out",
        )
    return named


def _unnamed(asked: Asked, near: Sequence[Known]) -> Known | None:
    same = [one for one in near if one.key == asked.key]
    own = [one for one in same if asked.source in one.released_from]
    if own:
        return own[0]
    if len(same) == 1 and len(near) == 1:
        return same[0]
    if not near:
        return None
    other = next((one for one in near if one.key != asked.key), near[0])
    keys = ", ".join(map(quote, other.key))
    if other.key == asked.key:
        what = f"{asked.source} shares relations with several populations"
    else:
        what = f"{asked.source} shares relations with {other.label}, whom {keys} tells apart"
    raise _refused(
        f"{what}; its own key is {', '.join(map(quote, asked.key))}",
        "write population: {name: NAME}, with the same name in every policy about the same people"
        + (f"; theirs is {quote(other.name)}" if other.name is not None else ""),
    )


def _refused(what: str, hint: str) -> PreconditionError:
    return PreconditionError(what, hint=hint, code=CODE)
