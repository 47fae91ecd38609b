"""Whether who computes a method learns of sensitive values from where its groups are."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.methods.registry import OWN, methods

ALWAYS, NEVER, WITH_VALUES = (True, True), (False, False), (False, True)
"""Where no model is about sensitive values, and where one is."""

DECIDED: dict[str, tuple[bool, bool]] = {
    "mondrian": WITH_VALUES,
    "danonyir": WITH_VALUES,
    "geneir": WITH_VALUES,
    "qs_greedy": ALWAYS,
    "qs_efficient": ALWAYS,
    "anatomy": NEVER,
    "slicing": WITH_VALUES,
    "slamsa": ALWAYS,  # division: eligible is the default
    "msb": WITH_VALUES,
    "sloms": WITH_VALUES,
    "lgb_mdp": NEVER,
    "lgb_ncp": NEVER,
    "local_bucketization": NEVER,
    "local_generalization": NEVER,
    "beta_primacy": NEVER,
    "kinc": WITH_VALUES,
    "kagg": WITH_VALUES,
    "kinc_mic": WITH_VALUES,
    "kagg_mic": WITH_VALUES,
    "js_reduce": WITH_VALUES,
}


def decided(name: str, **options: Any) -> tuple[bool, bool]:
    made = methods()[name].options.model_validate({"name": name, **options})
    return made.decides_by_values(bounded=False), made.decides_by_values(bounded=True)


def test_every_method_is_known() -> None:
    assert list(DECIDED) == list(OWN)


@pytest.mark.parametrize("name", DECIDED)
def test_by_default(name: str) -> None:
    assert decided(name) == DECIDED[name]


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("anatomy", {"division": "eligible"}, ALWAYS),
        ("slamsa", {"division": "public"}, NEVER),
        ("beta_primacy", {"division": "eligible"}, ALWAYS),
        ("beta_primacy", {"division": "none"}, NEVER),
        ("beta_primacy", {"select": "sweep"}, ALWAYS),
        ("beta_primacy", {"select": "nearest"}, ALWAYS),
    ],
)
def test_options_decide(name: str, options: dict[str, Any], expected: tuple[bool, bool]) -> None:
    assert decided(name, **options) == expected
