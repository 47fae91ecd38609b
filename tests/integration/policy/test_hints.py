"""What a refusal tells people to do instead is accepted, or nothing is told."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import publish, refused
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"person": "text", "q": "integer", "r": "integer", "s": "integer"}
PEOPLE = {"person": "individual", "q": "q", "s": "s"}


def hint(db: Database, rows: list[list[Any]], declared: dict[str, Any]) -> str:
    make_table(db.connect("source_owner"), COLUMNS, rows)
    with refused("infeasible") as errors:
        publish(db, declared)
    assert errors[0].hint is not None
    return errors[0].hint


def identity(*models: dict[str, Any]) -> dict[str, Any]:
    privacy = [{"column": "s", **model} for model in models]
    return policy(PEOPLE, privacy, method={"name": "danonyir"})


@pytest.mark.parametrize("model", ["ir_alpha_beta_anonymity", "eir_alpha_beta_anonymity"])
def test_the_smallest_share_is_rounded_to_the_side_that_can_be_reached(
    db: Database, model: str
) -> None:
    rows = [[f"p{n}", 1, 1, n] for n in range(3)]
    asked = {"model": model, "alpha": 0.1, "beta": 1.0}
    said = hint(db, rows, identity(asked))
    assert said == "require at least alpha = 0.334"
    assert publish(db, identity({**asked, "alpha": 0.334})).released == 3


@pytest.mark.parametrize(
    "declared",
    [
        identity({"model": "ir_kl_anonymity", "k": 1, "l": 2}),
        identity({"model": "eir_l_diversity", "l": 2}),
        policy({"q": "q", "s": "s"}, [{"model": "distinct_l_diversity", "column": "s", "l": 2}]),
        policy(
            {"q": "q", "s": "s"},
            [{"model": "anatomy_l_diversity", "column": "s", "l": 2}],
            method={"name": "anatomy"},
        ),
    ],
    ids=lambda declared: declared["privacy"][0]["model"],
)
def test_no_parameter_is_named_where_no_policy_can_ask_for_it(
    db: Database, declared: dict[str, Any]
) -> None:
    said = hint(db, [[f"p{n}", n, n, 7] for n in range(6)], declared)
    assert said.startswith("no l can be required")
    assert not re.search(r"[kl] = \d", said)
    assert ": " in said  # what to do instead


SLICING = [{"model": "slicing_l_diversity", "column": "s", "l": 2}]


def slicing(**options: Any) -> dict[str, Any]:
    return policy({"q": "q", "r": "q", "s": "s"}, SLICING, method={"name": "slicing", **options})


@pytest.mark.slow
def test_slicing_is_told_to_publish_the_sensitive_column_alone(db: Database) -> None:
    """`q` decides `s`, so both are put in one column, where every q has one s."""
    rows = [[f"p{n}", n % 4, n % 3, n % 4] for n in range(24)]
    said = hint(db, rows, slicing())
    assert said.startswith(
        "no l can be required of column s: publish the sensitive column alone with alpha: 1"
    )
    assert publish(db, slicing(alpha=1)).released == 24
    said = hint(db, rows, slicing(columns=[["r"], ["q", "s"]]))
    assert ": list the sensitive column alone under columns" in said
    assert publish(db, slicing(columns=[["r", "q"], ["s"]])).released == 24


def test_slicing_is_not_told_what_would_not_help(db: Database) -> None:
    rows = [[f"p{n}", n % 4, n % 3, int(n == 0)] for n in range(24)]
    assert "alone" not in hint(db, rows, slicing(columns=[["r"], ["q", "s"]]))


def test_a_date_hierarchy_on_text(db: Database) -> None:
    make_table(db.connect("source_owner"), {"q": "text"}, [["2020-01-01"]] * 4)
    with pytest.raises(Exception) as raised:  # noqa: PT011 - all problems of a policy at once
        publish(db, policy({"q": {"hierarchy": {"date": ["year"]}}}, 2))
    assert "cast the column to date in a view over the source" in str(raised.value)
    assert "intervals" not in str(raised.value)
