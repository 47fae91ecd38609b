"""The sensitive column that a query restricts, and its values as codes.

Where a run made no :func:`pganon.encode.work.sensitive_values`, the steps here do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.facts import null_code, value_count
from pganon.encode.sensitive import value_counts, value_facts, values_of
from pganon.encode.value_codes import valued
from pganon.encode.work import sensitive_values
from pganon.forms.request import Workload
from pganon.metrics.draws import Domain, QueriedColumn, chosen
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import fragment, num, query
from pganon.steps import Check, CreateTable, State, Step

SETS = 1000
"""Most values of a sensitive column that are asked for as sets; of more, neighbours are."""


# -- values -------------------------------------------------------------------------------------


def dictionary_steps(spec: ReleaseSpec, records: Callable[[State], exp.Select]) -> list[Step]:
    """For columns whose values no other step distinguished; `records` have them as `v<j>`."""
    others = [item for item in spec.sensitive if item not in valued(spec)]
    steps: list[Step] = [
        CreateTable(
            f"workload_values{item.index}",
            f"values of sensitive column {item.index + 1}",
            lambda s, item=item: s.work(sensitive_values(item.index)),
            lambda s, item=item: values_of(item, records(s), f"v{item.index}"),
        )
        for item in others
    ]
    if others:
        counts = lambda s: [count for item in others for count in value_counts(item, s)]  # noqa: E731
        sizes = Check(
            "workload_sizes",
            "sizes of the dictionaries",
            lambda s: exp.select(*counts(s)),
            gives=[fact for item in others for fact in value_facts(item)],
        )
        steps.append(sizes)
    return steps


# -- queries ------------------------------------------------------------------------------------


def items(spec: ReleaseSpec, workload: Workload) -> exp.Select:
    """(query, attribute): the sensitive column of every query.

    The seed is another one, so that it has nothing to do with the choice of quasi-identifiers.
    """
    count = len(spec.sensitive)
    drawn = chosen(workload.seed ^ 1, workload.queries, count, 1)
    numbers = [item.index for item in spec.sensitive]
    if numbers == list(range(count)):
        return drawn
    number = exp.Case(this=fragment("c.attribute"))
    for place, index in enumerate(numbers):
        number = number.when(num(place), num(index))
    return query("select c.query, :n as attribute from c", {"c": drawn}, n=number)


def columns(spec: ReleaseSpec, workload: Workload, state: State) -> Sequence[QueriedColumn]:
    """Axes that queries may restrict; numbered behind the quasi-identifiers."""
    return [_column(spec, item, workload, state) for item in spec.sensitive]


def _column(spec: ReleaseSpec, item: Sensitive, workload: Workload, state: State) -> QueriedColumn:
    """NULL has the last code, which is never asked for."""
    highest = state[value_count(item.index)]
    size = highest - (state[null_code(item.index)] > 0)
    values = query(
        "select d.code from d where d.code <= :size",
        {"d": state.work(sensitive_values(item.index))},
        size=num(size),
    )
    mine = query(
        "select c.query from c where c.attribute = :i",
        {"c": items(spec, workload)},
        i=num(item.index),
    )
    ordered = item.column.is_number or item.column.is_time or size > SETS
    domain = Domain(len(spec.attributes) + item.index, size, highest, values)
    return QueriedColumn(domain, size > 0 and ordered, mine)
