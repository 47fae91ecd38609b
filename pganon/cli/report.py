"""`pganon report`: what a steward shows to a data protection officer or a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pganon import plain
from pganon.cli import common
from pganon.cli.common import as_text, check_output, write_private
from pganon.errors import LedgerError, UsageError

if TYPE_CHECKING:
    from pganon.report.authority import Name
    from pganon.report.sources import Collected

Made = tuple[dict[str, Any], Callable[[Mapping[str, Any]], str]]
"""A document, and what makes the page of it."""


@dataclass(frozen=True)
class _Asked:
    """What a report is to be about: a version of a release, or a request; and where it is."""

    name: str | None
    version: int | None
    request: int | None
    dsn: str | None
    owner: str | None
    files: Sequence[dict[str, str]]
    form: AuthorityForm | None


class AuthorityForm(StrEnum):
    """Values of `--form`."""

    EMA = "ema"
    ISO27559 = "iso27559"
    HIPAA = "hipaa"
    ICO = "ico"


class Edition(StrEnum):
    """Values of `--for`."""

    OFFICER = "officer"
    READERS = "readers"


_EMITTED = ("status", "comments", "authority")
_EDITIONS = {"officer": "for the officer", "readers": "for readers"}


class _Report(common.WithDefault):
    """`pganon report NAME` is `pganon report write NAME`."""

    default = "write"


group = typer.Typer(
    cls=_Report, no_args_is_help=True, help="Write a report for a board, sign it, or verify one."
)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="report")


@group.command("write")
def report(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File: .html or .json.", show_default=False),
    ],
    name: Annotated[
        str | None, typer.Argument(help="Name of a release.", show_default=False)
    ] = None,
    version: Annotated[
        int | None,
        typer.Option("--version", help="Which version; default: the one that is shown."),
    ] = None,
    request: Annotated[
        int | None,
        typer.Option("--request", help="What waits for approval, for who decides about it."),
    ] = None,
    edition: Annotated[
        Edition,
        typer.Option("--for", help="readers: only what those who can read it see themselves."),
    ] = Edition.OFFICER,
    form: Annotated[
        AuthorityForm | None,
        typer.Option(
            "--form",
            help="Also under the headings of an authority, with what is still to be written.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="Private key to sign with.", show_default=False),
    ] = None,
    export: Annotated[
        list[Path] | None,
        typer.Option(
            "--export",
            help="File that `pganon export` wrote of the version, whose digest the report is to"
            " have; repeatable.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Write a report for a data protection officer or a board.

    It is made of stored figures; the source is not read. It is confidential, but that for readers.
    """
    from pganon.report.export_check import file_entry
    from pganon.report.signature import sign

    check_output(output, force=force)
    files = [file_entry(path.name, read(path)) for path in export or ()]
    make = _for_readers if edition is Edition.READERS else _for_officer
    made, page = make(_Asked(name, version, request, dsn, owner, files, form))
    text = as_text(output, made, page)
    if key is not None:
        text = sign(output.name, text, read(key), datetime.now(UTC))
    write_private(output, text)
    if json:
        common.emit_json(
            {
                "file": str(output),
                "release": made["properties"]["release"],
                "version": made["properties"]["version"],
                **{part: made[part] for part in _EMITTED if part in made},
                **(
                    {}
                    if request is None
                    else {
                        "request": request,
                        "evidence_sha256": made["proof"]["evidence_sha256"],
                    }
                ),
            }
        )
        return
    about = made["properties"]["release"]
    if request is None:
        about += f", version {made['properties']['version']}"
    else:
        about += f", which waits with request {request}"
    if edition is Edition.READERS:
        common.line(f"{output}: {about}; for readers")
        return
    points = len(made["comments"])
    look = f"{points} to look at" if points else "nothing to look at"
    common.line(f"{output}: {about}; {look}")
    if form is not None:
        left = {pointer for one in made["authority"]["sections"] for pointer in one["open"]}
        names = ", ".join(sorted(one.removeprefix("/about/").replace("/", ".") for one in left))
        common.line(f"form {form}, to be written by the steward: {names or 'nothing'}")
    if request is not None:
        common.line(f"evidence {made['proof']['evidence_sha256']}")


