"""`pganon plan` and `pganon run`."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import psycopg
import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.database import RUN_SETTINGS, Settings
from pganon.errors import EXIT_REFUSED, UsageError

if TYPE_CHECKING:
    from pganon.forms.request import Request, Workload
    from pganon.policy.loader import LoadedPolicy
    from pganon.run.options import Options
    from pganon.run.record import RunResult

ChosenArgument = Annotated[
    str, typer.Argument(help="Policy file, or the name of a policy in the database.")
]


class MetricSet(StrEnum):
    """Values of `--metrics`."""

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
    from pganon.cli.policy_choice import chosen_policy
    from pganon.cli.show_plan import show_plan
    from pganon.plan.explain import explain
    from pganon.run.context import plan_release

    with chosen_policy(policy, dsn, owner) as (loaded, _):
        built = plan_release(loaded, dsn=common.chosen_dsn(dsn), owner=common.chosen_owner(owner))
        show_plan(built, explain(built, sql=sql or json), sql=sql, json=json)


TimeoutOption = Annotated[
    str, typer.Option("--statement-timeout", help="Per statement, e.g. 10min; 0 is none.")
]
MemoryOption = Annotated[
    str, typer.Option("--work-mem", help="Memory per sort or hash of the server.")
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", min=1, max=64, help="Server processes at a time."),
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Make a new version even if nothing changed."),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Compute, verify and measure, and publish nothing."),
]
CostsOption = Annotated[
    bool,
    typer.Option(
        "--costs",
        help="With --dry-run: what is lost without each quasi-identifier; a run for each.",
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="With --dry-run: a number that random choices follow, instead of secrets.",
        show_default=False,
    ),
]
MetricsOption = Annotated[
    MetricSet, typer.Option("--metrics", help="all: every metric of utility; takes longer.")
]
WorkloadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--workload",
        help="Random queries, e.g. queries=1000,predicates=2,selectivity=0.05,seed=1,"
        "sensitive=yes; repeatable.",
        show_default=False,
    ),
]
ClassifyOption = Annotated[
    str | None,
    typer.Option(
        "--classify",
        metavar="TARGET",
        help="Predict this column from the release and from the source, and compare;"
        " TARGET:forest and TARGET:bayes use other models than TARGET:logistic.",
        show_default=False,
    ),
]
VulnerableOption = Annotated[
    float,
    typer.Option(
        "--vulnerable",
        min=0,
        max=1,
        help="Share of the most frequent sensitive value above which a class is vulnerable.",
    ),
]
LineageOption = Annotated[
    str | None,
    typer.Option(
        "--lineage",
        metavar="FILE|URL",
        envvar="OPENLINEAGE_URL",
        help="Where an event of OpenLineage about the new version goes.",
        show_default=False,
        show_envvar=True,
    ),
]
TimingOption = Annotated[bool, typer.Option("--timing", help="Show the time of every step.")]


def run(
    policy: ChosenArgument,
    timeout: TimeoutOption = "0",
    work_mem: MemoryOption = RUN_SETTINGS.work_mem,
    jobs: JobsOption = None,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
    costs: CostsOption = False,
    seed: SeedOption = None,
    metrics: MetricsOption = MetricSet.BASIC,
    workload: WorkloadOption = None,
    vulnerable: VulnerableOption = 0.5,
    classify: ClassifyOption = None,
    lineage: LineageOption = None,
    timing: TimingOption = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Compute, verify and publish one release of POLICY, which is kept in the database.

    If source and policy are those of the version that is shown, nothing new is published.
    """
    from pganon.cli.policy_choice import chosen_policy
    from pganon.cli.show_run import show_result
    from pganon.run.lineage import check_target
    from pganon.run.options import Options

    if lineage is not None:
        check_target(lineage)
    if costs and not dry_run:
        raise UsageError("--costs is for a dry run", hint="add --dry-run")
    request = _request(metrics, workload, vulnerable, classify)
    settings = Settings(work_mem=work_mem, statement_timeout=timeout)
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
                lineage=lineage,
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
    from pganon.run.release import run_release

    name = loaded.policy.release
    expected = None if quiet else _expected(name, dsn, owner)
    with progress(f"{name}: starting", quiet=quiet, expected=expected) as bar:
        task = bar.task_ids[0]

        def show(phase: str, step: str, purpose: str) -> None:
            bar.update(task, description=f"{name}: {phase}: {purpose}")

        options = replace(options, on_step=show)
        return run_release(loaded, dsn=dsn, owner=owner, settings=settings, options=options)


def _expected(release: str, dsn: str | None, owner: str | None) -> float | None:
    """Seconds that the last run of a release took."""
    from pganon.ledger.repository import lasted

    with common.connect_owner(dsn, owner) as conn:
        try:
            return lasted(conn, release)
        except psycopg.Error:  # the run itself says what is wrong
            return None


def parsed_workload(texts: list[str] | None) -> Workload | None:
    """The workload of `--workload`, whose parts add up."""
    from pganon.forms.request import parse_workload

    return None if texts is None else parse_workload(",".join(texts))


def _request(
    metrics: MetricSet, workload: list[str] | None, vulnerable: float, classify: str | None
) -> Request:
    from pganon.forms.request import Request, Workload, parse_classify

    everything = metrics is MetricSet.ALL
    drawn = parsed_workload(workload)
    chosen = drawn or (Workload() if everything else None)
    asked = None if classify is None else parse_classify(classify)
    return Request(everything, chosen, vulnerable, asked)
