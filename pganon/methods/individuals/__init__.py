"""The methods that keep the records of an individual together: which steps they add to a plan.

Wang, Du, Luo and Li: Two privacy-preserving approaches for data publishing with identity
reservation, Knowledge and Information Systems 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pganon.encode.codes import all_records
from pganon.encode.work import CODED
from pganon.forms.work import CLASSED, GROUPED, INDIVIDUALS
from pganon.methods.common.base import Method
from pganon.methods.common.suppression import suppressed_check
from pganon.methods.individuals.context import IdentityContext
from pganon.methods.individuals.danonyir import danonyir_steps
from pganon.methods.individuals.form import IDENTITY, staging_steps
from pganon.methods.individuals.geneir import SEQUENCE, geneir_steps
from pganon.methods.individuals.individuals import individual_steps
from pganon.methods.individuals.labels import class_extents
from pganon.methods.individuals.options import DAnonyIR, GeneIR
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import Scope, Step, table

LABELLED = replace(
    IDENTITY,
    staging=replace(IDENTITY.staging, steps=lambda spec: staging_steps(spec, class_extents)),
)
"""The form of identity reservation with the labels of global generalization."""


def geneir(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = IdentityContext(spec)
    return _steps(context, geneir_steps(context))


def danonyir(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = IdentityContext(spec)
    return _steps(context, danonyir_steps(context))


def _steps(context: IdentityContext, classed: Sequence[Step]) -> tuple[Step, ...]:
    """From the encoded records to the class of each, also of those that do not count.

    Args:
        classed: from the individuals to their classes.
    """
    steps = [
        *individual_steps(context),
        *classed,
        table(
            "grouped",
            "the class of every record",
            lambda s: query(
                "select k.gid, c.rid from c join i on i.individual = c.individual"
                " join k on k.rid = i.rid",
                {
                    "c": all_records(context.spec, s),
                    "i": s.work(INDIVIDUALS),
                    "k": s.work(CLASSED),
                },
            ).select(*[col(code, "c") for code in context.codes]),
            into=GROUPED,
        ),
        suppressed_check(
            context.spec,
            lambda s: query(
                "select c.rid from g join c on c.rid = g.rid",
                {"g": s.work(GROUPED), "c": s.work(CODED)},
            ),
        ),
    ]
    kept = [INDIVIDUALS, CLASSED, GROUPED, SEQUENCE]
    return (Scope("what the classes were made from", steps, keeps=kept),)


DANONYIR = Method(DAnonyIR, IDENTITY, danonyir)
GENEIR = Method(GeneIR, LABELLED, geneir)
