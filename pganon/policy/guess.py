"""Guesses at the role of a column, from its name, its key and a few counts.

A guess is a starting point for the steward, not a decision. A column whose name says nothing is
left undeclared, with a question, because undeclared columns are not released.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pganon.catalog.model import Column, Relation
from pganon.catalog.statistics import Facts
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.policy.columns import Columns
from pganon.policy.options import MethodOptions
from pganon.policy.registry import Registry
from pganon.policy.tasks import DECIDE
from pganon.policy.vocabulary import ALIKE, WORDS, shortened, whole_words, words
from pganon.policy.words import HIDDEN

LONG_TEXT = 100
FEW_VALUES = 30
MANY_ROWS = 20
MOST_RECORDS = 20
"""Records per value, on average, that the key of a person may have."""

LEAST_DETERMINED = 2
"""Columns that the values of a key determine, where its name does not say that it is one."""

_COUNTS = frozenset({"num", "number", "nr", "no", "count"})
_NO_COUNTS = frozenset({"number", "numbers", "numero", "nummer"})
_KEY_KINDS = frozenset({"integer", "text", "bpchar", "citext", "uuid"})
_KEY_WORDS = WORDS["weak"] - {"name", "code"}
_KEY_ENDING = re.compile("((?<!pa)id|nbr|key)[0-9]*$")
_SURVEY_WEIGHT = re.compile("wgtp?$|.wt$|^wt")
"""Endings and beginnings that surveys use: pwgtp, fnlwgt, perwt, wtmec."""

MANY_NUMBERS = "many different numbers tell people apart"
QUESTION = "can others know it, or must nobody learn it?"


@dataclass(frozen=True)
class Guess:
    """A role, or None to leave the column undeclared, and the reason for it.

    Attributes:
        codes: it has few numbers, which may be codes.
        keys: what else a policy says of the column.
    """

    role: str | None
    reason: str
    codes: bool = False
    keys: Mapping[str, Any] = field(default_factory=dict)


def guess_role(
    column: Column, relation: Relation, *, person: bool = False, facts: Facts | None
) -> Guess:
    """The likely role of a column that pganon can release.

    Args:
        person: whether it is the key of a person who has several records.
    """
    parts = whole_words(column.name)
    key, unique = column.name in relation.primary_key, column.name in relation.unique
    few = facts is not None and 0 < facts.distinct <= FEW_VALUES and facts.rows >= MANY_ROWS
    codes = few and column.is_number and not parts & {"age", "year"}
    if key or unique:
        return Guess("identifying", "part of the primary key" if key else "unique")
    target = relation.refers_to(column.name)
    by_name = _by_whole_words(parts)
    if target is not None:
        if person or by_name == "identifying" or (not few and _may_be_key(facts)):
            return Guess("identifying", f"refers to {target}, and so leads to a person")
        if by_name != "sensitive":
            return Guess(None, f"refers to {target}: does that lead to a person? Else, {QUESTION}")
    if by_name == "quasi_identifying" and codes and not WORDS["nominal"].isdisjoint(parts):
        return Guess(by_name, "by its name", keys={"type": "categorical"})
    if by_name is not None:
        return Guess(by_name, "by its name", codes)
    if is_count(column):
        return Guess("quasi_identifying", "a number of something, by its name", codes)
    if person:
        return Guess("identifying", "several records per value, perhaps whose record it is")
    if column.is_time:
        return Guess("quasi_identifying", "dates of events are often known")
    match = shortened(column.name)
    weak = not WORDS["weak"].isdisjoint(whole_words(column.name))
    if column.kind == "uuid":
        return Guess("identifying", "by its type")
    if weak and not few and (match is None or _may_be_key(facts)):
        return Guess("identifying", "by its name")
    keyed, present = column.kind in _KEY_KINDS, 0 if facts is None else facts.present
    if facts and keyed and present >= MANY_ROWS and facts.distinct >= 0.95 * present:
        return Guess("identifying", "nearly every row has its own value")
    ending = _KEY_ENDING.search(column.name.lower())
    if not few and keyed and ending and _may_be_key(facts):
        return Guess("identifying", "perhaps a key, by its name")
    if match is not None:
        return Guess(match.role, f'perhaps "{match.word}", by its name', codes)
    if facts is not None and facts.longest > LONG_TEXT:
        return Guess("identifying", "long texts")
    if column.is_number and not few and _SURVEY_WEIGHT.search("".join(words(column.name))):
        return Guess(None, "perhaps a survey weight: role weight")
    if column.is_number and facts is not None and facts.distinct > FEW_VALUES:
        return Guess("quasi_identifying", MANY_NUMBERS)
    if facts is None or facts.distinct < 2:
        return Guess(None, "no guess", codes)
    return Guess(None, f"{'few values' if few else 'no guess'}: {QUESTION}", codes)


def _by_whole_words(parts: Collection[str]) -> str | None:
    return next((role for role, names in ALIKE.items() if not names.isdisjoint(parts)), None)


def is_count(column: Column) -> bool:
    """Whether its name says that it counts something: num_visits, numVisits, number_of_rooms."""
    first, *others = words(column.name) or [""]
    if not column.is_number:
        return False
    if first in _COUNTS:
        return bool(set(others) - WORDS["weak"])
    return first.startswith("num") and first not in _NO_COUNTS


def persons_reference(
    columns: Iterable[Column], relation: Relation, facts: Mapping[str, Facts]
) -> tuple[str, ...]:
    """The foreign key that says whose record it is, or leads there: by a name, else by the number
    of records of a value. The finest, where there are several."""
    usable = {column.name for column in columns}
    found: list[tuple[bool, int, tuple[str, ...]]] = []
    for key in relation.foreign_keys:
        if not usable.issuperset(key.columns) or not relation.unique.isdisjoint(key.columns):
            continue
        known = [facts[name] for name in key.columns if name in facts]
        named = any(not WORDS["people"].isdisjoint(words(name)) for name in key.columns)
        fine = any(one.distinct > FEW_VALUES and _may_be_key(one) for one in known)
        if named or fine or not known:
            most = max((one.distinct for one in known), default=0)
            found.append((named, most, key.columns))
    return max(found)[2] if found else ()


def persons_key(
    columns: Iterable[Column], relation: Relation, facts: Mapping[str, Facts]
) -> str | None:
    """The column that may say whose record it is, though people have several.

    It is the finest of those that keys are kept in, and no name says that it is something else.
    Measures and survey weights look the same: see :func:`is_persons_key`. Keys say which record it
    is, unless the rest of one tells records of a person apart.
    """
    unique = {*relation.unique, *relation.primary_key}
    occasions = {
        name for name in relation.primary_key if not WORDS["occasions"].isdisjoint(words(name))
    }
    if occasions:
        unique = {*relation.unique, *occasions}
    counted = [
        (facts[column.name].distinct, column)
        for column in columns
        if column.kind in _KEY_KINDS and column.name in facts and column.name not in unique
    ]
    counted.sort(key=lambda item: -item[0])
    if not counted or (len(counted) > 1 and counted[0][0] == counted[1][0]):
        return None
    distinct, column = counted[0]
    present = facts[column.name].present
    if _says_otherwise(column) or present < MANY_ROWS or distinct <= FEW_VALUES:
        return None
    return column.name if distinct < present <= MOST_RECORDS * distinct else None


def _says_otherwise(column: Column) -> bool:
    """Whether the name says that a column is something else than a key."""
    if _by_whole_words(whole_words(column.name)) is not None or is_count(column):
        return True
    return _KEY_WORDS.isdisjoint(words(column.name)) and shortened(column.name) is not None


def is_persons_key(name: str, determined: int) -> bool:
    """Whether a candidate is a key, and not a measure with many values.

    What is known of a person is the same in all records of a person, so the key determines it.

    Args:
        determined: number of other columns that its values determine.
    """
    if not _KEY_WORDS.isdisjoint(words(name)):
        return True
    by_ending = _KEY_ENDING.search(name.lower()) is not None
    return determined >= (1 if by_ending else LEAST_DETERMINED)


def _may_be_key(facts: Facts | None) -> bool:
    return facts is None or facts.present <= MOST_RECORDS * facts.distinct


# -- made to fit what the method for a task asks of its columns

MOST_QUASI_IDENTIFIERS = 8
"""Columns without a guess that become quasi-identifying where no column is."""

UNSURE = "no better guess, check this"
_SETS = ("first", "second")

Guesses = Mapping[str, Guess]


def fitted(
    guesses: Guesses,
    facts: Mapping[str, Facts],
    method: type[MethodOptions],
    flags: Mapping[str, Flag],
    person: Collection[str],
) -> dict[str, Guess]:
    """The guesses with the roles that the method takes; others are not released.

    Columns that are flags stay as they are.

    Args:
        flags: of columns whose sensitivity people decide about.
        person: columns of the key of a person who may have several records.

    Raises:
        PreconditionError: no_columns, the method needs more columns than there are.
    """
    hiding = {flag.name for flag in flags.values()}
    out = {name: guess for name, guess in guesses.items() if name not in hiding}
    if not keeps_records_together(method):
        out = {name: guess for name, guess in out.items() if name not in person}
    if "semi_sensitive" in method.roles:
        out |= {
            name: Guess(
                "semi_sensitive",
                f"sensitive for whom {flag.name} says so",
                out[name].codes,
                {"sensitive_when": flag.sensitive_when},
            )
            for name, flag in flags.items()
            if name in out and out[name].role != "identifying"
        }
    if keeps_records_together(method):
        # The identifying column with most values, else any column with most.
        keys = _of_roles(out, "identifying") or list(out)
        for name in person or [max(keys, key=lambda name: _values(name, facts))]:
            reason = out[name].reason if out[name].role == "identifying" else UNSURE
            out[name] = Guess("individual", reason)
    if "sensitive" in method.roles:
        out |= _sensitive(out, facts, method)
    out |= _grouped(out, facts, method)
    if method.grouped == "quasi_sensitive":
        # Two sets: what others know, and what is sensitive, or else the second half of the
        # former.
        first = _of_roles(out, "quasi_identifying")
        middle = (len(first) + 1) // 2
        ways = (
            (first, _of_roles(out, "sensitive")),
            (first[:middle], first[middle:]),
            (first, _of_roles(out, None)[:MOST_QUASI_IDENTIFIERS]),
        )
        halves = next((way for way in ways if all(way)), None)
        if halves is None:
            raise _too_few()
        out |= {
            name: replace(out[name], role="quasi_sensitive", keys={"set": qs_set})
            for qs_set, names in zip(_SETS, halves, strict=True)
            for name in names
        }
    return {name: out.get(name, guess) for name, guess in guesses.items()}


def keeps_records_together(method: type[MethodOptions]) -> bool:
    """Whether an individual may have several records, with the method's own defaults."""
    return method.model_construct().encoding.reserves_identity


