"""Priors estimated from the source by a product kernel (Nadaraya-Watson).

    neighbours<i>  (q, c, k)           codes of attribute i with the weight of c as seen from q
    begun<i>       (c<i>.., c, k)      the same as seen from what cells are up to attribute i
    smoothed<i>    (c<i>.., part, w..) what is left to be smoothed after i attributes

The weight of cell c for the prior of cell q is the product of Epanechnikov kernels
1 - (distance / bandwidth)^2 of all attributes, 0 where a distance reaches its bandwidth. Li, Li and
Zhang, "Modeling and integrating background knowledge in data anonymization", ICDE 2009.

Sums over products are sums over one attribute after the other. After some attributes a row stands
for the part of a cell that has been smoothed, seen from q, and for the part that has not, of c.
Weights of the sensitive values are columns side by side, a hundred in a row: joins and sums then go
over few rows. Rows differ by their `part` of the values.

Distances are from 0 to 1: of ordered values by their positions, of leaves of a hierarchy by the
height of their lowest common ancestor; NULL is as far as can be from every value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis, axes
from pganon.encode.facts import value_count
from pganon.encode.work import codes_of
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.forms.work import QI_CELLS
from pganon.identifiers import quote
from pganon.methods.background.prior_facts import needs_equality
from pganon.policy.knowledge import Kernel
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, equal, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, DropTables, State, Step, table
from pganon.steps.facts import Fact, count

MOST_PAIRS = 50_000_000
"""Cells times values near them, of one attribute: beyond, tables would fill disks."""

MOST_SUMS = 250_000_000
"""Combinations near each other in an attribute, times sensitive values: about a minute's work."""

Smoothed = tuple[Axis, float]
"""An attribute with its bandwidth."""


def pairs_check(smoothed: Sequence[Smoothed]) -> Check:
    """Refuses attributes of which too many values are near each other."""
    return Check(
        "pairs",
        "how many values are near each other",
        lambda s: exp.select(*[_pairs(axis, s, width) for axis, width in smoothed]),
        lambda row, state: _problem(smoothed, row),
        gives=[_pairs_of(axis) for axis, _ in smoothed],
        guards=True,
    )


def joined_check(
    axis: Axis, joined: Callable[[State], exp.Select], values: Callable[[State], int]
) -> Check:
    """Refuses where combinations that are near in several attributes are too many.

    Args:
        joined: SELECT of their number as seen up to the attribute.
        values: number of sensitive values.
    """
    fact = count(f"joined{axis.index}")
    return Check(
        f"joined{axis.index}",
        "how many combinations are near each other",
        lambda s: exp.select(named(scalar(joined(s)), fact.column)),
        lambda row, state: _too_many(axis, row[fact.column], values(state)),
        gives=[fact],
        guards=True,
    )


def _too_many(axis: Axis, pairs: int, values: int) -> PganonError | None:
    if pairs * values <= MOST_SUMS:
        return None
    return PreconditionError(
        "the quasi-identifiers have so many different combinations that a kernel would have to add"
        f" up {pairs} pairs of them for column {quote(axis.attribute.column.name)}, each with"
        f" {values} sensitive values",
        hint="round numbers and dates in a view, lower bandwidths, or estimate priors by"
        " knowledge: {cells: {}}",
        code=ErrorCode.TOO_MANY_PAIRS,
    )


def neighbours(axis: Axis, state: State, bandwidth: float) -> exp.Expr:
    """SELECT q, c, k: codes with the Epanechnikov weight of c as seen from q."""
    width = _literal(bandwidth)
    parts = [_near(axis, state, width)]
    if axis.has_null(state):
        parts.append(query("select 0 as q, 0 as c, 0::float8 as u"))
        if bandwidth > 1:
            parts += [
                query(
                    "select :q as q, :c as c, 1 / :b as u from d where d.code > 0",
                    {"d": axis.dictionary(state)},
                    q=q,
                    c=c,
                    b=width.copy(),
                )
                for q, c in ((num(0), col("code", "d")), (col("code", "d"), num(0)))
            ]
    return query("select n.q, n.c, 1 - n.u * n.u as k from n where n.u < 1", {"n": stacked(parts)})


def _literal(number: float) -> exp.Expr:
    return cast(exp.Literal.number(repr(number)), "float8")


_ORDERED = """
    select a.code as q, b.code as c, abs(a.position - b.position) / :b as u
    from a cross join generate_series(-1, 1) as o(o)
    join b on floor(b.position / :b)::int = floor(a.position / :b)::int + o.o
    where a.code > 0 and b.code > 0
"""
"""Values nearer than a bandwidth are in the same stretch of that width, or in the next one."""

_TREE = """
    select a.code as q, b.code as c, min(a.level)::float8 / :h / :b as u
    from a join b on b.level = a.level and b.lo = a.lo
    where a.level::float8 / :h < :b group by 1, 2
"""

