"""The condition of a policy: what may stand in it, and what it becomes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pganon.policy.expressions import ExpressionProblem, check_where


def rendered(text: str) -> str:
    return check_where(text).expression.sql(dialect="postgres", identify=True)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("age >= 18 and Country = 'DE'", '"age" >= 18 AND "country" = \'DE\''),
        ('"Age" < 3 or not b', '"Age" < 3 OR NOT "b"'),
        ("a in (1, 2) and b not between 1 and 2", '"a" IN (1, 2) AND NOT "b" BETWEEN 1 AND 2'),
        ("a ilike '%x!_' escape '!'", "\"a\" ILIKE '%x!_' ESCAPE '!'"),
        ("a is null and b is distinct from c", '"a" IS NULL AND "b" IS DISTINCT FROM "c"'),
        ("d >= date '2020-01-01'", "\"d\" >= CAST('2020-01-01' AS DATE)"),
        ("extract(year from d) = 2020", 'EXTRACT(YEAR FROM "d") = 2020'),
        ("date_trunc('month', d) < x", 'DATE_TRUNC(\'MONTH\', "d") < "x"'),
        ("lower(a) = 'it''s' -- why", "LOWER(\"a\") = 'it''s'"),
        ("a = 'back\\slash %s'", "\"a\" = 'back\\slash %s'"),
        ("case when a > 1 then b else c end", 'CASE WHEN "a" > 1 THEN "b" ELSE "c" END'),
        ("coalesce(a, 0)::numeric(10,2) > 1", 'CAST(COALESCE("a", 0) AS DECIMAL(10, 2)) > 1'),
        ("user = 'x'", "\"user\" = 'x'"),
        ("Ä = 1 and Bä = 2", '"Ä" = 1 AND "bä" = 2'),
        ("member", '"member"'),
        ("a % 2 = 0;", '"a" % 2 = 0'),
    ],
)
def test_allowed(text: str, sql: str) -> None:
    assert rendered(text) == sql


def test_columns() -> None:
    assert check_where('A = 1 and "B c" > a or abs(d) < 2').columns == {"a", "B c", "d"}
    assert check_where("true").columns == frozenset()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "can be read"),
        ("a is null or", "can be read"),
        ("a = 1; drop table x", "only one condition"),
        ("drop table x", "a command"),
        ("vacuum", "a command"),
        ("copy x to stdout", "a command"),
        ("set x = 1", "a command"),
        ("a in (select 1)", "sub-select"),
        ("exists (select 1)", "sub-select"),
        ("(select 1) = 1", "sub-select"),
        ("a = 1 union select 1", "sub-select"),
        ("count(*) > 1", "aggregate"),
        ("sum(a) over () > 1", "window function"),
        ("random() > 0.5", "repeatable"),
        ("d < now()", "repeatable"),
        ("d < current_date", "repeatable"),
        ("d < 'now'::date", "repeatable"),
        ("d < date ' Today '", "repeatable"),
        ("pg_sleep(1) is null", "the function pg_sleep()"),
        ("to_char(a, 'x') = 'x'", "the function to_char()"),
        ("pg_catalog.lower(a) = 'x'", "not allowed"),
        ("current_user = 'x'", "not allowed"),
        ("set_config('a', 'b', false) = 'b'", "the function set_config()"),
        ("a::regclass = 1", "cast to this type"),
        ("a::public.evil = 1", "cast to this type"),
        ("a::int[] = 1", "cast to this type"),
        ("a ~ 'x'", "not allowed"),
        ("a ->> 'x' = 'y'", "not allowed"),
        ("a operator(pg_catalog.=) 1", ""),
        ("a = $1", "parameter"),
        ("a = %s", "parameter"),
        ("a = :x", "parameter"),
        ("E'x' = a", "plain strings"),
        ("$$x$$ = a", "plain strings"),
        ("t.a = 1", "without the table's name"),
        ("* = 1", ""),
        ("a = null", "never true"),
        ("a in (1, null)", "never matches"),
        ("a in ()", "list of values"),
        ("a = any(array[1])", "not allowed"),
        ("(a, b) = (1, 2)", "not allowed"),
        ("a collate \"C\" = 'x'", "not allowed"),
        ("date_trunc('evil', d) > d", "unit"),
        ("extract(foo from d) = 1", "unit"),
        ("a + 1", "is a value"),
        ("'x'", "is a value"),
        ("a" * 64 + " = 1", "64 bytes"),
        ("(" * 3000 + "a" + ")" * 3000, "nested too deeply"),
        (" or ".join(["a = 1"] * 2000), "parts"),
    ],
)
def test_refused(text: str, part: str) -> None:
    with pytest.raises(ExpressionProblem) as caught:
        check_where(text)
    assert part in caught.value.problem.message
    assert caught.value.problem.field == "where"
    assert len(caught.value.problem.message) < 250


@settings(deadline=None)
@given(st.text(alphabet="ab1 ()'\"=<>+-*/;,.:$%|&!~andorti\n\\", max_size=30))
def test_no_text_breaks_the_check(text: str) -> None:
    try:
        found = check_where(text)
    except ExpressionProblem:
        return
    again = check_where(found.expression.sql(dialect="postgres", identify=True))
    assert again.columns == found.columns
