"""Pydantic's errors as plain sentences about the policy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from pganon.policy.columns import ColumnPolicy
from pganon.policy.exclusions import Between, Exclusion
from pganon.policy.hierarchies import FORMS, OrderTree
from pganon.policy.knowledge import Cells, Kernel, Knowledge
from pganon.policy.model import Policy, Publish
from pganon.policy.refusals import ERROR_TYPE, Place, Refusal, nearest, show
from pganon.policy.registry import Registry
from pganon.policy.tables import COLUMNS, TABLES

_NOT_A_TEXT = ("int_type", "int_from_float", "float_type", "bool_type")
_FROM_VARIABLE = "what comes from a variable is a text: write the value itself"


def refusals_of(
    error: ValidationError,
    registry: Registry,
    named: tuple[str, ...],
    filled: Collection[Place] = (),
) -> Iterator[Refusal]:
    """Refusals from all errors of pydantic, with places in the terms of the file.

    Args:
        named: word of the method that the policy names, if there is such a method.
        filled: places of texts that have the value of a variable.
    """
    for item in error.errors(include_url=False):
        loc = tuple(item["loc"])
        context: Mapping[str, Any] = item.get("ctx", {})
        if item["type"] == ERROR_TYPE:
            yield from (refusal.below(*_place(loc)) for refusal in context["refusals"])
        elif not (item["type"] == "too_short" and item["input"]):
            # Where all items of a list are wrong, pydantic also says that none is left.
            one = _sentence(item["type"], loc, item["input"], context, item["msg"], registry, named)
            if item["type"] in _NOT_A_TEXT and one.place in filled:
                one = replace(one, suggestion=_FROM_VARIABLE)
            yield one


def _place(loc: Place) -> Place:
    """Without the parts that name a member of a union, which are no keys of the file."""
    match loc:
        case ("tables", name, "root" | "events" | "lookup", *rest):
            return ("tables", name, *_place(tuple(rest)))
        case ("columns", name, "[key]"):
            return ("columns", name)
        case ("columns", _, "hierarchy" | "domain", _, *rest):
            return (*loc[:3], *rest)
        case ("privacy", int(), _, "public", name, "[key]"):
            return (*loc[:2], "public", name)
        case ("privacy", int(), _, *rest):
            return (*loc[:2], *rest)
        case ("method", key, _, *rest):
            return ("method", key, *rest)
        case ("exclusions", int(), _, name, "[key]"):
            return (*loc[:3], name)
        case ("exclusions", int(), "when", name, _, *rest):
            return (*loc[:3], name, *rest)
        case _:
            return loc


def _sentence(
    kind: str,
    loc: Place,
    value: object,
    context: Mapping[str, Any],
    message: str,
    registry: Registry,
    named: tuple[str, ...],
) -> Refusal:
    place = _place(loc)
    match kind:
        case "missing":
            return Refusal(place, "is missing", _example(place))
        case "extra_forbidden":
            keys = _known_keys(loc[:-1], registry, named)
            return Refusal(place, "is not a key that is known here", nearest(str(loc[-1]), keys))
        case "string_type":
            hint = "put it in quotes" if isinstance(value, int | float) else None
            return Refusal(place, f"must be a text, not {show(value)}", hint)
        case "bool_type":
            return Refusal(place, f"must be true or false, not {show(value)}")
        case "int_type" | "int_from_float":
            return Refusal(place, f"must be a whole number, not {show(value)}", _unquote(value))
        case "float_type":
            return Refusal(place, f"must be a number, not {show(value)}", _unquote(value))
        case "tuple_type" | "list_type":
            return Refusal(place, f"must be a list, not {show(value)}", _as_list(value))
        case "dict_type" | "model_type" | "model_attributes_type":
            return Refusal(
                place, f"must be a mapping, not {show(value)}", _as_mapping(place, value)
            )
        case "finite_number":
            return Refusal(place, "must be a finite number")
        case "too_short" | "string_too_short":
            return Refusal(place, "must not be empty")
        case "string_too_long":
            return Refusal(place, f"is longer than {context['max_length']} characters")
    return Refusal(place, _bound(value, context) or f"cannot be used: {message[:200]}")


_BOUNDS = {"gt": "greater than", "ge": "at least", "lt": "less than", "le": "at most"}


def _bound(value: object, context: Mapping[str, Any]) -> str | None:
    for key, words in _BOUNDS.items():
        if key in context:
            return f"must be {words} {context[key]:g}, not {show(value)}"
    return None


def _unquote(value: object) -> str | None:
    if isinstance(value, str) and value.replace(".", "", 1).isdecimal() and len(value) < 20:
        return f"write {value} without quotes"
    return None


def _as_list(value: object) -> str | None:
    return f"write [{value}]" if isinstance(value, str | int) and len(str(value)) <= 63 else None


def _as_mapping(place: Place, value: object) -> str | None:
    if len(place) == 2 and place[0] == "columns":
        role = value if isinstance(value, str) and len(value) < 30 else "quasi_identifying"
        return f"write {{role: {role}}}"
    return None


_EXAMPLES = {
    "release": "release: adult",
    "source": "source: public.adult",
    "columns": "columns: {age: {role: quasi_identifying}}",
    "privacy": "privacy: [{model: k_anonymity, k: 5}]",
    "method": "method: {name: one_dimensional}",
    "role": "role: quasi_identifying",
    "when": "when: {sex: F}",
    "never": "never: {cancer: Prostate}",
}


def _example(place: Place) -> str | None:
    example = _EXAMPLES.get(str(place[-1])) if len(place) in (1, 3) else None
    return f"for example {example}" if example else None


def _known_keys(loc: Place, registry: Registry, named: tuple[str, ...]) -> list[str]:
    """Keys of the model at a place, as the file writes them."""
    match loc:
        case ("tables", _, "root" | "events" | "lookup" as kind):
            model: type[BaseModel] = TABLES[kind]
        case ("tables", _, "root", *rest):
            return _known_keys(tuple(rest), registry, named)
        case ("tables", _, "events" | "lookup" as kind, "columns", _):
            model = COLUMNS[kind]
        case ():
            model = Policy
        case ("method",) if named:
            model = registry.methods[named[0]]
        case ("publish",):
            model = Publish
        case ("columns", _):
            model = ColumnPolicy
        case ("exclusions", int()):
            model = Exclusion
        case ("exclusions", int(), "when", _, "range"):
            model = Between
        case ("columns", _, "hierarchy", "order", "order"):
            model = OrderTree
        case ("columns", _, "hierarchy", str(form), *_) if form in FORMS:
            model = FORMS[form]
        case ("privacy", int(), str(name)) if name in registry.models:
            model = registry.models[name]
        case ("privacy", int(), _, "knowledge"):
            model = Knowledge
        case ("privacy", int(), _, "knowledge", "kernel"):
            model = Kernel
        case ("privacy", int(), _, "knowledge", "cells"):
            model = Cells
        case _:
            return []
    return [info.alias or name for name, info in model.model_fields.items()]
