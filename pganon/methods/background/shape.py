"""What of a release the steps against background knowledge look at.

cell_clusters   (codes, cluster, h)       the cluster of every combination of codes, and its place
                                          along the Hilbert curve
cluster_values  (cluster, value, n)       records per sensitive value
kept            (cluster, value, n)       how many of them stay
placed          (rid, codes, s<j>, cluster, place)   the records that stay; places count along the
                                          curve, from 1, in every cluster
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pganon.encode.work import sensitive_values
from pganon.identifiers import QualifiedName
from pganon.methods.background.options import Background, BetaPrimacy, Primacy
from pganon.methods.shape import MethodShape
from pganon.privacy.base import Model
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.privacy.likeness import BetaLikeness, TCloseness
from pganon.search.background import limits
from pganon.sqltools import query
from pganon.steps import State


@dataclass(frozen=True)
class Shape(MethodShape[Background]):
    kind = Background

    @property
    def k(self) -> int:
        return self.spec.minimum_size

    @cached_property
    def closeness(self) -> BetaLikeness | TCloseness:
        """What the sensitive values of a class must satisfy."""
        (found,) = [m for m in self._models if isinstance(m, BetaLikeness | TCloseness)]
        return found

    @property
    def model(self) -> limits.Model:
        """The same for searches."""
        measured = self.closeness
        if isinstance(measured, BetaLikeness):
            return limits.Likeness(measured.beta, measured.variant)
        return limits.Closeness(measured.t, measured.distance == "ordered")

    @property
    def trims(self) -> bool:
        """Whether clusters that cannot stay whole stay in part."""
        options = self.options
        return isinstance(options, BetaPrimacy | Primacy) and options.lemma2 == "trim"

    @cached_property
    def knowledge(self) -> BackgroundKnowledge | None:
        """What is known, where it makes a difference: all priors are within 1 of each other."""
        for model in self._models:
            if isinstance(model, BackgroundKnowledge) and model.j < 1:
                return model
        return None

    @property
    def _models(self) -> list[Model]:
        return [requirement.model for requirement in self.spec.requirements]

    def placed(self, state: State) -> QualifiedName:
        return state.work("placed")


def source_counts(shape: Shape, state: State) -> exp.Select:
    """SELECT one row with `source`: records of the source by the code of their sensitive value."""
    return query(
        "select array_agg(d.n order by d.code) as source from d",
        {"d": state.work(sensitive_values(shape.sensitive.index))},
    )
