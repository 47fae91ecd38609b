"""Local generalization and bucketization: loss, errors of sums and time by k, l and density.

people      persons with an industry and an income: sex, age and industry are hidden by some, and
            the salary by all
income      the first of them
colorado    workers in Colorado: sex and age are hidden by some, the occupation by all
states      the same of the whole country, for its time
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from benchmarks import lgb_claims, lgb_plots, lgb_queries, support
from benchmarks import lgb_tables as tables
from benchmarks.benchmark import Benchmark, Row, Table
from benchmarks.lgb_tables import Source

METHODS: dict[str, Row] = {
    "LGB_MDP": {"name": "lgb_mdp"},
    "LGB_NCP, stop": {"name": "lgb_ncp", "ncp_small": "stop"},
    "LGB_NCP, fill": {"name": "lgb_ncp", "ncp_small": "fill"},
    "LGB_NCP, seeds": {"name": "lgb_ncp", "ncp_small": "fill", "ncp_assign": "seeds"},
}
ASKED = ("LGB_MDP", "LGB_NCP, stop", "LGB_NCP, fill")
"""Methods of which sums are asked."""

LOSSES = ("c_dm", "ncp")
AVERAGED = ("groups", *LOSSES, "told", "seconds", "ratio")
_LOSS = ("groups", "c_dm", "ncp", "told", "seconds", "ratio", "peak_mb")
_ERRORS = (
    "r_error",
    "r_error_median",
    "r_error_least",
    "r_error_most",
    "r_error_enough",
    "certain_median",
    "estimate_median",
    "outside",
    "beyond",
)


@dataclass(frozen=True)
class Runs:
    """Runs over one table; times are divided by that of its sorted copy."""

    dsn: str
    source: Source
    copy: float
    queries: int
    seeds: int
    density: int

    def drawn(self, draws: int, *setting: Any, asks: bool = False) -> Row:
        """Means of the losses of so many releases; errors are the medians of all of them."""
        done: list[Row] = []
        errors: list[dict[str, float]] = []
        for _ in range(draws):
            found = self.run(*setting)
            if "refused" in found:
                return found
            done.append(found)
            if asks:
                release = lgb_queries.read(self.dsn, self.source, self.source.release)
                errors += lgb_queries.asked(release, self.queries, self.seeds)
        shown = support.means(done, AVERAGED) | support.spread(done, LOSSES)
        told = lgb_queries.errors(errors) | {"seeds": self.seeds} if asks else {}
        return {**shown, **told, "draws": draws}

    def run(
        self,
        method: str,
        k: int,
        l: int,  # noqa: E741
        density: int | None = None,
    ) -> Row:
        hidden = density or self.density
        asked = {"table": self.source.table, "method": method, "k": k, "l": l, "density": hidden}
        declared = tables.policy(self.source, METHODS[method], k, l, hidden)
        support.forget(self.dsn)
        try:
            found = support.run_policy(self.dsn, declared)
        except support.RunFailed as failed:
            return {**asked, "refused": failed.reason("infeasible")}
        result, utility = found.result, found.result["utility"]
        return {
            **asked,
            "records": result["records"],
            "suppressed": result["suppressed"],
            "groups": utility["groups"],
            "c_dm": utility["discernibility"],
            "ncp": utility["paper_gcp"],
            "told": _told(utility),
            "seconds": found.seconds,
            "ratio": found.seconds / self.copy,
            "peak_mb": found.peak_mb,
        }


def _told(utility: Row) -> float:
    """Largest share of the hidden values of a column that those who show theirs tell."""
    return max((found["share"] or 0.0 for found in utility["taught"].values()), default=0.0)


@dataclass(frozen=True, kw_only=True)
class Lgb(Benchmark):
    """Releases with secrets of their own.

    Attributes:
        draws: releases of the losses by k.
        error_draws: those of which sums are asked.
        rows: of every table but `people`; None: all.
        queries: random sums per release and seed.
        seeds: of the sums, which are the same of every release.
        methods: of the losses.
        middle: k and l of the times.
        dense: k and l of the runs by density.
        densities: per cent of the values of a semi-sensitive column that are hidden.
        density: that of all other runs.
    """

    draws: int = 3
    error_draws: int = 3
    rows: int | None = None
    queries: int = 200
    seeds: int = 10
    ks: tuple[int, ...] = (5, 8, 10)
    ls: tuple[int, ...] = (5, 8, 10, 12, 15, 18, 20)
    methods: tuple[str, ...] = tuple(METHODS)
    middle: int = 10
    dense: tuple[tuple[int, int], ...] = ((5, 5), (10, 20))
    densities: tuple[int, ...] = (10, 20, 30, 40)
    density: int = 20

    parts: ClassVar = ("by_l", "by_k", "by_density", "equal", "times")
    real: ClassVar = frozenset(parts)
    tables: ClassVar = (
        Table("by_k", "loss by k and l", ("table", "method", "k", "l", *_LOSS)),
        Table("by_l", "errors of sums by k and l", ("method", "k", "l", *_ERRORS)),
        Table("by_density", "errors of sums by density", ("method", "k", "l", "density", *_ERRORS)),
        Table("equal", "groups of cells and of records", ("taken", "small", "k", "c_dm", "ncp")),
        Table("times", "times", ("table", "method", "records", *_LOSS)),
        Table("claims", "what the paper says, and what is asked", ("claim", "holds", "found")),
    )

    def by_l(self) -> Iterator[Row]:
        for method in ASKED:
            for k in self.ks:
                for l in self.ls:  # noqa: E741
                    yield self._asked(method, k, l, self.density)

    def by_density(self) -> Iterator[Row]:
        for method in ASKED:
            for k, l in self.dense:  # noqa: E741
                for density in self.densities:
                    yield self._asked(method, k, l, density)

    def by_k(self) -> Iterator[Row]:
        """Loss of the groups; that l does not matter is seen from two, with the least k."""
        for runs in (self._runs(tables.PEOPLE), self._colorado):
            for method in self.methods:
                for k in self.ks:
                    for l in (self.ls[0], self.ls[-1]) if k == self.ks[0] else self.ls[:1]:  # noqa: E741
                        yield runs.drawn(self.draws, method, k, l)

    def equal(self) -> Iterator[Row]:
        """LGB_NCP over cells, which stay whole, and over records, in memory."""
        assert self._loaded
        records = tables.coded(self.dsn, tables.INCOME)
        for small in ("stop", "fill"):
            for k in self.ks:
                for taken in ("cells", "records"):
                    found = tables.losses(records, k, small, whole=taken == "cells")
                    yield {"taken": taken, "small": small, "k": k, "records": len(records), **found}

    def times(self) -> Iterator[Row]:
        for runs in (self._income, self._colorado):
            for method in METHODS:
                yield runs.run(method, self.middle, self.middle)
        states = self._runs(tables.STATES)
        yield states.run("LGB_MDP", self.middle, self.middle)

    def _asked(self, method: str, k: int, l: int, density: int) -> Row:  # noqa: E741
        """Releases that several parts show are made once."""
        at = (method, k, l, density)
        if at not in self._made:
            self._made[at] = self._income.drawn(self.error_draws, *at, asks=True)
        return self._made[at]

    @cached_property
    def _made(self) -> dict[tuple[str, int, int, int], Row]:
        return {}

    @cached_property
    def _income(self) -> Runs:
        return self._runs(tables.INCOME)

    @cached_property
    def _colorado(self) -> Runs:
        return self._runs(tables.COLORADO)

    @cached_property
    def _loaded(self) -> bool:
        """All tables, once for all parts."""
        assert self.data is not None
        tables.load(self.dsn, self.data, {self.density, *self.densities}, self.rows)
        return True

    def _runs(self, source: Source) -> Runs:
        assert self._loaded
        copy = support.sorted_copy_seconds(self.dsn, source.table, source.columns)
        return Runs(self.dsn, source, copy, self.queries, self.seeds, self.density)

    @staticmethod
    def judged(found: Row) -> Row:
        return {"claims": lgb_claims.evaluate(found)}

    draw = staticmethod(lgb_plots.draw)
