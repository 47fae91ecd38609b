"""Operations on policies and releases: what they are, what they do, how they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pprint import pformat
from typing import Any

from alembic.autogenerate import renderers
from alembic.autogenerate.api import AutogenContext
from alembic.operations import MigrateOperation, Operations
from alembic.util import CommandError
from sqlalchemy import String, TextClause, bindparam, text
from sqlalchemy.exc import DBAPIError

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, UsageError
from pganon.loading import policy_from
from pganon.sqltext import json_text

WAIT = "1 hour"


@contextmanager
def errors_of_alembic() -> Iterator[None]:
    """What is refused in the block, as Alembic prints what it refuses itself: by its text alone.

    Raises:
        CommandError: with message and hint, and without statement and lines of CONTEXT.
    """
    try:
        yield
    except PganonError as error:
        cause, message, hint = error, str(error), error.hint
    except DBAPIError as error:
        diag = getattr(error.orig, "diag", None)
        if diag is None or not str(diag.sqlstate).startswith("PA"):
            raise
        cause, message, hint = error, str(diag.message_primary), diag.message_hint
    else:
        return
    raise CommandError(f"{message}\nhint: {hint}" if hint else message) from cause


Document = Mapping[str, Any]
Files = Mapping[str, str]


@Operations.register_operation("apply_policy")
class ApplyPolicyOp(MigrateOperation):
    """Keep a policy as the newest revision of its release.

    Args:
        document: the policy.
        files: contents of the files that it names, by path.
        before, files_before: what was the newest before, for the way back; None if there was none.
    """

    def __init__(
        self,
        document: Document,
        files: Files | None = None,
        before: Document | None = None,
        files_before: Files | None = None,
    ) -> None:
        self.document = document
        self.files = files or {}
        self.before = before
        self.files_before = files_before or {}

    @classmethod
    def apply_policy(
        cls,
        operations: Operations,
        document: Document,
        files: Files | None = None,
        before: Document | None = None,
        files_before: Files | None = None,
    ) -> None:
        """Keep a policy in the database; PolicyError if it cannot be used."""
        operations.invoke(cls(document, files, before, files_before))

    def reverse(self) -> MigrateOperation:
        if self.before is None:
            return StayingPolicyOp(str(self.document.get("release")))
        return ApplyPolicyOp(self.before, self.files_before, self.document, self.files)

    def to_diff_tuple(self) -> tuple[Any, ...]:
        return ("apply_policy", self.document.get("release"))


class StayingPolicyOp(MigrateOperation):
    """The way back from a first policy, of which nothing is released any more: a comment."""

    def __init__(self, release: str) -> None:
        self.release = release

    def to_diff_tuple(self) -> tuple[Any, ...]:
        return ("staying_policy", self.release)


class _OfRelease(MigrateOperation):
    """An operation on a release, by its name."""

    name: str

    def __init__(self, release: str) -> None:
        self.release = release

    def to_diff_tuple(self) -> tuple[Any, ...]:
        return (self.name, self.release)


@Operations.register_operation("release", "run")
class ReleaseOp(_OfRelease):
    """Make a version of a release; a worker does the work."""

    name = "release"

    def __init__(
        self, release: str, parameters: Mapping[str, Any] | None = None, wait: str = WAIT
    ) -> None:
        super().__init__(release)
        self.parameters = parameters or {}
        self.wait = wait

    @classmethod
    def run(
        cls,
        operations: Operations,
        release: str,
        parameters: Mapping[str, Any] | None = None,
        wait: str = WAIT,
    ) -> None:
        """Make a version of a release, and wait for it.

        Commits what came before: it belongs into a migration of its own.
        """
        operations.invoke(cls(release, parameters, wait))

    def reverse(self) -> RevertReleaseOp:
        return RevertReleaseOp(self.release)


@Operations.register_operation("revert_release", "run")
class RevertReleaseOp(_OfRelease):
    """Show the version before, or withdraw the release if there is none."""

    name = "revert_release"

    def __init__(self, release: str, wait: str = WAIT) -> None:
        super().__init__(release)
        self.wait = wait

    @classmethod
    def run(cls, operations: Operations, release: str, wait: str = WAIT) -> None:
        """Show the version before, or withdraw the release; commits what came before."""
        operations.invoke(cls(release, wait))

    def reverse(self) -> ReleaseOp:
        return ReleaseOp(self.release)


@Operations.register_operation("withdraw_release", "run")
class WithdrawReleaseOp(_OfRelease):
    """Take the views of a release away."""

    name = "withdraw_release"

    @classmethod
    def run(cls, operations: Operations, release: str) -> None:
        """Take the views of a release away; its versions stay."""
        operations.invoke(cls(release))

    def reverse(self) -> ReleaseOp:
        return ReleaseOp(self.release)


# -- what they do ---------------------------------------------------------------------------------


@Operations.implementation_for(ApplyPolicyOp)
def _apply(operations: Operations, op: ApplyPolicyOp) -> None:
    statement = text("SELECT pganon.apply_policy(CAST(:document AS json), CAST(:files AS json))")
    with errors_of_alembic():
        policy_from(op.document, file=f"op.apply_policy of {op.document.get('release')}")
        given = {"document": json_text(op.document), "files": json_text(op.files)}
        operations.execute(_with(statement, **given))


@Operations.implementation_for(ReleaseOp)
def _release(operations: Operations, op: ReleaseOp) -> None:
    call = text(
        "CALL pganon.release(CAST(:release AS text), CAST(:parameters AS jsonb),"
        " CAST(:wait AS interval))"
    )
    parameters = json_text(op.parameters)
    _call(operations, op, _with(call, release=op.release, parameters=parameters, wait=op.wait))


@Operations.implementation_for(RevertReleaseOp)
def _revert(operations: Operations, op: RevertReleaseOp) -> None:
    call = text("CALL pganon.revert_release(CAST(:release AS text), CAST(:wait AS interval))")
    _call(operations, op, _with(call, release=op.release, wait=op.wait))


@Operations.implementation_for(WithdrawReleaseOp)
def _withdraw(operations: Operations, op: WithdrawReleaseOp) -> None:
    statement = text("SELECT pganon.withdraw_release(CAST(:release AS text))")
    with errors_of_alembic():
        operations.execute(_with(statement, release=op.release))


def _with(statement: TextClause, **values: str) -> TextClause:
    return statement.bindparams(
        *(bindparam(name, value, type_=String()) for name, value in values.items())
    )


def _call(operations: Operations, op: _OfRelease, call: TextClause) -> None:
    """A CALL that commits and waits, outside of any transaction."""
    with errors_of_alembic(), ExitStack() as block:
        try:
            block.enter_context(operations.get_context().autocommit_block())
        except AssertionError:
            raise UsageError(
                f"op.{op.name}({op.release!r}) cannot commit the transaction of env.py",
                hint="connect by `engine.connect()` there, not by `engine.begin()`, and configure"
                " transaction_per_migration=True",
                code=ErrorCode.IN_TRANSACTION,
            ) from None
        operations.execute(call)


# -- how they are written -------------------------------------------------------------------------


@renderers.dispatch_for(ApplyPolicyOp)
def _render_apply(context: AutogenContext, op: ApplyPolicyOp) -> str:
    given = [pformat(dict(op.document), sort_dicts=False, width=88)]
    for name in ("files", "before", "files_before"):
        value = getattr(op, name)
        if value:
            given.append(f"{name}={pformat(dict(value), sort_dicts=False, width=88)}")
    return f"op.apply_policy({', '.join(given)})"


@renderers.dispatch_for(StayingPolicyOp)
def _render_staying(context: AutogenContext, op: StayingPolicyOp) -> str:
    return f"# The policy of {op.release!r} stays in the database; nothing is released by it."


@renderers.dispatch_for(_OfRelease)
def _render_of_release(context: AutogenContext, op: _OfRelease) -> str:
    given = [repr(op.release)]
    if isinstance(op, ReleaseOp) and op.parameters:
        given.append(repr(dict(op.parameters)))
    return f"op.{op.name}({', '.join(given)})"
