"""The values below labels that a release shows, where a policy publishes them.

    <release>_labels   (column_name, label, value)

They are what the hierarchies of the policy say, whether or not a record of the source has them. So
readers learn nothing of the source beyond what a list says that was made from it.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.form import Tables
from pganon.hierarchies import listed_leaves
from pganon.policy.options import LABELS
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import col, named, query, render, text, union_all
from pganon.steps import State, Step, staged
from pganon.steps.relations import PublishedView, ViewColumn

_COLUMNS = ("column_name", "label", "value")


def label_steps(spec: ReleaseSpec) -> list[Step]:
    """Once `classes` are staged."""
    if not spec.labelled:
        return []
    return [
        staged(
            LABELS,
            "values below the labels of the release, as hierarchies list them",
            lambda s: union_all([_of_column(spec, s, item) for item in spec.labelled]),
        )
    ]


def _of_column(spec: ReleaseSpec, state: State, attribute: Attribute) -> exp.Select:
    """Rows of one column; a label that is a value itself has that value below it."""
    i = next(i for i, item in enumerate(spec.attributes) if item is attribute)
    shown = query(
        "select distinct :v as label from c", {"c": state.stage("classes")},
        v=col(attribute.published, "c"),
    )  # fmt: skip
    return query(
        "select distinct :name as column_name, s.label, p.path[1] as value"
        " from s join p on s.label = any(p.path) order by 1, 2, 3",
        {"s": shown, "p": listed_leaves(str(i))(state)},
        name=text(attribute.published),
    )


def label_views(spec: ReleaseSpec, tables: Tables) -> list[PublishedView]:
    if not spec.labelled:
        return []
    tree = query("select 1 from labels as l", dict(tables))
    tree = tree.select(*[named(col(name, "l"), name) for name in _COLUMNS], append=False)
    return [
        PublishedView(
            name=spec.view_of(LABELS),
            select=render(tree),
            columns=(
                ViewColumn("column_name", "text", "Column of the release."),
                ViewColumn("label", "text", "Label that the column shows."),
                ViewColumn("value", "text", "Value below the label.", "below"),
            ),
            comment=f"The values below the labels of {spec.view}, as the hierarchies list them.",
        )
    ]
