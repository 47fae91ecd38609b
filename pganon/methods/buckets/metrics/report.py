"""Metrics on request of tables that buckets link: their steps, and results of their facts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.forms.facts import CLASSES, PARTITIONS, RELEASED, SQUARES, SUPPRESSED
from pganon.forms.form import Tables
from pganon.forms.metrics import Metrics, Pairs, Shown, WorkloadMetrics, figure
from pganon.forms.request import Request
from pganon.forms.shape import linking, shown
from pganon.methods.buckets.metrics import reconstruction, workload
from pganon.methods.buckets.metrics.reconstruction import numbers
from pganon.methods.common.arrangement import Arrange
from pganon.metrics import boxes
from pganon.metrics.answers import bounds_of, errors_of, finite
from pganon.metrics.parts import Part, Parts, beside, part_steps, parts, values
from pganon.metrics.source import coded_records
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, equal, fragment, named, query, stacked
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import RECORDS, Facts, count, label, measure, or_null

_COMBINATIONS = or_null(measure("combinations", "membership_"), assumed=1.0)

COUNTS = tuple(or_null(count(name, "membership_")) for name in ("originals", "candidates", "fakes"))
"""Combinations of the source, combinations that the release allows, and those of the latter that
are not in the source; None where membership is not measured."""

COMPARED = 10_000_000
"""Most combinations of rows; membership is not measured beyond."""

_NOTHING = "select null::bigint as originals, null::bigint as candidates, null::bigint as fakes"


def _rows(part: Part, state: State) -> exp.Select:
    """SELECT of buckets and codes, every combination once."""
    names = [*part.numbers, *part.codes]
    tree = query("select distinct 1 from t", {"t": state.work(part.work)})
    return tree.select(*[col(name, "t") for name in names], append=False)


def _combinations(parts: Parts, state: State) -> exp.Expr:
    tree = query("select 1 from b", {"b": _rows(linking(parts), state)})
    product: exp.Expr = fragment("1::float8")
    for place, part in enumerate(beside(parts)):
        alias = f"o{place}"
        rows = query(
            "select t.number, count(*) as n from t group by t.number",
            {"t": _rows(part, state)},
        )
        tree = _joined(tree, part, rows, alias)
        product = fragment(":p * :n", p=product, n=col("n", alias))
    return tree.select(named(exp.Sum(this=product), "combinations"), append=False)


def _joined(tree: exp.Select, part: Part, rows: exp.Select, alias: str) -> exp.Select:
    on = exp.EQ(this=col("number", alias), expression=col(part.link, "b"))
    return tree.join(rows.subquery(alias), on=on)


def _compared(spec: ReleaseSpec, parts: Parts, state: State) -> exp.Expr:
    """One row: `originals` of the source, `candidates`, and how many are not: `fakes`."""
    combinations = state[_COMBINATIONS]
    sliced = beside(parts) and not any(part.box for part in parts)
    if not sliced or combinations is None or combinations > COMPARED:
        return query(_NOTHING)
    names = [axis.code for axis in axes(spec.attributes)]
    source = query("select distinct 1 from s", {"s": state.work("msource")})
    tree = query("select distinct 1 from b", {"b": _rows(linking(parts), state)})
    columns = [col(name, "b") for name in linking(parts).codes]
    for place, part in enumerate(beside(parts)):
        tree = _joined(tree, part, _rows(part, state), f"o{place}")
        columns += [col(name, f"o{place}") for name in part.codes]
    sets = {
        "o": source.select(*[col(name, "s") for name in names], append=False),
        "k": tree.select(*columns, append=False),
    }
    return query(
        "select (select count(*) from o) as originals, count(*) as candidates,"
        " count(*) filter (where :first is null) as fakes from k left join o on :same",
        sets,
        first=col(names[0], "o"),
        same=equal(names, "o", "k"),
    )


_SIZES = or_null(label("bucket_sizes"))
"""JSON array of [size, buckets]."""


def _bucket_sizes(parts: Parts, state: State) -> exp.Expr:
    """Over all partitions; tables that share one are counted once."""
    sets = {part.link: part for part in values(parts)}
    buckets = [
        query("select distinct t.number, t.size from t", {"t": state.work(part.work)})
        for part in sets.values()
    ]
    counted = query(
        "select b.size::bigint as size, count(*) as n from b group by 1", {"b": stacked(buckets)}
    )
    return query(
        "select json_agg(json_build_array(c.size, c.n) order by c.size)::text as bucket_sizes"
        " from c",
        {"c": counted},
    )


SHOWN = 8
"""Sizes of buckets that are printed."""


@dataclass(frozen=True)
class Reconstruction:
    """Divergence of the estimated distributions of sensitive values.

    Attributes:
        mean: mean of the finite divergences, in nats; None if there is none.
        infinite: number of infinite divergences.
        queries: number of questions.
    """

    mean: float | None
    infinite: int
    queries: int


@dataclass(frozen=True)
class Membership:
    """Numbers of combinations of quasi-identifiers.

    Attributes:
        originals: combinations of the source.
        candidates: combinations that the release allows.
        fakes: candidates that are not in the source.
    """

    originals: int
    candidates: int
    fakes: int


@dataclass(frozen=True)
class BucketMetrics(Metrics):
    """Metrics of an anatomized release; see docs/reference/measures.md.

    Attributes:
        reconstruction: by number of quasi-identifiers, "1" to "4".
        membership: None where the quasi-identifiers are in one table, or too many combinations.
        suppression: share of the source records that are not released.
        additional_loss: mean size of the buckets over the smallest allowed, less 1.
        discernibility: sum of squared bucket sizes, the mean over all partitions.
        sizes: buckets of all partitions by number of records, the smallest first.
        deviation: standard deviation of the answers to the workload, as a share of the exact
            answer; the mean over the queries with a nonzero answer. None where more than one random
            assignment decides.
    """

    reconstruction: dict[str, Reconstruction] | None = None
    membership: Membership | None = None
    suppression: float | None = None
    additional_loss: float | None = None
    discernibility: float | None = None
    sizes: dict[str, int] | None = None
    deviation: float | None = None
    workload: WorkloadMetrics | None = None

    def shown(self) -> list[Shown]:
        shown: list[Shown] = []
        if self.reconstruction is not None:
            shown.append(Pairs(self._pairs(self.reconstruction)))
        if self.workload:
            shown.append(self.workload.shown())
            shown.append(Pairs({"standard deviation of a count": figure(self.deviation)}))
        return shown

    def _pairs(self, reconstruction: Mapping[str, Reconstruction]) -> dict[str, str]:
        pairs = {f"reconstruction, r = {r}": _divergence(e) for r, e in reconstruction.items()}
        if self.membership:
            m = self.membership
            pairs["membership"] = (
                f"{m.candidates} candidates, {m.fakes} of them fakes, {m.originals} in the source"
            )
        counts = [f"{n} of {size}" for size, n in (self.sizes or {}).items()]
        shown = counts if len(counts) <= SHOWN else [*counts[: SHOWN - 1], "...", counts[-1]]
        return pairs | {
            "suppression": figure(self.suppression),
            "additional loss": figure(self.additional_loss),
            "discernibility": figure(self.discernibility),
            "bucket sizes": ", ".join(shown),
        }


def _divergence(reconstruction: Reconstruction) -> str:
    infinite = f", {reconstruction.infinite} infinite" if reconstruction.infinite else ""
    return f"{figure(reconstruction.mean)} (mean KL of {reconstruction.queries} queries{infinite})"


def measure_steps(
    spec: ReleaseSpec, arrange: Arrange, tables: Callable[[State], Tables], request: Request
) -> tuple[Step, ...]:
    """Steps whose facts :func:`metrics_of` reads."""

    def arranged(state: State) -> Parts:
        return parts(arrange(spec, state).shape)

    steps: list[Step] = [
        table(
            "metric_source",
            "source records by codes",
            lambda s: coded_records(spec, s),
            into="msource",
        ),
        *part_steps(arranged, tables),
    ]
    if any(part.box for part in arranged(State(0))):
        steps += boxes.steps(spec, lambda s: shown(arrange(spec, s).shape, tables(s)))
    if request.everything:
        steps += reconstruction.steps(spec, arranged)
        steps += [
            Check(
                "membership_combinations",
                "combinations of rows that buckets allow",
                lambda s: _combinations(arranged(s), s),
                gives=[_COMBINATIONS],
            ),
            Check(
                "membership",
                "combinations of quasi-identifiers that the release allows",
                lambda s: _compared(spec, arranged(s), s),
                gives=COUNTS,
            ),
        ]
        steps += [
            Check(
                "bucket_sizes",
                "buckets by size",
                lambda s: _bucket_sizes(arranged(s), s),
                gives=[_SIZES],
            )
        ]
    if request.workload is not None:
        steps += workload.steps(spec, arranged, request.workload)
    return tuple(steps)


def metrics_of(spec: ReleaseSpec, request: Request, state: State) -> BucketMetrics:
    """The metrics that :func:`measure_steps` observed."""
    measured: dict[str, Any] = _everything(spec, state) if request.everything else {}
    if request.workload is not None:
        measured["workload"] = WorkloadMetrics(
            request.workload, errors_of("n", state.facts), {}, bounds_of(state.facts)
        )
        measured["deviation"] = finite(state[workload.DEVIATION])
    return BucketMetrics(**measured)


def _everything(spec: ReleaseSpec, state: State) -> dict[str, Any]:
    facts = state.facts
    mean = state[RELEASED] / state[CLASSES]
    members = [n for fact in COUNTS if (n := facts[fact]) is not None]
    # Buckets by number of records, the smallest first; keys are texts, as in JSON.
    return {
        "reconstruction": {str(r): _reconstruction(facts, r) for r in numbers(spec)},
        "membership": Membership(*members) if members else None,
        "suppression": state[SUPPRESSED] / state[RECORDS],
        "additional_loss": mean / spec.minimum_size - 1,
        "discernibility": state[SQUARES] / state[PARTITIONS],
        "sizes": {str(size): n for size, n in json.loads(facts[_SIZES] or "[]")},
    }


def _reconstruction(facts: Facts, r: int) -> Reconstruction:
    mean, infinite, questions = reconstruction.facts_of(r)
    return Reconstruction(finite(facts[mean]), facts[infinite], facts[questions])
