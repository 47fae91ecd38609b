"""Whether policies still fit their sources: a gate for pipelines that change schemas."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pganon.catalog.code import check_row_security
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import Relation
from pganon.catalog.roles import check_roles
from pganon.checks.releases import column_drift, lines_to_add, mentioned
from pganon.error_codes import ErrorCode
from pganon.errors import DatabaseError, PganonError, PolicyError, PreconditionError
from pganon.hierarchies.files import check_files
from pganon.identifiers import quote
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.publish import release_state
from pganon.run.context import check_storable, named_roles, resolve_policy
from pganon.run.dry_run import look
from pganon.sqlfiles import Connection


@dataclass(frozen=True)
class Wrong:
    """Problem that keeps a policy from being run as it was meant.

    Attributes:
        policy: the file, or the name in the database.
        code: undeclared, unresolved, retyped, missing_role, replaced_role or values.
        add: lines for the policy.
    """

    policy: str
    release: str
    code: str
    message: str
    add: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """A policy to be checked, under the name that findings have."""

    label: str
    loaded: LoadedPolicy


@dataclass(frozen=True)
class CheckOptions:
    """How policies are checked.

    Attributes:
        steward: whether the session is the owner of pganon: then the types that columns had are
            known.
        privileges: whether this session must be able to read what policies name.
        values: whether sources are read, as the steward: whether hierarchies have all values.
        dsn, owner: for that.
    """

    steward: bool
    privileges: bool
    values: bool = False
    dsn: str | None = None
    owner: str | None = None


_ABOUT_ROLES = (ErrorCode.MISSING_ROLE, ErrorCode.REPLACED_ROLE)


def check(conn: Connection, policies: Sequence[Checked], options: CheckOptions) -> list[Wrong]:
    """Everything that is wrong, policy by policy; nothing if all can be run.

    A column counts as mentioned if any of the policies about its source mentions it.
    """
    relations = {item.label: _source(conn, item, options) for item in policies}
    mentions: dict[int, set[str]] = {}
    for item in policies:
        for relation, names in _mentioned(item.loaded.policy, relations[item.label]):
            mentions.setdefault(relation.oid, set()).update(names)
    return [
        wrong
        for item in policies
        for wrong in _wrong(conn, item, relations[item.label], mentions, options)
    ]


Sources = Mapping[str, Relation]
"""The source of a policy, and its related tables, by their names in it."""


def _source(conn: Connection, item: Checked, options: CheckOptions) -> Sources | PganonError:
    """What a policy reads, or why it cannot be read."""
    policy = item.loaded.policy
    try:
        check_storable(conn, item.loaded)
        named = {policy.root or "": policy.source}
        named |= {name: table.source for name, table in policy.tables.items()}
        return {
            name: read_relation(conn, source, privileges=options.privileges)
            for name, source in named.items()
        }
    except DatabaseError:
        raise
    except PganonError as error:
        return error


def _mentioned(
    policy: Policy, sources: Sources | PganonError
) -> Iterator[tuple[Relation, set[str]]]:
    """The source, then related tables, with the columns that the policy says something about."""
    if isinstance(sources, PganonError):
        return
    for name, relation in sources.items():
        yield relation, mentioned(policy, name)


def _wrong(
    conn: Connection,
    item: Checked,
    sources: Sources | PganonError,
    mentions: dict[int, set[str]],
    options: CheckOptions,
) -> Iterator[Wrong]:
    policy = item.loaded.policy

    def wrong(code: str, message: str, add: Collection[str] = ()) -> Wrong:
        return Wrong(item.label, policy.release, code, message, tuple(add))

    if isinstance(sources, PolicyError):  # the database cannot even be asked about its texts
        yield from (wrong("unresolved", line) for line in PolicyError(sources.problems).lines)
        return
    if isinstance(sources, PganonError):
        yield wrong("unresolved", sources.message)
    else:
        for name, one in sources.items():
            new = [column for column in one.column_names if column not in mentions[one.oid]]
            if new:
                lines = lines_to_add(one, new, policy.tables.get(name))
                message = f"{one.name} has columns that no policy mentions: {_listed(new)}"
                yield wrong("undeclared", message, lines)
        relation = sources[policy.root or ""]
        unresolved = list(_unresolved(conn, item, options))
        yield from (wrong("unresolved", message) for message in unresolved)
        if options.steward:
            yield from (wrong("retyped", m) for m in _retyped(conn, item, relation))
        if options.values and not unresolved:
            probed = look(item.loaded, dsn=options.dsn, owner=options.owner)
            if probed.problem:
                yield wrong("values", probed.problem)
    yield from (wrong(code, message) for code, message in _roles(conn, item.loaded))


def _roles(conn: Connection, loaded: LoadedPolicy) -> Iterator[tuple[ErrorCode, str]]:
    """Readers and trusted roles that are gone, or others by now, with the code."""
    names = list(dict.fromkeys([*loaded.policy.publish.readers, *loaded.policy.trust]))
    try:
        check_roles(
            conn, names, named_roles(conn, loaded), "readers or trusted roles", remedy="", again=""
        )
    except PreconditionError as error:
        yield error.code, error.message


def _unresolved(conn: Connection, item: Checked, options: CheckOptions) -> Iterator[str]:
    # New columns are named once, with lines to add.
    policy = item.loaded.policy.model_copy(update={"undeclared": "warn"})
    try:
        spec = resolve_policy(
            conn, replace(item.loaded, policy=policy), privileges=options.privileges
        )
        check_files(item.loaded)
        if options.steward and not options.privileges:  # it reads them when the policy is run
            check_row_security(conn, spec.external)
    except DatabaseError:
        raise
    except PreconditionError as error:
        if error.code not in _ABOUT_ROLES:  # these are named by themselves
            yield error.message
    except PolicyError as error:
        yield from str(PolicyError(error.problems)).splitlines()
    except PganonError as error:
        yield error.message


def _retyped(conn: Connection, item: Checked, relation: Relation) -> Iterator[str]:
    """Columns that the policy reads and that had another type when the release was made."""
    policy = item.loaded.policy
    release = release_state.read(conn, policy.release)
    if release is None or release.current is None:
        return
    for column in column_drift(release.current.source_columns, relation, ()).retyped:
        if column.name in policy.columns:
            yield (
                f"column {quote(column.name)} of {relation.name} was {column.before} when version"
                f" {release.current.version} was made, and is {column.now}"
            )


def _listed(names: Collection[str]) -> str:
    return ", ".join(map(quote, names))
