"""Reads what a report is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from pganon.cli.common import program
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.forms.confidential import DIGEST, JUDGEMENT, sha256, told_measures
from pganon.install.access import admit_approver
from pganon.loading import policy_from
from pganon.methods.registry import methods
from pganon.methods.related import related
from pganon.policy.columns import of_role
from pganon.privacy.requirements import requirements_of
from pganon.publish.listing import events, find
from pganon.publish.privileges import can_read
from pganon.publish.release_state import Version
from pganon.report.parts import OverVersions
from pganon.report.sources import Access, Collected, Crossing, VersionFacts
from pganon.sqlfiles import Connection, ask


def collect_held(conn: Connection, request: int) -> Collected:
    """The release that waits with a request; without any code of pganon's owner.

    Raises:
        PreconditionError: not_allowed, where there is none about which this role decides.
        InstallError: see :func:`pganon.install.access.admit_approver`.
    """
    with conn.transaction():
        admit_approver(conn)
        row = ask(conn, "report", "held", request=request).fetchone()
    if row is None:
        raise PreconditionError(
            f"there is no request {request} that waits for your decision",
            hint="SELECT * FROM pganon.requests",
            code=ErrorCode.NOT_ALLOWED,
        )
    return _collected(request, row[0])


def _collected(request: int, kept: Mapping[str, Any]) -> Collected:
    staged = kept["staged"]
    events = [{**one, "at": _time(one["at"])} for one in kept["events"]]
    decided = [tuple(one) for one in kept["approvals"] or ()]
    ledger = with_decisions(events, decided)
    versions = [
        VersionFacts(**{**one, "published_at": _time(one["published_at"])})
        for one in kept["versions"] or ()
    ]
    held = next(
        e
        for e in reversed(ledger)
        if e["event"] == "awaiting_approval" and e["run_id"] == staged["run_id"]
    )
    evidence = staged["evidence"]
    judgement = (evidence or {}).get(JUDGEMENT, {})
    mine = VersionFacts(
        number=None,
        run_id=staged["run_id"],
        released=staged["row_count"],
        suppressed=staged["suppressed"],
        published_at=held["at"],
        over_versions=staged["over_versions"],
        stored=True,
    )
    readers = list(staged["readers"])
    return Collected(
        **of_method(staged["method"], staged["policy"], staged["measures"]),
        release=staged["release"],
        source=staged["source"],
        version=mine,
        versions=[*versions, mine],
        shown=kept["shown"],
        policy_hash=staged["policy_hash"],
        guarantee=judgement.get("guarantee", staged["guarantee"]),
        columns=staged["columns"],
        source_columns=[name for name, _ in staged["source_columns"]],
        readers=readers,
        access=[Access(role=role, because="the policy names it as a reader") for role in readers],
        crossings=[
            Crossing(version=f"request {request}", other=other, reason=reason, people=people)
            for _, other, reason, people in judgement.get("crossings", ())
        ],
        events=ledger,
        evidence=evidence,
        evidence_intact=intact(held, evidence),
        made_at=datetime.now(UTC),
        program=program(),
        request=request,
        about=staged["policy"].get("about") or {},
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def collect(conn: Connection, name: str, number: int | None = None) -> Collected:
    """A version of a release, by default the one that is shown; as its steward.

    Raises:
        LedgerError: unknown_release, unknown_version.
    """
    history = find(conn, name)
    version = history.version(number)
    decisions = ask(conn, "report", "approvals", release=name).fetchall()
    ledger = with_decisions(events(conn, name), decisions)
    about = ask(conn, "report", "about", release=name).fetchone()
    row = ask(conn, "report", "evidence", release=name, version=version.version).fetchone()
    evidence = row[0] if row else None
    released = (e for e in ledger if e["event"] == "released" and e["version"] == version.version)
    first = version.views[0].name if version.views else None
    return Collected(
        **of_method(version.method, version.policy, told_measures(version.measures)),
        release=name,
        source=history.release.source,
        version=_facts(version),
        versions=[_facts(one) for one in reversed(history.versions)],
        shown=history.release.current,
        policy_hash=version.policy_hash,
        guarantee=version.guarantee,
        columns=[column for column in version.columns if column["view"] == str(first)],
        source_columns=[column["name"] for column in version.source_columns],
        readers=history.release.readers,
        access=[Access(role=one.role, because=one.because) for one in can_read(conn, history)],
        crossings=_crossings(conn, version),
        events=ledger,
        evidence=evidence,
        evidence_intact=intact(next(released, None), evidence),
        made_at=datetime.now(UTC),
        program=program(),
        about=(about and about[0]) or {},
        public=_public(conn, version) if version.version == history.release.current else False,
    )


def of_method(
    method: str, policy: Mapping[str, Any], measures: Mapping[str, Any]
) -> dict[str, Any]:
    """What the form of the method, and the policy of a version, say of it."""
    found, read = methods()[method], policy_from(policy)
    form = (related(found) if read.tables else found).form
    sensitive = of_role(read.columns, "sensitive", "semi_sensitive")
    recorded = measures.get("utility")
    return {
        "method": method,
        "groups": form.publication.groups,
        "policy": read,
        "requirements": requirements_of(read, {name: n for n, name in enumerate(sensitive)}),
        "measures": measures,
        "utility": form.statistics.figures.recorded(recorded) if recorded else None,
        "tells": form.statistics.tells,
        "apart": form.statistics.apart,
        "said": form.verification.said,
        "asked": form.statistics.on_request is not None,
    }


def _public(conn: Connection, version: Version) -> bool:
    """Whether whoever can connect can read all views of a version."""
    names = [view.name for view in version.views]
    row = ask(
        conn,
        "report",
        "public",
        schemas=[one.schema for one in names],
        names=[one.name for one in names],
    ).fetchone()
    return bool(row and row[0])


def _facts(version: Version) -> VersionFacts:
    return VersionFacts(
        number=version.version,
        run_id=version.run_id,
        released=version.row_count,
        suppressed=version.suppressed,
        published_at=version.published_at,
        over_versions=cast("OverVersions | None", version.over_versions),
        stored=version.stored,
    )


def intact(event: Mapping[str, Any] | None, evidence: Mapping[str, Any] | None) -> bool | None:
    """Whether the evidence is the one of which an event has the digest; None without both."""
    recorded = event and event["details"].get(DIGEST)
    if evidence is None and recorded is None:
        return None
    return evidence is not None and sha256(evidence) == recorded


def with_decisions(
    ledger: list[dict[str, Any]], decisions: Sequence[tuple[Any, ...]]
) -> list[dict[str, Any]]:
    """The ledger, with who decided on requests, and the reasons.

    Args:
        decisions: rows (request, decision, login, reason).
    """
    made = {(request, decision): (login, reason) for request, decision, login, reason in decisions}
    for event in ledger:
        found = made.get((event["details"].get("request"), event["event"]))
        if found is not None:
            event["details"] |= {"login": found[0], "reason": found[1]}
    return ledger


def _crossings(conn: Connection, version: Version) -> list[Crossing]:
    rows = ask(conn, "report", "crossings", run_id=version.run_id).fetchall()
    own = f"version {version.version}"
    return [
        Crossing(version=own, other=other, reason=reason, people=people)
        for other, reason, people in rows
    ]
