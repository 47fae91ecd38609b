"""Errors of the server, as errors of pganon.

What the server says about rows (DETAIL, CONTEXT) is dropped, and a text that may quote a value is
replaced. Where the cause can be known without them, the error has a code and a hint of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg

from pganon.error_codes import ErrorCode, SqlState
from pganon.errors import (
    DatabaseError,
    Interrupted,
    LedgerError,
    PganonError,
    PreconditionError,
    PrivacyRefusal,
    RequestError,
    StatementTimeout,
)
from pganon.identifiers import first_few

_HINTS = {
    "42501": "grant the missing privilege, or run as a role that has it",
    "57014": "somebody cancelled the statement; run it again",
    "53100": "free disk space on the server, then run `pganon clean` and try again",
    "53200": "the server ran out of memory; lower work_mem or free memory",
    "55P03": "another session holds a lock; try again when it has finished",
}

ROW_SECURITY = "check_enable_rls"
"""The function of the server that raises where policies would filter rows; texts have languages."""

UNFILTERED = (
    "read as a role with BYPASSRLS, or as the owner of the table unless that has FORCE ROW LEVEL"
    " SECURITY; ALTER TABLE ... NO FORCE ROW LEVEL SECURITY spares the owner"
)
"""What to do then."""

# Message texts of these SQLSTATE classes hold names only. Everything else may quote a value
# ("invalid input syntax for type integer: ..."), so its text is replaced by the condition name.
_NAMES_ONLY = ("42", "3D", "3F", "28", "08", "53", "54", "55", "57", "58", "0A", "25", "26", "2B")
# A statement that reads a relation evaluates views and functions of others over its rows. There
# even a name can be a value (a cast to regclass says `relation "..." does not exist`), so fewer
# texts are kept.
_KEPT_OF_ROWS = ("42501", "53", "54", "55P03", "57", "58030")
_LOST = ("08", "57P01", "57P02", "57P03")
_CLUSTER = "another server of the cluster"
_INTERNAL = "XX000"
_ELSEWHERE = ("while executing command on", "connection marked as essential")
"""What Citus says, in English, of another server: that it could not reach a third one, or was lost
meanwhile. Both have no SQLSTATE but that of internal errors."""
_HERE = ("postmaster was shut down",)
"""What it says, likewise, of this one."""
_REACH = (
    "check that all of them run, reach each other and let the role log in; nothing unverified was"
    " published"
)
_UNREACHABLE = "08001"
"""Raised by foreign-data wrappers alone: PostgreSQL itself is the server."""
_OF_THE_SERVER = ("53", "54", "55", "57", "58")
"""Whatever runs may be stopped by these."""
_GONE = ("42P01", "3F000")
_UNDEFINED = (*_GONE, "42703", "42704", "42804", "42846", "42883")
_USER_MAPPING = "GetUserMapping"
"""The function of the server that looks for one."""
_MOST = 5

_MAP = (
    "CREATE USER MAPPING for the role that reads the foreign table; behind a view that is the owner"
    " of the view"
)
_OWNER = (
    "have its owner correct it; it is called by what is read (a view, a generated column), or as an"
    " event trigger (\\dy in psql lists them)"
)
_CORRECT = "correct it in the policy, view, generated column or function, or leave records out"
_EXPRESSION = {
    "22012": "it divides by zero: write nullif(divisor, 0) in the policy, view, column or function",
    "22003": "a number is beyond what its type holds: correct the policy, view, column or function",
}
_AGAIN = "try again; if it fails again, read it in psql, whose message has the name"
_TRIGGER = (
    "an event trigger of a superuser can do that (\\dy in psql lists them): have it spare pganon's"
    " schemas; else run it again"
)

# What stands around a name has the language of the server (lc_messages), and names of languages, of
# functions and PL/pgSQL's := have none. Functions in a temporary schema are of the session itself:
# measuring ones that it made.
_OWN_FUNCTION = re.compile(
    r"(?=.*PL/pgSQL)[^\".(«]*(?<![a-z0-9_$])"
    r"(?:(?:pganon|pganon_private|pg_temp_[0-9]+)\.\w+\(|inline_code_block(?![a-z0-9_$(.])).*"
)
"""Also a block of statements that pganon sent; nobody else's has the whole context to itself."""
_ASSIGNMENT = re.compile(r"[^\".(«»]*PL/pgSQL[^\".(«»]*[\"«»]\s?[\w$.]+(?:\[.*?\])? :?= .*")
_FUNCTION = re.compile(
    r".*PL/\w.*"
    r"|[^\".(«»]*SQL[^\".(«»]*(?:\"[^\"(]*[\w$]\"|[«»]\s?[^«»(]*[\w$]\s?[«»]).*[^\"«»]"
)
"""Any function in a context; the name of an SQL function is in quotes, and more follows it."""

