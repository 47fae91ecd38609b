"""The class of policies that may use the registered methods and privacy models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from pganon.policy.hierarchies import Declaration
from pganon.policy.model import Policy
from pganon.policy.options import MethodOptions
from pganon.policy.refusals import refuse_one, refuse_word, show
from pganon.policy.registry import Registry


@lru_cache
def policy_class(registry: Registry, *methods: str) -> type[Policy]:
    """:class:`Policy` with the fields of all models, and of the methods with these words.

    It refuses what names no method of the registry. No other methods are imported for it.
    """
    models: Any = tuple.__class_getitem__((model_type(registry), ...))
    fields: dict[str, Any] = {
        "privacy": (Annotated[models, Field(strict=False)], ...),
        "method": (method_type(registry, *methods), ...),
    }
    made = create_model("Policy", __base__=Policy, __doc__=Policy.__doc__, **fields)
    made.registry = registry
    return made


@lru_cache
def model_type(registry: Registry) -> Any:
    """Any of the models, selected by its word."""
    return _one_of(registry.model_classes, "model", "privacy model", [*registry.models])


@lru_cache
def method_type(registry: Registry, *methods: str) -> Any:
    """One of the methods with these words; without any, nothing that can be valid."""
    declared = [registry.methods[word] for word in methods] or [MethodOptions]
    return _one_of(declared, "name", "method", [*registry.methods])


def _one_of(
    declared: Sequence[type[Declaration]],
    key: str,
    what: str,
    words: Sequence[str],
) -> Any:
    """A mapping whose class is selected by the word under `key`."""
    union: Any = reduce(or_, declared)
    chosen: Any = Annotated[union, Field(discriminator=key)] if len(declared) > 1 else union

    def check(value: object) -> object:
        if isinstance(value, Declaration):
            return value
        if not isinstance(value, dict):
            example = value if isinstance(value, str) and value in words else words[0]
            refuse_one(
                f"must be a mapping, not {show(value)}", suggestion=f"write {{{key}: {example}}}"
            )
        if key not in value:
            refuse_one(
                f"the key {key} is missing", suggestion=f"write {key}: one of {', '.join(words)}"
            )
        refuse_word(what, value[key], words, at=(key,))
        return value

    return Annotated[chosen, BeforeValidator(check)]


def policy_schema(registry: Registry) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a policy file.

    It knows keys, types and words; what goes together is checked by `pganon policy check`.
    """
    schema = policy_class(registry, *registry.methods).model_json_schema(by_alias=True)
    of_one = ["source", "columns"]  # which tables have in their places
    schema["required"] = [key for key in schema["required"] if key not in of_one]
    schema["anyOf"] = [{"required": of_one}, {"required": ["tables"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "pganon policy",
    }
