"""Beta-likeness against background knowledge: loss, risk, what is concluded, and time.

patients, workers   generated people, about whom readers know what their values were drawn from
adult               random people of Adult
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.range import Range

from benchmarks import background_figures as figures
from benchmarks import background_search as search
from benchmarks import background_tables as tables
from benchmarks import support
from benchmarks.background_tables import Drawn, Setting, Source
from pganon.search.background.primacy import Post

Row = dict[str, Any]

KS = (3, 5, 10, 15, 20)
JS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
BETAS = (1, 2, 3, 4, 5, 6)
SELECTIVITIES = (0.02, 0.05, 0.1, 0.2)

INC, AGG, BETA = "kInc_GE", "kAgg_GE", "beta_GE"
OURS_INC, OURS_BETA = "kinc", "beta_primacy"
METHODS: dict[str, Row] = {
    INC: {"name": "kinc", "inc_pick": "nearest"},
    AGG: {"name": "kagg"},
    BETA: {"name": "beta_primacy", "select": "nearest", "division": "none"},
    OURS_INC: {"name": "kinc"},
    OURS_BETA: {"name": "beta_primacy"},
}
"""Methods as in the paper, by its names, and with the options of this project, by its own. All put
the residual into classes; what the paper leaves out is in the part `left_out`."""

OPTIONS: dict[str, Row] = {
    "none, sweep": {"division": "none", "select": "sweep"},
    "public, random": {},
    "eligible, random": {"division": "eligible"},
    "eligible, sweep": {"division": "eligible", "select": "sweep"},
    "none, nearest": {"division": "none", "select": "nearest"},
}
MIC = {"kInc_Mic": {"name": "kinc_mic"}, "kAgg_Mic": {"name": "kagg_mic"}}
BASELINE = "JS-reduce"
COMPARED: dict[str, Row] = {INC: METHODS[INC], AGG: METHODS[AGG], BASELINE: {"name": "js_reduce"}}

BANDWIDTHS: dict[str, float | Row] = {
    "all 0.1": 0.1,
    "all 0.3": 0.3,
    "all 1": 1,
    "education 1.1": {"education": 1.1},
    "education 1.2": {"education": 1.2},
    "education 1.5": {"education": 1.5},
    "education 2": {"education": 2},
    "gender 2": {"gender": 2},
    "gender 2, education 2": {"gender": 2, "education": 2},
}
"""Of a kernel over Adult; columns that are not named have 0.3."""
FEW_KS = (3, 5, 10, 20)

MIC_J = 0.3
BASELINE_J = 0.6
PEOPLE = 1_000_000
LARGE_J = 0.3
SIZES = (1000, 2000, 4000)

PARTS = (
    "by_k",
    "by_j",
    "by_beta",
    "left_out",
    "options",
    "columns",
    "baseline",
    "bandwidths",
    "times",
    "large",
)


@dataclass(frozen=True)
class Bench:
    """Runs over one table; times are divided by that of its sorted copy.

    Attributes:
        made: rows of settings that several parts have in common, by method and setting.
    """

    dsn: str
    drawn: Drawn
    copy: float
    made: dict[tuple[str, Setting], Row] = field(default_factory=dict)

    @classmethod
    def of(cls, dsn: str, source: Source, rows: int) -> Bench:
        drawn = tables.load(dsn, source, rows)
        return cls(dsn, drawn, support.sorted_copy_seconds(dsn, source.name, source.columns))

    @property
    def source(self) -> Source:
        return self.drawn.source

    def believing(self, **changes: Any) -> Bench:
        """The same table with other priors."""
        source = replace(self.source, **changes)
        return replace(self, drawn=replace(self.drawn, source=source))

    def run(self, name: str, method: Row, setting: Setting, *, metrics: bool = True) -> Row:
        asked = {"table": self.source.name, "method": name, **setting.row}
        declared = tables.policy(self.source, method, setting)
        try:
            found = support.run_policy(
                self.dsn, declared, *(["--metrics", "all"] if metrics else [])
            )
        except support.RunFailed as failed:
            if failed.error.get("code") not in ("infeasible", "verification"):
                raise
            return {**asked, "refused": failed.error["message"]}
        phases = support.phase_seconds(found)
        seconds = found.seconds - phases.get("measure", 0.0)
        result, utility = found.result, found.result["utility"]
        records, suppressed = result["records"], result["suppressed"]
        row = {
            **asked,
            "records": records,
            "suppressed": suppressed,
            "classes": utility["classes"],
            "diverge": max(
                (v["measured"] for v in result["verified"] if v["model"] == "background_knowledge"),
                default=None,
            ),
            "smallest": utility["smallest_class"],
            "average": (records - suppressed) / utility["classes"],
            # The paper's GCP: suppressed records cost nothing.
            "gcp": utility["gcp"] - suppressed / records,
            "gcp_all": utility["gcp"],
            "seconds": seconds,
            "method_seconds": phases["partition"],
            "ratio": seconds / self.copy,
            "peak_mb": found.peak_mb,
        }
        return row | (self._measured(result["metrics"], records) if metrics else {})

    def _measured(self, metrics: Row, records: int) -> Row:
        concluded = metrics["posterior"] or {}
        return {
            "rgcp": metrics["rgcp"] / (records * len(self.source.quasi)),
            "rl": metrics["links"],
            "linked": metrics["linked"],
            **{
                f"{kind}_{figure}": concluded[kind][figure]
                for kind in ("estimate", "exact")
                for figure in ("largest", "gain", "above")
                if concluded
            },
            **{name: concluded[name] for name in ("believed", "counted") if concluded},
        }

    def columns(self) -> dict[str, figures.Column]:
        """What the last release shows, by quasi-identifier."""
        names = list(self.source.quasi)
        query = sql.SQL(
            "SELECT DISTINCT ON (class_id) count(*) OVER (PARTITION BY class_id), {} FROM {}"
        ).format(
            sql.SQL(", ").join(map(sql.Identifier, names)),
            sql.Identifier("published", f"{self.source.name}_bench"),
        )
        with psycopg.connect(self.dsn) as conn:
            rows = conn.execute(query).fetchall()
        return {
            name: figures.Column(
                self.drawn.values(name), [(row[0], _shown(row[at])) for row in rows]
            )
            for at, name in enumerate(names, start=1)
        }


def _shown(value: Any) -> figures.Shown:
    if isinstance(value, Range):
        low, high = value.lower, value.upper
        assert low is not None
        assert high is not None
        return figures.Interval(int(low), int(high) - (not value.upper_inc))
    if isinstance(value, list):
        return figures.OneOf(frozenset(value))
    return figures.Centre(value)


# -- what is measured -------------------------------------------------------------------------


def by_k(bench: Bench) -> Iterator[Row]:
    return _each(bench, [Setting(k=k) for k in KS])


def by_j(bench: Bench) -> Iterator[Row]:
    return _each(bench, [Setting(j=j) for j in JS])


def by_beta(bench: Bench) -> Iterator[Row]:
    return _each(bench, [Setting(beta=beta) for beta in BETAS])


def _each(bench: Bench, settings: Iterable[Setting]) -> Iterator[Row]:
    for setting in settings:
        for name, method in METHODS.items():
            if (name, setting) not in bench.made:
                bench.made[name, setting] = bench.run(name, method, setting)
            yield bench.made[name, setting]


def left_out(bench: Bench) -> Iterator[Row]:
    """What the paper's k-primacy suppresses; of tables whose priors are known."""
    if bench.source.priors is None:
        return
    posts: dict[str, Post] = {INC: "inc", AGG: "agg"}
    for j in JS:
        for name, post in posts.items():
            setting = Setting(j=j)
            found = search.left_out(bench.drawn, post, setting)
            yield {
                "table": bench.source.name,
                "method": name,
                **setting.row,
                "records": len(bench.drawn.people),
                **found,
            }


