"""What readers of a release see of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pganon.privacy.model_scope import ALL_VERSIONS
from pganon.report.parts import Members

_BOXED = ("range", "set", "ordinal", "label", "listed", "mean", "mode")
"""Forms of which all records of a group show the same."""

_KNOWN, _SENSITIVE, _INSENSITIVE = ("Quasi-identifier", "QS set"), "Sensitive", "Insensitive"
"""How comments of columns begin."""


@dataclass(frozen=True)
class Commonest:
    """Groups that are alike: `most` of their `records` have the most common of `values` values."""

    most: int
    records: int
    values: int
    groups: int


@dataclass(frozen=True)
class Seen:
    """A release as `pganon.releases`, `guarantees`, `release_columns` and its views show it.

    Attributes:
        columns: of all views, each a dict with `view`, `name`, `type`, `comment`, `form`, `bucket`.
        sizes: how many groups of its first view have each size, as (size, groups).
        commonest: by sensitive column, where it could be counted.
    """

    release: str
    version: int
    method: str
    published_at: datetime
    guarantee: Sequence[Mapping[str, Any]]
    columns: Sequence[Mapping[str, Any]]
    program: str
    sizes: Sequence[tuple[int, int]] = ()
    commonest: Mapping[str, Sequence[Commonest]] = field(default_factory=dict)

    @property
    def first(self) -> list[Mapping[str, Any]]:
        """Columns of its first view."""
        return [one for one in self.columns if one["view"] == self.columns[0]["view"]]

    @property
    def views(self) -> list[str]:
        return list(dict.fromkeys(one["view"] for one in self.columns))

    @property
    def known(self) -> list[str]:
        """Columns that others may know of a person."""
        return [one["name"] for one in self._of(_KNOWN)]

    @property
    def sensitive(self) -> list[str]:
        return [one["name"] for one in self._of(_SENSITIVE)]

    @property
    def insensitive(self) -> list[str]:
        return [one["name"] for one in self._of(_INSENSITIVE)]

    @property
    def exact(self) -> bool:
        """Whether a column that others may know is published as it is."""
        return any(one["form"] == "exact" for one in self._of(_KNOWN)) and not self._varies

    @property
    def individual(self) -> str | None:
        """The column with the number of the individual, where several records may be of one."""
        return next((one["name"] for one in self.first if one["form"] == "individual"), None)

    @property
    def alone(self) -> bool:
        """Whether nothing is promised to hold for who has other versions, too."""
        return all(item.get("over_versions") != ALL_VERSIONS for item in self.guarantee)

    @property
    def bucket(self) -> str | None:
        """The number of the groups in which all look the same, if the first view has such."""
        known = self._of(_KNOWN)
        # A row that stands for several records, as those of clusters do, is no member of a group.
        whole = any(one["form"] == "count" for one in self.first)
        if not known or whole or self._varies or any(one["form"] not in _BOXED for one in known):
            return None
        (bucket, *others) = dict.fromkeys(one["bucket"] for one in known)
        return None if others else bucket

    @property
    def members(self) -> Members:
        """What a group has: only numbers of individuals say that these are people."""
        return "records" if self.individual is None else "people"

    def counted(self) -> list[tuple[str, str, str, str | None]]:
        """(column, view, bucket, column of weights) of sensitive columns that can be counted."""
        if self._varies or self.individual is not None:
            return []
        weights = {one["view"]: one["name"] for one in self.columns if one["form"] == "count"}
        found = {
            one["name"]: (one["name"], one["view"], one["bucket"], weights.get(one["view"]))
            for one in reversed(self.columns)
            if one["comment"].startswith(_SENSITIVE)
            and one["form"] == "exact"
            and one["bucket"] is not None
        }
        return [found[name] for name in self.sensitive if name in found]

    @property
    def _varies(self) -> bool:
        """Whether records of a group show a column in different ways."""
        return any(one["form"] == "display" for one in self.columns)

    def _of(self, beginning: str | tuple[str, ...]) -> list[Mapping[str, Any]]:
        return [one for one in self.first if one["comment"].startswith(beginning)]
