"""Steps from the source to the people of cohorts, and to the snapshot of their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.catalog.model import ExternalObjects
from pganon.encode.aliases import alias_steps
from pganon.encode.earlier_people import known_steps
from pganon.encode.people import digest, identity, mark, population_secret
from pganon.encode.related import related_tables
from pganon.encode.secrets import SECRETS
from pganon.encode.sensitive import sensitive_key
from pganon.encode.snapshot import READ, SNAPSHOT, snapshot_select
from pganon.encode.work import SNAP
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal
from pganon.forms.elements import element, text_key
from pganon.forms.form import PublishedForm
from pganon.forms.group_data import is_remembered, linked
from pganon.forms.growing import everybody, of_everybody, one_mark, quasi_mark
from pganon.forms.work import LEAVING_GROUPS
from pganon.history.increments.regions import PENDING, regions, tree_steps
from pganon.history.increments.removals import removed_steps, shown_members
from pganon.identifiers import QualifiedName, quote
from pganon.methods.related.links import link_steps, mark_steps, period_step
from pganon.resolved.increments import AS_RELEASED, TESTED, WHOLE, Growth, cohorts_table
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.periods import closes
from pganon.resolved.population import People
from pganon.sqltools import (
    aliased,
    cast,
    chain,
    col,
    equal,
    fragment,
    named,
    num,
    query,
    stacked,
    statement,
    union_all,
)
from pganon.steps import Check, CreateTable, State, Statement, Step
from pganon.steps.facts import count, counts

SOURCE_RECORDS = count("source_records", assumed=40)
"""All records of the source."""

NEW_INDIVIDUALS = count("newcomers", assumed=40)
"""New individuals: people in no version and in no cohort."""

UNPLACED = count("unplaced")
"""New individuals in no region: nobody had such NULLs, or no region could have the values."""

DUE = count("due", assumed=40)
"""People of the cohorts that this run tests."""

COHORTS = count("cohorts")
"""Cohorts that this run tests."""


def gather_steps(
    spec: ReleaseSpec,
    growth: Growth,
    form: PublishedForm,
    people: People | None,
    *,
    commits: bool,
) -> tuple[Step, ...]:
    """Steps from the source to the people whom the run tests, who are committed before.

    Args:
        people: of the source, as versions know them.
        commits: False for a dry run, which only counts the people.
    """
    return (
        *period_step(spec),
        *whole_steps(spec, people),
        *_related_steps(spec),
        *_new_individual_steps(spec, growth),
        CreateTable(
            "due",
            "people of cohorts that are large enough",
            lambda s: s.work(TESTED),
            lambda s: _due(s, growth),
        ),
        Check(
            "gathered",
            "how many are new, and how many are tested",
            lambda s: _gathered(s, growth),
            lambda row, s: _problem(spec, growth, row),
            gives=[
                SOURCE_RECORDS,
                *counts("nobody", "pending_records", of="gathered_"),
                *(NEW_INDIVIDUALS, UNPLACED, DUE, COHORTS),
            ],
        ),
        *removed_steps(spec, growth, form.publication.weights),
        *stale_steps(spec, growth, _remembered(spec, form)),
        commit_step(
            spec,
            lambda s: commits and growth.unfinished is None and s[DUE] > 0 and not closes(s),
            divided=growth.cuts is not None,
        ),
    )


def _remembered(spec: ReleaseSpec, form: PublishedForm) -> tuple[str, ...]:
    """Columns of the marks of members, in their order."""
    if not is_remembered(spec, form):
        return ()
    return tuple(column.name for column in linked(spec, form, State(0)).columns)


def whole_steps(spec: ReleaseSpec, people: People | None) -> tuple[Step, ...]:
    """Steps that make the snapshot of the whole source, with the digests of people."""
    read = CreateTable(
        SNAPSHOT,
        "read the source, once",
        lambda s: s.work(WHOLE),
        lambda s: _whole(spec, s),
        external=ExternalObjects(spec.read),
        beside=related_tables(spec),
    )
    known = known_steps(spec, people, lambda state: state.work(WHOLE))
    return (*alias_steps(spec), read, *known)


def _related_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Whose rows of events the others are, before anybody is committed to."""
    if spec.related is None or not spec.related.events:
        return ()
    return (*link_steps(spec, spec.related), *mark_steps(spec, spec.related))


