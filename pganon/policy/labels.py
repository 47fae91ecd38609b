"""Values that a policy lists, as texts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from pganon.policy.refusals import refuse_one, show


def label(value: object) -> object:
    """A label as text. Whole numbers become their digits; other numbers have several texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    refuse_one(
        f"a value must be a text or a whole number, not {show(value)}",
        suggestion="put it in quotes, as the database shows it",
    )
    return value


Label = Annotated[str, BeforeValidator(label, json_schema_input_type=str | int)]
Labels = Annotated[tuple[Label, ...], Field(strict=False, min_length=1)]


def roles_alone(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Names of roles, each once; `public` is everybody, and no role."""
    for i, value in enumerate(no_repeats(values)):
        if value == "public":
            refuse_one("public is everybody, and no role", suggestion="name roles", at=(i,))
    return values


def no_repeats(values: tuple[Any, ...]) -> tuple[Any, ...]:
    seen: set[Any] = set()
    for i, value in enumerate(values):
        if value in seen:
            refuse_one(f"{show(value)} stands in the list twice", at=(i,))
        seen.add(value)
    return values
