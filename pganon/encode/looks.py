"""What records in shards show, counted where they are: a row per cell comes to this server.

It has what its records show as texts of arrays, in which a value takes less than half of the bytes
that it takes in an array as Citus sends it, and a fifth of those of a row.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.combination import COMBINATION, code_of
from pganon.encode.facts import weight_type
from pganon.encode.placed import by_cell
from pganon.encode.records import ties
from pganon.encode.valued import valued
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


def counted_looks(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT combination, s<j>, v<j>, p<j>, n: every look of the records of a cell, and how many
    of them have it."""
    tree = query("select r.combination from r", {"r": state.work(LOOKS)})
    for name, kind in {**_types(spec), "n": weight_type(state)}.items():
        elements = fragment("unnest(:array)", array=cast(col(name, "r"), f"{kind}[]"))
        # Elements of an array of varchar(9) are varchar.
        tree = tree.select(named(cast(elements, kind), name))
    return tree


def counted_values(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT combination, s<j>, w: the same by sensitive values that requirements tell apart."""
    names = [f"s{item.index}" for item in valued(spec)]
    if not names:
        return query("select r.combination, r.w from r", {"r": state.work(LOOKS)})
    by = [col(name, "r") for name in (COMBINATION, *names)]
    number = cast(fragment("sum(r.n)"), weight_type(state))
    tree = query("select :w as w from r", {"r": counted_looks(spec, state)}, w=number)
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
    by = [col(name, "c") for name in (COMBINATION, *_types(spec))]
    other = [tie for name, item in unchanged(spec) for tie in ties(item, col(name, "c"))]
    number = cast(fragment("count(*)"), weight_type(state))
    alike = query("select :n as n from c", {"c": state.work(CODED)}, n=number)
    alike = alike.select(*by).group_by(*[column.copy() for column in (*by, *other)])
    total = cast(fragment("sum(r.n)"), weight_type(state))
    tree = query("select r.combination, :w as w from r", {"r": alike}, w=total)
    arrays = [
        named(fragment("array_agg(:value)::text", value=col(name, "r")), name)
        for name in (*_types(spec), "n")
    ]
    return tree.select(*arrays).group_by(col(COMBINATION, "r"))


def _types(spec: ReleaseSpec) -> dict[str, str]:
    """Columns of records that tell looks apart, with their types."""
    codes = {f"s{item.index}": "integer" for item in valued(spec)}
    return codes | {name: item.column.stored_type for name, item in unchanged(spec)}
