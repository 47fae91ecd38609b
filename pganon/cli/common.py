"""Options, connection and output of every command.

Results go to stdout, progress and errors to stderr. With `--json` stdout holds one JSON value
and nothing else. Everything is printed by this module. Names and values may hold characters that
are commands to a terminal, turn the direction of a line, or begin another one. :func:`escaped`
shows these as JSON writes them.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import psycopg
import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from pganon import database, files, plain
from pganon.error_codes import ErrorCode
from pganon.errors import Stopped, UsageError
from pganon.install.owner import connect_as_owner
from pganon.report.template import as_json, is_page

if TYPE_CHECKING:
    from pganon.policy.loader import LoadedPolicy

DsnOption = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        metavar="DSN",
        help="Server: postgresql://user@host/database or 'host=... dbname=...'.",
        show_default=False,
    ),
]
OwnerOption = Annotated[
    str | None,
    typer.Option(
        "--owner",
        metavar="ROLE",
        help="Work on the pganon of this role, which is not the one you log in as.",
        show_default=False,
    ),
]
TrustOption = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="ROLE",
        help="Role whose code may run with your rights, such as the owner of a view; repeatable.",
        show_default=False,
    ),
]
PolicyArgument = Annotated[str, typer.Argument(help="Policy file, YAML or JSON.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@dataclasses.dataclass
class _Invocation:
    """Options that stand before the command."""

    dsn: str | None = None
    owner: str | None = None


invocation = _Invocation()


class _Stream(Console):
    """Output that nobody need read: a command ends as it would have with a reader."""

    def on_broken_pipe(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def stdout() -> Console:
    return _Stream(highlight=False, markup=False, emoji=False)


def stderr() -> Console:
    return _Stream(stderr=True, highlight=False, markup=False, emoji=False)


def read_policy(file: str) -> LoadedPolicy:
    """The policy in a file; `-` is standard input, and `./-` a file."""
    from pganon.loading import load_policy
    from pganon.policy.loader import STDIN

    return load_policy(file if file == STDIN else Path(file))


def chosen_dsn(dsn: str | None) -> str | None:
    """--dsn after the command, else the one before it."""
    return dsn if dsn is not None else invocation.dsn


def chosen_owner(owner: str | None) -> str | None:
    """--owner after the command, else the one before it."""
    return owner if owner is not None else invocation.owner


class WithDefault(TyperGroup):
    """Subcommands, of which `default` is taken where none is named."""

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        chosen = not args or args[0] in self.commands or args[0] in ("-h", "--help")
        return super().parse_args(ctx, args if chosen else [self.default, *args])


def connect(
    dsn: str | None, *, settings: database.Settings = database.DEFAULT_SETTINGS
) -> psycopg.Connection[Any]:
    """The command's connection; close it with `with`."""
    return database.connect(chosen_dsn(dsn), settings=settings)


def connect_owner(dsn: str | None, owner: str | None) -> psycopg.Connection[Any]:
    """A connection that has become the owner of pganon; refuses where it is not installed."""
    return connect_as_owner(chosen_dsn(dsn), owner=chosen_owner(owner))


def names(texts: Sequence[str] | None) -> list[str]:
    """Names of columns, of an option that may be repeated and hold several between commas.

    One that holds a comma, or ends with a blank, stands in double quotes.

    Raises:
        UsageError: an end of line that is not in quotes.
    """
    return [name for text in texts or () if text.strip() for name in _parted(text)]


def _parted(text: str) -> list[str]:
    try:
        row = next(csv.reader([text], skipinitialspace=True))
    except csv.Error:
        raise UsageError("names of columns that hold an end of line need double quotes") from None
    return row if '"' in text else [name.strip() for name in row]


def moment(at: datetime.datetime | None) -> str:
    """A time of the server, whose sessions are in UTC, to the minute; "" for none."""
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else ""


def emit_result(document: Mapping[str, Any], stopped: Stopped | None) -> None:
    """A result as JSON; of work that was interrupted it is printed with the error.

    Raises:
        Stopped: the interrupt.
    """
    if stopped is not None:
        stopped.document = document
        raise stopped
    emit_json(document)


def emit_json(value: object) -> None:
    """One JSON value on stdout, unwrapped and uncoloured."""
    block(plain.as_json(value, indent=2, ensure_ascii=False))


