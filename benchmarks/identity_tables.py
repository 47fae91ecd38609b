"""Tables of individuals with several records, the same on every server."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Row = dict[str, Any]
Columns = Mapping[str, Row]


@dataclass(frozen=True)
class Source:
    """A table with several records per individual.

    Attributes:
        quasi: quasi-identifiers with what a policy says of them beside the role.
        trees: the same with hierarchies, for both methods alike; GeneIR needs them.
    """

    table: str
    individual: str
    sensitive: str
    quasi: Columns
    trees: Columns = field(default_factory=dict)


def _order(values: Iterable[object]) -> Row:
    shown = [str(value) for value in values]
    return {"type": "ordinal", "hierarchy": {"order": {"values": shown, "fanout": [2]}}}


def _intervals(*widths: int) -> Row:
    return {"hierarchy": {"intervals": list(widths)}}


_NOMINAL: Row = {"type": "categorical"}

_ALL_OF_INFORMS = Source(
    table="informs",
    individual="person",
    sensitive="diagnosis",
    quasi={
        "month": _NOMINAL,
        "year": {},
        "sex": _NOMINAL,
        "race": _NOMINAL,
        "educyear": {},
        "marry": _NOMINAL,
        "poverty": _NOMINAL,
        "hispanx": _NOMINAL,
    },
    trees={
        "month": _intervals(3, 6, 12),
        "year": _intervals(5, 10, 20, 40),
        "sex": _order(range(1, 3)),
        "race": _order(range(1, 7)),
        "educyear": _intervals(3, 9),
        "marry": _intervals(2),
        "poverty": _intervals(2),
        "hispanx": _order(range(1, 3)),
    },
)
"""The quasi-identifiers are in the paper's order."""


def informs(quasi: int) -> Source:
    """INFORMS with the first quasi-identifiers."""

    def first(columns: Columns) -> Columns:
        return dict(itertools.islice(columns.items(), quasi))

    source = _ALL_OF_INFORMS
    return replace(source, quasi=first(source.quasi), trees=first(source.trees))


DIABETES = Source(
    table="diabetes",
    individual="patient_nbr",
    sensitive="diag_1",
    quasi={
        "race": _NOMINAL,
        "gender": _NOMINAL,
        "age": {"type": "ordinal"},
        "admission_type_id": _NOMINAL,
        "admission_source_id": _NOMINAL,
    },
)

GENERATED = Source(
    table="many",
    individual="person",
    sensitive="diagnosis",
    quasi={
        "born": {},
        "sex": _NOMINAL,
        "race": _NOMINAL,
        "education": {},
        "status": _NOMINAL,
        "region": _NOMINAL,
    },
)

INFORMS_SQL = """
DROP TABLE IF EXISTS informs;
CREATE TABLE informs AS
SELECT DISTINCT p."DUPERSID" AS person, p."DOBMM" AS month, p."DOBYY" AS year, p."SEX" AS sex,
    p."RACEX" AS race, p."EDUCYEAR" AS educyear, p.marry, p.poverty, p."HISPANX" AS hispanx,
    c."ICD9CODX" AS diagnosis
FROM informs_conditions AS c JOIN informs_persons AS p USING ("DUPERSID");
ANALYZE informs
"""

FEW_SQL = """
DROP TABLE IF EXISTS informs_few;
CREATE TABLE informs_few AS
SELECT i.* FROM informs AS i JOIN (
    SELECT person FROM informs GROUP BY person
    ORDER BY hashint8extended(person, {sample}), person LIMIT {individuals}
) AS few USING (person);
ANALYZE informs_few
"""

RENAME_SQL = """
DROP TABLE informs;
ALTER TABLE informs_few RENAME TO informs
"""

# A share in [0, 1) by person and column. One to seven records each, four on average; few diagnoses
# are frequent.
MANY_SQL = """
DROP TABLE IF EXISTS many;
CREATE TABLE many AS
SELECT p.person, (1925 + 80 * power(u[1], 0.7))::int AS born,
    CASE WHEN u[2] < 0.5 THEN 'f' ELSE 'm' END AS sex, (1 + 5 * power(u[3], 5))::int AS race,
    (17 * power(u[4], 0.6))::int AS education, (6 * power(u[5], 1.8))::int AS status,
    (8 * power(u[6], 1.2))::int AS region,
    'D' || floor(619 * power(
        (hashint8extended(p.person, 100 + r) & 1073741823) / 1073741824.0::float8, 2)) AS diagnosis
FROM (
    SELECT person, ARRAY(
        SELECT (hashint8extended(person, attribute) & 1073741823) / 1073741824.0::float8
        FROM generate_series(1, 7) AS attribute
        ORDER BY attribute
    ) AS u
    FROM generate_series(1, {individuals}::bigint) AS person
    OFFSET 0
) AS p, generate_series(1, 1 + floor(7 * u[7])::int) AS r
"""
