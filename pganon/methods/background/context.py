"""Parts of a release that the steps against background knowledge read.

cell_clusters   (codes, cluster, h)       the cluster of every combination of codes, and its place
                                          along the Hilbert curve
cluster_values  (cluster, value, n)       records per sensitive value
kept            (cluster, value, n)       how many of them stay
placed          (rid, codes, s<j>, cluster, place)   the records that stay; places count along the
                                          curve, from 1, in every cluster
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pganon.encode.first import first_of
from pganon.encode.work import sensitive_values
from pganon.identifiers import QualifiedName
from pganon.methods.background.options import Background
from pganon.methods.background.search import limits
from pganon.methods.common.block_search import Given
from pganon.methods.common.context import MethodContext
from pganon.privacy.base import Model
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.privacy.likeness import BetaLikeness, TCloseness
from pganon.sqltools import col, fragment, named, query
from pganon.steps import State


@dataclass(frozen=True)
class Context(MethodContext[Background]):
    kind = Background

    @property
    def k(self) -> int:
        return self.spec.minimum_size

    @cached_property
    def closeness(self) -> BetaLikeness | TCloseness:
        """Model that the sensitive values of a class must satisfy."""
        (model,) = [m for m in self._models if isinstance(m, BetaLikeness | TCloseness)]
        return model

    @property
    def model(self) -> limits.Likeness | limits.Closeness:
        """The same for searches."""
        measured = self.closeness
        if isinstance(measured, BetaLikeness):
            return limits.Likeness(measured.beta, measured.variant)
        return limits.Closeness(measured.t, measured.distance == "ordered")

    @cached_property
    def knowledge(self) -> BackgroundKnowledge | None:
        """The model of background knowledge, if it bounds priors: none are further apart than 1."""
        for model in self._models:
            if isinstance(model, BackgroundKnowledge) and model.j < 1:
                return model
        return None

    @property
    def _models(self) -> list[Model]:
        return [requirement.model for requirement in self.spec.requirements]

    def placed(self, state: State) -> QualifiedName:
        return state.work("placed")


def source_counts(context: Context, state: State, names: Sequence[str] | None = None) -> exp.Select:
    """SELECT one row with `source`: records of the source by the code of their sensitive value.

    Of new individuals the source is that of the first version, and `published` its release.

    Args:
        names: of these columns alone.
    """
    arrays = [
        named(fragment("array_agg(:n order by d.code)", n=col(column, "d")), name)
        for name, column in source_columns(context).items()
        if names is None or name in names
    ]
    values = {"d": state.work(sensitive_values(context.sensitive.index))}
    return query("select 1 from d", values).select(*arrays, append=False)


def source_columns(context: Context) -> dict[str, str]:
    """Columns of what it selects, and those of the table of values that they are from."""
    if first_of(context.spec, context.sensitive) is None:
        return {"source": "n"}
    return {"source": "source_n", "published": "published_n"}


def model_against(context: Context, given: Given) -> limits.Model:
    """The closeness for searches, given what :func:`source_counts` selects."""
    if given.get("published") is None:
        return context.model
    return limits.Fixed.to(context.model, given["source"], given["published"])
