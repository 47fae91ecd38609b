"""Full-domain recoding on Adult (levels and cost) and ACS 2018 (levels and speed)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchmarks import adult, support
from benchmarks.benchmark import Benchmark, Row, Table
from pganon.importing.form import Format

K = (2, 5, 10, 25, 50, 100)
LIMITS = (0.0, 0.01, 0.05)

ADULT = {name: f"adult_hierarchy_{name.replace('_', '-')}.csv" for name in adult.QUASI}
"""Files with the hierarchies of ARX."""

DIVISIONS = {
    "Northeast": {"New England": "CT ME MA NH RI VT", "Middle Atlantic": "NJ NY PA"},
    "Midwest": {
        "East North Central": "IL IN MI OH WI",
        "West North Central": "IA KS MN MO NE ND SD",
    },
    "South": {
        "South Atlantic": "DE FL GA MD NC SC VA WV",
        "East South Central": "AL KY MS TN",
        "West South Central": "AR LA OK TX",
    },
    "West": {"Mountain": "AZ CO ID MT NV NM UT WY", "Pacific": "AK CA HI OR WA"},
    "Puerto Rico": {"Puerto Rico island": "PR"},
}
"""The regions and divisions of the US Census Bureau."""

STATES = [
    [state, division, region, "*"]
    for region, divisions in DIVISIONS.items()
    for division, states in divisions.items()
    for state in states.split()
]


def _ordered(first: int, last: int, fanout: list[int]) -> Row:
    values = [str(value) for value in range(first, last + 1)]
    return {"order": {"values": values, "fanout": fanout}}


ACS: Row = {
    "AGEP": {"hierarchy": {"intervals": [5, 10, 20, 40]}},
    "SCHL": {"hierarchy": _ordered(1, 24, [2, 2, 3])},
    "SEX": {"type": "categorical"},
    "RAC1P": {"type": "categorical"},
    "RELP": {"hierarchy": _ordered(0, 17, [3, 3])},
    "STATE": {"hierarchy": {"inline": STATES}},
}


def policy(table: str, columns: Row, k: int, limit: float) -> Row:
    return {
        "release": table,
        "source": f"public.{table}",
        "columns": {n: {"role": "quasi_identifying", **column} for n, column in columns.items()},
        "privacy": [{"model": "k_anonymity", "k": k}],
        "method": {"name": "full_domain"},
        "suppression_limit": limit,
        "republication": "allow",
        "publish": {"keep": 1},
    }


@dataclass(frozen=True, kw_only=True)
class FullDomain(Benchmark):
    """No settings of its own, except `rows`: of the generated table."""

    rows: int = 1_000_000

    parts: ClassVar = ("adult", "acs", "generated")
    real: ClassVar = frozenset({"adult", "acs"})
    _figures: ClassVar = (
        "limit",
        "levels",
        "suppressed",
        "cost",
        "classes",
        "evaluated",
        "seconds",
    )
    tables: ClassVar = (
        Table("adult", "Adult, complete rows, hierarchies of ARX", ("k", *_figures)),
        Table(
            "acs",
            "ACS 2018, k = 10: from run to published, against a sorted copy",
            (*_figures, "baseline", "ratio", "peak_mb"),
        ),
        Table("generated", "generated table, k = 10", (*_figures, "baseline", "ratio", "peak_mb")),
    )

    def adult(self) -> Iterator[Row]:
        """6 quasi-identifiers; the optimum of every k and limit."""
        assert self.data is not None
        adult.load(self.dsn, "adult", adult.lines(self.data))
        folder = self.data / "adult" / "hierarchies_arx"
        columns: Row = {}
        for name, file in ADULT.items():
            rows = list(csv.reader((folder / file).read_text().splitlines(), delimiter=";"))
            columns[name] = {"hierarchy": {"inline": rows}}
        for k in K:
            for limit in LIMITS:
                yield {"k": k, **self._measured(policy("adult", columns, k, limit))}

    def acs(self) -> Iterator[Row]:
        """1,402,639 real rows."""
        assert self.data is not None
        file = self.data / "acs2018" / "acs2018_income.csv.gz"
        support.load(self.dsn, "acs", support.lines_of(file), Format())
        yield from self._timed("acs", ACS)

    def generated(self) -> Iterator[Row]:
        """A generated table of any size."""
        support.execute(
            self.dsn,
            "DROP TABLE IF EXISTS generated; CREATE TABLE generated AS SELECT"
            " (18 + 70 * power(random(), 1.6))::int AS age,"
            " (1 + 16 * power(random(), 0.7))::int AS education,"
            " (ARRAY['f', 'm'])[1 + (random() < 0.49)::int] AS sex,"
            " lpad((400 * power(random(), 2))::int::text, 3, '0') AS region"
            f" FROM generate_series(1, {int(self.rows)}); ANALYZE generated",
        )
        columns: Row = {
            "age": {"hierarchy": {"intervals": [5, 10, 20]}},
            "education": {"hierarchy": {"intervals": [2, 4, 8]}},
            "sex": {},
            "region": {"hierarchy": {"prefix": [2, 1]}},
        }
        yield from self._timed("generated", columns)

    def _timed(self, table: str, columns: Row) -> Iterator[Row]:
        baseline = support.sorted_copy_seconds(self.dsn, table, list(columns))
        for limit in LIMITS:
            row = self._measured(policy(table, columns, 10, limit))
            yield {**row, "baseline": baseline, "ratio": row["seconds"] / baseline}

    def _measured(self, release: Row) -> Row:
        measured = support.run_policy(self.dsn, release)
        utility = measured.result["utility"]
        return {
            "limit": release["suppression_limit"],
            "levels": " ".join(str(level) for level, _ in utility["levels"].values()),
            "suppressed": measured.result["suppressed"],
            "cost": utility["cost"],
            "classes": utility["classes"],
            "evaluated": utility["evaluated"],
            "seconds": measured.seconds,
            "peak_mb": measured.peak_mb,
            "phases": measured.phases,
        }
