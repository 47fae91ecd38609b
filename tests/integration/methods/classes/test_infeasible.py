"""What cannot be released: each cause has its own message and leaves nothing behind."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.harness.driver import leftovers, publish, refused
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"q": "integer", "s": "integer"}
ROLES = {"q": "q", "s": "s"}


def l_diversity(l: float, kind: str = "distinct") -> list[dict[str, Any]]:  # noqa: E741
    return [{"model": f"{kind}_l_diversity", "column": "s", "l": l}]


def closeness(t: float) -> list[dict[str, Any]]:
    return [{"model": "k_anonymity", "k": 2}, {"model": "t_closeness", "column": "s", "t": t}]


NULLS = {"q": {"nulls": "suppress"}, "s": "s"}
ALL = {"suppression_limit": 1.0}
CASES: list[tuple[str, list[Any], dict[str, Any], str, str]] = [
    ("k over records", [(1, 1)] * 3, policy(ROLES, 4), "too_few_records", "3 records"),
    ("l over records", [(1, 1)] * 3, policy(ROLES, l_diversity(4)), "too_few_records", "3 records"),
    ("l over values", [(1, 1), (1, 2), (2, 2)], policy(ROLES, l_diversity(3)), "infeasible",
     "best reachable is l = 2"),
    ("entropy", [(1, 1), (1, 1), (2, 2), (2, 1)], policy(ROLES, l_diversity(2, "entropy")),
     "infeasible", "best reachable is l = 1.754"),
    ("empty source", [], policy(ROLES, 2), "empty_source", "has no rows"),
    ("empty by where", [(1, 1)], policy(ROLES, 2, where="q > 5"), "empty_source", "`where`"),
    ("all suppressed", [(None, 1)] * 4, policy(NULLS, 2, **ALL), "all_suppressed",
     "nothing to release"),
    ("k after nulls", [(None, 1)] * 4 + [(1, 1)], policy(NULLS, 2, **ALL), "infeasible",
     "best reachable is k = 1"),
    ("t after nulls", [(None, 1)] * 4 + [(1, 2)] * 3, policy(NULLS, closeness(0.2), **ALL),
     "infeasible", "best reachable is t = 0.572"),
    ("limit", [(None, 1)] + [(1, 2)] * 3, policy(NULLS, 2), "suppression_limit", "1 of 4"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "declared", "code", "words"), [c[1:] for c in CASES],
                         ids=[c[0] for c in CASES])  # fmt: skip
def test_refusal_says_why_and_leaves_nothing(
    db: Any, rows: list[Any], declared: dict[str, Any], code: str, words: str
) -> None:
    make_table(db.connect("source_owner"), COLUMNS, rows)
    with refused(code) as errors:
        publish(db, declared)
    assert words in str(errors[0])
    assert leftovers(db) == []
    assert db.admin.execute("SELECT to_regclass('published.r')").fetchone() == (None,)
    events = db.owner().execute("SELECT event FROM pganon_private.ledger ORDER BY id").fetchall()
    assert events == [("started",), ("failed" if code == "empty_source" else "refused",)]


@pytest.mark.parametrize(
    ("rows", "columns", "privacy"),
    [
        ([(1, 1), (1, 2), (2, 2), (2, 3), (3, 1)], ROLES, lambda x: l_diversity(x, "entropy")),
        ([(1, 1), (1, 2), (2, 2), (2, 3)], ROLES, lambda x: l_diversity(int(x))),
        ([(None, 1)] * 3 + [(1, 2)] * 2 + [(1, 1)], NULLS, closeness),
    ],
)
def test_the_best_reachable_parameter_is_reachable(
    db: Any, rows: list[Any], columns: dict[str, Any], privacy: Any
) -> None:
    make_table(db.connect("source_owner"), COLUMNS, rows)
    asked = 0.05 if privacy is closeness else 4
    with refused("infeasible") as errors:
        publish(db, policy(columns, privacy(asked), **ALL))
    named = float(re.findall(r"at (?:most|least) [lt] = ([0-9.]+)", errors[0].hint or "")[0])
    assert publish(db, policy(columns, privacy(named), **ALL)).version == 1


def test_closeness_that_suppression_breaks_is_told_by_name(db: Any) -> None:
    """Parts that are close to the source's distribution, but not to the published one.

    Shares of 1: part a 20/40, part b 7/10, source 30/53, published 27/50. So b is 0.134 away
    from the source and 0.16 from what is published.
    """
    rows: list[list[Any]] = [[1, None, 1 + n % 2] for n in range(40)]
    rows += [[None, 1, 1 if n < 7 else 2] for n in range(10)] + [[None, None, 1]] * 3
    make_table(db.connect("source_owner"), {"a": "integer", "b": "integer", "s": "integer"}, rows)
    columns = {"a": {"nulls": "own_class"}, "b": {"nulls": "own_class"}, "s": "s"}

    def declared(t: float) -> dict[str, Any]:
        privacy = [{"model": "k_anonymity", "k": 4}, closeness(t)[1]]
        return policy(columns, privacy, on_infeasible="suppress", **ALL)

    with refused("closeness_after_suppression") as errors:
        publish(db, declared(0.14))
    assert leftovers(db) == []
    named = float(re.findall(r"at least t = ([0-9.]+)", errors[0].hint or "")[0])
    assert named == 0.16
    assert publish(db, declared(named)).suppressed == 3
