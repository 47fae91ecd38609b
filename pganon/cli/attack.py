"""`pganon attack`: attacks on the release that a policy would make, with a control group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.cli.run import ChosenArgument, JobsOption, MemoryOption, TimeoutOption
from pganon.database import RUN_SETTINGS

if TYPE_CHECKING:
    from pganon.attacks.curve import Choice
    from pganon.attacks.findings import Attacked, Finding
    from pganon.attacks.intervals import Difference, Rate


def register(app: typer.Typer) -> None:
    app.command("attack")(attack)


TargetsOption = Annotated[
    int,
    typer.Option("--targets", min=1, max=100_000, help="People to attack, of either kind at most."),
]
ControlOption = Annotated[
    float,
    typer.Option(
        "--control",
        min=0.01,
        max=0.5,
        help="Share of the people who are held out.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="A number that all random choices follow.")]
OthersOption = Annotated[
    int,
    typer.Option(
        "--known-others", min=1, help="People of the group whose values one of the attackers knows."
    ),
]
PriorOption = Annotated[
    list[float],
    typer.Option(
        "--prior", min=0.0, max=1.0, help="Share of a list that is in the source; repeatable."
    ),
]


def attack(
    policy: ChosenArgument,
    targets: TargetsOption = 3000,
    control: ControlOption = 0.1,
    seed: SeedOption = 1,
    known_others: OthersOption = 1,
    prior: PriorOption = [0.5, 0.1],  # noqa: B006 (typer copies it)
    timeout: TimeoutOption = "0",
    work_mem: MemoryOption = RUN_SETTINGS.work_mem,
    jobs: JobsOption = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Attack the release that POLICY would make: singling out, linkability, membership, inference.

    Nothing is published. Successes are compared with those on people who were held out.
    """
    from dataclasses import replace

    from pganon.attacks.measure import Settings
    from pganon.attacks.measure import attack as measure
    from pganon.cli.policy_choice import chosen_policy
    from pganon.database import Settings as Session
    from pganon.run.options import Options

    session = Session(work_mem=work_mem, statement_timeout=timeout)
    options = Options(dry_run=True, jobs=jobs)
    with chosen_policy(policy, dsn, owner) as (loaded, _):
        name = loaded.policy.release
        with progress(f"{name}: starting", quiet=json) as bar:
            task = bar.task_ids[0]

            def show(phase: str, step: str, purpose: str) -> None:
                bar.update(task, description=f"{name}: {phase}: {purpose}")

            attacked = measure(
                loaded,
                Settings(targets, control, seed, known_others, tuple(prior)),
                dsn=common.chosen_dsn(dsn),
                owner=common.chosen_owner(owner),
                session=session,
                options=replace(options, on_step=show),
            )
    if json:
        common.emit_json(attacked.as_dict())
    else:
        _show(attacked)


_WORDS = {
    "published_row": "states a row",
    "two_sources": "has two sources",
    "list": "has a list",
    "whole_record": "has whole records",
    "quasi_identifiers": "quasi-identifiers",
    "others_known": "others known",
    "correlations": "single columns",
}


def _show(attacked: Attacked) -> None:
    common.line(
        f"attacks on {attacked.release}, dry runs over {attacked.records} records of"
        f" {attacked.source}: nothing was published"
    )
    common.line(
        f"{attacked.targets} people of the release, and {attacked.targets} of"
        f" {attacked.control_people} who were held out of another one (control)"
    )
    right = ["release", "members", "control", "difference"]
    common.table(
        ["attack", "attacker", *right],
        [
            (
                " of ".join(filter(None, (found.attack.replace("_", " "), found.column))),
                _WORDS[found.adversary],
                _share(found.release),
                _share(found.members),
                _share(found.control),
                _difference(found.difference),
            )
            for found in attacked.findings
        ],
        right=right,
    )
    _show_chosen(attacked)
    if any(found.adversary == "others_known" for found in attacked.findings):
        people = "person" if attacked.known_others == 1 else "people"
        common.line(f"others known: {attacked.known_others} other {people} of the group")
    for found in attacked.findings:
        for one in found.posteriors:
            common.line(
                f"{_WORDS[found.adversary]}: if {one.prior:.1%} of a list are in the source, so are"
                f" {one.chance:.1%} of whom the attacker says so"
            )
    for missing in attacked.not_measured:
        common.line(f"{missing.attack.replace('_', ' ')} was not measured: {missing.reason}")
    made = [f"version {number}" for number in attacked.versions]
    made += [f"request {number}" for number in attacked.requests]
    if made:
        common.line(f"in reports of {', '.join(made)}: same policy, same data")


def _show_chosen(attacked: Attacked) -> None:
    """Attackers who guess where they are surest, and how well strangers are guessed."""
    from pganon.attacks.curve import FEWEST

    right = ["loss", "right", "of strangers", "certain"]
    rows = [
        (
            _of_column(found, choice),
            _WORDS[found.adversary],
            f"{choice.loss.value:.2f} ({choice.loss.low:.2f} to {choice.loss.high:.2f})",
            _right(choice.attack),
            _right(choice.base),
            "" if choice.value is not None else _right(found.certain),
        )
        for found in attacked.findings
        for choice in (found.choice, found.value_choice)
        if choice is not None
    ]
    guessed = [found for found in attacked.findings if found.attack == "inference"]
    if rows:
        common.table(["surest guesses of", "attacker", *right], rows, right=right)
        if not attacked.learned:
            common.line(
                "scikit-learn is not installed, so strangers are guessed less well than they can be"
                " and losses are too high: pip install 'pganon[learn]'"
            )
    elif guessed and attacked.targets < FEWEST:
        common.line(f"surest guesses were not measured: of {FEWEST} people at least")
    elif guessed:
        common.line("surest guesses were not measured: anybody guesses most")


def _of_column(found: Finding, choice: Choice) -> str:
    if choice.value is None:
        return str(found.column)
    value = choice.value.removeprefix("=") if choice.value else "NULL"
    return f"{found.column}: {value}"


def _right(rate: Rate | None) -> str:
    return "0" if rate is None else f"{rate.successes} of {rate.attempts}"


def _share(rate: Rate | None) -> str:
    if rate is None:
        return "no guess"
    return f"{rate.share:.1%} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _difference(found: Difference | None) -> str:
    if found is None:
        return ""
    return f"{found.value:+.1%} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"
