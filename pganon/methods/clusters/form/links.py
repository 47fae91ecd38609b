"""How the people of a release of clusters are linked to its arrays of values."""

from __future__ import annotations

from pganon.forms.elements import text_key
from pganon.forms.form import Tables
from pganon.forms.linked import Linked, LinkedColumn
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import State


def linked(spec: ReleaseSpec, state: State, tables: Tables) -> Linked:
    """By clusters. An array says which values occur, each once: of n different values among m
    records one occurs m - n + 1 times at most."""
    columns = []
    for attribute in spec.attributes:
        counted = query(
            "select c.cluster_no as link, :value as value,"
            " (:size - cardinality(:held) + 1)::bigint as n"
            " from clusters as c cross join lateral unnest(:held) as v(value)",
            dict(tables),
            value=text_key(col("value", "v")),
            size=col(SIZE, "c"),
            held=col(attribute.published, "c"),
        )
        columns.append(LinkedColumn(attribute.column.name, CLUSTER_NO, counted, exact=False))
    return Linked((CLUSTER_NO,), tuple(columns))
