"""The distribution of the source that classes are held against, where it is published."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from psycopg import sql

from pganon.publish import lifecycle
from tests.support.harness.cluster import Database
from tests.support.harness.driver import fetch, publish, refused, run
from tests.support.sources.background import SUPPRESSES, beta_policy, build, groups
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

SHOWN = {"readers": ["analyst"], "reference": True}
NEAR = {"kernel": {"bandwidth": 0.4}}


def mixed(n: int, age: int = 20) -> list[tuple[Any, ...]]:
    return [(age, "F", ("a", "b", None)[i % 3]) for i in range(n)]


def distribution(db: Database) -> dict[Any, float]:
    found = db.connect("analyst").execute("SELECT * FROM published.r_reference").fetchall()
    assert len(found) == len({row[0] for row in found})
    return {row[0]: row[1] for row in found}


def shares(values: list[Any]) -> dict[Any, float]:
    return {value: n / len(values) for value, n in Counter(values).items()}


def clusters(beta: float = 0.8, **others: Any) -> dict[str, Any]:
    """Clusters are ages, which have nothing to do with each other."""
    return beta_policy(
        "beta_primacy", k=3, beta=beta, j=0.01, knowledge=NEAR, **SUPPRESSES, **others
    )


def test_shares_of_all_values_of_the_source(db: Database) -> None:
    rows = mixed(17)
    build(db, rows)
    publish(db, beta_policy("kagg", beta=2, publish=SHOWN))
    assert distribution(db) == shares([row[2] for row in rows])
    described = db.connect("analyst").execute(
        "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = 'published.r_reference'::regclass ORDER BY attnum"
    )
    assert described.fetchall() == [("s", "text"), ("share", "double precision")]


def test_nothing_is_published_unless_the_policy_says_so(db: Database) -> None:
    build(db, mixed(17))
    staged = run(db.owner(), beta_policy("kagg", beta=2))
    assert "shares" not in {r.part for r in staged.plan.relations(staged.state)}
    assert "reference" not in {check.model for check in staged.plan.stored_checks(staged.state)}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("integer", [3, 1, 2]),
        ("numeric(6,2)", ["1.50", "2.25", "0.10"]),
        ("date", ["2020-01-03", "2020-01-01", "2020-01-02"]),
        ("boolean", [True, False, True]),
        ("float8", [0.5, -1.25, 2]),
        ("uuid", [f"00000000-0000-0000-0000-00000000000{n}" for n in range(3)]),
    ],
)
def test_values_have_the_type_of_the_column(db: Database, kind: str, values: list[Any]) -> None:
    rows = [(n, values[n % 3]) for n in range(12)]
    make_table(db.connect("source_owner"), {"age": "integer", "s": kind}, rows)
    close = {"model": "t_closeness", "column": "s", "t": 0.5}
    publish(
        db, policy({"age": "q", "s": "s"}, [{"model": "k_anonymity", "k": 3}, close], publish=SHOWN)
    )
    joined = db.admin.execute(
        "SELECT f.share, count(r.s) / 12.0 FROM published.r AS r"
        " FULL JOIN published.r_reference AS f ON f.s = r.s GROUP BY f.s, f.share ORDER BY f.s"
    ).fetchall()
    assert [float(a) for a, _ in joined] == pytest.approx([float(b) for _, b in joined])
    types = db.admin.execute(
        "SELECT DISTINCT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attname = 's'"
        " AND attrelid IN ('published.r'::regclass, 'published.r_reference'::regclass)"
    ).fetchall()
    assert len(types) == 1


# -- rule R -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "records"),
    [
        pytest.param([(60, "M", "b")] * 10, 10, id="R suppressed records miss beta-likeness"),
        pytest.param([(60, "M", "a"), (60, "M", "b")], 2, id="R fewer than k"),
        pytest.param([(60, "M", "b")] * 10 + [(95, "M", "a")], 11, id="R two clusters"),
    ],
)
def test_what_subtraction_would_disclose_is_refused(
    db: Database, others: list[tuple[Any, ...]], records: int
) -> None:
    build(db, [*mixed(30), *others])
    with refused("disclosed_by_subtraction") as caught:
        run(db.owner(), clusters(publish=SHOWN))
    assert f"would be disclosed by subtraction ({records} records)" in str(caught[0])
    assert caught[0].hint == "suppress no records, or leave out publish.reference"
    staged = run(db.owner(), clusters())
    assert sum(map(len, groups(staged))) == 30


def test_two_clusters_that_failed_could_be_one_class(db: Database) -> None:
    """Of one value each: who knows that both failed knows who has which."""
    others = [(60, "M", "a")] * 5 + [(95, "M", "b")] * 5
    build(db, [*[(20, "F", "ab"[n % 2]) for n in range(30)], *others])
    with refused("disclosed_by_subtraction") as caught:
        publish(db, clusters(publish=SHOWN))
    assert "10 of them are left out for what they are" in str(caught[0])


def left_out_for_a_null(db: Database, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    make_table(db.connect("source_owner"), {"age": "integer", "s": "text"}, rows)
    close = {"model": "t_closeness", "column": "s", "t": 0.4}
    columns = {"age": {"nulls": "suppress"}, "s": "s"}
    models = [{"model": "k_anonymity", "k": 3}, close]
    return policy(columns, models, publish=SHOWN, suppression_limit=1, republication="refuse")


def test_records_without_a_quasi_identifier_are_one_class(db: Database) -> None:
    """No value decided on them, but subtraction tells what they have together."""
    asked = left_out_for_a_null(db, [*[(20, "ab"[n % 2]) for n in range(8)], *UNKNOWN])
    done = publish(db, asked)
    assert distribution(db) == {"a": 0.5, "b": 0.5}
    groups = sql.Identifier("pganon_private", f"r{done.run_id}_remembered_groups")
    (left,) = fetch(db.admin, sql.SQL("SELECT * FROM {} WHERE grp < 0").format(groups))
    assert (left["grp"], left["people"], len(left["held"])) == (-1, 4, 1)
    db.source("UPDATE public.t SET s = 'a' WHERE id = 10")
    with refused("republication") as caught:
        publish(db, asked)
    assert caught[0].reason == "changed"  # pyright: ignore


def test_a_distribution_tells_of_nobody_who_came_later(db: Database) -> None:
    """That of a release that grows is of its first version."""
    asked = left_out_for_a_null(db, [*[(20, "ab"[n % 2]) for n in range(8)], *UNKNOWN])
    publish(db, {**asked, "refresh": "increments"})
    db.source(
        "INSERT INTO public.t SELECT 100 + n, CASE WHEN n > 3 THEN 30 END,"
        " CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END FROM generate_series(0, 11) AS n"
    )
    done = publish(db, {**asked, "refresh": "increments"})
    groups = sql.Identifier("pganon_private", f"r{done.run_id}_remembered_groups")
    found = fetch(db.admin, sql.SQL("SELECT grp > 0 AS shown, people FROM {}").format(groups))
    assert found == [{"shown": True, "people": 8}]


def test_distributions_of_all_and_of_all_but_one(db: Database) -> None:
    """Attack: the same classes twice, and the distributions differ by one record that nobody
    sees."""
    asked = left_out_for_a_null(db, [*[(20, "ab"[n % 2]) for n in range(8)], *UNKNOWN])
    publish(db, asked)
    with refused("republication") as caught:
        publish(db, {**asked, "where": "id <> 12"})
    assert caught[0].reason == "left_out"  # pyright: ignore


UNKNOWN: list[tuple[Any, ...]] = [(None, "ab"[n % 2]) for n in range(4)]


def test_residuals_that_are_suppressed(db: Database) -> None:
    """G5: {7, 12, 13}, of which none may have b, are left over."""
    rows = [
        (21, "F", "a"), (27, "M", "a"), (31, "F", "a"), (32, "F", "b"), (33, "M", "b"),
        (37, "M", "a"), (38, "F", "b"), (39, "M", "b"), (43, "F", "c"), (46, "M", "a"),
        (52, "M", "c"), (53, "F", "c"), (56, "M", "a"), (58, "M", "b"),
    ]  # fmt: skip
    build(db, rows)
    close = {"model": "t_closeness", "t": 0.2}
    for residual in ("suppress", "absorb"):
        method = {"name": "kagg", "residual": residual}
        plain = beta_policy(method, k=3, closeness=close, **SUPPRESSES)
        asked = {**plain, "publish": SHOWN}
        staged = run(db.owner(), plain)
        left = set(range(1, 15)) - {key for group in groups(staged) for key in group}
        if not _conceals(rows, left, 3, Fraction(1, 5)):
            with refused("disclosed_by_subtraction") as caught:
                run(db.owner(), asked)
            assert ("residual: absorb" in str(caught[0].hint)) == (residual == "suppress")
        else:
            assert groups(run(db.owner(), asked)) == groups(staged)


def _conceals(rows: list[tuple[Any, ...]], left: set[int], k: int, t: Fraction) -> bool:
    """Rule R from its definition, for t-closeness."""
    if not left:
        return True
    whole, held = Counter(row[2] for row in rows), Counter(rows[key - 1][2] for key in left)
    gaps = [abs(Fraction(held[v], len(left)) - Fraction(whole[v], len(rows))) for v in whole]
    return len(left) >= k and sum(gaps) / 2 <= t


@pytest.mark.slow
def test_mondrian(db: Database) -> None:
    """One that is too small for a class of its own is left out, and would be told of."""
    columns = {"age": {"nulls": "own_class"}, "s": "s"}
    close = {"model": "beta_likeness", "column": "s", "beta": 2}
    asked = policy(columns, [{"model": "k_anonymity", "k": 3}, close], publish=SHOWN, **SUPPRESSES)
    rows = [(20 + n, "abc"[n % 3]) for n in range(30)]
    make_table(db.connect("source_owner"), {"age": "integer", "s": "text"}, rows)
    publish(db, asked)
    assert distribution(db) == shares([row[1] for row in rows])
    make_table(db.connect("source_owner"), {"age": "integer", "s": "text"}, [*rows, (None, "a")])
    with refused("disclosed_by_subtraction") as caught:
        publish(db, asked)
    assert "(1 records)" in str(caught[0])
    publish(db, {**asked, "publish": {"readers": ["analyst"]}})


# -- verification -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE pganon_data.r{}_shares SET share = share + 0.1 WHERE s = 'a'",
        "DELETE FROM pganon_data.r{}_shares WHERE s = 'a'",
        "INSERT INTO pganon_data.r{}_shares VALUES ('z', 0.1)",
    ],
)
def test_verify_finds_another_distribution(db: Database, text: str) -> None:
    build(db, mixed(17))
    done = publish(db, beta_policy("kagg", beta=2, publish=SHOWN))
    conn = db.owner()
    assert [m for m in lifecycle.verify(conn, "r") if not m.holds] == []
    conn.execute(text.format(done.run_id).encode())
    failing = {m.model for m in lifecycle.verify(conn, "r") if not m.holds}
    assert {"reference", "fingerprint"} <= failing


def test_rows_lie_in_the_order_of_the_values(db: Database) -> None:
    build(db, [(20, "F", "zyxa"[n % 4]) for n in range(16)])
    done = publish(db, beta_policy("kagg", beta=2, publish=SHOWN))
    name = sql.Identifier("pganon_data", f"r{done.run_id}_shares")
    held = [row["s"] for row in fetch(db.admin, sql.SQL("SELECT * FROM {}").format(name))]
    assert held == sorted(held)


# -- policies -----------------------------------------------------------------------------------


def test_policies_that_cannot_have_it(db: Database) -> None:
    make_table(
        db.connect("source_owner"),
        {"age": "integer", "sex": "text", "s": "text", "t": "text"},
        [(n, "F", "ab"[n % 2], "cd"[n % 2]) for n in range(20)],
    )
    conn = db.owner()
    k = {"model": "k_anonymity", "k": 2}
    close = {"model": "t_closeness", "column": "s", "t": 0.5}
    two = {"age": "q", "s": "s", "t": "s"}
    cases = [
        (policy({"age": "q"}, 2, publish=SHOWN), "no model compares"),
        (
            policy(two, [k, close, {**close, "column": "t"}], publish=SHOWN),
            "models compare several columns",
        ),
        (
            policy(
                {"age": "q", "s": {"role": "sensitive", "as": "share"}}, [k, close], publish=SHOWN
            ),
            "share is a column of the distribution",
        ),
        (
            policy({"age": "q", "s": "s"}, [k, close], publish=SHOWN) | {"release": "r" * 56},
            "PostgreSQL allows 63",
        ),
        (
            beta_policy({"name": "kagg", "lemma2": "trim"}, publish=SHOWN),
            "lemma2: trim suppresses records for their sensitive values",
        ),
        (
            policy(
                {"age": "q", "s": "s"},
                [{"model": "anatomy_l_diversity", "column": "s", "l": 2}],
                method={"name": "anatomy"},
                publish=SHOWN,
            ),
            "the method anatomy does not publish",
        ),
    ]
    for declared, said in cases:
        with refused("policy") as caught:
            run(conn, declared)
        assert said in str(caught[0])