_HARMFUL = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""C0, DEL and C1; marks of direction; ends of lines and paragraphs; what UTF-8 cannot hold."""
_IN_LINES = re.compile(f"[{_HARMFUL}]")
_IN_BLOCKS = re.compile(rf"(?![\n\t])[{_HARMFUL}]")


def escaped(text: str, harmful: re.Pattern[str] = _IN_LINES) -> str:
    """The text as one line that every terminal shows as it is."""
    return harmful.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def line(text: str, style: str | None = None) -> None:
    """One line of a result; long ones are left to the terminal."""
    stdout().print(Text(escaped(text), style=style or ""), soft_wrap=True)


def note(text: str) -> None:
    """Additional output, on stderr."""
    stderr().print(Text(escaped(text)), soft_wrap=True)


def emit_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([plain.text(cell) for cell in row] for row in rows)
    block(out.getvalue().rstrip("\n"))


def block(text: str, *, on: Callable[[], Console] = stdout) -> None:
    """A text of several lines, which has no names or values but in quotes of its own."""
    on().print(Text(escaped(text, _IN_BLOCKS)), soft_wrap=True)


def hint(text: str) -> None:
    """A hint what to do, on stderr."""
    labelled("hint", text)


def warn(warnings: Iterable[str]) -> None:
    """Additional information for the user, on stderr."""
    for warning in warnings:
        note(f"warning: {warning}")


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> tuple[str, ...]:
    """A table as wide as the terminal at most, without broken words.

    Args:
        right: columns of numbers.
        whole: columns whose values are not broken into lines while others can be.
        spare: columns that are left out, one after the other, while the terminal is too narrow.

    Returns:
        The columns that were left out.
    """
    texts = [["" if cell is None else escaped(str(cell)) for cell in row] for row in rows]
    columns = [*map(escaped, columns)]
    cells = [list(column) for column in zip(columns, *texts, strict=True)]
    console = stdout()
    fitting = _fitting(cells, console.width, whole, spare)
    if fitting is None:
        _one_below_the_other(columns, texts, title)
        return ()
    kept, chosen = fitting
    shown = Table(
        title=Text(escaped(title)) if title else None, title_justify="left", box=SIMPLE_HEAD
    )
    for place, width in zip(kept, chosen, strict=True):
        name = columns[place]
        shown.add_column(
            Text(name),
            justify="right" if name in right else "left",
            width=width,
            no_wrap=name in whole,
        )
    for row in texts:
        shown.add_row(*[Text(row[place]) for place in kept])
    console.print(shown)
    return tuple(name for place, name in enumerate(columns) if place not in kept)


def _fitting(
    cells: Sequence[Sequence[str]], available: int, whole: Sequence[str], spare: Sequence[str]
) -> tuple[list[int], list[int]] | None:
    """Places of the columns that fit, and their widths; None if the table is too wide."""
    for number in range(len(spare) + 1):
        kept = [place for place, column in enumerate(cells) if column[0] not in spare[:number]]
        chosen = _widths([cells[place] for place in kept], available, whole)
        if chosen is not None:
            return kept, chosen
    return None


_BETWEEN = 3
"""Characters between two columns."""


def _widths(
    columns: Sequence[Sequence[str]], available: int, whole: Sequence[str]
) -> list[int] | None:
    """Characters for every column, such that no word is broken; None if the table is too wide.

    Args:
        columns: cells of every column, the header first.
        available: characters of a line.
        whole: headers of columns whose values are not broken into lines while others can be.
    """
    limit = available - _BETWEEN * len(columns) - 1
    chosen = [max(map(cell_len, cells)) for cells in columns]
    least = [
        width if cells[0] in whole else _longest_word(cells)
        for width, cells in zip(chosen, columns, strict=True)
    ]
    if sum(least) > limit:
        return None
    while sum(chosen) > limit:
        # Lines are broken where they are longest.
        _, widest = max((w, i) for i, w in enumerate(chosen) if w > least[i])
        chosen[widest] -= 1
    return chosen


def _longest_word(cells: Sequence[str]) -> int:
    return max((cell_len(word) for cell in cells for word in cell.split()), default=1)


def _one_below_the_other(
    columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None
) -> None:
    """Rows that are wider than the terminal: a line per value, and one between rows."""
    if title:
        line(f"{title}:")
    for row in rows:
        facts({name: cell for name, cell in zip(columns, row, strict=True) if cell})
        line("")


def facts(pairs: Mapping[str, object]) -> None:
    """Names and values, one pair per line."""
    shown = {escaped(name): value for name, value in pairs.items()}
    width = max((len(name) for name in shown), default=0)
    for name, value in shown.items():
        line(f"{name:<{width}}  {'' if value is None else value}")


def asked(question: str) -> bool | None:
    """The answer to yes or no on the terminal; None if there is none."""
    if sys.stdin.isatty() and stderr().is_terminal:
        return typer.confirm(escaped(question), err=True)
    return None


def confirm(question: str) -> None:
    """Ask on the terminal before something that cannot be undone, and name the server.

    Raises:
        UsageError: not_confirmed, the answer is no, or there is no terminal.
    """
    console = stderr()
    if sys.stdin.isatty() and console.is_terminal:
        note(f"{database.reached()}")
        if typer.confirm(escaped(question), err=True):
            return
        raise UsageError("nothing was changed", code=ErrorCode.NOT_CONFIRMED)
    raise UsageError(f"not confirmed: {question}", hint="add --yes", code=ErrorCode.NOT_CONFIRMED)


def labelled(label: str, text: str, style: str = "bold") -> None:
    """A line `label: text` on stderr."""
    stderr().print(Text.assemble((f"{label}: ", style), escaped(text)), soft_wrap=True)


def check_output(output: Path, *, force: bool) -> None:
    """Before anything is computed for the file.

    Raises:
        UsageError: it has another ending, or is there.
    """
    is_page(output)
    if output.exists() and not force:
        raise UsageError(f"{output} exists", hint="choose another name, or add --force")


def as_text(
    output: Path, document: Mapping[str, Any], page: Callable[[Mapping[str, Any]], str]
) -> str:
    """The page or the document, as the name of the file says."""
    return page(document) if is_page(output) else as_json(document)


def write_private(output: Path, text: str) -> None:
    """For its owner alone."""
    with files.writing(output, private=True) as file:
        file.write(text.encode())


def program() -> str:
    """What makes the file."""
    return f"pganon {version('pganon')}"
