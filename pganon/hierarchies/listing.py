"""From listed rows of labels to the tree of the values that occur, with all validation.

Every source that lists its leaves (file, inline, order, table) first becomes a work table
`rows(labels text[])`, leaf first, root last, perhaps of unequal lengths. Everything after that
is one way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.errors import PganonError
from pganon.hierarchies.build import (
    Build,
    counted,
    leaf_key,
    number_meant,
    other_form,
    size_check,
    tree_table,
    value_key,
    value_text,
)
from pganon.hierarchies.rows import Rows
from pganon.sqltools import col, fragment, query
from pganon.steps import Check, CreateTable, DropTables, Load, Name, State, Step
from pganon.steps.facts import count, counts, or_null


def loaded_steps(build: Build, rows: Rows, origin: str) -> tuple[Step, ...]:
    """Steps for rows that the policy brings along; `origin` names them in the plan."""
    load = Load(
        build.step("load"),
        build.purpose(f"rows of {origin}"),
        build.part("rows"),
        [("labels", "text[]")],
        lambda: ([list(row)] for row in rows),
    )
    return (load, *listing_steps(build))


def listing_steps(build: Build) -> tuple[Step, ...]:
    """Steps from the work table `rows` to the tree."""
    return (
        _shape_check(build),
        _paths_table(build),
        nodes_check(build, build.part("paths")),
        *([] if build.partial else [_coverage_check(build)]),
        tree_table(build, lambda state: _tree(build, state)),
        DropTables(
            build.step("drop"),
            build.purpose("drop its rows"),
            lambda state: [
                build.part("rows")(state),
                *([] if build.keeps_leaves else [build.part("paths")(state)]),
            ],
        ),
        *([] if build.partial else [size_check(build)]),
    )


def _shape_check(build: Build) -> Check:
    def select(state: State) -> exp.Select:
        return query(
            "select count(*) as rows, coalesce(max(cardinality(labels)), 0) as width,"
            " count(*) filter (where labels[1] is null) as leafless,"
            " count(*) filter (where array_position(labels[2:], null) is not null"
            " or array_position(labels[2:], '') is not null) as gaps,"
            ' count(distinct labels[cardinality(labels)] collate "C") as roots from r',
            {"r": build.part("rows")(state)},
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if row["rows"] == 0:
            return build.refuse("it is empty", "give one row per value, from value to top label")
        if row["leafless"]:
            return build.refuse(
                f"{counted(row['leafless'], 'row')} with NULL as the value",
                "leave NULL out; `nulls:` says what happens to it",
            )
        if row["gaps"]:
            return build.refuse(
                f"{counted(row['gaps'], 'row')} with an empty label between value and top",
                "a short row may end early, but has no holes; repeat the label below",
            )
        if row["width"] < 2:
            return build.refuse(
                "it has only one level",
                "a row holds the value and at least one label above it; check the separator",
            )
        if row["roots"] > 1:
            return build.refuse(
                f"it has {row['roots']} roots",
                "the last label of every row must be the same, e.g. *; for a file whose first"
                " line names the levels, set header: true",
            )
        return None

    return Check(
        build.step("shape"),
        build.purpose("complete rows under one root"),
        select,
        problem,
        gives=counts("rows", "width", "leafless", "gaps", "roots", of=f"{build.facts}file_"),
    )


def _paths_table(build: Build) -> CreateTable:
    """paths(leaf text, padding integer, path text[]): rows of equal length, one per leaf.

    A short row repeats its leaf on the lowest `padding` levels. Rows that say the same become one.
    """

    def select(state: State) -> exp.Select:
        rows = build.part("rows")(state)
        keyed = query(
            "select :leaf as leaf, r.labels from r",
            {"r": rows},
            leaf=leaf_key(build.kind, fragment("r.labels[1]")),
        )
        padded = query(
            "select r.leaf, w.width - cardinality(r.labels) as padding,"
            " array_fill(r.leaf, array[1 + w.width - cardinality(r.labels)]) || r.labels[2:]"
            " as path"
            " from r cross join (select max(cardinality(labels)) as width from w) as w",
            {"r": keyed, "w": rows},
        )
        return query(
            "select leaf, min(padding) as padding, path from p group by leaf, path", {"p": padded}
        )

    return CreateTable(
        build.step("paths"), build.purpose("rows of equal length"), build.part("paths"), select
    )


def nodes_check(build: Build, table: Name) -> Check:
    """Refuse paths that are no tree; `table` has the column path text[], equally long.

    A label has one parent on the next level. A label on several levels is the same group on all
    of them, or a published label could leave out the value that it stands for.
    """

    def select(state: State) -> exp.Select:
        return query(
            "with edges as (select distinct i.level - 1 as level,"
            ' p.path[i.level] collate "C" as label, p.path[i.level + 1] collate "C" as parent'
            " from p cross join lateral generate_series(1, cardinality(p.path)) as i(level)),"
            " nodes as (select level, label, count(*) as parents, min(parent) as parent,"
            " max(level) over (partition by label) as top from edges group by level, label),"
            " split as (select level, count(*) as labels, min(level) over () as first"
            " from nodes where parents > 1 group by level)"
            " select (select max(level) from split where level = first) as split_level,"
            " (select max(labels) from split where level = first) as split_labels,"
            " count(distinct label) filter (where level < top and parent <> label) as reused"
            " from nodes",
            {"p": table(state)},
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        level, labels = row["split_level"], row["split_labels"]
        if level == 0:
            return build.refuse(
                f"{counted(labels, 'value')} in several rows with different labels",
                "give every value one row",
            )
        if level is not None:
            return build.refuse(
                f"{counted(labels, 'label')} of level {level} with several parents"
                f" on level {level + 1}",
                "every label belongs to one label of the next level; name different groups"
                " differently",
            )
        if row["reused"]:
            return build.refuse(
                f"{counted(row['reused'], 'label')} on two levels for different groups"
                " (a cycle, or one name for two things)",
                "a label that occurs again on a higher level must lie in that group itself",
            )
        return None

    return Check(
        build.step("nodes"),
        build.purpose("every label has one parent"),
        select,
        problem,
        gives=[
            or_null(count("split_level", build.facts)),
            or_null(count("split_labels", build.facts)),
            count("reused", build.facts),
        ],
    )


def _coverage_check(build: Build) -> Check:
    def select(state: State) -> exp.Select:
        return query(
            "select count(*) as missing_values, coalesce(sum(v.n), 0)::bigint as missing_records,"
            " count(*) filter (where :number in (select :leaf_number from p)) as other_form,"
            ' count(*) filter (where lower(v.value::text collate "default") in'
            ' (select lower(p.leaf collate "default") from p)) as other_case'
            " from v left join p on p.leaf = :leaf where p.leaf is null",
            {"v": build.values(state), "p": build.part("paths")(state)},
            leaf=value_key(build.kind, col("value", "v")),
            number=number_meant(fragment("v.value::text")),
            leaf_number=number_meant(col("leaf", "p")),
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if row["missing_values"]:
            form, hint = other_form(build.kind, row) or (
                "",
                "add a row for each of them; codes for unknown, such as ?, need a row as well",
            )
            return build.refuse(
                f"{counted(row['missing_values'], 'value')}"
                f" in {counted(row['missing_records'], 'record')} missing from it{form}",
                hint,
            )
        return None

    return Check(
        build.step("coverage"),
        build.purpose("every value of the column occurs in it"),
        select,
        problem,
        gives=counts(
            "missing_values", "missing_records", "other_form", "other_case", of=build.facts
        ),
    )


def _tree(build: Build, state: State) -> exp.Select:
    return query(
        "select v.value,"
        " array_fill(:own, array[1 + p.padding]) || p.path[2 + p.padding:] as labels"
        " from v join p on p.leaf = :leaf",
        {"v": build.values(state), "p": build.part("paths")(state)},
        own=value_text(build.kind, col("value", "v")),
        leaf=value_key(build.kind, col("value", "v")),
    )
