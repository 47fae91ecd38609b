"""Identity reservation: DAnonyIR by model and block size against GeneIR.

informs     INFORMS 2005: persons with their diagnoses
diabetes    stays of patients in 130 hospitals
generated   a table of people with four records each on average
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from benchmarks import identity_claims, identity_plots, support
from benchmarks import identity_tables as tables
from benchmarks.benchmark import Benchmark, Row, Table
from benchmarks.identity_tables import Columns, Source
from pganon.importing.form import Format

_ERRORS = ("error", "median_error")
FIGURES = ("nloss", "v", *_ERRORS, "classes", "suppressed", "exposed", "seconds", "ratio")
_DRAWN = ("nloss", "error")
_SHOWN = (
    "nloss",
    "nloss_least",
    "nloss_most",
    "v",
    "error",
    "error_least",
    "error_most",
    *FIGURES[3:],
)
_NOTE = (
    "NLoss is GCP; v: vulnerable classes; error: mean relative error of queries;"
    " ratio: to a sorted copy"
)


# -- policies ---------------------------------------------------------------------------------


def policy(source: Source, columns: Columns, method: Row, model: Row) -> Row:
    return {
        "release": f"{source.table}_bench",
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
class Runs:
    """Runs over one source; times are divided by that of its sorted copy.

    Attributes:
        predicates: quasi-identifiers that a query restricts; None: nothing is asked.
        draws, own_draws: of GeneIR and of DAnonyIR.
    """

    dsn: str
    source: Source
    copy: float
    predicates: int | None
    queries: int
    draws: int
    own_draws: int

    def danonyir(self, model: Row, block_size: int) -> Row:
        method = {"name": "danonyir", "block_size": block_size}
        row = self._drawn("DAnonyIR", self.source.quasi, method, model, self.own_draws)
        return {**row, "block_size": block_size}

    def with_trees(self, model: Row) -> Iterator[Row]:
        """Both methods with the same hierarchies, so that their losses can be compared.

        Which hierarchies of GeneIR go up first is drawn, and decides much.
        """
        if self.source.trees:
            for name, number in (("DAnonyIR", self.own_draws), ("GeneIR", self.draws)):
                shown, method = f"{name}, trees", {"name": name.lower()}
                yield self._drawn(shown, self.source.trees, method, model, number)

    def _drawn(self, name: str, columns: Columns, method: Row, model: Row, number: int) -> Row:
        """Means over the draws, and the losses and errors of each with their range."""
        asked = {
            "table": self.source.table,
            "quasi": len(columns),
            "predicates": self.predicates,
            "method": name,
            **model,
        }
        declared = policy(self.source, columns, method, model)
        try:
            rows = [
                self._figures(support.drawn(self.dsn, declared, seed, *self._workload(seed)))
                for seed in range(number)
            ]
        except support.RunFailed as failed:
            failed.reason("all_suppressed")
            nothing = None if self.predicates is None else 1.0
            rows = [{"nloss": 1.0, "v": None, "error": nothing, "median_error": nothing}]
        return {**asked, **support.means(rows, FIGURES), **support.spread(rows, _DRAWN)}

    def _figures(self, found: support.Measured) -> Row:
        result, utility = found.result, found.result["utility"]
        seconds = found.seconds - _asking_seconds(result)
        return {
            **self._errors(result),
            "records": result["records"],
            "nloss": utility["gcp"],
            "v": utility["vulnerable"],
            "classes": utility["classes"],
            "suppressed": result["suppressed"] / result["records"],
            "exposed": utility["exposed"] / utility["individuals"],
            "seconds": seconds,
            "ratio": seconds / self.copy,
            "peak_mb": found.peak_mb,
        }

    def _workload(self, seed: int) -> list[str]:
        """Queries of its own for every draw."""
        if self.predicates is None:
            return []
        asked = f"predicates={self.predicates},selectivity=0.05,sensitive=yes,seed={seed}"
        return ["--workload", f"queries={self.queries},{asked}"]

    def _errors(self, result: Row) -> Row:
        """Relative errors of the queries; those without an answer have none."""
        if result["metrics"] is None:
            return {}
        count = result["metrics"]["workload"]["count"]
        return {
            "error": count["mean"],
            "median_error": count["median"],
            "answered": self.queries - count["empty"],
        }


def _asking_seconds(result: Row) -> float:
    """What the queries took, which is no part of making a release."""
    asking = [s for s in result["steps"] if s["step"].startswith(("workload_", "metric_"))]
    return sum(step["seconds"] for step in asking)


# -- what is measured -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Identity(Benchmark):
    """Runs of GeneIR are drawn several times.

    Attributes:
        persons: of INFORMS, drawn; None: all.
        individuals: of the generated table.
        degrees: values of l, and of k where there is one.
        degree: where something else varies.
        shares: alpha and beta: one varies around the paper's default of the other.
        default_shares: where something else varies.
        quasi: numbers of quasi-identifiers.
        quasi_identifiers: how many of them where something else varies.
        few: individuals of a table that one block can hold.
        own_draws: of DAnonyIR, which differ little.
        samples: such tables; where blocks end decides little, and not the same in each.
        queries: on quasi-identifiers and a diagnosis; they ask for 5 % of the combinations.
    """

    persons: int | None = None
    individuals: int = 250_000
    degrees: tuple[int, ...] = (2, 4, 6, 8, 10)
    degree: int = 6
    shares: tuple[tuple[float, float], ...] = (
        *((0.2, 0.4), (0.4, 0.4), (0.6, 0.4), (0.8, 0.4)),
        *((0.6, 0.2), (0.6, 0.6)),
    )
    default_shares: tuple[float, float] = (0.6, 0.4)
    blocks: tuple[int, ...] = (500, 1000, 2000)
    quasi: tuple[int, ...] = (3, 4, 5, 6, 7, 8)
    quasi_identifiers: int = 6
    queries: int = 200
    few: int = 2000
    samples: int = 5
    draws: int = 8
    own_draws: int = 1

    parts: ClassVar = (
        *("by_l", "by_shares", "by_quasi", "shares_by_quasi"),
        *("by_block", "diabetes", "generated"),
    )
    real: ClassVar = frozenset(parts) - {"generated"}
    tables: ClassVar = (
        Table("by_l", f"INFORMS by l (k = l); {_NOTE}", ("method", "model", "l", *_SHOWN)),
        Table(
            "by_shares",
            "INFORMS by alpha and beta",
            ("method", "model", "alpha", "beta", *_SHOWN),
        ),
        Table(
            "by_quasi",
            "INFORMS by number of quasi-identifiers",
            ("method", "model", "quasi", "predicates", *_SHOWN),
        ),
        Table(
            "shares_by_quasi",
            "INFORMS by number of quasi-identifiers, (alpha, beta)",
            ("method", "model", "quasi", "predicates", *_SHOWN),
        ),
        Table("by_block", "EIR l by size of block", ("table", "block_size", *FIGURES)),
        Table("diabetes", "Diabetes by l", ("model", "l", *FIGURES)),
        Table("generated", "generated table", ("model", "l", *FIGURES)),
        Table("claims", "what is expected of INFORMS", ("claim", "holds", "found")),
    )

    def by_l(self) -> Iterator[Row]:
        for degree in self.degrees:
            yield from self._compared(self._informs(), eir_l(degree), ir_kl(degree))

    def by_shares(self) -> Iterator[Row]:
        for alpha, beta in self.shares:
            eir, ir = shares("eir", alpha, beta), shares("ir", alpha, beta)
            yield from self._compared(self._informs(), eir, ir)

    def by_quasi(self) -> Iterator[Row]:
        """Queries restrict all quasi-identifiers, as the paper's do."""
        for quasi in self.quasi:
            runs = self._informs(quasi, predicates=quasi)
            yield from self._compared(runs, eir_l(self.degree), ir_kl(self.degree))

    def shares_by_quasi(self) -> Iterator[Row]:
        """The same with alpha and beta."""
        eir, ir = (shares(model, *self.default_shares) for model in ("eir", "ir"))
        for quasi in self.quasi:
            yield from self._compared(self._informs(quasi, predicates=quasi), eir, ir)

    def by_block(self) -> Iterator[Row]:
        """On all individuals, and means over tables of as many as one block can hold."""
        runs = self._informs()
        yield from self._blocks(runs)
        few = replace(runs.source, table="informs_few")
        found: list[list[Row]] = []
        for sample in range(self.samples):
            text = tables.FEW_SQL.format(individuals=self.few, sample=sample)
            support.execute(self.dsn, text)
            found.append(list(self._blocks(self._runs(few, runs.predicates))))
        for rows in zip(*found, strict=True):
            yield support.means(rows, FIGURES)

    def diabetes(self) -> Iterator[Row]:
        assert self.data is not None
        file = self.data / "diabetes130" / "diabetic_data.csv.gz"
        form = Format(nulls=("?", ""))
        support.load(self.dsn, tables.DIABETES.table, support.lines_of(file), form)
        runs = self._runs(tables.DIABETES)
        for degree in self.degrees:
            yield runs.danonyir(eir_l(degree), self.blocks[0])

    def generated(self) -> Iterator[Row]:
        support.execute(self.dsn, tables.MANY_SQL.format(individuals=int(self.individuals)))
        support.execute(self.dsn, "VACUUM ANALYZE many")
        runs = self._runs(tables.GENERATED)
        for model in (eir_l(self.degree), ir_kl(self.degree)):
            yield runs.danonyir(model, self.blocks[0])

    def _compared(self, runs: Runs, eir: Row, ir: Row) -> Iterator[Row]:
        yield runs.danonyir(eir, self.blocks[0])
        yield runs.danonyir(ir, self.blocks[0])
        yield from runs.with_trees(ir)

    def _blocks(self, runs: Runs) -> Iterator[Row]:
        for size in self.blocks:
            yield runs.danonyir(eir_l(self.degree), size)

    def _informs(self, quasi: int | None = None, predicates: int = 1) -> Runs:
        assert self._loaded
        return self._runs(tables.informs(quasi or self.quasi_identifiers), predicates)

    def _runs(self, source: Source, predicates: int | None = None) -> Runs:
        columns = [*source.quasi, source.sensitive]
        copy = support.sorted_copy_seconds(self.dsn, source.table, columns)
        return Runs(self.dsn, source, copy, predicates, self.queries, self.draws, self.own_draws)

    @cached_property
    def _loaded(self) -> bool:
        """INFORMS, once for all parts."""
        assert self.data is not None
        for table, name in (("persons", "demographics05test"), ("conditions", "conditions05")):
            lines = support.lines_of(self.data / "informs" / f"{name}.csv.gz")
            support.load(self.dsn, f"informs_{table}", lines, Format())
        support.execute(self.dsn, tables.INFORMS_SQL)
        if self.persons is not None:
            support.execute(self.dsn, tables.FEW_SQL.format(individuals=self.persons, sample=0))
            support.execute(self.dsn, tables.RENAME_SQL)
        return True

    @staticmethod
    def judged(found: Row) -> Row:
        return {"claims": identity_claims.evaluate(found)}

    draw = staticmethod(identity_plots.draw)
