"""A policy against the server: what it names, and whose code reading it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from pganon.catalog.citus import distributed_reads, shards_of
from pganon.catalog.code import check_code, check_row_security
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import Relation
from pganon.catalog.roles import Roles, check_roles, numbers
from pganon.identifiers import QualifiedName
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.privacy.models import BackgroundKnowledge, QSKAnonymity
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.resolve import resolve
from pganon.run.storable import check_storable

Connection = psycopg.Connection[Any]
Read = Callable[[str], Relation]

_AGAIN = "apply the policy again"


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
        population=population_relation(read, policy),
        exclude=read(policy.exclude.relation) if policy.exclude else None,
        aliases=read(policy.aliases.relation) if policy.aliases else None,
        base_dir=loaded.base_dir,
        file=loaded.file,
        line_of=loaded.line_of,
    )
    spec = replace(spec, roles=named_roles(conn, loaded))
    if privileges:
        check_trusted(conn, spec)
        check_row_security(conn, spec.external)
        check_code(conn, spec.external, spec.trusted.values())
        reads = distributed_reads(conn, _statements(spec))
        spec = replace(spec, distributed_reads=reads, shards=shards_of(conn, spec.source))
    return spec


def _statements(spec: ReleaseSpec) -> list[Sequence[QualifiedName]]:
    """The relations of others that each statement of a run reads."""
    others = [(name,) for name in spec.external.relations if name not in spec.read]
    return [spec.read, *others]


def named_roles(conn: Connection, loaded: LoadedPolicy) -> Roles:
    """Numbers of the readers and trusted roles of a policy: of one in the database those that they
    had when it was applied, of a file those of the roles that have the names now."""
    if loaded.roles is not None:
        return loaded.roles
    return numbers(conn, (*loaded.policy.publish.readers, *loaded.policy.trust))


def check_deciders(conn: Connection, loaded: LoadedPolicy) -> None:
    """Refuse roles that may request or approve and do not exist, before a policy is stored.

    Of one in the database only the roles count that are what they were.

    Raises:
        PreconditionError: missing_role.
    """
    if loaded.roles is not None:
        return
    requests, approval = loaded.policy.requests, loaded.policy.publish.approval
    for what, names, key in (
        ("roles that may request", requests.roles if requests else (), "requests.roles"),
        ("approvers", approval.by if approval else (), "publish.approval.by"),
    ):
        roles = numbers(conn, names)
        check_roles(conn, names, roles, what, remedy=f"correct {key}", again=_AGAIN)


def check_trusted(conn: Connection, spec: ReleaseSpec) -> None:
    """Refuse trusted roles that do not exist, or are others than those that were named.

    Raises:
        PreconditionError: missing_role, replaced_role.
    """
    check_roles(
        conn,
        spec.policy.trust,
        spec.roles,
        "trusted roles",
        remedy="correct `trust` in the policy",
        again=_AGAIN,
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


def population_relation(read: Read, policy: Policy) -> Relation | None:
    """The relation of the population that models or the report count people in."""
    named = (*(model.counted_in for model in policy.privacy), policy.report.population)
    return next((read(name) for name in named if name is not None), None)
