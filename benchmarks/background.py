"""Beta-likeness against background knowledge: loss, risk, what is concluded, and time.

patients, workers   generated people, about whom readers know what their values were drawn from
adult               random people of Adult
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import ClassVar

from benchmarks import background_claims, background_plots
from benchmarks import background_figures as figures
from benchmarks import background_tables as tables
from benchmarks.background_names import (
    AGG,
    BASELINE,
    BETA,
    INC,
    MIC,
    OURS_BETA,
    OURS_INC,
    SELECTIVITIES,
    VARIED,
)
from benchmarks.background_runs import METHODS, Runs, means
from benchmarks.background_tables import Setting
from benchmarks.benchmark import Benchmark, Row, Table

OPTIONS: dict[str, Row] = {
    "none, sweep": {"division": "none", "select": "sweep"},
    "public, random": {},
    "eligible, random": {"division": "eligible"},
    "eligible, sweep": {"division": "eligible", "select": "sweep"},
    "none, nearest": {"division": "none", "select": "nearest"},
}
MEANS: dict[str, Row] = dict(
    zip(MIC, ({"name": "kinc_mic", "inc_pick": "nearest"}, {"name": "kagg_mic"}), strict=True)
)
COMPARED: dict[str, Row] = {INC: METHODS[INC], AGG: METHODS[AGG], BASELINE: {"name": "js_reduce"}}

WIDTHS: tuple[float | Row, ...] = (
    *(0.1, 0.3, 1),
    *({"education": width} for width in (1.1, 1.2, 1.5, 2)),
    *({"gender": 2}, {"gender": 2, "education": 2}),
)
"""Bandwidths of a kernel over Adult; columns that are not named have 0.3."""

MIC_J, MIC_BETA = 0.3, 4
BASELINE_J = 0.6
LARGE_J = 0.3
MIDDLE = 0.1
"""Selectivity of the queries whose errors are plotted."""


# -- what is measured -------------------------------------------------------------------------


def _span(column: figures.Column) -> float:
    return max(column.source) - min(column.source) if column.numeric else 1.0


def _errors(found: dict[str, figures.Column], seeds: int) -> Row:
    """Mean relative errors of counts of numeric columns by selectivity, medians over the seeds."""
    numeric = [column for column in found.values() if column.numeric]
    drawn = {
        share: [
            fmean(
                figures.query_error(column, share, random.Random(seed * len(numeric) + place))
                for place, column in enumerate(numeric)
            )
            for seed in range(seeds)
        ]
        for share in SELECTIVITIES
    }
    return {
        **{f"error_{share}": median(of) for share, of in drawn.items()},
        "error": median(drawn[MIDDLE]),
        "seeds": seeds,
    }


_RUN = ("classes", "average", "suppressed", "gcp", "rgcp", "rl")
_CONCLUDED = ("estimate_largest", "estimate_gain", "estimate_above", "exact_largest", "believed")
_OF = ("table", "method", "k", "beta", "j")
_VARIED = (*_OF, *_RUN, *_CONCLUDED, "seconds")


@dataclass(frozen=True, kw_only=True)
class Background(Benchmark):
    """One release per setting and table that is drawn.

    Attributes:
        draws: tables by k, J and beta, of columns and of the baseline.
        rows: of every table but that of `large`, which has `people`.
        sources: tables; `adult` only with real data.
        js: bounds of the distance to what readers know.
        few_ks: k where a bandwidth varies.
        few_betas: beta where options vary.
        ts: t of the baseline.
        seeds: of the queries.
        methods: by k, J and beta.
        sizes: records of the tables of `times`.
        widths: bandwidths of a kernel, of all columns or by column.
    """

    draws: int = 1
    rows: int = 4000
    people: int = 1_000_000
    sources: tuple[str, ...] = ("patients", "workers", "adult")
    ks: tuple[int, ...] = (3, 5, 10, 15, 20)
    js: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
    betas: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    few_ks: tuple[int, ...] = (3, 5, 10, 20)
    few_betas: tuple[int, ...] = (2, 3, 4)
    ts: tuple[float, ...] = (0.5, 0.3)
    seeds: int = 10
    methods: tuple[str, ...] = tuple(METHODS)
    sizes: tuple[int, ...] = (1000, 2000, 4000)
    widths: tuple[float | Row, ...] = WIDTHS

    parts: ClassVar = (
        *("by_k", "by_j", "by_beta", "options", "columns"),
        *("baseline", "bandwidths", "times", "large"),
    )
    real: ClassVar = frozenset({"bandwidths"})
    tables: ClassVar = (
        Table("by_k", "by k", _VARIED),
        Table("by_j", "by J", _VARIED),
        Table("by_beta", "by beta", _VARIED),
        Table("options", "what options of beta_primacy cost", (*_OF, *_RUN, "seconds")),
        Table(
            "columns",
            "distances by column",
            (*_OF, "column", "emd", "emd_midpoint", "difference", "half_width", "absolute"),
        ),
        Table("baseline", "t-closeness", ("table", "method", "k", "t", "j", *_RUN, "seconds")),
        Table(
            "bandwidths",
            "left out by bandwidth of a kernel",
            ("table", "bandwidth", "method", "k", "j", "suppressed", "diverge", "classes", "gcp"),
        ),
        Table(
            "times", "times", ("table", "method", "records", "seconds", "method_seconds", "ratio")
        ),
        Table(
            "large",
            "many records",
            ("method", "records", *_RUN[:4], "seconds", "copy", "ratio", "peak_mb"),
        ),
        Table("claims", "what the paper says", ("claim", "table", "holds", "found")),
    )

    @cached_property
    def known(self) -> Sequence[tables.Source]:
        sources = [
            *(tables.PATIENTS, tables.WORKERS),
            *([tables.adult(self.data)] if self.data else []),
        ]
        return [source for source in sources if source.name in self.sources]

    @cached_property
    def runs(self) -> Sequence[Runs]:
        """Over every table as it is drawn first."""
        return [self._over(source, 0) for source in self.known]

    def drawn(self) -> Iterator[Runs]:
        """Over all tables; the first draw of each is there in the end."""
        for source in self.known:
            for draw in reversed(range(self.draws)):
                yield self._over(source, draw)

    def _over(self, source: tables.Source, draw: int) -> Runs:
        if (source.name, draw) in self._drawn:
            tables.load(self.dsn, source, self.rows, tables.SEED + draw)
        else:
            self._drawn[source.name, draw] = Runs.of(self.dsn, source, self.rows, draw)
        return self._drawn[source.name, draw]

    @cached_property
    def _drawn(self) -> dict[tuple[str, int], Runs]:
        return {}

    def by_k(self) -> Iterator[Row]:
        return self._each([Setting(k=k) for k in self.ks])

    def by_j(self) -> Iterator[Row]:
        return self._each([Setting(j=j) for j in self.js])

    def by_beta(self) -> Iterator[Row]:
        return self._each([Setting(beta=beta) for beta in self.betas])

    def _each(self, settings: Sequence[Setting]) -> Iterator[Row]:
        return means(
            runs.shared(name, setting)
            for runs in self.drawn()
            for setting in settings
            for name in self.methods
        )

    def options(self) -> Iterator[Row]:
        """What the options of beta_primacy cost, where all records are one cluster."""
        for runs in self.runs:
            for beta in self.few_betas if runs.source.name == tables.PATIENTS.name else ():
                for name, chosen in OPTIONS.items():
                    method = {"name": "beta_primacy", **chosen}
                    yield runs.run(name, method, Setting(beta=beta, j=None))

    def columns(self) -> Iterator[Row]:
        """How far every column is from the source, generalized or by means and modes."""
        return means(row for runs in self.drawn() for row in self._columns(runs))

    def _columns(self, runs: Runs) -> Iterator[Row]:
        methods = {**{name: METHODS[name] for name in (INC, AGG, BETA)}, **MEANS}
        for k in self.ks:
            for name, method in methods.items():
                row = runs.run(name, method, Setting(k=k, beta=MIC_BETA, j=MIC_J), metrics=False)
                if "refused" in row:
                    yield row
                    continue
                for place, column in runs.columns().items():
                    yield {**row, "column": place, **_distances(column)}

    def baseline(self) -> Iterator[Row]:
        return means(row for runs in self.drawn() for row in self._baseline(runs))

    def _baseline(self, runs: Runs) -> Iterator[Row]:
        for t, k in itertools.product(self.ts, self.ks):
            for name, method in COMPARED.items():
                row = runs.run(name, method, Setting(k=k, beta=None, t=t, j=BASELINE_J))
                if "refused" not in row:
                    row |= _errors(runs.columns(), self.seeds)
                yield row

    def bandwidths(self) -> Iterator[Row]:
        """Who is left out where a kernel estimates what is known, by its bandwidth."""
        for runs in self.runs:
            for width in self.widths if runs.source.priors is None else ():
                narrow = runs.believing(bandwidth=width)
                for k in self.few_ks:
                    for name in (OURS_INC, AGG, OURS_BETA):
                        row = narrow.run(name, METHODS[name], Setting(k=k), metrics=False)
                        yield {"bandwidth": _named(width), **row}

    def times(self) -> Iterator[Row]:
        for runs in self.runs:
            for rows in self.sizes:
                if rows <= len(runs.drawn.people):
                    smaller = Runs.of(self.dsn, runs.source, rows)
                    for name, method in METHODS.items():
                        yield smaller.run(name, method, Setting(j=MIC_J), metrics=False)
            tables.load(self.dsn, runs.source, len(runs.drawn.people))

    def large(self) -> Iterator[Row]:
        """beta_primacy, with a relation of priors and with a kernel; makes `patients` anew."""
        runs = Runs.of(self.dsn, tables.PATIENTS, self.people)
        estimated = runs.believing(priors=None)
        method, setting = METHODS[OURS_BETA], Setting(j=LARGE_J)
        for name, of in (("relation", runs), ("kernel", estimated)):
            yield {**of.run(name, method, setting, metrics=False), "copy": of.copy}

    @staticmethod
    def judged(found: Row) -> Row:
        return {
            "claims": background_claims.evaluate(found),
            "risk_and_utility": risk_and_utility(found),
        }

    draw = staticmethod(background_plots.draw)


def _named(width: float | Row) -> str:
    if isinstance(width, dict):
        return ", ".join(f"{name} {value:g}" for name, value in width.items())
    return f"all {width:g}"


def _distances(column: figures.Column) -> Row:
    uniform = figures.uniform(column)
    far = figures.difference(column, uniform)
    return {
        "numeric": column.numeric,
        "values": len(column.domain),
        "span": _span(column),
        "emd": figures.distance(column, uniform) / _span(column),
        "emd_midpoint": figures.distance(column, figures.midpoint(column)) / _span(column),
        "difference": far.mean,
        "half_width": far.half_width,
        "absolute": far.absolute,
    }


def risk_and_utility(found: Row) -> list[Row]:
    """Points of the R-U map: share of records that are linked to their class, and loss."""
    return [
        {
            "part": part,
            **{name: row[name] for name in ("table", "method", "k", "beta", "j")},
            "risk": row["linked"],
            "loss": row["rgcp"],
            "gcp": row["gcp"],
        }
        for part in VARIED
        for row in found.get(part, ())
        if "refused" not in row
    ]
