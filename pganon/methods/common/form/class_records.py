"""Records of classes, in an order that depends on published columns alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.combination import cell_columns
from pganon.encode.distribution import beside_cells, beside_source, by_cell
from pganon.encode.facts import KEPT
from pganon.encode.people import identity
from pganon.encode.records import PART
from pganon.encode.shard_counts import counted_looks, ties_of, unchanged
from pganon.encode.work import CODED
from pganon.forms.stored_relations import numbers
from pganon.forms.work import DEALT, GROUPED_CLASSES
from pganon.identifiers import QualifiedName
from pganon.policy.options import CLASS_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import (
    aliased,
    cast,
    col,
    equal,
    fragment,
    materialized,
    named,
    num,
    query,
    scalar,
    stacked,
    text,
)
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

DIFFERENT = count("different_records", assumed=1)
"""Most records of classes that differ in a column, as estimated."""

_STATISTICS = QualifiedName("pg_catalog", "pg_stats")

_PER_DIFFERENT = 2
"""Records for each different one from which on it takes less to count than to sort them."""


def cell_keys(spec: ReleaseSpec, state: State) -> list[str]:
    """Columns of :func:`encoded_records` that say which cell a record is in, or part of a cell."""
    if spec.numbers_records:
        return ["rid"]
    return [*cell_columns(spec, state), *([PART] if spec.divides_cells else [])]


def encoded_records(spec: ReleaseSpec, state: State) -> Relation:
    """The encoded records; where cells are divided, with the part of its cell that each is in."""
    if not spec.divides_cells:
        return state.work(CODED)
    names = CODED.columns(spec, state)
    whole = query(
        "select 0 as part from c where not exists (select from g where g.part > 0 and :same)",
        {"c": state.work(CODED), "g": state.work(GROUPED_CLASSES)},
        same=equal(cell_columns(spec, state), "g", "c"),
    )
    dealt = query("select d.part from d", {"d": state.work(DEALT)})
    return stacked(
        [
            whole.select(*[col(name, "c") for name in names]),
            dealt.select(*[col(name, "d") for name in names]),
        ]
    )


def classes_of_cells(spec: ReleaseSpec, state: State) -> QualifiedName:
    """The class of every cell; of people where their encoded records are."""
    if by_cell(spec, state) is None or identity(spec) is None:
        return state.work(GROUPED_CLASSES)
    return state.work("cell_classes")


def placed_steps(spec: ReleaseSpec) -> list[Step]:
    """That table, of people in shards. Joined as they are, all classes would go to all servers."""
    if beside_source(spec) is None or identity(spec) is None:
        return []
    return [
        CreateTable(
            "cell_classes",
            "the class of every cell, where its records are",
            lambda s: classes_of_cells(spec, s),
            lambda s: query(
                "select g.combination, g.class_id from g", {"g": s.work(GROUPED_CLASSES)}
            ),
            when=lambda s: by_cell(spec, s) is not None,
            placement=lambda s: beside_cells(spec, s, s.work(CODED)),
        )
    ]


def same_cell(spec: ReleaseSpec, state: State, left: str, right: str) -> exp.Expr:
    return equal(cell_keys(spec, state), left, right)


Owned = tuple[exp.Select, exp.Expr]


def records_of_classes(
    spec: ReleaseSpec, state: State, owned: Callable[[exp.Select], Owned] | None = None
) -> exp.Select:
    """SELECT class_id and the columns that are published unchanged, ordered by published values.

    By :func:`counted_records` where that takes less.

    `owned` adds to the records `c` a column after the class: it returns the SELECT with its joins,
    and the column.
    """
    if owned is None and (by_cell(spec, state) is not None or spec.counted or _pays(state)):
        return counted_records(spec, state)
    tree = exp.select(col("class_id", "g")).from_(aliased(encoded_records(spec, state), "c"))
    tree = tree.join(
        aliased(classes_of_cells(spec, state), "g"),
        on=same_cell(spec, state, "g", "c"),
    )
    if spec.microaggregated:
        return _microaggregated(spec, tree)
    order: list[exp.Expr] = [col("class_id", "g")]
    if owned is not None:
        tree, owner = owned(tree)
        tree = tree.select(owner)
        order.append(owner.copy())
    for name, item in unchanged(spec):
        tree.select(named(col(name, "c"), item.published), copy=False)
    order += [col(name, "c") for name, _ in unchanged(spec)]
    order += ties_of(spec, "c")
    return tree.order_by(*order)


def weights_of_classes(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT class_id, n, covered: the records of every class, and the people they stand for,
    rounded down.

    The weight of a record alone in its class is rounded to a digit, as it is told of nobody.
    """
    tree = query(
        "select g.class_id, count(*) as n, sum(c.weight) as w from c",
        {"c": encoded_records(spec, state)},
    ).join(aliased(classes_of_cells(spec, state), "g"), on=same_cell(spec, state, "g", "c"))
    return query(
        "select r.class_id, r.n, greatest(r.n, least(:most, case when r.n = 1"
        " then trunc(r.w, - floor(log(r.w))::int) else floor(r.w) end))::bigint as covered from r",
        {"r": tree.group_by(col(CLASS_ID, "g"))},
        most=num(2**63 - 1),
    )


