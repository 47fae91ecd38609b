"""Orders of values that a policy declares.

order_<name>   (value, place)   labels with their places, from 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import QualifiedName, quote
from pganon.sqltools import query
from pganon.steps import Check, Load, Name, State, Step
from pganon.steps.facts import counts


def order_table(state: State, name: str) -> QualifiedName:
    return state.work(f"order_{name}")


def order_steps(name: str, column: str, labels: Sequence[str], values: Name) -> list[Step]:
    """The places of labels, and a refusal where a value has none.

    Args:
        name: short and unique in the run; names the work table.
        labels: lowest first.
        values: (value, n): the distinct values.
    """

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["missing"]:
            return None
        return PreconditionError(
            f"the order of column {quote(column)} lacks {row['missing']} values"
            f" that occur in {row['records']} records",
            hint="add them to `order` in the policy",
            code=ErrorCode.ORDER_GAP,
        )

    return [
        Load(
            f"order_{name}",
            f"the policy's order of {quote(column)}",
            lambda s: order_table(s, name),
            (("value", "text"), ("place", "integer")),
            lambda: [(value, place) for place, value in enumerate(labels, start=1)],
        ),
        Check(
            f"order_{name}_covers",
            f"every value of {quote(column)} has a place",
            lambda s: query(
                "select count(*) as missing, coalesce(sum(v.n), 0)::bigint as records from v"
                " left join o on o.value = v.value::text"
                " where v.value is not null and o.value is null",
                {"v": values(s), "o": order_table(s, name)},
            ),
            problem,
            gives=counts("missing", "records", of=f"order_{name}_"),
        ),
    ]
