"""Which columns of a release are published together, and what links them.

Anatomy has one quasi-identifier table (QIT) and one sensitive table (ST), slicing several QITs,
SLAMSA several STs, SLOMS classes of generalized quasi-identifiers. All of them are one
:class:`Arrangement`, which the anatomized form publishes and verifies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pganon.methods.common.bucket_options import link, numbered
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.resolved.model import Attribute, Carried, ReleaseSpec, Sensitive
from pganon.steps import State


@dataclass(frozen=True)
class QuasiTable:
    """A table of quasi-identifiers.

    Attributes:
        groups: its columns with bucket numbers; rows are ordered by them first.
        counted: whether equal rows are one row with a count, as in a sliced QIT.
    """

    part: str
    attributes: tuple[Attribute, ...]
    carried: tuple[Carried, ...]
    groups: tuple[str, ...]
    counted: bool


@dataclass(frozen=True)
class SensitiveTable:
    """A table of sensitive columns per bucket, with counts.

    Attributes:
        quasi: quasi-identifiers that are published with them, as slicing may do.
        partition: the partition whose buckets it has, named by the column that links to it.
    """

    part: str
    sensitive: tuple[Sensitive, ...]
    quasi: tuple[Attribute, ...]
    partition: str


@dataclass(frozen=True)
class Arrangement:
    """The tables of a release.

    Attributes:
        counterfeits: whether sensitive tables may have values that nobody has, whose numbers per
            bucket are published beside them.
    """

    quasi: tuple[QuasiTable, ...]
    sensitive: tuple[SensitiveTable, ...]
    counterfeits: bool = False

    @property
    def sliced(self) -> bool:
        return self.quasi[0].counted

    @property
    def generalized(self) -> bool:
        """Whether records of a class share generalized quasi-identifiers."""
        return CLASS_ID in self.bearing.groups

    @property
    def partitions(self) -> tuple[str, ...]:
        """Partitions of the records, by the column that has their bucket numbers."""
        named = [name for table in self.quasi for name in table.groups]
        return tuple(dict.fromkeys([*named, *[table.partition for table in self.sensitive]]))

    @property
    def aligned(self) -> bool:
        """Whether all tables have the buckets of one partition."""
        return len(self.partitions) == 1

    def table_of(self, sensitive: int) -> SensitiveTable:
        """The table with a sensitive column."""
        return next(t for t in self.sensitive if any(s.index == sensitive for s in t.sensitive))

    @property
    def bearing(self) -> QuasiTable:
        """The QIT whose rows say in which buckets of the sensitive tables they are."""
        return self.quasi[-1]


Arrange = Callable[[ReleaseSpec, State], Arrangement]
"""The arrangement of a release; before the run decided it, one that it may have."""


def arranged(
    spec: ReleaseSpec,
    quasi: Sequence[Sequence[Attribute]],
    sensitive: Sequence[Sequence[Sensitive]],
    *,
    sliced: bool = False,
    aligned: bool = True,
    generalized: bool = False,
    beside: Sequence[Attribute] = (),
    counterfeits: bool = False,
) -> Arrangement:
    """The tables by their columns.

    Args:
        quasi: columns of every QIT.
        sensitive: columns of every ST.
        sliced: whether QITs are counted and linked by their own buckets.
        aligned: whether one partition is behind all tables.
        generalized: whether the QIT has classes, a separate partition.
        beside: quasi-identifiers in the first ST.
        counterfeits: whether there are values that nobody has.
    """
    names = numbered("st", len(sensitive))
    links = [GROUP_ID if aligned else link(name) for name in names]
    groups = [CLASS_ID] if generalized else [GROUP_ID] if sliced or aligned else []
    last = len(quasi) - 1
    return Arrangement(
        tuple(
            QuasiTable(
                part,
                tuple(attributes),
                spec.carried if i == last else (),
                tuple(dict.fromkeys([*groups, *(links if i == last else ())])),
                sliced,
            )
            for i, (part, attributes) in enumerate(
                zip(numbered("qit", len(quasi)), quasi, strict=True)
            )
        ),
        tuple(
            SensitiveTable(name, tuple(columns), tuple(beside) if i == 0 else (), links[i])
            for i, (name, columns) in enumerate(zip(names, sensitive, strict=True))
        ),
        counterfeits,
    )
