"""Estimates from releases: relative error, width of bounds and time, against the source.

adult       500 queries of every form, by aggregate and by number of predicates
by_k        mondrian by k, anatomy and slicing by l
acs         the American Community Survey 2019, excerpt
informs     INFORMS 2005, several records per individual
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import psycopg

from benchmarks import adult, estimates_claims, identity_tables, support
from benchmarks.benchmark import Benchmark, Row, Table
from benchmarks.estimates_queries import ADULT, Source, answers, figures
from pganon.importing.form import Format

ACS = Source(
    "acs",
    ("agep", "sex", "rac1p", "msp", "edu"),
    "indp_cat",
    "agep",
    ("count(*)", "avg(agep)", "sum(agep)"),
)
INFORMS = Source("informs", ("year", "sex", "race", "marry"), "diagnosis", "year", ("count(*)",))
_NOMINAL: Row = {"type": "categorical"}
_FIGURES = (
    "exact", "open", "outside", "error", "width", "held", "likely_held", "ms", "source_ms",
)  # fmt: skip
_SHOWN = ("table", "form", "parameter", "suppressed", "aggregate", "predicates", *_FIGURES)


def policy(source: Source, form: str, parameter: int) -> Row:
    sensitive, quasi = source.sensitive, list(source.quasi)
    diversity: Row = {"column": sensitive, "l": parameter}
    name, *choose = form.split(", ")
    method: Row = {"name": name, **({"choose": choose[0]} if choose else {})}
    if name == "mondrian":
        model: Row = {"model": "k_anonymity", "k": parameter}
    elif form == "anatomy":
        model = {"model": "anatomy_l_diversity", **diversity}
    elif form == "slicing":
        model = {"model": "slicing_l_diversity", **diversity}
        method["columns"] = [quasi[:3], quasi[3:], [sensitive]]
    else:
        model = {"model": "eir_l_diversity", **diversity}
    own = {"person": {"role": "individual"}} if form == "danonyir" else {}
    others = ["hours_per_week"] if source is ADULT else []
    return {
        "release": f"{source.table}_asked",
        "source": f"public.{source.table}",
        "columns": {
            **own,
            **{
                name: {
                    "role": "quasi_identifying",
                    **({} if source is ADULT or name == source.number else _NOMINAL),
                }
                for name in quasi
            },
            sensitive: {"role": "sensitive"},
            **{name: {"role": "insensitive"} for name in others},
        },
        "privacy": [model],
        "method": method,
        **({"suppression_limit": 1.0} if form == "danonyir" else {}),
        "republication": "allow",
        "publish": {"keep": 1},
    }


@dataclass(frozen=True, kw_only=True)
class Estimated(Benchmark):
    """Args: queries: of every release; k, l: of the releases of all parts but by_k."""

    queries: int = 500
    k: int = 10
    l: int = 3  # noqa: E741
    ks: tuple[int, ...] = (5, 10, 50)
    ls: tuple[int, ...] = (2, 3, 4)

    parts: ClassVar = ("adult", "by_k", "acs", "informs")
    real: ClassVar = frozenset(parts)
    tables: ClassVar = (
        *[Table(part, f"estimates: {part}", _SHOWN) for part in parts],
        Table("claims", "what is expected of Adult", ("claim", "holds", "found")),
    )

    def adult(self) -> Iterator[Row]:
        self._load_adult()
        for form in ("mondrian", "mondrian, width"):
            yield from self._asked(ADULT, form, self.k, ("column", "uniform"))
        yield from self._asked(ADULT, "anatomy", self.l)
        yield from self._asked(ADULT, "slicing", self.l)

    def by_k(self) -> Iterator[Row]:
        self._load_adult()
        for form, degrees in (("mondrian", self.ks), ("anatomy", self.ls), ("slicing", self.ls)):
            for degree in degrees:
                rows = self._asked(ADULT, form, degree)
                yield from (row for row in rows if row["aggregate"] == "all")

    def acs(self) -> Iterator[Row]:
        assert self.data is not None
        file = self.data / "acs_sdnist" / "national2019.csv.gz"
        support.load(self.dsn, ACS.table, support.lines_of(file), Format(nulls=("N",), lower=True))
        yield from self._asked(ACS, "mondrian", self.k)
        # Two in five have the same value, so that there are no groups for a greater l.
        yield from self._asked(ACS, "anatomy", min(self.l, 2))

    def informs(self) -> Iterator[Row]:
        assert self.data is not None
        for table, file in (("persons", "demographics05test"), ("conditions", "conditions05")):
            lines = support.lines_of(self.data / "informs" / f"{file}.csv.gz")
            support.load(self.dsn, f"informs_{table}", lines, Format())
        support.execute(self.dsn, identity_tables.INFORMS_SQL)
        yield from self._asked(INFORMS, "danonyir", self.l)

    def _load_adult(self) -> None:
        assert self.data is not None
        lines = adult.lines(self.data, complete=False)
        form = Format(header=False, names=list(adult.COLUMNS), nulls=("?",))
        support.load(self.dsn, ADULT.table, lines, form)

    def _asked(
        self,
        source: Source,
        form: str,
        parameter: int,
        spreads: Sequence[Literal["column", "uniform"]] = ("column",),
    ) -> Iterator[Row]:
        support.forget(self.dsn)
        declared = policy(source, form, parameter)
        result = support.run_policy(self.dsn, declared).result
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            for spread in spreads:
                found = answers(conn, source, declared["release"], self.queries, spread)
                named: dict[str, Any] = {
                    "table": source.table,
                    "form": form if spread == "column" else f"{form}, {spread}",
                    "parameter": parameter,
                    "suppressed": result["suppressed"],
                }
                yield {**named, "aggregate": "all", "predicates": "all", **figures(found)}
                for aggregate in source.aggregates:
                    own = [one for one in found if one.asked.aggregate == aggregate]
                    yield {**named, "aggregate": aggregate, "predicates": "all", **figures(own)}
                for number in (1, 2, 3):
                    own = [one for one in found if one.asked.predicates == number]
                    yield {**named, "aggregate": "each", "predicates": number, **figures(own)}

    @staticmethod
    def judged(found: Row) -> Row:
        return {"claims": estimates_claims.evaluate(found)}
