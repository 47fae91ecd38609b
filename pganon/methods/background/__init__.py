"""Releases that hold against background knowledge: k, beta-likeness, and priors within J.

"Hierarchical anonymization algorithms against background knowledge attack in data releasing". A
reader may believe beforehand that people with some quasi-identifiers are more likely to have a
value. Records of one class have priors that are near each other, so that beliefs do not tell him
whose the values of a class are; beta-likeness bounds what the class as a whole tells him.
"""

from __future__ import annotations

from collections.abc import Sequence

from pganon.forms.work import GROUPED
from pganon.methods.background.clusters import link_steps
from pganon.methods.background.constant import constant_check
from pganon.methods.background.drawn import drawn_steps
from pganon.methods.background.form import BACKGROUND, SINGLE
from pganon.methods.background.grown import grown_steps
from pganon.methods.background.kept import kept_steps
from pganon.methods.background.options import (
    BetaPrimacy,
    JsReduce,
    KAgg,
    KAggMic,
    KInc,
    KIncMic,
)
from pganon.methods.background.reduced import reduced_steps
from pganon.methods.background.shape import Shape
from pganon.methods.common.base import Method
from pganon.methods.common.suppression import suppressed_check
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Step


def drawn(spec: ReleaseSpec) -> tuple[Step, ...]:
    shape = Shape(spec)
    return _checked(shape, [*link_steps(shape), *kept_steps(shape), *drawn_steps(shape)])


def grown(spec: ReleaseSpec) -> tuple[Step, ...]:
    shape = Shape(spec)
    return _checked(shape, [*link_steps(shape), *kept_steps(shape), *grown_steps(shape)])


def reduced(spec: ReleaseSpec) -> tuple[Step, ...]:
    shape = Shape(spec)
    return _checked(shape, reduced_steps(shape))


def _checked(shape: Shape, steps: Sequence[Step]) -> tuple[Step, ...]:
    suppressed = suppressed_check(shape.spec, lambda s: s.work(GROUPED))
    return (constant_check(shape), *steps, suppressed)


BETA_PRIMACY = Method(BetaPrimacy, BACKGROUND, drawn)
KINC = Method(KInc, BACKGROUND, grown)
KAGG = Method(KAgg, BACKGROUND, grown)
KINC_MIC = Method(KIncMic, BACKGROUND, grown)
KAGG_MIC = Method(KAggMic, BACKGROUND, grown)
JS_REDUCE = Method(JsReduce, SINGLE, reduced)