def _microaggregated(spec: ReleaseSpec, tree: exp.Select) -> exp.Select:
    """The same with means of groups, from a SELECT of class_id over the records `c`.

    Equal numbers are told apart by what else is published of their records.
    """
    looks = [*[col(name, "c") for name, _ in unchanged(spec)], *ties_of(spec, "c")]
    shown = [f"look{place}" for place, _ in enumerate(looks)]
    numbers = [f"g{item.index}" for item in spec.microaggregated]
    rows = tree.select(*[named(value, name) for value, name in zip(looks, shown, strict=True)])
    rows = rows.select(*[col(name, "c") for name in numbers])
    order = ", ".join(f"r.{name}" for name in (*shown, *numbers))
    placed, grouped = query("select r.* from rows as r"), query("select r.* from placed as r")
    means = query("select r.class_id from grouped as r").select(*[col(name, "r") for name in shown])
    for item, g in zip(spec.microaggregated, numbers, strict=True):
        at = f"row_number() over (partition by r.class_id order by r.{g} nulls last, {order})"
        placed = placed.select(named(fragment(at), f"at{g}"))
        found = "pganon.groups_of(array_agg(r.v order by r.v), :size)"
        if item.whole:
            found = "case when count(*) >= :size then array_fill(1, array[count(*)::integer]) end"
        groups = query(
            "select r.class_id, :found as k from (select r.class_id, :v as v from rows as r"
            " where :v is not null) as r group by r.class_id",
            found=fragment(found, size=num(item.least_in(spec))),
            v=col(g, "r"),
        )
        on = equal([CLASS_ID], f"a{g}", "r")
        grouped = grouped.join(aliased(groups, f"a{g}"), on=on, join_type="left")
        grouped = grouped.select(named(fragment(f"a{g}.k[r.at{g}]"), f"k{g}"))
        total, n = (
            f"{of} over (partition by r.class_id, r.k{g})" for of in (f"sum(r.{g})", "count(*)")
        )
        mean = f"sign({total}) * div(abs({total}) * 2000000 + {n}, 2 * {n}) * 0.000001"
        means = means.select(
            named(fragment(f"case when r.k{g} is not null then {mean} end"), f"m{g}")
        )
    published = {
        name: item.published for name, (_, item) in zip(shown, unchanged(spec), strict=False)
    }
    published |= {f"m{g}": m.published for g, m in zip(numbers, spec.microaggregated, strict=True)}
    found = query("select s.class_id from s", {"s": means})
    found = found.select(*[named(col(name, "s"), of) for name, of in published.items()])
    by = dict.fromkeys((CLASS_ID, *published, *shown))
    return materialized(
        found.order_by(*[col(name, "s") for name in by]), rows=rows, placed=placed, grouped=grouped
    )


def may_repeat(spec: ReleaseSpec) -> bool:
    """Whether equal records can be counted: they have no number, and look the same."""
    # Where pganon knows the type, :func:`ties` distinguishes all values that look different.
    known = all(item.column.kind != "unsupported" for _, item in unchanged(spec))
    return known and not spec.numbers_records and not spec.microaggregated


