"""Blocks and samples of a line as searches read them.

packed    (block, first, cells, [values<j>])   cells of a block as bytes, from unit `first` on:
          of each its records and its codes; and of sensitive columns the values, in the relaxed
          variant of every record, cell by cell in the order of the draws
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.secrets import row_hash, run_secret
from pganon.methods.classes.one_dimensional.line import Line
from pganon.methods.common.packing import packed
from pganon.sqltools import (
    aliased,
    chain,
    col,
    equal,
    fragment,
    named,
    num,
    query,
    scalar,
)
from pganon.steps import State

SAMPLE = 30_000
"""Units by which the order of the digits is searched."""

PACKED = "packed"


def sample(line: Line, state: State) -> exp.Select:
    """SELECT of a random part of all units, in the form of :data:`PACKED`, as block 0."""
    cells = {"c": state.work("cells", round=0)}
    if line.relaxed:
        units = query("select 1 as w from c", cells).join(
            aliased(line.records(state), "r"), on=equal(line.codes, "r", "c")
        )
        units = units.select(*[col(name, "r") for name in (*line.codes, *_drawn(line))])
        draw: exp.Expr = col(line.draw, "c")
    else:
        units = query("select c.* from c", cells)
        codes = exp.func("row", col("node", "c"), *[col(name, "c") for name in line.codes])
        draw = row_hash(codes, scalar(run_secret(state, "partition_seed")))
    drawn = query(
        "select c.*, row_number() over (order by :draw) - 1 as unit from c",
        {"c": units},
        draw=draw,
    )
    tree = query(
        "select 0 as block, d.* from d where d.unit < :most", {"d": drawn}, most=num(SAMPLE)
    )
    return _packed(line, tree, lambda: tree, state)


def blocks(line: Line, state: State) -> exp.Select:
    """SELECT of the units of every block, in the form of :data:`PACKED`."""
    units = line.blocks(state)

    def records() -> exp.Select:
        tree = query("select u.block, u.unit from u", {"u": units.copy()})
        tree = tree.join(aliased(line.records(state), "r"), on=equal(line.codes, "r", "u"))
        return tree.select(*[col(name, "r") for name in _drawn(line)])

    return _packed(line, units, records, state)


def _drawn(line: Line) -> list[str]:
    """Columns of records: their order in a cell, and their sensitive values."""
    return [line.draw, *[f"s{j}" for j in line.sensitive]]


def _packed(
    line: Line, units: exp.Select, records: Callable[[], exp.Select], state: State
) -> exp.Select:
    """Args: records: in the relaxed variant those of the units."""
    sent = [fragment("int8send(u.w)")]
    sent += [fragment("int8send(:w)", w=word) for word in packed(line.axes, state, "u")]
    tree = query(
        "select u.block, min(u.unit) as first,"
        " string_agg(:cell, ''::bytea order by u.unit) as cells from u group by u.block",
        {"u": units},
        cell=chain(exp.DPipe, sent),
    )
    tree = query("select p.block, p.first, p.cells from p", {"p": tree})
    for j in line.sensitive:
        values = _of_records(line, j, records()) if line.relaxed else _of_cells(j, units, state)
        tree = tree.join(aliased(values, f"v{j}"), on=equal(["block"], f"v{j}", "p"))
        tree = tree.select(named(col("sent", f"v{j}"), f"values{j}"))
    return tree


def _of_cells(j: int, units: exp.Select, state: State) -> exp.Select:
    """(block, sent): how many records of every unit have which values."""
    return query(
        "select u.block, string_agg(int8send(u.unit) || int8send(:s) || int8send(v.w),"
        " ''::bytea order by u.unit, :s) as sent"
        " from u join v on v.cell = u.cell group by u.block",
        {"u": units.copy(), "v": state.work(f"cellvalues{j}")},
        s=col(f"s{j}", "v"),
    )


def _of_records(line: Line, j: int, records: exp.Select) -> exp.Select:
    """(block, sent): the value of every record, cell by cell in the order of the draws."""
    return query(
        "select r.block, string_agg(int8send(:s), ''::bytea order by r.unit, :draw) as sent"
        " from r group by r.block",
        {"r": records.copy()},
        s=col(f"s{j}", "r"),
        draw=col(line.draw, "r"),
    )
