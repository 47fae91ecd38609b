"""`pganon plan` and `pganon run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from pganon.cli import common
from pganon.cli.chosen import chosen_policy
from pganon.cli.metrics import show_metrics
from pganon.database import Settings
from pganon.errors import EXIT_REFUSED, UsageError
from pganon.forms.request import Request, Workload, parse_workload
from pganon.forms.utility import Utility
from pganon.identifiers import quote
from pganon.metrics.reasons import texts
from pganon.plan.build import Plan
from pganon.plan.explain import Explained, explain
from pganon.policy.loader import LoadedPolicy
from pganon.privacy.unprotected import warnings
from pganon.publish.views import dependent_texts
from pganon.resolved.guarantee import adversary
from pganon.resolved.republication import without_key
from pganon.run.context import plan_release
from pganon.run.options import RUN_SETTINGS, Options
from pganon.run.release import run_release
from pganon.run.result import Added, IncrementFigures, RunResult, Verified
from pganon.steps import State

ChosenArgument = Annotated[
    str, typer.Argument(help="Policy file, or the name of a policy in the database.")
]


class MetricSet(StrEnum):
    """What `--metrics` takes."""

    BASIC = "basic"
    ALL = "all"


def register(app: typer.Typer) -> None:
    app.command("plan")(plan)
    app.command("run")(run)


def plan(
    policy: ChosenArgument,
    sql: Annotated[bool, typer.Option("--sql", help="Show the SQL of every step.")] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show what a run would do; nothing is run and no data is read."""
    with chosen_policy(policy, dsn, owner) as (loaded, _):
        built = plan_release(loaded, dsn=common.chosen_dsn(dsn), owner=common.chosen_owner(owner))
        _show_plan(built, explain(built, sql=sql or json), sql=sql, json=json)


