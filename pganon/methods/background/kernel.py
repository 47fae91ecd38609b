"""Priors estimated from the source by a product kernel (Nadaraya-Watson).

    neighbours<i>  (q, c, k)           codes of attribute i with the weight of c as seen from q
    smoothed<i>    (c<i>.., w..)       what is left to be smoothed after i attributes

The weight of cell c for the prior of cell q is the product of Epanechnikov kernels
1 - (distance / bandwidth)^2 of all attributes, 0 where a distance reaches its bandwidth. Li, Li and
Zhang, "Modeling and integrating background knowledge in data anonymization", ICDE 2009.

Sums over products are sums over one attribute after the other. After some attributes a row stands
for the part of a cell that has been smoothed, seen from q, and for the part that has not, of c.
Weights of the sensitive values are columns side by side as long as there are few values: joins then
move as few rows as there are combinations.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis, axes
from pganon.encode.facts import value_count
from pganon.encode.work import codes_of
from pganon.methods.background.arrays import codes, whole_arrays
from pganon.policy.knowledge import Kernel
from pganon.published.work import QI_CELLS
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, equal, fragment, named, num, query, stacked
from pganon.steps import CreateTable, DropTables, State, Step

SIDE_BY_SIDE = 100
"""Sensitive values that have a column each; of more every value has a row."""


def kernel_steps(spec: ReleaseSpec, kernel: Kernel) -> list[Step]:
    """From `value_cells` to `cell_weights`."""
    return _Smoothing(spec, kernel).steps()


class _Smoothing:
    def __init__(self, spec: ReleaseSpec, kernel: Kernel) -> None:
        self.spec = spec
        self.kernel = kernel
        self.axes = [axis for axis in axes(spec.attributes) if not self._tells_apart(axis)]

    def _bandwidth(self, axis: Axis) -> float:
        return self.kernel.bandwidth_of(axis.attribute.column.name)

    def _tells_apart(self, axis: Axis) -> bool:
        """Whether only equal values count."""
        return isinstance(axis, NominalAxis) and self._bandwidth(axis) <= 1

    def steps(self) -> list[Step]:
        steps: list[Step] = [
            CreateTable(
                "smoothed0",
                "records of every sensitive value by quasi-identifiers",
                lambda s: s.work("smoothed0"),
                self._counted,
            )
        ]
        for number, _ in enumerate(self.axes):
            steps += self._smooth(number)
        last = len(self.axes)
        return [
            *steps,
            CreateTable(
                "cell_weights",
                "weights of the sensitive values in every cell",
                lambda s: s.work("cell_weights"),
                lambda s: self._weights(s, last),
            ),
            DropTables("tidy", "what was smoothed", lambda s: [s.work(f"smoothed{last}")]),
        ]

    def _smooth(self, number: int) -> list[Step]:
        """The attribute of this number."""
        axis = self.axes[number]
        neighbours, before = f"neighbours{axis.index}", f"smoothed{number}"
        after = f"smoothed{number + 1}"
        return [
            CreateTable(
                neighbours,
                "which values are near each other",
                lambda s: s.work(neighbours),
                lambda s: _neighbours(axis, s, self._bandwidth(axis)),
            ),
            CreateTable(
                after,
                "what is near counts",
                lambda s: s.work(after),
                lambda s: self._smoothed(s, number),
            ),
            DropTables("tidy", "what was smoothed", lambda s: [s.work(neighbours), s.work(before)]),
        ]

    def _side_by_side(self, state: State) -> bool:
        return self._values(state) <= SIDE_BY_SIDE

    def _values(self, state: State) -> int:
        (item,) = self.spec.sensitive
        return state[value_count(item.index)]

    def _names(self, state: State) -> list[str]:
        """Columns of weights."""
        if not self._side_by_side(state):
            return ["w"]
        return [f"w{value}" for value in range(1, self._values(state) + 1)]

    def _key(self, state: State) -> list[str]:
        return [] if self._side_by_side(state) else ["value"]

    def _counted(self, state: State) -> exp.Expr:
        codes = [col(code, "v") for code in codes_of(self.spec)]
        rows = {"v": state.work("value_cells")}
        if not self._side_by_side(state):
            return query("select v.value, v.n::float8 as w from v", rows).select(*codes)
        weights = [
            named(
                fragment("coalesce(sum(v.n) filter (where v.value = :x), 0)::float8", x=num(value)),
                name,
            )
            for value, name in enumerate(self._names(state), start=1)
        ]
        tree = query("select 1 from v", rows).select(*codes, *weights, append=False)
        return tree.group_by(*[code.copy() for code in codes])

    def _smoothed(self, state: State, number: int) -> exp.Expr:
        """Rows of cells that begin alike, seen from the beginnings that exist."""
        axis = self.axes[number]
        left = [a.code for a in self.axes[number + 1 :]]
        seen = [code for code in codes_of(self.spec) if code not in left]
        known = [code for code in seen if code != axis.code]
        begun = query("select distinct 1 from q", {"q": state.work(QI_CELLS)})
        begun = begun.select(*[col(code, "q") for code in seen], append=False)
        tree = query(
            "select 1 from t join k on k.c = :c",
            {"t": state.work(f"smoothed{number}"), "k": state.work(f"neighbours{axis.index}")},
            c=col(axis.code, "t"),
        )
        near = exp.EQ(this=col(axis.code, "b"), expression=col("q", "k"))
        same = [near, *([equal(known, "b", "t")] if known else [])]
        tree = tree.join(aliased(begun, "b"), on=exp.and_(*same))
        keys = [col(code, "b") for code in seen]
        keys += [col(name, "t") for name in (*left, *self._key(state))]
        sums = [
            named(fragment("sum(k.k * :w)", w=col(name, "t")), name) for name in self._names(state)
        ]
        tree = tree.select(*keys, *sums, append=False)
        return tree.group_by(*[key.copy() for key in keys])

    def _weights(self, state: State, last: int) -> exp.Expr:
        found = {"q": state.work(QI_CELLS), "t": state.work(f"smoothed{last}")}
        same = equal(codes_of(self.spec), "q", "t")
        if self._side_by_side(state):
            weights = exp.Array(expressions=[col(name, "t") for name in self._names(state)])
            return query(
                "select q.cell, :w as weights from q join t on :same", found, w=weights, same=same
            )
        rows = query("select q.cell, t.value, t.w from q join t on :same", found, same=same)
        return whole_arrays(state, codes(self.spec, state), rows)


def _neighbours(axis: Axis, state: State, bandwidth: float) -> exp.Expr:
    """(q, c, k), with distances between 0 and 1; NULL is as far as can be from every value."""
    width = exp.Literal.number(repr(bandwidth))
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
                    b=cast(width.copy(), "float8"),
                )
                for q, c in ((num(0), col("code", "d")), (col("code", "d"), num(0)))
            ]
    return query("select n.q, n.c, 1 - n.u * n.u as k from n where n.u < 1", {"n": stacked(parts)})


def _near(axis: Axis, state: State, width: exp.Expr) -> exp.Select:
    """(q, c, u): values with their distance over the bandwidth."""
    if isinstance(axis, TreeAxis):
        return query(
            "select a.code as q, b.code as c, min(a.level)::float8 / :h / :b as u from a join b"
            " on b.level = a.level and b.lo = a.lo where a.level::float8 / :h < :b group by 1, 2",
            {"a": axis.table(state), "b": axis.table(state)},
            h=num(max(axis.levels(state), 1)),
            b=width,
        )
    distance = fragment("abs(a.position - b.position)")
    if not isinstance(axis, OrderedAxis):
        distance = fragment("(a.code <> b.code)::int")
    return query(
        "select a.code as q, b.code as c, :d / :b as u from a join b on b.code > 0 where a.code > 0"
        " and :d < :b",
        {"a": axis.dictionary(state), "b": axis.dictionary(state)},
        d=cast(distance, "float8"),
        b=width,
    )
