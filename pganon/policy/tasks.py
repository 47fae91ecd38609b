"""Tasks that releases are made for, and what the method for a task begins with.

Methods declare the values that a first policy for a task has. So one table leads from a task to a
method: that of `pganon policy init --task`, of messages of refusal, and of the page on choosing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SEVERAL_RECORDS = "several-records"
DECIDE = "decide"


@dataclass(frozen=True)
class Start:
    """Values with which a method begins on a task.

    Attributes:
        task: a word of :data:`TASKS`.
        page: page of the documentation that goes on from there, below `docs/`.
        costs: what readers lose, as a sentence without a full stop.
        about_all: models about whole groups, as a policy writes them.
        about_each: models for every sensitive column, without their key `column`.
        suppression_limit: largest share of records that may be left out.
        keys: further keys of the policy, each with a comment.
        grows: whether a later version can add people to what is published.
    """

    task: str
    page: str
    costs: str
    about_all: tuple[Mapping[str, Any], ...] = ()
    about_each: tuple[Mapping[str, Any], ...] = ()
    suppression_limit: float = 0.0
    keys: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    grows: bool = True


TASKS: Mapping[str, str] = {
    "survey": "Survey microdata: a row per person, which others may know in part",
    "exact": "Exact quasi-identifiers are needed, and one column is sensitive",
    "several-sensitive": "Several sensitive columns, beside exact quasi-identifiers",
    SEVERAL_RECORDS: "Several records per person, which analysts have to keep together",
    "joined": "Joined registers: who knows a person from one must not learn of the other",
    DECIDE: "People decide for themselves which of their values are sensitive",
    "background": "Readers know more beforehand: what is frequent among whom",
    "monthly": "Monthly updates of a table to which people are added",
    "audiences": "Two audiences, of which one may see more",
}
"""Every task by its word, in the order in which people are told of them."""
