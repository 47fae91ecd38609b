"""What a reader may infer from an anatomized release before anybody can read it.

    guesses<j>         (posterior, correct)    of every record that is attacked, on column j
    related_records    records of some buckets, over which association is measured

The attack is :mod:`pganon.search.inference`. It reads codes of the records of some buckets: as many
whole ones as its limits allow, in the order of their numbers, which are drawn under the run's
secret key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.association import associations, values
from pganon.association.columns import carried_columns, quasi_columns, sensitive_columns
from pganon.encode.axis import Axis, OrderedAxis, axes
from pganon.encode.secrets import row_hash, run_secret
from pganon.encode.sensitive import equal_key
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.buckets.generalized import GENERALIZED
from pganon.forms.buckets.staging import Grouping, bucket, record_columns
from pganon.identifiers import quote
from pganon.policy.model import Inference
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.published.arrangement import Arrange, Arrangement
from pganon.published.elements import attribute_columns
from pganon.published.inference import Inferred, Related
from pganon.search.inference import Layout, guesses
from pganon.spec.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, num, query, scalar
from pganon.steps import Chains, Check, CreateTable, Search, State, Step
from pganon.steps.facts import Fact, Facts, count, label, measure, or_null

RECORDS = 50_000
"""Most records that are attacked."""

CANDIDATES = 250_000
"""Most pairs of such a record and a row of the sensitive table that could be its own."""

RELATED = 10_000
"""Most records over which association is measured."""

STRONGEST = 5
"""Pairs of columns that are reported."""

FACTOR = 1.5
"""A probability counts as inferred from this many times 1/l on, if that is above the limit."""

NOTICEABLE = 0.01
"""Share of the records from which on a run warns, where the policy sets none."""

_RELATED = label("association", "related_", assumed="[]")
"""JSON array of [i, j, value]; see :func:`pganon.association.associations`."""

_FIGURES = ("confidence", "accuracy", "above", "correct", "share")
"""Fields of :class:`Inferred` that are None where no record was attacked."""

_CHANCE = 3
"""Standard deviations that chance may do."""


def attacked(of: str) -> Fact[int]:
    """How many records were attacked; `of` names the attack."""
    return count("records", f"{of}_")


def outcome(of: str, name: str) -> Fact[float | None]:
    """A figure of an attack."""
    return or_null(measure(name, f"{of}_"))


def outcomes(of: str) -> list[Fact[Any]]:
    """What :func:`judged` gives of an attack."""
    return [attacked(of), *[outcome(of, name) for name in _FIGURES]]


def found_by(of: str, above: float, facts: Facts) -> Inferred:
    """The figures of an attack."""
    return Inferred(
        records=facts[attacked(of)],
        limit=above,
        **{name: facts[outcome(of, name)] for name in _FIGURES},
    )


def chains(spec: ReleaseSpec, arrange: Arrange, buckets: Grouping) -> Chains:
    """Steps that observe the facts that :func:`inferred` and :func:`related` read."""
    related = [
        CreateTable(
            "related_records",
            "the records of some buckets",
            lambda s: s.work("related_records"),
            lambda s: _first(spec, arrange(spec, s), buckets.all_records(s), s),
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
        name = f"guesses{self.item.index}"
        return [
            Search(
                name,
                f"values of {self.item.published} inferred from the staged relations alone",
                lambda s: s.work(name),
                (("posterior", "double precision"), ("correct", "boolean")),
                given=lambda s: query("select 1 as batches"),
                batches=lambda s: 1,
                rows=lambda s, batch: self._rows(s),
                tasks=lambda s, given, rows: [partial(guesses, self._layout(s), rows)],
            ),
            Check(
                f"inferred{self.item.index}",
                f"how many values of {self.item.published} that tells",
                lambda s: judged(s.work(name), limit(self.spec, self.item)),
                lambda row, state: problem(self.spec, self.item, row, limit(self.spec, self.item)),
                gives=outcomes(f"inferred{self.item.index}"),
            ),
        ]

    def _rows(self, state: State) -> exp.Select:
        """SELECT of the columns of :meth:`_layout`."""
        arrangement = self.arrange(self.spec, state)
        table = arrangement.table_of(self.item.index)
        tree = _sample(arrangement, self.item, self.buckets.all_records(state), state)
        keys = [_bucket_of(arrangement, self.item)]
        keys += [col(axis.code, "r") for axis in axes(table.quasi)]
        shown = [
            *_attributes(self.spec, arrangement, self.item, state),
            *[code_of(item, f"p{item.index}", state) for item in self.spec.carried],
            code_of(self.item, f"v{self.item.index}", state),
        ]
        if arrangement.generalized:
            tree = tree.join(
                aliased(state.work(GENERALIZED), "e"),
                on=exp.EQ(this=col(CLASS_ID, "e"), expression=_class(arrangement)),
            )
        columns = [named(value, f"x{place}") for place, value in enumerate([*keys, *shown])]
        return tree.select(*columns, append=False)

    def _layout(self, state: State) -> Layout:
        arrangement = self.arrange(self.spec, state)
        return Layout(
            keys=1 + len(arrangement.table_of(self.item.index).quasi),
            on_line=(
                *[
                    isinstance(axis, OrderedAxis) and not arrangement.generalized
                    for axis in _apart(self.spec, arrangement, self.item)
                ],
                *[on_line(item) for item in self.spec.carried],
            ),
            value_on_line=on_line(self.item),
        )


def limit(spec: ReleaseSpec, item: Sensitive) -> float:
    """The probability above which a value of the column counts as inferred.

    What the models allow does not: it is at most 1/l.
    """
    bounds = [FACTOR / r.model.parameter for r in spec.requirements if r.sensitive == item.index]
    return max((spec.policy.inference or Inference()).limit, min(bounds, default=0.0))


# -- what is read -------------------------------------------------------------------------------


def _bucket_of(arrangement: Arrangement, item: Sensitive) -> exp.Expr:
    partition = arrangement.table_of(item.index).partition
    return col(bucket(arrangement.partitions.index(partition)), "r")


def _class(arrangement: Arrangement) -> exp.Expr:
    return col(bucket(arrangement.partitions.index(CLASS_ID)), "r")


def _sample(
    arrangement: Arrangement, item: Sensitive, records: Relation, state: State
) -> exp.Select:
    """The records `r` that are attacked: those of the first buckets.

    A bucket that alone has too many candidates is left out.
    """
    table = arrangement.table_of(item.index)
    keys = [col(name, "t") for name in (GROUP_ID, *[a.published for a in table.quasi])]
    # The other columns of the sensitive table are known for a record.
    known = query(
        "select t.group_id, sum(t.count) as n, count(*) as values from t where t.group_id <= :most",
        {"t": state.stage(table.part)},
        most=num(RECORDS),  # buckets: no more, for none is empty
    ).group_by(*keys)
    sized = query(
        "select k.group_id, sum(k.n * greatest(k.values, :each)) as n from k group by k.group_id",
        {"k": known},
        each=num(CANDIDATES // RECORDS),
    )
    most = num(CANDIDATES)
    added = query(
        "select z.group_id, sum(z.n) over (order by z.group_id) as n from z where z.n <= :most",
        {"z": sized},
        most=most,
    )
    chosen = query("select a.group_id from a where a.n <= :most", {"a": added}, most=most)
    return query(
        "select 1 from r join c on c.group_id = :bucket where :bucket <= :most",
        {"r": records, "c": chosen},
        bucket=_bucket_of(arrangement, item),
        most=num(RECORDS),  # spares looking up most records of a large release
    )


def _attributes(
    spec: ReleaseSpec, arrangement: Arrangement, item: Sensitive, state: State
) -> list[exp.Expr]:
    """Published values of every quasi-identifier that is not in the column's own table."""
    if not arrangement.generalized:
        return [col(axis.code, "r") for axis in _apart(spec, arrangement, item)]
    shown = [[col(c.name, "e") for c in attribute_columns(a)] for a in spec.attributes]
    return [hashed(columns, state) for columns in shown]


