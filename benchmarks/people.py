"""A generated table of people, the same on every server."""

from __future__ import annotations

from benchmarks import support

TABLE = "people"

# A share in [0, 1) by record and column, the same on every server. Columns are as many-valued and
# about as skewed as Adult's.
_GENERATED = """
CREATE TABLE people AS
SELECT (17 + 73 * power(u[1], 1.9))::int AS age,
    'workclass ' || (9 * power(u[2], 3.5))::int AS workclass,
    'occupation ' || (14 * power(u[3], 1.2))::int AS occupation,
    'race ' || (4 * power(u[4], 6))::int AS race,
    (1 + 15 * power(u[5], 0.6))::int AS education_num,
    'status ' || (6 * power(u[6], 1.8))::int AS marital_status,
    CASE WHEN u[7] < 0.33 THEN 'f' ELSE 'm' END AS sex,
    'country ' || (41 * power(u[8], 9))::int AS native_country
FROM (
    SELECT ARRAY(
        SELECT (hashint8extended(record, attribute) & 1073741823) / 1073741824.0::float8
        FROM generate_series(1, 8) AS attribute
        ORDER BY attribute
    ) AS u
    FROM generate_series(1, {rows}::bigint) AS record
    OFFSET 0
) AS shares
"""


def create(dsn: str, rows: int) -> None:
    """(Re)create the table, without a primary key."""
    support.execute(dsn, f"DROP TABLE IF EXISTS people; {_GENERATED.format(rows=int(rows))}")
    support.execute(dsn, "VACUUM ANALYZE people")
