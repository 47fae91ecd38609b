"""`pganon policy`: write a first policy, check one, print the schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pganon import files
from pganon.cli import common
from pganon.cli.policies import add_to
from pganon.cli.progress import progress
from pganon.errors import EXIT_USAGE, UsageError
from pganon.policy.tasks import TASKS

if TYPE_CHECKING:
    from pganon.catalog.introspect import Connection
    from pganon.policy.loader import LoadedPolicy

group = typer.Typer(no_args_is_help=True, help="Write and check policies.")


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="policy")


add_to(group)


@dataclass(frozen=True)
class Checked:
    """A policy that was found valid; `against_source` says whether the catalog was asked too."""

    file: str
    release: str
    source: str
    policy_hash: str
    columns: dict[str, str]
    models: list[str]
    method: str
    against_source: bool
    warnings: list[str]


_AGAIN = "will the table be released again, when people have come or left?"


@group.command("init")
def init(
    table: Annotated[str, typer.Argument(help="Source table or view, as SQL writes it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    task: Annotated[
        str, typer.Option("--task", help=f"What the release is for: {', '.join(TASKS)}.")
    ] = next(iter(TASKS)),
    once: Annotated[
        bool, typer.Option("--once", help="The table is released this one time.")
    ] = False,
    monthly: Annotated[
        bool, typer.Option("--monthly", help="Again when people have come or left.")
    ] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="With the tables that lead to it over foreign keys.")
    ] = False,
    trust: common.TrustOption = None,
    dsn: common.DsnOption = None,
    json: common.JsonOption = False,
) -> None:
    """Write a first policy for TABLE; roles are guessed, so check every line."""
    from pganon.loading import known
    from pganon.policy.refusals import nearest, show

    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} exists", hint="choose another name, or add --force")
    if task not in known().tasks:
        raise UsageError(f"{show(task)} is not a task", hint=nearest(task, known().tasks))
    if once and monthly:
        raise UsageError("--once and --monthly exclude each other")
    grows = known().tasks[task][1].grows
    if monthly and not grows:
        raise UsageError(
            f"a release for the task {task} cannot be made again when people have come or left",
            hint="choose --task survey, or --once",
        )
    again = monthly if once or monthly else None
    if tables and task != next(iter(TASKS)):
        raise UsageError(
            "related tables are released for the task survey",
            hint="leave --task out, or --tables",
        )
    if again is None and grows and not json:
        again = common.asked(_AGAIN)
    with common.connect(dsn) as conn:
        text = first(
            conn, table, task, again, related=tables, trusted=tuple(trust or ()), quiet=json
        )
    if output is not None:
        files.write(output, text)
    if json:
        common.emit_json({"file": str(output) if output else None, "policy": text})
    elif output is None:
        common.block(text.rstrip("\n"))
    else:
        common.line(f"wrote {output}; check its roles, then run: pganon policy check {output}")


def first(
    conn: Connection,
    table: str,
    task: str,
    again: bool | None = None,
    *,
    related: bool = False,
    trusted: tuple[str, ...] = (),
    quiet: bool = True,
) -> str:
    """The text of a first policy.

    Args:
        again: whether the table will be released again; None if nobody said.
        related: whether for what leads to it over foreign keys, too.
    """
    from pganon.catalog.code import filters_rows, reading
    from pganon.catalog.introspect import read_relation
    from pganon.catalog.model import ExternalObjects
    from pganon.catalog.roles import numbers
    from pganon.loading import known
    from pganon.policy.first_tables import around, first_tables
    from pganon.policy.first_text import policy_text, tables_text
    from pganon.policy.scaffold import first_policy

    relation = read_relation(conn, table)
    if not relation.row_security:
        relation = replace(relation, row_security=filters_rows(conn, relation.name))
    beside = around(conn, relation) if related else None
    read = () if relation.row_security else (relation.name,)
    external = ExternalObjects(tuple(beside.relations) if beside is not None else read)
    with (
        progress(f"looking at {relation.name}", quiet=quiet),
        reading(conn, external, numbers(conn, trusted).values(), option=True, only=True),
    ):
        if beside is not None:
            return tables_text(first_tables(conn, beside, known(), task, trusted), known(), again)
        return policy_text(first_policy(conn, relation, known(), task, trusted), known(), again)


@group.command("check")
def check(
    file: Annotated[
        str | None, typer.Argument(help="Policy file; with --stored, the name of a release.")
    ] = None,
    source: Annotated[
        bool, typer.Option("--source", help="Also check against the database: table, readers.")
    ] = False,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Check policies in the database: one, or all unchecked."),
    ] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Check a policy and the files that it names; every problem is named, nothing is run."""
    from pganon.hierarchies.files import check_files

    if stored:
        if source:
            raise UsageError("--source is for files", hint="a run checks a stored policy's source")
        return _check_stored(file, dsn, owner, json)
    if file is None:
        raise UsageError("which policy?", hint="name a file, or add --stored")
    loaded = common.read_policy(file)
    check_files(loaded)
    told = _check_source(loaded, dsn) if source else []
    checked = _checked(loaded, source, told)
    if json:
        common.emit_json({"valid": True, **asdict(checked)})
    else:
        common.line(f"{file}: valid")
        common.facts(
            {
                "release": checked.release,
                "source": checked.source + (" (checked)" if source else " (not looked at)"),
                "columns": ", ".join(f"{name} {role}" for name, role in checked.columns.items()),
                "privacy": ", ".join(checked.models),
                "method": checked.method,
                "hash": checked.policy_hash,
            }
        )
        common.warn(checked.warnings)


