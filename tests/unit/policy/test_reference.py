"""The policy reference: its examples load, and no key is missing from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pganon.loading import known, load_policy
from pganon.policy.columns import ColumnPolicy
from pganon.policy.exclusions import Between, Exclusion
from pganon.policy.hierarchies import FORMS
from pganon.policy.knowledge import Cells, Kernel, Knowledge
from pganon.policy.model import Inference, Policy, Publish
from pganon.policy.requests import Approval, Parameter, Requests
from pganon.policy.words import NULLS, ROLES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "policy.md"
TEXT = PAGE.read_text("utf-8")
EXAMPLES = re.findall(r"^```(?:yaml|json)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == TEXT.count("```yaml") + TEXT.count("```json") >= 8


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.split("\n", 1)[0])
def test_examples_load(example: str) -> None:
    assert load_policy(example).policy.release


def test_every_key_and_word_is_there() -> None:
    keys = [
        info.alias or name
        for model in (
            Policy,
            ColumnPolicy,
            Publish,
            Requests,
            Parameter,
            Approval,
            Inference,
            Exclusion,
            Between,
            Knowledge,
            Kernel,
            Cells,
            *known().methods.values(),
            *known().models.values(),
            *FORMS.values(),
        )
        for name, info in model.model_fields.items()
    ]
    missing = [
        word
        for word in (*keys, *ROLES, *tuple(known().models), *tuple(known().methods), *NULLS)
        if f"`{word}`" not in TEXT
    ]
    assert missing == []


def _defaults() -> list[tuple[str, str]]:
    """Options of methods and models with a default, as the page writes it."""
    return sorted(
        {
            (name, f"{info.default:g}" if isinstance(info.default, float) else str(info.default))
            for model in (*known().methods.values(), *known().models.values(), Inference)
            for name, info in model.model_fields.items()
            if info.default is not None and isinstance(info.default, int | float | str)
        }
    )


def test_every_default_is_beside_its_key() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith(("|", "- "))]
    missing = [
        (key, default)
        for key, default in _defaults()
        if not any(f"`{key}`" in row and f"`{default}`" in row for row in rows)
    ]
    assert missing == []
