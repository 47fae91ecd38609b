"""The prior of every record: what readers are assumed to know from its quasi-identifiers.

    value_cells    (cell, c<i>.., value, n)    records by quasi-identifiers and sensitive value
    cell_weights   (cell, weights)             in proportion to the probabilities of a prior
    cell_priors    (cell, probabilities)

Where the weights come from is in `kernel`, `coarse` and `given`.

    coarse_cells   (cell, coarse)              the coarse cell of every cell
    coarse_values  (coarse, value, n)

A coarse cell has intervals of equal width for numbers and dates, and ancestors on a level for
leaves of a hierarchy. Other values and NULL stand by themselves. Some pseudo-records with the
distribution of the whole are added to every coarse cell.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis, axes
from pganon.encode.facts import has_null
from pganon.encode.work import CODED, codes_of, sensitive_values
from pganon.forms.work import CELL_VECTORS, QI_CELLS, VECTORS
from pganon.methods.background.arrays import shares
from pganon.methods.background.given_priors import given_steps
from pganon.methods.background.kernel import kernel_steps
from pganon.methods.background.prior_facts import NUMBER_OF_CELLS, NUMBER_OF_VECTORS, UNEXPECTED
from pganon.policy.knowledge import Cells
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, computed_once, fragment, named, num, query
from pganon.steps import Check, Scope, State, Step, table


def coarse_steps(spec: ReleaseSpec, cells: Cells) -> list[Step]:
    """From `value_cells` to `cell_weights`."""
    return [
        table(
            "coarse_cells",
            "the cell of a coarse grid that every combination is in",
            lambda s: _coarse(spec, cells, s),
        ),
        table(
            "coarse_values",
            "records by coarse cell and sensitive value",
            lambda s: query(
                "select c.coarse, v.value, sum(v.n)::float8 as n from v"
                " join c on c.cell = v.cell group by c.coarse, v.value",
                {"v": s.work("value_cells"), "c": s.work("coarse_cells")},
            ),
        ),
        table(
            "cell_weights",
            "weights of the sensitive values in every cell",
            lambda s: _weights(spec, cells, s),
            inline=True,
        ),
    ]


def _coarse(spec: ReleaseSpec, cells: Cells, state: State) -> exp.Expr:
    parts = [
        exp.Ordered(this=exp.paren(_part(axis, cells, state))) for axis in axes(spec.attributes)
    ]
    number = exp.Window(this=fragment("dense_rank()"), order=exp.Order(expressions=parts))
    tree = query("select q.cell from q", {"q": state.work(QI_CELLS)})
    return tree.select(named(number, "coarse"))


def _part(axis: Axis, cells: Cells, state: State) -> exp.Expr:
    """Part of the attribute that a value is in; -1 is that of NULL."""
    name, code = axis.attribute.column.name, col(axis.code, "q")
    if isinstance(axis, TreeAxis):
        return axis.ancestor(state, code, num(min(cells.level_of(name), axis.levels(state))))
    if not isinstance(axis, OrderedAxis):
        return code
    # A position is a quotient of floats: 0.29 * 100 is meant to be 29.
    return fragment(
        "case when :c = 0 then -1 else least(floor(round((:p * :k)::numeric, 9)), :k - 1) end",
        c=code,
        p=axis.position(state, code),
        k=num(cells.intervals_of(name)),
    )


def _weights(spec: ReleaseSpec, cells: Cells, state: State) -> exp.Expr:
    (item,) = spec.sensitive
    weights = query(
        "select x.coarse, array_agg(coalesce(v.n, 0) + :a * :shares[x.value] order by x.value)"
        " as weights from"
        " (select c.coarse, d.code as value from (select distinct c.coarse from c) as c"
        " cross join d) as x"
        " left join v on v.coarse = x.coarse and v.value = x.value group by x.coarse",
        {
            "c": state.work("coarse_cells"),
            "d": state.work(sensitive_values(item.index)),
            "v": state.work("coarse_values"),
        },
        a=exp.Literal.number(repr(cells.pseudo_records)),
        shares=shares(spec, state),
    )
    return query(
        "select c.cell, w.weights from c join w on w.coarse = c.coarse",
        {"c": state.work("coarse_cells"), "w": weights},
    )


DECIMALS = 12
"""Probabilities are rounded, so that no rounding of sums decides which priors are equal."""


def prior_steps(spec: ReleaseSpec) -> list[Step]:
    """From `coded` to the tables of :mod:`pganon.forms.work`.

    No steps where no model of the policy says how far priors may differ.
    """
    declared = spec.background
    if declared is None:
        return []
    knowledge = declared.knowledge
    if knowledge.kernel is not None:
        weights = kernel_steps(spec, knowledge.kernel)
    elif knowledge.cells is not None:
        weights = coarse_steps(spec, knowledge.cells)
    else:
        weights = given_steps(spec)
    steps = [
        table(
            "value_cells",
            "records by quasi-identifiers and sensitive value",
            lambda s: _value_cells(spec, s),
        ),
        table(
            QI_CELLS,
            "combinations of quasi-identifiers",
            lambda s: _cells(spec, s),
            counted=NUMBER_OF_CELLS,
        ),
        *weights,
        *_vector_steps(spec, declared.smoothing),
    ]
    return [Scope("what priors were made from", steps, keeps=[QI_CELLS, VECTORS, CELL_VECTORS])]


def _value_cells(spec: ReleaseSpec, state: State) -> exp.Expr:
    (item,) = spec.sensitive
    value = col(f"s{item.index}", "c")
    held = [col(code, "c") for code in codes_of(spec)]
    counted = query("select count(*) as n from c", {"c": state.work(CODED)})
    counted = counted.select(*held, named(value, "value"))
    counted = counted.group_by(*[code.copy() for code in held], value.copy())
    number = exp.Window(this=fragment("dense_rank()"), order=_order(spec, state, "g"))
    return query("select :cell as cell, g.* from g", {"g": counted}, cell=cast(number, "integer"))


def _order(spec: ReleaseSpec, state: State, table: str) -> exp.Order:
    """Of the codes, NULL last."""
    keys: list[exp.Expr] = []
    for attribute in spec.attributes:
        code = col(f"c{attribute.index}", table)
        if state[has_null(attribute.index)]:
            keys.append(exp.Ordered(this=fragment(":c = 0", c=code.copy())))
        keys.append(exp.Ordered(this=code))
    return exp.Order(expressions=keys)


def _cells(spec: ReleaseSpec, state: State) -> exp.Expr:
    keys = [col("cell", "v"), *[col(code, "v") for code in codes_of(spec)]]
    tree = query("select sum(v.n)::bigint as n from v", {"v": state.work("value_cells")})
    return tree.select(*keys).group_by(*[key.copy() for key in keys])


def _vector_steps(spec: ReleaseSpec, smoothing: float) -> list[Step]:
    return [
        table(
            "cell_priors", "the prior of every combination", lambda s: _priors(spec, s, smoothing)
        ),
        table(
            VECTORS,
            "distinct priors",
            lambda s: query(
                "select row_number() over (order by d.first)::int as vector, d.probabilities from"
                " (select p.probabilities, min(p.cell) as first from p group by p.probabilities)"
                " as d",
                {"p": s.work("cell_priors")},
            ),
            counted=NUMBER_OF_VECTORS,
        ),
        table(
            CELL_VECTORS,
            "which prior every combination has",
            lambda s: query(
                "select p.cell, v.vector from p join v on v.probabilities = p.probabilities",
                {"p": s.work("cell_priors"), "v": s.work(VECTORS)},
            ),
        ),
        *([_unexpected_check(spec)] if spec.prior is not None else []),
    ]


def _unexpected_check(spec: ReleaseSpec) -> Step:
    """An estimate gives every value that occurs some probability, a relation need not."""
    return Check(
        "unexpected",
        "records whose value has probability 0",
        lambda s: query(
            "select coalesce(sum(v.n), 0)::bigint as unexpected from v"
            " join p on p.cell = v.cell where p.probabilities[v.value] = 0",
            {"v": s.work("value_cells"), "p": s.work("cell_priors")},
        ),
        gives=[UNEXPECTED],
    )


def _priors(spec: ReleaseSpec, state: State, smoothing: float) -> exp.Expr:
    probability = fragment("x.weight / w.total")
    if smoothing:
        probability = fragment(
            "(1 - :eps) * :p + :eps * coalesce(:shares[x.value], 0)",
            eps=exp.Literal.number(repr(smoothing)),
            p=probability,
            shares=shares(spec, state),
        )
    rounded = fragment(":p::numeric", p=probability)
    rounded = fragment("round(:p, :d)::float8", p=rounded, d=num(DECIMALS))
    summed = query(
        "select w.cell, w.weights,"
        " (select sum(u.w) from unnest(w.weights) as u(w)) as total from w",
        {"w": state.work("cell_weights")},
    )
    return query(
        "select w.cell, (select array_agg(:p order by x.value)"
        " from unnest(w.weights) with ordinality as x(weight, value)) as probabilities from w",
        {"w": computed_once(summed)},
        p=rounded,
    )
