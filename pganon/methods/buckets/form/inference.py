"""The deFinetti attack on an anatomized release, measured before publication.

    guesses<j>         (learner, posterior, correct)   of every attacked record, on column j
    related_records    records of some buckets, over which association is measured

The attack is :mod:`pganon.methods.common.search.inference`. It reads codes of the records of some
buckets: as many whole ones as its limits allow, in the order of their numbers, which are drawn
under the run's secret key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, axes
from pganon.forms.elements import attribute_columns
from pganon.forms.inference import Inferred, Related
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.methods.common.association import (
    associations,
    carried_columns,
    quasi_columns,
    sensitive_columns,
    values,
)
from pganon.methods.common.form import attacks
from pganon.methods.common.form.attacks import (
    Bounds,
    code_of,
    first_groups,
    hashed,
    inference_text,
    inferred_from,
    on_line,
)
from pganon.methods.common.form.grouping import Grouping, record_columns
from pganon.methods.common.form.recode import GENERALIZED
from pganon.methods.common.search.inference import Layout, guesses
from pganon.policy.model import Inference
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, num, query
from pganon.steps import Chains, Check, State, Step, table
from pganon.steps.facts import Facts, label

RELATED = 10_000
"""Most records from which association is measured."""

STRONGEST = 5
"""Pairs of columns that are reported."""

_RELATED = label("association", "related_", assumed="[]")
"""JSON array of [i, j, value]; see :func:`pganon.methods.common.association.associations`."""


def chains(spec: ReleaseSpec, arrange: Arrange, buckets: Grouping) -> Chains:
    """Steps that observe the facts that :func:`inferred` and :func:`related` read."""
    related = [
        table(
            "related_records",
            "the records of some buckets",
            lambda s: _first(spec, arrange(spec, s), buckets.all_records(s), s),
            inline=True,
        ),
        Check(
            "related",
            "association of the other columns with the sensitive ones",
            lambda s: _association(spec, s),
            gives=[_RELATED],
        ),
    ]
    return [*[_Attack(spec, arrange, buckets, item).steps for item in spec.sensitive], related]


@dataclass(frozen=True)
class _Attack:
    """The attack on one sensitive column."""

    spec: ReleaseSpec
    arrange: Arrange
    buckets: Grouping
    item: Sensitive

    @property
    def steps(self) -> list[Step]:
        held = bounds(self.spec, self.item)
        return attacks.Attack(
            self.spec,
            self.item,
            name=f"guesses{self.item.index}",
            of=f"inferred{self.item.index}",
            rows=self._rows,
            task=lambda s, rows: partial(guesses, self._layout(s), rows),
            bounds=lambda facts: held,
            values="values",
            source="the staged relations alone",
        ).steps

    def _rows(self, state: State) -> exp.Select:
        """SELECT of the columns of :meth:`_layout`."""
        arrangement = self.arrange(self.spec, state)
        table = arrangement.table_of(self.item.index)
        tree = _sample(arrangement, self.item, self.buckets.all_records(state), state)
        keys = [_bucket_of(arrangement, self.item)]
        keys += [col(axis.code, "r") for axis in axes(table.attributes)]
        shown = [
            *_attributes(self.spec, arrangement, self.item, state),
            *[code_of(item, f"p{item.index}", state) for item in self.spec.carried],
            code_of(self.item, f"v{self.item.index}", state),
        ]
        if arrangement.generalized:
            tree = tree.join(
                aliased(state.work(GENERALIZED), "e"),
                on=exp.EQ(
                    this=col(CLASS_ID, "e"),
                    expression=col(arrangement.bucket_of(CLASS_ID), "r"),
                ),
            )
        columns = [named(value, f"x{place}") for place, value in enumerate([*keys, *shown])]
        return tree.select(*columns, append=False)

    def _layout(self, state: State) -> Layout:
        arrangement = self.arrange(self.spec, state)
        return Layout(
            keys=1 + len(arrangement.table_of(self.item.index).attributes),
            on_line=(
                *[
                    isinstance(axis, OrderedAxis) and not arrangement.generalized
                    for axis in _apart(self.spec, arrangement, self.item)
                ],
                *[on_line(item) for item in self.spec.carried],
            ),
            value_on_line=on_line(self.item),
        )


def bounds(spec: ReleaseSpec, item: Sensitive) -> Bounds:
    """The bounds that guesses of the column are compared with.

    A model allows 1/l. A column without a model has only the limit of the policy.
    """
    limit = (spec.policy.inference or Inference()).limit
    allowed = [1 / r.model.parameter for r in spec.requirements if r.sensitive == item.index]
    if not allowed:
        return Bounds(limit, limit)
    return Bounds(max(limit, attacks.FACTOR * min(allowed)), min(allowed))


# -- rows that the attack reads -----------------------------------------------------------------


def _bucket_of(arrangement: Arrangement, item: Sensitive) -> exp.Expr:
    return col(arrangement.bucket_of(arrangement.table_of(item.index).link), "r")


def _sample(
    arrangement: Arrangement, item: Sensitive, records: Relation, state: State
) -> exp.Select:
    """The attacked records `r`: those of the first buckets.

    A single bucket with too many candidates is left out.
    """
    table = arrangement.table_of(item.index)
    keys = [col(name, "t") for name in (GROUP_ID, *[a.published for a in table.attributes])]
    # The reader knows the other columns of the sensitive table for a record.
    counted = query(
        "select t.group_id, sum(t.count) as n, count(*) as values from t where t.group_id <= :most",
        {"t": state.stage(table.part)},
        most=num(attacks.RECORDS),  # buckets: no more, for none is empty
    ).group_by(*keys)
    sized = query(
        "select k.group_id as number, sum(k.n * greatest(k.values, :each)) as n from k"
        " group by k.group_id",
        {"k": counted},
        each=num(attacks.CANDIDATES // attacks.RECORDS),
    )
    chosen = first_groups(sized, attacks.CANDIDATES)
    return query(
        "select 1 from r join c on c.number = :bucket where :bucket <= :most",
        {"r": records, "c": chosen},
        bucket=_bucket_of(arrangement, item),
        most=num(attacks.RECORDS),  # spares looking up most records of a large release
    )


def _attributes(
    spec: ReleaseSpec, arrangement: Arrangement, item: Sensitive, state: State
) -> list[exp.Expr]:
    """Published values of every quasi-identifier that is not in the table of the column."""
    if not arrangement.generalized:
        return [col(axis.code, "r") for axis in _apart(spec, arrangement, item)]
    shown = [[col(c.name, "e") for c in attribute_columns(a)] for a in spec.attributes]
    return [hashed(columns, state) for columns in shown]


def _apart(spec: ReleaseSpec, arrangement: Arrangement, item: Sensitive) -> list[Axis]:
    beside = arrangement.table_of(item.index).attributes
    return [axis for axis in axes(spec.attributes) if axis.attribute not in beside]


# -- association --------------------------------------------------------------------------------


def _first(
    spec: ReleaseSpec, arrangement: Arrangement, records: Relation, state: State
) -> exp.Select:
    """SELECT of :func:`record_columns` and codes `i<j>`, `s<j>` of the first records."""
    columns = [col(name, "r") for name in record_columns(spec)]
    first = query(
        "select 1 from r where :bucket <= :most order by :bucket, :hash limit :most",
        {"r": records},
        bucket=_bucket_of(arrangement, spec.sensitive[0]),
        most=num(RELATED),  # buckets: no more, for none is empty
        hash=hashed(columns, state),
    ).select(*columns, append=False)
    codes = [
        named(fragment("dense_rank() over (order by :v)", v=col(value, "r")), code)
        for code, value in (
            *[(f"i{item.index}", f"p{item.index}") for item in spec.carried],
            *[(f"s{item.index}", f"v{item.index}") for item in spec.sensitive],
        )
    ]
    return query("select r.* from r", {"r": first}).select(*codes)


def _association(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT one row: `association` of the pairs of :func:`_pairs`."""
    columns = [*quasi_columns(spec, state), *carried_columns(spec), *sensitive_columns(spec)]
    return associations(state.work("related_records"), columns, _pairs(spec))


