"""What a run warns of."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.encode.source import source_fingerprint
from pganon.identifiers import quote
from pganon.methods.mixed import mixed_scales
from pganon.plan.build import Plan
from pganon.plan.steps import State
from pganon.spec.model import ReleaseSpec
from pganon.spec.republication import Republication


def warnings_of(plan: Plan, state: State) -> tuple[str, ...]:
    """What the steward should know of a run that succeeded: sentences with names and counts."""
    spec = plan.spec
    found: list[str] = []
    beside = beside_earlier(plan.republication, state)
    found += [beside] if beside else []
    if spec.policy.records_per_individual == "many_accepted":
        found.append(
            "the guarantee counts records; a person with several records is protected less"
        )
    found += unbounded(spec)
    found += mixed_scales(spec)
    found += plan.method.form.warnings(spec, state.facts)
    if spec.unreleased:
        names = ", ".join(quote(name) for name in spec.unreleased)
        found.append(f"not declared and not released: {names}")
    return tuple(found)


def beside_earlier(republication: Republication | None, state: State) -> str | None:
    """That other versions over the source show other groups, if the policy wants to know."""
    if republication is None:
        return None
    same = state.facts.get("same_groups")
    return republication.warning(source_fingerprint(state.facts), same)  # pyright: ignore


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