def needs_sensitive(method: type[MethodOptions]) -> bool:
    """Whether a policy with it has at least one sensitive column, and a model about it."""
    return method.sensitive != "any" or "semi_sensitive" in method.roles


def _sensitive(
    guesses: Guesses, facts: Mapping[str, Facts], method: type[MethodOptions]
) -> dict[str, Guess]:
    """One sensitive column, at least one, or as many as there are."""
    named = _of_roles(guesses, "sensitive")
    if method.sensitive == "one" and len(named) > 1:
        first = max(named, key=lambda name: min(_values(name, facts), 2))
        reason = f"sensitive, too; this method protects one column, here {first}"
        return {name: Guess(None, reason) for name in named if name != first}
    if _of_roles(guesses, *HIDDEN) or not needs_sensitive(method):
        return {}
    for role in (None, "quasi_identifying", "identifying"):
        names = _of_roles(guesses, role)
        if names:
            name = max(names, key=lambda name: _values(name, facts))
            return {name: Guess("sensitive", UNSURE, guesses[name].codes)}
    raise _too_few()


def _grouped(
    guesses: Guesses, facts: Mapping[str, Facts], method: type[MethodOptions]
) -> dict[str, Guess]:
    """Columns that records are grouped by; where there is none, columns without a guess."""
    if any(guess.role in ("quasi_identifying", "semi_sensitive") for guess in guesses.values()):
        return {}
    chosen = _of_roles(guesses, None)[:MOST_QUASI_IDENTIFIERS]
    if not chosen:
        # The column with the fewest values is the least identifying one.
        spare = ("identifying",) if needs_sensitive(method) else ("identifying", "sensitive")
        others = _of_roles(guesses, *spare)
        if not others:
            raise _too_few()
        chosen = [min(others, key=lambda name: (_values(name, facts), name))]
    return {name: Guess("quasi_identifying", UNSURE, guesses[name].codes) for name in chosen}