def _apart(spec: ReleaseSpec, arrangement: Arrangement, item: Sensitive) -> list[Axis]:
    beside = arrangement.table_of(item.index).quasi
    return [axis for axis in axes(spec.attributes) if axis.attribute not in beside]


def on_line(item: Sensitive | Carried) -> bool:
    return item.column.is_number or item.column.is_time


def code_of(item: Sensitive | Carried, name: str, state: State) -> exp.Expr:
    """A whole number per value: its place on the line, 0 for NULL, or else a hash of it."""
    value = col(name, "r")
    if not on_line(item):
        return hashed([equal_key(item.column, value)], state)
    return fragment("case when :v is null then 0 else rank() over (order by :v) end", v=value)


def hashed(values: Sequence[exp.Expr], state: State) -> exp.Expr:
    return row_hash(exp.func("row", *values), scalar(run_secret(state, "seed_a")))


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
    known = [*quasi_columns(spec, state), *carried_columns(spec), *sensitive_columns(spec)]
    return associations(state.work("related_records"), known, _pairs(spec))


def _pairs(spec: ReleaseSpec) -> list[tuple[int, int]]:
    """Every quasi-identifier and insensitive column with every sensitive one."""
    others = len(spec.attributes) + len(spec.carried)
    return [(i, others + item.index) for i in range(others) for item in spec.sensitive]


