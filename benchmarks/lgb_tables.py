"""Census tables in which people hide some of their values, the same on every server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg import sql

from benchmarks import support
from pganon.importing.form import Format
from pganon.methods.local.search.nearest import Cells, Names, Small, nearest_groups

Row = dict[str, Any]

SEED = 1
CLOSENESS = 0.2
"""t of columns with too few values for l, as in the paper."""


@dataclass(frozen=True)
class Source:
    """A table; the flag of a semi-sensitive column is `<column>_<density>`.

    Attributes:
        numbers: columns that are generalized to ranges; others are unordered.
        most: l that a column reaches at most; above, its buckets have that one.
        few: semi-sensitive columns with t-closeness.
        added: the sensitive column that queries add up, if it is a number.
    """

    table: str
    quasi: tuple[str, ...]
    semi: tuple[str, ...]
    sensitive: str
    numbers: tuple[str, ...]
    most: Mapping[str, int]
    few: tuple[str, ...] = ("sex",)
    added: str | None = None

    @property
    def release(self) -> str:
        return f"{self.table}_bench"

    @property
    def columns(self) -> list[str]:
        return [*self.semi, *self.quasi, self.sensitive]


INCOME = Source(
    table="income",
    quasi=("marital", "race", "education", "hispanic", "tenure"),
    semi=("sex", "age", "industry"),
    sensitive="salary",
    numbers=("age",),
    most={"industry": 15},
    added="salary",
)
PEOPLE = replace(INCOME, table="people")
COLORADO = Source(
    table="colorado",
    quasi=("relationship", "marital", "race", "education", "hours", "class"),
    semi=("sex", "age"),
    sensitive="occupation",
    numbers=("age", "hours"),
    most={},
)
STATES = Source(
    table="states",
    quasi=COLORADO.quasi,
    semi=COLORADO.semi,
    sensitive=COLORADO.sensitive,
    numbers=COLORADO.numbers,
    most={},
)


def policy(
    source: Source,
    method: Row,
    k: int,
    l: int,  # noqa: E741
    density: int,
) -> Row:
    """Buckets of different columns are independent, as the paper has them."""
    columns: Row = {}
    for name in source.semi:
        flag = {"sensitive_when": {"column": f"{name}_{density}"}}
        columns[name] = {"role": "semi_sensitive", **_kind(source, name), **flag}
    for name in source.quasi:
        columns[name] = {"role": "quasi_identifying", **_kind(source, name)}
    columns[source.sensitive] = {"role": "sensitive"}
    return {
        "release": source.release,
        "source": f"public.{source.table}",
        "columns": columns,
        "privacy": [
            {"model": "k_anonymity", "k": k},
            *[_principle(source, name, l) for name in (*source.semi, source.sensitive)],
        ],
        "method": {"link_threshold": 1.0, **method},
        "on_infeasible": "suppress",
        "suppression_limit": 0.05,
    }


def _kind(source: Source, name: str) -> Row:
    return {} if name in source.numbers else {"type": "categorical"}


def _principle(source: Source, name: str, l: int) -> Row:  # noqa: E741
    if name in source.few:
        return {"model": "t_closeness", "column": name, "t": CLOSENESS}
    reached = min(l, source.most.get(name, l))
    return {"model": "local_bucket_diversity", "column": name, "l": reached}


# -- groups in memory -------------------------------------------------------------------------


def coded(dsn: str, source: Source) -> np.ndarray:
    """Codes of the quasi-identifiers, from 0 by column, in a random order of the records."""
    names = sql.SQL(", ").join(map(sql.Identifier, source.quasi))
    text = sql.SQL("SELECT {} FROM {} ORDER BY person").format(names, sql.Identifier(source.table))
    with psycopg.connect(dsn) as conn:
        columns = zip(*conn.execute(text).fetchall(), strict=True)
    codes = [np.unique(np.array(column), return_inverse=True)[1] for column in columns]
    return np.random.default_rng(SEED).permutation(np.column_stack(codes))


def losses(records: np.ndarray, k: int, small: Small, *, whole: bool) -> Row:
    """C_DM and NCP of LGB_NCP, where equal records stay whole or are taken one by one.

    Records of a group that is not divided because they are equal are dealt to as many groups as
    there may be: no seeds are farther apart than others.
    """
    cells, counts = np.unique(records, axis=0, return_counts=True) if whole else (records, None)
    weights = [1] * len(cells) if counts is None else counts.tolist()
    order = np.random.default_rng(SEED).permutation(len(cells))
    cells, weights = cells[order], [weights[at] for at in order]
    attributes = [Names(column.tolist(), int(column.max()) + 1) for column in cells.T]
    groups = Cells(attributes, weights)
    c_dm = ncp = 0.0
    for members in nearest_groups(groups, k, "grow", small):
        size = groups.size(members)
        cover = reduce(groups.union, map(groups.cover, members))
        loss = groups.loss(cover)
        parts = size // k if not loss and not whole else 1
        c_dm += sum((size // parts + (at < size % parts)) ** 2 for at in range(parts))
        ncp += size * loss
    return {"c_dm": c_dm, "ncp": ncp / records.size}


# -- loading ----------------------------------------------------------------------------------

_YEARS = (2018, 2019)

# Who says what the industry and the income are. The first rows are a sample, the same everywhere.
_INCOME_SQL = """
CREATE TABLE {table} AS
SELECT row_number() OVER () AS person, p.* FROM (
    SELECT "SEX" AS sex, "AGEP" AS age, "INDP" AS industry, "MSP" AS marital, "RAC1P" AS race,
        "EDU" AS education, "HISP" AS hispanic, "OWN_RENT" AS tenure, "PINCP"::int AS salary
    FROM ({years}) AS y
    WHERE "INDP" IS NOT NULL AND "PINCP" IS NOT NULL AND "MSP" IS NOT NULL AND "EDU" IS NOT NULL
    ORDER BY md5(y::text), y::text
    LIMIT {rows}
) AS p
"""

_STATES_SQL = """
CREATE TABLE {table} AS
SELECT row_number() OVER () AS person, p.* FROM (
    SELECT "SEX" AS sex, "AGEP" AS age, "RELP" AS relationship, "MAR" AS marital, "RAC1P" AS race,
        "SCHL" AS education, "WKHP" AS hours, "COW" AS class, "OCCP" AS occupation
    FROM acs WHERE {where}
    LIMIT {rows}
) AS p
"""

# Drawn for every person and column: who hides a value at 10 % hides it at 20 %, too.
_FLAG_SQL = """
ALTER TABLE {table} ADD COLUMN {column}_{density} boolean;
"""
_FLAGS_SQL = """
UPDATE {table} SET {flags};
ALTER TABLE {table} ADD PRIMARY KEY (person);
VACUUM FULL ANALYZE {table}
"""


def load(dsn: str, data: Path, densities: Iterable[int], rows: int | None = None) -> None:
    """Tables, or the first rows of all but one, with a flag per column and density."""
    limit = "ALL" if rows is None else str(int(rows))
    for year in _YEARS:
        lines = support.lines_of(data / "acs_sdnist" / f"national{year}.csv.gz")
        support.load(dsn, f"national{year}", lines, Format(nulls=("N", "")))
    whole = support.lines_of(data / "acs2018" / "acs2018_income.csv.gz")
    support.load(dsn, "acs", whole, Format())
    years = " UNION ALL ".join(f"SELECT * FROM national{year}" for year in _YEARS)
    for table, first in ((INCOME.table, limit), (PEOPLE.table, "ALL")):
        support.execute(dsn, _INCOME_SQL.format(table=table, years=years, rows=first))
    support.execute(dsn, _STATES_SQL.format(table="colorado", where="\"STATE\" = 'CO'", rows=limit))
    support.execute(dsn, _STATES_SQL.format(table="states", where="true", rows=limit))
    for seed, source in enumerate((INCOME, COLORADO, STATES, PEOPLE), 1):
        _hide(dsn, source, seed, sorted(densities))


def _hide(dsn: str, source: Source, seed: int, densities: Sequence[int]) -> None:
    flags = []
    for place, column in enumerate(source.semi):
        for density in densities:
            support.execute(
                dsn, _FLAG_SQL.format(table=source.table, column=column, density=density)
            )
            drawn = f"(hashint8extended(person, {100 * seed + place}) & 1048575)"
            flags.append(f"{column}_{density} = {drawn} < {density} * 1048576 / 100")
    for statement in _FLAGS_SQL.format(table=source.table, flags=", ".join(flags)).split(";"):
        support.execute(dsn, statement)
