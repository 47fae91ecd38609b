"""Columns that leave as they are, and may be identifiers by their names and types."""

from __future__ import annotations

from pganon.resolved.warnings import unchanged_identifiers
from tests.unit.policy.examples import anatomy_policy, policy
from tests.unit.resolved.registry import relation, resolved

SOURCE = relation(
    "registry",
    {
        "person": ("text", "text"),
        "zip": ("text", "text"),
        "city": ("text", "text"),
        "seen": ("date", "date"),
        "grams": ("integer", "integer"),
        "disease": ("text", "text"),
    },
)
COLUMNS = {
    "person": {"role": "identifying"},
    "zip": {"role": "quasi_identifying"},
    "city": {"role": "sensitive"},
    "seen": {"role": "insensitive"},
    "grams": {"role": "insensitive"},
}


def test_columns_that_leave_as_they_are() -> None:
    (generalized,) = unchanged_identifiers(resolved(policy(columns=COLUMNS), SOURCE))
    assert "city (B, places smaller than a state), seen (C, dates, ages above 89);" in generalized
    assert not [name for name in ("person", "zip", "grams") if f"{name} (" in generalized]
    l_diverse = [{"model": "anatomy_l_diversity", "column": "city", "l": 2}]
    (exact,) = unchanged_identifiers(
        resolved(anatomy_policy(columns=COLUMNS, privacy=l_diverse), SOURCE)
    )
    assert "zip (B, " in exact
    few = {name: COLUMNS[name] for name in ("zip", "grams")}
    assert unchanged_identifiers(resolved(policy(columns=few), SOURCE)) == []
