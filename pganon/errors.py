"""Errors of pganon.

Every error that a user can meet is a :class:`PganonError`. It has a message that names the
thing at fault, an optional hint that says what to do, and an exit code for the command line.
No message ever holds a value of a source row: pganon composes messages from names, counts and
parameters only. :mod:`pganon.server_errors` makes them of errors of the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self

from pganon.error_codes import ErrorCode

EXIT_OK = 0
EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_DATABASE = 3
EXIT_INTERNAL = 4
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


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


class Stopped(KeyboardInterrupt):
    """An interrupt of work of which a part is done; a note says which part is missing.

    Attributes:
        interrupt: the interrupt itself.
        found: the result, as far as it goes.
        document: the same for programs.
    """

    def __init__(self, interrupt: BaseException, found: Any, missing: str) -> None:
        super().__init__()
        self.interrupt, self.found = interrupt, found
        self.document: Mapping[str, Any] = {}
        self.add_note(f"this is not all: {missing}")


class UserInterrupt(PganonError):
    """Whoever runs the program stopped it; notes of the interrupt say what it left.

    Attributes:
        document: what was found before, for programs.
    """

    exit_code = EXIT_INTERRUPTED
    code = ErrorCode.INTERRUPTED

    def __init__(self, interrupt: BaseException | None = None) -> None:
        left = getattr(interrupt, "__notes__", None)
        self.document: Mapping[str, Any] = getattr(interrupt, "document", {})
        super().__init__(
            f"interrupted: {'; '.join(left)}" if left else "interrupted",
            hint=None
            if left
            else "`pganon status` shows what is there, `pganon clean` removes what a run left",
        )


class Terminated(UserInterrupt):
    """The command got SIGTERM."""

    exit_code = EXIT_TERMINATED
    code = ErrorCode.INTERRUPTED


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
        code: ErrorCode | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.sqlstate = sqlstate
        self.step = step


class Interrupted(DatabaseError):
    """The connection was lost or the statement cancelled; nothing was published."""

    code = ErrorCode.INTERRUPTED


class StatementTimeout(Interrupted):
    """A statement took longer than it may; nothing was published."""

    code = ErrorCode.STATEMENT_TIMEOUT
