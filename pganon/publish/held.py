"""Verified releases that wait for the approval of a second person.

Their tables stay sealed in the staging schema, and a row keeps what publication needs. Until then
no version exists, so nothing else takes them for one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter

from pganon import locks
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, PrivacyRefusal
from pganon.forms.confidential import evidence_details, told_measures
from pganon.history.versions import HistoryChanged
from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.policy.requests import Approval, duration
from pganon.publish import views
from pganon.publish.staging import Staged
from pganon.publish.transaction import PublishedVersion, fingerprint, publish, publishing, stamps
from pganon.requests.claim import Claim, Lost, overtaken
from pganon.sqlfiles import Connection, ask


@dataclass(frozen=True)
class HeldRelease:
    """A verified release that waits, as JSON in the database.

    Attributes:
        staged: what publication needs.
        beside: keyed fingerprint of what is staged about other versions, if anything is.
        told: its measures as approvers are told them.
        evidence: what approvers look at.
    """

    # Bytes as JSON.
    __pydantic_config__: ClassVar = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    staged: Staged
    beside: bytes | None
    told: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Inverse of :meth:`of`."""
        return json.dumps(_adapter().dump_python(self, mode="json"))

    @classmethod
    def of(cls, text: str) -> HeldRelease:
        return _adapter().validate_json(text)


class Overtaken(PreconditionError):
    """A version of a later run was published, so this one cannot be."""

    code = ErrorCode.SUPERSEDED

    def __init__(self, staged: Staged, version: int) -> None:
        self.run_id = staged.run_id
        self.version = version
        super().__init__(
            f'version {version} of the release "{staged.release}" was made after the one that was'
            " approved",
            hint="run the release again if it is to be shown anew",
        )


def hold(
    conn: Connection,
    staged: Staged,
    approval: Approval,
    claim: Claim | None,
    revision: Callable[[], int],
    last: Callable[[int], None],
) -> int:
    """Keep a verified release for approval; gives the number of its request.

    The session must hold the locks of the release and of the run.

    Args:
        claim: the request that it was made for; None: a command, for which one is made.
        revision: gives that of the policy, in the transaction that holds the release.
        last: called with the request at the end of the transaction, and may raise.

    Raises:
        PrivacyRefusal: changed_after_verification.
        PreconditionError: lock_lost; lost.
    """
    with publishing(conn):
        locks.assert_held(conn, release=staged.release, run_id=staged.run_id)
        names = [relation.staged for relation in staged.relations]
        if [stamp for stamp, _ in stamps(conn, names)] != list(staged.stamps):
            raise _changed(staged)
        expires = duration(approval.expires)
        if claim is None:
            values = {"release": staged.release, "revision": revision(), "run_id": staged.run_id}
            ((request,),) = ask(conn, "requests", "add_held", expires=expires, **values)
        else:
            request = claim.id
            _wait(conn, claim, staged, expires)
        _keep(conn, "keep_staged", request, staged)
        _note(conn, request, staged, approval.by)
        last(request)
    return request


def _keep(conn: Connection, query: str, request: int, staged: Staged) -> None:
    kept = HeldRelease(
        staged, _beside(conn, staged), told_measures(staged.measures), staged.shown_evidence
    )
    ask(conn, "requests", query, request=request, run_id=staged.run_id, staged=kept.to_json())


def _note(conn: Connection, request: int, staged: Staged, approvers: Sequence[str]) -> None:
    ledger.append(
        conn,
        "awaiting_approval",
        run_id=staged.run_id,
        release=staged.release,
        policy_hash=staged.policy_hash,
        details={
            "request": request,
            "row_count": staged.row_count,
            "suppressed": staged.suppressed,
            "approvers": list(approvers),
            **evidence_details(staged.shown_evidence),
        },
    )


def _wait_again(conn: Connection, claim: Claim, staged: Staged) -> None:
    """Let a release wait with what judging it again found.

    Raises:
        Lost: the request is not this worker's any more.
    """
    approval = Approval.model_validate(staged.policy["publish"]["approval"])
    with conn.transaction():
        _keep(conn, "keep_again", claim.id, staged)
        _wait(conn, claim, staged, duration(approval.expires))
        _note(conn, claim.id, staged, approval.by)


