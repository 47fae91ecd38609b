"""`pganon policy apply`, `list`, `show` and `diff`: policies in the database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pganon.cli import common
from pganon.errors import PolicyError, UsageError

NameArgument = Annotated[str, typer.Argument(help="Name of the release.")]


def add_to(group: typer.Typer) -> None:
    """Make these commands part of `pganon policy`."""
    group.command("apply")(apply)
    group.command("list")(listing)
    group.command("show")(show)
    group.command("diff")(diff)


def apply(
    path: Annotated[Path, typer.Argument(help="Policy file, or a folder of them.")],
    comment: Annotated[
        str | None, typer.Option("--comment", help="Kept with the revision.", show_default=False)
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Keep policies in the database, from where they can be requested, scheduled and run by name.

    All of them are checked before any is kept.
    """
    from pganon.applied.check import check
    from pganon.applied.files import policy_files
    from pganon.applied.store import store
    from pganon.hierarchies.files import check_files

    found = [common.read_policy(str(file)) for file in policy_files(path)]
    for loaded in found:
        check_files(loaded)
    releases = [loaded.policy.release for loaded in found]
    for name in releases:
        if releases.count(name) > 1:
            raise UsageError(f"two files are policies of the release {name}", hint="apply one")
    with common.connect_owner(dsn, owner) as conn, conn.transaction():
        stored = [
            check(conn, loaded.policy.release, store(conn, loaded, comment), applied=True)
            for loaded in found
        ]
    if json:
        common.emit_json([_plain(policy) for policy in stored])
        return
    for policy in stored:
        common.line(f"applied {policy.label}")


def listing(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """List the policies in the database: newest revision, and whether it can be used."""
    from pganon.applied.store import policies

    with common.connect_owner(dsn, owner) as conn:
        found = policies(conn)
    if json:
        common.emit_json([_plain(policy) for policy in found])
        return
    common.table(
        ["release", "revision", "state", "applied", "by", "comment"],
        [
            (p.release, p.revision, p.state, f"{p.applied_at:%Y-%m-%d}", p.applied_login, p.comment)
            for p in found
        ],
        right=["revision"],
        whole=["release", "state", "applied"],
    )


def show(
    name: NameArgument,
    revision: Annotated[
        int | None, typer.Option("--revision", help="Default: the newest.", show_default=False)
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show a policy in the database, and what is wrong with it."""
    import yaml

    from pganon.applied.store import read

    with common.connect_owner(dsn, owner) as conn:
        stored = read(conn, name, revision)
    if json:
        common.emit_json({**_plain(stored), "policy": stored.data})
        return
    common.facts(
        {
            "release": stored.release,
            "revision": stored.revision,
            "state": stored.state,
            "applied": f"{stored.applied_at:%Y-%m-%d %H:%M} UTC by {stored.applied_login}",
            "hash": stored.policy_hash or "-",
        }
    )
    for problem in stored.problems:
        common.line(f"problem: {problem}")
    common.line("")
    common.block(yaml.safe_dump(stored.data, sort_keys=False, allow_unicode=True).rstrip())


def diff(
    name: NameArgument,
    file: common.PolicyArgument,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show what FILE would change in a policy in the database, and what makes it weaker."""
    from pganon.applied.compare import differences
    from pganon.applied.store import loaded, read

    after = common.read_policy(file)
    if after.policy.release != name:
        raise UsageError(f"{file} is a policy of the release {after.policy.release}, not of {name}")
    with common.connect_owner(dsn, owner) as conn:
        stored = read(conn, name)
        try:
            with loaded(conn, stored) as before:
                found = differences(before.policy, after.policy)
        except PolicyError as error:
            raise PolicyError(error.problems, file=stored.label) from None
    if json:
        common.emit_json({"release": name, "revision": stored.revision, "differences": found})
        return
    for difference in found:
        common.line(difference.text)
    if not found:
        common.line(f"no difference to {stored.label}")


def _plain(stored: Any) -> dict[str, Any]:
    return {
        "release": stored.release,
        "revision": stored.revision,
        "state": stored.state,
        "policy_hash": stored.policy_hash,
        "problems": stored.problems,
        "applied_at": stored.applied_at,
        "applied_login": stored.applied_login,
        "comment": stored.comment,
    }
