"""The method `one_dimensional`: the pieces that lose least of a line through all records.

Ghinita, Karras, Kalnis, Mamoulis: Fast data anonymization with low information loss, VLDB 2007, for
the line and its optimal partition; Hansen and Mukherjee, TKDE 2003, and Domingo-Ferrer et al. 2006,
for optimal partitions of numbers and of paths. The digits, values kept apart, refinement and models
beyond k-anonymity are not theirs.

- attributes are written as digits; a record's place on the line is their number, digits of high
  cost first (:mod:`~pganon.methods.classes.one_dimensional.search.digits`);
- blocks of the line are partitioned by dynamic programming along a path on which neighbours differ
  in few digits (:mod:`~pganon.methods.classes.one_dimensional.search.partition`);
- classes that lie together along other paths are made anew where that loses less
  (:mod:`~pganon.methods.classes.one_dimensional.search.refinement`).

In the strict variant equal quasi-identifiers stay together; in the relaxed one records are placed
one by one, those of equal quasi-identifiers in a random order. Classes may overlap in what they
show. Those that show the same are one.

    labels    (block, first, labels)   the class of every cell of a block
    classes   (gid, codes, w)
    grouped   (gid, codes, [rid])

The tables of the relaxed variant are in :mod:`pganon.methods.classes.one_dimensional`.

packed    (block, first, cells, [values<j>])   cells of a block as bytes, from unit `first` on:
          of each its records and its codes; and of sensitive columns the values, in the relaxed
          variant of every record, cell by cell in the order of the draws

    labels    (block, first, labels, cells, before, records)   runs of the records of cells in their
              random order, cells numbered in the block: `before` others, then as many `records`
    classes   (gid, codes, unit, before, w)   the same; gid: NULL for records that are left out
    runs      (gid, codes, unit, before, w, part)   parts of a divided cell are numbered from 1, by
              class; a cell that is in one class has part 0
    grouped   (gid, codes, part) | (gid, codes, rid)
    dealt     the records of divided cells, each with its part

Only the records of divided cells are put in their random order. It alone decides which of them are
in which part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.combination import COMBINATION, combination, combined
from pganon.encode.facts import KEPT
from pganon.encode.records import NUMBER
from pganon.encode.secrets import row_hash, run_secret
from pganon.encode.work import CODED, codes_of
from pganon.forms.facts import SUPPRESSED
from pganon.forms.work import DEALT, GROUPED
from pganon.methods.classes.cells import cell_steps
from pganon.methods.classes.leaving import leaves_outliers_out, outliers_allowed, records_of_cells
from pganon.methods.classes.one_dimensional.equal import one_of_equal
from pganon.methods.classes.one_dimensional.layout import (
    Layout,
    given_of_blocks,
    given_of_sample,
    given_of_values,
    records_of,
    units_of,
    with_order,
)
from pganon.methods.classes.one_dimensional.line import (
    ADDED,
    BEHIND,
    BLOCKS,
    LINE,
    WORDS,
    Line,
)
from pganon.methods.classes.one_dimensional.options import OneDimensional
from pganon.methods.classes.one_dimensional.search.windows import Problem
from pganon.methods.classes.one_dimensional.tasks import added, classes, order
from pganon.methods.common.base import Method
from pganon.methods.common.form.class_description import CLASSES
from pganon.methods.common.packing import packed
from pganon.methods.common.pairs import paired
from pganon.methods.common.suppression import suppressed_check
from pganon.resolved.model import ReleaseSpec
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
    stacked,
)
from pganon.steps import Scope, Search, State, Step, table
from pganon.steps.facts import RECORDS
from pganon.steps.tasks import Task

OF_RUNS = ("cells", "before", "records")
"""Columns of the runs of a block, beside their labels: arrays."""

_RUNS, _PARTS = "runs", "parts"


def runs_in_classes(line: Line, state: State, labels: str) -> exp.Select:
    """(gid, codes, unit, before, w) of every run. Args: labels: the result of the search."""
    runs = query(
        "select t.block, t.first + x.cell as unit, x.label, x.before, x.records from t"
        " cross join lateral unnest(t.labels, t.cells, t.before, t.records)"
        " as x(label, cell, before, records)",
        {"t": state.work(labels)},
    )
    tree = query(
        "select case when x.label >= 0 then :gid end as gid, x.unit, x.before, x.records as w"
        " from x join l on l.unit = x.unit",
        {"x": runs, "l": state.work(LINE)},
        gid=paired(col("block", "x"), col("label", "x")),
    )
    return tree.select(*[col(name, "l") for name in codes_of(line.spec)])


def dealt_steps(line: Line, classes: str) -> list[Step]:
    """From the runs of classes to :data:`~pganon.forms.work.GROUPED`.

    Args:
        classes: work table of the runs.
    """
    runs = table(
        _RUNS,
        "classes that show the same are one, and parts of cells that are in several",
        lambda s: _runs(line, s, classes),
    )
    parts = GROUPED.name
    records = table(
        DEALT,
        "the records of divided cells",
        lambda s: _dealt(line, s, CODED.columns(line.spec, s)),
    )
    if line.spec.numbers_records:
        parts = _PARTS
        records = table(GROUPED, "the records of all classes", lambda s: _numbered(line, s))
    return [
        runs,
        table(parts, "the cells of classes, or parts of them", lambda s: _parts(line, s)),
        records,
    ]


def _runs(line: Line, state: State, classes: str) -> exp.Select:
    return query(
        "select r.*, case when count(r.gid) over w = 0 or (count(r.gid) over w = count(*) over w"
        " and min(r.gid) over w = max(r.gid) over w) then 0"
        " else dense_rank() over (partition by r.unit order by r.gid) end::integer as part"
        " from r window w as (partition by r.unit)",
        {"r": one_of_equal(line, state, state.work(classes))},
    )


def _parts(line: Line, state: State) -> exp.Select:
    columns = [col(name, "r") for name in ("gid", *codes_of(line.spec), "part")]
    tree = query("select 1 from r where r.gid is not null", {"r": state.work(_RUNS)})
    return tree.select(*columns, append=False).group_by(*[column.copy() for column in columns])


def _dealt(line: Line, state: State, names: Sequence[str]) -> exp.Select:
    """(names.., part) of the records of divided cells, by their places in the random order."""
    codes = codes_of(line.spec)
    runs = query("select r.* from r where r.part > 0", {"r": state.work(_RUNS)})
    divided = query("select distinct r.unit from r", {"r": runs}).select(
        *[col(name, "r") for name in codes]
    )
    keys = codes
    if combined(line.spec, state):
        keys = [COMBINATION]
        number = combination(line.spec, state, lambda a: col(f"c{a.index}", "d"))
        divided = query("select d.unit from d", {"d": divided}).select(named(number, COMBINATION))
    placed = query(
        "select r.*, d.unit,"
        " row_number() over (partition by d.unit order by :draw) as place from r",
        {"r": line.records(state)},
        draw=col(line.draw, "r"),
    ).join(aliased(divided, "d"), on=equal(keys, "d", "r"))
    places = query(
        "select r.unit, r.part, r.before + generate_series(1, r.w) as place from r",
        {"r": runs.copy()},
    )
    return query(
        "select q.part from p join q on q.unit = p.unit and q.place = p.place",
        {"p": placed, "q": places},
    ).select(*[col(name, "p") for name in names])


def _numbered(line: Line, state: State) -> exp.Select:
    """(gid, codes, rid) of every record in a class, where records have numbers."""
    codes = codes_of(line.spec)
    names = [*codes, NUMBER]
    every = query("select 0 as part from r", {"r": line.records(state)})
    both = stacked([every.select(*[col(name, "r") for name in names]), _dealt(line, state, names)])
    tree = query("select g.gid, r.rid from g", {"g": state.work(_PARTS)})
    tree = tree.join(aliased(both, "r"), on=equal([*codes, "part"], "g", "r"))
    return tree.select(*[col(name, "g") for name in codes])


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


_AT_ONCE = 8
"""Blocks that are read at a time."""

_BYTES = 16 * 400
"""Of units that take as long as a row of other searches."""

_LABELS, _PIECES = "labels", "classes"


def _options(spec: ReleaseSpec) -> OneDimensional:
    options = spec.policy.method
    assert isinstance(options, OneDimensional)
    return options


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    line = Line(spec, relaxed=_options(spec).variant == "relaxed")
    records = fragment("coalesce(sum(t.w) filter (where t.gid is not null), 0)::bigint")
    left = suppressed_check(spec, lambda s: s.work(_PIECES), records)
    steps = [
        *cell_steps(spec),
        *line.steps(*([_order(line)] if line.searches_order else []), _added(line)),
        table(PACKED, "the cells of every block", lambda s: blocks(line, s)),
        _search(line),
        table(
            _PIECES,
            "the cells of all classes",
            lambda s: runs_in_classes(line, s, _LABELS) if line.relaxed else _classes(line, s),
        ),
        *([left] if leaves_outliers_out(spec) else []),
        *(dealt_steps(line, _PIECES) if line.relaxed else _grouped(line)),
    ]
    return (Scope("the line and its blocks", steps, keeps=[GROUPED, DEALT]),)


def _grouped(line: Line) -> list[Step]:
    spec = line.spec
    cells = "grouped_cells" if spec.numbers_records else GROUPED.name
    merged = table(
        cells,
        "classes that show the same are one",
        lambda s: one_of_equal(line, s, s.work(_PIECES)),
    )
    return [merged, records_of_cells(spec, cells)] if spec.numbers_records else [merged]


def _order(line: Line) -> Search:
    apart = _options(line.spec).dominant == "apart"

    def tasks(state: State, given: Mapping[str, Any], rows: Sequence[Any]) -> list[Task]:
        layout = Layout.of(line, state, given, apart=apart)
        problem = Problem(layout.attributes, line.spec.minimum_size, line.relaxed)
        return [partial(order, layout, problem, units_of(line, state, given, row)) for row in rows]

    return Search(
        BEHIND,
        "the order of the digits, which is not to follow sensitive values",
        lambda s: s.work(BEHIND),
        (("place", "integer"), ("attribute", "integer")),
        given=lambda s: given_of_sample(line, s),
        rows=lambda s, batch: sample(line, s),
        tasks=tasks,
    )


def _added(line: Line) -> Search:
    apart = _options(line.spec).dominant == "apart"

    def tasks(state: State, given: Mapping[str, Any], rows: Sequence[Any]) -> list[Task]:
        return [partial(added, Layout.of(line, state, given, apart=apart))]

    return Search(
        ADDED,
        "digits of all values, which put cells in a line",
        lambda s: s.work(ADDED),
        (("attribute", "integer"), ("word", "integer"), ("code", "integer"), ("adds", "bigint")),
        given=lambda s: with_order(line, s, given_of_values(line, s)),
        rows=lambda s, batch: query("select 1 as nothing"),
        tasks=tasks,
        gives=[WORDS],
    )


def _search(line: Line) -> Search:
    options = _options(line.spec)
    rounds = 1 if options.refine == "auto" else options.refine

    def tasks(state: State, given: Mapping[str, Any], rows: Sequence[Any]) -> list[Task]:
        layout = Layout.of(line, state, given, apart=options.dominant == "apart")
        problem = Problem(layout.attributes, line.spec.minimum_size, line.relaxed)
        allowed = outliers_allowed(line.spec, state)
        released = state[RECORDS] - state[SUPPRESSED]
        made: list[Task] = []
        for row in rows:
            units = units_of(line, state, given, row)
            made.append(
                partial(
                    classes,
                    block=row[0],
                    first=row[1],
                    layout=layout,
                    problem=problem,
                    units=units,
                    sizes=records_of(row, line, state) if line.relaxed else None,
                    rounds=options.rounds(state[KEPT]),
                    limit=allowed * int(units.weights.sum()) // released,
                    price=options.price_of_record,
                    seed=given["seed"],
                )
            )
        return made

    return Search(
        "pieces",
        "the pieces of every block that lose least",
        lambda s: s.work(_LABELS),
        (
            ("block", "integer"),
            ("first", "integer"),
            ("labels", "integer[]"),
            *[(name, "integer[]") for name in (OF_RUNS if line.relaxed else ())],
        ),
        given=lambda s: given_of_blocks(line, s),
        batches=lambda s: -(-s[BLOCKS] // _AT_ONCE),
        rows=lambda s, batch: _rows(line, s, batch),
        tasks=tasks,
        units=lambda rows: sum(len(row[2]) for row in rows) * (1 + rounds) // _BYTES,
    )


def _rows(line: Line, state: State, batch: int) -> exp.Select:
    tree = query(
        "select p.block, p.first, p.cells from p where p.block >= :first and p.block < :next"
        " order by p.block",
        {"p": state.work(PACKED)},
        first=num(batch * _AT_ONCE),
        next=num((batch + 1) * _AT_ONCE),
    )
    return tree.select(*[col(f"values{j}", "p") for j in line.sensitive])


def _classes(line: Line, state: State) -> exp.Select:
    """(gid, codes, w) of every cell that is in a class."""
    labels = query(
        "select t.block, t.first + x.place - 1 as unit, x.label from t"
        " cross join lateral unnest(t.labels) with ordinality as x(label, place)",
        {"t": state.work(_LABELS)},
    )
    tree = query(
        "select :gid as gid, l.w from x join l on l.unit = x.unit where x.label >= 0",
        {"x": labels, "l": state.work(LINE)},
        gid=paired(col("block", "x"), col("label", "x")),
    )
    return tree.select(*[col(name, "l") for name in codes_of(line.spec)])


METHOD = Method(OneDimensional, CLASSES, partition_steps)
