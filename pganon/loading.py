"""Policies that may use every method and privacy model that there is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pganon.methods.registry import methods
from pganon.policy import loader
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.policy.options import MethodOptions
from pganon.policy.registry import OnDemand, Registry
from pganon.privacy.models import MODELS


@cache
def known() -> Registry:
    """The methods of this version and of other packages, and the models of this version."""
    found = methods()
    return Registry(OnDemand({word: partial(_options, word) for word in found}), MODELS)


def _options(word: str) -> type[MethodOptions]:
    return methods()[word].options


def load_policy(path_or_text: str | Path) -> LoadedPolicy:
    """Load a policy from a file's path, or from a text that has a line end or starts with `{`.

    The text `-` is standard input; paths in such a policy start from the current folder. Any path
    of a file of that name is the file.

    Raises:
        PolicyError: with every problem, each with field and line.
    """
    return loader.load_policy(path_or_text, known())


def policy_from(
    data: object,
    *,
    file: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Policy:
    """A policy from plain data, e.g. of JSON; PolicyError with every problem.

    Args:
        file: what to call it in messages.
        parameters: of a request, within the bounds that the policy declares.
    """
    return loader.policy_from(data, known(), file=file, parameters=parameters)
