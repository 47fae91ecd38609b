"""Keys of a policy that only reports read: what a release is for, and what they may count."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pganon.policy.hierarchies import Declaration

Text = Annotated[str, Field(min_length=1, max_length=2000)]

SMALLEST = 11
"""Fewest people of a bin, as CMS (US Medicare and Medicaid) asks of what it publishes."""


class About(Declaration):
    """What a board asks beside all figures, in the words of the steward."""

    title: Text | None = None
    purpose: Text | None = None
    legal_basis: Text | None = None
    recipients: Text | None = None
    conditions: Text | None = None
    contact: Text | None = None


class Reporting(Declaration):
    """`smallest`: fewest people that evidence counts together."""

    smallest: Annotated[int, Field(ge=3, le=1000)] = SMALLEST
