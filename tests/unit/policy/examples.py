"""A complete small policy as plain data, to be changed by tests."""

from __future__ import annotations

from typing import Any

from pganon.policy.columns import ColumnPolicy, Role


def policy(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "release": "adult",
        "source": "public.adult",
        "columns": {
            "person": {"role": "identifying"},
            "age": {"role": "quasi_identifying"},
            "job": {"role": "sensitive"},
            "hours": {"role": "insensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": 5}],
        "method": {"name": "mondrian"},
    }
    data.update(changes)
    return {key: value for key, value in data.items() if value is not None}


def with_column(name: str = "x", **keys: Any) -> dict[str, Any]:
    data = policy()
    data["columns"][name] = keys
    return data


def qs_policy(**changes: Any) -> dict[str, Any]:
    """A policy with two QS sets."""
    data = policy(
        release="vehicles",
        source="public.vehicles",
        columns={
            "plate": {"role": "identifying"},
            "reg_year": {"role": "quasi_sensitive", "set": "registration"},
            "colour": {"role": "quasi_sensitive", "set": "registration"},
            "zone": {"role": "quasi_sensitive", "set": "sighting"},
            "hour": {"role": "quasi_sensitive", "set": "sighting"},
            "speed": {"role": "insensitive"},
        },
        privacy=[{"model": "qs_k_anonymity", "k": 4}],
        method={"name": "qs_greedy"},
    )
    data.update(changes)
    return data


def anatomy_policy(**changes: Any) -> dict[str, Any]:
    """A policy that publishes quasi-identifiers as they are."""
    return policy(
        **{
            "privacy": [{"model": "anatomy_l_diversity", "column": "job", "l": 3}],
            "method": {"name": "anatomy"},
            **changes,
        }
    )


REGISTRY = {
    "person": {"role": "identifying"},
    "age": {"role": "quasi_identifying"},
    "sex": {"role": "quasi_identifying"},
    "born": {"role": "quasi_identifying"},
    "cancer": {"role": "sensitive"},
    "treatment": {"role": "sensitive"},
    "symptom": {"role": "sensitive"},
    "clinic": {"role": "insensitive"},
}


def slamsa_policy(method: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A policy with three quasi-identifiers and three sensitive columns."""
    data = policy(
        release="registry",
        source="public.registry",
        columns={name: dict(keys) for name, keys in REGISTRY.items()},
        privacy=[{"model": "slicing_l_diversity", "l": 3}],
        method={"name": "slamsa", **(method or {})},
    )
    data.update(changes)
    return data


def slicing_policy(**options: Any) -> dict[str, Any]:
    """The same for the one sensitive column of slicing."""
    data = slamsa_policy(method={"name": "slicing", **options})
    del data["columns"]["treatment"], data["columns"]["symptom"]
    return data


def msb_policy(**options: Any) -> dict[str, Any]:
    data = slamsa_policy(method={"name": "msb", **options})
    data["privacy"][0]["level"] = "unique"
    return data


def with_rules(*rules: dict[str, Any]) -> dict[str, Any]:
    """The policy of SLAMSA with exclusions."""
    return slamsa_policy(exclusions=list(rules))


def columns_of(quasi: int, sensitive: int) -> dict[str, ColumnPolicy]:
    """So many quasi-identifiers and sensitive columns."""
    roles: list[Role] = ["quasi_identifying"] * quasi + ["sensitive"] * sensitive
    return {f"c{number}": ColumnPolicy(role=role) for number, role in enumerate(roles)}
