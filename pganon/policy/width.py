"""How many columns of each kind fit in the relations of a release.

A table of PostgreSQL has at most 1,600 columns, and a row that is not compressed at most 8,160
bytes. A generalized value takes up to 24 bytes there: longer ones are stored elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pganon.policy.columns import Columns
from pganon.policy.refusals import Refusal
from pganon.policy.words import UNPUBLISHED_ROLES

if TYPE_CHECKING:
    from pganon.policy.options import MethodOptions

MOST_GROUPED = 300
"""Columns by which a method groups records: as many of 24 bytes are in a row beside its keys."""

MOST_RELEASED = 1000
"""Columns of a release, beside which every relation has room for what a method adds."""


MOST_IN_ARRAYS = 400
"""The same where a row has an array per column, of which 18 bytes stay in it at least."""

MOST_UNLINKED = 250
"""The same where sensitive values are apart from the records: what a reader could infer from the
others is measured, on rows that have a code of 8 bytes beside each value."""


def width_refusals(columns: Columns, method: MethodOptions) -> Iterable[Refusal]:
    """Too many columns for one release."""
    grouped = (method.grouped, "semi_sensitive")
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
    most = MOST_RELEASED
    if method.unlinks:
        most = MOST_UNLINKED
    elif method.shows == "values":
        most = MOST_IN_ARRAYS
    if released > most:
        yield Refusal(
            ("columns",),
            f"{released} columns are released; a release by this method has room for {most}",
            "leave columns out"
            + (f", or take a method with room for {MOST_RELEASED}" if most < MOST_RELEASED else ""),
        )
