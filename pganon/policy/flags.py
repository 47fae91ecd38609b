"""Boolean columns that seem to say for whom the value of a column beside them is sensitive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pganon.catalog.model import Column
from pganon.identifiers import quote
from pganon.policy.columns import Columns
from pganon.policy.registry import Registry
from pganon.policy.tasks import DECIDE
from pganon.policy.vocabulary import listed, words

_HIDES = listed(
    """private privately secret sensitive confidential hide hides hidden withhold withheld"""
)
_SHOWS = listed("public show shows shown visible share shared open disclose disclosed")


@dataclass(frozen=True)
class Flag:
    """A boolean column beside another one.

    Attributes:
        hides: whether the value is sensitive where it is true, and not where it is false.
    """

    name: str
    hides: bool

    @property
    def sensitive_when(self) -> Mapping[str, str]:
        """The key of a policy with this meaning."""
        return {"column": self.name} if self.hides else {"predicate": f"not {quote(self.name)}"}


def flags(columns: Iterable[Column]) -> dict[str, Flag]:
    """The flag of every column that has one: `age_is_private`, `show_age` of `age`.

    Its name has all words of the column's name, and one that speaks of hiding or showing.
    """
    every = list(columns)
    booleans = [column for column in every if column.kind == "boolean"]
    return {
        column.name: flag
        for column in every
        for flag in (_flag_of(column, booleans),)
        if flag is not None
    }


def flag_hints(columns: Iterable[Column], declared: Columns, registry: Registry) -> dict[str, str]:
    """The purpose of a flag, by its name, where the policy does not let people decide."""
    found = {
        name: flag
        for name, flag in flags(columns).items()
        for column in (declared.get(name),)
        if column is not None and column.role != "semi_sensitive"
    }
    # Tasks are read only where they are needed, since that imports all methods.
    method = registry.method_for(DECIDE) if found else None
    if method is None:
        return {}
    return {
        flag.name: f"{quote(flag.name)} seems to say for whom {quote(name)} is sensitive; people"
        f" decide with role: semi_sensitive and the method {method} (pganon policy init --task"
        f" {DECIDE})"
        for name, flag in found.items()
    }


def _flag_of(column: Column, booleans: Iterable[Column]) -> Flag | None:
    parts = set(words(column.name))
    for other in booleans:
        further = set(words(other.name)) - parts
        if not parts or not parts <= set(words(other.name)) or not further & (_HIDES | _SHOWS):
            continue
        # `not_shown` hides.
        return Flag(other.name, bool(further & _HIDES) != ("not" in further))
    return None
