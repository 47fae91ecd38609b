"""`time`: what it takes to hold a version against those that were readable before.

The rule alone, over a population of a million people: the same groups again, the last of 24
increments beside the others, groups that are unions of those before, and a version that was made
anew after a tenth of the people was exchanged, which is refused. Digests of groups are made apart.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import psycopg
from psycopg import sql

from benchmarks import increments, leaving, over_time_plots, people, recomputed, support
from benchmarks.benchmark import Benchmark, Row, Table
from pganon import database, locks
from pganon.history.check import RuleCheck, rule_steps
from pganon.history.model import EarlierVersion, GroupTables, NewVersion
from pganon.identifiers import QualifiedName
from pganon.resolved.presentation import Presentation
from pganon.run.executor import Executor
from pganon.run.options import Options, advise_planner
from pganon.run.pool import Pool
from pganon.run.tables import drop_tables, run_tables
from pganon.steps import State
from pganon.steps.facts import RECORDS

MOST_RATIO = 1.0

_TRIES = 3
_INCREMENTS = 24
_CLASS = 17
"""People per class, which makes 58,000 classes of a million."""

_POPULATION = """
CREATE UNLOGGED TABLE pganon_work.bench_population WITH (autovacuum_enabled = false) AS
SELECT md5('p' || i)::uuid AS member, 'value ' || i % 15 AS value,
    (hashint8extended(i, 2) & 1073741823) / 1073741824.0::float8 AS place,
    i <= {first} AS early, i > {exchanged} AS late
FROM generate_series(1, {last}::bigint) AS i
"""

_MEMBERS = """
CREATE UNLOGGED TABLE {members} WITH (autovacuum_enabled = false) AS
SELECT member, ((row_number() OVER (ORDER BY place, member) - 1) / {size} + 1)::integer AS class_id,
    value
FROM pganon_work.bench_population WHERE {condition}
"""

_GROUPS = """
CREATE UNLOGGED TABLE {groups} WITH (autovacuum_enabled = false) AS
SELECT m.class_id::bigint AS grp, count(*) AS people,
    bit_xor(uuid_hash_extended(m.member, 1)) AS who1,
    bit_xor(uuid_hash_extended(m.member, 2)) AS who2,
    ARRAY[bit_xor(uuid_hash_extended(m.member, hashtextextended(m.value, 3)))] AS held
