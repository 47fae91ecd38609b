"""Errors of pganon.

Every error that a user can meet is a :class:`PganonError`. It has a message that names the
thing at fault, an optional hint that says what to do, and an exit code for the command line.
No message ever holds a value of a source row: pganon composes messages from names, counts and
parameters only, and :func:`translate` drops what the server says about rows (DETAIL, CONTEXT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self

import psycopg

from pganon.error_codes import ErrorCode, SqlState

EXIT_OK = 0
EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_DATABASE = 3
EXIT_INTERNAL = 4
EXIT_INTERRUPTED = 130


class PganonError(Exception):
    """Base class; `hint` says what to do, `code` is a stable identifier for programs."""

    exit_code = EXIT_INTERNAL
    code: ErrorCode = ErrorCode.INTERNAL

    def __init__(
        self, message: str, *, hint: str | None = None, code: ErrorCode | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def within(self, place: str) -> Self:
        """This error, with a message that begins with where it happened."""
        self.message = f"{place}: {self.message}"
        self.args = (self.message, *self.args[1:])
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """As it is: a process that searches sends its errors to the one that runs."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(cls: type[PganonError], args: tuple[Any, ...], state: dict[str, Any]) -> PganonError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


@dataclass(frozen=True)
class Problem:
    """One problem of a policy: where it is, what is wrong, what to write instead."""

    message: str
    field: str = ""
    line: int | None = None
    suggestion: str | None = None

    def as_dict(self) -> dict[str, object]:
        return {
            "field": self.field,
            "line": self.line,
            "message": self.message,
            "suggestion": self.suggestion,
        }


class PolicyError(PganonError):
    """The policy cannot be used as it is; holds every problem found, not only the first."""

    exit_code = EXIT_USAGE
    code = ErrorCode.POLICY

    def __init__(self, problems: Sequence[Problem], *, file: str | None = None) -> None:
        self.problems = tuple(problems)
        self.file = file
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """A text for each problem."""
        return tuple(self._line(problem) for problem in self.problems)

    def _line(self, problem: Problem) -> str:
        place = ":".join(str(part) for part in (self.file, problem.line) if part is not None)
        parts = [part for part in (place, problem.field, problem.message) if part]
        text = ": ".join(parts)
        return f"{text} ({problem.suggestion})" if problem.suggestion else text


class UsageError(PganonError):
    """The command or call cannot be carried out as it was given."""

    exit_code = EXIT_USAGE
    code = ErrorCode.USAGE


class PreconditionError(PganonError):
    """Source, server or catalog are not in the state that the work needs."""

    exit_code = EXIT_USAGE
    code = ErrorCode.PRECONDITION


class PrivacyRefusal(PganonError):
    """The release was refused: it does not, or cannot, give the required guarantee."""

    exit_code = EXIT_REFUSED
    code = ErrorCode.REFUSED

    def __init__(
        self,
        message: str,
        *,
        model: str | None = None,
        required: float | None = None,
        observed: float | None = None,
        hint: str | None = None,
        code: ErrorCode | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.model = model
        self.required = required
        self.reason = reason
        # JSON, and so the ledger, has no infinity: no parameter would be enough.
        self.observed = observed if observed is not None and isfinite(observed) else None


class Unbalanced(PrivacyRefusal):
    """Records occur more than once, or not at all: tables of the run were changed."""

    code = ErrorCode.UNBALANCED

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="tables of the run were changed meanwhile; run it again")


class LedgerError(PganonError):
    """The ledger or the stored releases do not allow the request."""

    exit_code = EXIT_USAGE
    code = ErrorCode.LEDGER


class RequestError(PganonError):
    """A request, an approval or an assertion that the database refused; raised by its functions."""

    exit_code = EXIT_USAGE
    code = ErrorCode.REQUEST


class InstallError(PganonError):
    """pganon's schemas are missing, incomplete, or newer than this program."""

    exit_code = EXIT_DATABASE
    code = ErrorCode.INSTALL


class UserInterrupt(PganonError):
    """Whoever runs the program stopped it."""

    exit_code = EXIT_INTERRUPTED
    code = ErrorCode.INTERRUPTED

    def __init__(self) -> None:
        super().__init__("interrupted")


