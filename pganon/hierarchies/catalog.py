"""Hierarchies that live in the database: a table of levels, or a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.catalog.model import ExternalObjects
from pganon.errors import PganonError
from pganon.hierarchies.build import Build, counted, size_check, tree_table, value_text
from pganon.hierarchies.listing import listing_steps, nodes_check
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, num, query, text
from pganon.steps import Check, CreateTable, DropTables, Loop, State, Step
from pganon.steps.facts import Fact, count, counts, flag

MAX_CALLS = 20


def table_steps(build: Build, table: QualifiedName) -> tuple[Step, ...]:
    """Steps for a table whose columns, in their order, are the value and its levels."""
    read = CreateTable(
        build.step("read"),
        build.purpose(f"rows of {table}"),
        build.part("rows"),
        # The names of the columns need not be known when planning.
        lambda state: query(
            "select r.labels[1:coalesce((select max(e.place)"
            " from unnest(r.labels) with ordinality as e(value, place) where e.value <> ''), 1)]"
            " as labels from pganon.label_rows(:name::regclass) as r(labels)",
            name=text(str(table)),
        ),
        external=ExternalObjects((table,)),
    )
    return (_table_check(build, table), read, *listing_steps(build))


def _table_check(build: Build, table: QualifiedName) -> Check:
    def select(state: State) -> exp.Select:
        return query(
            "select count(*) as found, coalesce(sum(a.columns), 0)::bigint as columns,"
            " coalesce(bool_and(has_schema_privilege(n.oid, 'USAGE')"
            " and has_table_privilege(c.oid, 'SELECT')), false) as readable"
            " from pg_catalog.pg_class as c"
            " join pg_catalog.pg_namespace as n on n.oid = c.relnamespace"
            " cross join lateral (select count(*) as columns from pg_catalog.pg_attribute"
            " where attrelid = c.oid and attnum > 0 and not attisdropped) as a"
            " where n.nspname = :schema and c.relname = :name"
            " and c.relkind in ('r', 'p', 'v', 'm', 'f')",
            schema=text(table.schema),
            name=text(table.name),
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["found"]:
            return build.refuse(
                f"there is no table {table}", "capital letters in a name need double quotes"
            )
        if not row["readable"]:
            return build.refuse(
                f"table {table} is not readable",
                f"GRANT SELECT ON {table} (and USAGE on its schema) to the owner of schema pganon",
            )
        if row["columns"] < 2:
            return build.refuse(
                f"table {table} has only one level",
                "its columns are value, level 1, ..., top, in this order",
            )
        return None

    return Check(
        build.step("table"),
        build.purpose(f"{table} is readable"),
        select,
        problem,
        gives=[
            *counts("found", "columns", of=f"{build.facts}table_"),
            flag("readable", f"{build.facts}table_"),
        ],
    )


def function_steps(build: Build, function: QualifiedName) -> tuple[Step, ...]:
    """Steps for a function (value text, level integer) returning text.

    It is called once per distinct value for level 1, 2, ... until all values share one label.
    """
    rounds = count("calls_rounds", build.facts)
    calls = Loop(
        build.step("calls"),
        build.purpose(f"labels by {function}, level after level"),
        lambda number: _call(build, function, number),
        _done(build),
        rounds,
        carries=[f"tree_{build.name}_call"],
    )

    def last(state: State) -> QualifiedName:
        return build.part("call", round=state[rounds] - 1)(state)

    return (
        _function_check(build, function),
        calls,
        nodes_check(build, last),
        tree_table(
            build, lambda state: query("select value, path as labels from c", {"c": last(state)})
        ),
        DropTables(
            build.step("drop"), build.purpose("drop its last round"), lambda state: [last(state)]
        ),
        size_check(build),
    )


def _done(build: Build) -> Fact[bool]:
    """Whether all values share one label."""
    return flag("done", build.facts)


def _function_check(build: Build, function: QualifiedName) -> Check:
    def select(state: State) -> exp.Select:
        return query(
            "select count(*) as found, coalesce(bool_and(has_schema_privilege(n.oid, 'USAGE')"
            " and has_function_privilege(p.oid, 'EXECUTE')), false) as callable"
            " from pg_catalog.pg_proc as p"
            " join pg_catalog.pg_namespace as n on n.oid = p.pronamespace"
            " where n.nspname = :schema and p.proname = :name and p.prokind = 'f'"
            " and not p.proretset and format_type(p.prorettype, null) = 'text'"
            " and oidvectortypes(p.proargtypes) = 'text, integer'",
            schema=text(function.schema),
            name=text(function.name),
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["found"]:
            return build.refuse(
                f"there is no function {function}(text, integer) that returns text",
                "its arguments are the value as text and the level, from 1",
            )
        if not row["callable"]:
            return build.refuse(
                f"function {function} may not be called",
                f"GRANT EXECUTE ON FUNCTION {function} (and USAGE on its schema)"
                " to the owner of schema pganon",
            )
        return None

    return Check(
        build.step("function"),
        build.purpose(f"{function} can be called"),
        select,
        problem,
        gives=[
            count("found", f"{build.facts}function_"),
            flag("callable", f"{build.facts}function_"),
        ],
    )


def _call(build: Build, function: QualifiedName, number: int) -> Sequence[Step]:
    """Round `number`: one more label for every value."""
    level = number + 1
    before, after = build.part("call", round=number - 1), build.part("call", round=number)

    def select(state: State) -> exp.Select:
        if number == 0:
            path = value_text(build.kind, col("value", "v"))
            source = query(
                "select v.value, array[:t] as path from v", {"v": build.values(state)}, t=path
            )
        else:
            source = query("select value, path from b", {"b": before(state)})
        argument = fragment("s.path[1]")
        return query(
            "select s.value, s.path || :label as path from s",
            {"s": source},
            label=_invoke(function, argument, num(level)),
        )

    return [
        CreateTable(
            build.step(f"call_{level}"),
            build.purpose(f"labels of level {level}"),
            after,
            select,
            external=ExternalObjects(functions=(function,)),
        ),
        _call_check(build, function, number),
    ]


def _invoke(function: QualifiedName, *arguments: exp.Expr) -> exp.Expr:
    name = exp.Identifier(this=function.name, quoted=True)
    call = exp.Anonymous(this=name, expressions=list(arguments))
    return exp.Dot(this=exp.to_identifier(function.schema, quoted=True), expression=call)


def _call_check(build: Build, function: QualifiedName, number: int) -> Check:
    level = number + 1

    def select(state: State) -> exp.Select:
        return query(
            "select count(distinct label) as labels, count(*) filter (where label is null"
            " or label = '') as unlabelled, count(distinct label) <= 1 as done"
            ' from (select path[cardinality(path)] collate "C" as label from c) as l',
            {"c": build.part("call", round=number)(state)},
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if row["unlabelled"]:
            return build.refuse(
                f"{function} gives no label to {counted(row['unlabelled'], 'value')}"
                f" on level {level}",
                "return a text that is not empty for every value and level",
            )
        if level == MAX_CALLS and not row["done"]:
            return build.refuse(
                f"{function} still gives {row['labels']} labels on level {MAX_CALLS}",
                "on its top level it must return one label for all values, e.g. *",
            )
        return None

    return Check(
        build.step(f"labels_{level}"),
        build.purpose(f"labels of level {level}"),
        select,
        problem,
        gives=[*counts("labels", "unlabelled", of=build.facts), _done(build)],
    )
