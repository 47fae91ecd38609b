"""Pydantic's errors as plain sentences about the policy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pganon.policy.refusals import ERROR_TYPE, Place, Refusal, nearest, show


def refusals_of(
    error: ValidationError,
    keys: Collection[str] = (),
    tags: Mapping[str, int] = MappingProxyType({}),
    examples: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Refusal]:
    """Refusals from all errors of a model of pydantic, with places in the terms of the file.

    Args:
        keys: of the model, as the file writes them.
        tags: where below a key a part names a member of a union, which is no key of the file; of
            all other keys that of "".
        examples: of lines of the file, by their keys.
    """
    for item in error.errors(include_url=False):
        loc = tuple(item["loc"])
        tag = tags.get(str(loc[0]), tags.get("")) if loc else None
        loc = loc[:-1] if loc[2:] and loc[-1] == "[key]" else loc  # of a key, after itself
        place = tuple(part for at, part in enumerate(loc) if at != tag)
        if item["type"] == ERROR_TYPE:
            yield from (refusal.below(*place) for refusal in item.get("ctx", {})["refusals"])
        elif not (item["type"] == "too_short" and item["input"]):
            # Where all items of a list are wrong, pydantic also says that none is left.
            yield _sentence(item, place, keys, examples)


def _sentence(
    item: ErrorDetails, place: Place, keys: Collection[str], examples: Mapping[str, str]
) -> Refusal:
    value, context = item["input"], item.get("ctx", {})
    example = examples.get(str(place[0])) if place else None
    shown = example and f"for example {example}"
    match item["type"]:
        case "missing":
            return Refusal(place, "is missing", shown)
        case "extra_forbidden":
            near = nearest(str(place[-1]), keys)
            return Refusal(place, "is not a key that is known here", near)
        case "string_type":
            hint = "put it in quotes" if isinstance(value, int | float) else shown
            return Refusal(place, f"must be a text, not {show(value)}", hint)
        case "bool_type":
            return Refusal(place, f"must be true or false, not {show(value)}")
        case "int_type" | "int_from_float":
            return Refusal(place, f"must be a whole number, not {show(value)}", _unquote(value))
        case "float_type":
            return Refusal(place, f"must be a number, not {show(value)}", _unquote(value))
        case "tuple_type" | "list_type":
            return Refusal(place, f"must be a list, not {show(value)}", shown or _as_list(value))
        case "dict_type" | "model_type" | "model_attributes_type":
            known = f"its keys: {', '.join(keys)}" if 0 < len(keys) <= 12 and not place else shown
            return Refusal(place, f"must be a mapping, not {show(value)}", known)
        case "finite_number":
            return Refusal(place, "must be a finite number")
        case "too_short" | "string_too_short":
            return Refusal(place, "must not be empty")
        case "too_long":
            return Refusal(place, f"must have at most {context['max_length']} values", shown)
        case "string_too_long":
            return Refusal(place, f"is longer than {context['max_length']} characters")
    return Refusal(place, _bound(value, context) or f"cannot be used: {item['msg'][:200]}")


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