def _wait(conn: Connection, claim: Claim, staged: Staged, expires: timedelta) -> None:
    held = ask(
        conn, "requests", "hold", expires=expires, run_id=staged.run_id, **claim.fence
    ).fetchone()
    if held is None:
        raise Lost(claim.id)


def stop_waiting(conn: Connection, population: int) -> None:
    """End waiting for approval of all releases about these people: they have forgotten ones."""
    rows = ask(conn, "requests", "stop_waiting", population=population).fetchall()
    ask(conn, "requests", "forget_waiting", population=population)
    for request, release, run_id in rows:
        ledger.append(
            conn, "superseded", run_id=run_id, release=release, details={"request": request}
        )


def kept_for(conn: Connection, request: int) -> HeldRelease | None:
    """The release that waits with a request; None without one."""
    row = ask(conn, "requests", "staged", request=request).fetchone()
    return HeldRelease.of(row[1]) if row else None


def publish_held(
    conn: Connection,
    kept: HeldRelease,
    claim: Claim,
    judged_again: Callable[[Connection, Staged], Staged],
    last: Callable[[PublishedVersion], None],
) -> PublishedVersion | None:
    """Publish what was approved, if it is still what was verified, and promises what was looked at;
    else it waits for approval again, and there is no version.

    Args:
        judged_again: checks the rule against versions that were published since; may raise.
        last: called at the end of the publishing transaction.

    Raises:
        PrivacyRefusal: changed_after_verification; republication, beside those that appeared.
        PreconditionError: superseded; stale; see :func:`pganon.publish.transaction.publish`.
    """
    staged = kept.staged
    with locks.hold(conn, release=staged.release, run_id=staged.run_id):
        newer = overtaken(conn, staged.release, staged.run_id)
        if newer is not None:
            raise Overtaken(staged, newer)
        if not views.all_there(conn, _tables(staged)):
            raise _gone(staged)
        # A stamp is for a session. Taken before the fingerprint, it covers what comes after.
        names = [relation.staged for relation in staged.relations]
        taken = tuple(stamp for stamp, _ in stamps(conn, names))
        found = fingerprint(conn, staged.run_id, _tables(staged), staged.fingerprint)
        if found != staged.fingerprint:
            raise _changed(staged)

        def finally_(version: PublishedVersion) -> None:
            ask(conn, "requests", "forget_staged", request=claim.id)
            last(version)

        people = staged.judged.population if staged.judged else None
        with locks.hold(conn, population=people):
            if kept_for(conn, claim.id) is None:  # it has people who were forgotten meanwhile
                raise _gone(staged)
            if _beside(conn, staged, kept.beside) != kept.beside:
                raise _changed(staged)
            try:
                again = judged_again(conn, staged)
                if again.shown_evidence != kept.evidence:
                    _wait_again(conn, claim, again)
                    return None
                if again is not staged:
                    _keep(conn, "keep_again", claim.id, again)
                return publish(conn, replace(again, stamps=taken), last=finally_)
            except HistoryChanged as moved:
                raise PreconditionError(
                    moved.message, hint=moved.hint, code=ErrorCode.STALE
                ) from None


def _tables(staged: Staged) -> list[QualifiedName]:
    """All tables of the version, in the order of its fingerprint: shared ones come first."""
    shared = [QualifiedName(item["schema"], item["name"]) for item in staged.shared]
    return shared + [relation.staged for relation in staged.relations]


def _beside(conn: Connection, staged: Staged, compared: bytes | None = None) -> bytes | None:
    """Fingerprint of tables that no stamp covers; None without any, or if one is gone."""
    tables = staged.judged.tables if staged.judged else ()
    found = views.standing(conn, tables)
    existing = [name for name in tables if name in found]
    return fingerprint(conn, staged.run_id, existing, compared) if existing else None


def _gone(staged: Staged) -> PreconditionError:
    return PreconditionError(
        f'what was to be published of the approved release "{staged.release}" is gone',
        hint="run the release again",
        code=ErrorCode.STALE,
    )


def _changed(staged: Staged) -> PrivacyRefusal:
    return PrivacyRefusal(
        f'tables of the release "{staged.release}" changed after they were verified',
        hint="run the release again",
        code=ErrorCode.CHANGED_AFTER_VERIFICATION,
    )


@cache
def _adapter() -> TypeAdapter[HeldRelease]:
    return TypeAdapter(HeldRelease)