_timeouts = {"canceling statement due to statement timeout"}
"""How servers said that a statement took longer than it may; no field tells that from a cancel."""


def translate(
    error: psycopg.Error,
    *,
    step: str | None = None,
    reads: Sequence[str] = (),
    makes: str | None = None,
) -> PganonError:
    """The pganon error for a server error.

    Errors raised by pganon's own SQL (SQLSTATE class PA) keep their text, which pganon wrote.

    Args:
        step: the statement was of this step, and read source rows.
        reads: relations and functions of others that it read or called. No text that may quote a
            value of theirs is kept.
        makes: the table that it was to make.
    """
    state = error.sqlstate
    own = _raised_by_pganon(error)
    foreign = bool(error.diag.context) and not own
    text = None if foreign else error.diag.message_primary
    if state is not None and state.startswith("PA") and own:
        return _own_error(state, text or "", error.diag.message_hint)
    lost = state is not None and state.startswith(_LOST) and state != _UNREACHABLE
    if state is None or lost or _by_citus(error, _ELSEWHERE + _HERE):
        return _lost(error, text, step, foreign=foreign)
    if state == "25006" and not foreign:
        return PreconditionError(
            "this server is a read replica, on which nothing can be written",
            hint="connect to the primary server",
            code=ErrorCode.READ_REPLICA,
        )
    kept = _KEPT_OF_ROWS if step or reads else _NAMES_ONLY
    if not state.startswith(kept):
        text = None
    return _known(error, state, step, reads, makes) or _other(error, state, text, step)


def _lost(
    error: psycopg.Error, text: str | None, step: str | None, *, foreign: bool
) -> Interrupted:
    # Without a server diagnosis the text comes from libpq and holds host names only.
    lines = [] if foreign else str(error).strip().splitlines()
    message = text or (lines[0] if lines else "")
    if of_another_server(error):
        first = message.partition("\n")[0]
        return Interrupted(
            f"{_CLUSTER} failed{_place(step)}: {first}".rstrip(": "),
            sqlstate=error.sqlstate,
            step=step,
            hint=_REACH,
        )
    return Interrupted(
        f"the connection to the server failed{_place(step)}: {message}".rstrip(": "),
        sqlstate=error.sqlstate,
        step=step,
        hint="check that the server is running; nothing unverified was published",
    )


def of_another_server(error: psycopg.Error) -> bool:
    """Whether a connection failed that this server had with another one, not its own session."""
    lost = error.sqlstate is not None and error.sqlstate.startswith(_LOST)
    ends = error.diag.severity_nonlocalized != "ERROR"
    return (lost and not ends) or _by_citus(error, _ELSEWHERE)


def _by_citus(error: psycopg.Error, texts: Sequence[str]) -> bool:
    said = f"{error.diag.message_primary} {error.diag.context}"
    return error.sqlstate == _INTERNAL and any(text in said for text in texts)


def _other(error: psycopg.Error, state: str, text: str | None, step: str | None) -> DatabaseError:
    """By its SQLSTATE alone."""
    message = f"{text or type(error).__name__} [{state}]{_place(step)}"
    if state == "57014" and _timed_out(error):
        return StatementTimeout(message, sqlstate=state, step=step, hint=_LONGER)
    cls = Interrupted if state == "57014" else DatabaseError
    hint = _HINTS.get(state)
    if error.diag.source_function == ROW_SECURITY:
        hint = f"policies of row-level security would hide rows from the role; {UNFILTERED}"
    return cls(message, sqlstate=state, step=step, hint=hint)


