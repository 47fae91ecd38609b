"""Attack: a condition that reads the clock, so that a release cannot be repeated.

The server takes texts such as 'now' for times wherever a time is wanted, and reads them when the
statement is parsed.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import psycopg
import pytest

from pganon.catalog.introspect import read_relation
from pganon.errors import PolicyError
from pganon.loading import load_policy
from pganon.policy.expressions import ExpressionProblem, check_where
from pganon.run.context import resolve_policy
from tests.support.harness.cluster import Connection, Database

pytestmark = pytest.mark.primary_server_only

SOURCE = """
CREATE DOMAIN public.day AS date;
CREATE TABLE public.stay (
    d date, t timestamp, z timestamptz, w public.day, r daterange, c text, n integer
);
INSERT INTO public.stay
VALUES ('2020-01-01', '2020-01-01', '2020-01-01', '2020-01-01', NULL, '2020-01-01', 1);
"""

MOVING = [
    "d < 'now'",
    "d < 'NOW'",
    "d < ' now '",
    "t < 'today 12:00'",
    "t < '12:00 today'",
    "z < '-now,'",
    "w < 'tomorrow'",
    "d in ('2020-01-01', 'yesterday')",
    "d between '2020-01-01' and 'today'",
    "not d between 'today' and 'tomorrow'",
    "d is distinct from 'today'",
    "d < (('now'))",
    "coalesce(d, 'now') > '2020-01-01'",
    "nullif(d, 'today') is null",
    "case when n = 1 then d else 'now' end > '2020-01-01'",
    "'now' > d",
    "r = '[today,infinity)'",
    "d < 'now'::date",
    "d < timestamp 'today'",
    "n = 1 and '2020-01-01'::date < 'now'",
    "d < 'now'::text::date",
    "d < 'now'::varchar(3)::date",
    "d < lower('NOW')::date",
    "d < ('no' || 'w')::date",
    "d < ('to' || c)::date",
    "d < coalesce('now', c)::date",
    "d < coalesce(nullif(c, c), 'now')::timestamp",
    "d < (case when n = 1 then 'now' end)::date",
    "extract(year from 'now') > 2",
    "date_trunc('day', 'now') > d",
    "date_trunc('day', 'today'::timestamptz) > d",
    "c::text::date < d",
    "upper(c)::timestamptz < d",
]
STILL = [
    "d < '2020-01-01'",
    "d < '2020-01-01'::date",
    "t between 'epoch' and 'infinity'",
    "z > timestamptz '2020-01-01 00:00:00+02'",
    "t::date = d",
    "t::timestamptz::date = d",
    "c::date = d",
    "c = 'now'",
    "c in ('today', 'tomorrow') and n = 1",
    "c like 'now%'",
    "d < '2020-01-01' and c = 'unknown'",
    "date_trunc('month', t)::date = d",
    "extract(year from d) = 2020",
    "null::date is null",
]


@pytest.fixture
def conn(db: Database) -> Connection:
    db.source(SOURCE)
    return db.connect()


def _resolve(conn: Connection, where: str) -> Any:
    loaded = load_policy(
        json.dumps(
            {
                "release": "stays",
                "source": "public.stay",
                "trust": ["source_owner"],
                "where": where,
                "columns": {"n": {"role": "quasi_identifying"}},
                "privacy": [{"model": "k_anonymity", "k": 2}],
                "method": {"name": "mondrian"},
            }
        )
    )
    return resolve_policy(conn, loaded)


def test_no_condition_reads_the_clock(conn: Connection) -> None:
    for where in MOVING:
        with pytest.raises(PolicyError) as caught:
            _resolve(conn, where)
        (problem,) = caught.value.problems
        assert problem.field == "where", where
        assert "a time that moves" in problem.message, where
        assert problem.suggestion, where


def test_other_conditions_stay(conn: Connection) -> None:
    assert read_relation(conn, "public.stay")
    for where in STILL:
        rendered = _resolve(conn, where).where.sql(dialect="postgres", identify=True)
        conn.execute(f"SELECT count(*) FROM public.stay WHERE {rendered}".encode())


def test_whatever_the_server_takes_for_a_time(bare_db: Database) -> None:
    """Words of the clock among others: what moves on the server is refused."""
    conn = bare_db.admin
    words = ("now", "TODAY", "Tomorrow", "yesterday", "epoch", "infinity", "allballs", "2020-01-01")
    frames = ("{}", " {} ", "{} 12:00", "12:00 {}", "{}12:00", "{} utc", "Mon {}", "({})", "{},")
    frames += (
        "{}\t",
        "{} ad",
        "{}z",
        "{} +02",
        "{}.",
        "/{}",
        "{}-01",
        "{}_",
        "t{}",
        "{}\xa0",
        "{0} {0}",
    )
    moved = 0
    for word, frame, kind in itertools.product(words, frames, ("date", "timestamp", "timestamptz")):
        text = frame.format(word)
        try:
            row = conn.execute(
                "SELECT abs(extract(epoch FROM (%s::text)::timestamptz - now())) < 300000"
                if kind == "timestamptz"
                else f"SELECT abs(extract(epoch FROM (%s::text)::{kind}::timestamptz - now()))"
                " < 300000",
                [text],
            ).fetchone()
        except psycopg.DataError:
            continue
        if row != (True,):
            continue
        moved += 1
        with pytest.raises(ExpressionProblem):
            check_where("d < '{}'::{}".format(text.replace("'", "''"), kind))
    assert moved > 20
