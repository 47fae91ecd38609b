"""Parts of a release that the steps of any method read; methods add their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from pganon.encode.axis import Axis, axes
from pganon.methods.common.eligibility import Frequency
from pganon.policy.options import MethodOptions
from pganon.privacy.frequency import FrequencyLDiversity
from pganon.resolved.model import ReleaseSpec, Sensitive

Options = TypeVar("Options", bound=MethodOptions)


@dataclass(frozen=True)
class MethodContext(Generic[Options]):
    """A spec as a method sees it.

    Attributes:
        kind: class of the method's options.
    """

    kind: ClassVar[type[MethodOptions]] = MethodOptions

    spec: ReleaseSpec

    @property
    def options(self) -> Options:
        options = self.spec.policy.method
        assert isinstance(options, self.kind)
        return options  # pyright: ignore[reportReturnType]

    @property
    def axes(self) -> tuple[Axis, ...]:
        return axes(self.spec.attributes)

    @property
    def codes(self) -> list[str]:
        """Work columns with the codes of the attributes."""
        return [axis.code for axis in self.axes]

    @property
    def m_invariant(self) -> bool:
        """Whether the release is m-invariant: signatures of earlier versions stay the same."""
        return self.spec.signatures is not None

    @property
    def sensitive(self) -> Sensitive:
        """The sensitive column of a method that takes one."""
        (item,) = self.spec.sensitive
        return item

    @property
    def value(self) -> str:
        """Work column with the code of its value."""
        return f"s{self.sensitive.index}"

    @property
    def strictest(self) -> dict[int, int]:
        """The largest l that is asked for, by sensitive column."""
        levels: dict[int, int] = {}
        for requirement in self.spec.requirements:
            model, index = requirement.model, requirement.sensitive
            if index is not None and isinstance(model, FrequencyLDiversity):
                levels[index] = max(model.l, levels.get(index, 0))
        return levels

    def frequency(self, index: int, l: int) -> Frequency:  # noqa: E741
        """The condition that a sensitive column, by its index, has l."""
        raised = any(
            r.sensitive == index and r.given is not None and r.model.parameter == l
            for r in self.spec.requirements
        )
        return Frequency(f"s{index}", (index,), l, raised)

    @property
    def l(self) -> int:  # noqa: E743 (the field's own letter)
        """The largest l of any column."""
        return max(self.strictest.values())