def commit_step(
    spec: ReleaseSpec, when: Callable[[State], bool], *, divided: bool = False
) -> Statement:
    """Step that commits the people of `due`, in COHORTS cohorts.

    Args:
        divided: whether cohorts have regions.
    """
    return Statement(
        "commit",
        "the cohorts are kept, whatever becomes of them",
        lambda s: _commit(spec, s, divided=divided),
        when=when,
    )


def restricted_step(spec: ReleaseSpec) -> CreateTable:
    """Step that makes the snapshot of the people whom the run tests."""

    def select(state: State) -> exp.Expr:
        columns = [col(name, "w") for name in SNAP.columns(spec, state) if name != "cohort"]
        tree = query(
            "select 1 from w join d on d.person = w.person",
            {"w": state.work(WHOLE), "d": state.work(TESTED)},
        ).select(*columns, append=False)
        return tree.select(col("cohort", "d")) if spec.in_cohorts else tree

    return CreateTable(
        "cohorts",
        "the records of the cohorts alone",
        lambda s: s.work(SNAP),
        select,
        counted=READ,
    )


def _whole(spec: ReleaseSpec, state: State) -> exp.Expr:
    source = snapshot_select(spec, state)
    key = identity(spec)
    assert isinstance(source, exp.Select)
    assert key is not None  # a source without a key is refused
    rows = query("select t.* from t", {"t": source})
    return rows.select(named(digest(col(key, "t"), population_secret(state)), "person"))


def _new_individual_steps(spec: ReleaseSpec, growth: Growth) -> list[Step]:
    """Steps that make `pending`, records of new individuals, and `newcomers`, their regions."""
    purpose = "people who were never released, with the region that they are in"
    pending = CreateTable(
        PENDING,
        "records of people who were never released",
        lambda s: s.work(PENDING),
        lambda s: _pending(spec, s, growth),
    )
    cuts = growth.cuts

    def select(state: State) -> exp.Expr:
        if cuts is not None:
            return regions(spec, state, cuts, growth.bounds)
        pending, parts = {"p": state.work(PENDING)}, _kept_apart(spec)
        if not parts:
            return query("select p.person, 1 as region from p group by p.person", pending)
        ranked = exp.Window(this=exp.func("dense_rank"), order=exp.Order(expressions=parts))
        tree = query("select distinct p.person from p", pending)
        return tree.select(named(cast(ranked, "int"), "region"))

    divided = CreateTable("newcomers", purpose, lambda s: s.work("newcomers"), select)
    return [pending, *([] if cuts is None else tree_steps(spec)), divided]


def _kept_apart(spec: ReleaseSpec) -> list[exp.Expr]:
    """What tells parts of related tables from each other, of which each is tested alone."""
    if spec.related is None:
        return []
    values = [(a, col(f"q{a.index}", "p")) for a in spec.attributes]
    nulls = [
        fragment("(:v is null)", v=v) for a, v in values if a.nulls == "own_class" and not a.apart
    ]
    return [*[v for a, v in values if a.apart], *nulls]


def _pending(spec: ReleaseSpec, state: State, growth: Growth) -> exp.Expr:
    """SELECT person, q<i>..: records of new individuals.

    People of an unfinished cohort with a region are among them: their region is computed again.
    """
    taken = [
        t
        for t in growth.taken
        if growth.unfinished is None or not growth.resumes or t != growth.unfinished.table
    ]
    released = [query("select t.person from t", {"t": table}) for table in taken]
    released += [query("select t.member as person from t", {"t": t}) for t in growth.members]
    tree = query("select w.person from w where w.person is not null", {"w": state.work(WHOLE)})
    if growth.cuts is not None or _kept_apart(spec):
        tree = tree.select(*[col(f"q{a.index}", "w") for a in spec.attributes])
    if not released:
        return tree
    joined = tree.join(
        aliased(union_all(released), "k"),  # pyright: ignore[reportArgumentType]
        on=exp.EQ(this=col("person", "k"), expression=col("person", "w")),
        join_type="left",
    )
    return joined.where(exp.Is(this=col("person", "k"), expression=exp.null()))


