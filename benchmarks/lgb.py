"""Local generalization and bucketization: loss, errors of sums and time by k, l and density.

income      persons with an industry and an income: sex, age and industry are hidden by some, and
            the salary by all
colorado    workers in Colorado: sex and age are hidden by some, the occupation by all
states      the same of the whole country, for its time
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import lgb_queries, support
from benchmarks import lgb_tables as tables
from benchmarks.lgb_tables import DEFAULT_DENSITY, DENSITIES, Source

Row = dict[str, Any]

KS = (5, 8, 10)
LS = (5, 8, 10, 12, 15, 18, 20)
METHODS: dict[str, Row] = {
    "LGB_MDP": {"name": "lgb_mdp"},
    "LGB_NCP, stop": {"name": "lgb_ncp", "ncp_small": "stop"},
    "LGB_NCP, fill": {"name": "lgb_ncp", "ncp_small": "fill"},
    "LGB_NCP, seeds": {"name": "lgb_ncp", "ncp_small": "fill", "ncp_assign": "seeds"},
}
ASKED = ("LGB_MDP", "LGB_NCP, stop", "LGB_NCP, fill")
"""Methods of which sums are asked."""
QUERIES = 1000
PARTS = ("by_k", "by_l", "by_density", "times")
MIDDLE = 10
"""k and l of the times."""
DENSE = ((5, 5), (10, 20))
"""k and l of the runs by density."""


@dataclass(frozen=True)
class Bench:
    """Runs over one table; times are divided by that of its sorted copy."""

    dsn: str
    source: Source
    copy: float
    queries: int = QUERIES

    @classmethod
    def of(cls, dsn: str, source: Source, queries: int = QUERIES) -> Bench:
        copy = support.sorted_copy_seconds(dsn, source.table, source.columns)
        return cls(dsn, source, copy, queries)

    def run(
        self,
        method: str,
        k: int,
        l: int,  # noqa: E741
        density: int = DEFAULT_DENSITY,
        *,
        asks: bool = False,
    ) -> Row:
        asked = {"table": self.source.table, "method": method, "k": k, "l": l, "density": density}
        declared = tables.policy(self.source, METHODS[method], k, l, density)
        support.forget(self.dsn)
        try:
            found = support.run_policy(self.dsn, declared)
        except support.RunFailed as failed:
            if failed.error.get("code") != "infeasible":
                raise
            return {**asked, "refused": failed.error["message"]}
        result, utility = found.result, found.result["utility"]
        row = {
            **asked,
            "records": result["records"],
            "suppressed": result["suppressed"],
            "groups": utility["groups"],
            "c_dm": utility["discernibility"],
            "ncp": utility["gcp"],
            "told": _told(utility),
            "seconds": found.seconds,
            "ratio": found.seconds / self.copy,
            "peak_mb": found.peak_mb,
        }
        if asks:
            release = lgb_queries.read(self.dsn, self.source, declared["release"])
            row |= lgb_queries.errors(release, self.queries)
        return row


def _told(utility: Row) -> float:
    """Largest share of the hidden values of a column that those who show theirs tell."""
    return max((found["share"] or 0.0 for found in utility["taught"].values()), default=0.0)


# -- what is measured -------------------------------------------------------------------------


def by_k(bench: Bench) -> list[Row]:
    """Loss of the groups; that l does not matter is seen from two."""
    return [bench.run(method, k, l) for method in METHODS for k in KS for l in (LS[0], LS[-1])]  # noqa: E741


def by_l(bench: Bench) -> list[Row]:
    return [bench.run(method, k, l, asks=True) for method in ASKED for k in KS for l in LS]  # noqa: E741


def by_density(bench: Bench) -> list[Row]:
    return [
        bench.run(method, k, l, density, asks=True)
        for method in ASKED
        for k, l in DENSE  # noqa: E741
        for density in DENSITIES
    ]


def times(benches: Iterable[Bench]) -> list[Row]:
    return [bench.run(method, MIDDLE, MIDDLE) for bench in benches for method in METHODS]


def measure(
    dsn: str,
    data: Path,
    rows: int | None = None,
    queries: int = QUERIES,
    parts: Sequence[str] = PARTS,
) -> Iterator[tuple[str, list[Row]]]:
    """Parts with their rows, one after the other. Args: rows: of every table; None: all."""
    tables.load(dsn, data, rows)
    income = Bench.of(dsn, tables.INCOME, queries)
    if "by_l" in parts:
        yield "by_l", by_l(income)
    if "by_density" in parts:
        yield "by_density", by_density(income)
    colorado = Bench.of(dsn, tables.COLORADO)
    if "by_k" in parts:
        yield "by_k", [*by_k(income), *by_k(colorado)]
    if "times" in parts:
        states = Bench.of(dsn, tables.STATES)
        yield "times", [*times([income, colorado]), states.run("LGB_MDP", MIDDLE, MIDDLE)]


# -- what is shown ----------------------------------------------------------------------------

_LOSS = ("groups", "c_dm", "ncp", "told", "seconds", "ratio", "peak_mb")
_ERRORS = (
    "r_error",
    "r_error_median",
    "r_error_enough",
    "certain_median",
    "estimate_median",
    "outside",
    "beyond",
)
_WORDS = ("table", "method", "claim", "holds")


def show(found: Row) -> None:
    for part, title, columns in (
        ("by_k", "loss by k and l", ("table", "method", "k", "l", *_LOSS)),
        ("by_l", "errors of sums by k and l", ("method", "k", "l", *_ERRORS)),
        ("by_density", "errors of sums by density", ("method", "k", "l", "density", *_ERRORS)),
        ("times", "times", ("table", "method", "records", *_LOSS)),
        ("claims", "what the paper says, and what is asked", ("claim", "holds", "found")),
    ):
        if found.get(part):
            support.print_rows(
                title, columns, found[part], words=_WORDS, asked=("method", "k", "l"), width=170
            )
