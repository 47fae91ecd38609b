"""Which sensitive columns share a table, and whether tables may have buckets of their own.

The association matrix of the sensitive columns is observed where the policy does not list the
tables; which columns are together follows from it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

from sqlglot import exp

from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.common.association import association, dependencies, matrix, sensitive_columns
from pganon.methods.common.bucket_options import Divided, Tables, most_tables
from pganon.methods.common.search.clustering import How, clustered
from pganon.resolved.model import Attribute, ReleaseSpec, Scale, Sensitive
from pganon.sqltools import named, query, scalar, text
from pganon.steps import Check, State, Step
from pganon.steps.facts import label, or_null

Clusters = tuple[tuple[int, ...], ...]
Item = TypeVar("Item", bound=Sensitive | Attribute)

_ASSOCIATION = or_null(label("association"))
"""The association matrix of the sensitive columns, of :mod:`pganon.methods.common.association`."""

MEASURE = "contingency"
"""The measure that `link_threshold` is about."""


def divided(
    tables: Tables, items: Sequence[Item], linkage: str | None, clustering: How
) -> list[list[Item]]:
    """Columns by table.

    Args:
        linkage: the association matrix; before it is known, tables are of any columns.
    """
    if isinstance(tables, tuple):
        by_name = {item.column.name: item for item in items}
        return [[by_name[name] for name in names] for names in tables]
    if linkage is not None:
        clusters = _clusters(linkage, len(items), tables, clustering)
        return [[items[i] for i in cluster] for cluster in clusters]
    count = most_tables(tables, len(items))
    return [list(items[i::count]) for i in range(count)]


@lru_cache(maxsize=64)
def _clusters(linkage: str, size: int, tables: int | Literal["auto"], clustering: How) -> Clusters:
    """Steps ask for the arrangement again and again; it follows from the same fact each time."""
    return clustered(matrix(linkage, size), tables, clustering)


def undecided(tables: Tables, columns: int) -> bool:
    """Whether association decides which of so many columns are together."""
    return not isinstance(tables, tuple) and tables not in (1, columns) and columns > 1


def sensitive_tables(spec: ReleaseSpec, state: State) -> list[list[Sensitive]]:
    """The sensitive columns by table."""
    options = _options(spec)
    tables = options.tables(len(spec.sensitive))
    return divided(tables, spec.sensitive, state.facts.get(_ASSOCIATION), options.clustering)


def sensitive_static(spec: ReleaseSpec) -> bool:
    """Whether the policy alone says which sensitive columns are together."""
    return not undecided(_options(spec).tables(len(spec.sensitive)), len(spec.sensitive))


def division_steps(spec: ReleaseSpec, *, independent: bool, hint: str) -> list[Step]:
    """Observe the association, and hold it against the limit of independent tables.

    Args:
        independent: whether tables have buckets of their own.
        hint: how to link the tables otherwise, for the refusal.
    """
    options, count = _options(spec), len(spec.sensitive)
    steps: list[Step] = []
    if not sensitive_static(spec):
        steps.append(
            Check(
                "association",
                "how much sensitive columns have to do with each other",
                lambda s: association(s.work(CODED), sensitive_columns(spec), options.association),
                gives=[_ASSOCIATION],
            )
        )
    if independent and count > 1 and most_tables(options.tables(count), count) > 1:
        steps.append(
            Check(
                "linkable",
                "whether columns of different tables tell of each other",
                lambda s: _linkage(spec, s),
                lambda row, state: _associated(spec, row, state, hint),
                gives=[label("dependencies"), label("linkage")],
            )
        )
    return steps


def _options(spec: ReleaseSpec) -> Divided:
    options = spec.policy.method
    assert isinstance(options, Divided)
    return options


def _linkage(spec: ReleaseSpec, state: State) -> exp.Select:
    """Dependencies, and corrected V as `linkage`, whichever measure divides the columns."""
    records, columns = state.work(CODED), sensitive_columns(spec)
    tree = query("select d.dependencies from d", {"d": dependencies(records, columns)})
    if not sensitive_static(spec) and _options(spec).association == MEASURE:
        return tree.select(named(text(state[_ASSOCIATION] or ""), "linkage"))
    return tree.select(named(scalar(association(records, columns, MEASURE)), "linkage"))


def _associated(
    spec: ReleaseSpec, row: Mapping[str, Any], state: State, hint: str
) -> PganonError | None:
    """Columns of different tables that are associated: buckets of their own would link them."""
    items, limit = spec.sensitive, _options(spec).link_threshold
    values = matrix(row["linkage"], len(items))
    determined = matrix(row["dependencies"], len(items))
    tables = sensitive_tables(spec, state)
    place = {item.index: number for number, table in enumerate(tables) for item in table}
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
    strengths = (
        "one determines the other" if determined[i][j] else f"V = {values[i][j]:.4g} > {limit:g}"
    )
    return PrivacyRefusal(
        f"independent linking refused: columns {names} are associated ({strengths}); who knows"
        " which of their values go together learns more than 1/l from their separate buckets",
        model="slicing_l_diversity",
        required=limit,
        observed=strongest,
        hint=hint,
        code=ErrorCode.ASSOCIATED,
    )


def mixed_scales(association: str, compared: Iterable[list[bool]]) -> list[str]:
    """A warning where `pearson` decides which of numbers and categories are together.

    The measures are |r| of two numbers, the correlation ratio of a number and a category, and V of
    two categories. All are in [0, 1], but equal values of two of them are not equally strong.

    Args:
        compared: for each set of columns that are clustered, whether each is a number.
    """
    if association != "pearson" or all(len(set(scales)) < 2 for scales in compared):
        return []
    return [
        "association: pearson measures numbers and categories on scales that are not the same;"
        " check which columns are together, or use contingency"
    ]


def quasi_scales(spec: ReleaseSpec) -> list[bool]:
    """Whether each quasi-identifier is measured as a number."""
    return [attribute.scale is Scale.ORDERED for attribute in spec.attributes]


def sensitive_scales(spec: ReleaseSpec) -> list[bool]:
    """Whether each sensitive column is measured as a number."""
    return [item.column.is_number or item.column.is_time for item in spec.sensitive]