def _due(state: State, growth: Growth) -> exp.Expr:
    """SELECT person, cohort: people whom the run tests.

    Of an unfinished cohort these are the people who are still in the source, and in no version of
    another release. Where there are regions, they must still be in the region of their cohort.
    """
    if growth.unfinished is not None:
        still = query(
            "select c.person, c.cohort from c"
            " where exists (select 1 from w where w.person = c.person)",
            {"c": growth.unfinished.table, "w": state.work(WHOLE)},
        )
        if growth.resumes:
            still = still.select(col("region", "c")).join(
                aliased(state.work("newcomers"), "n"), on=equal(["person", "region"], "n", "c")
            )
        members = [query("select t.member from t", {"t": t}) for t in growth.members]
        if not members:
            return still
        return query(
            "select c.* from c where not exists (select 1 from m where m.member = c.person)",
            {"c": still, "m": stacked(members)},
        )
    large = query(
        "select n.region, (row_number() over (order by n.region))::int as cohort from n"
        " group by n.region having count(*) >= :size",
        {"n": state.work("newcomers")},
        size=num(growth.size),
    )
    due = query(
        "select n.person, l.cohort from n join l on l.region = n.region",
        {"n": state.work("newcomers"), "l": large},
    )
    return due if growth.cuts is None else due.select(col("region", "n"))


def _new(state: State, growth: Growth, name: str) -> QualifiedName | exp.Select:
    """A work table of new individuals, without people of an unfinished cohort."""
    if growth.unfinished is None or not growth.resumes:
        return state.work(name)
    return query(
        "select t.* from t left join c on c.person = t.person where c.person is null",
        {"t": state.work(name), "c": growth.unfinished.table},
    )


def _gathered(state: State, growth: Growth) -> exp.Expr:
    return query(
        "select (select count(*) from w) as source_records,"
        " (select count(*) from w where w.person is null) as nobody,"
        " (select count(*) from p) as pending_records,"
        " (select count(distinct p.person) from p) as newcomers,"
        " (select count(distinct p.person) from p) - (select count(*) from n) as unplaced,"
        " (select count(*) from d) as due,"
        " (select count(distinct d.cohort) from d) as cohorts",
        {
            "w": state.work(WHOLE),
            "p": _new(state, growth, PENDING),
            "n": _new(state, growth, "newcomers"),
            "d": state.work(TESTED),
        },
    )


def _problem(spec: ReleaseSpec, growth: Growth, row: Mapping[str, Any]) -> PganonError | None:
    if growth.cuts is not None and row["pending_records"] > row["newcomers"]:
        return PrivacyRefusal(
            f"{row['newcomers']} new individuals have {row['pending_records']} records, which may"
            " be in several regions",
            hint="use regions: none, or release one record per individual",
            code=ErrorCode.SEVERAL_RECORDS_PER_INDIVIDUAL,
        )
    if not row["nobody"]:
        return None
    names = ", ".join(map(quote, spec.individual or spec.record_key))
    return PreconditionError(
        f"{names} is NULL in {row['nobody']} records, so it cannot be determined whose they are",
        hint="leave these records out with `where`, or fill the column",
        code=ErrorCode.KEY_NULL,
    )