class DatabaseError(PganonError):
    """The server refused or failed; keeps its SQLSTATE, never its DETAIL."""

    exit_code = EXIT_DATABASE
    code = ErrorCode.DATABASE

    def __init__(
        self,
        message: str,
        *,
        sqlstate: str | None = None,
        step: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.sqlstate = sqlstate
        self.step = step


class Interrupted(DatabaseError):
    """The connection was lost or the statement cancelled; nothing was published."""

    code = ErrorCode.INTERRUPTED


class StatementTimeout(Interrupted):
    """A statement took longer than it may; nothing was published."""

    code = ErrorCode.STATEMENT_TIMEOUT


_HINTS = {
    "22P05": "a text has characters that the encoding of the database lacks; use one with UTF8",
    "42501": "grant the missing privilege, or run as a role that has it",
    "57014": "somebody cancelled the statement; run it again",
    "53100": "free disk space on the server, then run `pganon clean` and try again",
    "53200": "the server ran out of memory; lower work_mem or free memory",
    "55P03": "another session holds a lock; try again when it has finished",
}

_ROW_SECURITY = "check_enable_rls"
"""The function of the server that raises where policies would filter rows; texts have languages."""

# Message texts of these SQLSTATE classes hold names only. Everything else may quote a value
# ("invalid input syntax for type integer: ..."), so its text is replaced by the condition name.
_NAMES_ONLY = ("42", "3D", "3F", "28", "08", "53", "54", "55", "57", "58", "0A", "25", "26", "2B")
# A step of a run evaluates views and functions of others over source rows. There even a name can
# be a value (a cast to regclass says `relation "..." does not exist`), so fewer texts are kept.
_KEPT_IN_STEPS = ("42501", "53", "54", "55P03", "57", "58030")
# Functions in a temporary schema are of the session itself: measuring ones that it made.
_OWN_FUNCTIONS = tuple(
    f"PL/pgSQL function {schema}" for schema in ("pganon.", "pganon_private.", "pg_temp_")
)


def translate(error: psycopg.Error, *, step: str | None = None) -> PganonError:
    """The pganon error for a server error.

    Errors raised by pganon's own SQL (SQLSTATE class PA) keep their text, which pganon wrote.
    With `step`, the statement read source rows.
    """
    state = error.sqlstate
    own = _raised_by_pganon(error)
    foreign = bool(error.diag.context) and not own
    text = None if foreign else error.diag.message_primary
    where = f" (step {step})" if step else ""
    if state is not None and state.startswith("PA") and own:
        return _own_error(state, text or "", error.diag.message_hint)
    if state is None or state.startswith("08") or state in ("57P01", "57P02", "57P03"):
        # Without a server diagnosis the text comes from libpq and holds host names only.
        lines = [] if foreign else str(error).strip().splitlines()
        message = text or (lines[0] if lines else "")
        return Interrupted(
            f"the connection to the server failed{where}: {message}".rstrip(": "),
            sqlstate=state,
            step=step,
            hint="check that the server is running; nothing unverified was published",
        )
    kept = _NAMES_ONLY if step is None else _KEPT_IN_STEPS
    if foreign or not state.startswith(kept):
        text = f"{type(error).__name__}"
    if state == "57014" and _timed_out(error):
        return StatementTimeout(f"{text} [{state}]{where}", sqlstate=state, step=step, hint=_LONGER)
    if state == "25006" and not foreign:
        return PreconditionError(
            "this server is a read replica, on which nothing can be written",
            hint="connect to the primary server",
            code=ErrorCode.READ_REPLICA,
        )
    cls = Interrupted if state == "57014" else DatabaseError
    hint = _HINTS.get(state)
    if error.diag.source_function == _ROW_SECURITY:
        hint = (
            "policies of row-level security would hide rows from the role; read as a role that they"
            " do not apply to (its owner, or one with BYPASSRLS)"
        )
    return cls(f"{text} [{state}]{where}", sqlstate=state, step=step, hint=hint)


_LONGER = "allow more with --statement-timeout, or run when the server is less busy"


def _timed_out(error: psycopg.Error) -> bool:
    """Whether it was the time and no person; the server has one SQLSTATE for both."""
    return "timeout" in (error.diag.message_primary or "")


def _raised_by_pganon(error: psycopg.Error) -> bool:
    """Whether the server was in functions of pganon alone; others may raise any text and state."""
    lines = [line for line in (error.diag.context or "").splitlines() if " function " in line]
    return bool(lines) and all(line.startswith(_OWN_FUNCTIONS) for line in lines)


_OF_REQUESTS: dict[str, ErrorCode] = {s: s.code for s in SqlState if s.startswith("PA4")}


def _own_error(state: str, text: str, hint: str | None) -> PganonError:
    if state.startswith("PA2"):
        return PrivacyRefusal(text, hint=hint)
    if state.startswith("PA3"):
        return LedgerError(text, hint=hint)
    if state in _OF_REQUESTS:
        return RequestError(text, hint=hint, code=_OF_REQUESTS[state])
    return PreconditionError(text, hint=hint)
