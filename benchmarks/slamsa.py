"""SLAMSA against MSB and SLOMS: reconstruction error, what the fireflies add, and time.

heart     Cleveland, complete records: three sensitive columns by column, all twelve by tuple; by
          the number of sensitive columns and of records
pooled    these and the Hungarian ones, with four quasi-identifiers
adult     two sensitive columns over six quasi-identifiers
acs       eight sensitive columns of the census excerpts
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchmarks import adult, slamsa_claims, support
from benchmarks.benchmark import Benchmark, Row, Table
from pganon.importing.form import Format
from pganon.methods.buckets.search import Condition, partition

HEART = ("age", "sex", "cp", "rbp", "sc", "fbs", "restecg", "thalach", "exang", "oldpeak",
         "slope", "ca", "thal", "class")  # fmt: skip
SEED = 557
THREE = ("rbp", "sc", "thalach")
FOUR = ("sc", "thalach", "rbp", "oldpeak")
"""All that allow l = 3; error and time by the first 1 to 4 of them."""
ASKED = ("r1", "r2", "r3", "r4")
"""Mean KL by the number of quasi-identifiers that are asked about."""
POOLED_QUASI = ("age", "sex", "cp", "exang")
"""Of all heart data. Two of them are sensitive in the paper, which has three quasi-identifiers, one
of them a number of identity."""
OFTEN_MISSING = ("slope", "ca", "thal")
"""In nearly all Hungarian records."""
COMPARED = ("SLAMSA", "MSB", "SLOMS")
FEW = 10
"""Records of which all partitions can be tried."""
FIGURES = (*ASKED, "objective", "baseline", "buckets", "suppressed", "seconds")

METHODS: dict[str, Row] = {
    "SLAMSA": {"name": "slamsa", "optimizer": "firefly", "division": "eligible"},
    "SLAMSA, public": {"name": "slamsa", "optimizer": "firefly", "division": "public"},
    "SLAMSA independent": {
        "name": "slamsa",
        "optimizer": "firefly",
        "division": "eligible",
        "profile": "independent",
        "link_threshold": 1,
    },
    "SLAMSA, median tree": {"name": "slamsa", "optimizer": "base", "division": "eligible"},
    "MSB": {"name": "msb"},
    "SLOMS": {"name": "sloms", "link_threshold": 1},
}
ACS_QUASI = ("AGEP", "SEX", "RAC1P", "MSP", "PUMA")
ACS = {"INDP": 2, "INDP_CAT": 2, "EDU": 3, "PINCP": 3, "PINCP_DECILE": 3, "POVPIP": 2, "NPF": 3,
       "DREM": None}  # fmt: skip
"""Sensitive columns and the l that they allow; a disability has one value in most records."""


def policy(
    table: str,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    method: Row,
    models: Iterable[Row],
    *,
    nominal: Sequence[str] = (),
) -> Row:
    return {
        "release": f"{table}_bench",
        "source": f"public.{table}",
        "columns": {
            **{
                name: {
                    "role": "quasi_identifying",
                    **({"type": "categorical"} if name in nominal else {}),
                }
                for name in quasi
            },
            **{name: {"role": "sensitive"} for name in sensitive},
        },
        "privacy": [{"model": "slicing_l_diversity", **model} for model in models],
        "method": method,
        "suppression_limit": 1.0,
        "republication": "allow",
        "publish": {"keep": 1},
    }


def required(method: str, degree: int) -> list[Row]:
    if method == "MSB":
        return [{"l": degree, "level": "unique"}]
    if method == "SLOMS":
        unique = {"model": "slicing_l_diversity", "l": degree, "level": "unique"}
        return [unique, {"model": "k_anonymity", "k": degree}]
    return [{"l": degree}]


_SHOWN = ("method", "draws", "r1", "r2", "buckets", "seconds")
_POOLED = ("method", "p", "draws", *ASKED, "r4_least", "r4_most", "buckets", "seconds")
_LARGE = ("method", "p", *FIGURES, "ratio")


@dataclass(frozen=True, kw_only=True)
class Slamsa(Benchmark):
    """Ties and fireflies are random: figures of the heart data are means of several draws.

    Attributes:
        degrees: values of l, which the paper has as p.
        methods: by these.
        sizes: records of heart data.
        tuple_degrees: values of l where twelve columns are one value.
        high_degrees: values of l of one and of two columns with many values.
        samples: of a few records of which all partitions are tried.
        pooled_degrees, pooled_sizes: the same of all heart data.
    """

    degrees: tuple[int, ...] = (2, 3, 4, 6, 8)
    methods: tuple[str, ...] = tuple(METHODS)
    tuple_degrees: tuple[int, ...] = (2, 5, 10, 20)
    high_degrees: tuple[int, ...] = (4, 8, 12, 16, 20)
    samples: int = 50
    sizes: tuple[int, ...] = (75, 150, 297)
    pooled_degrees: tuple[int, ...] = (2, 3, 4, 5)
    pooled_sizes: tuple[int, ...] = (100, 200, 300, 400, 500, 558)
    draws: int = 5

    parts: ClassVar = (
        *("by_column", "by_tuple", "by_number", "by_size", "by_degree"),
        *("pooled", "pooled_by_number", "pooled_by_size", "pooled_by_degree"),
        *("optimum", "spaces", "adult", "acs"),
    )
    real: ClassVar = frozenset(parts)
    tables: ClassVar = (
        Table(
            "by_column",
            "heart disease, means of draws; r1, r2: mean KL by 1 and 2 columns",
            ("method", "p", "draws", "r1", "r2", *FIGURES[4:]),
        ),
        Table(
            "by_tuple",
            "heart disease, twelve columns as one value: bounds no single column",
            ("p", "r1", "r2", "buckets", "highest_probability", "seconds"),
        ),
        Table("by_number", "heart disease, p = 3, by sensitive columns", ("sensitive", *_SHOWN)),
        Table("by_size", "heart disease, p = 3, by records", ("records", *_SHOWN)),
        Table("pooled", "all heart disease, means of draws; r1 to r4: mean KL", _POOLED),
        Table(
            "pooled_by_number",
            "all heart disease, p = 2, by sensitive columns",
            ("sensitive", *_POOLED),
        ),
        Table("pooled_by_size", "all heart disease, p = 3, by records", ("records", *_POOLED)),
        Table(
            "by_degree",
            "heart disease, two sensitive columns, by p",
            ("method", "p", "draws", "r1", "r2", *FIGURES[4:]),
        ),
        Table("pooled_by_degree", "all heart disease, one sensitive column, by p", _POOLED),
        Table(
            "optimum",
            f"{FEW} records of heart disease, p = 2: the best of all partitions",
            ("seed", "objective", "baseline", "optimum"),
        ),
        Table(
            "spaces",
            "heart disease: fireflies among quasi-identifiers and among sensitive values",
            ("space", "p", "objective", "range"),
        ),
        Table("claims", "what is asked of the heart data", ("claim", "holds", "found")),
        Table("adult", "Adult; ratio: to a sorted copy", _LARGE),
        Table("acs", "ACS; ratio: to a sorted copy", _LARGE),
    )

    def by_column(self) -> Iterator[Row]:
        records = self._load_heart()
        for degree in self.degrees:
            for name in self.methods:
                yield self._averaged(name, degree, records)

    def by_tuple(self) -> Iterator[Row]:
        """All sensitive columns as one value: what single columns are protected by then."""
        records = self._load_heart()
        sensitive = [name for name in HEART if name not in ("age", "sex")]
        method = {"name": "slamsa", "optimizer": "firefly", "sensitive_tables": 1}
        for degree in self.tuple_degrees:
            models = [{"l": degree, "level": "tuple"}]
            asked = policy("heart", ("age", "sex"), sensitive, method, models, nominal=("sex",))
            drawn = list(self._drawn(asked, records, 1))
            row = {"method": "SLAMSA", "p": degree, "draws": len(drawn), "records": records}
            yield row | (drawn[0] if drawn else {})

    def by_number(self) -> Iterator[Row]:
        records = self._load_heart()
        for m in range(1, len(FOUR) + 1):
            for name in COMPARED:
                yield {"sensitive": m, **self._averaged(name, 3, records, FOUR[:m])}

    def by_size(self) -> Iterator[Row]:
        for size in self.sizes:
            records = self._load_heart(size)
            for name in ("SLAMSA", "SLAMSA, median tree", "MSB", "SLOMS"):
                yield self._averaged(name, 3, records)

    def pooled(self) -> Iterator[Row]:
        records = self._load_pooled()
        for degree in self.pooled_degrees:
            for name in COMPARED:
                yield self._averaged(name, degree, records, quasi=POOLED_QUASI)

    def pooled_by_number(self) -> Iterator[Row]:
        """With p = 2, the most that all four allow."""
        records = self._load_pooled()
        for m in range(1, len(FOUR) + 1):
            for name in COMPARED:
                row = self._averaged(name, 2, records, FOUR[:m], quasi=POOLED_QUASI)
                yield {"sensitive": m, **row}

    def pooled_by_size(self) -> Iterator[Row]:
        for size in self.pooled_sizes:
            records = self._load_pooled(size)
            for name in COMPARED:
                yield self._averaged(name, 3, records, quasi=POOLED_QUASI)

    def by_degree(self) -> Iterator[Row]:
        """As large a p as two columns allow."""
        records = self._load_heart()
        for degree in self.high_degrees:
            for name in COMPARED:
                yield self._averaged(name, degree, records, FOUR[:2])

    def pooled_by_degree(self) -> Iterator[Row]:
        """As large a p as one column allows."""
        records = self._load_pooled()
        for degree in self.high_degrees:
            for name in COMPARED:
                yield self._averaged(name, degree, records, FOUR[:1], quasi=POOLED_QUASI)

    def optimum(self) -> Iterator[Row]:
        """Buckets of a few random records against the best of all partitions, in memory."""
        points, values = self._cleveland(FOUR[0])
        for seed in range(self.samples):
            chosen = random.Random(seed).sample(range(len(values)), FEW)
            condition = Condition(2, values[chosen])
            if condition.satisfied:
                swarm = partition(points[chosen], [condition], 2, swarm=True, seed=seed)
                yield {
                    "seed": seed,
                    "records": FEW,
                    "objective": swarm.objective,
                    "baseline": swarm.baseline,
                    "optimum": _optimum(points[chosen], condition),
                }

    def spaces(self) -> Iterator[Row]:
        """Fireflies among quasi-identifiers and among sensitive values, in memory."""
        points, values = self._cleveland(FOUR[0])
        near = (values[:, None] - values.min()) / np.ptp(values)
        for degree in self.degrees:
            condition = Condition(degree, values)
            for space, z in (("quasi-identifiers", points), ("sensitive", near)):
                found = partition(z, [condition], degree, swarm=True, seed=SEED)
                parts = [found.labels == label for label in range(found.labels.max() + 1)]
                yield {
                    "space": space,
                    "p": degree,
                    "records": len(values),
                    "objective": sum(_apart(points[part]) for part in parts) / len(values),
                    "range": float(np.mean([np.ptp(near[part]) for part in parts])),
                }

    def _cleveland(self, sensitive: str) -> tuple[np.ndarray, np.ndarray]:
        """Points of age and sex, and values of a sensitive column."""
        assert self.data is not None
        file = self.data / "heart" / "processed.cleveland.data"
        lines = [line.strip().split(",") for line in support.lines_of(file, without="?")]
        table = np.array(lines, dtype=float)
        age, sex, values = (table[:, HEART.index(name)] for name in ("age", "sex", sensitive))
        points = np.column_stack([(age - age.min()) / np.ptp(age), sex / 2**0.5, -sex / 2**0.5])
        return points, values

    def adult(self) -> Iterator[Row]:
        assert self.data is not None
        records = adult.load(self.dsn, "adult", adult.lines(self.data))
        sensitive = ("occupation", "hours_per_week")
        copy = support.sorted_copy_seconds(self.dsn, "adult", [*adult.QUASI, *sensitive])
        for name in ("SLAMSA", "SLAMSA, public", "SLAMSA, median tree", "MSB", "SLOMS"):
            asked = policy("adult", adult.QUASI, sensitive, METHODS[name], required(name, 2))
            yield from self._timed(name, "2", asked, records, copy)

    def acs(self) -> Iterator[Row]:
        assert self.data is not None
        lines = support.lines_of(self.data / "acs_sdnist" / "national2018.csv.gz")
        records = support.load(self.dsn, "acs", lines, Format(nulls=("N", "")))
        copy = support.sorted_copy_seconds(self.dsn, "acs", [*ACS_QUASI, *ACS])
        models = [{"column": name, "l": l} for name, l in ACS.items() if l is not None]  # noqa: E741
        nominal = ("SEX", "RAC1P", "MSP")
        for name, method in (
            ("SLAMSA, default", {"name": "slamsa"}),
            ("SLAMSA, median tree", METHODS["SLAMSA, median tree"]),
        ):
            asked = policy("acs", ACS_QUASI, list(ACS), method, models, nominal=nominal)
            yield from self._timed(name, "2 and 3", asked, records, copy)

    def _load_heart(self, records: int | None = None) -> int:
        """All complete records, or the first ones; how many there are."""
        assert self.data is not None
        file = self.data / "heart" / "processed.cleveland.data"
        complete = list(support.lines_of(file, without="?"))[:records]
        return support.load(self.dsn, "heart", complete, Format(header=False, names=HEART))

    def _load_pooled(self, records: int | None = None) -> int:
        """Records of both files in which nothing is missing but what mostly is, mixed."""
        assert self.data is not None
        folder = self.data / "heart"
        hidden = [HEART.index(name) for name in OFTEN_MISSING]
        lines = list(support.lines_of(folder / "processed.cleveland.data", without="?"))
        for line in support.lines_of(folder / "processed.hungarian.data"):
            cells = line.strip().split(",")
            if all(cell != "?" or at in hidden for at, cell in enumerate(cells)):
                lines.append(line)
        mixed = random.Random(SEED).sample(lines, len(lines))[:records]
        form = Format(header=False, names=HEART, nulls=("?",))
        return support.load(self.dsn, "heart", mixed, form)

    def _averaged(
        self,
        name: str,
        degree: int,
        records: int,
        sensitive: Sequence[str] = THREE,
        *,
        quasi: Sequence[str] = ("age", "sex"),
    ) -> Row:
        """Means over several draws; nothing where the method finds no release."""
        asked = policy(
            "heart",
            quasi,
            sensitive,
            {**METHODS[name], **_one_each(name, sensitive)},
            required(name, degree),
            nominal=[column for column in quasi if column != "age"],
        )
        drawn = list(self._drawn(asked, records, self.draws))
        row = support.means(drawn, FIGURES) if drawn else {}
        spread = support.spread(drawn, ASKED)
        asked_for = {"method": name, "p": degree, "draws": len(drawn), "records": records}
        return {**asked_for, **row, **spread}

    def _timed(
        self, name: str, degree: str, asked: Row, records: int, copy: float
    ) -> Iterator[Row]:
        row = next(self._drawn(asked, records, 1), None)
        timed = {"refused": True} if row is None else {**row, "ratio": row["seconds"] / copy}
        yield {"method": name, "p": degree, **timed}

    def _drawn(self, asked: Row, records: int, number: int) -> Iterator[Row]:
        """Figures of the draws for which the method finds a release."""
        for seed in range(number):
            try:
                measured = support.drawn(self.dsn, asked, seed, "--metrics", "all")
            except support.RunFailed as failed:
                failed.reason("no_groups", "infeasible", "associated")
                continue
            yield _figures(measured, records)

    @staticmethod
    def judged(found: Row) -> Row:
        return {"claims": slamsa_claims.evaluate(found)}


def _apart(points: np.ndarray) -> float:
    """Sum of the distances of points to their mean."""
    return float(np.linalg.norm(points - points.mean(axis=0), axis=1).sum())


def _optimum(points: np.ndarray, condition: Condition) -> float:
    """Sum of the distances of all points to the means of their buckets, at best."""
    sets = range(1, 1 << len(points))
    members = {chosen: [at for at in range(len(points)) if chosen >> at & 1] for chosen in sets}
    cost = {
        chosen: _apart(points[of])
        if Condition(condition.l, condition.values[of]).satisfied
        else math.inf
        for chosen, of in members.items()
    }
    best = {0: 0.0}
    for chosen in sets:
        lowest = chosen & -chosen
        rest = chosen ^ lowest
        part = rest
        found = math.inf
        while True:
            found = min(found, cost[part | lowest] + best[rest ^ part])
            if not part:
                break
            part = (part - 1) & rest
        best[chosen] = found
    return best[sets[-1]]


def _one_each(name: str, sensitive: Sequence[str]) -> Row:
    """Independent tables of one column each, as the reference has them."""
    each = [[column] for column in sensitive]
    return {"sensitive_tables": each} if name in ("SLAMSA independent", "SLOMS") else {}


def _figures(measured: support.Measured, records: int) -> Row:
    result = measured.result
    error = result["metrics"]["reconstruction"]
    utility = result["utility"]
    objective, baseline = utility["objective"], utility["baseline"]
    degrees = [each["degree"] for each in utility["sensitive"].values()]
    return {
        **{r: error[r[1]]["mean"] if r[1] in error else None for r in ASKED},
        "objective": None if objective is None else objective / records,
        "baseline": None if baseline is None else baseline / records,
        "buckets": utility["groups"],
        "suppressed": result["suppressed"],
        "seconds": measured.seconds,
        "highest_probability": max(1 / degree for degree in degrees),
    }
