"""The parts of a release specification that the steps of anatomy read."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.curve import piece_of
from pganon.encode.records import DRAW, PLACE
from pganon.encode.work import CODED, sensitive_values
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.anatomy.options import Anatomy
from pganon.methods.buckets.invariance import DEALT, InvarianceContext
from pganon.methods.common.context import MethodContext
from pganon.methods.common.eligibility import ROUNDS, Eligibility
from pganon.methods.common.form.grouping import record_columns
from pganon.methods.common.suppression import RELEASED
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.sqltools import col, named, num, query
from pganon.steps import State


@dataclass(frozen=True)
class AnatomyContext(MethodContext[Anatomy]):
    """A release with anatomy."""

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
        """Columns of `coded` that later steps read, beside the random order."""
        return [*record_columns(self.spec), self.value]

    @property
    def m_invariant(self) -> bool:
        """Whether the release is m-invariant: signatures of earlier versions stay the same."""
        return self.spec.signatures is not None

    @property
    def invariance(self) -> InvarianceContext:
        """Vectors are the codes of the one sensitive column."""
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
        if self.m_invariant or self.trimmed(state):
            return state.work("placed")
        return self.eligibility.kept(state)

    def dealt(self, state: State) -> int:
        """Number of the records of :meth:`placed`."""
        return state[DEALT] if self.m_invariant else state[RELEASED]

    def piece(self, state: State, table: str) -> exp.Expr:
        """The piece of the curve that a record is in, from 0."""
        return piece_of(col(PLACE, table), num(self.pieces(state)), num(max(self.dealt(state), 1)))

    def pieces(self, state: State) -> int:
        """Number of pieces, a power of two.

        Otherwise the halves of a node could be of any size, and the whole curve could be one
        block because of a few records at its end.
        """
        wanted = self.dealt(state) // max(self.block_size, self.model.l)
        return 1 << max(wanted.bit_length() - 1, 0)