_NOMINAL = """
    select a.code as q, b.code as c, (a.code <> b.code)::int / :b as u from a cross join b
    where a.code > 0 and b.code > 0
"""


def _near(axis: Axis, state: State, width: exp.Expr) -> exp.Select:
    """(q, c, u): values with their distance over the bandwidth, at least all that are below 1."""
    if isinstance(axis, TreeAxis):
        levels = {"a": axis.table(state), "b": axis.table(state)}
        return query(_TREE, levels, h=num(max(axis.levels(state), 1)), b=width)
    values = {"a": axis.dictionary(state), "b": axis.dictionary(state)}
    return query(_ORDERED if isinstance(axis, OrderedAxis) else _NOMINAL, values, b=width)


def _pairs_of(axis: Axis) -> Fact[int]:
    return count(f"pairs{axis.index}")


def _pairs(axis: Axis, state: State, bandwidth: float) -> exp.Expr:
    near = query(
        "select coalesce(sum(f.n), 0)::bigint from q join f on f.code = :c",
        {"q": state.work(QI_CELLS), "f": _number_near(axis, state, _literal(bandwidth))},
        c=col(axis.code, "q"),
    )
    return named(scalar(near), _pairs_of(axis).column)


def _number_near(axis: Axis, state: State, width: exp.Expr) -> exp.Select:
    """(code, n): how many values are nearer to a value than the bandwidth, or just as near."""
    if isinstance(axis, TreeAxis):
        return query(
            "select l.code, max(l.hi - l.lo + 1) as n from l"
            " where l.level::float8 / :h < :b group by l.code",
            {"l": axis.table(state)},
            h=num(max(axis.levels(state), 1)),
            b=width,
        )
    values = {"d": axis.dictionary(state)}
    if not isinstance(axis, OrderedAxis):
        return query("select d.code, count(*) over () as n from d where d.code > 0", values)
    return query(
        "select d.code, count(*) over (order by d.position range between :b preceding and"
        " :b following) as n from d where d.code > 0",
        values,
        b=width,
    )


def _problem(smoothed: Sequence[Smoothed], row: Mapping[str, Any]) -> PganonError | None:
    for axis, _ in smoothed:
        pairs = row[_pairs_of(axis).column]
        if pairs > MOST_PAIRS:
            return PreconditionError(
                f"column {quote(axis.attribute.column.name)} has so many different values that a"
                f" kernel would have to compare {pairs} pairs of a combination and a value",
                hint="round it in a view, lower its bandwidth, or estimate priors by"
                " knowledge: {cells: {}}",
                code=ErrorCode.TOO_MANY_PAIRS,
            )
    return None


SIDE_BY_SIDE = 100
"""Sensitive values in a row; a row of doubles has to fit in a page."""


def kernel_steps(spec: ReleaseSpec, kernel: Kernel) -> list[Step]:
    """From `value_cells` to `cell_weights`."""
    return _Smoothing(spec, kernel).steps()


