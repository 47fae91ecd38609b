"""Identity reservation: DAnonyIR by model and block size against GeneIR.

informs     INFORMS 2005: persons with their diagnoses
diabetes    stays of patients in 130 hospitals
generated   a table of --individuals with four records each on average
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from rich.console import Console
from rich.table import Table

from benchmarks import identity_tables as tables
from benchmarks import support
from benchmarks.identity_tables import Columns, Source
from pganon.importing import Format

Row = dict[str, Any]

DEGREES = (2, 4, 6, 8, 10)
"""Values of l, and of k where there is one."""
SHARES = ((0.2, 0.4), (0.4, 0.4), (0.6, 0.4), (0.8, 0.4), (0.6, 0.2), (0.6, 0.6))
"""Alpha and beta: one varies around the paper's default of the other."""

DEFAULT_L = 6
BLOCKS = (500, 1000, 2000)
QUASI = range(3, 9)
"""Numbers of quasi-identifiers."""
DEFAULT_QUASI = 6
QUERIES = 200
"""Random queries on quasi-identifiers and a diagnosis; they ask for 5 % of the combinations."""
FEW = 2000
"""Individuals of a table that one block can hold."""
DRAWS = 3
"""Releases of GeneIR: which hierarchies go up first is drawn, and decides much."""
SAMPLES = 5
"""Such tables; where blocks end decides little, and not the same in each."""


# -- policies ---------------------------------------------------------------------------------


def policy(source: Source, release: str, columns: Columns, method: Row, model: Row) -> Row:
    return {
        "release": release,
        "source": f"public.{source.table}",
        "columns": {
            source.individual: {"role": "individual"},
            **{name: {"role": "quasi_identifying", **said} for name, said in columns.items()},
            source.sensitive: {"role": "sensitive"},
        },
        "privacy": [{**model, "column": source.sensitive}],
        "method": method,
        "suppression_limit": 1.0,
        "republication": "allow",
        "publish": {"keep": 1},
    }


def eir_l(degree: int) -> Row:
    return {"model": "eir_l_diversity", "l": degree}


def ir_kl(degree: int) -> Row:
    return {"model": "ir_kl_anonymity", "k": degree, "l": degree}


def shares(model: str, alpha: float, beta: float) -> Row:
    return {"model": f"{model}_alpha_beta_anonymity", "alpha": alpha, "beta": beta}


@dataclass(frozen=True)
class Bench:
    """Runs over one source; times are divided by that of its sorted copy.

    Attributes:
        predicates: quasi-identifiers that a query restricts; None: nothing is asked.
    """

    dsn: str
    source: Source
    copy: float
    predicates: int | None = None

    @classmethod
    def of(cls, dsn: str, source: Source, predicates: int | None = None) -> Bench:
        columns = [*source.quasi, source.sensitive]
        copy = support.sorted_copy_seconds(dsn, source.table, columns)
        return cls(dsn, source, copy, predicates)

    def run(self, model: Row, block_size: int = BLOCKS[0]) -> Row:
        method = {"name": "danonyir", "block_size": block_size}
        row = self._run("DAnonyIR", self.source.quasi, method, model)
        return {**row, "block_size": block_size}

    def with_trees(self, model: Row) -> Iterator[Row]:
        """Both methods with the same hierarchies, so that their losses can be compared."""
        if self.source.trees:
            for name, draws in (("DAnonyIR", 1), ("GeneIR", DRAWS)):
                shown, method = f"{name}, trees", {"name": name.lower()}
                yield _mean(
                    [self._run(shown, self.source.trees, method, model, n) for n in range(draws)]
                )

    def _run(self, name: str, columns: Columns, method: Row, model: Row, draw: int = 0) -> Row:
        """Args: draw: releases of one name make the same random choices, of another name others."""
        release = f"{self.source.table}_bench{draw}"
        asked = {
            "table": self.source.table,
            "quasi": len(columns),
            "predicates": self.predicates,
            "method": name,
            **model,
        }
        declared = policy(self.source, release, columns, method, model)
        try:
            found = support.run_policy(self.dsn, declared, *self._workload())
        except support.RunFailed as failed:
            if failed.error.get("code") != "all_suppressed":
                raise
            nothing = None if self.predicates is None else 1.0
            return {**asked, "nloss": 1.0, "v": None, "error": nothing, "median_error": nothing}
        result, utility = found.result, found.result["utility"]
        seconds = found.seconds - _asking_seconds(result)
        return {
            **asked,
            **_errors(result),
            "nloss": utility["gcp"],
            "v": self._vulnerable(release, model, utility),
            "classes": utility["classes"],
            "suppressed": result["suppressed"] / result["records"],
            "exposed": utility["exposed"] / utility["individuals"],
            "seconds": seconds,
            "ratio": seconds / self.copy,
            "peak_mb": found.peak_mb,
        }

    def _workload(self) -> list[str]:
        if self.predicates is None:
            return []
        asked = f"queries={QUERIES},predicates={self.predicates},selectivity=0.05,sensitive=yes"
        return ["--workload", asked]

    def _vulnerable(self, release: str, model: Row, utility: Row) -> float:
        """Share of the classes that do not satisfy the EIR model of the same parameters."""
        if "beta" not in model:
            return utility["vulnerable"]
        text = sql.SQL(_ABOVE_BETA).format(
            view=sql.Identifier("published", release),
            value=sql.Identifier(self.source.sensitive),
            beta=sql.Literal(str(model["beta"])),
        )
        with psycopg.connect(self.dsn) as conn:
            row = conn.execute(text).fetchone()
        assert row is not None
        return float(row[0])


