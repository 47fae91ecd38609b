"""What records in shards show, counted where they are: a row per cell comes to this server.

It has what its records show as texts of arrays, in which a value takes less than half of the bytes
that it takes in an array as Citus sends it, and a fifth of those of a row.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.combination import COMBINATION, code_of
from pganon.encode.distribution import by_cell
from pganon.encode.facts import weight_type
from pganon.encode.records import ties
from pganon.encode.value_codes import valued
from pganon.encode.work import CODED, LOOKS
from pganon.resolved.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, fragment, named, query
from pganon.steps import CreateTable, State, Step


def look_steps(spec: ReleaseSpec) -> list[Step]:
    """From `coded` to :data:`pganon.encode.work.LOOKS`, where records are in shards."""
    return [
        CreateTable(
            LOOKS.name,
            "what the records of every combination show, counted where they are",
            lambda s: s.work(LOOKS),
            lambda s: _looks(spec, s),
            when=lambda s: by_cell(spec, s) is not None,
        )
    ]


def unchanged(spec: ReleaseSpec) -> list[tuple[str, Sensitive | Carried]]:
    """Column of `coded` and declaration of every column that is published unchanged."""
    sensitive: list[tuple[str, Sensitive | Carried]] = [
        (f"v{item.index}", item) for item in spec.sensitive
    ]
    return sensitive + [(f"p{item.index}", item) for item in spec.carried]


def ties_of(spec: ReleaseSpec, table: str) -> list[exp.Expr]:
    """Keys of rows of `coded` that distinguish equal values of these columns."""
    return [tie for name, item in unchanged(spec) for tie in ties(item, col(name, table))]


def counted_looks(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT combination, v<j>, p<j>, n: every look of the records of a cell, and how many of them
    have it; a look may be there more than once."""
    return _elements(state, _shown(spec))


def counted_values(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT combination, s<j>, w: the same by sensitive values that requirements tell apart."""
    codes = _codes(spec)
    if not codes:
        return query("select r.combination, r.w from r", {"r": state.work(LOOKS)})
    by = [col(name, "r") for name in (COMBINATION, *codes)]
    number = cast(fragment("sum(r.n)"), weight_type(state))
    tree = query("select :w as w from r", {"r": _elements(state, codes)}, w=number)
    return tree.select(*by).group_by(*[column.copy() for column in by])


def decoded(spec: ReleaseSpec, state: State, rows: exp.Select) -> exp.Select:
    """With the codes of their combination."""
    codes = [
        named(
            cast(exp.paren(code_of(spec, state, axis.attribute, "r")), axis.code_type(state)),
            axis.code,
        )
        for axis in axes(spec.attributes)
    ]
    return query("select r.* from r", {"r": rows}).select(*codes)


def _looks(spec: ReleaseSpec, state: State) -> exp.Select:
    names = [*_codes(spec), *_shown(spec)]
    by = [col(name, "c") for name in (COMBINATION, *names)]
    number = cast(fragment("count(*)"), weight_type(state))
    alike = query("select :n as n from c", {"c": state.work(CODED)}, n=number)
    alike = alike.select(*by).group_by(*[column.copy() for column in (*by, *ties_of(spec, "c"))])
    total = cast(fragment("sum(r.n)"), weight_type(state))
    tree = query("select r.combination, :w as w from r", {"r": alike}, w=total)
    arrays = [
        named(fragment("array_agg(:value)::text", value=col(name, "r")), name)
        for name in (*names, "n")
    ]
    return tree.select(*arrays).group_by(col(COMBINATION, "r"))


def _elements(state: State, types: dict[str, str]) -> exp.Select:
    """SELECT combination, these columns, n: elements of the arrays of every combination."""
    tree = query("select r.combination from r", {"r": state.work(LOOKS)})
    for name, kind in {**types, "n": weight_type(state)}.items():
        elements = fragment("unnest(:array)", array=cast(col(name, "r"), f"{kind}[]"))
        # Elements of an array of varchar(9) are varchar.
        tree.select(named(cast(elements, kind), name), copy=False)
    return tree


def _codes(spec: ReleaseSpec) -> dict[str, str]:
    """Columns with codes of sensitive values, and their types."""
    return {f"s{item.index}": "integer" for item in valued(spec)}


def _shown(spec: ReleaseSpec) -> dict[str, str]:
    """Columns with values, and their types."""
    return {name: item.column.stored_type for name, item in unchanged(spec)}
