"""What a release promises, as its readers find it in `pganon.releases`."""

from __future__ import annotations

from typing import Any

from pganon.privacy.base import Requirement
from pganon.spec.model import ReleaseSpec


def guarantee(spec: ReleaseSpec) -> list[dict[str, Any]]:
    """One object of JSON per requirement."""
    return [_stated(requirement) for requirement in spec.requirements]


def _stated(requirement: Requirement) -> dict[str, Any]:
    model, given = requirement.model, requirement.given
    stated = {"model": model.name, **model.parameters, "column": requirement.column}
    return stated if given is None else {**stated, "if_not_null": given.parameters}
