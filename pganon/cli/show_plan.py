"""A plan on the terminal."""

from __future__ import annotations

from pganon.cli import common
from pganon.identifiers import first_few, quote
from pganon.plan.build import Plan
from pganon.plan.explain import Explained
from pganon.privacy.requirements import warnings
from pganon.resolved.guarantee import adversary, guarantee
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.warnings import torn, unchanged_identifiers, without_key
from pganon.steps import State


def show_plan(built: Plan, steps: list[Explained], *, sql: bool, json: bool) -> None:
    spec = built.spec
    skipped = {phase.name: phase.skipped for phase in built.phases if phase.skipped}
    if json:
        common.emit_json(
            {
                "release": spec.policy.release,
                "source": str(spec.source.name),
                "view": str(spec.view),
                "method": built.method.name,
                "guarantee": _guarantee(spec),
                "adversary": adversary(spec),
                **({"period": built.period} if built.period else {}),
                "columns": [
                    {"name": c.name, "type": c.type, "comment": c.comment}
                    for view in built.stored_views(State(0))
                    for c in view.columns
                ],
                "unreleased": list(spec.unreleased),
                "warnings": _warnings(spec),
                "steps": steps,
                "skipped": skipped,
            }
        )
        return
    common.facts(
        {
            "release": spec.policy.release,
            "source": str(spec.source.name),
            "view": str(spec.view),
            "method": built.method.name,
            **({"tables": ", ".join(map(str, spec.related.relations))} if spec.related else {}),
            **({"period": f"{built.period}; new people after it"} if built.period else {}),
            "guarantee": "; ".join(_guarantee(spec)),
            "holds against": adversary(spec),
            "not released": first_few([quote(name) for name in spec.unreleased]) or "-",
        }
    )
    for view in built.stored_views(State(0)):
        common.table(
            ["column", "type", "what it shows"],
            [(c.name, c.type, c.comment) for c in view.columns],
            title=f"columns of {view.name}",
        )
    if not sql:
        common.table(["phase", "step", "purpose"], [(s.phase, s.step, s.purpose) for s in steps])
        common.table(["skipped phase", "why"], list(skipped.items()))
    for step in steps if sql else ():
        common.line(f"-- {step.phase}: {step.step}: {step.purpose}")
        if step.sql:
            common.block(f"{step.sql};\n")
    common.warn(_warnings(spec))


def _guarantee(spec: ReleaseSpec) -> list[str]:
    of_tables = [one["requirement"] for one in guarantee(spec) if "sentence" in one]
    return [*[r.label for r in spec.requirements], *of_tables]


def _warnings(spec: ReleaseSpec) -> list[str]:
    return [*warnings(spec.policy), *without_key(spec), *torn(spec), *unchanged_identifiers(spec)]
