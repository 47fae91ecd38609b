"""Methods of classes on Adult (quality), ACS 2018 (speed) and a generated table (size)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchmarks import adult, support
from benchmarks.benchmark import Benchmark, Row, Table
from pganon.importing.form import Format

ACS_QI = ("AGEP", "SCHL", "SEX", "RAC1P", "RELP", "STATE")
ACS_CATEGORICAL = {"SEX", "RAC1P", "RELP"}

METHODS: dict[str, Row] = {
    "one_dimensional": {"name": "one_dimensional"},
    "one_dimensional, relaxed": {
        "name": "one_dimensional",
        "variant": "relaxed",
        "dominant": "mixed",
    },
    "mondrian, loss": {"name": "mondrian", "choose": "loss"},
    "mondrian, width": {"name": "mondrian", "choose": "width"},
}

# Lowest GCP of any other tool measured on the same rows, and the project's own targets.
BEST_PEER = {(5, 0): 0.0106, (10, 0): 0.0194, (50, 0): 0.0647, (5, 3): 0.0112}
TARGET = {
    ("one_dimensional", 5, 0): 0.0065,
    ("one_dimensional", 10, 0): 0.0132,
    ("one_dimensional", 50, 0): 0.0465,
    ("one_dimensional", 5, 3): 0.0069,
    ("one_dimensional, relaxed", 5, 3): 0.0063,
    ("mondrian, width", 5, 0): 0.0100,
    ("mondrian, width", 10, 0): 0.0185,
    ("mondrian, width", 50, 0): 0.0620,
    ("mondrian, width", 5, 3): 0.0110,
    ("mondrian, loss", 5, 0): 0.0088,
    ("mondrian, loss", 10, 0): 0.0170,
    ("mondrian, loss", 50, 0): 0.0545,
}
_ABOUT = {"column": "occupation"}
MODELS: Sequence[Row] = (
    {"model": "entropy_l_diversity", "l": 3, **_ABOUT},
    {"model": "recursive_cl_diversity", "c": 3, "l": 3, **_ABOUT},
    {"model": "alpha_k_anonymity", "k": 5, "alpha": 0.5, **_ABOUT},
    {"model": "t_closeness", "t": 0.4, **_ABOUT},
    {"model": "t_closeness", "t": 0.2, **_ABOUT},
    {"model": "beta_likeness", "beta": 1, **_ABOUT},
    {"model": "delta_disclosure", "delta": 1, **_ABOUT},
)
_SPEED = ("what", "rows", "classes", "gcp", "seconds", "baseline", "ratio", "peak_mb")


def policy(
    release: str,
    table: str,
    quasi_identifiers: Sequence[str],
    k: int,
    *,
    l: int = 0,  # noqa: E741
    sensitive: str | None = None,
    method: Row,
    categorical: Collection[str] = (),
) -> Row:
    columns: Row = {
        name: {"role": "quasi_identifying"}
        | ({"type": "categorical"} if name in categorical else {})
        for name in quasi_identifiers
    }
    privacy: list[Row] = [{"model": "k_anonymity", "k": k}]
    if sensitive:
        columns[sensitive] = {"role": "sensitive"}
    if l:
        privacy.append({"model": "distinct_l_diversity", "column": sensitive, "l": l})
    return {
        "release": release,
        "source": f"public.{table}",
        "columns": columns,
        "privacy": privacy,
        "method": method,
        "republication": "allow",
        "publish": {"keep": 1},
    }


@dataclass(frozen=True, kw_only=True)
class Classes(Benchmark):
    """Args: rows: of the generated table."""

    rows: int = 10_000_000

    parts: ClassVar = ("adult", "models", "acs", "generated")
    real: ClassVar = frozenset({"adult", "models", "acs"})
    tables: ClassVar = (
        Table(
            "adult",
            "Adult, complete rows, 6 quasi-identifiers: GCP",
            ("method", "k", "l", "classes", "gcp", "target", "best_peer", "ratio", "seconds"),
        ),
        Table(
            "models",
            "the same, k = 5, by model on occupation",
            ("method", "model", "classes", "gcp", "seconds"),
        ),
        Table("acs", "ACS 2018: from run to published, against a sorted copy", _SPEED),
        Table("generated", "generated table: the same", _SPEED),
    )

    def adult(self) -> Iterator[Row]:
        """GCP, no hierarchies, nothing suppressed."""
        assert self.data is not None
        rows = adult.load(self.dsn, "adult", adult.lines(self.data))
        for number, (label, method) in enumerate(METHODS.items()):
            for k, l in BEST_PEER:  # noqa: E741
                asked = policy(
                    f"adult_{number}_{k}_{l}",
                    "adult",
                    adult.QUASI,
                    k,
                    l=l,
                    sensitive="occupation",
                    method=method,
                )
                measured = support.run_policy(self.dsn, asked)
                utility = measured.result["utility"]
                yield {
                    "method": label,
                    "k": k,
                    "l": l or None,
                    "rows": rows,
                    "classes": utility["classes"],
                    "gcp": utility["gcp"],
                    "target": TARGET.get((label, k, l)),
                    "best_peer": BEST_PEER[k, l],
                    "ratio": utility["gcp"] / BEST_PEER[k, l],
                    "seconds": measured.seconds,
                }

    def models(self) -> Iterator[Row]:
        """GCP under models beyond k-anonymity."""
        assert self.data is not None
        adult.load(self.dsn, "adult", adult.lines(self.data))
        for number, model in enumerate(MODELS):
            for label in ("one_dimensional", "mondrian, loss"):
                asked = policy(
                    f"adult_model_{number}",
                    "adult",
                    adult.QUASI,
                    5,
                    sensitive="occupation",
                    method=METHODS[label],
                )
                asked["privacy"] = [{"model": "k_anonymity", "k": 5}, model]
                measured = support.run_policy(self.dsn, asked)
                yield {
                    "method": label,
                    "model": " ".join(str(v) for v in model.values() if v != "occupation"),
                    "classes": measured.result["utility"]["classes"],
                    "gcp": measured.result["utility"]["gcp"],
                    "seconds": measured.seconds,
                }

    def acs(self) -> Iterator[Row]:
        """1,402,639 real rows, k = 10, against the sorted copy of the same table."""
        assert self.data is not None
        file = self.data / "acs2018" / "acs2018_income.csv.gz"
        support.load(self.dsn, "acs", support.lines_of(file), Format())
        baseline = support.sorted_copy_seconds(self.dsn, "acs", ACS_QI)
        for number, (label, method) in enumerate(METHODS.items()):
            asked = policy(
                f"acs_{number}",
                "acs",
                ACS_QI,
                10,
                method=method,
                categorical=ACS_CATEGORICAL,
            )
            yield self._timed(f"k = 10, {label}", asked, baseline)

    def generated(self) -> Iterator[Row]:
        """A generated table of any size: does it finish, and in how much memory."""
        support.execute(
            self.dsn,
            "DROP TABLE IF EXISTS generated; CREATE TABLE generated AS SELECT"
            " (18 + 70 * power(random(), 1.6))::int AS age,"
            " (1 + 16 * power(random(), 0.7))::int AS education,"
            " (ARRAY['f', 'm'])[1 + (random() < 0.49)::int] AS sex,"
            " 'region ' || (40 * power(random(), 2))::int AS region,"
            " (30 * power(random(), 1.5))::int AS occupation"
            f" FROM generate_series(1, {int(self.rows)}); ANALYZE generated",
        )
        columns = ["age", "education", "sex", "region"]
        baseline = support.sorted_copy_seconds(self.dsn, "generated", columns)
        for number, label in enumerate(("one_dimensional", "mondrian, width")):
            asked = policy(
                f"generated_{number}",
                "generated",
                columns,
                10,
                sensitive="occupation",
                method=METHODS[label],
            )
            yield self._timed(f"k = 10, {label}", asked, baseline)

    def _timed(self, what: str, release: Row, baseline: float) -> Row:
        measured = support.run_policy(self.dsn, release)
        return {
            "what": what,
            "rows": measured.result["records"],
            "classes": measured.result["utility"]["classes"],
            "gcp": measured.result["utility"]["gcp"],
            "seconds": measured.seconds,
            "baseline": baseline,
            "ratio": measured.seconds / baseline,
            "peak_mb": measured.peak_mb,
            "phases": measured.phases,
        }