def _errors(result: Row) -> Row:
    """Relative errors of the queries; those without an answer have none."""
    if result["metrics"] is None:
        return {}
    count = result["metrics"]["workload"]["count"]
    return {
        "error": count["mean"],
        "median_error": count["median"],
        "answered": QUERIES - count["empty"],
    }


def _asking_seconds(result: Row) -> float:
    """What the queries took, which is no part of making a release."""
    asking = [s for s in result["steps"] if s["step"].startswith(("workload_", "metric_"))]
    return sum(step["seconds"] for step in asking)


_ABOVE_BETA = """
SELECT avg((c.most > {beta}::numeric * c.individuals)::int) FROM (
    SELECT h.class_id, max(h.holders) AS most, max(h.individuals) AS individuals FROM (
        SELECT r.class_id, count(DISTINCT r.individual_no) AS holders, max(n.individuals)
            AS individuals
        FROM {view} AS r
        JOIN (SELECT class_id, count(DISTINCT individual_no) AS individuals
              FROM {view} GROUP BY class_id) AS n USING (class_id)
        GROUP BY r.class_id, r.{value}
    ) AS h GROUP BY h.class_id
) AS c
"""


# -- what is measured -------------------------------------------------------------------------


def by_l(bench: Bench) -> list[Row]:
    found: list[Row] = []
    for degree in DEGREES:
        asked = ir_kl(degree)
        found += [bench.run(eir_l(degree)), bench.run(asked), *bench.with_trees(asked)]
    return found


def by_shares(bench: Bench) -> list[Row]:
    found: list[Row] = []
    for alpha, beta in SHARES:
        asked = shares("ir", alpha, beta)
        found += [bench.run(shares("eir", alpha, beta)), bench.run(asked)]
        found += bench.with_trees(asked)
    return found


def by_quasi(dsn: str) -> list[Row]:
    """Queries restrict all quasi-identifiers, as the paper's do."""
    found: list[Row] = []
    for quasi in QUASI:
        bench = Bench.of(dsn, tables.informs(quasi), predicates=quasi)
        asked = ir_kl(DEFAULT_L)
        found += [bench.run(eir_l(DEFAULT_L)), bench.run(asked), *bench.with_trees(asked)]
    return found


def by_block(bench: Bench) -> list[Row]:
    return [bench.run(eir_l(DEFAULT_L), size) for size in BLOCKS]


