"""Attack: records without an individual count as people of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pganon.errors import PreconditionError
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

TYPES = {"person": "text", "age": "integer", "disease": "text"}
IR = [{"model": "ir_kl_anonymity", "column": "disease", "k": 2, "l": 2}]
K = [{"model": "k_anonymity", "k": 2}]


def _policy(method: str, privacy: list[dict[str, Any]], **more: Any) -> LoadedPolicy:
    columns = {
        "person": {"role": "individual"},
        "age": {"role": "quasi_identifying"},
        "disease": {"role": "sensitive"},
    }
    return load_policy(
        json.dumps(
            {
                "release": "people",
                "source": "public.person",
                "columns": columns,
                "privacy": privacy,
                "method": {"name": method},
                **more,
            }
        )
    )


@pytest.mark.parametrize("method", ["mondrian", "danonyir"])
@pytest.mark.parametrize("many", [False, True])
def test_records_of_nobody_are_refused(db: Database, method: str, many: bool) -> None:
    rows = [(None if n < 3 else f"p{n}", 20, ("flu", "gout")[n % 2]) for n in range(8)]
    make_table(db.connect("source_owner"), TYPES, rows, name=("public", "person"))
    privacy = IR if method == "danonyir" else K
    more = {"records_per_individual": "many_accepted"} if many else {}
    with pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn(), _policy(method, privacy, **more))
    assert caught.value.code == "key_null"
    assert "column person is NULL in 3 records" in caught.value.message
    assert caught.value.hint
    done = faults.run(db.dsn(), _policy(method, privacy, where="person is not null", **more))
    assert done.suppressed == 0
