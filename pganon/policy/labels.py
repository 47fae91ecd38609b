"""Values that a policy lists, as texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from pganon.identifiers import NameProblem, parse_name
from pganon.policy.expressions import ExpressionProblem, check_where
from pganon.policy.refusals import refuse_one, show, usable_name


def read_by(parse: Callable[[str], object]) -> AfterValidator:
    """Refuses a text that cannot be read, in the words of what reads it; the text stays one."""

    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


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


Name = Annotated[str, AfterValidator(usable_name)]
Names = Annotated[
    tuple[Name, ...],
    Field(strict=False, min_length=1),
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value,
        json_schema_input_type=str | list[str],
    ),
    AfterValidator(no_repeats),
]
"""One name, or several."""


def _relation(text: str) -> None:
    try:
        parse_name(text)
    except NameProblem as problem:
        refuse_one(str(problem) if len(text) <= 200 else "the name is too long")


def _condition(text: str) -> None:
    try:
        check_where(text)
    except ExpressionProblem as refused:
        refuse_one(refused.problem.message, suggestion=refused.problem.suggestion)


RelationName = Annotated[str, read_by(_relation)]
Condition = Annotated[str, read_by(_condition)]
