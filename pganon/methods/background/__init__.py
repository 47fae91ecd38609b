"""Releases that hold against background knowledge: k, beta-likeness, and priors within J.

"Hierarchical anonymization algorithms against background knowledge attack in data releasing". A
reader may believe beforehand that people with some quasi-identifiers are more likely to have a
value. Records of one class have priors that are near each other, so that beliefs do not disclose
whose the values of a class are; beta-likeness bounds what the class as a whole discloses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pganon.encode.work import sensitive_values
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.forms.work import CELL_VECTORS, GROUPED, QI_CELLS, VECTOR_CLUSTERS, VECTORS
from pganon.identifiers import quote
from pganon.methods.background.baseline import reduced_steps
from pganon.methods.background.clusters import link_steps
from pganon.methods.background.context import Context
from pganon.methods.background.eligible_clusters import kept_steps
from pganon.methods.background.form import BACKGROUND, SINGLE
from pganon.methods.background.near_classes import grown_steps
from pganon.methods.background.options import (
    BetaPrimacy,
    JsReduce,
    KAgg,
    KAggMic,
    KInc,
    KIncMic,
)
from pganon.methods.background.value_buckets import drawn_steps
from pganon.methods.common.base import Method
from pganon.methods.common.suppression import suppressed_check
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query
from pganon.steps import Check, Scope, Step
from pganon.steps.facts import counts


def constant_check(context: Context) -> Check:
    """Refuses a sensitive column with one value, unless the policy accepts that it is unprotected:
    who is in the release has the value, whatever its classes are."""
    return Check(
        "constant",
        "whether the sensitive column has several values",
        lambda s: query(
            "select count(*) as values from d",
            {"d": s.work(sensitive_values(context.sensitive.index))},
        ),
        lambda row, state: _refused(context, row),
        gives=counts("values", of="sensitive_"),
    )


def _refused(context: Context, row: Mapping[str, Any]) -> PrivacyRefusal | None:
    name = context.sensitive.column.name
    if row["values"] > 1 or context.spec.policy.columns[name].unprotected == "accept":
        return None
    return PrivacyRefusal(
        f"the sensitive column {quote(name)} has the same value in all records, which"
        f" {context.closeness.name} does not protect: everybody in the release has it",
        hint="leave the column out with the role identifying, or accept it with"
        " unprotected: accept",
        code=ErrorCode.CONSTANT,
    )


def drawn(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = Context(spec)
    return _checked(context, [*link_steps(context), *kept_steps(context), *drawn_steps(context)])


def grown(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = Context(spec)
    return _checked(context, [*link_steps(context), *kept_steps(context), *grown_steps(context)])


def reduced(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = Context(spec)
    return _checked(context, reduced_steps(context))


def _checked(context: Context, steps: Sequence[Step]) -> tuple[Step, ...]:
    suppressed = suppressed_check(context.spec, lambda s: s.work(GROUPED))
    kept = [GROUPED, QI_CELLS, VECTORS, CELL_VECTORS, VECTOR_CLUSTERS]
    every = [constant_check(context), *steps, suppressed]
    return (Scope("what the classes were made from", every, keeps=kept),)


BETA_PRIMACY = Method(BetaPrimacy, BACKGROUND, drawn)
KINC = Method(KInc, BACKGROUND, grown)
KAGG = Method(KAgg, BACKGROUND, grown)
KINC_MIC = Method(KIncMic, BACKGROUND, grown)
KAGG_MIC = Method(KAggMic, BACKGROUND, grown)
JS_REDUCE = Method(JsReduce, SINGLE, reduced)
