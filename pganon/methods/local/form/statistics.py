"""Statistics of every release of local generalization and bucketization.

Those of all increments of one that grows say nothing of what naive Bayes infers: it is compared
with the values that people hide, and those of earlier increments may have others by now. Which
columns share buckets is said of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.facts import KEPT
from pganon.encode.work import CODED
from pganon.forms.facts import SQUARES, SUPPRESSED
from pganon.forms.form import Whole
from pganon.forms.inference import Inferred
from pganon.forms.shape import Relations
from pganon.forms.utility import Loss, Utility
from pganon.forms.work import GROUP_SIZES, LOCAL_GROUPED
from pganon.identifiers import QualifiedName
from pganon.methods.common.form.recode import EXTENTS
from pganon.methods.local.form import facts, inference
from pganon.methods.local.form.axes import ncp, paper_loss
from pganon.methods.local.form.layout import Layout, forms, shown_letter
from pganon.methods.local.form.shared_buckets import sets
from pganon.methods.local.form.staging import GROUPS, part_of, relations
from pganon.methods.local.local_facts import CELLS, LOSS, PAPER_LOSS, SUPPRESSED_CELLS
from pganon.methods.local.local_names import bucket_column, form_column
from pganon.methods.local.search.subsets import GENERALIZED, WITHHELD
from pganon.metrics.loss import known_loss
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, named, num, query, scalar, text, total
from pganon.steps import Chains, Check, State, Step
from pganon.steps.facts import RECORDS, Fact, Facts


def _measures(
    spec: ReleaseSpec,
    tables: Callable[[State], Relations],
    lost: Callable[[State], QualifiedName],
) -> Sequence[Step]:
    attributes = axes(spec.attributes)
    loss = Check(
        "utility",
        "loss and sizes of the groups of the whole version",
        lambda s: losses_of(attributes, _groups(spec, tables(s), lost(s)), known_loss, s),
        gives=loss_facts(attributes),
    )
    return [loss, *[bucket_check(item, tables) for item in spec.sensitive]]


def _groups(spec: ReleaseSpec, tables: Relations, lost: QualifiedName) -> exp.Select:
    """SELECT of `lost`, with what the groups show of columns that some records hide."""
    layout = Layout(spec)
    tree = query(
        "select l.* from l join g on g.group_id = l.group_id", {"l": lost, "g": tables[GROUPS]}
    )
    for axis in axes(spec.attributes):
        item = layout.hiding(axis.attribute)
        if item is not None:
            tree = tree.select(named(col(form_column(item.published), "g"), form_of(axis)))
    return tree


def whole_utility(spec: ReleaseSpec, facts: Facts) -> LocalUtility:
    """Who is permanently suppressed counts as if they hid nothing: what they hid is not kept."""
    return described(spec, facts, facts[SUPPRESSED] * len(spec.attributes))


WHOLE = Whole(_measures, whole_utility)


@dataclass(frozen=True)
class BucketStatistics:
    """Buckets of one column.

    Attributes:
        cells: values in buckets.
        smallest, largest: cells of a bucket; 0 if there is none.
        share: the largest share of one value in a bucket.
    """

    cells: int
    buckets: int
    smallest: int
    largest: int
    share: float


@dataclass(frozen=True)
class LocalUtility(Utility):
    """Utility of a release of local groups and buckets.

    Attributes:
        gcp: mean loss of the values that are generalized or withheld. Values that a suppressed
            record would show count 1 each; values in buckets do not count.
        ncp: the same per column, over the released records.
        paper_gcp: the same as `gcp` by the loss of the paper, in which d of D unordered values lose
            d / D, and a single one 0.
        discernibility: sum of squared group sizes plus source records per suppressed record.
        buckets: by published column.
        inferred: by published column, inference of hidden values by naive Bayes from the buckets.
        taught: the same from the records that show their value.
        aligned: sets of columns that share buckets.
    """

    paper_gcp: Loss
    discernibility: float
    groups: int
    smallest_group: int
    largest_group: int
    buckets: dict[str, BucketStatistics]
    inferred: dict[str, Inferred]
    taught: dict[str, Inferred]
    aligned: tuple[tuple[str, ...], ...] = ()

    @property
    def number_of_groups(self) -> int:
        return self.groups

    @property
    def most(self) -> Mapping[str, float]:
        return {name: bucket.share for name, bucket in self.buckets.items() if bucket.buckets}

    def summary(self) -> dict[str, str]:
        common = "; ".join(" and ".join(names) for names in self.aligned)
        return {
            "groups": f"{self.groups} of {self.smallest_group} to {self.largest_group} records",
            "GCP": f"{self.gcp:.6f}",
            **{
                f"buckets of {name}": f"{bucket.buckets} of {bucket.smallest} to {bucket.largest}"
                f" values, one of them {bucket.share:.4g} of a bucket at most"
                for name, bucket in self.buckets.items()
            },
            **({"buckets in common": common} if common else {}),
            **{f"inference of {name}": attack.text for name, attack in self.inferred.items()},
            **{f"taught of {name}": attack.text for name, attack in self.taught.items()},
        }

    def details(self) -> dict[str, str]:
        return {
            **self.summary(),
            "GCP of the paper": f"{self.paper_gcp:.6f}",
            "discernibility": f"{self.discernibility:g}",
        }


def measures(layout: Layout) -> Chains:
    """Steps that observe the facts of :func:`utility`."""
    loss = Check(
        "utility",
        "loss and sizes of the groups",
        lambda s: _loss(layout, s),
        gives=[*loss_facts(layout.axes), SUPPRESSED_CELLS],
    )

    def staged(state: State) -> Relations:
        return {r.part: r.staged for r in relations(layout.spec, state)}

    return [
        [loss],
        *[[bucket_check(item, staged)] for item in layout.spec.sensitive],
        *inference.chains(layout),
    ]


def _loss(layout: Layout, state: State) -> exp.Expr:
    groups = query(
        "select e.* from e join d on d.group_id = e.class_id join f on f.display = d.display",
        {
            "e": state.work(EXTENTS),
            "d": state.work(GROUP_SIZES),
            "f": forms(state),
        },
    )
    for axis in layout.axes:
        item = layout.hiding(axis.attribute)
        if item is not None:
            letter = shown_letter(layout, item, col("form", "f"), state)
            groups = groups.select(named(letter, form_of(axis)))
    losses = losses_of(layout.axes, groups, ncp, state)
    return losses.select(named(_suppressed_cells(layout, state), "suppressed_cells"))


def loss_facts(attributes: Sequence[Axis]) -> list[Fact[Any]]:
    """Facts that :func:`losses_of` gives."""
    return [
        *(facts.GROUPS, facts.SMALLEST, facts.LARGEST, SQUARES),
        *(LOSS, PAPER_LOSS, CELLS),
        *[facts.ncp(axis.index) for axis in attributes],
    ]


def form_of(axis: Axis) -> str:
    """Column with the letter of what groups show of an attribute that some records hide."""
    return f"f{axis.index}"


def losses_of(
    attributes: Sequence[Axis],
    groups: exp.Select,
    lost: Callable[[Axis, State, str], exp.Expr],
    state: State,
) -> exp.Select:
    """One row: sizes of the groups, the loss of the values that they show, and their number.

    Args:
        groups: SELECT n, :func:`form_of` the attributes that some records hide, and what `lost`
            reads.
        lost: NCP of what a group shows of an attribute.
    """
    tree = query(
        "select count(*) as groups, min(e.n) as smallest, max(e.n) as largest,"
        " sum(e.n::numeric * e.n)::float8 as squares from e",
        {"e": groups},
    )
    losses: list[exp.Expr] = []
    paper: list[exp.Expr] = []
    shown: list[exp.Expr] = []
    for axis in attributes:
        loss = lost(axis, state, "e")
        losses.append(_summed(axis, loss))
        paper.append(_summed(axis, paper_loss(axis, state, loss)))
        shown.append(_summed(axis, num(1)))
        mean = fragment("coalesce(:l / nullif(:c, 0), 0)", l=losses[-1], c=shown[-1])
        tree = tree.select(named(mean, f"ncp{axis.index}"))
    return tree.select(
        named(total(losses), "loss"),
        named(total(paper), "paper_loss"),
        named(total(shown), "cells"),
    )


def _summed(axis: Axis, each: exp.Expr) -> exp.Expr:
    """Sum over the records of `e`: 1 where the value is withheld, and nothing in a bucket."""
    if axis.attribute.hidden is not None:
        form = col(form_of(axis), "e")
        withheld = exp.EQ(this=form, expression=text(WITHHELD))
        shown = exp.EQ(this=form.copy(), expression=text(GENERALIZED))
        each = exp.Case().when(withheld, num(1)).when(shown, each).else_(num(0))
    return fragment("coalesce(sum(e.n * (:each)), 0)::float8", each=exp.paren(each))


def _suppressed_cells(layout: Layout, state: State) -> exp.Expr:
    """Number of attribute values of the records that are suppressed for their mask."""
    hidden = [a.hidden for a in layout.spec.attributes if a.hidden is not None]
    if not hidden or not state[SUPPRESSED]:
        return num(0)
    plain = num(len(layout.axes) - len(hidden))
    open_ = [fragment("(not :f)::int", f=col(h.flag, "c")) for h in hidden]
    tree = query(
        "select coalesce(sum(:cells), 0)::bigint from c"
        " where not exists (select 1 from g where g.rid = c.rid)",
        {"c": state.work(CODED), "g": state.work(LOCAL_GROUPED)},
        cells=total([plain, *open_]),
    )
    return scalar(tree)


def bucket_check(item: Sensitive, tables: Callable[[State], Relations]) -> Check:
    """Of the buckets of a column in these relations."""

    def select(state: State) -> exp.Expr:
        sizes = query(
            "select sum(t.count)::bigint as n, max(t.count) as most from t group by :bucket",
            {"t": tables(state)[part_of(item)]},
            bucket=col(bucket_column(item.published), "t"),
        )
        return query(
            "select count(*) as buckets, coalesce(sum(s.n), 0)::bigint as cells,"
            " coalesce(min(s.n), 0) as smallest, coalesce(max(s.n), 0) as largest,"
            " coalesce(max(s.most / s.n::float8), 0)::float8 as share from s",
            {"s": sizes},
        )

    return Check(
        f"buckets{item.index}",
        f"sizes of the buckets of {item.published}",
        select,
        gives=[*facts.bucket_sizes(item.index), facts.bucket_share(item.index)],
    )


def utility(spec: ReleaseSpec, observed: Facts) -> LocalUtility:
    """The utility of a release, from the facts of :func:`measures`."""
    layout = Layout(spec)
    # Records without a value in a column with nulls: suppress are not encoded.
    gone = (observed[RECORDS] - observed[KEPT]) * len(spec.attributes)
    return replace(
        described(spec, observed, gone + observed[SUPPRESSED_CELLS]),
        inferred=inference.inferred(layout, observed),
        taught=inference.taught(layout, observed),
        aligned=tuple(
            tuple(item.published for item in columns) for columns in sets(layout, observed)
        ),
    )


def described(spec: ReleaseSpec, observed: Facts, gone: int) -> LocalUtility:
    """The figures that follow from what is published.

    Args:
        gone: values that suppressed records would show.
    """
    records, suppressed = observed[RECORDS], observed[SUPPRESSED]
    cells = observed[CELLS] + gone
    return LocalUtility(
        gcp=(observed[LOSS] + gone) / cells if cells else 0.0,
        ncp={a.published: observed[facts.ncp(a.index)] for a in spec.attributes},
        paper_gcp=(observed[PAPER_LOSS] + gone) / cells if cells else 0.0,
        discernibility=observed[SQUARES] + float(suppressed) * records,
        groups=observed[facts.GROUPS],
        smallest_group=observed[facts.SMALLEST],
        largest_group=observed[facts.LARGEST],
        buckets={item.published: _bucket_statistics(item, observed) for item in spec.sensitive},
        inferred={},
        taught={},
    )


def _bucket_statistics(item: Sensitive, observed: Facts) -> BucketStatistics:
    cells, buckets, smallest, largest = (observed[fact] for fact in facts.bucket_sizes(item.index))
    return BucketStatistics(
        cells, buckets, smallest, largest, observed[facts.bucket_share(item.index)]
    )
