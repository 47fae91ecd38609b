"""Base of the options of methods: rules about the rest of a policy, and published columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from pganon.identifiers import MAX_BYTES, fits
from pganon.policy.columns import Columns
from pganon.policy.hierarchies import Declaration
from pganon.policy.refusals import Refusal, show
from pganon.policy.tasks import Start
from pganon.policy.words import UNPUBLISHED_ROLES

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
"""Published column with the number of a group of anatomy or a bucket of slicing."""

COUNTERFEITS = "counterfeits"
"""Part of a release with the number of counterfeits per group and value."""

COUNT = "count"
"""Published column with the number of records of a group that have these values."""

PROBABILITY = "probability"
"""Published column with the share of a group's records that have these sensitive values."""

EXPECTED = "expected"
"""Published column with the expected number of records of a combination of sliced columns."""

FLAT = "flat"
"""Part of a release of classes that shows ranges and sets in plain columns."""

REFERENCE = "reference"
"""Part of a release of classes: the distribution of the source that they are compared with."""

LABELS = "labels"
"""Part of a release of classes: the values below labels of hierarchies."""

SHARE = "share"
"""Published column of it with the share of a sensitive value."""

UNSEEN = "does not see which records are left out"
"""An assumption about readers, where single records are left out for their sensitive values."""

UNPUBLISHED = frozenset(UNPUBLISHED_ROLES)
"""Roles that every method drops."""

BlockSize = Annotated[int, Field(ge=2, le=2**31 - 1)]

Support = Literal["exclusions", "invariant", "labels", "means", "population", "reference", "tables"]
"""Parts of a policy that only some methods support: its exclusion rules, `refresh: invariant`,
`publish.labels`, means of classes, `report.population`, `publish.reference` and `tables`."""

UNABLE: Mapping[Support, str] = {
    "exclusions": "does not keep exclusion rules",
    "invariant": "cannot keep the values of its groups",
    "labels": "does not publish the values below labels",
    "population": "makes groups that do not say whom of a population they cover",
    "reference": "does not publish the source's distribution",
    "tables": "makes no groups of classes for related tables",
}
"""What the others are told."""


RandomOrder = Literal["none", "drawn", "numbered"]
"""A random order of the records: by a number each, which identifies a record, or by a random draw
for each, which is enough to sort by and avoids a sort of all records."""


