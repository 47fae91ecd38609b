"""The method `mondrian`: which steps it adds to a plan."""

from __future__ import annotations

from pganon.encode.axis import axes
from pganon.encode.sensitive import valued
from pganon.forms.class_description import CLASSES
from pganon.methods.base import Method
from pganon.methods.cells import cell_steps, enough_values
from pganon.methods.mondrian.options import Mondrian as Options
from pganon.methods.mondrian.rounds import Mondrian
from pganon.spec.model import ReleaseSpec
from pganon.steps import Step


def mondrian(spec: ReleaseSpec) -> Mondrian:
    options = spec.policy.method
    assert isinstance(options, Options)
    relaxed = options.variant == "relaxed"
    counted = [item.index for item in valued(spec) if enough_values(spec, item) is not None]
    return Mondrian(
        axes=axes(spec.attributes),
        requirements=spec.requirements,
        sensitive=tuple(item.index for item in valued(spec)),
        counted=() if relaxed else tuple(counted),
        minimum_size=spec.minimum_size,
        choose=options.choose,
        relaxed=relaxed,
    )


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    return (*cell_steps(spec), *mondrian(spec).steps())


METHOD = Method(Options, CLASSES, partition_steps)
