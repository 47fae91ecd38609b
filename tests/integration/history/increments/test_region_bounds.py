"""`ranges: region`: groups show what their region could have, by the definition of a region."""

from __future__ import annotations

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.regional import check, grown, run
from tests.support.sources.regions import KINDS, of, people

ALL = [*KINDS]
GROUPS = [ALL[:7], ALL[7:14], ALL[14:18], ["age", "job", "city", "zip", "born", "income", "ward"]]


@pytest.mark.parametrize(
    ("names", "choose"),
    list(zip(GROUPS, ["width", "loss", "width", "loss"], strict=True)),
    ids=["lines", "sets", "trees", "mixed"],
)
def test_bounds_of_regions(db: Database, names: list[str], choose: str) -> None:
    policy = of(*names, method={"name": "mondrian", "choose": choose})
    grown(db, policy)
    check(db.owner(), policy, range(1, 301))


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_bounds_of_one_column(db: Database, name: str) -> None:
    policy = of(name)
    grown(db, policy)
    conn = db.owner()
    check(conn, policy, range(1, 301))
    db.source(people(1001, 1300, 2), grant=False)
    assert run(db, policy).added.unplaced == 0
    check(conn, policy, range(1, 301))