def options(bench: Bench) -> Iterator[Row]:
    """What the options of beta_primacy cost, where all records are one cluster."""
    if bench.source.name == tables.PATIENTS.name:
        for beta in (2, 3, 4):
            for name, chosen in OPTIONS.items():
                method = {"name": "beta_primacy", **chosen}
                yield bench.run(name, method, Setting(beta=beta, j=None))


def columns(bench: Bench) -> Iterator[Row]:
    """How far every column is from the source, generalized or by means and modes."""
    methods = {**{name: METHODS[name] for name in (INC, AGG, BETA)}, **MIC}
    for k in KS:
        for name, method in methods.items():
            row = bench.run(name, method, Setting(k=k, j=MIC_J), metrics=False)
            if "refused" in row:
                yield row
                continue
            for place, column in bench.columns().items():
                uniform = figures.uniform(column)
                far = figures.difference(column, uniform)
                yield {
                    **row,
                    "column": place,
                    "numeric": column.numeric,
                    "values": len(column.domain),
                    "span": _span(column),
                    "emd": figures.distance(column, uniform) / _span(column),
                    "emd_midpoint": figures.distance(column, figures.midpoint(column))
                    / _span(column),
                    "difference": far.mean,
                    "half_width": far.half_width,
                    "absolute": far.absolute,
                }


def _span(column: figures.Column) -> float:
    return max(column.source) - min(column.source) if column.numeric else 1.0


def baseline(bench: Bench) -> Iterator[Row]:
    for t in (0.5, 0.3):
        for k in KS:
            setting = Setting(k=k, beta=None, t=t, j=BASELINE_J)
            for name, method in COMPARED.items():
                row = bench.run(name, method, setting)
                if "refused" not in row:
                    row["errors"] = _errors(bench.columns())
                yield row


