"""Records of a release with their individuals, and the people of its classes."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.elements import value_key
from pganon.forms.form import Relations
from pganon.methods.common.form.class_description import DESCRIPTION
from pganon.metrics.evidence.classes import described, evidence_of
from pganon.metrics.evidence.people import Individuals
from pganon.policy.options import CLASS_ID
from pganon.privacy.identity import histogram
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import query
from pganon.steps import State


def records(spec: ReleaseSpec, tables: Relations) -> exp.Select:
    """SELECT (class_id, individual, value), one row per published record."""
    (item,) = spec.sensitive
    return query(
        "select r.class_id, r.individual_no as individual, :value as value from records as r",
        dict(tables),
        value=value_key(item, "r"),
    )


def _holders(
    spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
) -> tuple[list[str], exp.Select]:
    """Individuals of every class who have a value."""
    return [CLASS_ID], histogram("holders", records(spec, tables), CLASS_ID)


def _people(spec: ReleaseSpec, tables: Relations) -> exp.Select:
    return query(
        "select r.class_id, count(distinct r.individual_no) as total from records as r"
        " group by r.class_id",
        dict(tables),
    )


def _held(spec: ReleaseSpec, tables: Relations, item: Sensitive) -> exp.Select:
    return query("select r.individual as person, r.value from r", {"r": records(spec, tables)})


EVIDENCE = evidence_of(described(DESCRIPTION), _holders, Individuals(_people, _held))
"""That of classes, of which everybody is counted once."""
