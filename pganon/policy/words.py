"""Words of a policy."""

from __future__ import annotations

ROLES = (
    "identifying",
    "individual",
    "quasi_identifying",
    "quasi_sensitive",
    "sensitive",
    "semi_sensitive",
    "insensitive",
    "weight",
)
NOBODY = "none"
"""As `individual`: no column of the source tells people apart. A column of this name stands in a
list."""

UNPUBLISHED_ROLES = ("identifying", "individual", "weight")
"""Roles of columns whose values never leave the source."""
TYPES = ("numeric", "ordinal", "categorical")
NULLS = ("as_value", "own_class", "suppress", "conditional", "reject")
QUASI_IDENTIFYING_NULLS = ("as_value", "own_class", "suppress", "reject")
QUASI_SENSITIVE_NULLS = ("as_value", "suppress", "reject")
SENSITIVE_NULLS = ("as_value", "conditional", "reject")
UNPROTECTED = ("warn", "accept")
DISTANCES = ("equal", "ordered", "hierarchical")
