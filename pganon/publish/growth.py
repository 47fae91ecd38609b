"""What a release that grows has so far, and the cohorts that its runs committed to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PreconditionError, PrivacyRefusal
from pganon.forms.remembered import HISTOGRAM
from pganon.identifiers import QualifiedName, parse_name, quote
from pganon.policy.options import REFERENCE
from pganon.privacy.likeness import ReferenceModel
from pganon.publish import release_state
from pganon.publish.release_state import History, Version
from pganon.publish.transaction import is_intact
from pganon.resolved.increments import CUTS, Cohorts, First, Growth, Increment, cohorts_table
from pganon.steps.relations import CheckQuery

Connection = psycopg.Connection[Any]


def growth(
    conn: Connection, release: str, population: int | None, size: int, *, divides: bool
) -> Growth:
    """What a run of the release adds to.

    Args:
        population: whom the release is about; None if nothing was released of them.
        size: fewest people of a cohort.
        divides: whether newcomers are divided by the cuts of the first version, if it kept them.

    Raises:
        LedgerError: not_stored, the newest version has no tables any more.
        PreconditionError: no_identity, nothing told the people of the first version apart.
        PrivacyRefusal: changed_after_verification.
    """
    known = release_state.read(conn, release)
    newest = known.versions[0] if known and known.versions else None
    values = {"release": release, "population": population}
    cohorts = conn.execute(sqlfiles.query("publish", "cohorts"), values).fetchall()
    unfinished = [Cohorts(run_id, number, cut) for run_id, number, mine, _, cut in cohorts if mine]
    found = Growth(
        size=size,
        population=population,
        unfinished=unfinished[0] if unfinished else None,
        taken=tuple(cohorts_table(run_id) for run_id, *_ in cohorts),
        records_out=sum(out for *_, out, _ in cohorts),
    )
    if newest is None:
        return found
    members = conn.execute(sqlfiles.query("publish", "members_tables"), values).fetchall()
    found = replace(found, members=tuple(_named(name) for (name,) in members))
    assert known is not None
    return _from(known, _upon(conn, release, newest, found), divides=divides)


def _from(known: History, found: Growth, *, divides: bool) -> Growth:
    """With what the first version has, that the others were added to."""
    first = next(v for v in known.versions if v.run_id == found.increments[0].run_id)
    kept = {r["part"]: QualifiedName(r["schema"], r["name"]) for r in first.relations}
    if HISTOGRAM not in kept:
        raise PreconditionError(
            f"version {first.version} of the release {quote(known.release.name)}, which increments"
            " would be added to, has no key, so nobody can tell who is new",
            hint="use refresh: recompute, or another name for the release",
            code=ErrorCode.NO_IDENTITY,
        )
    source = kept.get(REFERENCE)
    compared = (g["column"] for g in found.increments[0].guarantee if _compares(g))
    known_losses = {version.run_id: version.lost for version in known.versions}
    return replace(
        found,
        lost=tuple(known_losses.get(one.run_id, {}) for one in found.increments),
        cuts=kept.get(CUTS) if divides else None,
        first=First(kept[HISTOGRAM], source, frozenset(compared if source else ())),
        partition=first.partition,
    )


def _compares(stated: Mapping[str, Any]) -> bool:
    """Whether a requirement, as a guarantee states it, is about the distribution of the source."""
    return any(stated["model"] == model.name for model in ReferenceModel.__subclasses__())


def _upon(conn: Connection, release: str, newest: Version, found: Growth) -> Growth:
    if not newest.stored:
        raise LedgerError(
            f"version {newest.version} of the release {quote(release)}, which increments would be"
            " added to, is no longer stored",
            hint="use refresh: recompute, or another name for the release",
            code=ErrorCode.NOT_STORED,
        )
    if not is_intact(conn, newest):
        raise PrivacyRefusal(
            f"the tables of version {newest.version} of the release {quote(release)}, which"
            " increments would be added to, were changed",
            hint="use refresh: recompute",
            code=ErrorCode.CHANGED_AFTER_VERIFICATION,
        )
    return replace(
        found,
        version=newest.version,
        views=newest.views,
        increments=newest.increments or (at_once(newest),),
        relations=tuple(newest.relations),
        shown=newest.row_count,
    )


def at_once(version: Version) -> Increment:
    """A version that was made at once, as the first increment of those to come."""
    return Increment(
        version.run_id,
        tuple(view.select for view in version.views),
        tuple(CheckQuery(**item) for item in version.checks),
        version.row_count,
        version.suppressed,
        version.row_count,  # no group is without a record
        tuple(version.guarantee),
    )


def _named(text: str) -> QualifiedName:
    schema, name = parse_name(text)
    return QualifiedName(schema or "", name)
