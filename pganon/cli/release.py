"""`pganon releases`, `show`, `verify`, `rollback`, `withdraw`, `drop`, `clean`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import psycopg
import typer

from pganon import plain
from pganon.cli import common
from pganon.cli.metrics import show_recorded
from pganon.cli.progress import progress
from pganon.errors import EXIT_REFUSED
from pganon.identifiers import first_few, quote

if TYPE_CHECKING:
    from pganon.publish.lifecycle import Changed
    from pganon.publish.listing import ReleaseInfo, VersionInfo

_OF_EVERY = {"row_count": "tables", "view": "views", "privileges": "schemas and views"}
"""Checks of every part of a release, which are counted where they hold."""

Name = Annotated[str, typer.Argument(help="Name of a release.", show_default=False)]


def register(app: typer.Typer) -> None:
    for command in (releases, show, verify, rollback, withdraw, drop, clean):
        app.command()(command)


@contextmanager
def reader(dsn: str | None, owner: str | None) -> Iterator[psycopg.Connection[Any]]:
    """A connection that acts as the steward if it may, else as the role that connected."""
    from pganon.publish import sessions

    with common.connect(dsn) as conn:
        sessions.become_steward(conn, named=common.chosen_owner(owner))
        yield conn


def releases(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """List the releases that you may read."""
    from pganon.publish import listing

    with reader(dsn, owner) as conn:
        infos = listing.releases(conn)
    if json:
        common.emit_json([info.as_dict() for info in infos])
        return
    there = [info for info in infos if info.version is not None]
    dropped = [info.release for info in infos if info.version is None]
    if there:
        common.table(
            ["release", "version", "method", "guarantee", "published"],
            [
                (
                    info.release,
                    info.version,
                    info.method,
                    _guarantee_text([one for one in info.guarantee if "table" not in one]),
                    common.moment(info.published_at),
                )
                for info in there
            ],
            right=["version"],
            whole=["release"],
            spare=["method"],
        )
    if dropped:
        common.line(f"dropped: {', '.join(dropped)}")
    if not infos:
        common.line("no releases")


def show(
    name: Name,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show one release: its guarantee and columns.

    The steward also sees its source, readers and versions.
    """
    from pganon.publish import listing

    with reader(dsn, owner) as conn:
        info = listing.show(conn, name)
    if json:
        common.emit_json(info.as_dict())
        return
    pairs: dict[str, object] = {
        "release": info.release,
        "version": "dropped" if info.version is None else info.version,
        "method": info.method,
        "guarantee": _guarantee_text(info.guarantee),
        **_holds_against(info.guarantee),
        "views": ", ".join(info.views),
        "published": common.moment(info.published_at),
    }
    if info.versions is not None:
        able = ", ".join(f"{role.role} ({role.because})" for role in info.can_read or ())
        readers = ", ".join(info.readers or ())
        pairs |= {"source": info.source, "readers": readers, "can read": able}
    if info.compared is not None and info.compared.candidates:
        tried = info.compared
        one = "1 candidate" if tried.candidates == 1 else f"{tried.candidates} candidates"
        times = "1 comparison" if tried.comparisons == 1 else f"{tried.comparisons} comparisons"
        pairs["compared"] = f"{one} in {times}"
    common.facts({label: value for label, value in pairs.items() if value})
    if info.columns:
        common.table(
            ["view", "column", "type", "meaning"],
            [(c["view"], c["name"], c["type"], c["comment"]) for c in info.columns],
        )
    _show_versions(info)
    _show_measures(info)


def _show_measures(info: ReleaseInfo) -> None:
    """Utility of the current version and how its source was read, for the steward."""
    from pganon.resolved.warnings import UNLOCKED

    current = [v for v in info.versions or () if v.version == info.version]
    if not current:
        return
    measures = current[0].measures
    show_recorded(current[0].method, measures)
    for name, share in measures.get("alike", {}).items():
        said = f"{share:.4g} of the records, with their whole group; no model is about it"
        common.facts({f"alike in {name}": said})
    unlocked = measures.get(UNLOCKED)
    if unlocked:
        said = (
            "shards were read one after the other, and what was written then may be there in part"
        )
        common.facts({"not locked": f"{first_few(unlocked)}: {said}"})


def _show_versions(info: ReleaseInfo) -> None:
    if info.versions is None:
        return
    common.table(
        ["version", "run", "method", "records", "suppressed", "published", "state"],
        [
            (
                v.version,
                v.run_id,
                v.method,
                v.row_count,
                v.suppressed,
                common.moment(v.published_at),
                _state(v, info.version),
            )
            for v in info.versions
        ],
        right=["version", "run", "records", "suppressed"],
    )


def _state(version: VersionInfo, shown: int | None) -> str:
    """Whether it can be read; and what its guarantee is worth beside others, if that is less."""
    from pganon.privacy.base import FINER, VOID

    state = "stored" if version.stored else "gone"
    worth = version.over_versions if version.over_versions in (FINER, VOID) else None
    return ", ".join(filter(None, ["shown" if version.version == shown else state, worth]))


