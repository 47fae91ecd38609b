"""`pganon.assess`: the measures of any table or view that the session can read.

The work is done by the SQL functions of schema pganon, so it needs SELECT on the relation and
nothing else. Of EIR l-diversity alone value codes of one class at a time enter Python, for an
exact search; values of rows never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import psycopg

from pganon import database
from pganon.assessment.call import Call, Told
from pganon.assessment.figures import Assessment, QuasiIdentifier
from pganon.assessment.identifiers import identifier_hints
from pganon.catalog.code import reading
from pganon.catalog.hash_sample import SAMPLE_ROWS
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import ExternalObjects
from pganon.catalog.roles import numbers
from pganon.error_codes import ErrorCode
from pganon.errors import InstallError, PreconditionError, UsageError
from pganon.identifiers import quote
from pganon.install import measuring
from pganon.policy.safe_harbor import Hint
from pganon.privacy.assessment_measures import short_names
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask


def assess(
    relation: str,
    qi: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    individual: str | None = None,
    population: str | None = None,
    population_size: int | None = None,
    weight: str | None = None,
    household: str | None = None,
    max_global: float | None = None,
    suda: int | None = None,
    require: Mapping[str, float] | None = None,
    recursive_l: int = 2,
    others_as_qi: bool = False,
    trust: Sequence[str] = (),
    dsn: str | None = None,
    owner: str | None = None,
    conn: Connection | None = None,
) -> Assessment:
    """Measure a table or view.

    Args:
        relation, population: as in SQL, `name` or `schema.name`; `population` has the same
            quasi-identifying columns.
        qi, sensitive, individual: exact names of columns.
        population_size: people that the relation is a simple random sample of, one record each;
            their uniques are estimated.
        weight: exact name of a column that says how many people a record stands for; the risk in
            the population follows from it.
        household: exact name of a column that says who lives together.
        max_global: share of the records that may be re-identified, above 0 and at most 1; the
            figures say up to which risk they keep within it.
        suda: most columns of the sets that SUDA2 searches; needs `population_size`, or
            `weight`, whose sum it takes then.
        require: parameters by measure, under its short name (k, l, t, ...) or its full one.
        recursive_l: the l of recursive (c, l)-diversity.
        others_as_qi: measure every sensitive column with the others as quasi-identifiers.
        trust: roles whose code may run with the rights of the session, as that of the session's
            own role and of superusers may.
        owner: whose measuring functions may be called, where that is not the role that logs in:
            they run with the rights of the caller. Without it other roles' functions are not
            called, but made for the session, which needs TEMPORARY on the database.
        conn: an open connection instead of `dsn`.

    Raises:
        Stopped: by the user, once something was measured; it has that.
    """
    if conn is None:
        with database.connect(dsn) as opened:
            return assess(
                relation,
                qi,
                sensitive,
                individual=individual,
                population=population,
                population_size=population_size,
                weight=weight,
                household=household,
                max_global=max_global,
                suda=suda,
                require=require,
                recursive_l=recursive_l,
                others_as_qi=others_as_qi,
                trust=trust,
                owner=owner,
                conn=opened,
            )
    if suda is not None and population_size is None and weight is None:
        raise UsageError(
            "SUDA needs the size of the population",
            hint="give --population-size: the table is a sample of so many people; or --weight",
        )
    wanted = required((require or {}).items())
    try:
        _check_installed(conn)
        with measuring.functions(conn, owner) as schema:
            risk = {
                "weight": weight,
                "household": household,
                "max_global": max_global,
                "population_size": population_size,
                "suda": suda,
            }
            call = Call(conn, schema, relation, qi, sensitive, individual, risk)
            return call.run(population, wanted, recursive_l, others_as_qi, trust)
    except psycopg.Error as error:
        raise translate(error) from None


def quasi_identifiers(
    relation: str,
    columns: Sequence[str] = (),
    *,
    separation: float = 0.99,
    largest: int = 4,
    rows: int = SAMPLE_ROWS,
    trust: Sequence[str] = (),
    dsn: str | None = None,
    owner: str | None = None,
    conn: Connection | None = None,
    told: Told = lambda tried, total: None,
) -> list[QuasiIdentifier]:
    """Minimal sets of columns that tell most pairs of records apart, smallest first.

    Where there are more than 4,096 sets to try, one that is found column by column.

    Args:
        columns: exact names of those that may be known; all that can be compared without them.
        separation: share of the pairs of records that differ in a column of the set, above 0.
        largest: most columns of a set.
        rows: about so many rows of a table with more are looked at; 0: all.
        relation, trust, owner, conn: as of :func:`assess`.
        told: called with the number of sets that were tried, and that of all.

    Raises:
        Stopped: by the user; it has what was found.
    """
    if conn is None:
        with database.connect(dsn) as opened:
            return quasi_identifiers(
                relation,
                columns,
                separation=separation,
                largest=largest,
                rows=rows,
                trust=trust,
                owner=owner,
                conn=opened,
                told=told,
            )
    try:
        _check_installed(conn)
        with measuring.functions(conn, owner) as schema:
            call = Call(conn, schema, relation, columns, (), None, {})
            return call.sets(separation, largest, trust, rows, told)
    except psycopg.Error as error:
        raise translate(error) from None


def identifying_columns(
    relation: str,
    columns: Sequence[str] = (),
    *,
    trust: Sequence[str] = (),
    dsn: str | None = None,
    conn: Connection | None = None,
) -> list[Hint]:
    """Columns that may hold one of the 18 kinds of identifiers of HIPAA Safe Harbor.

    By names, types and some of the values. That there is no hint proves nothing.

    Args:
        columns: exact names of those to look at; all without them.
        relation, trust, conn: as of :func:`assess`.

    Raises:
        PreconditionError: the relation lacks a column, or cannot be read.
    """
    if conn is None:
        with database.connect(dsn) as opened:
            return identifying_columns(relation, columns, trust=trust, conn=opened)
    try:
        found = read_relation(conn, relation)
        for name in columns:
            if found.column(name) is None:
                raise PreconditionError(
                    f"{found.name} has no column {quote(name)}",
                    hint="columns are named exactly as the catalog has them",
                )
        chosen = [c for c in found.columns if not columns or c.name in columns]
        external = ExternalObjects((found.name,))
        with reading(conn, external, numbers(conn, trust).values(), option=True, only=True):
            return identifier_hints(conn, found, chosen)
    except psycopg.Error as error:
        raise translate(error) from None


def required(given: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Parameters by the full name of their measure.

    Raises:
        UsageError: one is there twice, perhaps under both of its names.
    """
    found: dict[str, float] = {}
    short = short_names()
    for name, value in given:
        full = short.get(name, name)
        if full in found:
            raise UsageError(f"{quote(name)} is required twice", hint="leave one of them out")
        found[full] = value
    return found


def _check_installed(conn: Connection) -> None:
    row = ask(conn, "assess", "installed").fetchone()
    if not row or not row[0]:
        raise InstallError(
            "pganon's measuring functions are not in this database, or may not be called",
            hint="run `pganon init` (or `pganon upgrade`) as the role that owns pganon",
            code=ErrorCode.MISSING,
        )
