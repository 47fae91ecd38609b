"""What of a release the steps of slicing look at."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.encode.axis import Axis, axes
from pganon.policy.anatomized import Slicing
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.spec.model import ReleaseSpec, Sensitive


@dataclass(frozen=True)
class Shape:
    spec: ReleaseSpec

    @property
    def options(self) -> Slicing:
        options = self.spec.policy.method
        assert isinstance(options, Slicing)
        return options

    @property
    def axes(self) -> tuple[Axis, ...]:
        return axes(self.spec.attributes)

    @property
    def codes(self) -> list[str]:
        return [axis.code for axis in self.axes]

    @property
    def sensitive(self) -> Sensitive:
        (item,) = self.spec.sensitive
        return item

    @property
    def value(self) -> str:
        """Work column with the code of the sensitive value."""
        return f"s{self.sensitive.index}"

    @property
    def l(self) -> int:  # noqa: E743 (the field's own letter)
        models = [r.model for r in self.spec.requirements]
        return max(m.l for m in models if isinstance(m, AnatomyLDiversity))
