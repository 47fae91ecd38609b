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

The tables of the relaxed variant are in :mod:`pganon.methods.classes.one_dimensional.dealt`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.facts import KEPT
from pganon.encode.work import codes_of
from pganon.forms.facts import SUPPRESSED
from pganon.forms.work import DEALT, GROUPED
from pganon.methods.classes.cells import cell_steps
from pganon.methods.classes.leaving import leaves_outliers_out, outliers_allowed, records_of_cells
from pganon.methods.classes.one_dimensional.dealt import OF_RUNS, dealt_steps, runs_in_classes
from pganon.methods.classes.one_dimensional.equal import one_of_equal
from pganon.methods.classes.one_dimensional.layout import (
    Layout,
    given_of_blocks,
    given_of_sample,
    given_of_values,
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
from pganon.methods.classes.one_dimensional.search_input import PACKED, blocks, sample
from pganon.methods.classes.one_dimensional.tasks import Added, Block, Order
from pganon.methods.classes.one_dimensional.units import records_of, units_of
from pganon.methods.common.base import Method
from pganon.methods.common.form.class_description import CLASSES
from pganon.methods.common.pairs import paired
from pganon.methods.common.suppression import suppressed_check
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, num, query
from pganon.steps import Scope, Search, State, Step, table
from pganon.steps.facts import RECORDS
from pganon.steps.tasks import Task

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
        return [Order(layout, problem, units_of(line, state, given, row)) for row in rows]

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
        return [Added(Layout.of(line, state, given, apart=apart))]

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
                Block(
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
