"""The JSON Schema of policies, for editors."""

from __future__ import annotations

from typing import Any

from pganon.policy.policy_class import policy_class
from pganon.policy.registry import Registry


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