def _known(
    error: psycopg.Error, state: str, step: str | None, reads: Sequence[str], makes: str | None
) -> DatabaseError | None:
    """The error with its cause, if that follows from what the server says without a text."""
    read = f" of {first_few(reads, _MOST)}" if reads else ""
    caller = _function_of(error)
    if error.diag.source_function == _USER_MAPPING:
        said = f"a user mapping is missing for the server{read}"
        code, hint = ErrorCode.FOREIGN_SERVER, _MAP
    elif state == _UNREACHABLE or state.startswith("HV"):
        said = f"the server{read or ' of a foreign table'} cannot be read"
        code, hint = (
            ErrorCode.FOREIGN_SERVER,
            "see whether it runs; the log of this server says more",
        )
    elif caller is not None and not state.startswith(_OF_THE_SERVER):
        said, code, hint = f"{caller} raised an error", ErrorCode.FOREIGN_CODE, _OWNER
    elif state == "22P05":
        said = "a text has characters that the encoding of the database lacks"
        code, hint = ErrorCode.ENCODING, "write it without them, or use a database with UTF8"
    elif state == "22012" or (reads and state.startswith("22")):
        said = f"an expression{read or ' that others wrote'} fails on a row"
        code, hint = ErrorCode.EXPRESSION, _EXPRESSION.get(state, _CORRECT)
    elif step is not None and state in _GONE and (not reads or _names(error, makes)):
        said = f"{makes or 'a table'} of the run was renamed, moved or dropped"
        code, hint = ErrorCode.TABLE_GONE, _TRIGGER
    elif reads and state in _UNDEFINED:
        said = f"a name{read} was changed at this moment, or cannot be used"
        code, hint = ErrorCode.SOURCE_CHANGED, _AGAIN
    else:
        return None
    name = type(error).__name__
    message = f"{said}: {name} [{state}]{_place(step)}"
    return DatabaseError(message, sqlstate=state, step=step, hint=hint, code=code)


def _place(step: str | None) -> str:
    return f" (step {step})" if step else ""


def _names(error: psycopg.Error, makes: str | None) -> bool:
    """Whether the server says the name of the table that pganon was making; in any language."""
    return makes is not None and makes in (error.diag.message_primary or "")


_QUOTED = re.compile(r"[^\".(«»]*[\"«»]\s?([\w$]+)\s?[\"«»](?![.(]).*")
_SIGNATURE = re.compile(r"[^\".(«»]*?(?<![a-z0-9_$.])([a-z0-9_$]+(?:\.[a-z0-9_$]+)?)\(.*")
"""A name as PL/Python and SQL functions are shown, or as PL/pgSQL ones; none that needs quotes."""


def _function_of(error: psycopg.Error) -> str | None:
    """The function of others in which the error arose; its name is in the catalog."""
    lines = (error.diag.context or "").splitlines()
    if _raised_by_pganon(error) or not any(map(_is_function, lines)):
        return None
    match = _is_function(lines[0]) and (
        _SIGNATURE.fullmatch(lines[0]) or _QUOTED.fullmatch(lines[0])
    )
    return f"the function {match[1]}" if match else "a function that pganon did not make"


_LONGER = "allow more with --statement-timeout, or run when the server is less busy"


def learn_timeout(conn: psycopg.Connection[Any]) -> None:
    """Learn how a server says, in its language, that a statement took longer than it may.

    A time that is over while the statement is still parsed is forgotten by the server: it then says
    what it says of a statement that somebody cancelled.
    """
    cancelled = _said(
        conn,
        "SELECT pg_catalog.pg_cancel_backend(pg_catalog.pg_backend_pid()), pg_catalog.pg_sleep(10)",
    )
    timed_out = _said(conn, "SET LOCAL statement_timeout = 1", "SELECT pg_catalog.pg_sleep(10)")
    _timeouts.update({timed_out} - {cancelled, ""})


def _said(conn: psycopg.Connection[Any], *statements: LiteralString) -> str:
    """What the server says of the last statement, which it ends, or which the role may not run."""
    try:
        with conn.transaction():
            for statement in statements:
                conn.execute(statement)
    except psycopg.errors.QueryCanceled as error:
        return error.diag.message_primary or ""
    except psycopg.errors.InsufficientPrivilege:
        return ""
    return ""


def _timed_out(error: psycopg.Error) -> bool:
    """Whether it was the time and no person; the server has one SQLSTATE for both."""
    return error.diag.message_primary in _timeouts


def _is_function(line: str) -> bool:
    """Whether a line of a context is about a function, in any language of the server."""
    return _FUNCTION.fullmatch(line) is not None and _ASSIGNMENT.fullmatch(line) is None


def _raised_by_pganon(error: psycopg.Error) -> bool:
    """Whether the server was in functions of pganon alone; others may raise any text and state."""
    lines = [line for line in (error.diag.context or "").splitlines() if _is_function(line)]
    return bool(lines) and all(map(_OWN_FUNCTION.fullmatch, lines))


_CODES: dict[str, ErrorCode] = {state: state.code for state in SqlState}


def _own_error(state: str, text: str, hint: str | None) -> PganonError:
    if state.startswith("PA2"):
        return PrivacyRefusal(text, hint=hint)
    if state.startswith("PA3"):
        return LedgerError(text, hint=hint)
    code = _CODES.get(state, ErrorCode.PRECONDITION)
    if state.startswith("PA4") and state in _CODES:
        return RequestError(text, hint=hint, code=code)
    return PreconditionError(text, hint=hint, code=code)
