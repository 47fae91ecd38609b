"""How the people of a release of local groups are linked to hidden values."""

from __future__ import annotations

from pganon.forms.form import Tables
from pganon.forms.linked import Linked, LinkedColumn
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.form.staging import RECORDS
from pganon.methods.local.form.verification import histogram
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import State


def linked_by(spec: ReleaseSpec) -> list[str]:
    """Steps, among the last ones of staging, that make what histograms are made from."""
    return [RECORDS] if Layout(spec).single else []


def linked(spec: ReleaseSpec, state: State, tables: Tables) -> Linked:
    """By groups and by the buckets of every column, or by groups alone where those are single."""
    columns = []
    for item in spec.sensitive:
        (link,), counted = histogram(spec, state, tables, item)
        found = query(
            "select :link as link, h.value, h.n from h", {"h": counted}, link=col(link, "h")
        )
        columns.append(LinkedColumn(item.column.name, link, found))
    links = dict.fromkeys([GROUP_ID, *[column.link for column in columns]])
    return Linked(tuple(links), tuple(columns))
