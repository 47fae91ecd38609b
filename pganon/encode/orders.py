"""Orders of values that a policy declares.

order_<name>   (value, place)   labels with their places, from 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pganon.catalog.values import order_label
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.hierarchies.build import canonical_kind, number_meant, other_form
from pganon.identifiers import QualifiedName, quote
from pganon.sqltools import col, fragment, query
from pganon.steps import Check, Load, Name, State, Step
from pganon.steps.facts import counts


def order_table(state: State, name: str) -> QualifiedName:
    return state.work(f"order_{name}")


def order_steps(
    name: str, column: str, labels: Sequence[str], values: Name, value_type: str
) -> list[Step]:
    """The places of labels, and a refusal where a value has none.

    Args:
        name: short and unique in the run; names the work table.
        labels: lowest first; see :func:`pganon.catalog.values.order_label`.
        values: (value, n): the distinct values.
        value_type: what the values are; their own type may be text.
    """

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["missing"]:
            return None
        form, hint = other_form(canonical_kind(value_type), row) or (
            "",
            "add them to `order` in the policy",
        )
        return PreconditionError(
            f"the order of column {quote(column)} lacks {row['missing']} values"
            f" that occur in {row['records']} records{form}",
            hint=hint,
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
                "select count(*) as missing, coalesce(sum(v.n), 0)::bigint as records,"
                " count(*) filter (where :number in (select :listed from o)) as other_form,"
                ' count(*) filter (where lower(v.value::text collate "default") in'
                ' (select lower(o.value collate "default") from o)) as other_case from v'
                " left join o on o.value = :label"
                " where v.value is not null and o.value is null",
                {"v": values(s), "o": order_table(s, name)},
                label=order_label(value_type, col("value", "v")),
                number=number_meant(fragment("v.value::text")),
                listed=number_meant(col("value", "o")),
            ),
            problem,
            gives=counts("missing", "records", "other_form", "other_case", of=f"order_{name}_"),
        ),
    ]
