"""What of a release the steps of anatomy look at."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.records import DRAW, PLACE
from pganon.forms.buckets.staging import record_columns
from pganon.identifiers import QualifiedName
from pganon.methods.anatomy.options import Anatomy
from pganon.methods.eligibility import Eligibility
from pganon.methods.shape import MethodShape
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.sqltools import col, fragment, num
from pganon.steps import State


@dataclass(frozen=True)
class AnatomyShape(MethodShape[Anatomy]):
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
        frequency = self.frequency(self.sensitive.index, self.model.l)
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work("coded"),
            keep=lambda s: [PLACE, *self.carried],
            conditions=lambda s: [frequency],
            model=self.model.name,
            order=DRAW,
        )

    @property
    def carried(self) -> list[str]:
        """Columns of `coded` that are read from here on, beside the random order."""
        return [*record_columns(self.spec), self.value]

    def trimmed(self, state: State) -> bool:
        """Whether records were left out, so that places have gaps."""
        return state.count("trim_rounds") > 1

    def placed(self, state: State) -> QualifiedName:
        """Released records with their places along the curve, 1 to the number of them."""
        return state.work("placed") if self.trimmed(state) else self.eligibility.kept(state)

    def piece(self, state: State, table: str) -> exp.Expr:
        """The piece of the curve that a record is in, from 0."""
        return fragment(
            "((:place - 1)::bigint * :pieces / :records)::int",
            place=col(PLACE, table),
            pieces=num(self.pieces(state)),
            records=num(state.count("released")),
        )

    def pieces(self, state: State) -> int:
        """A power of two: the halves of a node would else be of any size, and the whole curve be
        one block for a few records at its end."""
        wanted = state.count("released") // max(self.block_size, self.model.l)
        return 1 << max(wanted.bit_length() - 1, 0)
