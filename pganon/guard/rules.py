"""What a policy promises of people, as it is judged on cells and kept with the memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from fractions import Fraction
from typing import Any

from pganon.privacy.base import Model
from pganon.privacy.judged import Judged
from pganon.privacy.models import measured_models


@dataclass(frozen=True)
class Rule:
    """A model, and the remembered column that it is about.

    Attributes:
        column: None for a model of people, or of sets of columns.
        sets: the columns of every QS set, for a model of combinations; for one of rows, those of
            the rows.
        independent: whether it is promised only for readers to whom columns that no version shows
            together tell nothing of one another.
    """

    model: Model
    column: str | None = None
    sets: tuple[tuple[str, ...], ...] = ()
    independent: bool = False

    @property
    def label(self) -> str:
        assumed = ", columns taken to be independent" if self.independent else ""
        return f"{self.model.label}{self.on}{assumed}"

    @property
    def on(self) -> str:
        """The columns that it is about, as words that follow the name of the model."""
        names = self.column or (", ".join(self.columns) if self.model.of_rows else "")
        return f" on {names}" if names else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it reads."""
        if self.column is not None:
            return (self.column,)
        return tuple(dict.fromkeys(name for names in self.sets for name in names))

    def to_json(self) -> dict[str, Any]:
        """An object of JSON that :func:`rule_of` reads."""
        kept = {item.name: getattr(self.model, item.name) for item in _fields(self.model)}
        parameters = {k: str(v) if isinstance(v, Fraction) else v for k, v in kept.items()}
        return {
            "model": self.model.name,
            "parameters": parameters,
            "column": self.column,
            "sets": [list(names) for names in self.sets],
            "independent": self.independent,
        }


def rule_of(kept: Mapping[str, Any]) -> Rule:
    """What :meth:`Rule.to_json` gave."""
    parameters = {
        name: Fraction(value) if isinstance(value, str) and "/" in value else value
        for name, value in kept["parameters"].items()
    }
    sets = tuple(tuple(names) for names in kept["sets"])
    model = measured_models()[kept["model"]](**parameters)
    return Rule(model, kept["column"], sets, kept.get("independent", False))


def judged_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Those that say something about cells, each once, with the strictest parameter only."""
    found: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        if rule.model.judged is Judged.NOTHING:
            continue
        key = rule_key(rule)
        other = found.get(key)
        if other is None or rule.model.stricter(other.model):
            found[key] = rule
    return tuple(found.values())


def rule_key(rule: Rule) -> tuple[object, ...]:
    """What rules have in common of which the strictest implies the others."""
    same = {
        item.name: getattr(rule.model, item.name)
        for item in _fields(rule.model)
        if item.name != rule.model.symbol
    }
    return (type(rule.model), rule.column, rule.sets, rule.independent, *same.items())


def _fields(model: Model) -> Sequence[Field[Any]]:
    return fields(model)  # pyright: ignore[reportArgumentType]
