"""The method `slicing`: its steps of a plan, and its form.

Li, Li, Zhang and Molloy: Slicing, a new approach for privacy preserving data publishing, TKDE 2012.

    judged    (rid, beside, c<i>, s<j>)        records; `beside` numbers their quasi-identifiers in
                                               the sensitive column
    cells_0   (node, c<i>, beside, s<j>, w)    equal records
    gathered  (gid, c<i>)                      the codes of every bucket

:mod:`pganon.methods.common.rounds` has the rounds, :mod:`pganon.methods.buckets.slicing` the
rule.

A bucket is cut at the lower median of the attribute with the largest normalized width among those
that the median divides, the first of equals. If a half violates the requirement, the bucket stays
whole; other attributes are not tried (Li et al. 2012). NULL is last.

The requirement is on every bucket: for each combination of quasi-identifiers in the sensitive
column, a sensitive value has at most 1/l of the bucket's records with it. The paper's p(t, v) is a
mean of these shares over the buckets that a tuple matches. So it is at most 1/l for every tuple,
fake ones included, and also for a reader who knows the bucket of a tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.work import CODED
from pganon.forms.work import GROUPED
from pganon.identifiers import quote
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.slicing.options import Slicing
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.association import association, matrix, quasi_columns, sensitive_columns
from pganon.methods.common.base import Method
from pganon.methods.common.bucket_options import most_tables
from pganon.methods.common.context import MethodContext
from pganon.methods.common.division import divided, mixed_scales, quasi_scales, sensitive_scales
from pganon.methods.common.eligibility import ALL, Eligibility, combination_number
from pganon.methods.common.rounds.median import MedianCuts
from pganon.methods.common.rounds.rounds import CutRounds, start_step
from pganon.methods.common.rounds.rule import at, round_table
from pganon.methods.common.search.clustering import clustered, sensitive_column
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.sqltools import col, equal, fragment, num, query
from pganon.steps import Check, CreateTable, Scope, State, Step, table
from pganon.steps.facts import Facts, label, or_null

SlicingContext = MethodContext[Slicing]


_ASSOCIATION = or_null(label("association"))
"""The association matrix of the quasi-identifiers and the sensitive attribute, which is the last.
"""

Columns = tuple[Sequence[Sequence[Attribute]], Sequence[Attribute]]
"""Quasi-identifiers of every column, and those beside the sensitive attribute."""


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """The tables of a release; attributes are in the order of the policy until associated."""
    columns, beside = _columns(SlicingContext(spec), state.facts.get(_ASSOCIATION))
    return arranged(spec, columns, [spec.sensitive], sliced=True, beside=beside)


def _columns(context: SlicingContext, observed: str | None) -> Columns:
    options, quasi, item = context.options, context.spec.attributes, context.sensitive
    last = len(quasi)
    if isinstance(options.columns, tuple) or (observed is not None and options.alpha is None):
        every: tuple[Attribute | Sensitive, ...] = (*quasi, item)
        found = [
            [one for one in table if isinstance(one, Attribute)]
            for table in sorted(
                divided(options.columns, every, observed, options.clustering),
                key=lambda table: item in table,
            )
        ]
        return found[:-1], found[-1]
    if observed is None or options.alpha is None:
        count = max(most_tables(options.columns, last + 1) - 1, 1)
        return [quasi[i::count] for i in range(count)], []
    values = matrix(observed, last + 1)
    beside = list(sensitive_column(values[last][:last], options.alpha))
    rest = [i for i in range(last) if i not in beside]
    inner = [[values[i][j] for j in rest] for i in rest]
    count = options.columns if options.columns == "auto" else min(options.columns - 1, len(rest))
    clusters = clustered(inner, count, options.clustering)
    return [[quasi[rest[i]] for i in cluster] for cluster in clusters], [quasi[i] for i in beside]


def static_columns(spec: ReleaseSpec) -> bool:
    """Whether the policy alone decides the columns of the attributes."""
    return isinstance(SlicingContext(spec).options.columns, tuple)


def column_steps(context: SlicingContext) -> list[Step]:
    """The step that observes associations, where the policy does not list the columns."""
    spec = context.spec
    if static_columns(spec):
        return []
    return [
        Check(
            "association",
            "how much attributes have to do with each other",
            lambda s: association(
                s.work(CODED),
                [*quasi_columns(spec, s), *sensitive_columns(spec)],
                context.options.association,
            ),
            gives=[_ASSOCIATION],
        )
    ]


@dataclass(frozen=True, kw_only=True)
class SlicingCuts(MedianCuts):
    """The rule for cells with `beside`, the number of their combination, and a sensitive value.

    Attributes:
        further: the names of these two columns.
        l: least ratio of the records of a combination to those with its most frequent value.
    """

    l: int  # noqa: E741 (the field's own letter)

    @property
    def kept(self) -> list[str]:
        return []

    @property
    def fewest_right(self) -> int:
        return 1

    def code_key(self, axis: Axis, state: State, code: exp.Expr, level: exp.Expr) -> exp.Expr:
        if not axis.has_null(state):
            return code
        return fragment("coalesce(nullif(:c, 0), :last)", c=code, last=num(axis.size(state) + 1))

    def cutting(self) -> list[CreateTable]:
        sides = round_table("sides", "whether both halves satisfy the requirement", self.sides)
        return [*super().cutting(), sides]

    def cuts(self, state: State) -> exp.Select:
        return query(
            "select b.* from best as b join sides as s on s.node = b.node where s.allowed",
            at(state, "best", "sides"),
        )

    def untried(self, state: State) -> exp.Select:
        """Untried nodes that no median divides; others are cut at their median or stay whole."""
        return query(
            "select t.node, t.more from t where not exists"
            " (select 1 from sides as s where s.node = t.node)",
            {"t": super().untried(state), **at(state, "sides")},
        )

    def sides(self, state: State) -> exp.Select:
        """(node, allowed) of every bucket that a median divides."""
        beside, value = self.further
        halves = query(
            "select c.node, :left as side, :beside as beside, :value as value, sum(c.w) as n"
            " from cells as c join t on t.node = c.node group by 1, 2, 3, 4",
            {"t": self.competing(state, super().cuts(state)), **at(state, "cells")},
            left=self.is_left(state, "t"),
            beside=col(beside, "c"),
            value=col(value, "c"),
        )
        worst = query(
            "select h.node, h.side, h.beside, sum(h.n) as n, max(h.n) * :l <= sum(h.n) as holds"
            " from h group by h.node, h.side, h.beside",
            {"h": halves},
            l=num(self.l),
        )
        sized = query(
            "select w.node, w.side, sum(w.n) >= :smallest and bool_and(w.holds) as holds from w"
            " group by w.node, w.side",
            {"w": worst},
            smallest=num(self.minimum_size),
        )
        return query(
            "select z.node, bool_and(z.holds) as allowed from z group by z.node", {"z": sized}
        )


def eligibility(context: SlicingContext) -> Eligibility:
    """Records with the same quasi-identifiers in the sensitive column are a stratum."""
    frequency = context.frequency(context.sensitive.index, context.l)
    return Eligibility(
        spec=context.spec,
        first=lambda s: s.work("judged"),
        keep=lambda s: ["beside", *context.codes, context.value],
        conditions=lambda s: [frequency],
        model="slicing_l_diversity",
        stratum="beside",
        among=lambda s: _stratum(context, s),
        remedy=lambda s: _remedy(context, s),
    )


def _remedy(context: SlicingContext, state: State) -> str | None:
    """A hint to publish the sensitive column alone, so that all records are one stratum."""
    if not arrangement(context.spec, state).sensitive[0].attributes:
        return None
    if isinstance(context.options.columns, tuple):
        return "list the sensitive column alone under columns"
    return "publish the sensitive column alone with alpha: 1"


def _stratum(context: SlicingContext, state: State) -> str:
    beside = arrangement(context.spec, state).sensitive[0].attributes
    names = ", ".join(quote(attribute.column.name) for attribute in beside)
    return f"records with the same {names}, which the sensitive column holds" if names else ALL


def tree_steps(context: SlicingContext) -> list[Step]:
    """From the encoded records to the bucket of every record."""
    rule = SlicingCuts(
        axes=context.axes,
        minimum_size=context.spec.minimum_size,
        further=("beside", context.value),
        l=context.l,
    )
    first = table("judged", "records with what buckets are judged by", lambda s: _coded(context, s))
    return [
        first,
        *eligibility(context).steps(),
        table(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: _cells(context, s),
            later=0,
        ),
        start_step(rule.axes),
        *CutRounds(
            rule, "cut every bucket where both halves satisfy the requirement", "gathered"
        ).steps(),
        table(
            "grouped", "the bucket of every record", lambda s: _grouped(context, s), into=GROUPED
        ),
    ]


def _coded(context: SlicingContext, state: State) -> exp.Expr:
    beside = [
        col(f"c{attribute.index}", "c")
        for attribute in arrangement(context.spec, state).sensitive[0].attributes
    ]
    names = ["rid", *context.codes, context.value]
    tree = query(
        "select :n as beside from c", {"c": state.work(CODED)}, n=combination_number(beside)
    )
    return tree.select(*[col(name, "c") for name in names])


def _cells(context: SlicingContext, state: State) -> exp.Expr:
    keys = [col(name, "k") for name in ("beside", *context.codes, context.value)]
    tree = query("select 1 as node, count(*) as w from k", {"k": eligibility(context).kept(state)})
    return tree.select(*keys).group_by(*[key.copy() for key in keys])


def _grouped(context: SlicingContext, state: State) -> exp.Expr:
    buckets = query("select distinct g.gid from g", {"g": state.work("gathered")})
    return query(
        "select k.rid, b.gid as b0 from k join b on :same",
        {
            "k": eligibility(context).kept(state),
            "b": buckets.select(*[col(code, "g") for code in context.codes]),
        },
        same=equal(context.codes, "b", "k"),
    )


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to the bucket of every record."""
    context = SlicingContext(spec)
    steps = [*column_steps(context), *tree_steps(context)]
    return (Scope("what the buckets were made from", steps, keeps=[GROUPED]),)


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about associations between columns of different scales."""
    options = SlicingContext(spec).options
    lists = isinstance(options.columns, tuple)
    compared = [] if lists else [[*quasi_scales(spec), *sensitive_scales(spec)]]
    return mixed_scales(options.association, compared)


METHOD = Method(
    Slicing,
    anatomized(arrangement, groups="buckets", static_columns=static_columns, warnings=warnings),
    partition_steps,
)
