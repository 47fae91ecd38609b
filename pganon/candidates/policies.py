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
from pganon.policy.model import policy_hash
from pganon.policy.pydantic_errors import refusals_of
from pganon.policy.registry import Registry
from pganon.policy.typed import method_type, model_type

MOST = 64
"""Candidates of one comparison."""

_WORDS = ("name", "model", "column")
"""Keys that no value is tried for: which method or model it is, and what it is about."""


@dataclass(frozen=True)
class Candidate:
    """A policy to measure.

    Attributes:
        method: as its policy has it.
        varied: value of every varied parameter that it has, by its label.
        policy: or why there is none.
    """

    method: Mapping[str, Any]
    varied: Mapping[str, Any]
    policy: LoadedPolicy | PolicyError = field(repr=False)


def candidates_of(
    loaded: LoadedPolicy, methods: Sequence[Method] = (), varied: Sequence[Varied] = ()
) -> tuple[Candidate, ...]:
    """Every method with every combination of values, without repetitions.

    Args:
        methods: a name is the policy's own method as the policy has it, or another one without
            options; none: the policy's own.

    Raises:
        UsageError: a method or parameter is unknown, a value is wrong in itself, or there are too
            many candidates.
    """
    made = _Making(loaded)
    chosen = [made.method(method) for method in methods or (made.own["name"],)]
    made.check_known(varied, chosen)
    return made.candidates(chosen, varied)


class _Making:
    def __init__(self, loaded: LoadedPolicy) -> None:
        self.loaded = loaded
        self.registry = known()
        # With parameters of requests, `where` is to be filled in once.
        self.data = dict(loaded.written or loaded.policy.document())
        self.own: dict[str, Any] = self.data["method"]
        self.models: list[dict[str, Any]] = list(self.data["privacy"])

    def method(self, method: Method) -> dict[str, Any]:
        """A method as a policy has it, which is right in itself."""
        if isinstance(method, str):
            method = self.own if method == self.own["name"] else {"name": method}
        self._check("--methods", {"method": dict(method)})
        return dict(method)

    def check_known(self, varied: Sequence[Varied], methods: Sequence[Mapping[str, Any]]) -> None:
        """Every parameter is a key of something here, and no label is there twice."""
        labels = [one.label for one in varied]
        for one in varied:
            if labels.count(one.label) > 1:
                raise UsageError(f"--vary {one.label} is given twice", hint="name all values once")
            if not any(self._places(one, method) for method in methods):
                raise UsageError(
                    f"--vary {one.label}: no privacy model and no method here has this parameter",
                    hint=f"there is {'; '.join(self._parameters(methods))}",
                )

    def candidates(
        self, methods: Sequence[dict[str, Any]], varied: Sequence[Varied]
    ) -> tuple[Candidate, ...]:
        found: dict[str, Candidate] = {}
        for method in methods:
            having = [one for one in varied if self._places(one, method)]
            for values in product(*(one.values for one in having)):
                settings = dict(zip((one.label for one in having), values, strict=True))
                changed = self._changed(method, zip(having, values, strict=True))
                made, policy = self._policy(*changed)
                found.setdefault(made, Candidate(method, settings, policy))
                if len(found) > MOST:
                    raise UsageError(
                        f"these are more than {MOST} candidates", hint="name fewer values"
                    )
        return tuple(found.values())

    def _policy(
        self, method: dict[str, Any], models: list[dict[str, Any]]
    ) -> tuple[str, LoadedPolicy | PolicyError]:
        """With a text that is the same for the same policy, however it is written."""
        try:
            policy = policy_from({**self.data, "privacy": models, "method": method})
        except PolicyError as error:
            return json.dumps([method, models], sort_keys=True), error
        return policy_hash(policy), replace(self.loaded, policy=policy)

    def _changed(
        self, method: dict[str, Any], settings: Iterator[tuple[Varied, Any]]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Method and models with these values."""
        models = self.models
        for one, value in settings:
            places = self._places(one, method)
            models = [
                self._with(one, "privacy", m, value) if n in places else m
                for n, m in enumerate(models)
            ]
            if None in places:
                method = self._with(one, "method", method, value)
        return method, models

    def _with(
        self, one: Varied, key: str, declared: dict[str, Any], value: object
    ) -> dict[str, Any]:
        changed = {**declared, one.name: value}
        alone = changed if key == "method" else [changed]
        self._check(f"--vary {one.label}={written(value)}", {key: alone})
        return changed

    def _places(self, one: Varied, method: Mapping[str, Any]) -> list[int | None]:
        """Numbers of the models that have the parameter; None for the method.

        Raises:
            UsageError: a model and the method have it.
        """
        places: list[int | None] = [
            number
            for number, model in enumerate(self.models)
            if one.name in keys_of_model(model["model"])
            and one.place in (None, model["model"], model.get("column"))
        ]
        of_method = one.name in self._method_keys(method) and one.place in (None, method["name"])
        if places and of_method:
            words = [self.models[n]["model"] for n in places if n is not None] + [method["name"]]
            raise UsageError(
                f"--vary {one.label}: {', '.join(words)} have this parameter",
                hint=f"say which: {' or '.join(f'{word}.{one.name}' for word in words)}",
            )
        return [*places, *([None] if of_method else [])]

    def _method_keys(self, method: Mapping[str, Any]) -> list[str]:
        return _keys(self.registry.methods[method["name"]])

    def _parameters(self, methods: Sequence[Mapping[str, Any]]) -> list[str]:
        """What each model and method could be varied in."""
        having = {m["model"]: keys_of_model(m["model"]) for m in self.models}
        having |= {m["name"]: self._method_keys(m) for m in methods}
        return [f"{', '.join(keys)} ({word})" for word, keys in having.items() if keys]

    def _check(self, option: str, data: dict[str, Any]) -> None:
        """Refuse what is wrong whatever else a policy says."""
        (key,) = data
        method = named_method(data, self.registry)
        try:
            _alone(self.registry, key, *method).model_validate(data)
        except ValidationError as error:
            first = next(refusals_of(error, self.registry, method))
            # An option that is varied, and the name of a method, are in the message already.
            named = key == "method" and option == "--methods" and first.place != ("method", "name")
            place = f"{field_path(first.place[1:])}: " if named else ""
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
