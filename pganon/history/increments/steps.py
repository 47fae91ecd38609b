"""Steps from the source to the people of cohorts, and to the snapshot of their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.catalog.model import ExternalObjects
from pganon.encode.aliases import alias_steps
from pganon.encode.known import known_steps
from pganon.encode.people import digest, identity, population_secret
from pganon.encode.secrets import SECRETS
from pganon.encode.snapshot import READ, SNAPSHOT, snapshot_select
from pganon.encode.work import SNAP
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal
from pganon.forms.form import PublishedForm
from pganon.forms.remembered import is_remembered, linked
from pganon.history.increments.leavers import leaver_steps
from pganon.history.increments.regions import PENDING, regions, tree_steps
from pganon.history.increments.stale import stale_steps
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.increments import TESTED, WHOLE, Growth, cohorts_table
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import People
from pganon.sqltools import aliased, col, equal, named, num, query, stacked, statement, union_all
from pganon.steps import Check, CreateTable, State, Statement, Step
from pganon.steps.facts import count, counts

SOURCE_RECORDS = count("source_records", assumed=40)
"""Records of the source, those of newcomers and of all others."""

NEWCOMERS = count("newcomers", assumed=40)
"""People who were never released and are in no cohort yet."""

UNPLACED = count("unplaced")
"""Those of them who are in no region: nobody had such NULLs, or no region could have the values."""

DUE = count("due", assumed=40)
"""People whom this run tests."""

COHORTS = count("cohorts")
"""Cohorts that they are in."""


def gather_steps(
    spec: ReleaseSpec,
    growth: Growth,
    form: PublishedForm,
    people: People | None,
    *,
    commits: bool,
) -> tuple[Step, ...]:
    """From the source to the people whom the run tests, committed before they are tested.

    Args:
        people: of the source, as versions know them.
        commits: False for a dry run, which only counts them.
    """
    return (
        *whole_steps(spec, people),
        *_newcomer_steps(spec, growth),
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
                *(NEWCOMERS, UNPLACED, DUE, COHORTS),
            ],
        ),
        *leaver_steps(spec, growth, form.publication.weights),
        *stale_steps(spec, growth, _remembered(spec, form)),
        commit_step(
            spec,
            lambda s: commits and growth.unfinished is None and s[DUE] > 0,
            divided=growth.cuts is not None,
        ),
    )


def _remembered(spec: ReleaseSpec, form: PublishedForm) -> tuple[str, ...]:
    """The columns of which members have marks."""
    if not is_remembered(spec, form):
        return ()
    return tuple(column.name for column in linked(spec, form, State(0)).columns)


def whole_steps(spec: ReleaseSpec, people: People | None) -> tuple[Step, ...]:
    """The snapshot of the whole source, with the digest of everybody."""
    read = CreateTable(
        SNAPSHOT,
        "read the source, once",
        lambda s: s.work(WHOLE),
        lambda s: _whole(spec, s),
        external=ExternalObjects(spec.read),
    )
    known = known_steps(spec, people, lambda state: state.work(WHOLE))
    return (*alias_steps(spec), read, *known)


def commit_step(
    spec: ReleaseSpec, when: Callable[[State], bool], *, divided: bool = False
) -> Statement:
    """Keep who is `due`, in COHORTS cohorts.

    Args:
        divided: whether they have the region of a cohort.
    """
    return Statement(
        "commit",
        "the cohorts are kept, whatever becomes of them",
        lambda s: _commit(spec, s, divided=divided),
        when=when,
    )


def restricted_step(spec: ReleaseSpec) -> CreateTable:
    """The snapshot of those whom the run tests."""

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
    known = identity(spec)
    assert isinstance(source, exp.Select)
    assert known is not None  # a source without a key is refused
    rows = query("select t.* from t", {"t": source})
    return rows.select(named(_person(state, col(known, "t")), "person"))


def _person(state: State, key: exp.Expr) -> exp.Expr:
    return digest(key, population_secret(state))


def _newcomer_steps(spec: ReleaseSpec, growth: Growth) -> list[Step]:
    """The table `newcomers`, and `pending`, what is needed of them."""
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
        return query(
            "select p.person, 1 as region from p group by p.person", {"p": state.work(PENDING)}
        )

    divided = CreateTable("newcomers", purpose, lambda s: s.work("newcomers"), select)
    return [pending, *([] if cuts is None else tree_steps(spec)), divided]


def _pending(spec: ReleaseSpec, state: State, growth: Growth) -> exp.Expr:
    """(person, q<i>..) of every record of newcomers, and of who is in a cohort to be finished whose
    region is known: it is asked for again."""
    taken = [
        t
        for t in growth.taken
        if growth.unfinished is None or not growth.resumes or t != growth.unfinished.table
    ]
    known = [query("select t.person from t", {"t": table}) for table in taken]
    known += [query("select t.member as person from t", {"t": t}) for t in growth.members]
    tree = query("select w.person from w where w.person is not null", {"w": state.work(WHOLE)})
    if growth.cuts is not None:
        tree = tree.select(*[col(f"q{a.index}", "w") for a in spec.attributes])
    if not known:
        return tree
    released = aliased(union_all(known), "k")  # pyright: ignore[reportArgumentType]
    joined = tree.join(
        released,
        on=exp.EQ(this=col("person", "k"), expression=col("person", "w")),
        join_type="left",
    )
    return joined.where(exp.Is(this=col("person", "k"), expression=exp.null()))


def _due(state: State, growth: Growth) -> exp.Expr:
    """Of an unfinished cohort those who are still there, and in no version of another release.

    Where there are regions, they must be in that of their cohort still; others left it.
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
    """A work table of newcomers without who is in a cohort to be finished."""
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
            f"{row['newcomers']} newcomers have {row['pending_records']} records, which may be in"
            " several regions",
            hint="use regions: none, or release one record per individual",
            code=ErrorCode.SEVERAL_RECORDS_PER_INDIVIDUAL,
        )
    if not row["nobody"]:
        return None
    names = ", ".join(map(quote, spec.individual or spec.record_key))
    return PreconditionError(
        f"{names} is NULL in {row['nobody']} records, of which nobody knows whose they are",
        hint="leave these records out with `where`, or fill the column",
        code=ErrorCode.KEY_NULL,
    )


def _commit(spec: ReleaseSpec, state: State, *, divided: bool) -> sql.Composed:
    """One message, which the server runs as one transaction.

    Autovacuum stays away: everybody sees how many rows an analyzed table has, here who is waiting.
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