def different_check(spec: ReleaseSpec) -> Check:
    """:data:`DIFFERENT`: the number of classes times the values of every column."""
    return Check(
        "different",
        "how many records differ, as the statistics of their columns say",
        lambda state: _different(spec, state),
        gives=[DIFFERENT],
    )


def _different(spec: ReleaseSpec, state: State) -> exp.Expr:
    kept, columns = num(max(state[KEPT], 1)), [text(name) for name, _ in unchanged(spec)]
    # Of a column without statistics nothing is known. Logarithms are added up, as the product of
    # many columns would not be finite.
    kinds = query(
        "select case when count(p.n_distinct) = :columns then coalesce(sum(ln(case when"
        " p.n_distinct < 0 then - p.n_distinct * :kept else p.n_distinct end + 1)), 0)"
        " else ln(:kept) end from p where p.schemaname = :schema and p.tablename = :table"
        " and p.attname = any(:names)",
        {"p": _STATISTICS},
        columns=num(len(columns)),
        kept=cast(kept, "float8"),
        schema=text(state.work(CODED).schema),
        table=text(state.work(CODED).name),
        names=cast(exp.Array(expressions=columns), "text[]"),
    )
    most = fragment(
        "least(:classes * exp(least(:kinds, ln(:kept))), :kept)",
        classes=scalar(query("select count(*) from n", {"n": numbers(state, CLASS_ID)})),
        kinds=scalar(kinds),
        kept=cast(kept, "float8"),
    )
    return exp.select(named(cast(exp.paren(most), "bigint"), DIFFERENT.column))


def _pays(state: State) -> bool:
    different = state.facts.get(DIFFERENT)
    return different is not None and different * _PER_DIFFERENT <= state[KEPT]


def _looks(spec: ReleaseSpec, keys: Sequence[str]) -> list[exp.Expr]:
    """Columns of records that show how those of a cell look."""
    names = [name for name, _ in unchanged(spec)]
    return [*[col(name, "c") for name in (*keys, *names)], *ties_of(spec, "c")]


def counted_records(spec: ReleaseSpec, state: State) -> exp.Select:
    """The same rows in the same order: equal records are counted, then sorted, then repeated."""
    keys, names = cell_keys(spec, state), [name for name, _ in unchanged(spec)]
    by = _looks(spec, keys)
    shown = [*names, *[f"look{place}" for place in range(len(by) - len(keys) - len(names))]]
    looks = [named(e, n) for e, n in zip(by, (*keys, *shown), strict=True)]
    of_class = [col(CLASS_ID, "g"), *[col(name, "c") for name in shown]]
    if spec.counted or by_cell(spec, state) is not None:
        number, rows = fragment("c.times"), encoded_records(spec, state)
        if not spec.counted:
            number, rows = fragment("c.n"), counted_looks(spec, state)
        cells = query("select :n as n from c", {"c": rows}, n=number).select(*looks)
        classes = query("select c.n from c", {"c": cells}).select(*of_class)
    else:
        cells = query("select count(*) as n from c", {"c": encoded_records(spec, state)})
        cells = cells.select(*looks).group_by(*[expression.copy() for expression in by])
        classes = query("select sum(c.n)::bigint as n from c", {"c": cells}).select(*of_class)
        classes = classes.group_by(*[column.copy() for column in of_class])
    # Where records are in shards, what they show is here.
    groups = aliased(state.work(GROUPED_CLASSES), "g")
    classes = classes.join(groups, on=equal(keys, "g", "c"))
    order = [col(name, "r") for name in (CLASS_ID, *shown)]
    repeated = query("select generate_series(1, r.n) as place from r", {"r": classes})
    repeated = repeated.select(*order).order_by(*[column.copy() for column in order])
    tree = exp.select(col(CLASS_ID, "r")).from_(aliased(repeated, "r"))
    tree = tree.select(*[named(col(name, "r"), item.published) for name, item in unchanged(spec)])
    return tree.order_by(*[column.copy() for column in order])
