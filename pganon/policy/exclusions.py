"""Exclusion rules: sensitive values that are known to be impossible for some people.

A reader who knows that a value is impossible for some members of a bucket can exclude it for them,
and the others' probabilities rise. With the rules of a policy no bucket has both a record to which
a rule applies and a value that it excludes.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from pganon.policy.hierarchies import Declaration
from pganon.policy.refusals import refuse_one, show


def _as_text(value: object) -> object:
    """A value as the database would read it; numbers and dates need no quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | datetime.date):
        return str(value)
    refuse_one(f"a value must be a text, a number or a date, not {show(value)}")


Value = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | int | float | bool)]


def _as_list(value: object) -> object:
    # A single value is checked here, so that a problem names its place in the file.
    return value if isinstance(value, list | tuple) else [_as_text(value)]


Listed = Annotated[tuple[Value, ...], Field(strict=False, min_length=1)]
Values = Annotated[Listed, BeforeValidator(_as_list, json_schema_input_type=Value | Listed)]


class Between(Declaration):
    """Values from `min` to `max`, both included; one of them may be left out."""

    min: Value | None = None
    max: Value | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Between:
        if self.min is None and self.max is None:
            refuse_one("needs min, max or both", suggestion="for example {max: 17}")
        return self


def _form(condition: object) -> str:
    """Names one of the forms of :data:`Condition`."""
    return "range" if isinstance(condition, Mapping | Between) else "values"


Condition = Annotated[
    Annotated[Between, Tag("range")] | Annotated[Values, Tag("values")], Discriminator(_form)
]


class Exclusion(Declaration):
    """Records that satisfy all of `when` cannot have the values of `never`."""

    tags: ClassVar = {"when": 2}
    examples: ClassVar = {"when": "when: {sex: F}", "never": "never: {cancer: Prostate}"}

    when: Annotated[dict[str, Condition], Field(min_length=1)]
    never: Annotated[dict[str, Values], Field(min_length=1)]

    @property
    def label(self) -> str:
        """The columns of the rule, without values."""
        return f"{', '.join(self.when)} excludes {', '.join(self.never)}"
