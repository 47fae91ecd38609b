"""Trees of statements: parts that are shared, and what people read."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from pganon.sqltools import (
    aliased,
    chain,
    col,
    finished,
    fragment,
    named,
    num,
    pretty,
    query,
    render,
)
from pganon.sqltools import scalar as one_value

INNER = query("select a.x, a.y from a where a.x > :least", least=num(3))


def nodes(tree: exp.Expr) -> int:
    return sum(1 for _ in tree.walk())


def test_a_select_within_a_select_is_not_copied_with_it() -> None:
    outer = query("select u.x from u", {"u": INNER})
    larger = query("select u.x from u", {"u": INNER.select("a.z", "a.v", "a.w")})
    assert nodes(outer) == nodes(larger)
    assert nodes(one_value(INNER)) == nodes(finished(INNER)) + 1


def test_people_see_all_of_it_in_lines() -> None:
    inner = query("select max(u.x) as most from u", {"u": INNER})
    tree = query("select :top as top from t", {"t": INNER}, top=one_value(inner))
    plain, lines = render(tree.copy()), pretty(tree)
    assert sqlglot.parse_one(lines, read="postgres") == sqlglot.parse_one(plain, read="postgres")
    assert max(map(len, lines.splitlines())) < 40
    assert lines == sqlglot.parse_one(plain, read="postgres").sql(
        "postgres", identify=True, pretty=True
    )


def test_a_part_can_be_used_again() -> None:
    part = fragment("x + :one", one=num(1))
    once = fragment(":a * 2", a=part)
    again = fragment(":a * :a", a=part)
    cased = fragment("case when :c > 0 then :c end", c=named(part, "p").this)
    assert render(once) == '("x" + 1) * 2'
    assert render(again) == '("x" + 1) * ("x" + 1)'
    assert render(cased) == 'CASE WHEN ("x" + 1) > 0 THEN ("x" + 1) END'
    assert render(part) == '"x" + 1'


def test_what_is_joined_by_and_or_or_stays_together() -> None:
    either = chain(exp.Or, [col("a"), col("b")])
    assert render(fragment("not :e", e=either)) == 'NOT ("a" OR ("b"))'
    assert render(fragment("x and :e", e=either)) == '"x" AND ("a" OR ("b"))'
    assert render(fragment(":e = y", e=either)) == '("a" OR ("b")) = "y"'
    assert render(fragment("case when :e then 1 end", e=either)).startswith('CASE WHEN "a" OR')


def test_a_relation_keeps_the_name_that_it_is_given() -> None:
    assert render(exp.select(col("x", "n")).from_(aliased(INNER, "n"))) == (
        'SELECT "n"."x" FROM (SELECT "a"."x", "a"."y" FROM "a" WHERE "a"."x" > 3) AS "n"'
    )
