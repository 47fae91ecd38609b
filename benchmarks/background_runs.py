"""Runs of the benchmark against background knowledge over one table, by method and setting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.range import Range

from benchmarks import background_figures as figures
from benchmarks import background_tables as tables
from benchmarks import support
from benchmarks.background_names import AGG, BETA, INC, OURS_BETA, OURS_INC
from benchmarks.background_tables import Drawn, Setting, Source
from benchmarks.benchmark import Row

METHODS: dict[str, Row] = {
    INC: {"name": "kinc", "inc_pick": "nearest"},
    AGG: {"name": "kagg"},
    BETA: {"name": "beta_primacy", "select": "nearest", "division": "none"},
    OURS_INC: {"name": "kinc"},
    OURS_BETA: {"name": "beta_primacy"},
}
"""Methods as in the paper, by its names, and with the options of this project, by its own. All put
the residual into classes; what the paper leaves out is in the part `left_out`."""

SPREAD = ("gcp", "rgcp", "rl")


@dataclass(frozen=True)
class Runs:
    """Runs over one table; times are divided by that of its sorted copy.

    Attributes:
        draws: of a setting that several parts have in common; one is a release.
        made: rows of settings that several parts have in common, by method and setting.
    """

    dsn: str
    drawn: Drawn
    copy: float
    draws: int = 1
    made: dict[tuple[str, Setting], Row] = field(default_factory=dict)

    @classmethod
    def of(cls, dsn: str, source: Source, rows: int, draws: int = 1) -> Runs:
        drawn = tables.load(dsn, source, rows)
        copy = support.sorted_copy_seconds(dsn, source.name, source.columns)
        return cls(dsn, drawn, copy, draws)

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
        asked = self._asked(name, setting)
        options = ["--metrics", "all"] if metrics else []
        try:
            found = support.run_policy(self.dsn, declared, *options)
        except support.RunFailed as failed:
            return {**asked, "refused": failed.reason("infeasible", "verification")}
        return self._row(asked, found, metrics=metrics)

    def drawn_again(self, name: str, method: Row, setting: Setting) -> Row:
        """Means over the draws, and how far losses and links are apart."""
        declared = tables.policy(self.source, method, setting)
        asked = self._asked(name, setting)
        try:
            found = support.draws(self.dsn, declared, self.draws, "--metrics", "all")
        except support.RunFailed as failed:
            return {**asked, "refused": failed.reason("infeasible", "verification")}
        rows = [self._row(asked, one, metrics=True) for one in found]
        figures = [name for name in rows[0] if name not in asked]
        spread = support.spread(rows, SPREAD)
        return {**support.means(rows, figures), "draws": len(rows), **spread}

    def _asked(self, name: str, setting: Setting) -> Row:
        return {"table": self.source.name, "method": name, **setting.row}

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
        """The row of a setting that several parts have in common."""
        if (name, setting) not in self.made:
            measured = self.run if self.draws == 1 else self.drawn_again
            self.made[name, setting] = measured(name, METHODS[name], setting)
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