def measure(dsn: str, data: Path | None, individuals: int) -> Row:
    found: Row = {}
    if data is not None:
        with tempfile.TemporaryDirectory() as folder:
            _load_informs(dsn, data / "informs", Path(folder))
            _load_diabetes(dsn, data / "diabetes130", Path(folder))
        informs = Bench.of(dsn, tables.informs(DEFAULT_QUASI), predicates=1)
        found["by_l"] = by_l(informs)
        found["by_shares"] = by_shares(informs)
        found["by_quasi"] = by_quasi(dsn)
        found["by_block"] = [*by_block(informs), *_in_few_blocks(informs)]
        diabetes = Bench.of(dsn, tables.DIABETES)
        found["diabetes"] = [diabetes.run(eir_l(degree)) for degree in DEGREES]
    generate(dsn, individuals)
    large = Bench.of(dsn, tables.GENERATED)
    found["generated"] = [large.run(eir_l(DEFAULT_L)), large.run(ir_kl(DEFAULT_L))]
    return found


# -- tables -----------------------------------------------------------------------------------


def _load_informs(dsn: str, data: Path, folder: Path) -> None:
    for table, name in (("persons", "demographics05test"), ("conditions", "conditions05")):
        support.unpack(data / f"{name}.csv.gz", folder / "part.csv")
        support.load(dsn, folder / "part.csv", f"informs_{table}", Format())
    support.execute(dsn, tables.INFORMS_SQL)


def _load_diabetes(dsn: str, data: Path, folder: Path) -> None:
    support.unpack(data / "diabetic_data.csv.gz", folder / "diabetes.csv")
    support.load(dsn, folder / "diabetes.csv", "diabetes", Format(nulls=("?", "")))


def _in_few_blocks(bench: Bench) -> list[Row]:
    """Means over tables of as many individuals as one block can hold."""
    source = replace(bench.source, table=f"informs_{FEW}")
    found: list[list[Row]] = []
    for sample in range(SAMPLES):
        support.execute(bench.dsn, tables.FEW_SQL.format(individuals=FEW, sample=sample))
        found.append(by_block(Bench.of(bench.dsn, source, bench.predicates)))
    return [_mean(rows) for rows in zip(*found, strict=True)]


def _mean(rows: Sequence[Row]) -> Row:
    """The first with the means of what all of them have: nobody released has no classes."""
    shared = [name for name in _FIGURES if all(row.get(name) is not None for row in rows)]
    return {**rows[0], **{name: sum(row[name] for row in rows) / len(rows) for name in shared}}


def generate(dsn: str, individuals: int) -> None:
    support.execute(dsn, "DROP TABLE IF EXISTS many")
    support.execute(dsn, tables.MANY_SQL.format(individuals=int(individuals)))
    support.execute(dsn, "VACUUM ANALYZE many")


# -- what is shown ----------------------------------------------------------------------------

_ERRORS = ("error", "median_error")
_FIGURES = ("nloss", "v", *_ERRORS, "classes", "suppressed", "exposed", "seconds", "ratio")
_NOTE = (
    "NLoss is GCP; v: vulnerable classes; error: mean relative error of queries;"
    " ratio: to a sorted copy"
)


def show(found: Row) -> None:
    for part, title, by in (
        ("by_l", "INFORMS by l (k = l)", ("method", "model", "l")),
        ("by_shares", "INFORMS by alpha and beta", ("method", "model", "alpha", "beta")),
        (
            "by_quasi",
            f"INFORMS by number of quasi-identifiers (l = {DEFAULT_L})",
            ("method", "model", "quasi", "predicates"),
        ),
        ("by_block", f"EIR l = {DEFAULT_L} by size of block", ("table", "block_size")),
        ("diabetes", "Diabetes by l", ("model", "l")),
        ("generated", "generated table", ("model", "l")),
    ):
        if found.get(part):
            _print(f"{title}; {_NOTE}", (*by, *_FIGURES), found[part])
    if found.get("claims"):
        _print("what is expected of INFORMS", ("claim", "holds"), found["claims"])


def _print(title: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    table = Table(title=title)
    for name in columns:
        table.add_column(name, justify="left" if name in _WORDS else "right")
    for row in rows:
        table.add_row(*[_text(row.get(name)) for name in columns])
    Console(width=160).print(table)


_WORDS = ("method", "model", "table", "claim")


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