class _Smoothing:
    def __init__(self, spec: ReleaseSpec, kernel: Kernel) -> None:
        self.spec = spec
        self.kernel = kernel
        self.axes = [a for a in axes(spec.attributes) if not needs_equality(kernel, a.attribute)]

    def _bandwidth(self, axis: Axis) -> float:
        return self.kernel.bandwidth_of(axis.attribute.column.name)

    def steps(self) -> list[Step]:
        smoothed = [(axis, self._bandwidth(axis)) for axis in self.axes]
        steps: list[Step] = [
            *([pairs_check(smoothed)] if smoothed else []),
            table(
                "smoothed0", "records of every sensitive value by quasi-identifiers", self._counted
            ),
        ]
        for number, _ in enumerate(self.axes):
            steps += self._smooth(number)
        last = len(self.axes)
        return [
            *steps,
            table(
                "cell_weights",
                "weights of the sensitive values in every cell",
                lambda s: self._weights(s, last),
                inline=True,
            ),
        ]

    def _smooth(self, number: int) -> list[Step]:
        """The attribute of this number."""
        axis = self.axes[number]
        near, begun = f"neighbours{axis.index}", f"begun{axis.index}"
        before, after = f"smoothed{number}", f"smoothed{number + 1}"
        return [
            table(
                near,
                "which values are near each other",
                lambda s: neighbours(axis, s, self._bandwidth(axis)),
            ),
            # Stored, so that the planner knows how many there are.
            table(
                begun,
                "what is near as seen from what cells begin with",
                lambda s: self._begun(s, number),
            ),
            joined_check(axis, lambda s: self._joined(s, number), self._values),
            table(after, "what is near counts", lambda s: self._smoothed(s, number)),
            DropTables(
                "tidy",
                "what was smoothed",
                lambda s: [s.work(name) for name in (near, begun, before)],
            ),
        ]

    def _values(self, state: State) -> int:
        (item,) = self.spec.sensitive
        return state[value_count(item.index)]

    def _names(self, state: State) -> list[str]:
        """Columns of weights."""
        return [f"w{place}" for place in range(1, min(self._values(state), SIDE_BY_SIDE) + 1)]

    def _counted(self, state: State) -> exp.Expr:
        placed = query(
            "select v.*, (v.value - 1) / :most as part, (v.value - 1) % :most + 1 as place from v",
            {"v": state.work("value_cells")},
            most=num(SIDE_BY_SIDE),
        )
        keys = [col(name, "v") for name in (*codes_of(self.spec), "part")]
        weights = [
            named(
                fragment("coalesce(sum(v.n) filter (where v.place = :p), 0)::float8", p=num(place)),
                name,
            )
            for place, name in enumerate(self._names(state), start=1)
        ]
        tree = query("select 1 from v", {"v": placed}).select(*keys, *weights, append=False)
        return tree.group_by(*[key.copy() for key in keys])

    def _removed(self, number: int) -> list[str]:
        """Codes of the attributes that come later."""
        return [axis.code for axis in self.axes[number + 1 :]]

    def _seen(self, number: int) -> list[str]:
        """All others: up to an attribute, and those of which only equal values count."""
        removed = self._removed(number)
        return [code for code in codes_of(self.spec) if code not in removed]

    def _begun(self, state: State, number: int) -> exp.Expr:
        axis = self.axes[number]
        begun = query("select distinct 1 from q", {"q": state.work(QI_CELLS)})
        begun = begun.select(*[col(code, "q") for code in self._seen(number)], append=False)
        tree = query(
            "select k.c, k.k from b join k on k.q = :q",
            {"b": begun, "k": state.work(f"neighbours{axis.index}")},
            q=col(axis.code, "b"),
        )
        return tree.select(*[col(code, "b") for code in self._seen(number)])

    def _seen_before(self, number: int) -> list[str]:
        """Codes that are seen already before an attribute."""
        return [code for code in self._seen(number) if code != self.axes[number].code]

    def _meet(self, number: int) -> exp.Expr:
        """Condition that the remaining codes of cell `t` are near the first codes of cell `b`."""
        exact = self._seen_before(number)
        near = exp.EQ(this=col("c", "b"), expression=col(self.axes[number].code, "t"))
        return exp.and_(near, *([equal(exact, "b", "t")] if exact else []))

    def _joined(self, state: State, number: int) -> exp.Select:
        """How many rows :meth:`_smoothed` adds up."""
        axis = self.axes[number]
        sides = {"b": f"begun{axis.index}", "t": f"smoothed{number}"}
        counted: dict[str, exp.Select] = {}
        for alias, code in (("b", "c"), ("t", axis.code)):
            keys = [col(name, "x") for name in (*self._seen_before(number), code)]
            tree = query("select count(*) as n from x", {"x": state.work(sides[alias])})
            counted[alias] = tree.select(*keys).group_by(*[key.copy() for key in keys])
        return query(
            "select coalesce(sum(b.n * t.n), 0)::bigint from b join t on :meet",
            counted,
            meet=self._meet(number),
        )

    def _smoothed(self, state: State, number: int) -> exp.Expr:
        """Rows of cells that begin alike, seen from the beginnings that exist."""
        axis = self.axes[number]
        tree = query("select 1 from t", {"t": state.work(f"smoothed{number}")})
        tree = tree.join(aliased(state.work(f"begun{axis.index}"), "b"), on=self._meet(number))
        keys = [col(code, "b") for code in self._seen(number)]
        keys += [col(name, "t") for name in (*self._removed(number), "part")]
        sums = [
            named(fragment("sum(b.k * :w)", w=col(name, "t")), name) for name in self._names(state)
        ]
        tree = tree.select(*keys, *sums, append=False)
        return tree.group_by(*[key.copy() for key in keys])

    def _weights(self, state: State, last: int) -> exp.Expr:
        """Parts that a cell has nothing of have no row."""
        names = self._names(state)
        pairs = query(
            "select x.cell, array_agg(:w order by x.part) as weights from"
            " (select q.*, p.part from q cross join generate_series(0, :last) as p(part)) as x"
            " left join t on t.part = x.part and :same group by x.cell",
            {"q": state.work(QI_CELLS), "t": state.work(f"smoothed{last}")},
            w=exp.Array(expressions=[fragment("coalesce(:w, 0)", w=col(n, "t")) for n in names]),
            last=num((self._values(state) - 1) // SIDE_BY_SIDE),
            same=equal(codes_of(self.spec), "x", "t"),
        )
        return query(
            "select f.cell, array(select u.w from unnest(f.weights) with ordinality as u(w, i)"
            " where u.i <= :m order by u.i) as weights from f",
            {"f": pairs},
            m=num(self._values(state)),
        )
