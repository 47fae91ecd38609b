"""Releases of the method msb."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused, run
from tests.support.sources import registry
from tests.support.sources.slamsa import Asked, check, offences, shown

pytestmark = pytest.mark.primary_server_only

QUASI = [*chain(*registry.QUASI)]


def document(sensitive: list[str], **others: Any) -> dict[str, Any]:
    found = registry.document(
        privacy=[{"model": "slicing_l_diversity", "l": 3, "level": "unique"}],
        method={"name": "msb", "priority": others.pop("priority")},
        **others,
    )
    unused = {*chain(*registry.SENSITIVE)} - {*sensitive}
    for name in unused:
        del found["columns"][name]
    return found


@pytest.mark.parametrize(
    ("priority", "count", "left_over"), [("mbf", 2, 3), ("mmdcf", 2, 0), ("mmdcf", 3, 6)]
)
def test_the_registry(db: Database, priority: str, count: int, left_over: int) -> None:
    """Greedy choices leave records over, although every record could have a group."""
    sensitive = [*chain(*registry.SENSITIVE)][:count]
    registry.build(db)
    if left_over:
        with refused("no_groups") as errors:
            run(db.owner(), document(sensitive, priority=priority))
        assert f"found no group for {left_over} records" in str(errors[0])
    declared = document(sensitive, priority=priority, suppression_limit=1)
    staged = run(db.owner(), declared)
    assert staged.facts["suppressed"] == left_over
    asked = Asked(least=dict.fromkeys(sensitive, 3), declared=[*QUASI, *sensitive])
    found = shown(staged)
    if left_over:
        assert offences(found.published, asked) == []
    else:
        check(found, registry.ROWS, asked)
    for row in found.parts["st"]:
        assert row["count"] == 1