def verify(
    name: Name,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Measure a release again.

    The exit code is 1 if anything does not hold.
    """
    from pganon.publish import lifecycle
    from pganon.run.grants import look_at

    with common.connect_owner(dsn, owner) as conn, progress(f"measuring {name}", quiet=json):
        measures = lifecycle.verify(conn, name)
        warnings = look_at(conn, [name])
    holds = all(item.holds for item in measures)
    if json:
        checks = [asdict(m) for m in measures]
        common.emit_json({"release": name, "holds": holds, "checks": checks, "warnings": warnings})
    else:
        held = Counter(m.model for m in measures if m.model in _OF_EVERY and m.holds)
        alike = {model: number for model, number in held.items() if number > 1}
        common.table(
            ["check", "column", "against", "required", "measured", "holds"],
            [
                (
                    item.model,
                    item.column,
                    item.against,
                    plain.number(item.parameter),
                    plain.number(item.measured),
                    "yes" if item.holds else "NO",
                )
                for item in measures
                if not (item.model in alike and item.holds)
            ]
            + [
                (model, None, f"{number} {_OF_EVERY[model]}", None, None, "yes")
                for model, number in alike.items()
            ],
            right=["required", "measured"],
            whole=["check", "column"],
        )
        common.line(f"{name}: {'everything holds' if holds else 'NOT everything holds'}")
        common.warn(warnings)
    if not holds:
        raise typer.Exit(EXIT_REFUSED)


def rollback(
    name: Name,
    to: Annotated[
        int | None, typer.Option("--to", help="Version; default: the stored one before.")
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Let the views show an earlier version, or a withdrawn release again.

    Copies that readers made of the newer one stay where they are.
    """
    from pganon.run import grants

    with common.connect_owner(dsn, owner) as conn:
        done = grants.rollback(conn, name, to)
    before = "none" if done.before is None else done.before
    _show_change(done, f"{name}: version {done.now} is shown, before it was {before}", json)


def withdraw(
    name: Name,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Take a release's views from its readers, at once.

    The versions stay: `pganon rollback` shows the release again.
    """
    from pganon.publish import lifecycle, listing

    with common.connect_owner(dsn, owner) as conn:
        before = listing.find(conn, name).release.current
        done = lifecycle.Changed(name, before, None, (), lifecycle.withdraw(conn, name))
    _show_change(done, f"{name}: withdrawn, before it was version {before}", json)


def drop(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Drop a release's views and stored tables.

    The ledger and the history of versions stay.
    """
    from pganon.publish import lifecycle, listing

    with common.connect_owner(dsn, owner) as conn:
        stored = [v.version for v in listing.find(conn, name).versions if v.stored]
        if stored and not yes:
            versions = ", ".join(map(str, sorted(stored)))
            common.confirm(f"drop {name} with its versions {versions} for good?")
        done = lifecycle.drop(conn, name)
    versions = ", ".join(map(str, sorted(done.dropped)))
    _show_change(done, f"{name}: dropped; versions no longer stored: {versions}", json)


def _show_change(done: Changed, text: str, json: bool) -> None:
    from pganon.publish import views

    if json:
        common.emit_json(asdict(done))
        return
    common.line(text)
    common.warn((*done.warnings, *views.dependent_texts(done.dependents)))
    common.warn(
        f"the reader {quote(role)} is gone, or another role by now: `pganon readers` with --remove"
        " forgets it, with --add means the role that has the name now"
        for role in done.missing_readers
    )


def clean(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Remove what interrupted runs left behind."""
    from pganon.run import tables

    with common.connect_owner(dsn, owner) as conn:
        done = tables.clean(conn)
    if json:
        common.emit_json(done.as_dict())
        return
    if not done.changed:
        common.line("nothing to clean")
    else:
        common.line(f"dropped {done.tables} tables, forgot the secrets of {done.secrets} runs")
    for label, runs in (("interrupted", done.interrupted), ("in progress", done.alive)):
        if runs:
            common.line(f"{label}: run {', '.join(map(str, runs))}")
    if done.remaining:
        common.line(f"on another server, which does not answer: {', '.join(done.remaining)}")


def _guarantee_text(guarantee: list[dict[str, Any]]) -> str:
    """Requirements in one line: `k_anonymity k=5, t_closeness(occupation) t=0.2`."""
    return ", ".join(item["requirement"] for item in guarantee)


def _holds_against(guarantee: list[dict[str, Any]]) -> dict[str, str]:
    """Against whom it holds, and the options that decide that; they are those of the release."""
    from pganon.resolved.guarantee import CHOICES

    (first, *_) = guarantee or [{}]
    shown = {"holds against": first.get("adversary")}
    shown |= {name: first.get(name) for name in CHOICES}
    over = {
        f"{i.get('model')}: {i['over_versions']}": None for i in guarantee if "over_versions" in i
    }
    shown |= {"with all versions": "; ".join(over)}
    return {label: str(text) for label, text in shown.items() if text}
