"""The policies of all candidates: a policy with other methods and parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any

from pydantic import ValidationError, create_model

from pganon.candidates.settings import Method, Varied, written
from pganon.errors import PolicyError, UsageError
from pganon.loading import known, policy_from
from pganon.policy.document import field_path
from pganon.policy.loader import LoadedPolicy, named_method
from pganon.policy.model import Policy, policy_hash
from pganon.policy.policy_class import method_type, model_type
from pganon.policy.refusals import refusals_of
from pganon.policy.registry import Registry

MOST = 64
"""Candidates of one comparison."""

_WORDS = ("name", "model", "column")
"""Keys that no value is tried for: which method or model it is, and what it is about."""

_BESIDE = ("privacy", "suppression_limit")
"""Keys of a policy that may come with a method. None of them changes what is read."""


@dataclass(frozen=True)
class Candidate:
    """A policy to measure.

    Attributes:
        method: as its policy has it.
        privacy: its models, with all parameters unless there is no policy.
        suppression_limit: share of the records, as it has it.
        varied: value of every varied parameter that it has, by its label.
        policy: or why there is none.
    """

    method: Mapping[str, Any]
    privacy: Sequence[Mapping[str, Any]]
    suppression_limit: float
    varied: Mapping[str, Any]
    policy: LoadedPolicy | PolicyError = field(repr=False)


@dataclass(frozen=True)
class _Choice:
    """A method, and what comes with it, as a policy has them.

    Attributes:
        beside: other keys of the policy.
    """

    method: dict[str, Any]
    models: Sequence[dict[str, Any]]
    beside: Mapping[str, Any]


def candidates_of(
    loaded: LoadedPolicy, methods: Sequence[Method] = (), varied: Sequence[Varied] = ()
) -> tuple[Candidate, ...]:
    """Every method with every combination of values, without repetitions.

    Args:
        methods: a name is the policy's own method as the policy has it, or another one without
            options; none: the policy's own. Keys of a policy, one of them `method`, replace those
            of this policy.

    Raises:
        UsageError: a method or parameter is unknown, a value is wrong in itself, or there are too
            many candidates.
    """
    made = _Making(loaded)
    chosen = [made.choice(method) for method in methods or (made.own["name"],)]
    made.check_known(varied, chosen)
    return made.candidates(chosen, varied)


class _Making:
    def __init__(self, loaded: LoadedPolicy) -> None:
        self.loaded = loaded
        self.registry = known()
        # With parameters of requests, `where` is to be filled in once.
        self.data = dict(loaded.written or loaded.policy.document())
        self.own: dict[str, Any] = self.data["method"]

    def choice(self, text: Method) -> _Choice:
        """What is right in itself."""
        beside = dict(text) if isinstance(text, Mapping) and "method" in text else {}
        method = beside.pop("method", text)
        if unknown := beside.keys() - {*_BESIDE}:
            raise UsageError(
                f"--methods: {', '.join(sorted(unknown))} cannot come with a method",
                hint=f"beside method there may be {' and '.join(_BESIDE)}",
            )
        if isinstance(method, str):
            method = self.own if method == self.own["name"] else {"name": method}
        self._check("--methods", {"method": dict(method)})
        if "privacy" in beside:
            self._check("--methods", {"privacy": beside["privacy"]})
        return _Choice(dict(method), beside.get("privacy", self.data["privacy"]), beside)

    def check_known(self, varied: Sequence[Varied], choices: Sequence[_Choice]) -> None:
        """Every parameter is a key of something here, and no label is there twice."""
        labels = [one.label for one in varied]
        for one in varied:
            if labels.count(one.label) > 1:
                raise UsageError(f"--vary {one.label} is given twice", hint="name all values once")
            if not any(self._places(one, choice) for choice in choices):
                raise UsageError(
                    f"--vary {one.label}: no privacy model and no method here has this parameter",
                    hint=f"there is {'; '.join(self._parameters(choices))}",
                )

    def candidates(
        self, choices: Sequence[_Choice], varied: Sequence[Varied]
    ) -> tuple[Candidate, ...]:
        found: dict[str, Candidate] = {}
        for choice in choices:
            having = [one for one in varied if self._places(one, choice)]
            for values in product(*(one.values for one in having)):
                settings = dict(zip((one.label for one in having), values, strict=True))
                changed = self._changed(choice, zip(having, values, strict=True))
                text, candidate = self._candidate(changed, settings)
                found.setdefault(text, candidate)
                if len(found) > MOST:
                    raise UsageError(
                        f"these are more than {MOST} candidates", hint="name fewer values"
                    )
        return tuple(found.values())

    def _candidate(self, choice: _Choice, settings: Mapping[str, Any]) -> tuple[str, Candidate]:
        """With a text that is the same for the same policy, however it is written."""
        method, models, data = choice.method, choice.models, {**self.data, **choice.beside}
        try:
            policy = policy_from({**data, "privacy": models, "method": method})
        except PolicyError as error:
            text = json.dumps([method, models, choice.beside], sort_keys=True)
            limit = data.get("suppression_limit", 0)
            return text, Candidate(method, models, limit, settings, error)
        privacy = [model.model_dump(mode="json", by_alias=True) for model in policy.privacy]
        loaded = replace(self.loaded, policy=policy)
        made = Candidate(method, privacy, policy.suppression_limit, settings, loaded)
        return policy_hash(policy), made

    def _changed(self, choice: _Choice, settings: Iterator[tuple[Varied, Any]]) -> _Choice:
        """Method and models with these values."""
        for one, value in settings:
            places = self._places(one, choice)
            models = [
                self._with(one, "privacy", m, value) if n in places else m
                for n, m in enumerate(choice.models)
            ]
            method = choice.method
            if None in places:
                method = self._with(one, "method", method, value)
            choice = replace(choice, method=method, models=models)
        return choice

    def _with(
        self, one: Varied, key: str, declared: dict[str, Any], value: object
    ) -> dict[str, Any]:
        changed = {**declared, one.name: value}
        alone = changed if key == "method" else [changed]
        self._check(f"--vary {one.label}={written(value)}", {key: alone})
        return changed

    def _places(self, one: Varied, choice: _Choice) -> list[int | None]:
        """Numbers of the models that have the parameter; None for the method.

        Raises:
            UsageError: a model and the method have it.
        """
        places: list[int | None] = [
            number
            for number, model in enumerate(choice.models)
            if one.name in keys_of_model(model["model"])
            and one.place in (None, model["model"], model.get("column"))
        ]
        name = choice.method["name"]
        of_method = one.name in self._method_keys(name) and one.place in (None, name)
        if places and of_method:
            words = [choice.models[n]["model"] for n in places if n is not None] + [name]
            raise UsageError(
                f"--vary {one.label}: {', '.join(words)} have this parameter",
                hint=f"say which: {' or '.join(f'{word}.{one.name}' for word in words)}",
            )
        return [*places, *([None] if of_method else [])]

    def _method_keys(self, name: str) -> list[str]:
        return _keys(self.registry.methods[name])

    def _parameters(self, choices: Sequence[_Choice]) -> list[str]:
        """What each model and method could be varied in."""
        models = [model["model"] for choice in choices for model in choice.models]
        names = [choice.method["name"] for choice in choices]
        having = {model: keys_of_model(model) for model in models}
        having |= {name: self._method_keys(name) for name in names}
        return [f"{', '.join(keys)} ({word})" for word, keys in having.items() if keys]

    def _check(self, option: str, data: dict[str, Any]) -> None:
        """Refuse what is wrong whatever else a policy says."""
        (key,) = data
        method = named_method(data, self.registry)
        try:
            _alone(self.registry, key, *method).model_validate(data)
        except ValidationError as error:
            first = next(refusals_of(error, tags=Policy.tags))
            # An option that is varied, and the name of a method, are in the message already.
            named = option == "--methods" and first.place != ("method", "name")
            where = first.place[1:] if key == "method" else first.place
            place = f"{field_path(where)}: " if named else ""
            raise UsageError(f"{option}: {place}{first.message}", hint=first.suggestion) from None


@cache
def _alone(registry: Registry, key: str, *method: str) -> Any:
    """A model of pydantic with one key of a policy."""
    models: Any = tuple.__class_getitem__((model_type(registry), ...))
    kinds: dict[str, Any] = {"privacy": models, "method": method_type(registry, *method)}
    fields: dict[str, Any] = {key: (kinds[key], ...)}
    return create_model("Alone", **fields)


def keys_of_model(model: str) -> list[str]:
    """Parameters of a privacy model; none of what is only a part of one."""
    models = known().models
    return _keys(models[model]) if model in models else []


def _keys(declaration: Any) -> list[str]:
    fields = declaration.model_fields.items()
    return [info.alias or name for name, info in fields if name not in _WORDS]
