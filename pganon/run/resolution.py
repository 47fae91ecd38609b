"""A policy against the server: what it names, and whose code reading it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import psycopg

from pganon.catalog.code import check_code
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import Relation
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.privacy.models import BackgroundKnowledge, QSKAnonymity
from pganon.publish.views import missing_roles
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.resolve import resolve
from pganon.run.storable import check_storable

Connection = psycopg.Connection[Any]
Read = Callable[[str], Relation]


def resolve_policy(
    conn: Connection, loaded: LoadedPolicy, *, privileges: bool = True
) -> ReleaseSpec:
    """The policy against the catalog that `conn` sees.

    Args:
        privileges: False for a session that will read nothing, and asks whether others could.
    """
    policy = loaded.policy
    check_storable(conn, loaded)

    def read(name: str) -> Relation:
        return read_relation(conn, name, privileges=privileges)

    spec = resolve(
        policy,
        read(policy.source),
        public=public_relations(read, policy),
        exceptions=exception_relations(read, policy),
        prior=prior_relation(read, policy),
        exclude=read(policy.exclude.relation) if policy.exclude else None,
        aliases=read(policy.aliases.relation) if policy.aliases else None,
        base_dir=loaded.base_dir,
        file=loaded.file,
        line_of=loaded.line_of,
    )
    if privileges:
        check_code(conn, spec.external, policy.trust)
    return spec


def check_trusted(conn: Connection, roles: Sequence[str]) -> None:
    """Refuse roles of `trust` that the server does not have."""
    missing = missing_roles(conn, roles)
    if missing:
        raise PreconditionError(
            f"these trusted roles are not roles of the server: {', '.join(map(quote, missing))}",
            hint="correct `trust` in the policy",
            code=ErrorCode.MISSING_ROLE,
        )


def public_relations(read: Read, policy: Policy) -> dict[str, Relation]:
    """The relations that a policy names as public, by QS set."""
    return {
        name: read(relation)
        for model in policy.privacy
        if isinstance(model, QSKAnonymity)
        for name, relation in model.public.items()
    }


def exception_relations(read: Read, policy: Policy) -> dict[str, Relation]:
    """The relations that say whose values are sensitive, by their name in the policy."""
    named = [c.sensitive_when.relation for c in policy.columns.values() if c.sensitive_when]
    return {name: read(name) for name in named if name is not None}


def prior_relation(read: Read, policy: Policy) -> Relation | None:
    """The relation with what readers are assumed to know beforehand."""
    named = (m.knowledge.relation for m in policy.privacy if isinstance(m, BackgroundKnowledge))
    return next((read(name) for name in named if name is not None), None)