def _show_plan(built: Plan, steps: list[Explained], *, sql: bool, json: bool) -> None:
    spec = built.spec
    skipped = {phase.name: phase.skipped for phase in built.phases if phase.skipped}
    if json:
        common.emit_json(
            {
                "release": spec.policy.release,
                "source": str(spec.source.name),
                "view": str(spec.view),
                "method": built.method.name,
                "guarantee": [r.label for r in spec.requirements],
                "adversary": adversary(spec),
                "columns": [
                    {"name": c.name, "type": c.type, "comment": c.comment}
                    for view in built.stored_views(State(0))
                    for c in view.columns
                ],
                "unreleased": list(spec.unreleased),
                "warnings": [*warnings(spec.policy), *without_key(spec)],
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
            "guarantee": "; ".join(r.label for r in spec.requirements),
            "holds against": adversary(spec),
            "not released": ", ".join(quote(name) for name in spec.unreleased) or "-",
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
    common.warn([*warnings(spec.policy), *without_key(spec)])


def run(
    policy: ChosenArgument,
    timeout: Annotated[
        str, typer.Option("--statement-timeout", help="Per statement, e.g. 10min; 0 is none.")
    ] = "0",
    work_mem: Annotated[
        str, typer.Option("--work-mem", help="Memory per sort or hash of the server.")
    ] = RUN_SETTINGS.work_mem,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, max=64, help="Server processes at a time."),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Make a new version even if nothing changed."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Compute, verify and measure, and publish nothing."),
    ] = False,
    costs: Annotated[
        bool,
        typer.Option(
            "--costs",
            help="With --dry-run: what is lost without each quasi-identifier; a run for each.",
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            help="With --dry-run: a number that random choices follow, instead of secrets.",
            show_default=False,
        ),
    ] = None,
    metrics: Annotated[
        MetricSet, typer.Option("--metrics", help="all: every metric of utility; takes longer.")
    ] = MetricSet.BASIC,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            help="Random queries, e.g. queries=1000,predicates=2,selectivity=0.05,seed=1,"
            "sensitive=yes; repeatable.",
            show_default=False,
        ),
    ] = None,
    vulnerable: Annotated[
        float,
        typer.Option(
            "--vulnerable",
            min=0,
            max=1,
            help="Share of the most frequent sensitive value above which a class is vulnerable.",
        ),
    ] = 0.5,
    timing: Annotated[bool, typer.Option("--timing", help="Show the time of every step.")] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Compute, verify and publish one release of POLICY, which is kept in the database.

    If source and policy are those of the version that is shown, nothing new is published.
    """
    if costs and not dry_run:
        raise UsageError("--costs tells of a dry run", hint="add --dry-run")
    request = _request(metrics, workload, vulnerable)
    settings = type(RUN_SETTINGS)(work_mem=work_mem, statement_timeout=timeout)
    with chosen_policy(policy, dsn, owner) as (loaded, revision):
        result = _run(
            loaded,
            common.chosen_dsn(dsn),
            common.chosen_owner(owner),
            settings,
            Options(
                force=force,
                dry_run=dry_run,
                costs=costs,
                jobs=jobs,
                seed=None if seed is None else str(seed).encode(),
                metrics=request,
                revision=revision,
            ),
            quiet=json,
        )
    if json:
        common.emit_json(result.as_dict())
    else:
        show_result(result, timing=timing)
    if result.refusal:
        raise typer.Exit(EXIT_REFUSED)


def _run(
    loaded: LoadedPolicy,
    dsn: str | None,
    owner: str | None,
    settings: Settings,
    options: Options,
    *,
    quiet: bool,
) -> RunResult:
    name = loaded.policy.release
    with common.progress(f"{name}: starting", quiet=quiet) as bar:
        task = bar.task_ids[0]

        def show(phase: str, step: str, purpose: str) -> None:
            bar.update(task, description=f"{name}: {phase}: {purpose}")

        options = replace(options, on_step=show)
        return run_release(loaded, dsn=dsn, owner=owner, settings=settings, options=options)


def _request(metrics: MetricSet, workload: list[str] | None, vulnerable: float) -> Request:
    everything = metrics is MetricSet.ALL
    drawn = parse_workload(",".join(workload)) if workload is not None else None
    return Request(everything, drawn or (Workload() if everything else None), vulnerable)


def show_result(result: RunResult, *, timing: bool = False) -> None:
    if result.outcome == "dry_run" and result.utility is None:
        common.line(f"dry run of {result.view}: nothing was tested")
        if result.added is not None:
            _show_added(result.added)
    elif result.outcome == "unchanged":
        common.line(f"unchanged: {result.view}, version {result.version}")
        for text in result.applied:
            common.line(f"  {text}")
        if result.added is not None:
            _show_added(result.added)
    else:
        _show_made(result)
    if timing:
        common.table(
            ["phase", "step", "seconds", "times"],
            [(s.phase, s.step, f"{s.seconds:.3f}", s.times) for s in result.steps],
            right=["seconds", "times"],
        )
    common.warn((*result.warnings, *dependent_texts(result.dependents)))
    if result.refusal:
        common.note(f"a run would be refused: {result.refusal}")
    if result.refusal_hint:
        common.hint(result.refusal_hint)


def _show_made(result: RunResult) -> None:
    utility = result.utility
    if result.outcome == "dry_run":
        common.line(f"dry run of {result.view}: nothing was published")
    elif result.outcome == "awaiting_approval":
        common.line(f"{result.view} waits for approval, request {result.request}")
    else:
        common.line(f"published {result.view}, version {result.version}")
    common.facts(
        {
            "records": f"{result.released} released, {result.suppressed} suppressed,"
            f" {result.records} in the source",
            **(utility.summary() if utility else {}),
            "time": f"{result.seconds:.1f} s",
        }
    )
    if result.added is not None:
        _show_added(result.added)
    _show_verified(result.verified, "verified on the published relations")
    if result.reasons:
        _show_reasons(result)
    elif utility:
        _show_loss(utility)
    if result.metrics:
        show_metrics(result.metrics)
    if result.increment:
        _show_increment(result.increment)


def _show_increment(found: IncrementFigures) -> None:
    """What was added, by itself."""
    common.line(f"of the {found.released} records that were added alone:")
    common.facts(found.utility.summary())
    _show_verified(found.verified, "verified on what was added")
    _show_loss(found.utility)
    if found.metrics:
        show_metrics(found.metrics)


def _show_verified(verified: Sequence[Verified], title: str) -> None:
    common.table(
        ["requirement", "column", "required", "measured"],
        [
            (
                f"{v.model} ({v.against})" if v.against else v.model,
                v.column,
                f"{v.symbol} {v.bound} {v.required:g}",
                f"{v.measured:.6g}",
            )
            for v in verified
        ],
        title=title,
        right=["measured"],
    )


def _show_loss(utility: Utility) -> None:
    common.table(
        [utility.columns, "loss (NCP)"],
        [(name, f"{loss:.6f}") for name, loss in utility.ncp.items()],
        right=["loss (NCP)"],
    )


def _show_added(added: Added) -> None:
    common.facts(
        {
            "newcomers": f"{added.newcomers} people, {added.waiting} of them wait",
            "tested": f"{added.tested} people in {added.cohorts} cohorts",
            "added": f"{added.released} records, {added.suppressed} permanently suppressed",
            **({"left": _left(added)} if added.left else {}),
            **({"stale": f"{added.stale} people are not as they are shown"} if added.stale else {}),
        }
    )


def _left(added: Added) -> str:
    if not added.withdrawn_groups:
        return f"{added.left} people, whose groups stay"
    return (
        f"{added.left} people; {added.withdrawn_groups} groups with {added.withdrawn_records}"
        f" records of {added.withdrawn_people} people are withdrawn"
    )


def _show_reasons(result: RunResult) -> None:
    assert result.utility is not None
    columns = [result.utility.columns, "loss (NCP)", "GCP without it", "decides"]
    asked = any(reason.gcp_without is not None for reason in result.reasons)
    rows = [
        (
            reason.column,
            "" if reason.loss is None else f"{reason.loss:.6f}",
            *([_gcp(reason.gcp_without)] if asked else []),
            ", ".join(reason.decides),
        )
        for reason in result.reasons
    ]
    shown = columns if asked else [name for name in columns if name != "GCP without it"]
    common.table(shown, rows, right=["loss (NCP)", "GCP without it"])
    for text in texts(result.reasons):
        common.line(text)


def _gcp(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"
