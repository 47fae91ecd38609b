"""`pganon.risk`, and models of all classes together, against known figures of Adult."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlglot import exp

from pganon.importing.files import Format, import_file
from pganon.privacy.release import AverageRisk, RecordsAtRisk, SampleUniqueness
from pganon.sqltools import col, query, render
from tests.support.harness.cluster import Database

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/arx/adult.csv.gz"


THREE = ["age", "sex", "race"]
SIX = [*THREE, "marital-status", "education", "native-country"]
KNOWN = [(528, 62, 0.0140905775, THREE), (7645, 4907, 0.3009747364, SIX)]
"""Classes, records alone in theirs, and the share of those with a risk above 0.2."""


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
    for classes, alone, above, columns in KNOWN:
        measured = [
            steward.execute(render(model.measure(_counted(columns), columns)).encode()).fetchone()
            for model in (AverageRisk(0.5), SampleUniqueness.of(0.5), RecordsAtRisk(0.5, 0.2))
        ]
        average, unique, at_risk = (float(row[0]) for row in measured if row)
        assert average == pytest.approx(classes / 30_162, abs=1e-12, rel=0)
        assert unique == pytest.approx(alone / 30_162, abs=1e-12, rel=0)
        assert at_risk == pytest.approx(above, abs=5e-11, rel=0)


def _counted(columns: list[str]) -> exp.Select:
    keys = [col(name, "a") for name in columns]
    tree = query("select count(*) as n from data.adult as a").select(*keys)
    return tree.group_by(*[key.copy() for key in keys])