def _commit(spec: ReleaseSpec, state: State, *, divided: bool) -> sql.Composed:
    """Statements in one message, which the server runs as one transaction.

    Autovacuum is off: everybody sees the row count of an analyzed table, here the size of cohorts.
    """
    table = cohorts_table(state.run_id)
    people = query("select d.person, d.cohort from d", {"d": state.work(TESTED)})
    people = people.select(col("region", "d")) if divided else people
    return sql.SQL(
        "CREATE TABLE {table} WITH (autovacuum_enabled = false) AS {people};"
        " SELECT pganon.seal({name}::regclass);"
        " INSERT INTO {cohorts} (run_id, release, population, number)"
        " SELECT s.run_id, {release}, s.population, {number} FROM {secrets} AS s"
        " WHERE s.run_id = {run}"
    ).format(
        table=table.identifier,
        people=statement(people),
        name=sql.Literal(str(table)),
        cohorts=QualifiedName("pganon_private", "cohorts").identifier,
        run=sql.Literal(state.run_id),
        release=sql.Literal(spec.policy.release),
        secrets=SECRETS.identifier,
        number=sql.Literal(state[COHORTS]),
    )


STALE = count("stale_people", assumed=0)
"""People in groups that stay, with another value, quasi-identifier or row of events than then."""


def stale_steps(spec: ReleaseSpec, growth: Growth, columns: tuple[str, ...]) -> list[Step]:
    """Steps that count them, after the groups to be withdrawn are listed.

    Args:
        columns: columns of the marks of members, in their order.
    """
    if growth.version is None:
        return []
    return [
        Check(
            "stale",
            "how many have changed since they were released",
            lambda s: _counted(spec, s, growth, columns),
            gives=[STALE],
        )
    ]


def _counted(
    spec: ReleaseSpec, state: State, growth: Growth, columns: tuple[str, ...]
) -> exp.Select:
    """SELECT stale_people.

    Values are compared of everybody, the rest of people whom increments added.
    """
    values = [f"v{place}" for place, _ in enumerate(columns, start=1)]
    other = [
        fragment(
            "(:old is not null and :old is distinct from :new)", old=col(v, "o"), new=col(v, "n")
        )
        for v in values
    ]
    tree = query(
        "select count(distinct o.person) as stale_people from o join n on n.person = o.person",
        {"o": _then(spec, state, growth, values), "n": _now(spec, state, columns)},
    )
    released = [query("select t.* from t", {"t": table}) for table in growth.tables_of(AS_RELEASED)]
    if released:
        same = fragment("q.person = o.person")
        tree = tree.join(aliased(stacked(released), "q"), on=same, join_type="left")
        other.append(fragment("coalesce(q.quasi <> n.quasi, false)"))
    return tree.where(chain(exp.Or, other) if other else exp.false())


def _then(spec: ReleaseSpec, state: State, growth: Growth, values: list[str]) -> exp.Select:
    """SELECT person, v1, ..: marks of the values of people in groups that stay."""
    marks = [
        named(one_mark(spec, fragment(f"m.marks[{place}]")), name)
        for place, name in enumerate(values, start=1)
    ]
    tree = query(
        "select m.person from m left join l on l.number = m.number where l.number is null",
        {"m": shown_members(growth), "l": state.work(LEAVING_GROUPS)},
    )
    return of_everybody(spec, tree.select(*marks, copy=False), col("person", "m"))


def _now(spec: ReleaseSpec, state: State, columns: tuple[str, ...]) -> exp.Select:
    """SELECT person, v1, .., quasi: the same of their values in the source."""
    secret = population_secret(state)
    marks = [
        named(one_mark(spec, mark(col("person", "w"), _text(spec, name), secret)), f"v{place}")
        for place, name in enumerate(columns, start=1)
    ]
    tree = query("select w.person from w", {"w": everybody(spec, state)})
    tree = tree.select(*marks, named(quasi_mark(spec, state, "w"), "quasi"), copy=False)
    return of_everybody(spec, tree, col("person", "w"))


def _text(spec: ReleaseSpec, name: str) -> exp.Expr:
    """The value of a column as text, from which the marks of members are made."""
    for item in spec.sensitive:
        if item.column.name == name:
            return text_key(sensitive_key(item, col(f"s{item.index}", "w")))
    attribute = next(a for a in spec.attributes if a.column.name == name)
    return text_key(element(attribute, col(f"q{attribute.index}", "w")))
