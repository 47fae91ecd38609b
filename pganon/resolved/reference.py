"""Refusals of a policy that publishes the distribution of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.options import REFERENCE, SHARE
from pganon.policy.refusals import Refusal
from pganon.privacy.requirements import requirements_of
from pganon.resolved.model import Sensitive
from pganon.resolved.names import part_name_refusals

_PLACE = ("publish", "reference")


def reference_refusals(policy: Policy, sensitive: Sequence[Sensitive]) -> Iterable[Refusal]:
    """Why the distribution cannot be published as the policy asks."""
    if not policy.publish.reference:
        return
    method = policy.method
    if "reference" not in method.supports:
        yield Refusal(
            _PLACE,
            f"the method {method.name} does not publish the source's distribution",
            "remove it",
        )
        return
    yield from method.reference_refusals()
    numbers = {item.column.name: item.index for item in sensitive}
    found = {r.sensitive for r in requirements_of(policy, numbers) if r.model.needs_reference}
    if len(found) != 1:
        compared = "models compare several columns" if found else "no model compares"
        yield Refusal(
            _PLACE,
            f"{compared} with the source's distribution; one can be published",
            "remove it",
        )
    for item in sensitive:
        if item.index in found and item.published == SHARE:
            yield Refusal(
                ("columns", item.column.name, "as"),
                f"{quote(SHARE)} is a column of the distribution",
                "rename it with `as:`",
            )
    yield from part_name_refusals(policy, REFERENCE)
