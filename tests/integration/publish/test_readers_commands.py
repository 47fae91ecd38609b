"""Every view of every kind of version, through every command of a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pganon.error_codes import ErrorCode
from tests.integration.history.increments.test_increments import growing_policy, more_visits
from tests.support.harness import driver, faults, leaks, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import conformance

pytestmark = pytest.mark.primary_server_only
REFUSED = f'"{ErrorCode.ESTIMATE}"'
"""A question may have no answer from a form; the view is still a view of the release."""


def _of_each(names: list[str]) -> Any:
    """The first method of every family is fast."""
    return pytest.mark.parametrize(
        "method",
        [pytest.param(n, marks=[] if n in conformance.FIRST else pytest.mark.slow) for n in names],
    )


def unread(db: Database, folder: Path) -> list[str]:
    """Calls of a reader that fail."""
    views = [view.as_string().replace('"', "") for view in leaks.views(db.admin)]
    assert views
    told = [("releases",), ("show", "visits"), ("assess", views[0], "--qi", "age")]
    told += [("report", "visits", "--for", "readers", "-o", str(folder / "r.html"))]
    for view in views:
        file = str(folder / view)
        told += [
            ("export", "visits", "--view", view, "-o", f"{file}.csv"),
            ("export", "visits", "--view", view, "--safe-csv", "-o", f"{file}.safe.csv"),
            ("export", "visits", "--view", view, "-o", f"{file}.parquet"),
        ]
    asked = ("count(*) AS n", "sum(cost) AS s", "disease, count(*) AS n", "age, count(*) AS n")
    for text in asked:
        keys = f" GROUP BY {text.split(',')[0]}" if "," in text else ""
        told.append(("estimate", "visits", f"SELECT {text} FROM visits WHERE age > 22{keys}"))
    found: list[str] = []
    for arguments in told:
        done = pganon(*arguments, "--json", "--dsn", db.dsn("analyst"))
        if done.code and not (arguments[0] == "estimate" and REFUSED in done.out):
            found.append(f"{' '.join(arguments)}: {done.out}{done.err}")
    return found


def run(db: Database, declared: dict[str, Any]) -> Any:
    readers = {**declared.get("publish", {}), "readers": ["analyst"]}
    return faults.run(db.dsn(), driver.loaded({**declared, "publish": readers}), force=False)


@_of_each(conformance.METHODS)
def test_of_one_version(db: Database, tmp_path: Path, method: str) -> None:
    db.source(plans.SOURCE)
    run(db, conformance.document(method))
    assert unread(db, tmp_path) == []


@_of_each(conformance.GROWING)
@pytest.mark.slow
def test_of_a_version_that_grew(db: Database, tmp_path: Path, method: str) -> None:
    """And has lost groups, where people have one each."""
    db.source(plans.SOURCE)
    declared = growing_policy(method).policy.document()
    if method != "sloms" and conformance.family(method) != "local":
        declared["leavers"] = "withdraw"
    run(db, declared)
    more_visits(db, "20 + n % 9", diseases=6)
    assert run(db, declared).version == 2
    db.source("DELETE FROM public.visit WHERE id IN (100, 101)", grant=False)
    run(db, declared)
    assert unread(db, tmp_path) == []