def _of_roles(guesses: Guesses, *roles: str | None) -> list[str]:
    return [name for name, guess in guesses.items() if guess.role in roles]


def _values(name: str, facts: Mapping[str, Facts]) -> int:
    return facts[name].distinct if name in facts else 0


def _too_few() -> PreconditionError:
    return PreconditionError(
        "the source has too few columns that can be released for this task",
        hint="choose another task; the method for this one needs two kinds of columns",
        code=ErrorCode.NO_COLUMNS,
    )


@dataclass(frozen=True)
class Flag:
    """A boolean column beside another one.

    Attributes:
        hides: whether the value is sensitive where it is true, and not where it is false.
    """

    name: str
    hides: bool

    @property
    def sensitive_when(self) -> Mapping[str, str]:
        """The key of a policy with this meaning."""
        return {"column": self.name} if self.hides else {"predicate": f"not {quote(self.name)}"}


def flags(columns: Iterable[Column]) -> dict[str, Flag]:
    """The flag of every column that has one: `age_is_private`, `show_age` of `age`.

    Its name has all words of the column's name, and one that speaks of hiding or showing.
    """
    every, found = list(columns), dict[str, Flag]()
    for column in every:
        parts = set(words(column.name))
        for other in (one for one in every if parts and one.kind == "boolean"):
            further = set(words(other.name)) - parts
            hides = bool(further & WORDS["hides"])
            if parts <= set(words(other.name)) and (hides or further & WORDS["shows"]):
                # `not_shown` hides.
                found.setdefault(column.name, Flag(other.name, hides != ("not" in further)))
    return found


def flag_hints(columns: Iterable[Column], declared: Columns, registry: Registry) -> dict[str, str]:
    """The purpose of a flag, by its name, where the policy does not let people decide."""
    found = {
        name: flag
        for name, flag in flags(columns).items()
        for column in (declared.get(name),)
        if column is not None and column.role != "semi_sensitive"
    }
    # Tasks are read only where they are needed, since that imports all methods.
    method = registry.method_for(DECIDE) if found else None
    if method is None:
        return {}
    return {
        flag.name: f"{quote(flag.name)} seems to say for whom {quote(name)} is sensitive; people"
        f" decide with role: semi_sensitive and the method {method} (pganon policy init --task"
        f" {DECIDE})"
        for name, flag in found.items()
    }