def _pairs(spec: ReleaseSpec) -> list[tuple[int, int]]:
    """Every quasi-identifier and insensitive column with every sensitive one."""
    others = len(spec.attributes) + len(spec.carried)
    return [(i, others + item.index) for i in range(others) for item in spec.sensitive]


def related(spec: ReleaseSpec, facts: Facts) -> tuple[Related, ...]:
    """The strongest associations, if there are any, the strongest first."""
    names = [item.published for item in (*spec.attributes, *spec.carried, *spec.sensitive)]
    strengths = values(facts[_RELATED])
    order = sorted((p for p, v in strengths.items() if v > 0), key=lambda p: (-strengths[p], p))
    return tuple(Related(names[i], names[j], strengths[i, j]) for i, j in order[:STRONGEST])


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about values that can be inferred, unless the policy sets a limit."""
    if spec.policy.inference is not None:
        return []
    every = inferred(spec, facts)
    return [
        f"{inference_text(item, result)}; {attacks.REMEDY}"
        for item in spec.sensitive
        if (result := every[item.published]).told is not None and result.told > attacks.NOTICEABLE
    ]


def inferred(spec: ReleaseSpec, facts: Facts) -> dict[str, Inferred]:
    """Results of the attack by published column."""
    return {
        item.published: inferred_from(f"inferred{item.index}", bounds(spec, item), facts)
        for item in spec.sensitive
    }
