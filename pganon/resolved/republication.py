"""Comparison of a new version with all that were ever readable over the same source.

A reader who has two versions with different groups of the same people can intersect them. A run
therefore reuses the groups of an earlier version, of any release, if the source and the relevant
part of the policy are the same: then it discloses nothing new. Otherwise the rule about groups
decides what all versions show together. It cannot where nothing tells people apart; then the policy
decides.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.partition import Part, differences, part_hash

ACCEPT = "republication: warn or allow accepts the risk"
KEY = (
    "give the source a primary key (`pganon import --key`), or the policy `individual`, so that"
    " people can be told apart"
)


def same_source(one: bytes, other: bytes) -> bool:
    """Whether fingerprints are of the same source; of one of 32 bytes, as far as it says."""
    shorter = 32 if 32 in (len(one), len(other)) else None
    return one[:shorter] == other[:shorter]


@dataclass(frozen=True)
class Prints:
    """Fingerprints of a source as it was read, under the secret of the installation.

    Attributes:
        rows: of the rows but for their keys, which a copy may have others of.
    """

    source: bytes
    rows: bytes


@dataclass(frozen=True)
class Earlier:
    """A version that was readable once.

    Attributes:
        partition: the partition part of its policy.
        partition_hash: of that part; None if the secrets of its run are gone.
        source_fingerprint, rows_fingerprint: see :class:`Prints`.
        population: the people whom it is about; None where nothing told them apart.
        is_over_source: over the same source or a part of it, as their names say.
    """

    release: str
    version: int
    run_id: int
    partition: Part
    partition_hash: str | None
    source_fingerprint: bytes
    rows_fingerprint: bytes
    population: int | None = None
    is_over_source: bool = True

    @property
    def label(self) -> str:
        return f"version {self.version} of the release {quote(self.release)}"


@dataclass(frozen=True)
class Republication:
    """A run compared with the versions that were ever readable; `versions` has the nearest first.

    Attributes:
        publishes: False for a dry run, which shows nobody anything and so is never refused.
        keyed: whether people can be told apart, so that the rule about groups can be held.
    """

    policy: Policy
    partition: Part
    versions: tuple[Earlier, ...] = ()
    publishes: bool = True
    keyed: bool = False

    @property
    def earlier(self) -> tuple[Earlier, ...]:
        """Versions over the same source."""
        return tuple(version for version in self.versions if version.is_over_source)

    @property
    def apart(self) -> tuple[Earlier, ...]:
        """Those of them whose groups cannot be compared with those of the run."""
        return tuple(v for v in self.earlier if not self._can_judge(v))

    def _can_judge(self, version: Earlier) -> bool:
        return self.keyed and version.population is not None

    def copied(self, prints: Prints) -> Earlier | None:
        """A version made from the same rows in a table of another name: a copy, or renamed."""
        return next((v for v in self._twins(prints) if not v.is_over_source), None)

    def same_rows(self, prints: Prints) -> Earlier | None:
        """A version about people who may be the same under other keys: its rows are."""
        others = (
            v
            for v in self._twins(prints)
            if v.population is not None and not same_source(v.source_fingerprint, prints.source)
        )
        return self.copied(prints) or next(others, None)

    def _twins(self, prints: Prints) -> Iterator[Earlier]:
        return (v for v in self.versions if v.rows_fingerprint == prints.rows)

    @property
    def refuses(self) -> bool:
        return self.policy.republication == "refuse" and self.publishes

    def if_published(self, prints: Prints) -> PrivacyRefusal | None:
        """The refusal if the result of a dry run were published."""
        return replace(self, publishes=True).after_reading(prints)

    @property
    def candidates(self) -> tuple[Earlier, ...]:
        """Versions with the same partition part: their groups can be shown again."""
        wanted = part_hash(self.partition)
        return tuple(e for e in self.earlier if e.partition_hash == wanted)

    def repeated(self, source_fingerprint: bytes) -> Earlier | None:
        """The version whose groups are repeated over this source."""
        found = (
            e for e in self.candidates if same_source(e.source_fingerprint, source_fingerprint)
        )
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
        if not self.refuses or not self.apart or self.candidates:
            return None
        return self._refusal(self._difference())

    def after_reading(self, prints: Prints) -> PrivacyRefusal | None:
        """The refusal of the source as it was read."""
        what = self._accepted(prints)
        return self._refusal(what) if what and self.refuses else None

    def warning(self, prints: Prints) -> str | None:
        """For a run whose policy accepts what nobody can judge."""
        what = self._accepted(prints)
        if what is None or self.policy.republication != "warn":
            return None
        return f"{what}; {_LEARN}"

    def _accepted(self, prints: Prints) -> str | None:
        """The obstacle to a version of this source that nobody can compare; None without one."""
        if self.repeated(prints.source):
            return None
        if self.apart:
            return self._difference()
        copied = self.copied(prints)
        if copied is None or self._can_judge(copied):
            return None
        source = copied.partition["source"]
        return f"{copied.label} was made from the same rows in another table ({source})"

    def _refusal(self, what: str) -> PrivacyRefusal:
        nearest = self._nearest
        keyless = next((v for v in self.apart if v.population is None), None)
        changed = nearest is not None and not self.candidates and nearest.partition_hash is not None
        ways = [] if self.keyed else [KEY]
        if keyless is not None:
            command = f"pganon forget {shlex.quote(keyless.release)} --version {keyless.version}"
            ways.append(
                f"{keyless.label} has no key and stays incomparable: if no copy is left of it, drop"
                f" it and `{command} --reason TEXT`"
            )
        ways += [ACCEPT] if self.policy.method.admits("republication", "allow") else []
        ways += ["undoing the change of the policy avoids it"] if changed else []
        return PrivacyRefusal(
            f"{what}; {_LEARN}",
            hint="; ".join(ways) or None,
            code=ErrorCode.REPUBLICATION if self.keyed else ErrorCode.NO_IDENTITY,
        )

    @property
    def _nearest(self) -> Earlier | None:
        """The version that stands in the way, one of the same policy before others."""
        return next(iter(sorted(self.apart, key=lambda v: v not in self.candidates)), None)

    def _difference(self) -> str:
        nearest = self._nearest
        assert nearest is not None
        if nearest in self.candidates:
            return f"the source changed since {nearest.label}"
        if nearest.partition_hash is None:
            return (
                f"{nearest.label} is over the same source and cannot be compared: its secrets are"
                " gone"
            )
        changes = differences(nearest.partition, self.partition)
        return f"{nearest.label} is over the same source under another policy: {changes}"


_LEARN = "who has both may learn what neither shows"
