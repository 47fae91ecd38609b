"""Refusals of a policy that publishes the distribution of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pganon.identifiers import MAX_BYTES, fits, quote
from pganon.policy.model import Policy
from pganon.policy.options import REFERENCE, SHARE, part_name
from pganon.policy.refusals import Refusal
from pganon.privacy.requirements import requirements_of
from pganon.resolved.model import Sensitive

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
    name = part_name(policy.release, REFERENCE)
    if fits(policy.release) and not fits(name):
        yield Refusal(
            ("release",),
            f"the name of its view {quote(name)} has more than {MAX_BYTES} bytes",
            f"choose a name of at most {MAX_BYTES - len(part_name('', REFERENCE).encode())} bytes",
        )
