"""Evidence of a release of local groups and buckets.

Records of a group look the same. Of a column that some hide it is about those who show it; what
the others have is in buckets, whose values are those of a sensitive column.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.forms.form import Relations
from pganon.forms.work import GROUP_SIZES
from pganon.methods.common.form.recode import EXTENTS
from pganon.methods.local.form.layout import forms, is_generalized
from pganon.methods.local.form.verification import histogram
from pganon.methods.local.form.whole import PARTS
from pganon.methods.local.metrics import relations
from pganon.metrics.evidence.classes import Groups, evidence_of
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import State


def _sizes(spec: ReleaseSpec, state: State, tables: Relations) -> exp.Select:
    return query("select count(*) as n from records as r group by r.group_id", dict(tables))


def _extents(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Select:
    return query(
        "select e.* from e join d on d.group_id = e.class_id join f on f.display = d.display"
        " where :shown",
        {"e": state.work(EXTENTS), "d": state.work(GROUP_SIZES), "f": forms(state)},
        shown=is_generalized(axis.attribute, col("form", "f")),
    )


EVIDENCE = evidence_of(
    Groups(lambda spec, tables: relations.shown(spec, PARTS, tables), _sizes, _extents), histogram
)
