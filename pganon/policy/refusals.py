"""How the policy models refuse: problems with a place, a sentence and a suggestion.

Pydantic reports one error per validator. A check that finds several things wrong raises one
:class:`PydanticCustomError` that carries them all; the loader takes them apart again.
"""

from __future__ import annotations

import difflib
import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import NoReturn, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
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
    """

    what: str
    words: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def check(value: object) -> object:
            refuse_word(self.what, value, self.words or get_args(source))
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
