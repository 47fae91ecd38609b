"""What a policy declares of a privacy model, whichever it is."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from pganon.policy.registry import ModelDeclaration, word_of
from pganon.privacy.base import Model


class PrivacyModel(ModelDeclaration):
    """A privacy model with the parameters of a policy."""

    @abstractmethod
    def measures(self) -> tuple[Model, ...]:
        """Measures of every group, each with its parameter; groups must satisfy all."""


class MeasuredModel(PrivacyModel, Model):
    """A privacy model that is its own measure. As a measure it names no column."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        if "model" in cls.model_fields:
            cls.name = word_of(cls, "model")

    @classmethod
    def of(cls, *parameters: Any, **named: Any) -> Self:
        """The same, whatever limits a policy has for the parameters."""
        words = {"model": cls.name, "column": None}
        fixed = {name: word for name, word in words.items() if name in cls.model_fields}
        free = (name for name in cls.model_fields if name not in fixed)
        given = dict(zip(free, parameters, strict=False)) | named
        return cls.model_construct(**fixed, **given)

    @classmethod
    def needed(cls) -> list[str]:
        needed = [name for name, field in cls.model_fields.items() if field.is_required()]
        return [name for name in needed if name not in ("model", "column")]

    @property
    def parameters(self) -> dict[str, object]:
        names = [name for name in type(self).model_fields if name not in ("model", "column")]
        return {name: getattr(self, name) for name in names}

    def measures(self) -> tuple[Model, ...]:
        return (self.model_copy(update={"column": None} if self.about else {}),)

    def __hash__(self) -> int:
        return hash(self.label)
