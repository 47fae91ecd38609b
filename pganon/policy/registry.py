"""Declarations of all methods and privacy models, from which a policy chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args

from pganon.policy.columns import Columns
from pganon.policy.hierarchies import Declaration
from pganon.policy.options import UNABLE, MethodOptions, Support
from pganon.policy.refusals import Place, Refusal, alternatives
from pganon.policy.tasks import TASKS, Start


class ModelDeclaration(Declaration):
    """Base of the privacy models. A subclass has a field `model` with its one word.

    A model that is about a sensitive column has a field `column` with its name.

    Attributes:
        conditional: whether there is a parameter with which it also holds against readers who know
            that a sensitive value is not NULL; see :mod:`pganon.privacy.requirements`.
    """

    conditional: ClassVar[bool] = False

    if TYPE_CHECKING:
        model: Any  # a field of every subclass, with the one word that it can be

    @property
    def about(self) -> str | None:
        """The sensitive column it is about, if it names one."""
        return getattr(self, "column", None)

    @property
    def counted_in(self) -> str | None:
        """The relation of the population whose people it counts, if it names one."""
        return getattr(self, "population", None)

    @property
    def about_each(self) -> bool:
        """Whether it applies to every sensitive column separately."""
        return False

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        """Refusals of what does not fit the columns; places are relative to the model."""
        return ()


T = TypeVar("T")


class OnDemand(Mapping[str, T]):
    """Values by words, each made when it is first read; words are listed without making any."""

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, T] = {}

    def __getitem__(self, word: str) -> T:
        if word not in self._made:
            self._made[word] = self._makers[word]()
        return self._made[word]

    def __contains__(self, word: object) -> bool:
        return word in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, eq=False)
class Registry:
    """Declarations that a policy may choose from, in the order in which messages list them.

    Attributes:
        methods: by the word that a policy writes. To read one may import its modules, so only
            messages about a wrong policy read all of them.
    """

    methods: Mapping[str, type[MethodOptions]]
    model_classes: tuple[type[ModelDeclaration], ...]

    @cached_property
    def models(self) -> dict[str, type[ModelDeclaration]]:
        return {word_of(model, "model"): model for model in self.model_classes}

    @cached_property
    def tasks(self) -> dict[str, tuple[type[MethodOptions], Start]]:
        """The method for every task, and what it begins with; of several methods the first."""
        starts = [(options, start) for options in self.methods.values() for start in options.starts]
        of_task = {start.task: (options, start) for options, start in reversed(starts)}
        return {task: of_task[task] for task in TASKS if task in of_task}

    def method_for(self, task: str) -> str | None:
        """Name of the method for a task, if there is one."""
        return word_of(self.tasks[task][0], "name") if task in self.tasks else None

    def models_of(self, method: MethodOptions) -> Iterator[str]:
        """Words of the models that a method can guarantee."""
        return (word for word in self.models if word in method.models)

    def supporting(self, part: Support) -> list[str]:
        """Words of the methods that support a part of a policy."""
        return [word for word, options in self.methods.items() if part in options.supports]

    def unsupported(
        self, method: MethodOptions | None, part: Support, place: Place, remove: str = "it"
    ) -> Iterator[Refusal]:
        """The refusal of a part of a policy that its method does not support."""
        if method is not None and part not in method.supports:
            others = [f"use the method {alternatives(n)}" for n in (self.supporting(part),) if n]
            hint = ", or ".join([*others, f"remove {remove}"])
            yield Refusal(place, f"the method {method.name} {UNABLE[part]}", hint)


def word_of(declaration: type[MethodOptions] | type[ModelDeclaration], key: str) -> str:
    """The one word that the field `key` of a declaration can hold."""
    return get_args(declaration.model_fields[key].annotation)[0]
