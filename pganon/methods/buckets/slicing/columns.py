"""The columns that attributes are divided among in classical slicing."""

from __future__ import annotations

from pganon.encode.work import CODED
from pganon.methods.buckets.slicing.context import SlicingContext
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.association import association, matrix
from pganon.methods.common.association.columns import quasi_columns, sensitive_columns
from pganon.methods.common.bucket_options import most_tables
from pganon.methods.common.search.clustering import clustered, sensitive_column
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Check, State, Step
from pganon.steps.facts import label, or_null

_ASSOCIATION = or_null(label("association"))
"""The association matrix of the quasi-identifiers and the sensitive attribute, which is the last.
"""

Columns = tuple[list[list[int]], list[int]]
"""Quasi-identifiers of every column, and those beside the sensitive attribute."""


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """The tables of a release; attributes are in the order of the policy until associated."""
    columns, beside = _columns(SlicingContext(spec), state.facts.get(_ASSOCIATION))
    attributes = spec.attributes
    return arranged(
        spec,
        [[attributes[i] for i in column] for column in columns],
        [spec.sensitive],
        sliced=True,
        beside=[attributes[i] for i in beside],
    )


def _columns(context: SlicingContext, observed: str | None) -> Columns:
    options, last = context.options, len(context.axes)
    if isinstance(options.columns, tuple):
        return _listed(context, options.columns)
    if observed is None:
        count = max(most_tables(options.columns, last + 1) - 1, 1)
        return [list(range(last))[i::count] for i in range(count)], []
    values = matrix(observed, last + 1)
    if options.alpha is None:
        return _split(
            [list(c) for c in clustered(values, options.columns, options.clustering)], last
        )
    beside = list(sensitive_column(values[last][:last], options.alpha))
    rest = [i for i in range(last) if i not in beside]
    inner = [[values[i][j] for j in rest] for i in rest]
    count = options.columns if options.columns == "auto" else min(options.columns - 1, len(rest))
    clusters = clustered(inner, count, options.clustering)
    return [[rest[i] for i in cluster] for cluster in clusters], beside


def _listed(context: SlicingContext, columns: tuple[tuple[str, ...], ...]) -> Columns:
    names = [axis.attribute.column.name for axis in context.axes]
    names.append(context.sensitive.column.name)
    return _split([[names.index(name) for name in column] for column in columns], len(context.axes))


def _split(clusters: list[list[int]], last: int) -> Columns:
    """The clusters of quasi-identifiers alone, and the one with the sensitive attribute."""
    (held,) = [cluster for cluster in clusters if last in cluster]
    return [c for c in clusters if c is not held], [i for i in held if i != last]


def static_columns(spec: ReleaseSpec) -> bool:
    """Whether the policy alone decides the columns of the attributes."""
    return isinstance(SlicingContext(spec).options.columns, tuple)


def column_steps(context: SlicingContext) -> list[Step]:
    """The step that observes associations, where the policy does not list the columns."""
    spec = context.spec
    if static_columns(spec):
        return []
    return [
        Check(
            "association",
            "how much attributes have to do with each other",
            lambda s: association(
                s.work(CODED),
                [*quasi_columns(spec, s), *sensitive_columns(spec)],
                context.options.association,
            ),
            gives=[_ASSOCIATION],
        )
    ]
