"""Tables of the benchmark against background knowledge, and the policies over them.

patients    people and their exams, after BKseq; what is known of them is what they were drawn from
workers     people and their occupations, after Adult; the same
adult       random people of Adult, about whom a kernel estimates what is known
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from benchmarks import adult as adult_table
from benchmarks.background_data import (
    EXAMS,
    OCCUPATIONS,
    exam_prior,
    occupation_prior,
    patients,
    workers,
)

Row = dict[str, Any]

SEED = 1

BANDWIDTH = {"age": 0.3, "gender": 0.3, "education": 2}
"""Of the kernel over Adult. People of other educations tell something, too: with equal ones alone,
the few with a rare education would be known by their own occupations."""


@dataclass(frozen=True)
class Source:
    """A kind of table.

    Attributes:
        quasi: types of the quasi-identifiers in SQL.
        drawn: n records of the draw with this seed, quasi-identifiers first.
        priors: probabilities of every sensitive value by quasi-identifiers; None: a kernel.
        bandwidth: of that kernel.
    """

    name: str
    quasi: dict[str, str]
    sensitive: str
    drawn: Callable[[int, int], Sequence[Sequence[Any]]]
    priors: tuple[Sequence[str], Callable[..., Sequence[float]]] | None = None
    bandwidth: float | Row = 0.3

    @property
    def columns(self) -> list[str]:
        return [*self.quasi, self.sensitive]

    @property
    def prior(self) -> str:
        return f"{self.name}_prior"

    def width(self, column: str) -> float:
        """The bandwidth of a column."""
        bandwidth = self.bandwidth
        return bandwidth.get(column, 0.3) if isinstance(bandwidth, dict) else bandwidth

    @property
    def knowledge(self) -> Row:
        if self.priors is None:
            return {"kernel": {"bandwidth": self.bandwidth}}
        return {"relation": f"public.{self.prior}"}


PATIENTS = Source(
    "patients",
    {"sex": "text", "age": "integer", "weight": "integer"},
    "exam",
    patients,
    (EXAMS, exam_prior),
)
WORKERS = Source(
    "workers",
    {"age": "integer", "gender": "text", "education": "text"},
    "occupation",
    workers,
    (tuple(OCCUPATIONS), lambda age, gender, education: occupation_prior(gender, education)),
)


def adult(data: Path) -> Source:
    """Samples of the 45,222 complete records."""
    places = [adult_table.COLUMNS.index(name) for name in ("age", "sex", "education", "occupation")]
    people: list[Sequence[Any]] = []
    for name in ("adult.data.gz", "adult.test.gz"):
        for line in adult_table.lines(data, name=name):
            cells = line.strip().split(",")
            if len(cells) == len(adult_table.COLUMNS):
                age, *others = (cells[place] for place in places)
                people.append((int(age), *others))
    return Source(
        "adult",
        {"age": "integer", "gender": "text", "education": "text"},
        "occupation",
        lambda n, seed: random.Random(seed).sample(people, n),
        bandwidth=BANDWIDTH,
    )


@dataclass(frozen=True)
class Drawn:
    """A table that was drawn and loaded."""

    source: Source
    people: Sequence[Sequence[Any]]

    def values(self, column: str) -> list[Any]:
        at = self.source.columns.index(column)
        return [person[at] for person in self.people]


def load(dsn: str, source: Source, rows: int, seed: int = SEED) -> Drawn:
    """(Re)create the table, and the relation of what is known."""
    people = source.drawn(rows, seed)
    quasi = {**source.quasi}
    with psycopg.connect(dsn) as conn:
        _create(conn, source.name, {**quasi, source.sensitive: "text"}, people)
        if source.priors is not None:
            values, prior = source.priors
            cells = sorted({tuple(person[: len(quasi)]) for person in people})
            known = [
                (*cell, value, probability)
                for cell in cells
                for value, probability in zip(values, prior(*cell), strict=True)
            ]
            types = {**quasi, source.sensitive: "text", "probability": "float8"}
            _create(conn, source.prior, types, known)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE")
    return Drawn(source, people)


def _create(
    conn: psycopg.Connection[Any], name: str, types: dict[str, str], rows: Iterable[Sequence[Any]]
) -> None:
    table = sql.Identifier(name)
    columns = [
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind))  # pyright: ignore[reportArgumentType]
        for column, kind in types.items()
    ]
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
    conn.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(columns)))
    with conn.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
        for row in rows:
            copy.write_row(row)


# -- policies ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """What a release must hold; the defaults are those that the paper keeps fixed.

    Attributes:
        beta: None for t-closeness instead.
        j: None: nothing is known.
    """

    k: int = 5
    beta: float | None = 3
    t: float = 0.5
    j: float | None = 0.8

    @property
    def row(self) -> Row:
        closeness = {"t": self.t} if self.beta is None else {"beta": self.beta}
        return {"k": self.k, **closeness, "j": self.j}


def policy(source: Source, method: Row, setting: Setting) -> Row:
    closeness: Row = {"model": "t_closeness", "t": setting.t}
    if setting.beta is not None:
        closeness = {"model": "beta_likeness", "beta": setting.beta}
    privacy: list[Row] = [
        {"model": "k_anonymity", "k": setting.k},
        {**closeness, "column": source.sensitive},
    ]
    if setting.j is not None:
        known = {"j": setting.j, "knowledge": source.knowledge}
        privacy.append({"model": "background_knowledge", **known})
    return {
        "release": f"{source.name}_bench",
        "source": f"public.{source.name}",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in source.quasi},
            source.sensitive: {"role": "sensitive"},
        },
        "privacy": privacy,
        "method": method,
        "on_infeasible": "suppress",
        "suppression_limit": 1.0,
        "republication": "allow",
        "publish": {"keep": 1},
    }
