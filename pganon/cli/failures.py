"""Errors of commands, for people and for programs."""

from __future__ import annotations

from pganon import database
from pganon.cli import common
from pganon.errors import (
    DatabaseError,
    InstallError,
    LedgerError,
    PganonError,
    PolicyError,
    PreconditionError,
    PrivacyRefusal,
    UsageError,
    UserInterrupt,
)

_OF_A_SERVER = (DatabaseError, InstallError, LedgerError, PreconditionError)
"""Errors that another server or database might not have."""


def show_error(error: PganonError, *, json: bool) -> None:
    """`error:`, `hint:` and `server:` on stderr, or one JSON object on stdout, with what was found
    before an interrupt."""
    if json:
        found = error.document if isinstance(error, UserInterrupt) else {}
        common.emit_json({**found, "error": error_object(error)})
        return
    first, *others = error.lines if isinstance(error, PolicyError) else (error.message,)
    common.labelled("error", first, "bold red")
    for text in others:
        common.note(text)
    if error.hint:
        common.hint(_placed(error.hint))
    if database.reached() and isinstance(error, _OF_A_SERVER):
        common.labelled("server", database.reached() or "")


def _placed(hint: str) -> str:
    """With the places of the lines of a policy in it; what knows them takes long to import."""
    if ": " not in hint:
        return hint
    from pganon.loading import known
    from pganon.policy.places import placed

    try:
        registry = known()
    except UsageError:  # of a package with a method, which is not what went wrong
        return hint
    return placed(hint, registry)


def error_object(error: PganonError) -> dict[str, object]:
    """The JSON object of an error."""
    fields: dict[str, object] = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint and _placed(error.hint),
        "server": database.reached(),
    }
    if isinstance(error, PolicyError):
        fields["problems"] = [problem.as_dict() for problem in error.problems]
    if isinstance(error, PrivacyRefusal):
        fields["model"] = error.model
        fields["required"] = error.required
        fields["observed"] = error.observed
    return fields