def _check_stored(name: str | None, dsn: str | None, owner: str | None, json: bool) -> None:
    from pganon.applied.check import check as look_at
    from pganon.applied.check import unchecked

    with common.connect_owner(dsn, owner) as conn:
        wanted = [(name, None)] if name is not None else unchecked(conn)
        found = [look_at(conn, release, revision) for release, revision in wanted]
    if json:
        common.emit_json(
            [{"release": p.release, "revision": p.revision, "problems": p.problems} for p in found]
        )
    else:
        for policy in found:
            common.line(f"{policy.label}: {policy.state}")
            for problem in policy.problems:
                common.line(f"  {problem}")
    if any(policy.problems for policy in found):
        raise typer.Exit(EXIT_USAGE)


def _check_source(loaded: LoadedPolicy, dsn: str | None) -> list[str]:
    """Gives warnings."""
    # Slow to load, and the offline check needs none of it.
    from pganon.publish.views import check_readers
    from pganon.resolved.warnings import unchanged_identifiers, without_key
    from pganon.run.context import resolve_policy

    with common.connect(dsn) as conn:
        spec = resolve_policy(conn, loaded)
        check_readers(conn, spec.readers, spec.roles)
    return [*without_key(spec), *unchanged_identifiers(spec)]


def _checked(loaded: LoadedPolicy, against_source: bool, told: Sequence[str]) -> Checked:
    from pganon.policy.model import policy_hash
    from pganon.policy.tables import EventTable
    from pganon.privacy.requirements import warnings

    policy = loaded.policy
    return Checked(
        file=str(loaded.path),
        release=policy.release,
        source=policy.source,
        policy_hash=policy_hash(policy),
        columns={
            **{name: column.role for name, column in policy.columns.items()},
            **{
                f"{name}.{column}": declared.role
                for name, table in policy.tables.items()
                if isinstance(table, EventTable)
                for column, declared in table.columns.items()
            },
        },
        models=[model.model for model in policy.privacy],
        method=policy.method.name,
        against_source=against_source,
        warnings=[*warnings(policy), *told],
    )


@group.command("schema")
def schema() -> None:
    """Print the JSON Schema of policies, for editors."""
    from pganon.loading import known
    from pganon.policy.policy_class import policy_schema

    common.emit_json(policy_schema(known()))