def related(spec: ReleaseSpec, facts: Facts) -> tuple[Related, ...]:
    """The strongest associations, if there are any, the strongest first."""
    names = [item.published for item in (*spec.attributes, *spec.carried, *spec.sensitive)]
    found = values(facts[_RELATED])
    order = sorted((p for p, v in found.items() if v > 0), key=lambda p: (-found[p], p))
    return tuple(Related(names[i], names[j], found[i, j]) for i, j in order[:STRONGEST])


# -- what is made of it -------------------------------------------------------------------------


def judged(guesses: Relation, above: float) -> exp.Select:
    """SELECT one row: the figures of :class:`Inferred`."""
    level = exp.Literal.number(repr(above))
    surest = query(
        "select g.posterior, g.correct, count(*) over (order by g.posterior desc) as n,"
        " sum(g.correct::int) over (order by g.posterior desc) as hits from g",
        {"g": guesses},
    )
    told = fragment(
        "g.posterior > :t and g.hits > g.n * :t::float8 + :z * sqrt(g.n * :t::float8 * (1 - :t))",
        t=level,
        z=num(_CHANCE),
    )
    return query(
        "select count(*) as records, avg(g.posterior) as confidence,"
        " avg(g.correct::int)::float8 as accuracy,"
        " avg((g.posterior > :t)::int)::float8 as above,"
        " (avg(g.correct::int) filter (where g.posterior > :t))::float8 as correct,"
        " coalesce(max(g.n) filter (where :told), 0)::float8 / nullif(count(*), 0) as share from g",
        {"g": surest},
        t=level,
        told=told,
    )


def problem(
    spec: ReleaseSpec, item: Sensitive, row: Mapping[str, Any], above: float
) -> PganonError | None:
    """The refusal, where the policy says how much may be inferred."""
    asked = spec.policy.inference
    if asked is None or (row["share"] is not None and row["share"] <= asked.share):
        return None
    if row["share"] is None:
        message, hint = (
            f"what can be inferred of column {quote(item.column.name)} cannot be measured: every"
            f" bucket has more than {CANDIDATES} pairs of a record and a value",
            "use another method or other options, or remove inference",
        )
    else:
        message, hint = (
            f"{told_text(item, row['share'], above)}; inference allows {asked.share:g}",
            f"{REMEDY}, or allow a larger share",
        )
    return PrivacyRefusal(
        message,
        model="inference",
        required=asked.share,
        observed=row["share"],
        hint=hint,
        code="inference",
    )


REMEDY = (
    "require a larger l, publish fewer quasi-identifiers and insensitive columns, or use a method"
    " that generalizes"
)


def told_text(item: Sensitive, share: float, above: float) -> str:
    """What is inferred, in words."""
    return (
        f"values of column {quote(item.column.name)} can be inferred: naive Bayes, learned from"
        f" the release alone, tells those of a share of {share:.4g} of the records with a"
        f" probability above {above:.4g}, and is right as often"
    )


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """What the steward should know, unless the policy says how much may be inferred."""
    if spec.policy.inference is not None:
        return []
    found = inferred(spec, facts)
    return [
        f"{told_text(item, share, found[item.published].limit)}; {REMEDY}"
        for item in spec.sensitive
        if (share := found[item.published].share) is not None and share > NOTICEABLE
    ]


def inferred(spec: ReleaseSpec, facts: Facts) -> dict[str, Inferred]:
    """By published column."""
    return {
        item.published: found_by(f"inferred{item.index}", limit(spec, item), facts)
        for item in spec.sensitive
    }
