"""Anatomy on Adult (how near the members of a group are) and on a generated table (speed)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchmarks import adult, people, support
from benchmarks.benchmark import Benchmark, Row, Table

MOST_RATIO = 8.0
"""The project's target for a million records and l = 4."""

PEOPLE_QI = (
    "age", "workclass", "race", "education_num", "marital_status", "sex", "native_country",
)  # fmt: skip
DIVISIONS = ("public", "eligible")
_SHOWN = ("division", "records", "l", "block_size", "groups", "spread", "seconds", "ratio")


def policy(table: str, columns: Sequence[str], l: int, block_size: int, division: str) -> Row:  # noqa: E741
    return {
        "release": f"{table}_{l}_{block_size}_{division}",
        "source": f"public.{table}",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in columns},
            "occupation": {"role": "sensitive"},
        },
        "privacy": [{"model": "anatomy_l_diversity", "column": "occupation", "l": l}],
        "method": {"name": "anatomy", "block_size": block_size, "division": division},
        "republication": "allow",
        "publish": {"keep": 1},
    }


@dataclass(frozen=True, kw_only=True)
class Anatomy(Benchmark):
    """Args: people: rows of the generated table."""

    people: int = 1_000_000
    degrees: tuple[int, ...] = (2, 3, 4)
    sizes: tuple[int, ...] = (16, 100, 500)

    parts: ClassVar = ("adult", "generated")
    real: ClassVar = frozenset({"adult"})
    tables: ClassVar = (
        Table("adult", "Adult: groups of similar records", _SHOWN),
        Table("generated", f"generated people: target {MOST_RATIO:g} sorted copies", _SHOWN),
    )

    def adult(self) -> Iterator[Row]:
        assert self.data is not None
        records = adult.load(self.dsn, "adult", adult.lines(self.data, complete=False))
        asked = [(l, size, d) for d in DIVISIONS for l in self.degrees for size in self.sizes]  # noqa: E741
        return self._rows("adult", records, adult.QUASI, asked)

    def generated(self) -> Iterator[Row]:
        people.create(self.dsn, self.people)
        asked = [(4, 100, division) for division in DIVISIONS]
        return self._rows(people.TABLE, self.people, PEOPLE_QI, asked)

    def _rows(
        self,
        table: str,
        records: int,
        columns: Sequence[str],
        asked: Sequence[tuple[int, int, str]],
    ) -> Iterator[Row]:
        baseline = support.sorted_copy_seconds(self.dsn, table, [*columns, "occupation"])
        for l, block_size, division in asked:  # noqa: E741
            declared = policy(table, columns, l, block_size, division)
            measured = support.run_policy(self.dsn, declared)
            utility = measured.result["utility"]
            yield {
                "records": records,
                "l": l,
                "block_size": block_size,
                "division": division,
                "groups": utility["groups"],
                "spread": utility["gcp"],
                "reconstruction_error": utility["sensitive"]["occupation"]["reconstruction_error"],
                "seconds": measured.seconds,
                "baseline": baseline,
                "ratio": measured.seconds / baseline,
                "phases": measured.phases,
                "peak_mb": measured.peak_mb,
            }