def _for_readers(asked: _Asked) -> Made:
    from pganon.cli.readers_data import see
    from pganon.cli.release import reader
    from pganon.report.readers.document import document
    from pganon.report.readers.page import page

    if asked.form is not None:
        raise UsageError(
            "forms of authorities are for the officer: they have figures of the source",
            hint="leave out --for readers",
        )
    if asked.name is None or asked.version is not None or asked.request is not None:
        raise UsageError(
            "the edition for readers is about the version that they see",
            hint="pganon report NAME --for readers -o FILE",
        )
    with reader(asked.dsn, asked.owner) as conn:
        return document(see(conn, asked.name), asked.files), page


def _for_officer(asked: _Asked) -> Made:
    from pydantic import ValidationError

    from pganon.report.document import document
    from pganon.report.page import page

    collected = _collected(asked)
    try:
        return document(collected, asked.files, cast("Name | None", asked.form)), page
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise LedgerError(
            f"what is stored of the version does not fit a report: {error.title}.{place}",
            hint="it was changed, or written by another version of pganon; run the release again",
        ) from None


def _collected(asked: _Asked) -> Collected:
    from pganon.cli.report_data import collect, collect_held

    if asked.name is not None and asked.request is None:
        with common.connect_owner(asked.dsn, asked.owner) as conn:
            return collect(conn, asked.name, asked.version)
    if asked.request is not None and asked.name is None and asked.version is None:
        with common.connect(asked.dsn) as conn:
            return collect_held(conn, asked.request)
    raise UsageError(
        "name a release, or what waits for approval",
        hint="pganon report NAME [--version N], or pganon report --request ID",
    )


@group.command("key")
def key(
    file: Annotated[Path, typer.Argument(help="The private key; the public one is FILE.pub.")],
    json: common.JsonOption = False,
) -> None:
    """Make a key to sign reports with. Give the public one to who verifies them, another way."""
    from pganon import files
    from pganon.report.signature import new_key

    public = file.with_name(f"{file.name}.pub")
    for path in (file, public):
        if path.exists():
            raise UsageError(f"{path} exists", hint="choose another name: a key is never replaced")
    made = new_key()
    for path, pem, private in ((file, made[0], True), (public, made[1], False)):
        with files.writing(path, private=private) as part:
            part.write(pem)
    if json:
        common.emit_json({"private": str(file), "public": str(public)})
    else:
        common.line(f"{file}: sign with this one, and keep it; {public}: verifies")


@group.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(help="A signed report: .html or .json.")],
    public: Annotated[Path, typer.Option("--key", metavar="PUB", help="The public key.")],
    export: Annotated[
        Path | None,
        typer.Option(
            "--export", help="An exported file that the report is to be about.", show_default=False
        ),
    ] = None,
    json: common.JsonOption = False,
) -> None:
    """See whether a report is what was signed. Needs no server and no network."""
    from pganon.report.export_check import held_against
    from pganon.report.signature import Unsigned, report_of
    from pganon.report.signature import verify as verified

    try:
        content = read(file)
        said = verified(file.name, content, read(public))
        report = report_of(file.name, content)
        counted = None if export is None else held_against(report, read(export))
    except Unsigned as why:
        if json:
            common.emit_json({"file": str(file), "signed": False, "why": str(why)})
        else:
            common.line(f"{file}: {why}")
        raise typer.Exit(1) from None
    if json:
        more = {} if counted is None else {"export": str(export), "counted": counted}
        common.emit_json({"file": str(file), "signed": True, "statement": said, **more})
        return
    about = f"{said['release']}, {_EDITIONS[said['edition']]}, {_which(said)}"
    common.line(f"{file}: {about}; signed at {said['signed_at']} with key {said['key']}")
    if counted is not None:
        texts = [f"{one['model']} {plain.number(one['counted'])}" for one in counted]
        again = f"counted again: {', '.join(texts)}" if texts else "nothing can be counted in it"
        common.line(f"{export}: is the file that was signed; {again}")


def _which(said: Mapping[str, Any]) -> str:
    """What a signed report is about."""
    if said["request"] is None:
        return f"version {said['version']}"
    return f"request {said['request']}, which waited for approval then: no version"


@group.command("schema")
def schema() -> None:
    """Print the JSON Schema of reports and comparisons."""
    from pganon.report.document import report_schema

    common.emit_json(report_schema())


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
