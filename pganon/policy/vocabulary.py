"""Words in names of columns that say what a column is, whole, shortened or with code letters.

Surveys shorten words (`edu`, `schl`, `hispcat`) and add letters that say of whom, or of which kind,
a variable is (`irace`, `agep`, `racex`). Such a match is weaker than a whole word, and a short form
of a sensitive word must be longer, as sensitive columns are published as they are.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import takewhile

_DATA = tomllib.loads(files("pganon.policy").joinpath("vocabulary.toml").read_text("utf-8"))
SAFE_HARBOR: Mapping[str, Mapping[str, str]] = _DATA["safe_harbor"]
WORDS = {name: frozenset[str](text.split()) for name, text in _DATA["words"].items()}
ALIKE = {
    role: WORDS[listed] | {*_DATA["whole"][role].split()}
    for role, listed in (
        ("identifying", "direct"),
        ("sensitive", "sensitive"),
        ("quasi_identifying", "quasi"),
    )
}
"""Whole words by role, of English, German and French; words of diseases, too."""

_BEFORE = "cdinp"
_AFTER = "cdpx"
"""Letters by which surveys mark a variable: categorical or coded, derived, imputed, numeric, of a
person; an edited or constructed one ends in x."""

_ROLES = (
    ("quasi_identifying", WORDS["quasi"], 3, 4),
    ("sensitive", WORDS["sensitive"], 4, 6),
)
"""Role, words, least length of a short form, and of a word or stem with an ending."""

_LONGEST_ENDING = 4
_STEM_OF = 6
"""Least length of a word whose beginning may be a stem, as in `hispcat`."""


@dataclass(frozen=True)
class Match:
    """A word that a name may stand for, and the role of columns that it names."""

    word: str
    role: str


def words(name: str) -> list[str]:
    """`dateOfBirth2` -> date, of, birth. Letters of other languages are those of English."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().translate(_GERMAN)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    return [word for word in re.split(r"[^a-z]+", plain) if word]


def whole_words(name: str) -> frozenset[str]:
    """The words of a name, all of them written as one, and those that are written as one."""
    parts = words(name)
    return frozenset({*parts, "".join(parts), *(w for part in parts for w in _apart(part, _KNOWN))})


_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_KNOWN = WORDS["people"].union(*ALIKE.values(), WORDS["joined"]) - WORDS["short"]
"""Words that names are made of; short ones are found in many others."""


def _apart(word: str, known: frozenset[str]) -> list[str]:
    """`agecategory` -> age, category; nothing if it is a word of its own, or not all are known."""
    if word in known:
        return []
    for cut in range(len(word) - 1, 1, -1):
        first, rest = word[:cut], word[cut:]
        if first in known and (others := [rest] if rest in known else _apart(rest, known)):
            return [first, *others]
    return []


def shortened(name: str) -> Match | None:
    """The listed word that a word of the name may stand for."""
    for part in words(name):
        if part in WORDS["untypical"] | WORDS["weak"]:
            continue
        for form in _without_code_letters(part):
            for role, of_role, cut, stem in _ROLES:
                fitting = [w for w in sorted(of_role) if _fits(form, w, cut, stem)]
                if fitting:
                    return Match(form if form in of_role else fitting[0], role)
    return None


def _without_code_letters(part: str) -> Iterator[str]:
    yield part
    if part[0] in _BEFORE:
        yield part[1:]
    if part[-1] in _AFTER:
        yield part[:-1]
        if part[0] in _BEFORE:
            yield part[1:-1]


def _fits(form: str, word: str, cut: int, stem: int) -> bool:
    if form == word or len(form) < cut:
        return form == word
    if word.startswith(form) or (
        len(word) >= stem and form == (word[0] + re.sub("[aeiou]", "", word[1:]))
    ):
        return True
    same = takewhile(lambda pair: pair[0] == pair[1], zip(form, word, strict=False))
    common = len(list(same))
    if len(form) - common > _LONGEST_ENDING:
        return False
    is_stem = len(word) >= _STEM_OF and common >= stem
    return is_stem or (common == len(word) and (common >= stem or word == "dob"))
