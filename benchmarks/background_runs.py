"""Runs of the benchmark against background knowledge over one table, by method and setting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.range import Range

from benchmarks import background_figures as figures
from benchmarks import background_tables as tables
from benchmarks import support
from benchmarks.background_names import AGG, BETA, INC, OURS_BETA, OURS_INC, SELECTIVITIES
from benchmarks.background_search import clusters_of, searched
from benchmarks.background_tables import Drawn, Setting, Source
from benchmarks.benchmark import Row
from pganon.methods.background.search.primacy import Post

METHODS: dict[str, Row] = {
    INC: {"name": "kinc", "inc_pick": "nearest"},
    AGG: {"name": "kagg"},
    BETA: {"name": "beta_primacy", "select": "nearest", "division": "none"},
    OURS_INC: {"name": "kinc"},
    OURS_BETA: {"name": "beta_primacy"},
}
"""Methods as in the paper, by its names, and with the options of this project, by its own. All put
the residual into classes."""
SEARCHED: Mapping[str, Post] = {INC: "inc", AGG: "agg"}
"""Methods of the paper that suppress the residual, which is searched without a release."""


SPREAD = (
    *("gcp", "rgcp", "rl", "linked", "average", "smallest", "suppressed"),
    *("emd", "emd_midpoint", "absolute", "difference", "error"),
    *(f"error_{share}" for share in SELECTIVITIES),
)
_OF = ("table", "method", "k", "beta", "t", "j", "column")


def means(rows: Iterable[Row]) -> Iterator[Row]:
    """Means over the tables that were drawn, and how far they are apart.

    Settings that some tables refuse have the means of the others, and the number of these."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in _OF), []).append(row)
    for of in groups.values():
        done = [row for row in of if "refused" not in row]
        if len(of) == 1 or not done:
            yield of[0]
            continue
        found: dict[str, list[Row]] = {}
        for row in done:
            for name, value in row.items():
                if (
                    name not in _OF
                    and isinstance(value, (int, float))
                    and not isinstance(value, bool)
                ):
                    found.setdefault(name, []).append(row)
        shared = {name: support.means(rows, [name])[name] for name, rows in found.items()}
        drawn = [name for name in SPREAD if name in found]
        yield {**done[0], **shared, **support.spread(done, drawn), "draws": len(done)}


@dataclass(frozen=True)
class Runs:
    """Runs over one table; times are divided by that of its sorted copy.

    Attributes:
        timed: whether methods that are searched without a release are timed with one.
        made: rows of settings that several parts have in common, by method and setting.
    """

    dsn: str
    drawn: Drawn
    copy: float
    timed: bool = True
    made: dict[tuple[str, Setting], Row] = field(default_factory=dict)

    @classmethod
    def of(cls, dsn: str, source: Source, rows: int, draw: int = 0) -> Runs:
        """Over a table that is drawn and loaded."""
        drawn = tables.load(dsn, source, rows, tables.SEED + draw)
        copy = support.sorted_copy_seconds(dsn, source.name, source.columns)
        return cls(dsn, drawn, copy, timed=draw == 0)

    @property
    def source(self) -> Source:
        return self.drawn.source

    def believing(self, **changes: Any) -> Runs:
        """The same table with other priors."""
        source = replace(self.source, **changes)
        return replace(self, drawn=replace(self.drawn, source=source))

    def run(self, name: str, method: Row, setting: Setting, *, metrics: bool = True) -> Row:
        """Of one release."""
        declared = tables.policy(self.source, method, setting)
        asked = {"table": self.source.name, "method": name, **setting.row}
        options = ["--metrics", "all"] if metrics else []
        try:
            found = support.run_policy(self.dsn, declared, *options)
        except support.RunFailed as failed:
            return {**asked, "refused": failed.reason("infeasible", "verification")}
        return self._row(asked, found, metrics=metrics)

    def _row(self, asked: Row, found: support.Measured, *, metrics: bool) -> Row:
        phases = found.phases
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

    def shared(self, name: str, setting: Setting) -> Row:
        """The row of a setting that several parts have in common.

        Of methods that suppress in the paper: their classes as they do and, of the first table, the
        seconds of a release, which puts the residual into classes.
        """
        if (name, setting) in self.made:
            return self.made[name, setting]
        if name not in SEARCHED:
            row = self.run(name, METHODS[name], setting)
        else:
            timed = self.run(name, METHODS[name], setting, metrics=False) if self.timed else {}
            row = {
                "table": self.source.name,
                "method": name,
                **setting.row,
                "records": len(self.drawn.people),
                **searched(self.drawn, SEARCHED[name], setting),
                **{key: timed[key] for key in ("method_seconds", "seconds") if key in timed},
            }
        self.made[name, setting] = {**row, "clusters": clusters_of(self.drawn, setting)}
        return self.made[name, setting]

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
