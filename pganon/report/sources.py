"""What a report is built from, as it was read from the tables of pganon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pganon.forms.confidential import JUDGEMENT, WITHHELD
from pganon.forms.sentences import Told, details
from pganon.forms.utility import Utility
from pganon.policy.columns import ColumnPolicy
from pganon.policy.model import Policy
from pganon.privacy.base import Requirement
from pganon.report.parts import Count, Members, OverVersions, Part
from pganon.report.words import knowing


@dataclass(frozen=True)
class VersionFacts:
    """What the report says of any version of the release.

    Attributes:
        number: None of what waits for approval, which may never become a version.
        released, suppressed: records.
        over_versions: holds, finer or void; None where nobody can tell people apart.
        stored: whether its tables are still there.
    """

    number: int | None
    run_id: int
    released: int
    suppressed: int
    published_at: datetime
    over_versions: OverVersions | None
    stored: bool


class Access(Part):
    """A role that can read the release, and why."""

    role: str
    because: str


class Crossing(Part):
    version: str
    other: str
    reason: str
    people: Count


@dataclass(frozen=True)
class Collected:
    """The version that the report is about, its release, and what was done with it.

    Attributes:
        shown: the number of the version that readers see; None if none is shown.
        groups: what people call the groups of its form, in the plural.
        requirements: of its policy, as its groups were held to them.
        columns: of its first view, each a dict with `name`, `form` and `comment`.
        source_columns: names of all columns of the source when it was read.
        measures: figures of its run.
        events: the ledger of the release, oldest first.
        evidence: what approvers look at; None of versions that were made before there was any.
        evidence_intact: whether the evidence is the one of which the ledger has the digest.
        program: version of the program that makes the report.
        request: with which it waits for approval; None if it is published.
        utility: the figures of its run that every version has, as its form reads them.
        tells, apart: as :class:`pganon.forms.form.Statistics` has them.
        said: as :class:`pganon.forms.form.Verification` has it.
        asked: whether random questions can be asked of a release of its form.
        about: purpose, legal basis and the like, as the policy says now; see
            :class:`pganon.policy.reporting.About`.
        public: whether whoever can connect can read the version.
    """

    release: str
    source: str
    method: str
    groups: str
    version: VersionFacts
    versions: Sequence[VersionFacts]
    shown: int | None
    policy: Policy
    policy_hash: str
    requirements: Sequence[Requirement]
    guarantee: Sequence[Mapping[str, Any]]
    columns: Sequence[Mapping[str, Any]]
    source_columns: Sequence[str]
    measures: Mapping[str, Any]
    readers: Sequence[str]
    access: Sequence[Access]
    crossings: Sequence[Crossing]
    events: Sequence[Mapping[str, Any]]
    evidence: Mapping[str, Any] | None
    evidence_intact: bool | None
    made_at: datetime
    program: str
    request: int | None = None
    utility: Utility | None = None
    tells: Callable[[Utility, str], Sequence[Told]] = details
    apart: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    asked: bool = True
    about: Mapping[str, Any] = field(default_factory=dict)
    public: bool = False

    @property
    def withheld(self) -> bool:
        """Whether no figure of the source is told; see :mod:`pganon.forms.confidential`."""
        return bool(self.measures.get(WITHHELD))

    @property
    def measured(self) -> bool:
        """Whether the run measured evidence for reports."""
        return bool(set(self.evidence or ()) - {JUDGEMENT})

    @property
    def one_each(self) -> bool:
        """Whether every record is known to be a person of its own."""
        return bool(self.policy.individual_key) and not self.policy.several_each

    @property
    def rows(self) -> Members:
        """What a record is: one of the people, or a record where these may be several of one."""
        return "people" if self.one_each else "records"

    @property
    def counts_people(self) -> bool:
        """Whether what is said of the members of a group is said of people."""
        return self.one_each or self.policy.method.encoding.reserves_identity

    @property
    def members(self) -> Members:
        """What a group has: people, or records where these may be several of one person."""
        return "people" if self.counts_people else "records"

    def published_name(self, column: str) -> str:
        """The name under which a column of the source is published."""
        return self.policy.columns[column].published_as or column

    @property
    def declared(self) -> dict[str, ColumnPolicy]:
        """Columns of the policy in the order of the source, as jsonb keeps none."""
        places = {name: place for place, name in enumerate(self.source_columns)}
        found = self.policy.columns.items()
        return dict(sorted(found, key=lambda item: places.get(item[0], len(places))))

    def of_role(self, *roles: str) -> list[str]:
        """Published names of the columns with one of these roles."""
        found = self.declared.items()
        return [self.published_name(name) for name, column in found if column.role in roles]

    @property
    def known(self) -> list[str]:
        """Columns that others may know of a person."""
        return self.of_role("quasi_identifying", "quasi_sensitive")

    @property
    def knowing(self) -> str:
        """The same in words, with those that others know of some people."""
        return knowing(self.known, self.of_role("semi_sensitive"))
