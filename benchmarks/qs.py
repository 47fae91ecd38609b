"""QS k-anonymity on Adult (figures, k, attributes, records) and on a generated table (size).

Adult has all its rows here; a missing value (`?`) is a value like any other.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import ClassVar

from benchmarks import adult, people, qs_claims, qs_plots, support
from benchmarks.benchmark import Benchmark, Row, Table
from benchmarks.qs_names import BLOCKS, COUNTS, EFFICIENT, FLAT, LOSSES, ONE_BLOCK, K

SETS = {
    "QS1": ("age", "workclass", "occupation", "race"),
    "QS2": ("education_num", "marital_status", "sex", "native_country"),
}
TREES = {
    "workclass": "workclass",
    "occupation": "occupation",
    "race": "race",
    "marital_status": "marital",
    "sex": "sex",
    "native_country": "country",
}
"""Files of the taxonomies, in `adult/hierarchies_anjana`; they know the missing value."""

SEED = 2017
AVERAGED = ("clusters", "gcp", "ncp_total", "constants", "seconds", "method_seconds")

# Targets of the project, for k = 4 and count: product.
MOST_SECONDS = {EFFICIENT: 6.0, BLOCKS: 30.0, ONE_BLOCK: 180.0}
MOST_OVER_ONE_BLOCK = 1.05
MOST_RATIO = 30.0


@dataclass(frozen=True)
class Setting:
    """One release.

    Attributes:
        attributes: how many of every set, in the order of `SETS`.
        loss: one of `LOSSES`.
        draws: releases to take the mean of.
    """

    table: str
    rows: int
    method: str
    count: str
    k: int = K
    attributes: int = 4
    loss: str = FLAT
    draws: int = 1

    @property
    def columns(self) -> dict[str, str]:
        """Set of every column."""
        return {name: qs for qs, names in SETS.items() for name in names[: self.attributes]}

    @property
    def asked(self) -> Row:
        names = ("table", "rows", "attributes", "k", "count", "method", "loss")
        return {name: getattr(self, name) for name in names}

    def policy(self, folder: Path | None) -> Row:
        options = {
            EFFICIENT: {"name": "qs_efficient"},
            BLOCKS: {"name": "qs_greedy", "block_size": 1024},
            ONE_BLOCK: {"name": "qs_greedy", "block_size": self.rows},
        }
        return {
            "release": f"{self.table}_bench",
            "source": f"public.{self.table}",
            "columns": {
                name: {"role": "quasi_sensitive", "set": qs, **self._tree(name, folder)}
                for name, qs in self.columns.items()
            },
            "privacy": [{"model": "qs_k_anonymity", "k": self.k, "count": self.count}],
            "method": options[self.method],
            "republication": "allow",
            "publish": {"keep": 1},
        }

    def _tree(self, name: str, folder: Path | None) -> Row:
        if self.loss == FLAT or name not in TREES or folder is None:
            return {}
        file = folder / "adult" / "hierarchies_anjana" / f"{TREES[name]}.csv"
        return {"hierarchy": {"csv": str(file), "sep": ","}}


def _figures(setting: Setting, measured: support.Measured) -> Row:
    utility = measured.result["utility"]
    return {
        **setting.asked,
        **{name: utility[name] for name in ("clusters", "gcp", "ncp_total", "constants")},
        **{f"{qs} {count}": _spread(utility[count][qs]) for qs in SETS for count in COUNTS},
        "seconds": measured.seconds,
        "method_seconds": measured.phases["partition"],
        "phases": measured.phases,
        "peak_mb": measured.peak_mb,
    }


def _spread(found: dict[str, float]) -> str:
    return f"{found['least']:,.0f}/{found['mean']:,.1f}/{found['most']:,.0f}"


_OF = ("loss", "count", "method")
_LOSS = ("clusters", "gcp", "ncp_total", "seconds")
_SWEPT = (*_LOSS, "gcp_least", "gcp_most", "method_seconds", "constants")


@dataclass(frozen=True, kw_only=True)
class Qs(Benchmark):
    """The greedy method begins at random: its figures on Adult are means of several draws.

    Attributes:
        people: rows of the generated table.
        ks, attributes: what varies, one after the other; `attributes` of every set.
        subsets: records of random subsets of Adult.
        losses, counts: distances of categories, and what is counted.
        exact: vary them for greedy in one block, too: slow.
    """

    people: int = 1_000_000
    ks: tuple[int, ...] = (2, 3, 5, 8, 10, 15, 20)
    attributes: tuple[int, ...] = (1, 2, 3, 4)
    subsets: tuple[int, ...] = (2_000, 4_000, 8_000, 16_000)
    draws: int = 3
    exact: bool = False
    losses: tuple[str, ...] = LOSSES
    counts: tuple[str, ...] = COUNTS

    parts: ClassVar = ("figures", "by_k", "by_attributes", "by_size", "size")
    real: ClassVar = frozenset(parts) - {"size"}
    tables: ClassVar = (
        Table(
            "figures",
            f"Adult, k = {K}; ratio: to a sorted copy",
            (*_OF, *_LOSS[:2], "gcp_over_one_block", *_LOSS[2:], "ratio", "target_met"),
        ),
        Table(
            "figures",
            f"The same runs: combinations per cluster (least/mean/most), k = {K}",
            (*_OF, *(f"{qs} {count}" for qs in ("QS1", "QS2") for count in COUNTS), "constants"),
        ),
        Table("by_k", "Adult, 4 attributes per set", (*_OF, "k", *_SWEPT)),
        Table("by_attributes", f"Adult, k = {K}", (*_OF, "attributes", *_SWEPT)),
        Table("by_size", f"Random subsets of Adult, k = {K}", (*_OF, "rows", *_SWEPT)),
        Table(
            "size",
            f"Generated table, k = {K}; ratio: to a sorted copy",
            (*_OF, "rows", *_LOSS, "ratio", "target_met", "peak_mb"),
        ),
        Table("claims", "Claims of the paper", ("loss", "count", "claim", "holds", "numbers")),
    )

    def figures(self) -> Iterator[Row]:
        whole = self._whole
        baseline = support.sorted_copy_seconds(self.dsn, whole.table, list(whole.columns))
        for loss, count in product(self.losses, self.counts):
            rows = list(
                self._rows(
                    replace(whole, count=count, method=method, loss=loss, draws=self._of(method))
                    for method in (EFFICIENT, ONE_BLOCK, BLOCKS)
                )
            )
            (one_block,) = (row["gcp"] for row in rows if row["method"] == ONE_BLOCK)
            for row in rows:
                compared = {
                    **row,
                    "baseline": baseline,
                    "ratio": row["seconds"] / baseline,
                    "gcp_over_one_block": row["gcp"] / one_block,
                }
                yield {**compared, "target_met": _target_met(compared)}

    def by_k(self) -> Iterator[Row]:
        return self._rows(replace(one, k=k) for one in self._varied for k in self.ks)

    def by_attributes(self) -> Iterator[Row]:
        return self._rows(
            replace(one, attributes=n) for one in self._varied for n in self.attributes
        )

    def by_size(self) -> Iterator[Row]:
        return self._rows(
            replace(one, table=table, rows=rows)
            for one in self._varied
            for table, rows in self._loaded.items()
        )

    def size(self) -> Iterator[Row]:
        """A generated table without a primary key, against the sorted copy of the same table."""
        people.create(self.dsn, self.people)
        settings = [Setting(people.TABLE, self.people, EFFICIENT, count) for count in self.counts]
        columns = list(settings[0].columns)
        baseline = support.sorted_copy_seconds(self.dsn, people.TABLE, columns)
        for setting in settings:
            row = _figures(setting, support.run_policy(self.dsn, setting.policy(None)))
            ratio = row["seconds"] / baseline
            met = ratio <= MOST_RATIO if row["count"] == "product" else None
            yield {**row, "baseline": baseline, "ratio": ratio, "target_met": met}

    @cached_property
    def _made(self) -> dict[Setting, Row]:
        """Releases by setting, each made once however many parts show it."""
        return {}

    @property
    def _whole(self) -> Setting:
        *_, (table, rows) = self._loaded.items()
        return Setting(table, rows, EFFICIENT, "product")

    @property
    def _varied(self) -> list[Setting]:
        methods = (EFFICIENT, BLOCKS, *([ONE_BLOCK] if self.exact else []))
        return [
            replace(self._whole, count=count, method=method, loss=loss, draws=self._of(method))
            for loss in self.losses
            for count in self.counts
            for method in methods
        ]

    def _of(self, method: str) -> int:
        return 1 if method == EFFICIENT else self.draws

    def _rows(self, settings: Iterable[Setting]) -> Iterator[Row]:
        """Figures of the settings; those that k is infeasible for are refused."""
        for setting in settings:
            if setting not in self._made:
                self._made[setting] = self._run(setting)
            yield self._made[setting]

    def _run(self, setting: Setting) -> Row:
        policy = setting.policy(self.data)
        try:
            drawn = [
                _figures(setting, one) for one in support.draws(self.dsn, policy, setting.draws)
            ]
        except support.RunFailed as failed:
            return {**setting.asked, "refused": failed.reason("infeasible")}
        found = support.spread(drawn, ("gcp", "ncp_total"))
        return {**support.means(drawn, AVERAGED), "draws": len(drawn), **found}

    @cached_property
    def _loaded(self) -> dict[str, int]:
        """Adult and random subsets of it, each a part of the next larger one.

        Number of rows of every table, ascending; the last is all of Adult.
        """
        assert self.data is not None
        lines = adult.lines(self.data, complete=False)
        order = random.Random(SEED).sample(lines, len(lines))
        loaded = {
            f"adult_{size}": adult.load(self.dsn, f"adult_{size}", order[:size])
            for size in self.subsets
        }
        return {**loaded, "adult": adult.load(self.dsn, "adult", lines)}

    @staticmethod
    def judged(found: Row) -> Row:
        return {"claims": qs_claims.evaluate(found)}

    draw = staticmethod(qs_plots.draw)


def _target_met(row: Row) -> bool | None:
    """Whether the target is met; None where there is none."""
    if row["count"] != "product":
        return None
    close = row["method"] != BLOCKS or row["gcp_over_one_block"] <= MOST_OVER_ONE_BLOCK
    return close and row["seconds"] <= MOST_SECONDS[row["method"]]
