"""Columns of a policy by role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pganon.policy.model import ColumnPolicy

Columns = Mapping[str, "ColumnPolicy | None"]
"""By name, in the policy's order; None is declared, but wrong in itself."""


def of_role(columns: Columns, *roles: str) -> list[str]:
    """Names of the columns with one of these roles, in the policy's order."""
    return [name for name, column in columns.items() if column and column.role in roles]
