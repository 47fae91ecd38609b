"""QS k-anonymity on Adult (figures, k, attributes, records) and on a generated table (size).

Adult has all its rows here; a missing value (`?`) is a value like any other.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks import people, support
from benchmarks.mondrian import ADULT
from pganon.importing import Format

SETS = {
    "QS1": ("age", "workclass", "occupation", "race"),
    "QS2": ("education_num", "marital_status", "sex", "native_country"),
}
COUNTS = ("product", "supported")
TAXONOMIES, FLAT = "taxonomies", "flat"
LOSSES = (TAXONOMIES, FLAT)
"""Distances of categories: by their lowest common ancestor, as in the paper, or 0 and 1."""

TREES = {
    "workclass": "workclass",
    "occupation": "occupation",
    "race": "race",
    "marital_status": "marital",
    "sex": "sex",
    "native_country": "country",
}
"""Files of the taxonomies, in `adult/hierarchies_anjana`; they know the missing value."""

EFFICIENT, BLOCKS, ONE_BLOCK = "efficient", "greedy 1024", "greedy one block"
"""The three methods; the last is the algorithm of the paper without its partitioning."""

K = 4
KS = (2, 3, 5, 8, 10, 15, 20)
ATTRIBUTES = (1, 2, 3, 4)
SUBSETS = (2_000, 4_000, 8_000, 16_000)
SEED = 2017
DRAWS = 3
AVERAGED = ("clusters", "gcp", "ncp_total", "constants", "seconds", "method_seconds")

# Targets of the project, for k = 4 and count: product.
MOST_SECONDS = {EFFICIENT: 6.0, BLOCKS: 30.0, ONE_BLOCK: 180.0}
MOST_OVER_ONE_BLOCK = 1.05
MOST_RATIO = 30.0

Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """One run.

    Attributes:
        attributes: how many of every set, in the order of `SETS`.
        loss: one of `LOSSES`.
    """

    table: str
    rows: int
    method: str
    count: str
    k: int = K
    attributes: int = 4
    loss: str = FLAT

    @property
    def columns(self) -> dict[str, str]:
        """Set of every column."""
        return {name: qs for qs, names in SETS.items() for name in names[: self.attributes]}

    @property
    def text(self) -> str:
        return (
            f"{self.table}, {self.rows:,} rows, {self.attributes} attributes per set,"
            f" k = {self.k}, {self.count}, {self.loss}, {self.method}"
        )

    @property
    def draws(self) -> int:
        """Releases to take the mean of: the greedy method begins at random."""
        figures = self.table == "qs_adult" and self.k == K and self.attributes == 4
        several = figures if self.method == ONE_BLOCK else self.table.startswith("qs_adult")
        return DRAWS if several and self.method != EFFICIENT else 1

    def policy(self, folder: Path | None, draw: int = 0) -> dict[str, Any]:
        options = {
            EFFICIENT: {"name": "qs_efficient"},
            BLOCKS: {"name": "qs_greedy", "block_size": 1024},
            ONE_BLOCK: {"name": "qs_greedy", "block_size": self.rows},
        }
        method = self.method.replace(" ", "_")
        return {
            "release": f"{self.table}_{self.attributes}_{self.k}_{self.count}_{self.loss}"
            f"_{method}_{draw}",
            "source": f"public.{self.table}",
            "columns": {
                name: {"role": "quasi_sensitive", "set": qs, **self._tree(name, folder)}
                for name, qs in self.columns.items()
            },
            "privacy": [{"model": "qs_k_anonymity", "k": self.k, "count": self.count}],
            "method": options[self.method],
            # Nothing is suppressed. Policies that differ have different seeds.
            "suppression_limit": draw / 1000,
            "republication": "allow",
            "publish": {"keep": 1},
        }

    def _tree(self, name: str, folder: Path | None) -> dict[str, Any]:
        if self.loss == FLAT or name not in TREES or folder is None:
            return {}
        file = folder / "adult" / "hierarchies_anjana" / f"{TREES[name]}.csv"
        return {"hierarchy": {"csv": str(file), "sep": ","}}


@dataclass
class Bench:
    """Runs settings, each once however many tables show it.

    Attributes:
        data: folder of the taxonomies.
        skipped: why settings have no figures.
    """

    dsn: str
    data: Path | None = None
    found: dict[Setting, Row] = field(default_factory=dict)
    skipped: dict[Setting, str] = field(default_factory=dict)

    def rows(self, settings: Iterable[Setting]) -> list[Row]:
        """Figures of the settings that k is feasible for."""
        settings = list(settings)
        for setting in settings:
            if setting not in self.found and setting not in self.skipped:
                self._run(setting)
        return [self.found[setting] for setting in settings if setting in self.found]

    def _run(self, setting: Setting) -> None:
        try:
            measured = [
                support.run_policy(self.dsn, setting.policy(self.data, draw))
                for draw in range(setting.draws)
            ]
        except support.RunFailed as failure:
            if failure.error.get("code") != "infeasible":
                raise
            self.skipped[setting] = failure.error["message"]
            print(f"skipped: {setting.text}: {failure.error['message']}", file=sys.stderr)
            return
        drawn = [_figures(setting, one) for one in measured]
        row = {**drawn[0], **{name: mean(one[name] for one in drawn) for name in AVERAGED}}
        row["gcp_drawn"] = [one["gcp"] for one in drawn]
        print(f"{setting.text}: {row['seconds']:.1f} s", file=sys.stderr)
        self.found[setting] = row


def _figures(setting: Setting, measured: support.Measured) -> Row:
    utility = measured.result["utility"]
    phases = support.phase_seconds(measured)
    return {
        "table": setting.table,
        "rows": setting.rows,
        "attributes": setting.attributes,
        "k": setting.k,
        "count": setting.count,
        "method": setting.method,
        "loss": setting.loss,
        **{name: utility[name] for name in ("clusters", "gcp", "ncp_total", "constants")},
        **{name: utility[name] for name in COUNTS},
        "seconds": measured.seconds,
        "method_seconds": phases["partition"],
        "phases": phases,
        "peak_mb": measured.peak_mb,
    }


def load_adult(dsn: str, data: Path, subsets: Sequence[int] = SUBSETS) -> dict[str, int]:
    """Load Adult and random subsets of it, each a part of the next larger one.

    Returns:
        Number of rows of every table, ascending; the last is all of Adult.
    """
    form = Format(header=False, names=ADULT.split(","), separator=", ")
    loaded: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.csv"
        support.unpack(data / "adult" / "adult.data.gz", file)
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        order = random.Random(SEED).sample(lines, len(lines))
        for size in subsets:
            part = Path(folder) / f"{size}.csv"
            part.write_text("".join(order[:size]), encoding="utf-8")
            loaded[f"qs_adult_{size}"] = support.load(dsn, part, f"qs_adult_{size}", form)
        loaded["qs_adult"] = support.load(dsn, file, "qs_adult", form)
    return loaded


PARTS = ("figures", "by_k", "by_attributes", "by_size")


def adult(
    bench: Bench,
    tables: dict[str, int],
    *,
    exact: bool,
    ks: Sequence[int] = KS,
    parts: Sequence[str] = PARTS,
) -> Iterator[tuple[str, list[Row]]]:
    """Figures at k = 4, then one of k, attributes per set and records varied, part by part.

    Args:
        exact: vary them for greedy in one block, too.
        parts: which of :data:`PARTS`.
    """
    methods = (EFFICIENT, BLOCKS, ONE_BLOCK) if exact else (EFFICIENT, BLOCKS)
    whole = Setting("qs_adult", tables["qs_adult"], EFFICIENT, "product")
    varied = [
        replace(whole, count=count, method=method, loss=loss)
        for loss in LOSSES
        for count in COUNTS
        for method in methods
    ]
    settings = {
        "by_k": [replace(one, k=k) for one in varied for k in ks],
        "by_attributes": [replace(one, attributes=n) for one in varied for n in ATTRIBUTES],
        "by_size": [
            replace(one, table=table, rows=rows) for one in varied for table, rows in tables.items()
        ],
    }
    for part in parts:
        yield part, _at_four(bench, whole) if part == "figures" else bench.rows(settings[part])


def _at_four(bench: Bench, whole: Setting) -> list[Row]:
    baseline = support.sorted_copy_seconds(bench.dsn, whole.table, list(whole.columns))
    found: list[Row] = []
    for loss, count in product(LOSSES, COUNTS):
        rows = bench.rows(
            replace(whole, count=count, method=method, loss=loss)
            for method in (EFFICIENT, ONE_BLOCK, BLOCKS)
        )
        one_block = next(row["gcp"] for row in rows if row["method"] == ONE_BLOCK)
        for row in rows:
            compared = {
                **row,
                "baseline": baseline,
                "ratio": row["seconds"] / baseline,
                "gcp_over_one_block": row["gcp"] / one_block,
            }
            found.append({**compared, "target_met": _target_met(compared)})
    return found


def _target_met(row: Row) -> bool | None:
    """Whether the target is met; None where there is none."""
    if row["count"] != "product":
        return None
    close = row["method"] != BLOCKS or row["gcp_over_one_block"] <= MOST_OVER_ONE_BLOCK
    return close and row["seconds"] <= MOST_SECONDS[row["method"]]


def generated(bench: Bench, rows: int) -> list[Row]:
    """A generated table without a primary key, against the sorted copy of the same table."""
    people.create(bench.dsn, rows)
    settings = [Setting(people.TABLE, rows, EFFICIENT, count) for count in COUNTS]
    baseline = support.sorted_copy_seconds(bench.dsn, people.TABLE, list(settings[0].columns))
    found: list[Row] = []
    for row in bench.rows(settings):
        ratio = row["seconds"] / baseline
        met = ratio <= MOST_RATIO if row["count"] == "product" else None
        found.append({**row, "baseline": baseline, "ratio": ratio, "target_met": met})
    return found
