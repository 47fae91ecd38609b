"""Anatomy says when its groups do not follow the quasi-identifiers, and what helps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import publish
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only


def document(l: int, **options: Any) -> dict[str, Any]:  # noqa: E741 (the field's letter)
    method = {"name": "anatomy", "block_size": 8, **options}
    asked = [{"model": "anatomy_l_diversity", "column": "disease", "l": l}]
    return policy({"age": "q", "disease": "s"}, asked, method=method)


@pytest.fixture
def source(db: Database) -> Database:
    """A fifth of the records have one disease, at all ages; the others have one of seven."""
    rows = [[n // 2, "flu" if n % 5 == 0 else f"d{n % 7}"] for n in range(280)]
    make_table(db.connect("source_owner"), {"age": "integer", "disease": "text"}, rows)
    return db


def about(result: Any) -> list[str]:
    return [text for text in result.warnings if text.startswith("the groups follow")]


@pytest.mark.slow
def test_groups_without_locality_are_named_with_what_helps(source: Database) -> None:
    wide = publish(source, document(4))
    assert about(wide) == [
        "the groups follow the quasi-identifiers little or not at all: division: public leaves the"
        " records in one block, of up to 32, because of the most frequent values of column disease;"
        " a smaller l makes estimates better, and so does division: eligible, which lets readers"
        " learn something from where it divides"
    ]
    for better in (document(2), document(4, division="eligible")):
        result = publish(source, better)
        assert result.utility.gcp < wide.utility.gcp / 3
        assert about(result) == []


def test_what_cannot_be_divided_is_not_warned_of(source: Database) -> None:
    assert about(publish(source, document(4, block_size=280))) == []
