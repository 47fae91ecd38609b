"""The method `mondrian`: top-down partitioning by the cuts that lose least.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006; with the rules
that make it lose least:

- an attribute's cut is the allowable one nearest to balance, over all its values;
- values of a nominal attribute are ordered by their frequency in the group, ties by code;
- with a hierarchy, a cut separates children of the group's lowest common ancestor;
- `choose: width` takes the attribute with the largest normalized width that has an allowable cut;
  `choose: loss` takes, of the three widest that have one, the attribute whose cut leaves the least
  loss over all attributes, a tree counting as if all children of the group's ancestor were apart
  (its first cuts alone never pay). Ties go to the attribute that the policy names first.

A cut is allowable when both sides satisfy every requirement. In the strict variant equal values
stay together; in the relaxed one the value at the median is divided among both sides. Within
`suppression_limit` what makes final classes wide is left out in the end
(:mod:`pganon.methods.classes.mondrian.outliers`).
:mod:`pganon.methods.common.rounds` has the rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import LOSS_DECIMALS, TreeAxis, axes
from pganon.encode.extents import weighted_loss
from pganon.encode.value_codes import valued
from pganon.forms.work import GROUPED, TREE
from pganon.methods.classes.cells import cell_steps, enough_values
from pganon.methods.classes.leaving import leaves_outliers_out, records_of_cells
from pganon.methods.classes.mondrian import cuts, population
from pganon.methods.classes.mondrian.context import CellContext
from pganon.methods.classes.mondrian.gains import Offers
from pganon.methods.classes.mondrian.kept import kept_steps
from pganon.methods.classes.mondrian.merging import LINKS, Undone
from pganon.methods.classes.mondrian.options import Mondrian
from pganon.methods.classes.mondrian.outliers import DIVIDED, Outliers
from pganon.methods.classes.mondrian.population import population_steps
from pganon.methods.common.base import Method
from pganon.methods.common.form.class_description import CLASSES
from pganon.methods.common.rounds.rounds import CutRounds, ranked
from pganon.methods.common.rounds.rule import at, round_table
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import CreateTable, Scope, State, Step


def promised(context: CellContext, state: State) -> exp.Expr:
    """Loss of the cells of a side on the attribute, if that is a tree and is cut to its end.

    A tree pays only when all children of the common ancestor are apart, which takes several cuts,
    so the first of them is judged by what they come to together.
    """
    case = exp.Case(this=col("attr", "r"))
    for axis in context.axes:
        if isinstance(axis, TreeAxis):
            left = axis.child_loss(state, col("v", "r"), col("level", "b"))
            case = case.when(num(axis.index), left)
    loss = case.else_(num(0)) if case.args.get("ifs") else num(0)
    return named(fragment("sum(r.w * :p)", p=loss), "promised")


def least(context: CellContext, state: State) -> exp.Select:
    """(node, attr, level, cum, thr, mask): of the cuts of every group that compete, the one that
    leaves the least loss over all attributes."""
    left_over = query(
        "select e.node, e.attr, round(sum(e.n * :loss + e.promised)::numeric, :digits) as loss"
        " from halves as e group by e.node, e.attr",
        at(state, "halves"),
        loss=exp.paren(weighted_loss(context.axes, state, "e", tried=col("attr", "e"))),
        digits=num(LOSS_DECIMALS),
    )
    least = query(
        "select distinct on (l.node) l.node, l.attr from l order by l.node, l.loss, l.attr",
        {"l": left_over},
    )
    names = ("node", "attr", *context.cut_columns)
    return query(
        "select 1 from b join l on l.node = b.node and l.attr = b.attr",
        {"b": cuts.cuts(context, state), "l": least},
    ).select(*[col(name, "b") for name in names], append=False)


@dataclass(frozen=True)
class BalancedCuts(CellContext):
    """The allowable cut nearest to balance."""

    def cutting(self) -> list[CreateTable]:
        def table(name: str, purpose: str, select: Callable[..., exp.Expr], *given: int):
            return round_table(name, purpose, lambda state: select(self, state, *given))

        in_order = "tried values in cutting order"
        hists = [
            table(f"hist{j}", "records per position and sensitive value", cuts.hist, j)
            for j in self.sensitive
        ]
        nearest = table("best", "the cut nearest to balance", cuts.best)
        if self.relaxed:
            return [
                table("ordered", "records in cutting order", cuts.ordered),
                table("ranked", in_order, cuts.ranked_halves),
                *hists,
                nearest,
            ]
        steps = [table("ranked", in_order, ranked), nearest]
        if not self.conditions and not self.counting:
            return steps
        return [
            *steps,
            *(self._covering("boxes", population.boxes, "counted") if self.counting else []),
            *[
                table(
                    f"certain{j}", "cuts with a cell of values enough on each side", cuts.certain, j
                )
                for j in self.counted
            ],
            *[
                table(f"sides{j}", "sensitive values on both sides", cuts.sides, j)
                for j in self.sensitive
            ],
            table("checked", "whether both sides hold", cuts.checked),
            *hists,
            *(self._covering("spans", population.spans, "around", "pos") if self.counting else []),
            table("searched", "the nearest cut that holds", cuts.searched),
        ]

    def _covering(
        self, name: str, select: Callable[..., exp.Expr], counted: str, *by: str
    ) -> list[CreateTable]:
        keys = ["node", "attr", *by, "side"]
        return [
            round_table(name, "what sides of cuts cover", lambda state: select(self, state)),
            round_table(
                counted,
                "people whom they cover",
                lambda state: population.counted(self, state, state.in_round(name), keys, None),
            ),
        ]

    def following(self) -> list[CreateTable]:
        def select(state: State) -> exp.Expr:
            return population.following(self, state)

        if not self.counting:
            return []
        return [round_table("covered", "people of the groups", select, later=1)]

    def cuts(self, state: State) -> exp.Select:
        return cuts.cuts(self, state)

    def chosen(self, state: State) -> exp.Select:
        return least(self, state) if self.by_loss else super().chosen(state)

    def side_columns(self, state: State) -> list[exp.Expr]:
        return [promised(self, state)] if self.by_loss else []

    def is_left(self, state: State, table: str) -> exp.Expr:
        return cuts.is_left(self, state, table)

    def with_place(self, state: State, tree: exp.Select, table: str) -> exp.Select:
        return cuts.join_order(self, state, tree, table)


def _options(spec: ReleaseSpec) -> Mondrian:
    options = spec.policy.method
    assert isinstance(options, Mondrian)
    return options


def mondrian(spec: ReleaseSpec) -> BalancedCuts:
    options = _options(spec)
    relaxed = options.variant == "relaxed"
    counted = [item.index for item in valued(spec) if enough_values(spec, item) is not None]
    return BalancedCuts(
        axes=axes(spec.attributes),
        requirements=spec.requirements,
        sensitive=tuple(item.index for item in valued(spec)),
        counted=() if relaxed else tuple(counted),
        minimum_size=spec.minimum_size,
        choose=options.choose,
        relaxed=relaxed,
        leaves_out=leaves_outliers_out(spec),
    )


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = mondrian(spec)
    kept = kept_steps(spec, context) if spec.keeps_cuts else ()
    numbered = spec.numbers_records and not context.relaxed
    purpose = "cut every group where both sides keep all requirements"
    cells = GROUPED.name if not numbered else "grouped_cells"
    given = DIVIDED if context.leaves_out or spec.of_release else cells
    tree = spec.of_release or spec.related is not None
    undone = Undone(spec, context, given, cells) if tree else None
    rounds = CutRounds(
        context,
        purpose,
        given,
        after=(*kept, *(undone.after() if undone else ())),
        keeps_nodes=undone is not None,
    )
    steps = [
        *cell_steps(spec),
        *population_steps(context),
        Scope("what the rounds left", rounds.steps(), keeps=[rounds.table, LINKS, TREE]),
    ]
    steps += undone.steps() if undone and spec.of_release else ()
    if context.leaves_out:
        offers = Offers(context, _options(spec).price_of_record)
        steps += Outliers(spec, offers, cells).steps()
    if spec.leaves_surplus_out and numbered:
        steps.append(records_of_cells(spec, cells))
    kept_tables = [GROUPED, *([TREE] if spec.related is not None else [])]
    return (Scope("what the classes were made from", steps, keeps=kept_tables),)


METHOD = Method(Mondrian, CLASSES, partition_steps)
