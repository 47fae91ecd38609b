"""What a model learns from a release of Adult, against known figures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pganon.forms.request import Classify, Request
from pganon.importing.files import Format, import_file
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness.cluster import Database
from tests.support.harness.driver import loaded

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/arx/adult.csv.gz"
QIS = ("age", "sex", "race", "marital-status", "education", "native-country")


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.skipif(
    not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult/arx/adult.csv.gz"
)
def test_salaries_of_adult(db: Database) -> None:
    steward = db.connect()
    steward.execute("CREATE SCHEMA data")
    import_file(steward, ADULT, "data.adult", form=Format(separator=";"))
    columns = {name: {"role": "quasi_identifying"} for name in QIS}
    policy = {
        "release": "adult",
        "source": "data.adult",
        "columns": {**columns, "salary-class": {"role": "insensitive"}},
        "privacy": [{"model": "k_anonymity", "k": 10}],
        "method": {"name": "mondrian"},
    }
    request = Request(classify=Classify("salary-class"))
    options = Options(dry_run=True, seed=b"0", metrics=request)
    found = run_release(loaded(policy), dsn=db.dsn(), options=options).metrics.classification
    assert found.baseline == pytest.approx(0.7511, abs=0.0001)
    assert found.original == pytest.approx(0.8163, abs=0.003)
    assert found.published == pytest.approx(0.8101, abs=0.003)
    assert found.transfer == pytest.approx(0.8141, abs=0.003)
    assert found.kept["published"] == pytest.approx(0.905, abs=0.05)
    assert found.kept["transfer"] == pytest.approx(0.966, abs=0.05)