def _errors(found: dict[str, figures.Column]) -> dict[str, float]:
    """Mean relative error of counts by selectivity, over numeric columns."""
    numeric = [column for column in found.values() if column.numeric]
    return {
        str(share): sum(
            figures.query_error(column, share, random.Random(place))
            for place, column in enumerate(numeric)
        )
        / len(numeric)
        for share in SELECTIVITIES
    }


def bandwidths(bench: Bench) -> Iterator[Row]:
    """Who is left out where a kernel estimates what is known, by its bandwidth."""
    if bench.source.priors is not None:
        return
    for width, bandwidth in BANDWIDTHS.items():
        narrow = bench.believing(bandwidth=bandwidth)
        for k in FEW_KS:
            for name in (OURS_INC, AGG, OURS_BETA):
                row = narrow.run(name, METHODS[name], Setting(k=k), metrics=False)
                yield {**row, "bandwidth": width}


def times(bench: Bench) -> Iterator[Row]:
    for rows in SIZES:
        if rows <= len(bench.drawn.people):
            smaller = Bench.of(bench.dsn, bench.source, rows)
            for name, method in METHODS.items():
                yield smaller.run(name, method, Setting(j=MIC_J), metrics=False)
    tables.load(bench.dsn, bench.source, len(bench.drawn.people))


def large(dsn: str, people: int) -> list[Row]:
    """beta_primacy, with a relation of priors and with a kernel."""
    bench = Bench.of(dsn, tables.PATIENTS, people)
    estimated = bench.believing(priors=None)
    method, setting = METHODS[OURS_BETA], Setting(j=LARGE_J)
    return [
        {**of.run(name, method, setting, metrics=False), "copy": of.copy}
        for name, of in (("relation", bench), ("kernel", estimated))
    ]


_PER_TABLE: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "by_k": by_k,
    "by_j": by_j,
    "by_beta": by_beta,
    "left_out": left_out,
    "options": options,
    "columns": columns,
    "baseline": baseline,
    "bandwidths": bandwidths,
    "times": times,
}


def measure(
    dsn: str, data: Path | None, rows: int, people: int, parts: Sequence[str] = PARTS
) -> Iterator[tuple[str, list[Row]]]:
    """Part by part, all tables of a part together."""
    sources = [tables.PATIENTS, tables.WORKERS, *([tables.adult(data)] if data else [])]
    benches = [Bench.of(dsn, source, rows) for source in sources]
    for part in parts:
        if part == "large":
            yield part, large(dsn, people)
        else:
            yield part, [row for bench in benches for row in _PER_TABLE[part](bench)]


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
        for part in ("by_k", "by_j", "by_beta")
        for row in found.get(part, ())
        if "refused" not in row
    ]


# -- what is shown ----------------------------------------------------------------------------

_RUN = ("classes", "average", "suppressed", "gcp", "rgcp", "rl")
_CONCLUDED = ("estimate_largest", "estimate_gain", "estimate_above", "exact_largest", "believed")
_OF = ("table", "method", "k", "beta", "j")
_ASKED = ("table", "method", "k", "j")
_WORDS = ("table", "bandwidth", "method", "claim", "holds", "found", "column", "paper")


def show(found: Row) -> None:
    for part, title, names in (
        ("by_k", "by k", (*_OF, *_RUN, *_CONCLUDED, "seconds")),
        ("by_j", "by J", (*_OF, *_RUN, *_CONCLUDED, "seconds")),
        ("by_beta", "by beta", (*_OF, *_RUN, *_CONCLUDED, "seconds")),
        ("left_out", "left out by the paper's k-primacy", (*_OF, "classes", "suppressed")),
        ("options", "what options of beta_primacy cost", (*_OF, *_RUN, "seconds")),
        (
            "columns",
            "distances by column",
            (*_OF, "column", "emd", "emd_midpoint", "difference", "half_width", "absolute"),
        ),
        ("baseline", "t-closeness", ("table", "method", "k", "t", "j", *_RUN, "seconds")),
        (
            "bandwidths",
            "left out by bandwidth of a kernel",
            ("table", "bandwidth", "method", "k", "j", "suppressed", "diverge", "classes", "gcp"),
        ),
        ("times", "times", ("table", "method", "records", "seconds", "method_seconds", "ratio")),
        (
            "large",
            "many records",
            ("method", "records", *_RUN[:4], "seconds", "copy", "ratio", "peak_mb"),
        ),
        ("claims", "what the paper says", ("claim", "table", "holds", "found")),
    ):  # fmt: skip
        if found.get(part):
            support.print_rows(
                title,
                names,
                found[part],
                words=_WORDS,
                asked=("table", "method", "k", "j"),
                width=200,
            )
