"""Records in the order of their quasi-identifiers, cut into runs of at least k."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.curve import numbered
from pganon.encode.facts import KEPT
from pganon.encode.work import CODED
from pganon.forms.work import GROUPED
from pganon.methods.common.base import Method
from pganon.methods.common.form.class_description import CLASSES
from pganon.methods.common.suppression import suppressed_check
from pganon.policy.options import CLASS_ID, FLAT, UNPUBLISHED, MethodOptions
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, num, query
from pganon.steps import State, Step, table


class SortedRuns(MethodOptions):
    """What a policy may say of the method, and what the rest of it must look like."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset({"k_anonymity"})
    example = "{model: k_anonymity, k: 5}"
    adds = (CLASS_ID,)
    parts = (FLAT,)
    leaves_out = False

    name: Literal["sorted_runs"]


def steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """From the encoded records, `coded`, to the class of each, `grouped`."""
    return (
        table(
            GROUPED,
            "runs of records in the order of their quasi-identifiers",
            lambda state: runs(spec, state),
        ),
        suppressed_check(spec, lambda state: state.work(GROUPED)),
    )


def runs(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT gid, codes, rid: the last run takes the records that are left."""
    codes = [axis.code for axis in axes(spec.attributes)]
    order = numbered([col(name, "c") for name in (*codes, "rid")])
    return query(
        "select least((:place - 1) / :k, greatest(:n / :k - 1, 0)) as gid, c.rid from c",
        {"c": state.work(CODED)},
        place=order,
        k=num(spec.minimum_size),
        n=num(state[KEPT]),
    ).select(*[col(name, "c") for name in codes])


METHOD = Method(SortedRuns, CLASSES, steps)
