"""The methods that a policy can name."""

from __future__ import annotations

from pganon.forms.buckets import anatomized
from pganon.forms.class_description import CLASSES
from pganon.forms.clusters import CLUSTERS
from pganon.forms.individuals import IDENTITY
from pganon.methods import anatomy, identity, msb, qs, slamsa, slicing, sloms
from pganon.methods.base import Method
from pganon.methods.mondrian import partition_steps as mondrian_steps
from pganon.spec.model import ReleaseSpec

_MSB = anatomized(msb.arrangement, groups="groups")
_SLICING = anatomized(slicing.arrangement, groups="buckets", settled=slicing.settled)
_SLAMSA = anatomized(slamsa.arrangement, groups="buckets", settled=slamsa.settled)
_SLOMS = anatomized(sloms.arrangement, groups="classes", settled=sloms.settled)
_ANATOMY = anatomized(
    anatomy.arrangement, groups="groups", buckets=anatomy.BUCKETS, warnings=anatomy.warnings
)

METHODS = {
    method.name: method
    for method in (
        Method("mondrian", CLASSES, mondrian_steps, lambda spec: {"cut_rounds": 1}),
        Method("danonyir", IDENTITY, identity.danonyir, identity.assumed),
        Method("geneir", identity.LABELLED, identity.geneir, identity.assumed),
        Method("qs_greedy", CLUSTERS, qs.greedy_steps, qs.assumed),
        Method("qs_efficient", CLUSTERS, qs.efficient_steps, qs.assumed),
        Method("anatomy", _ANATOMY, anatomy.partition_steps, anatomy.assumed),
        Method("msb", _MSB, msb.partition_steps, msb.assumed),
        Method("slicing", _SLICING, slicing.partition_steps, slicing.assumed),
        Method("slamsa", _SLAMSA, slamsa.partition_steps, slamsa.assumed),
        Method("sloms", _SLOMS, sloms.partition_steps, sloms.assumed),
    )
}


def method_of(spec: ReleaseSpec) -> Method:
    return METHODS[spec.policy.method.name]
