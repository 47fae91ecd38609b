"""Which columns are in a table together, and whether tables may have buckets of their own.

Facts `association` and `quasi_association` are the association matrices of the sensitive columns
and of the quasi-identifiers. They are observed where the policy does not list the tables; the
arrangement of a run follows from them alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sqlglot import exp

from pganon.encode.association import association, dependencies, matrix
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.arrangement import Arrangement, arranged
from pganon.methods.associated import quasi_columns, sensitive_columns
from pganon.methods.slamsa.shape import Shape
from pganon.plan.sqltools import named, query, text
from pganon.plan.steps import Check, State, Step
from pganon.policy.anatomized import Tables, most_tables
from pganon.search.attributes import clustered
from pganon.spec.model import Attribute, ReleaseSpec, Sensitive

Item = TypeVar("Item", Sensitive, Attribute)

SENSITIVE, QUASI = "association", "quasi_association"
MEASURE = "contingency"
"""The measure that `link_threshold` is about."""


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """Before the associations are known: columns in the order of the policy."""
    shape = Shape(spec)
    options = shape.options
    sensitive = spec.sensitive
    tables = _divided(options.tables(len(sensitive)), sensitive, state.facts.get(SENSITIVE), shape)
    quasi = _divided(options.quasi_tables, spec.attributes, state.facts.get(QUASI), shape)
    return arranged(
        spec,
        quasi,
        tables,
        sliced=options.quasi_tables != 1,
        aligned=shape.aligned,
    )


def _divided(
    tables: Tables, items: Sequence[Item], found: object, shape: Shape
) -> list[list[Item]]:
    if isinstance(tables, tuple):
        by_name = {item.column.name: item for item in items}
        return [[by_name[name] for name in names] for names in tables]
    if isinstance(found, str):
        clusters = clustered(matrix(found, len(items)), tables, shape.options.clustering)
        return [[items[i] for i in cluster] for cluster in clusters]
    count = most_tables(tables, len(items))
    return [list(items[i::count]) for i in range(count)]


def settled(spec: ReleaseSpec) -> bool:
    """Whether the policy alone says which columns are together."""
    options = Shape(spec).options
    return not _divides(Shape(spec)) and not _open(options.quasi_tables, len(spec.attributes))


def _open(tables: Tables, columns: int) -> bool:
    """Whether association decides which columns are together."""
    return not isinstance(tables, tuple) and tables not in (1, columns) and columns > 1


def _divides(shape: Shape) -> bool:
    """Whether association decides which sensitive columns are together."""
    columns = len(shape.spec.sensitive)
    return _open(shape.options.tables(columns), columns)


def column_steps(shape: Shape) -> list[Step]:
    spec, options = shape.spec, shape.options
    steps: list[Step] = []
    if _divides(shape):
        steps.append(
            Check(
                "association",
                "how much sensitive columns have to do with each other",
                lambda s: association(
                    s.work("coded"), sensitive_columns(spec), options.association
                ),
            )
        )
    if _open(options.quasi_tables, len(spec.attributes)):
        steps.append(
            Check(
                "quasi_association",
                "how much quasi-identifiers have to do with each other",
                lambda s: query(
                    "select a.association as quasi_association from a",
                    {
                        "a": association(
                            s.work("coded"), quasi_columns(spec, s), options.association
                        )
                    },
                ),
            )
        )
    if _gated(shape):
        steps.append(
            Check(
                "linkable",
                "whether columns of different tables tell of each other",
                lambda s: _linkage(shape, s),
                lambda row, state: _associated(shape, row, state),
            )
        )
    return steps


def _gated(shape: Shape) -> bool:
    return not shape.aligned and len(shape.spec.sensitive) > 1 and shape.most_tables > 1


def _linkage(shape: Shape, state: State) -> exp.Select:
    """Dependencies, and corrected V as `linkage`, whichever measure divides the columns."""
    records, columns = state.work("coded"), sensitive_columns(shape.spec)
    found = query("select d.dependencies from d", {"d": dependencies(records, columns)})
    if _divides(shape) and shape.options.association == MEASURE:
        return found.select(named(text(str(state.facts[SENSITIVE])), "linkage"))
    return found.select(named(association(records, columns, MEASURE).subquery(), "linkage"))


def _associated(shape: Shape, row: Mapping[str, Any], state: State) -> PganonError | None:
    """Columns of different tables that are associated: buckets of their own would link them."""
    items, limit = shape.spec.sensitive, shape.options.link_threshold
    values = matrix(row["linkage"], len(items))
    determined = matrix(row["dependencies"], len(items))
    tables = arrangement(shape.spec, state).sensitive
    place = {item.index: number for number, table in enumerate(tables) for item in table.sensitive}
    pairs = [
        (max(values[i][j], determined[i][j]), i, j)
        for i in range(len(items))
        for j in range(i)
        if place[i] != place[j]
    ]
    strongest, i, j = max(pairs, default=(0.0, 0, 0))
    if strongest <= limit:
        return None
    names = " and ".join(quote(items[k].published) for k in sorted((i, j)))
    known = (
        "one determines the other" if determined[i][j] else f"V = {values[i][j]:.4g} > {limit:g}"
    )
    return PrivacyRefusal(
        f"independent linking refused: columns {names} are associated ({known}); who knows which"
        " of their values go together learns more than 1/l from their separate buckets",
        model="slicing_l_diversity",
        required=limit,
        observed=strongest,
        hint="use profile: aligned, or list them in one of sensitive_tables",
        code="associated",
    )
