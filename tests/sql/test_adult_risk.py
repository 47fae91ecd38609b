"""`pganon.risk` against a figure that ARX publishes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pganon.importing.files import Format, import_file
from tests.support.harness.cluster import Database

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/arx/adult.csv.gz"


@pytest.mark.primary_server_only
@pytest.mark.skipif(
    not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult/arx/adult.csv.gz"
)
def test_average_risk_of_adult_as_arx_publishes_it(db: Database) -> None:
    steward = db.connect()
    steward.execute("CREATE SCHEMA data")
    done = import_file(steward, ADULT, "data.adult", form=Format(separator=";"))
    names = [name for name, _ in done.columns]
    assert (len(names), done.rows) == (9, 30_162)
    row = steward.execute(
        "SELECT value FROM pganon.risk('data.adult', %s) WHERE measure = 'prosecutor_mean'",
        [names],
    ).fetchone()
    assert row is not None
    assert float(row[0]) == pytest.approx(0.6465751607983555, abs=1e-12, rel=0)
