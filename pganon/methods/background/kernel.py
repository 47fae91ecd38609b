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
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.facts import value_count
from pganon.encode.work import codes_of
from pganon.forms.work import QI_CELLS
from pganon.methods.background.neighbours import joined_check, neighbours, pairs_check
from pganon.methods.background.prior_facts import needs_equality
from pganon.policy.knowledge import Kernel
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, fragment, named, num, query
from pganon.steps import DropTables, State, Step, table

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