FROM {members} AS m GROUP BY m.class_id
"""


@dataclass
class Versions:
    """Versions of one population, on as many connections as a run has."""

    conn: psycopg.Connection[Any]
    connect: Callable[[], psycopg.Connection[Any]]
    runs: Iterator[int]
    size: int

    def make(self, name: str, condition: str, size: int = _CLASS) -> tuple[GroupTables, float]:
        """The tables of a version, and the seconds that the digests of its groups took."""
        tables = GroupTables(
            QualifiedName("pganon_work", f"bench_{name}_members"),
            QualifiedName("pganon_work", f"bench_{name}_groups"),
            "class_id",
        )
        names = {"members": tables.members.identifier, "groups": tables.groups.identifier}
        given = {"size": sql.Literal(size), "condition": sql.SQL(condition)}
        self.conn.execute(sql.SQL(_MEMBERS).format(**names, **given))
        began = time.perf_counter()
        self.conn.execute(sql.SQL(_GROUPS).format(**names))
        return tables, time.perf_counter() - began

    def increments(self, number: int) -> list[GroupTables]:
        """Everybody in so many increments of one release."""
        return [
            self.make(f"increment{i}", f"early AND floor(place * {number}) = {i}")[0]
            for i in range(number)
        ]

    def judge(self, new: GroupTables, before: Sequence[GroupTables]) -> tuple[Row, float]:
        """What the rule finds, and the seconds that it takes."""
        run = next(self.runs)
        manner = Presentation(1, "classes", ("occupation",), ("age",))
        past = [EarlierVersion(1, "version 1", manner, tables) for tables in before]
        rule = RuleCheck(NewVersion(manner, new), past)
        state = State(run).observing({RECORDS: self.size})
        executor = Executor(self.conn, state, pool=Pool(self.conn, run, self.connect))
        with locks.hold(self.conn, run_id=run):
            began = time.perf_counter()
            # As with `warn`, but for the figures.
            state = executor.run(rule_steps(rule, refuses=False)[:-1])
            lasted = time.perf_counter() - began
        drop_tables(self.conn, run_tables(self.conn, run))
        facts = state.facts
        return {"crossing": facts[rule.crossing], "functions": facts[rule.functions]}, lasted


def _guard(dsn: str, size: int) -> Iterator[Row]:
    people.create(dsn, size)
    baseline = support.sorted_copy_seconds(dsn, people.TABLE, ["age", "sex", "race", "occupation"])

    def connect() -> psycopg.Connection[Any]:
        conn = database.connect(dsn, settings=database.RUN_SETTINGS)
        advise_planner(conn, Options())
        return conn

    with connect() as conn:
        exchanged = size // 10
        conn.execute(
            sql.SQL(_POPULATION).format(
                first=sql.Literal(size),
                exchanged=sql.Literal(exchanged),
                last=sql.Literal(size + exchanged),
            )
        )
        versions = Versions(conn, connect, itertools.count(900_000), size)
        first, _ = versions.make("first", "early")
        for name, condition, people_of_class in (
            ("the same groups", "early", _CLASS),
            ("unions", "early", 2 * _CLASS),
            ("recomputed", "late", _CLASS),
        ):
            new, digests = versions.make(name.split()[-1], condition, people_of_class)
            yield _judged(versions, name, new, [first], digests, baseline)
        *others, last = versions.increments(_INCREMENTS)
        yield _judged(versions, "the last increment", last, others, None, baseline)


def _judged(
    versions: Versions,
    name: str,
    new: GroupTables,
    before: Sequence[GroupTables],
    digests: float | None,
    baseline: float,
) -> Row:
    # The best of some, as the baseline is.
    tried = [versions.judge(new, before) for _ in range(_TRIES)]
    found, seconds = min(tried, key=lambda judged: judged[1])
    row = {
        "version": name,
        **found,
        "seconds": seconds,
        "baseline": baseline,
        "ratio": seconds / baseline,
    }
    if digests is None:
        return row
    return {**row, "digests": digests, "with digests": (seconds + digests) / baseline}


@dataclass(frozen=True, kw_only=True)
class OverTime(Benchmark):
    """Args: people: of the guarded population; months: batches of Adult."""

    people: int = 1_000_000
    months: int = 12
    series: tuple[increments.Series, ...] = increments.SERIES

    parts: ClassVar = ("guard", "increments", "recomputed", "leaving")
    real: ClassVar = frozenset(parts) - {"guard"}
    tables: ClassVar = (
        Table(
            "guard",
            f"guard: a version beside those before, at most {MOST_RATIO:g} sorted copies",
            (
                *("version", "crossing", "functions", "seconds", "digests", "baseline"),
                *("ratio", "with digests"),
            ),
        ),
        Table(
            "increments",
            "Adult in monthly batches, as increments: the last month",
            (
                *("first", "regions", "ranges", "diversity", "groups", "smallest", "gcp"),
                *("waiting", "out", *increments.EXPECTATIONS),
            ),
            lambda row: row["last"],
        ),
        Table(
            "recomputed",
            "Adult in monthly batches, each version made anew: percent of people",
            (
                *("diversity", "month", "classes", "gcp", "smallest", "below k"),
                *recomputed.EXPECTATIONS,
            ),
        ),
        Table(
            "leaving",
            "Adult in monthly batches, 5 % leave every month, l = 3: percent of people",
            (
                *("refresh", "month", "people", "released", "counterfeits"),
                "expected counterfeits",
            ),
        ),
    )

    def guard(self) -> Iterator[Row]:
        return _guard(self.dsn, self.people)

    def increments(self) -> Iterator[Row]:
        assert self.data is not None
        return increments.measure(self.dsn, self.data, self.months, self.series)

    def recomputed(self) -> Iterator[Row]:
        assert self.data is not None
        return recomputed.measure(self.dsn, self.data, self.months)

    def leaving(self) -> Iterator[Row]:
        assert self.data is not None
        return leaving.measure(self.dsn, self.data, self.months)

    draw = staticmethod(over_time_plots.draw)
