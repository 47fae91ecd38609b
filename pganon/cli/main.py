"""The command line: `pganon COMMAND`. Every command module adds its commands to an application."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import version
from types import FrameType
from typing import Annotated, Any

import psycopg
import typer
from typer.core import TyperGroup

from pganon import database
from pganon.cli import common
from pganon.cli.failures import show_error
from pganon.errors import (
    EXIT_INTERNAL,
    EXIT_OK,
    EXIT_USAGE,
    PganonError,
    Stopped,
    Terminated,
    UsageError,
    UserInterrupt,
)
from pganon.server_errors import translate

# Commands by what they are for, in the order of the help, with the modules that have them.
SECTIONS = {
    "Set up": {
        "init": "install",
        "upgrade": "install",
        "uninstall": "install",
        "extension": "extension",
        "server": "server",
        "demo": "demo",
        "import": "importing",
    },
    "Policy": {
        "policy": "policy",
        "assess": "assess",
        "quasi": "quasi",
        "check": "check",
        "plan": "run",
        "compare": "compare",
        "attack": "attack",
    },
    "Release": {
        "run": "run",
        "approve": "worker",
        "reject": "worker",
        "verify": "release",
        "rollback": "release",
        "withdraw": "release",
        "drop": "release",
        "readers": "history",
        "migrate": "migrate",
    },
    "Read": {
        "releases": "release",
        "show": "release",
        "estimate": "estimate",
        "export": "export",
    },
    "History": {
        "history": "history",
        "diff": "history",
        "report": "report",
        "guard": "guard",
        "forget": "guard",
    },
    "Operate": {"status": "status", "worker": "worker", "clean": "release"},
}
COMMANDS = {name: module for section in SECTIONS.values() for name, module in section.items()}
MODULES = tuple(dict.fromkeys(COMMANDS.values()))


class _Commands(TyperGroup):
    """The parser would write an empty line for an interrupt and call it an abortion."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise stopped(interrupt) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Commands of the help in sections."""
        for section, names in SECTIONS.items():
            with formatter.section(section):
                said = [(name, self.commands[name].get_short_help_str(100)) for name in names]
                formatter.write_dl(said)


def _show_version(wanted: bool) -> None:
    if wanted:
        common.line(f"pganon {version('pganon')}")
        raise typer.Exit


def _before_command(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Anonymized data releases, computed, verified and published inside PostgreSQL.

    The server is --dsn, else PGANON_DSN, else libpq's variables (PGHOST, ...), else the embedded
    PostgreSQL under PGANON_HOME once `server start` or `demo` has started it. Commands work on
    the pganon of the role that logs in; --owner or PGANON_OWNER names another one.
    """
    common.invocation.dsn = dsn
    common.invocation.owner = owner


@cache
def application(modules: Sequence[str] = MODULES) -> Any:
    """The parser of the commands in these modules.

    It takes longer to make than most command lines to parse, and to import what all commands need
    takes longer than most commands.
    """
    app = typer.Typer(
        name="pganon",
        cls=_Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_before_command)
    for module in modules:
        import_module(f"pganon.cli.{module}").register(app)
    return typer.main.get_command(app)


def needed(arguments: Sequence[str]) -> tuple[str, ...]:
    """Modules for a command line: all, unless it begins with a command or needs none."""
    first = next(iter(arguments), None)
    if first == "--version":
        return ()
    return (COMMANDS[first],) if first in COMMANDS else MODULES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; nothing but the code leaves this function."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    before_end = given[: given.index("--")] if "--" in given else given
    json = "--json" in before_end
    database.forget_reached()
    _silence_driver()
    try:
        with terminable():
            result = application(needed(given)).main(
                args=given, prog_name="pganon", standalone_mode=False
            )
        return result if isinstance(result, int) else EXIT_OK
    except PganonError as error:
        return _fail(error, json)
    except psycopg.Error as error:
        return _fail(translate(error), json)
    except (KeyboardInterrupt, typer.Abort) as interrupt:
        return _fail(stopped(interrupt), json)
    except BrokenPipeError:
        # The reader of stdout is gone; a further write at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except Exception as error:
        return _unexpected(error, json)


def _silence_driver() -> None:
    """Keep psycopg's log of a session that was interrupted in a statement off the terminal.

    Without any handler Python would write it to stderr; the command says what happened itself.
    """
    logger = logging.getLogger("psycopg")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _fail(error: PganonError, json: bool) -> int:
    if os.environ.get("PGANON_DEBUG") == "1":
        _show_traceback()
    show_error(error, json=json)
    return error.exit_code


def _unexpected(error: Exception, json: bool) -> int:
    usage = getattr(error, "format_message", None)
    if usage is not None:  # a usage error of the parser, whose class depends on typer's version
        if type(error).__name__ != "NoArgsIsHelpError":
            _fail(UsageError(usage(), hint=_help_of(error)), json)
        return EXIT_USAGE
    if os.environ.get("PGANON_DEBUG") == "1":
        _show_traceback()
    # Neither the text nor a traceback: both could hold a value of a row.
    hidden = PganonError(
        f"internal error ({type(error).__name__})", hint="set PGANON_DEBUG=1 for the traceback"
    )
    show_error(hidden, json=json)
    return EXIT_INTERNAL


def _help_of(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'pganon'} --help"


def _show_traceback() -> None:
    common.block(traceback.format_exc().rstrip(), on=common.stderr)


class _Termination(KeyboardInterrupt):
    """The driver cancels a statement for an interrupt from the keyboard alone."""


@contextmanager
def terminable() -> Iterator[None]:
    """Within, SIGTERM raises; not where somebody else handles or ignores it.

    Only the main thread of a process can handle signals. Processes that search are ended by it as
    they would be otherwise.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    here = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == here:
            raise _Termination
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def stopped(interrupt: BaseException) -> UserInterrupt:
    """The error of a command that was interrupted."""
    first = interrupt.interrupt if isinstance(interrupt, Stopped) else interrupt
    cls = Terminated if isinstance(first, _Termination) else UserInterrupt
    return cls(interrupt)


if __name__ == "__main__":
    sys.exit(main())
