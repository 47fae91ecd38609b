"""What of a release the steps of anatomy look at."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.encode.records import DRAW
from pganon.methods.eligible import Eligibility, Frequency
from pganon.methods.forms.anatomized.staged import record_columns
from pganon.methods.shape import MethodShape
from pganon.policy.anatomized import Anatomy
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import AnatomyLDiversity


@dataclass(frozen=True)
class Shape(MethodShape[Anatomy]):
    kind = Anatomy

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
    def block_size(self) -> int:
        return self.options.block_size

    @property
    def division(self) -> str:
        return self.options.division

    @property
    def eligibility(self) -> Eligibility:
        frequency = Frequency(self.value, (self.sensitive.index,), self.model.l)
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work("coded"),
            keep=lambda s: self.carried,
            conditions=lambda s: [frequency],
            model=self.model.name,
            order=DRAW,
        )

    @property
    def carried(self) -> list[str]:
        """Columns of `coded` that are read from here on, beside the random order."""
        return [*record_columns(self.spec), self.value]
