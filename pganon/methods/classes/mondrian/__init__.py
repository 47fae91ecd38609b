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

from pganon.encode.axis import axes
from pganon.encode.value_codes import valued
from pganon.forms.work import GROUPED, TREE
from pganon.methods.classes.cells import cell_steps, enough_values
from pganon.methods.classes.leaving import leaves_outliers_out, records_of_cells
from pganon.methods.classes.mondrian.gains import Offers
from pganon.methods.classes.mondrian.kept import kept_steps
from pganon.methods.classes.mondrian.merging import LINKS, Undone
from pganon.methods.classes.mondrian.options import Mondrian
from pganon.methods.classes.mondrian.outliers import DIVIDED, Outliers
from pganon.methods.classes.mondrian.population import population_steps
from pganon.methods.classes.mondrian.rule import BalancedCuts
from pganon.methods.common.base import Method
from pganon.methods.common.form.class_description import CLASSES
from pganon.methods.common.rounds.rounds import CutRounds
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Scope, Step


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
