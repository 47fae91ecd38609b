"""`pganon compare`: dry runs of several methods and parameters side by side."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pganon.cli import common
from pganon.cli.common import as_text, check_output, program, write_private
from pganon.cli.progress import progress
from pganon.cli.run import (
    ChosenArgument,
    JobsOption,
    MemoryOption,
    TimeoutOption,
    WorkloadOption,
    parsed_workload,
)
from pganon.database import RUN_SETTINGS, Settings
from pganon.errors import EXIT_REFUSED, Stopped

if TYPE_CHECKING:
    from pganon.candidates.figures import Compared
    from pganon.candidates.policies import Candidate
    from pganon.policy.loader import LoadedPolicy
    from pganon.run.options import Options


def register(app: typer.Typer) -> None:
    app.command("compare")(compare)


MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        help="Names of methods, separated by commas, or YAML: {name: NAME, OPTION: VALUE};"
        " repeatable.",
        show_default=False,
    ),
]
VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="NAME=VALUES",
        help="Parameter of the privacy models or the method, such as k=5,10,50; repeatable.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File for a page or its figures: .html or .json.",
        show_default=False,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="A number that all random choices follow.")]


def compare(
    policy: ChosenArgument,
    methods: MethodsOption = None,
    vary: VaryOption = None,
    seed: SeedOption = 1,
    workload: WorkloadOption = None,
    timeout: TimeoutOption = "0",
    work_mem: MemoryOption = RUN_SETTINGS.work_mem,
    jobs: JobsOption = None,
    output: OutputOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Compare methods and parameters for POLICY by dry runs on one snapshot of its source.

    Nothing is published. Risk, loss and errors of all candidates are shown.
    """
    from pganon.candidates.policies import candidates_of
    from pganon.candidates.settings import methods_in, varied_in
    from pganon.cli.policy_choice import chosen_policy
    from pganon.cli.show_compare import show_compared
    from pganon.forms.request import Request
    from pganon.run.options import Options

    if output is not None:
        check_output(output, force=force)
    chosen = [method for text in methods or () for method in methods_in(text)]
    varied = [varied_in(text) for text in vary or ()]
    request = Request(workload=parsed_workload(workload))
    settings = Settings(work_mem=work_mem, statement_timeout=timeout)
    options = Options(dry_run=True, jobs=jobs, metrics=request)
    stopped: Stopped | None = None
    with chosen_policy(policy, dsn, owner) as (loaded, _):
        candidates = candidates_of(loaded, chosen, varied)
        try:
            compared = _compare(loaded, candidates, seed, settings, options, dsn, owner, quiet=json)
        except Stopped as interrupt:
            stopped, compared = interrupt, interrupt.found
    if output is not None:
        from pganon.report.comparison.document import document
        from pganon.report.comparison.page import page

        made = document(compared.as_dict(), datetime.now(UTC), program())
        write_private(output, as_text(output, made, page))
    if json:
        common.emit_result(compared.as_dict(), stopped)
    else:
        show_compared(compared)
        if output is not None:
            common.line(f"written: {output}")
    if stopped is not None:
        raise stopped
    codes = {row.exit_code for row in compared.candidates}
    if 0 not in codes:
        raise typer.Exit(EXIT_REFUSED if EXIT_REFUSED in codes else min(codes))


def _compare(
    loaded: LoadedPolicy,
    candidates: tuple[Candidate, ...],
    seed: int,
    settings: Settings,
    options: Options,
    dsn: str | None,
    owner: str | None,
    *,
    quiet: bool,
) -> Compared:
    from dataclasses import replace

    from pganon.candidates.compare import compare as measure

    name = loaded.policy.release
    with progress(f"{name}: starting", quiet=quiet) as bar:
        task = bar.task_ids[0]

        def show(phase: str, step: str, purpose: str) -> None:
            bar.update(task, description=f"{name}: {phase}: {purpose}")

        return measure(
            loaded,
            candidates,
            dsn=common.chosen_dsn(dsn),
            owner=common.chosen_owner(owner),
            seed=seed,
            settings=settings,
            options=replace(options, on_step=show),
        )
