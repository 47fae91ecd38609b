"""How many columns of each kind fit in the relations of a release.

A table of PostgreSQL has at most 1,600 columns, and a row that is not compressed at most 8,160
bytes. A generalized value takes up to 24 bytes there: longer ones are stored elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pganon.policy.columns import Columns
from pganon.policy.refusals import Refusal
from pganon.policy.words import UNPUBLISHED_ROLES

MOST_GROUPED = 300
"""Columns by which a method groups records: as many of 24 bytes are in a row beside its keys."""

MOST_RELEASED = 1000
"""Columns of a release, beside which every relation has room for what a method adds."""


def width_refusals(columns: Columns, grouped: Sequence[str]) -> Iterable[Refusal]:
    """Too many columns for one release.

    Args:
        grouped: roles of the columns by which the method groups records.
    """
    roles = Counter(column.role for column in columns.values() if column)
    wide = sum(roles[role] for role in grouped)
    if wide > MOST_GROUPED:
        yield Refusal(
            ("columns",),
            f"{wide} columns are {' or '.join(grouped)}; a row of a release has room for"
            f" {MOST_GROUPED}",
            "leave columns out, or divide them among releases of separate people",
        )
    released = roles.total() - sum(roles[role] for role in UNPUBLISHED_ROLES)
    if released > MOST_RELEASED:
        yield Refusal(
            ("columns",),
            f"{released} columns are released; a release has room for {MOST_RELEASED}",
            "leave columns out",
        )
