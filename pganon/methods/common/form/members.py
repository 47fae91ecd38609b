"""The owner's record of who was in which group, the same for every form.

People are there by a digest of their key, with a mark of each remembered value, so that the
versions about them can be compared. Who was left out for what a method did is there, too: it may
have read the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.coding import suppresses_nulls
from pganon.encode.distribution import by_cell
from pganon.encode.lookups import dictionary, joined
from pganon.encode.people import digest, identity, mark, owner_columns, population_secret
from pganon.encode.secrets import keyed_digest
from pganon.encode.work import CODED, LEFT_OUT
from pganon.forms.elements import carried_keys
from pganon.forms.facts import GROUPS_OF_PEOPLE, failed_records, few_people
from pganon.forms.group_data import discloses_left_out, has_scattered_records, reads_values
from pganon.forms.stored_relations import repeated
from pganon.identifiers import QualifiedName
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import (
    aliased,
    cast,
    chain,
    col,
    computed_once,
    equal,
    fragment,
    named,
    num,
    query,
    stacked,
)
from pganon.steps import Check, CreateTable, State, Step, staged

NOWHERE = 0
"""Number of the group of who is in none, whatever the values are."""

TOGETHER = -1
"""Number of the group of everybody who was left out, where a distribution of all is published."""


def members_step(groups: str, select: Callable[[State], exp.Expr]) -> CreateTable:
    """The part "members". Everybody sees in pg_class how many rows a table had when it was last
    analyzed, and these are as many as there are people, suppressed ones too; so it never is.

    Args:
        groups: who was in which of them, for people.
    """
    return staged(
        "members", f"the steward's memory of who was in which {groups}", select, analyze=False
    )


def people_steps(
    spec: ReleaseSpec,
    source: Callable[[State], Relation],
    groups: Callable[[State], Iterable[str]],
) -> list[Step]:
    """How many groups have fewer people than the models ask for records, by every key that may be a
    person's; none where models count people, or rows are in shards.

    Args:
        source: a row per released record: :func:`owner_columns`, and numbers of groups.
        groups: the columns with the numbers, NULL where the record is in none.
    """
    names = owner_columns(spec)
    if not names:
        return []

    def select(state: State) -> exp.Select:
        tree = query("select 1 from r", {"r": source(state)}).select(
            *[
                named(fragment("count(distinct :o)", o=col(name, "r")), f"n{place}")
                for place, name in enumerate(names)
            ],
            append=False,
        )
        counted = [
            tree.where(fragment(":g is not null", g=col(group, "r"))).group_by(col(group, "r"))
            for group in groups(state)
        ]
        few = [
            named(
                fragment("count(*) filter (where :n < :k)", n=col(f"n{place}", "g"), k=num(least)),
                few_people(place).column,
            )
            for place, _ in enumerate(names)
        ]
        return query("select count(*) as groups from g", {"g": stacked(counted)}).select(*few)

    least = spec.least_people
    gives = [GROUPS_OF_PEOPLE, *[few_people(place) for place, _ in enumerate(names)]]
    purpose = f"groups with fewer than {least} people"
    return [Check("people", purpose, select, gives=gives)] if least > 1 else []


def members(
    spec: ReleaseSpec,
    state: State,
    source: Relation,
    groups: Mapping[str, str],
    values: Sequence[exp.Expr] = (),
    left_out: exp.Select | None = None,
) -> exp.Select:
    """SELECT (member, groups.., marks) for the part "members" of a release.

    A member is a digest of the individual or of the key of a record, whose marks are in the order
    of `values`, then of the columns that are published unchanged. Numbers of groups are at most
    :data:`NOWHERE`, and there are no marks, for who else is in the source: a negative number, of
    this person alone, where a value may be why a method left a record out, or a NULL in a column
    that is shown, and :data:`TOGETHER` where a published distribution discloses their values.
    Without either, a member is a keyed hash of the values of the columns that are grouped by, which
    several rows may have in common: of each its number of bytes (4, big-endian) and its text in
    UTF-8, or -1 for NULL. Those have no marks.

    Args:
        source: a row per released record: columns `groups`, and :func:`identity` or else the codes
            of all attributes.
        groups: columns with the numbers of groups, and the names that they get.
        values: of remembered columns as texts that are never NULL, in columns of `g`, the source;
            NULL where the value is not published of the record.
        left_out: (key) of who has records in no group; None: who has more than are in `source`.
    """
    column = identity(spec)
    numbered = [named(col(column, "g"), name) for column, name in groups.items()]
    others = source.copy() if isinstance(source, exp.Select) else source
    tree = query("select 1 from g", {"g": source})
    if column is None:
        hashed = named(_hashed(spec, state, tree), "member")
        return _decoded(spec, state, tree).select(hashed, *numbered, append=False)
    secret = population_secret(state)
    person = named(digest(col(column, "g"), secret), "member")
    shown = [*values, *carried_keys(spec, "g")]
    texts = [named(value, f"v{place}") for place, value in enumerate(shown)]
    digested = tree.select(person, *numbered, *texts, append=False)
    if by_cell(spec, state) is None:
        digested = computed_once(digested)
    marks = [mark(col("member", "t"), col(text.alias, "t"), secret) for text in texts]
    released = query("select t.member from t", {"t": digested}).select(
        *[col(name, "t") for name in groups.values()],
        named(cast(exp.Array(expressions=list(marks)), "bigint[]"), "marks"),
    )
    if spec.individual:
        released = released.distinct()  # several records of an individual may be in a group
    if left_out is None:
        left_out = _more_records(state, others, column)
    nowhere = [
        *([_digested(state, left_out, judged=reads_values(spec))] if failed_records(state) else []),
        *([_unknown(spec, state, column)] if suppresses_nulls(spec) else []),
    ]
    return (
        stacked([released, _nowhere(spec, nowhere, list(groups.values()))]) if nowhere else released
    )


def _nowhere(spec: ReleaseSpec, people: Sequence[exp.Select], groups: Sequence[str]) -> exp.Select:
    """(member, groups.., marks) of (person, judged): every one who is left out for a value is a
    group of one, since which of them failed together depends on values, too."""
    numbered = "(- row_number() over (partition by p.judged order by p.person))::integer"
    number: exp.Expr = fragment(f"case when p.judged then {numbered} else :n end", n=num(NOWHERE))
    if discloses_left_out(spec):
        number = num(TOGETHER)
    numbers = [named(number.copy(), name) for name in groups]
    return query("select p.person as member from p", {"p": stacked(people)}).select(
        *numbers, named(fragment("null::bigint[]"), "marks")
    )


def _more_records(state: State, source: Relation, column: str) -> exp.Select:
    """(key) of who has more records than are released."""
    kept = query(
        "select :key as key, 1 as n from c", {"c": state.work(CODED)}, key=col(column, "c")
    )
    grouped = query("select :key as key, -1 as n from g", {"g": source}, key=col(column, "g"))
    rows = stacked([kept, grouped])
    return query("select r.key from r group by r.key having sum(r.n) > 0", {"r": rows})


def _unknown(spec: ReleaseSpec, state: State, column: str) -> exp.Select:
    """(person, judged) of who has no other records than such as the rules for NULL leave out."""
    people = query(
        "select distinct :key as key from l where not exists (select from c where :other = :key)",
        {"l": state.work(LEFT_OUT), "c": state.work(CODED)},
        key=col(column, "l"),
        other=col(column, "c"),
    )
    return _digested(state, people, judged=bool(spec.qs_sets))


def _digested(state: State, people: exp.Select, *, judged: bool) -> exp.Select:
    return query(
        "select :person as person, :judged as judged from p",
        {"p": people},
        person=digest(col("key", "p"), population_secret(state)),
        judged=exp.Boolean(this=judged),
    )


def _open(spec: ReleaseSpec) -> list[Axis]:
    """Attributes that identify people: a value that some records hide does not."""
    return [axis for axis in axes(spec.attributes) if axis.attribute.hidden is None]


def _decoded(spec: ReleaseSpec, state: State, tree: exp.Select) -> exp.Select:
    for lookup in joined(_open(spec), state, _all_bytes):
        tree = lookup.decode(tree, state, "g")
    return tree


def _hashed(spec: ReleaseSpec, state: State, tree: exp.Select) -> exp.Expr:
    lookups = joined(_open(spec), state, _all_bytes)
    parts: list[exp.Expr] = [col("bytes", lookup.alias) for lookup in lookups]
    return keyed_digest(state, chain(exp.DPipe, parts or [fragment("''::bytea")]))


def _all_bytes(attributes: Sequence[Axis]) -> list[exp.Expr]:
    """Their values one after the other, each with its length, so that none run together."""
    return [named(chain(exp.DPipe, [_bytes(axis) for axis in attributes]), "bytes")]


def _bytes(axis: Axis) -> exp.Expr:
    value = cast(col("value", dictionary(axis)), "text")
    shown = fragment("convert_to(:v, 'UTF8')", v=value)
    return fragment("coalesce(int4send(octet_length(:s)) || :s, int4send(-1))", s=shown)


def cell_members(
    spec: ReleaseSpec,
    state: State,
    records: Relation,
    grouped: QualifiedName,
    group: str,
    keys: Sequence[str],
    values: Sequence[exp.Expr] = (),
) -> exp.Select:
    """The same where `grouped` (group, codes) has no identities: the encoded records have them.

    Args:
        keys: columns that a record and its row of `grouped` have in common.
        values: in columns of `c`, the records.
    """
    column = identity(spec)
    if column is None:
        return members(spec, state, grouped, {group: group})
    texts = [named(value, f"value{place}") for place, value in enumerate(values)]
    beside = [col(f"p{item.index}", "c") for item in spec.carried]
    beside += [col(f"g{item.index}", "c") for item in spec.microaggregated]
    tree = query("select 1 from c", {"c": records}).select(
        col(column, "c"), col(group, "g"), *texts, *beside, append=False
    )
    source = tree.join(aliased(grouped, "g"), on=equal(keys, "g", "c"))
    marked = [col(text.alias, "g") for text in texts]
    # Where records are in shards with their groups, nobody else's keys come to this server.
    left_out = query("select distinct :key as key from c", {"c": records}, key=col(column, "c"))
    left_out = left_out.join(aliased(grouped, "g"), on=equal(keys, "g", "c"), join_type="left")
    left_out = left_out.where(fragment(":g is null", g=col(group, "g")))
    return members(spec, state, source, {group: group}, marked, left_out)


def repeated_members(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    """A row for each record, or individual, that the members table has in several groups."""
    if identity(spec) is None or has_scattered_records(spec):
        return []
    released = query("select t.* from t where t.marks is not null", {"t": state.stage("members")})
    if spec.policy.method.encoding.reserves_identity:
        released = query("select distinct t.member, t.class_id from t", {"t": released})
    return [repeated(released, "member")]


def code_columns(spec: ReleaseSpec) -> list[str]:
    return [axis.code for axis in axes(spec.attributes)]
