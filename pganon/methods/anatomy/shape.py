"""What of a release the steps of anatomy look at."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.encode.axis import Axis, axes
from pganon.methods.eligible import Eligibility, Frequency
from pganon.policy.anatomized import Anatomy
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.spec.model import ReleaseSpec, Sensitive


@dataclass(frozen=True)
class Shape:
    spec: ReleaseSpec

    @property
    def axes(self) -> tuple[Axis, ...]:
        return axes(self.spec.attributes)

    @property
    def codes(self) -> list[str]:
        return [axis.code for axis in self.axes]

    @property
    def requirement(self) -> Requirement:
        (requirement,) = self.spec.requirements
        return requirement

    @property
    def model(self) -> AnatomyLDiversity:
        model = self.requirement.model
        assert isinstance(model, AnatomyLDiversity)
        return model

    @property
    def options(self) -> Anatomy:
        options = self.spec.policy.method
        assert isinstance(options, Anatomy)
        return options

    @property
    def block_size(self) -> int:
        return self.options.block_size

    @property
    def division(self) -> str:
        return self.options.division

    @property
    def sensitive(self) -> Sensitive:
        (item,) = self.spec.sensitive
        return item

    @property
    def eligibility(self) -> Eligibility:
        frequency = Frequency(self.value, (self.sensitive.index,), self.model.l)
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work("coded"),
            keep=lambda s: [*self.codes, self.value],
            conditions=lambda s: [frequency],
            model=self.model.name,
        )

    @property
    def value(self) -> str:
        """Work column with the code of the sensitive value."""
        return f"s{self.sensitive.index}"
