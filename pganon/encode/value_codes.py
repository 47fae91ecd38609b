"""Which sensitive columns need codes of their values."""

from __future__ import annotations

from pganon.resolved.model import ReleaseSpec, Sensitive


def valued(spec: ReleaseSpec) -> list[Sensitive]:
    """Sensitive columns whose values a requirement or the method tells apart."""
    if spec.policy.method.encoding.codes_sensitive:
        return list(spec.sensitive)
    wanted = {r.sensitive for r in spec.requirements if r.model.needs_values}
    return [item for item in spec.sensitive if item.index in wanted]


def referenced(spec: ReleaseSpec) -> list[Sensitive]:
    """Sensitive columns that a requirement compares with the distribution of the table."""
    wanted = {r.sensitive for r in spec.requirements if r.model.needs_reference}
    return [item for item in spec.sensitive if item.index in wanted]
