"""Sensitive values as codes, and the distributions that groups are compared with.

The tables are :func:`pganon.encode.work.sensitive_values` and :func:`pganon.encode.work.reference`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.catalog.values import equal_key, in_order
from pganon.encode.facts import null_code, respelled, value_count
from pganon.encode.first import first_counts, first_of
from pganon.encode.semi_sensitive import applies
from pganon.encode.work import FIT, PART_CELLS, SNAP, reference, sensitive_values
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, cast, col, fragment, named, num, query, scalar, stacked
from pganon.steps import CreateTable, State, Step
from pganon.steps.facts import Fact


def sensitive_key(item: Sensitive, value: exp.Expr) -> exp.Expr:
    """The value as diversity counts it: values that the column calls equal are one value."""
    return equal_key(item.column, value)


def sensitive_dictionary(spec: ReleaseSpec, item: Sensitive) -> Step:
    """NULL counts as one value, the last in order."""
    return CreateTable(
        f"sensitive{item.index}",
        f"values of {quote(item.column.name)}",
        lambda s: s.work(sensitive_values(item.index)),
        lambda s: hidden_values(spec, item, s),
    )


def hidden_values(spec: ReleaseSpec, item: Sensitive, state: State) -> exp.Select:
    """:func:`pganon.encode.work.sensitive_values` of the column where it is sensitive."""
    if first_of(spec, item) is not None:
        return compared_values(spec, item, state.work(SNAP))
    rows = where_sensitive(item, state.work(SNAP))
    if not spec.counted:
        return values_of(item, rows, f"s{item.index}")
    numbered = query("select t.*, t.times as n from t", {"t": rows})
    return values_of(item, numbered, f"s{item.index}", ["n"])


def compared_values(spec: ReleaseSpec, item: Sensitive, rows: QualifiedName) -> exp.Select:
    """(code, value, n, source_n, published_n): the same with those of the first version.

    Where nobody new has a value of it `n` is 0; where it lacks one, the others are.
    """
    column = f"s{item.index}"
    added = query(
        "select 1 as n, 0 as source_n, 0 as published_n from t",
        {"t": where_sensitive(item, rows)},
    ).select(col(column, "t"))
    values = query(
        "select 0 as n, f.source_n, f.published_n from f", {"f": first_counts(spec, item)}
    ).select(named(_read_back(item, col("value", "f")), column))
    return values_of(item, stacked([added, values]), column, ("n", "source_n", "published_n"))


def _read_back(item: Sensitive, key: exp.Expr) -> exp.Expr:
    """The value that :func:`pganon.forms.elements.text_key` made a text of."""
    return cast(fragment("substr(nullif(:key, ''), 2)", key=key), item.column.stored_type)


def where_sensitive(item: Sensitive, rows: QualifiedName) -> QualifiedName | exp.Select:
    """Those of the rows in which the column is sensitive."""
    condition = applies(item, "t")
    if condition is None:
        return rows
    return query("select t.* from t", {"t": rows}).where(condition)


def values_of(
    item: Sensitive, rows: QualifiedName | exp.Select, column: str, counts: Sequence[str] = ()
) -> exp.Select:
    """(code, value, n): values of the sensitive column, which is `column` of the rows.

    Args:
        counts: columns of rows that stand for several records, added up instead.
    """
    placed = query(
        "select :key as value, :v as place from t",
        {"t": rows},
        key=sensitive_key(item, col(column, "t")),
        v=_place(item, col(column, "t")),
    ).select(*[col(name, "t") for name in counts])
    sums = [named(fragment("sum(:n)::bigint", n=col(name, "t")), name) for name in counts]
    counted = query(
        "select t.value, min(t.place) as place from t group by t.value",
        {"t": placed},
    ).select(*(sums or [named(fragment("count(*)"), "n")]))
    return query(
        "select row_number() over (order by :place nulls last)::int as code, g.value from g",
        {"g": counted},
        place=in_order(item.column, col("place", "g")),
    ).select(*[col(name, "g") for name in counts or ("n",)])


def value_facts(item: Sensitive) -> list[Fact[int]]:
    """Facts that :func:`value_counts` gives."""
    facts = [value_count(item.index), null_code(item.index)]
    return [*facts, respelled(item.index)] if _is_text(item) else facts


def value_counts(item: Sensitive, state: State) -> list[exp.Expr]:
    """The highest code; that of NULL, 0 without NULL; of texts, those in several spellings."""
    counted = {"d": state.work(sensitive_values(item.index))}
    counts = [
        query("select count(*) from d", counted),
        query("select coalesce(max(d.code) filter (where d.value is null), 0) from d", counted),
    ]
    if _is_text(item):
        looks = query(
            "select 1 as one from d group by pganon.looks(d.value) having count(*) > 1", counted
        )
        counts.append(query("select count(*) from g", {"g": looks}))
    facts = value_facts(item)
    return [named(scalar(n), fact.column) for n, fact in zip(counts, facts, strict=True)]


def _is_text(item: Sensitive) -> bool:
    """Values of other types look as they are."""
    return item.column.kind in ("text", "bpchar", "citext", "enum")


def with_code(
    tree: exp.Select, item: Sensitive, value: exp.Expr, state: State, *, always: bool = False
) -> exp.Select:
    """With the code of a value of the column, as s<j>.

    Args:
        always: whether every row has a value that is sensitive.
    """
    alias = _lookup(item)
    on = exp.EQ(this=col("value", alias), expression=exp.paren(sensitive_key(item, value)))
    code = looked_up_code(item, state)
    condition = None if always else applies(item, "t")
    if condition is not None:
        # 0 is no value's code: there the record shows its value.
        code = fragment("case when :mine then :code else 0 end", mine=condition, code=code)
    joined = looked_up(tree, state.work(sensitive_values(item.index)), alias, on)
    return joined.select(named(cast(code, "integer"), f"s{item.index}"))


def looked_up_code(item: Sensitive, state: State) -> exp.Expr:
    """The code, in the SELECT that :func:`with_code` makes."""
    missing = num(state[null_code(item.index)])
    return fragment("coalesce(:c, :null)", c=col("code", _lookup(item)), null=missing)


def _lookup(item: Sensitive) -> str:
    return f"e{item.index}"


def looked_up(tree: exp.Select, dictionary: QualifiedName, alias: str, on: exp.Expr) -> exp.Select:
    """With the row of a dictionary, if there is one."""
    table = aliased(dictionary, alias)
    return tree.join(table, on=on, join_type="left")


def _place(item: Sensitive, value: exp.Expr) -> exp.Expr:
    """Sort key of the values of a sensitive column."""
    kinds = ("boolean", "uuid")
    if item.column.kind in kinds:
        return cast(value, "text")
    if _is_text(item):
        return sensitive_key(item, value)
    return value


def with_paths(tree: exp.Select, item: Sensitive, state: State) -> exp.Select:
    """The rows of `x`, which has a `code`, with the keys of their ancestors."""
    paths = aliased(state.work(f"spath{item.index}"), "a")
    on = exp.EQ(this=col("code", "a"), expression=col("code", "x"))
    return tree.select(col("path", "a")).join(paths, on=on)


def reference_step(spec: ReleaseSpec, item: Sensitive, kind: str) -> Step:
    """(value, position, share [, path]): the distribution of the snapshot, or as published.

    For new individuals this is the distribution of the first version.
    """

    def select(state: State) -> exp.Expr:
        if first_of(spec, item) is not None:
            counted = query(
                "select d.code, :n as n from d",
                {"d": state.work(sensitive_values(item.index))},
                n=col(f"{kind}_n", "d"),
            )
        elif kind == "source":
            counted = query(
                "select d.code, d.n from d", {"d": state.work(sensitive_values(item.index))}
            )
        else:
            counted = query(
                "select d.code, coalesce(c.n, 0) as n from d left join c on c.code = d.code",
                {
                    "d": state.work(sensitive_values(item.index)),
                    "c": query(
                        "select :s as code, sum(c.w)::bigint as n from c where not exists"
                        " (select 1 from f where f.node = c.node and not f.holds) group by :s",
                        {"c": state.work(PART_CELLS), "f": state.work(FIT)},
                        s=col(f"s{item.index}", "c"),
                    ),
                },
            )
        tree = query(
            "select x.code as value, x.code as position, x.n,"
            " x.n::float8 / sum(x.n) over () as share from x",
            {"x": counted},
        )
        return tree if item.hierarchy is None else with_paths(tree, item, state)

    return CreateTable(
        f"reference{item.index}_{kind}",
        f"distribution of {quote(item.column.name)} ({kind})",
        lambda s: s.work(reference(item.index, kind)),
        select,
        inline=True,
    )
