"""Background knowledge that readers are assumed to have: the prior, which is a distribution of the
sensitive value for every combination of some quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Discriminator, Field, Tag

from pganon.policy.columns import Columns
from pganon.policy.hierarchies import Declaration, OneKey
from pganon.policy.labels import RelationName
from pganon.policy.refusals import Refusal, nearest, show

PROBABILITY = "probability"
"""Column of a relation of priors."""


def _form(value: object) -> str:
    return "by column" if isinstance(value, Mapping) else "for all"


T = TypeVar("T")
ByColumn = Annotated[
    Annotated[T, Tag("for all")] | Annotated[dict[str, T], Tag("by column")], Discriminator(_form)
]
"""One value for all columns, or a mapping from columns to values."""

Bandwidth = Annotated[float, Field(ge=1e-6, le=1e6)]
"""Others are slips of the pen: distances are between 0 and 1."""


class _Places(Declaration):
    """Base: values that may differ by column."""

    def _of(self, given: object, column: str, default: Any) -> Any:
        return given.get(column, default) if isinstance(given, Mapping) else given


class Kernel(_Places):
    """Estimated from the source: whoever is nearer than the bandwidth counts, the nearer the more.

    Attributes:
        bandwidth: of all columns, or by column; columns that are not named have the default.
    """

    default: ClassVar[float] = 0.3

    tags: ClassVar = {"bandwidth": 1}
    bandwidth: ByColumn[Bandwidth] = default

    def bandwidth_of(self, column: str) -> float:
        """Distances from 0 to 1 that are as large as this, or larger, count nothing."""
        return float(self._of(self.bandwidth, column, self.default))

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        yield from _unknown("bandwidth", self.bandwidth, columns)


class Cells(_Places):
    """Estimated from the source: shares of the sensitive values in every cell of a coarse grid.

    Attributes:
        intervals: numbers and dates: into how many parts of equal width their span is divided.
        levels: hierarchies: the level that distinguishes values; 0 are the values themselves.
        pseudo_records: records with the distribution of the whole that are added to every cell.
    """

    default_intervals: ClassVar[int] = 5
    default_level: ClassVar[int] = 1

    tags: ClassVar = {"intervals": 1, "levels": 1}
    intervals: ByColumn[Annotated[int, Field(ge=1, le=10_000)]] = default_intervals
    levels: ByColumn[Annotated[int, Field(ge=0, le=1000)]] = default_level
    pseudo_records: Annotated[float, Field(ge=0, le=1e9)] = 1.0

    def intervals_of(self, column: str) -> int:
        return int(self._of(self.intervals, column, self.default_intervals))

    def level_of(self, column: str) -> int:
        return int(self._of(self.levels, column, self.default_level))

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        yield from _unknown("intervals", self.intervals, columns)
        yield from _unknown("levels", self.levels, columns)
        keys = (("intervals", self.intervals, False), ("levels", self.levels, True))
        for key, given, treed in keys:
            for name in given if isinstance(given, Mapping) else ():
                column = columns.get(name)
                if column is None or column.role != "quasi_identifying":
                    continue
                if (column.hierarchy is not None) is not treed:
                    has, use = ("has a", "levels") if not treed else ("has no", "intervals")
                    yield Refusal((key, name), f"column {show(name)} {has} hierarchy", f"use {use}")
                elif not treed and column.type == "categorical":
                    yield Refusal(
                        (key, name),
                        f"column {show(name)} is categorical: its values have no order",
                        "leave it out; its values are told apart, or by levels of a hierarchy",
                    )


def _unknown(key: str, given: object, columns: Columns) -> Iterable[Refusal]:
    """Names that are not quasi-identifiers of the policy."""
    names = [name for name, c in columns.items() if c is None or c.role == "quasi_identifying"]
    for name in given if isinstance(given, Mapping) else ():
        if name not in names:
            message = f"{show(name)} is not a quasi-identifying column"
            yield Refusal((key, name), message, nearest(name, names))


class Knowledge(OneKey):
    """Where priors come from: exactly one of these says it.

    Attributes:
        relation: a table or view with the quasi-identifiers and the sensitive column under their
            names in the source, and a column `probability`.
    """

    kernel: Kernel | None = None
    relation: RelationName | None = None
    cells: Cells | None = None

    @property
    def source(self) -> str:
        """Which of them it is."""
        return next(name for name, value in self if value is not None)

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        """Refusals of what does not fit the columns of the policy; places are relative."""
        for key, given in (("kernel", self.kernel), ("cells", self.cells)):
            if given is not None:
                yield from (refusal.below(key) for refusal in given.refusals(columns))
        taken = columns.get(PROBABILITY)
        if self.relation is None or taken is None:
            return
        if taken.role in ("quasi_identifying", "sensitive"):
            yield Refusal(
                ("relation",),
                f"its column {show(PROBABILITY)} would be both the probability and a column of the"
                " policy",
                "read the source through a view that calls the column otherwise",
            )
