"""What of a release the steps of anatomy look at."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.curve import piece_of
from pganon.encode.records import DRAW, PLACE
from pganon.encode.work import CODED, sensitive_values
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.anatomy.options import Anatomy
from pganon.methods.buckets.invariance import DEALT, LEFTOVERS, InvarianceContext
from pganon.methods.common.context import MethodContext
from pganon.methods.common.eligibility import ROUNDS, Eligibility
from pganon.methods.common.form.bucket_staging import record_columns
from pganon.methods.common.suppression import RELEASED
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.sqltools import col, named, num, query
from pganon.steps import State


@dataclass(frozen=True)
class AnatomyContext(MethodContext[Anatomy]):
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
            first=lambda s: s.work(CODED),
            keep=lambda s: [PLACE, *self.carried],
            conditions=lambda s: [frequency],
            model=self.model.name,
            order=DRAW,
        )

    @property
    def carried(self) -> list[str]:
        """Columns of `coded` that are read from here on, beside the random order."""
        return [*record_columns(self.spec), self.value]

    @property
    def has_signatures(self) -> bool:
        """Whether people who were released before keep their signatures."""
        return self.spec.signatures is not None

    @property
    def invariance(self) -> InvarianceContext:
        """Each value is a vector, with the number that it has."""
        return InvarianceContext(
            spec=self.spec,
            l=self.model.l,
            records=lambda s: s.work(CODED),
            order=DRAW,
            vector=self.value,
            vectors=lambda s: query(
                "select 1 from d", {"d": s.work(sensitive_values(self.sensitive.index))}
            ).select(named(col("code", "d"), self.value), append=False),
            shown=record_columns(self.spec),
            carried=self.carried,
        )

    def trimmed(self, state: State) -> bool:
        """Whether records were left out, so that places have gaps."""
        return state[ROUNDS] > 1

    def placed(self, state: State) -> QualifiedName:
        """Records that form new groups, with their places along the curve, 1 to the number of
        them."""
        if self.has_signatures or self.trimmed(state):
            return state.work("placed")
        return self.eligibility.kept(state)

    def dealt(self, state: State) -> int:
        """Number of these records."""
        return state[DEALT] if self.has_signatures else state[RELEASED]

    def leftovers(self, state: State) -> list[QualifiedName]:
        """Tables that the blocks are made from."""
        if self.has_signatures:
            return [state.work(name) for name in LEFTOVERS]
        return self.eligibility.leftovers(state)

    def piece(self, state: State, table: str) -> exp.Expr:
        """The piece of the curve that a record is in, from 0."""
        return piece_of(col(PLACE, table), num(self.pieces(state)), num(max(self.dealt(state), 1)))

    def pieces(self, state: State) -> int:
        """A power of two: the halves of a node would else be of any size, and the whole curve be
        one block for a few records at its end."""
        wanted = self.dealt(state) // max(self.block_size, self.model.l)
        return 1 << max(wanted.bit_length() - 1, 0)
