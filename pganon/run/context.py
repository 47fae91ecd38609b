"""The context of a run, decided before its first step: people, earlier versions, and the plan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from pganon.catalog.citus import distributed_reads, is_installed, shards_of
from pganon.catalog.code import check_code, check_row_security
from pganon.catalog.introspect import read_relation, repeats
from pganon.catalog.model import Relation
from pganon.catalog.roles import Roles, check_roles, numbers
from pganon.encode.source import assumed_fingerprint
from pganon.error_codes import ErrorCode
from pganon.errors import PolicyError, PreconditionError
from pganon.forms.group_data import is_remembered
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.increments.continuity import check_columns
from pganon.history.invariance import signature_tables as signatures
from pganon.history.model import EarlierVersion
from pganon.install.owner import connect_as_owner
from pganon.loading import load_policy
from pganon.methods.registry import method_of
from pganon.methods.related.links import period_step
from pganon.plan.build import Plan, build_plan
from pganon.plan.withdrawal import closing
from pganon.policy.loader import LoadedPolicy
from pganon.policy.refusals import show
from pganon.privacy.models import BackgroundKnowledge, QSKAnonymity
from pganon.publish import release_state, sessions
from pganon.publish.people import growth_of, people_of
from pganon.resolved.model import Beside, ReleaseSpec
from pganon.resolved.periods import PERIOD, START
from pganon.resolved.republication import Republication
from pganon.resolved.resolve import resolve
from pganon.run.options import Options
from pganon.server_errors import translate
from pganon.sqlfiles import Connection
from pganon.sqltools import statement
from pganon.steps import State


@dataclass(frozen=True)
class RunContext:
    """The plan of a run, and the versions beside which it is published.

    Which signatures its people have is known when their rows were read, as they may be those of
    another table.

    Attributes:
        plan: beside the versions that groups may be taken over from; none where they are drawn
            apart.
        beside: all versions that were ever readable.
        sources: names of the source and of all that its rows come from.
        source_mark: of these and of tables without people, from before they were read.
    """

    plan: Plan
    beside: Republication
    sources: tuple[str, ...]
    source_mark: str | None

    @property
    def spec(self) -> ReleaseSpec:
        return self.plan.spec


def decided(
    conn: Connection, spec: ReleaseSpec, sources: tuple[str, ...], run_id: int, options: Options
) -> RunContext:
    """Decide what a run does; what it may not do is refused.

    Raises:
        PreconditionError, PrivacyRefusal, LedgerError: see :func:`pganon.publish.people.growth_of`
            and :class:`~pganon.resolved.republication.Republication`.
    """
    lookups = spec.related.lookups if spec.related is not None else ()
    without_people = release_state.sources_of(conn, *[one.relation.oid for one in lookups])
    mark = release_state.source_mark(conn, (*sources, *without_people))
    growth = growth_of(conn, spec, sources, run_id)
    resumed = signatures.resumed(conn, spec, sources, run_id)
    people = people_of(conn, spec, sources)
    spec = replace(spec, growth=growth)
    versions = beside(conn, spec, sources, publishes=not options.dry_run)
    compared = None if options.seed is not None else versions
    # A version that grows may have nobody to add: then nothing new is shown beside others.
    grows = growth is not None and growth.version is not None
    refusal = compared.before_work() if compared is not None and not grows else None
    if refusal is not None:
        raise refusal
    plan = build_plan(
        spec,
        compared,
        options.metrics,
        reasoned=options.dry_run,
        people=people,
        resumed=resumed,
        snapshot=options.snapshot.table if options.snapshot else None,
    )
    check_columns(plan.spec, State(0), plan.stored_views(State(0)))
    return RunContext(plan, versions, sources, mark)


def plan_release(
    policy: str | Path | LoadedPolicy, *, dsn: str | None = None, owner: str | None = None
) -> Plan:
    """The plan of a policy beside the versions that there are; nothing is run, no data is read.

    Beside versions of the same policy the source is assumed to be that of the nearest.
    """
    loaded = policy if isinstance(policy, LoadedPolicy) else load_policy(policy)
    with contextlib.closing(connect_as_owner(dsn, owner=owner)) as conn, sessions.translated():
        spec = resolve_policy(conn, loaded)
        sources = release_state.sources_of(conn, *spec.about_people)
        growth, people = growth_of(conn, spec, sources), people_of(conn, spec, sources)
        spec = replace(spec, growth=growth)
        versions = beside(conn, spec, sources, publishes=True)
        plan = build_plan(spec, versions.unchanged(assumed_fingerprint(spec)), people=people)
        spec = plan.spec
        if spec.invariant:
            population = populations.find(conn, spec, sources)
            spec = replace(spec, signatures=signatures.signatures_of(conn, spec, population))
        plan = replace(plan, spec=spec, past=pasts_of(conn, plan, sources))
        period = period_over(conn, spec)
        return plan if period is None else replace(closing(plan), period=period)


def period_over(conn: Connection, spec: ReleaseSpec) -> str | None:
    """The period that a run would add to the groups that there are, before it looks at people."""
    if spec.growth is None:
        return None
    for step in period_step(spec):
        with conn.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(statement(step.select(State(0)))).fetchone()
        if row and row[START.column] is not None:
            return str(row[PERIOD.column])
    return None


def beside(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], *, publishes: bool
) -> Republication:
    """The run beside the versions that were ever readable."""
    earlier = release_state.earlier(conn, spec.policy.release, sources)
    form = method_of(spec).form
    keyed = is_remembered(spec, form)
    return Republication(spec.policy, spec.partition, earlier, publishes, keyed)


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

    def first(names: Iterable[str | None]) -> Relation | None:
        return next((read(name) for name in names if name is not None), None)

    conditions = [c.sensitive_when for c in policy.columns.values() if c.sensitive_when]
    spec = resolve(
        policy,
        read(policy.source),
        Beside(
            public={
                name: read(relation)
                for model in policy.privacy
                if isinstance(model, QSKAnonymity)
                for name, relation in model.public.items()
            },
            exceptions={one.relation: read(one.relation) for one in conditions if one.relation},
            prior=first(
                model.knowledge.relation
                for model in policy.privacy
                if isinstance(model, BackgroundKnowledge)
            ),
            population=first((*(m.counted_in for m in policy.privacy), policy.report.population)),
            exclude=read(policy.exclude.relation) if policy.exclude else None,
            aliases=read(policy.aliases.relation) if policy.aliases else None,
            tables={name: read(table.source) for name, table in policy.tables.items()},
        ),
        base_dir=loaded.base_dir,
        file=loaded.file,
        lines=loaded.lines,
    )
    spec = replace(spec, roles=named_roles(conn, loaded))
    if privileges:
        # Refuse trusted roles that do not exist, or are others than those that were named.
        check_roles(
            conn,
            spec.policy.trust,
            spec.roles,
            "trusted roles",
            remedy="correct `trust` in the policy",
            again=_AGAIN,
            now=spec.roles if loaded.roles is None else None,
        )
        check_row_security(conn, spec.external)
        citus = is_installed(conn)
        check_code(conn, spec.external, spec.trusted.values(), citus=citus)
        others = [(name,) for name in spec.external.relations if name not in spec.read]
        reads = distributed_reads(conn, [spec.read, *others], installed=citus)
        if reads and spec.related is not None:
            raise PreconditionError(
                "related tables cannot be read where Citus distributes one of them",
                hint="copy them into tables of this server",
                code=ErrorCode.SOURCE_KIND,
            )
        shards = shards_of(conn, spec.source) if reads else None
        spec = replace(spec, distributed_reads=reads, shards=shards)
    if spec.may_count:
        items = (*spec.attributes, *spec.sensitive, *spec.carried)
        columns = [item.column.name for item in items]
        spec = replace(
            spec, counted=repeats(conn, spec.source, columns, in_shards=bool(spec.shards))
        )
    return spec


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


Place = tuple[str | int, ...]


def check_storable(conn: Connection, loaded: LoadedPolicy) -> None:
    """Refuse a policy whose names, labels or conditions the database has no characters for.

    Raises:
        PolicyError: a problem for each such text.
    """
    texts = list(_texts(loaded.policy.model_dump(mode="json", by_alias=True, exclude_unset=True)))
    if _storable(conn, [text for _, text in texts]):
        return
    encoding = conn.info.parameter_status("server_encoding")
    raise PolicyError(
        [
            loaded.lines.problem(
                place,
                f"{show(text)} has characters that the database's encoding {encoding} lacks",
                "write it without them, or use a database with the encoding UTF8",
            )
            for place, text in texts
            if not _storable(conn, [text])
        ],
        file=loaded.file,
    )


def _texts(value: object, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Every text in a policy, and its place; for a key, that of its value."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*place, key), str(key)
            yield from _texts(item, (*place, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _texts(item, (*place, number))


def _storable(conn: Connection, texts: list[str]) -> bool:
    if conn.info.parameter_status("server_encoding") == "UTF8" and "\0" not in "".join(texts):
        return True
    try:
        conn.execute("SELECT %s::text[]", [texts])
    except psycopg.errors.UntranslatableCharacter:
        return False
    except psycopg.Error as error:
        raise translate(error) from None
    return True


def pasts_of(conn: Connection, plan: Plan, sources: tuple[str, ...]) -> tuple[EarlierVersion, ...]:
    """All versions about the people of a plan."""
    if not plan.is_remembered:
        return ()
    population = populations.find(conn, plan.spec, sources)
    if population is None:
        return ()
    return tuple(memory.earlier_versions(memory.versions_about(conn, population)).values())
