"""Guesses at roles, made to fit what the method for a task asks of its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from pganon.catalog.model import Column
from pganon.catalog.statistics import Facts
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.policy.columns import Columns
from pganon.policy.guess import Guess
from pganon.policy.options import MethodOptions
from pganon.policy.registry import Registry
from pganon.policy.tasks import DECIDE
from pganon.policy.vocabulary import WORDS, words
from pganon.policy.words import HIDDEN

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
