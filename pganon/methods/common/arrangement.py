"""Which columns of a release are published together, and what links them.

Anatomy has one quasi-identifier table (QIT) and one sensitive table (ST), slicing several QITs,
SLAMSA several STs, SLOMS classes of generalized quasi-identifiers. All of them are one
:class:`Arrangement`, which the anatomized form publishes and verifies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pganon.forms.shape import PublishedRelation, Shape
from pganon.methods.common.bucket_options import link, numbered
from pganon.methods.common.form.grouping import bucket
from pganon.policy.options import CLASS_ID, COUNT, GROUP_ID
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.steps import State


@dataclass(frozen=True)
class Arrangement:
    """The tables of a release.

    Attributes:
        quasi: those of quasi-identifiers. In a sliced one, equal rows are one with a count.
        sensitive: of sensitive columns per bucket, with counts; slicing may publish
            quasi-identifiers with them.
        counterfeits: whether sensitive tables may have values that nobody has, whose numbers per
            bucket are published beside them.
    """

    quasi: Shape
    sensitive: Shape
    counterfeits: bool = False

    @property
    def shape(self) -> Shape:
        return (*self.quasi, *self.sensitive)

    @property
    def sliced(self) -> bool:
        return self.quasi[0].count is not None

    @property
    def generalized(self) -> bool:
        """Whether records of a class share generalized quasi-identifiers."""
        return CLASS_ID in self.linking.groups

    @property
    def partitions(self) -> tuple[str, ...]:
        """Partitions of the records, by the column that has their bucket numbers."""
        named = [name for table in self.quasi for name in table.groups]
        return tuple(dict.fromkeys([*named, *[table.link for table in self.sensitive]]))

    @property
    def aligned(self) -> bool:
        """Whether all tables have the buckets of one partition."""
        return len(self.partitions) == 1

    def table_of(self, sensitive: int) -> PublishedRelation:
        """The table with a sensitive column."""
        return next(t for t in self.sensitive if any(s.index == sensitive for s in t.sensitive))

    def bucket_of(self, partition: str) -> str:
        """Work column of the records with their buckets in a partition."""
        return bucket(self.partitions.index(partition))

    @property
    def linking(self) -> PublishedRelation:
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
            PublishedRelation(
                part,
                "record",
                tuple(dict.fromkeys([*groups, *(links if i == last else ())])),
                tuple(attributes),
                carried=spec.carried if i == last else (),
                count=COUNT if sliced else None,
                link=GROUP_ID,
            )
            for i, (part, attributes) in enumerate(
                zip(numbered("qit", len(quasi)), quasi, strict=True)
            )
        ),
        tuple(
            PublishedRelation(
                name,
                "value",
                (GROUP_ID,),
                tuple(beside) if i == 0 else (),
                tuple(columns),
                count=COUNT,
                link=links[i],
            )
            for i, (name, columns) in enumerate(zip(names, sensitive, strict=True))
        ),
        counterfeits,
    )
