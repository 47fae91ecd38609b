"""How the policy models refuse: problems with a place, a sentence and a suggestion.

Pydantic reports one error per validator. A check that finds several things wrong raises one
:class:`PydanticCustomError` that carries them all; the loader takes them apart again.
"""

from __future__ import annotations

import difflib
import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NoReturn, get_args

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError
from pydantic_core.core_schema import no_info_before_validator_function

from pganon.identifiers import NameProblem, check_name

ERROR_TYPE = "policy"

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Refusal:
    """One thing wrong; `place` is relative to the value that is being validated."""

    place: Place
    message: str
    suggestion: str | None = None

    def below(self, *place: str | int) -> Refusal:
        """The same of what stands at a place."""
        return replace(self, place=(*place, *self.place))


def refuse(refusals: Sequence[Refusal]) -> None:
    """Raise if there is anything to refuse."""
    if refusals:
        raise _error(refusals)


def refuse_one(message: str, *, at: Place = (), suggestion: str | None = None) -> NoReturn:
    raise _error([Refusal(at, message, suggestion)])


def _error(refusals: Sequence[Refusal]) -> PydanticCustomError:
    text = "; ".join(refusal.message for refusal in refusals)
    return PydanticCustomError(ERROR_TYPE, "{text}", {"text": text, "refusals": list(refusals)})


def nearest(word: str, known: Iterable[str]) -> str | None:
    """A sentence with what `word` is elsewhere, or may be a typing error of, else all words."""
    words = list(known)
    if named := meant(word, words):
        quoted = [f'"{one}"' for one in named]
        return f"did you mean {alternatives(quoted)}?"
    close = difflib.get_close_matches(word.lower(), [w.lower() for w in words], n=1, cutoff=0.6)
    for candidate in words:
        if close and candidate.lower() == close[0]:
            return f'did you mean "{candidate}"?'
    return f"known: {', '.join(words)}" if 0 < len(words) <= 12 else None


def show(value: object, limit: int = 40) -> str:
    """A value of the policy for a message: as JSON would write it, cut when long."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else "?" for c in value[: limit + 1])
        return f'"{text[:limit]}..."' if len(value) > limit else f'"{text}"'
    if isinstance(value, int | float):
        text = str(value) if not isinstance(value, int) or abs(value) < 10**limit else "a number"
        return text if len(text) <= limit else "a number"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    return f"a {type(value).__name__}"


def refuse_word(what: str, value: object, words: Sequence[str], at: Place = ()) -> None:
    """Raise unless `value` is one of the `words`.

    Args:
        what: what the word names, e.g. `role`.
    """
    if isinstance(value, str) and value in words:
        return
    article = "an" if what[0] in "aeiou" else "a"
    meant = nearest(value if isinstance(value, str) else "", words)
    refuse_one(f"{show(value)} is not {article} {what}", at=at, suggestion=meant)


@dataclass(frozen=True)
class known_word:  # noqa: N801
    """Refuses other words, by default than those of the Literal that is annotated, and suggests the
    nearest one.

    Attributes:
        what: what the word names; by default the key.
    """

    what: str = ""
    words: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        what = self.what or f"word for {handler.field_name}"

        def check(value: object) -> object:
            refuse_word(what, value, self.words or get_args(source))
            return value

        return no_info_before_validator_function(check, handler(source))


def undeclared(at: Place, name: str, columns: Iterable[str]) -> Refusal:
    """Of a name that no column of the policy has."""
    return Refusal(at, f"column {show(name)} is not declared under columns", nearest(name, columns))


def alternatives(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def usable_name(name: str) -> str:
    """Validator: a name PostgreSQL stores uncut, without control characters or outer blanks."""
    try:
        check_name(name)
    except NameProblem as problem:
        refuse_one(str(problem) if len(name) <= 200 else "the name is longer than 63 bytes")
    if any(not c.isprintable() for c in name):
        refuse_one("a name must not hold control characters or line ends")
    return name


TERMS = {
    term: tuple(words.split())
    for terms in tomllib.loads(
        files("pganon.policy").joinpath("terms.toml").read_text("utf-8")
    ).values()
    for term, words in terms.items()
}
"""What a policy may say instead, by the word."""

_GREEK = {"α": "alpha", "β": "beta", "δ": "delta"}


def plain(word: str) -> str:
    """A word without case, signs and Greek letters."""
    text = "".join(_GREEK.get(c, c) for c in unicodedata.normalize("NFKC", word).casefold())
    return re.sub(r"[^a-z0-9]+", "", text)


_PLAIN = {plain(term): words for term, words in TERMS.items()}


def meant(word: str, known: Collection[str]) -> list[str]:
    """Those of the known words that `word` stands for elsewhere."""
    return [one for one in _PLAIN.get(plain(word), ()) if one in known]


# -- pydantic's own errors as plain sentences about the policy


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
