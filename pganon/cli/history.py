"""`pganon history`, `diff`, `readers`: the events of a release, and its readers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from pganon import plain
from pganon.cli import common
from pganon.cli.release import Name


def register(app: typer.Typer) -> None:
    for command in (history, diff, readers):
        app.command()(command)


_LONG = {"guarantee", "guard", "findings", "not_measured"}
"""Details that are too long for a line."""


def history(
    name: Name,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """List what was done with a release, from the ledger."""
    from pganon.publish import listing

    with common.connect_owner(dsn, owner) as conn:
        events = listing.events(conn, name)
    if json:
        common.emit_json(events)
        return
    common.table(
        ["when", "event", "version", "by", "details"],
        [
            (
                common.moment(row["at"]),
                row["event"],
                row["version"],
                row["by_role"],
                _brief(row["details"]),
            )
            for row in events
        ],
        right=["version"],
        whole=["when", "event", "by"],
    )


def _brief(details: dict[str, object]) -> str:
    """Counts, codes and names; versions also have requirements, statistics and digests."""
    shown = {
        key: ", ".join(map(str, value)) if isinstance(value, list) else value
        for key, value in details.items()
        if not (key in _LONG or key.endswith("sha256") or value in (None, [], ""))
    }
    return "; ".join(f"{key.replace('_', ' ')} {value}" for key, value in shown.items())


def diff(
    name: Name,
    first: Annotated[
        int | None, typer.Argument(help="Version; default: the one before.", show_default=False)
    ] = None,
    second: Annotated[
        int | None,
        typer.Argument(help="Version; default: the one that is shown.", show_default=False),
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show what differs between two versions: policy, source, columns, figures."""
    from pganon.publish import comparison, listing

    with common.connect_owner(dsn, owner) as conn:
        release = listing.find(conn, name)
    before, after = comparison.two_versions(release, first, second)
    differences = comparison.compare(before, after)
    if json:
        common.emit_json(
            {
                "release": name,
                "before": before.version,
                "after": after.version,
                "differences": [asdict(difference) for difference in differences],
            }
        )
        return
    if not differences:
        common.line(f"versions {before.version} and {after.version} of {name} say the same")
        return
    common.table(
        ["about", "what", f"version {before.version}", f"version {after.version}"],
        [(d.about, d.what, _value(d.before), _value(d.after)) for d in differences],
        whole=["about"],
    )


def _value(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return plain.number(value) if isinstance(value, float) else str(value)


def readers(
    name: Name,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", metavar="ROLE", help="Let a role read; repeatable."),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="ROLE", help="No longer let a role read; repeatable."),
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show or change who may read a release, without a new version.

    A run makes the readers those of its policy again, so correct the policy, too.
    """
    from pganon.publish import listing
    from pganon.publish.privileges import can_read

    with common.connect_owner(dsn, owner) as conn:
        if add or remove:
            # Only then are versions judged, which takes all models.
            from pganon.run.grants import change_readers

            change = change_readers(conn, name, add or (), remove or ())
            common.warn(change.warnings)
            changed = change.texts or ["nothing to do"]
        else:
            changed = []
        release = listing.find(conn, name)
        able = can_read(conn, release)
    if json:
        listed = [asdict(role) for role in able]
        common.emit_json(
            {"release": name, "readers": list(release.release.readers), "can_read": listed}
        )
        return
    for text in changed:
        common.line(text)
    common.table(
        ["can read", "because", "logs in"],
        [(role.role, role.because, "yes" if role.login else "no") for role in able],
    )
