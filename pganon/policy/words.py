"""Words of a policy."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal[
    "identifying",
    "individual",
    "quasi_identifying",
    "quasi_sensitive",
    "sensitive",
    "semi_sensitive",
    "insensitive",
    "weight",
]
ROLES: tuple[str, ...] = get_args(Role)
NOBODY = "none"
"""As `individual`: no column of the source tells people apart. A column of this name stands in a
list."""

UNPUBLISHED_ROLES = ("identifying", "individual", "weight")
"""Roles of columns whose values never leave the source; of weights perhaps means."""
HIDDEN = ("sensitive", "semi_sensitive")
"""Roles of columns whose values a release unlinks from at least some persons."""

ShownWord = Literal["none", "mean", "range"]
Nulls = Literal["as_value", "own_class", "suppress", "conditional", "reject"]
NULLS: tuple[str, ...] = get_args(Nulls)
QUASI_IDENTIFYING_NULLS = ("as_value", "own_class", "suppress", "reject")
QUASI_SENSITIVE_NULLS = ("as_value", "suppress", "reject")
SENSITIVE_NULLS = ("as_value", "conditional", "reject")