@dataclass(frozen=True)
class Encoding:
    """Codes, order and individuals of the encoded records, as a method asks for them.

    Attributes:
        order: how records with equal codes are ordered.
        along_curve: whether records are placed along a curve over their attributes.
        numbers_by_value: whether records are numbered by the values of a sensitive column, and at
            random within them.
        codes_sensitive: whether sensitive columns that no model is about have codes.
        reserves_identity: whether an individual may have several records, which stay together.
        collapses: whether the records of an individual with the same sensitive value count once.
        combines: whether records have one number for all codes, to be joined and grouped by.
        divides_cells: whether records with equal codes may be in several groups.
    """

    order: RandomOrder = "numbered"
    along_curve: bool = False
    numbers_by_value: bool = False
    codes_sensitive: bool = False
    reserves_identity: bool = False
    collapses: bool = False
    combines: bool = False
    divides_cells: bool = False

    @property
    def numbers_records(self) -> bool:
        """Whether every record has a number."""
        return self.order == "numbered"


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
        sensitive: how many sensitive columns there must be; `hidden`: one that is sensitive, or
            semi-sensitive.
        levels: levels of its models that it can guarantee, where a model has levels.
        supports: parts of a policy that it supports and not every method does.
        unlinks: whether it publishes sensitive values apart from the records, so that a reader may
            try to infer whose they are.
        leaves_out: whether it suppresses records where the guarantee cannot be reached with all.
        leaves_surplus_out: whether it then suppresses single records of values that are too
            frequent, while others with the same quasi-identifiers stay.
        leaves_unprofitable: whether it then suppresses classes that do not pay.
        starts: what it begins with, for each task that it is for.
        one_level: whether all values of a column are published on one level of its hierarchy, so
            that a policy can say between which.
        revision: raised when the same records under the same seed give other groups than before.
    """

    roles: ClassVar[frozenset[str]]
    grouped: ClassVar[str]
    models: ClassVar[frozenset[str]]
    example: ClassVar[str]
    adds: ClassVar[tuple[str, ...]]
    parts: ClassVar[tuple[str, ...]] = ()
    shows: ClassVar[Literal["generalized", "centre", "values", "exact"]] = "generalized"
    sensitive: ClassVar[Literal["any", "one", "some", "hidden"]] = "any"
    levels: ClassVar[tuple[str, ...]] = ()
    supports: ClassVar[frozenset[Support]] = frozenset()
    unlinks: ClassVar[bool] = False
    leaves_out: ClassVar[bool] = True
    leaves_surplus_out: ClassVar[bool] = False
    leaves_unprofitable: ClassVar[bool] = False
    starts: ClassVar[tuple[Start, ...]] = ()
    tags: ClassVar = {"": 1}
    one_level: ClassVar[bool] = False
    revision: ClassVar[int] = 1

    if TYPE_CHECKING:
        name: Any  # a field of every subclass, with the one word that it can be

    @property
    def encoding(self) -> Encoding:
        """How the records are encoded for it."""
        return Encoding()

    @property
    def idle(self) -> frozenset[str]:
        """Options that have no effect in combination with the others."""
        return frozenset()

    @property
    def keeps_more(self) -> str | None:
        """The option, as a policy writes it, with which fewer records may be left out."""
        return None

    def assumes(self, sensitive: int) -> tuple[str, ...]:
        """Further assumptions about the knowledge of a reader, under which the bounds hold.

        Args:
            sensitive: number of sensitive columns.

        Returns:
            Phrases that follow "a reader who".
        """
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

    def measures(self, model: Any) -> tuple[Any, ...]:
        """Measures of the groups under a privacy model, in the order of their verification."""
        return model.measures()

    def part_names(self, columns: Columns) -> tuple[str, ...]:
        """All parts that a release of these columns may have."""
        return self.parts

    def added_columns(self, columns: Columns) -> tuple[str, ...]:
        """All columns that a release may have in addition to these columns of the source."""
        return self.adds

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        """Problems with a column that is right in itself.

        By default keys about generalization that only some methods follow.
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
        """Reasons against `publish.reference` with these options of a method that supports it."""
        return ()

    def kind_refusals(self, name: str, column: ColumnPolicy, kind: str) -> Iterable[Refusal]:
        """Problems with a column of such a type: `numeric` (dates, too), ordinal or categorical."""
        return ()

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        """Further problems with the columns, each of which is right in itself."""
        return ()

    def suppression_refusals(
        self, columns: Columns, models: Sequence[Any], asked: Mapping[str, Any]
    ) -> Iterable[Refusal]:
        """Keys about suppression that have no effect.

        Args:
            asked: `suppression_limit`, `on_infeasible` and `refresh` as the policy has them; None
                where it has not, or where it is not known yet.
        """
        return ()

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        """Problems with the models together; each of them is right in itself."""
        return ()

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """Problems with the other keys of a policy.

        By default columns that the policy calls unprotected although a model is about them, and
        `regions: leaves`, which only methods that cut by values have.

        Args:
            columns: those of the policy; None for one that is wrong in itself.
            keys: the keys to check with their values: `privacy` (the models), `individual`,
                `republication`, `refresh` or `regions`.
        """
        yield from _protected_refusals(keys.get("privacy", ()), columns)
        if keys.get("regions") == "leaves":
            yield Refusal(
                ("regions",),
                f"leaves is for cuts by values, and the method {self.name} makes others here",
                "use regions: none",
            )

    def admits(self, key: str, value: object) -> bool:
        """Whether a policy with the method may have this value of a key."""
        return not any(self.key_refusals({}, {key: value}))


def _protected_refusals(models: Iterable[Any], columns: Columns) -> Iterable[Refusal]:
    """Columns that are declared to be unprotected although a model is about them."""
    accepted = [name for name, c in columns.items() if c is not None and c.unprotected == "accept"]
    for name in accepted:
        about = next(
            (m.model for m in models if m is not None and (m.about == name or m.about_each)), None
        )
        if about is not None:
            yield Refusal(
                ("columns", name, "unprotected"),
                f"{about} is about the column {show(name)}, which is protected then",
                "remove unprotected",
            )


def part_name(release: str, part: str) -> str:
    """Name of the published view of a part."""
    return f"{release}_{part}"


def part_refusals(release: object, part: str) -> Iterator[Refusal]:
    """The name of the view of a part is too long, though that of the release is not."""
    size = len(part_name("", part).encode())
    if isinstance(release, str) and fits(release) and not fits(part_name(release, part)):
        yield Refusal(
            ("release",),
            f"the name of its view {show(part_name('...', part))} has"
            f" {len(release.encode()) + size} bytes, PostgreSQL allows {MAX_BYTES}",
            f"choose a name of at most {MAX_BYTES - size} bytes",
        )
