"""Names and conditions as a policy writes them, checked as far as their text goes."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from pganon.identifiers import NameProblem, parse_name
from pganon.policy.expressions import ExpressionProblem, check_where
from pganon.policy.refusals import refuse_one, usable_name

Name = Annotated[str, AfterValidator(usable_name)]


def _relation_name(text: str) -> str:
    try:
        parse_name(text)
    except NameProblem as problem:
        refuse_one(str(problem) if len(text) <= 200 else "the name is too long")
    return text


RelationName = Annotated[str, AfterValidator(_relation_name)]


def _condition(text: str) -> str:
    try:
        check_where(text)
    except ExpressionProblem as refused:
        refuse_one(refused.problem.message, suggestion=refused.problem.suggestion)
    return text


Condition = Annotated[str, AfterValidator(_condition)]
