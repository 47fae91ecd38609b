"""Release migrations as files of other tools, which call pganon's functions in SQL.

The same folder gives the same files. Every statement is one block that can be run again: a policy
that is the newest makes no revision, and a release whose source and policy are unchanged no
version. Tools that know what they did get a change per file; others what the folder comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pganon.applied.store import portable
from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.hierarchies.files import check_files
from pganon.loading import load_policy
from pganon.migrate.files import MigrationFile, read_folder
from pganon.migrate.words import Tool
from pganon.policy.model import policy_hash
from pganon.sqltext import json_text

HEAD = "-- Written by `pganon migrate --emit`: change the release migrations, not this file.\n"
_QUIET = HEAD + "\\set SHOW_CONTEXT never\n"
"""For psql: an error is what pganon says, without lines of functions."""


@dataclass(frozen=True)
class _Change:
    """A file with its statements.

    Attributes:
        apply: expression that keeps its policy; None for a withdrawal.
        hash: of the policy.
    """

    file: MigrationFile
    apply: str | None
    hash: str | None

    @property
    def name(self) -> str:
        return self.file.path.stem

    @property
    def release(self) -> str:
        return self.file.release


Files = dict[str, str]


def emit(folder: Path, tool: Tool) -> Files:
    """Texts by path.

    Raises:
        UsageError: the folder is not as it has to be; bad_name, where the tool has other rules.
        PolicyError: a file that cannot be used.
    """
    changes = [_change(file) for file in read_folder(folder)]
    emitted: Mapping[Tool, Callable[[Sequence[_Change]], Files]] = {
        Tool.FLYWAY: _flyway,
        Tool.LIQUIBASE: _liquibase,
        Tool.SQITCH: _sqitch,
        Tool.SQL: _sql,
    }
    return emitted[tool](changes)


def _change(file: MigrationFile) -> _Change:
    if not file.release.isprintable() or set(file.release) & set("$%\\"):
        raise UsageError(
            f"{file.name}: tools may take the name of the release {file.release!r} for their own",
            hint="use `pganon migrate`, or a name without $, % and backslash",
            code=ErrorCode.BAD_NAME,
        )
    if file.kind == "withdraw":
        return _Change(file, None, None)
    loaded = load_policy(file.path)
    check_files(loaded)
    document, files = portable(loaded)
    apply = f"pganon.apply_policy({_text(json_text(document))}, {_text(json_text(files))})"
    return _Change(file, apply, policy_hash(loaded.policy))


# -- statements -----------------------------------------------------------------------------------


def _text(value: str) -> str:
    """A literal of SQL; not E'...', which some tools do not know."""
    return "'" + value.replace("'", "''") + "'"


def _block(*lines: str) -> str:
    """One statement, which may commit within."""
    inner = "".join(f"    {line}\n" for line in lines)
    return f"DO $pganon$\nBEGIN\n{inner}END\n$pganon$;\n"


def _done(change: _Change) -> str:
    """SQL that brings a release to the state of a file."""
    name = _text(change.release)
    if change.apply is None:
        return _block(
            f"IF EXISTS ({_shown(name)}) THEN",
            f"    PERFORM pganon.withdraw_release({name});",
            "END IF;",
        )
    return _block(
        f"PERFORM {change.apply};",
        f"CALL pganon.release({name});",
        f"PERFORM pganon.assert_release({name}, '{change.hash}');",
    )


def _undone(change: _Change, before: _Change | None) -> str:
    """SQL that takes a file back: the version and the policy from before."""
    name = _text(change.release)
    apply = [f"PERFORM {before.apply};"] if before and before.apply else []
    if change.apply is None:
        return _block(f"CALL pganon.release({name});")
    if before is not None and before.apply is None:
        return _block(f"PERFORM pganon.withdraw_release({name});")
    return _block(f"CALL pganon.revert_release({name});", *apply)


def _holds(change: _Change) -> str:
    """A statement that fails unless the release is in the state of a file."""
    name = _text(change.release)
    if change.apply is not None:
        return f"SELECT pganon.assert_release({name}, '{change.hash}');\n"
    return _block(
        f"IF EXISTS ({_shown(name)}) THEN",
        f"    RAISE EXCEPTION 'a release is shown that was withdrawn: %', {name};",
        "END IF;",
    )


def _shown(name: str) -> str:
    return f"SELECT FROM pganon.releases AS r WHERE r.release OPERATOR(pg_catalog.=) {name}"


# -- tools ----------------------------------------------------------------------------------------


def _newest(changes: Sequence[_Change]) -> list[_Change]:
    """The last change of every release in the folder."""
    return list({change.release: change for change in changes}.values())


def _words(change: _Change) -> str:
    """Name of a release in the names of files."""
    return "".join(c if c.isalnum() else "_" for c in change.release)


def _distinct(changes: Sequence[_Change]) -> list[_Change]:
    names = [_words(change) for change in changes]
    for change, name in zip(changes, names, strict=True):
        if names.count(name) > 1:
            raise UsageError(
                f"files of two releases would have the name {name}, one of {change.release}",
                hint="rename one of the releases",
                code=ErrorCode.BAD_NAME,
            )
    return list(changes)


def _flyway(changes: Sequence[_Change]) -> Files:
    files: Files = {}
    newest = _distinct(_newest(changes))
    for change in newest:
        # One name for both, so that a withdrawal takes the place of what it withdraws.
        file = f"R__release_{_words(change)}.sql"
        files[file] = HEAD + _done(change)
        files[f"{file}.conf"] = "executeInTransaction=false\n"
    files["afterMigrate__assert.sql"] = HEAD + "".join(_holds(change) for change in newest)
    return files


def _liquibase(changes: Sequence[_Change]) -> Files:
    text = f"--liquibase formatted sql\n{HEAD}"
    for change in _distinct(_newest(changes)):
        before = _before(change, changes)
        back = "".join(f"--rollback {line}\n" for line in _undone(change, before).splitlines())
        text += (
            f"\n--changeset pganon:{_words(change)} runOnChange:true runInTransaction:false"
            f" splitStatements:false\n{_done(change)}{back}"
        )
    return {"releases.sql": text}


def _sql(changes: Sequence[_Change]) -> Files:
    files = {f"{_words(c)}.sql": _QUIET + _done(c) for c in _distinct(_newest(changes))}
    steps = "".join(f"\\ir {name}\n" for name in files)
    return {"all.sql": f"{_QUIET}\\set ON_ERROR_STOP on\n{steps}", **files}


def _sqitch(changes: Sequence[_Change]) -> Files:
    for change in changes:
        if change.file.number is None:
            raise UsageError(
                f"sqitch does everything once, and {change.file.name} is run again and again",
                hint="give the policy a `schedule`, or use another tool",
                code=ErrorCode.REPEATABLE,
            )
    newest = _newest(changes)
    plan = "%syntax-version=1.0.0\n%project=releases\n\n"
    files: Files = {"sqitch.conf": "[core]\n\tengine = pg\n"}
    for place, change in enumerate(changes):
        if not all(c.isalnum() or c in "_-" for c in change.name):
            raise UsageError(
                f"{change.file.name} cannot be the name of a change of sqitch",
                hint="use letters, digits, _ and -",
                code=ErrorCode.BAD_NAME,
            )
        needed = f" [{changes[place - 1].name}]" if place else ""
        plan += f"{change.name}{needed} 2000-01-01T00:00:00Z pganon <pganon@localhost> # release\n"
        holds = _holds(change) if change in newest else "-- A later change took its place.\n"
        files[f"deploy/{change.name}.sql"] = _QUIET + _done(change)
        files[f"verify/{change.name}.sql"] = _QUIET + holds
        files[f"revert/{change.name}.sql"] = _QUIET + _undone(change, _before(change, changes))
    return {"sqitch.plan": plan, **files}


def _before(change: _Change, changes: Sequence[_Change]) -> _Change | None:
    """The file about the same release before this one."""
    earlier = changes[: changes.index(change)]
    before = [other for other in earlier if other.release == change.release]
    return before[-1] if before else None
