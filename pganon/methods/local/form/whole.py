"""Figures of a release that grows, from the relations of all its increments.

What naive Bayes infers is not among them: it is compared with the values that people hide, and
those of earlier increments may have others by now. Which columns share buckets is said of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.forms.elements import attribute_columns
from pganon.forms.facts import SUPPRESSED
from pganon.forms.form import Relations, Whole
from pganon.identifiers import QualifiedName
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.form.staging import GROUPS, RECORDS, part_of
from pganon.methods.local.form.statistics import (
    LocalUtility,
    bucket_check,
    described,
    form_of,
    loss_facts,
    losses_of,
)
from pganon.methods.local.local_names import bucket_column, form_column
from pganon.methods.local.metrics import relations
from pganon.methods.local.metrics.relations import Parts
from pganon.metrics.loss import known_loss
from pganon.policy.options import COUNT, GROUP_ID
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, named, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import Facts

PARTS = Parts(GROUPS, RECORDS, part_of)


def _columns(spec: ReleaseSpec, state: State) -> dict[str, list[str]]:
    hidden = [item for item in spec.sensitive if item.hidden is not None]
    forms = [form_column(item.published) for item in hidden]
    shown = [column.name for a in spec.attributes for column in attribute_columns(a)]
    return {
        GROUPS: [GROUP_ID, *forms, *shown],
        RECORDS: [GROUP_ID, *[bucket_column(item.published) for item in spec.sensitive]],
        **{
            part_of(item): [bucket_column(item.published), item.published, COUNT]
            for item in spec.sensitive
        },
    }


def _measures(
    spec: ReleaseSpec,
    tables: Callable[[State], Relations],
    lost: Callable[[State], QualifiedName],
) -> Sequence[Step]:
    attributes = axes(spec.attributes)
    loss = Check(
        "utility",
        "loss and sizes of the groups of the whole version",
        lambda s: losses_of(attributes, _groups(spec, tables(s), lost(s)), known_loss, s),
        gives=loss_facts(attributes),
    )
    return [loss, *[bucket_check(item, tables) for item in spec.sensitive]]


def _groups(spec: ReleaseSpec, tables: Relations, lost: QualifiedName) -> exp.Select:
    """SELECT of `lost`, with what the groups show of columns that some records hide."""
    layout = Layout(spec)
    tree = query(
        "select l.* from l join g on g.group_id = l.group_id", {"l": lost, "g": tables[GROUPS]}
    )
    for axis in axes(spec.attributes):
        item = layout.hiding(axis.attribute)
        if item is not None:
            tree = tree.select(named(col(form_column(item.published), "g"), form_of(axis)))
    return tree


def utility(spec: ReleaseSpec, facts: Facts) -> LocalUtility:
    """Who is permanently suppressed counts as if they hid nothing: what they hid is not kept."""
    return described(spec, facts, facts[SUPPRESSED] * len(spec.attributes))


WHOLE = Whole(
    columns=_columns,
    shown=lambda spec, tables: relations.shown(spec, PARTS, tables),
    measures=_measures,
    utility=utility,
)
