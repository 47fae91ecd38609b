"""Comparison of a new version with all that were ever readable over the same source.

A reader who has two versions with different groups of the same people can intersect them. A run
therefore reuses the groups of an earlier version, of any release, if the source and the relevant
part of the policy are the same: then it discloses nothing new. Otherwise the policy decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pganon.errors import PrivacyRefusal
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.partition import Part, differences, part_hash

ACCEPT = "republication: warn or allow accepts the risk"
ONCE = "what this method publishes beside another release of the same people cannot be accepted"
CODE = "republication"


@dataclass(frozen=True)
class Earlier:
    """A version that was readable once.

    Attributes:
        partition: the partition part of its policy.
        partition_hash: of that part; None if nothing can be compared with the version.
        source_fingerprint: of its source, under the secret of the installation.
        members_table: who was in which group.
        is_over_source: over the same source or a part of it, as their names say.
    """

    release: str
    version: int
    run_id: int
    partition: Part | None
    partition_hash: str | None
    source_fingerprint: bytes | None
    members_table: str | None
    is_over_source: bool = True

    @property
    def label(self) -> str:
        return f"version {self.version} of the release {quote(self.release)}"


@dataclass(frozen=True)
class Republication:
    """A run compared with the versions that were ever readable; `versions` has the nearest first.

    Attributes:
        publishes: False for a dry run, which shows nobody anything and so is never refused.
    """

    policy: Policy
    partition: Part
    versions: tuple[Earlier, ...] = ()
    publishes: bool = True

    @property
    def earlier(self) -> tuple[Earlier, ...]:
        """Versions over the same source."""
        return tuple(version for version in self.versions if version.is_over_source)

    def copied(self, source_fingerprint: bytes) -> Earlier | None:
        """A version made from the same rows in a table of another name: a copy, or renamed."""
        copies = (
            version
            for version in self.versions
            if not version.is_over_source and version.source_fingerprint == source_fingerprint
        )
        return next(copies, None)

    @property
    def refuses(self) -> bool:
        return self.policy.republication == "refuse" and self.publishes

    def if_published(self, source_fingerprint: bytes, same: bool | None) -> PrivacyRefusal | None:
        """The refusal if the result of a dry run were published."""
        asked = replace(self, publishes=True)
        return asked.after_reading(source_fingerprint) or asked.after_grouping(
            source_fingerprint, same
        )

    @property
    def candidates(self) -> tuple[Earlier, ...]:
        """Versions with the same partition part: their groups can be shown again."""
        wanted = part_hash(self.partition)
        return tuple(e for e in self.earlier if e.partition_hash == wanted)

    def repeated(self, source_fingerprint: bytes) -> Earlier | None:
        """The version whose groups are repeated over this source."""
        found = (e for e in self.candidates if e.source_fingerprint == source_fingerprint)
        return next(found, None)

    def unchanged(self, source_fingerprint: bytes) -> Republication:
        """The same where this is the source of the nearest version of the same part."""
        nearest = self.candidates[:1]
        versions = (
            replace(version, source_fingerprint=source_fingerprint)
            if version in nearest
            else version
            for version in self.versions
        )
        return replace(self, versions=tuple(versions))

    def before_work(self) -> PrivacyRefusal | None:
        """The refusal that does not depend on the content of the source."""
        if not self.refuses or not self.earlier or self.candidates:
            return None
        return self._refusal()

    def after_reading(self, source_fingerprint: bytes) -> PrivacyRefusal | None:
        """The refusal of the source as it was read."""
        if not self.refuses or self.repeated(source_fingerprint):
            return None
        if self.earlier:
            return self._refusal()
        copied = self.copied(source_fingerprint)
        return _refused(self._of_a_copy(copied), self._remedy) if copied else None

    def after_grouping(self, source_fingerprint: bytes, same: bool | None) -> PrivacyRefusal | None:
        """The refusal of reused groups that differ; `same` is None where this is unknown."""
        if not self.refuses or same is not False:
            return None
        return _refused(self._difference(source_fingerprint, same), self._remedy)

    def warning(self, source_fingerprint: bytes, same: bool | None) -> str | None:
        """For a run whose policy accepts other groups, if it has others."""
        taken_over = self.repeated(source_fingerprint) and same is not False
        if self.policy.republication != "warn" or taken_over:
            return None
        if self.earlier:
            return f"{self._difference(source_fingerprint, same)}; {_LEARN}"
        copied = self.copied(source_fingerprint)
        return f"{self._of_a_copy(copied)}; {_LEARN}" if copied else None

    def _refusal(self) -> PrivacyRefusal:
        changed = not self.candidates and self._nearest.partition_hash is not None
        undo = "; undoing the change of the policy avoids it" if changed else ""
        return _refused(self._difference(), f"{self._remedy}{undo}")

    @property
    def _remedy(self) -> str:
        return ONCE if self.policy.method.published_once else ACCEPT

    @property
    def _nearest(self) -> Earlier:
        return (*self.candidates, *self.earlier)[0]

    def _difference(self, source_fingerprint: bytes = b"", same: bool | None = None) -> str:
        nearest = self._nearest
        repeated = self.repeated(source_fingerprint)
        if repeated is not None and same is False:
            return (
                f"the groups differ from those of {repeated.label}, though policy and source are"
                " the same"
            )
        if self.candidates:
            return f"the source changed since {nearest.label}"
        if nearest.partition is None or nearest.partition_hash is None:
            return (
                f"{nearest.label} is over the same source and cannot be compared: it was published"
                " by an earlier pganon, or its secrets are gone"
            )
        changes = differences(nearest.partition, self.partition)
        return f"{nearest.label} is over the same source under another policy: {changes}"

    def _of_a_copy(self, copied: Earlier) -> str:
        source = f" ({copied.partition['source']})" if copied.partition else ""
        return f"{copied.label} was made from the same rows in another table{source}"


_LEARN = "who has both may learn what neither shows"


def _refused(what: str, hint: str) -> PrivacyRefusal:
    return PrivacyRefusal(f"{what}; {_LEARN}", hint=hint, code=CODE)
