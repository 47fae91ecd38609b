"""What every method declares about the rest of a policy, and the columns that methods add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from pganon.policy.columns import Columns
from pganon.policy.hierarchies import Declaration
from pganon.policy.refusals import Refusal
from pganon.policy.tasks import Start

if TYPE_CHECKING:
    from pganon.policy.model import ColumnPolicy

CLASS_ID = "class_id"
"""Published column with the number of an equivalence class."""

CLUSTER_NO = "cluster_no"
"""Published column with the number of a cluster."""

SIZE = "size"
"""Published column with the number of records of a cluster."""

INDIVIDUAL_NO = "individual_no"
"""Published column with a random number that all records of an individual share."""

GROUP_ID = "group_id"
COUNTERFEITS = "counterfeits"
"""Part of a release with the numbers of values in a group that nobody has."""
"""Published column with the number of a group of anatomy or a bucket of slicing."""

COUNT = "count"
"""Published column with the number of records of a group that have these values."""

PROBABILITY = "probability"
"""Published column with the share of a group's records that have these sensitive values."""

EXPECTED = "expected"
"""Published column with the expected number of records of a combination of sliced columns."""

FLAT = "flat"
"""Part of a release of classes that shows ranges and sets in plain columns."""

REFERENCE = "reference"
"""Part of a release of classes: the distribution of the source that they are held against."""

SHARE = "share"
"""Published column of it with the share of a sensitive value."""

UNPUBLISHED = frozenset({"identifying", "individual"})
"""Roles that every method drops."""

BlockSize = Annotated[int, Field(ge=2, le=2**31 - 1)]

RandomOrder = Literal["none", "drawn", "numbered"]
"""A random order of the records: by a number each, which identifies a record, or by a random draw
for each, which is enough to sort by and avoids a sort of all records."""


class MethodOptions(Declaration):
    """Base of the methods.

    Attributes:
        roles: roles of columns that the method publishes or drops.
        grouped: role of the columns that it groups records by.
        models: privacy models that it can guarantee.
        example: one of them as a policy writes it.
        adds: columns that its published views have in addition to those of the source.
        parts: additional published views, named by :func:`part_name`.
        shows: how a column that records are grouped by is published: a generalized value, the mean
            or mode, an array of values, or the exact value.
        sensitive: how many sensitive columns there must be.
        levels: levels of its models that it can guarantee, where a model has levels.
        codes_sensitive: whether it needs codes of sensitive columns that no model is about.
        excludes: whether it keeps the exclusion rules of a policy.
        reserves_identity: whether it keeps the records of an individual together.
        along_curve: whether records are placed along a curve over their attributes.
        unlinks: whether it publishes sensitive values apart from the records, so that a reader may
            try to infer whose they are.
        numbers_by_value: whether it numbers records by the values of a sensitive column, and at
            random within them.
        shows_reference: whether it can publish the distribution that its models compare with.
        refuses_constant: whether it refuses a sensitive column with one value, which its models do
            not protect, unless the policy accepts that the column is unprotected.
        leaves_out: whether it suppresses records where the guarantee cannot be reached with all.
        published_once: whether a policy may not accept that other releases show other groups of the
            same people, because what both together disclose cannot be judged.
        keeps_value_sets: whether people can keep the values of their groups in later versions.
        starts: what it begins with, for each task that it is for.
        revision: raised when the same records under the same seed give other groups than before.
    """

    roles: ClassVar[frozenset[str]]
    grouped: ClassVar[str]
    models: ClassVar[frozenset[str]]
    example: ClassVar[str]
    adds: ClassVar[tuple[str, ...]]
    parts: ClassVar[tuple[str, ...]] = ()
    shows: ClassVar[Literal["generalized", "centre", "values", "exact"]] = "generalized"
    sensitive: ClassVar[Literal["any", "one", "some"]] = "any"
    levels: ClassVar[tuple[str, ...]] = ()
    codes_sensitive: ClassVar[bool] = False
    excludes: ClassVar[bool] = False
    reserves_identity: ClassVar[bool] = False
    along_curve: ClassVar[bool] = False
    unlinks: ClassVar[bool] = False
    numbers_by_value: ClassVar[bool] = False
    shows_reference: ClassVar[bool] = False
    refuses_constant: ClassVar[bool] = False
    leaves_out: ClassVar[bool] = True
    published_once: ClassVar[bool] = False
    keeps_value_sets: ClassVar[bool] = False
    starts: ClassVar[tuple[Start, ...]] = ()
    revision: ClassVar[int] = 1

    if TYPE_CHECKING:
        name: Any  # a field of every subclass, with the one word that it can be

    @property
    def replays(self) -> bool:
        """Whether its cuts are by values, so that they divide people who come later, too."""
        return False

    @property
    def replay_hint(self) -> str:
        """What to do where they are not."""
        return "use regions: none"

    @property
    def collapses(self) -> bool:
        """Whether the records of an individual with the same sensitive value count once."""
        return False

    @property
    def idle(self) -> frozenset[str]:
        """Options that have no effect in combination with the others."""
        return frozenset()

    @property
    def assumes(self) -> tuple[str, ...]:
        """What else a reader may know, and what not, for the bounds to hold: phrases that follow
        "a reader who"."""
        return ()

    def decides_by_values(self, *, bounded: bool) -> bool:
        """Whether sensitive values decide who is in a group with whom, beyond what groups show.

        A reader who computes the method then excludes values that the groups leave open: a cut was
        made, or was not, because of them.

        Args:
            bounded: whether a model is about sensitive values; without any a method that this base
                says enough of looks at none.
        """
        return bounded

    @property
    def independent(self) -> bool:
        """Whether sensitive tables may have separate buckets."""
        return False

    @property
    def repeats_values(self) -> bool:
        """Whether a value may be in a bucket of local generalization more than once."""
        return False

    @property
    def random_order(self) -> RandomOrder:
        """How records with equal codes are ordered."""
        return "drawn" if self.along_curve else "numbered"

    @property
    def numbers_records(self) -> bool:
        return self.random_order == "numbered"

    def part_names(self, columns: Columns) -> tuple[str, ...]:
        """All parts that a release of these columns may have."""
        return self.parts

    def added_columns(self, columns: Columns) -> tuple[str, ...]:
        """All columns that a release may have in addition to these columns of the source."""
        return self.adds

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        """What does not fit a column that is right in itself.

        By default keys that say how to generalize, which only some methods heed.
        """
        if column.role not in (self.grouped, "semi_sensitive"):
            return
        exact = self.shows == "exact"
        if column.weight != 1:
            idle = "publishes exact values, of which no weight matters"
            every = "gives all columns the same weight"
            yield Refusal(
                ("columns", name, "weight"),
                f"the method {self.name} {idle if exact else every}",
                "remove weight",
            )
        if column.nulls == "own_class":
            idle = "publishes exact values; nulls: own_class keeps nothing apart"
            mixed = "makes classes with NULLs and other values; it has no nulls: own_class"
            yield Refusal(
                ("columns", name, "nulls"),
                f"the method {self.name} {idle if exact else mixed}",
                "use nulls: as_value, suppress or reject",
            )

    def reference_refusals(self) -> Iterable[Refusal]:
        """Why the distribution of the source cannot be published, by a method that shows it."""
        return ()

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        """What else does not fit the columns, where each of them is right in itself."""
        return ()

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        """What the models leave open or ask for too much; all are right in themselves."""
        return ()


def part_name(release: str, part: str) -> str:
    """Name of the published view of a part."""
    return f"{release}_{part}"
