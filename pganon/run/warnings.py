"""What a run warns of."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.encode.source import Previous, source_unchanged
from pganon.identifiers import quote
from pganon.plan.build import Plan
from pganon.plan.steps import State
from pganon.spec.model import ReleaseSpec


def warnings_of(
    plan: Plan, previous: Previous | None, state: State, last_hash: str | None
) -> tuple[str, ...]:
    """What the steward should know of a run that succeeded: sentences with names and counts."""
    spec = plan.spec
    found: list[str] = []
    warn = spec.policy.republication == "warn"
    if warn and previous is not None and not source_unchanged(previous, state.facts):
        found.append(
            f"the source changed since version {previous.version}; who compares two versions"
            " may learn what neither shows"
        )
    if previous is not None and last_hash is not None and last_hash != spec.policy_hash:
        found.append(
            f"the policy changed since version {previous.version}; {plan.method.form.groups} of"
            " both versions can be intersected by whoever has both"
        )
    if spec.policy.records_per_individual == "many_accepted":
        found.append(
            "the guarantee counts records; a person with several records is protected less"
        )
    found += unbounded(spec)
    if spec.unreleased:
        names = ", ".join(quote(name) for name in spec.unreleased)
        found.append(f"not declared and not released: {names}")
    return tuple(found)


def unbounded(spec: ReleaseSpec) -> Iterator[str]:
    """Sensitive columns whose values no requirement bounds, where the method allows them."""
    if spec.policy.method.sensitive != "some":
        return
    bounded = {r.sensitive for r in spec.requirements}
    names = [quote(s.column.name) for s in spec.sensitive if s.index not in bounded]
    if not names:
        return
    columns = f"column{'s' * (len(names) > 1)} {', '.join(names)}"
    of_tables = any(r.sensitive is None and r.model.needs_values for r in spec.requirements)
    if of_tables:
        yield (
            f"no requirement is about the sensitive {columns} alone; level: tuple bounds the values"
            " of a whole sensitive table, and all of them may share the value of one column"
        )
    else:
        yield (
            f"no requirement is about the sensitive {columns}; how many records of a bucket share"
            " a value there is not verified"
        )
