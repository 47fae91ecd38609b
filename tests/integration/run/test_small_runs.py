"""What a small run asks of the server, counted; no figure here may grow."""

from __future__ import annotations

import json

import pytest

from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from tests.support.harness import faults, plans
from tests.support.harness.cluster import Database
from tests.support.harness.work import Sent, sent

pytestmark = pytest.mark.primary_server_only

PEOPLE = """
CREATE TABLE public.person AS
SELECT n AS id, 17 + (n * 7919) % 60 AS age, 'w' || (n * 31) % 7 AS work,
    'e' || (n * 17) % 9 AS education, 'c' || (n * 13) % 11 AS country, (n * 101) % 50 AS hours,
    'd' || (n * 37) % 12 AS disease, 's' || (n * 29) % 8 AS drug
FROM generate_series(1, 400) AS n;
ALTER TABLE public.person ADD PRIMARY KEY (id)
"""


def people() -> LoadedPolicy:
    """Five quasi-identifiers, and two sensitive columns."""
    named = ("age", "hours", "work", "education", "country")
    quasi = {name: {"role": "quasi_identifying"} for name in named}
    sensitive = {name: {"role": "sensitive"} for name in ("disease", "drug")}
    return load_policy(
        json.dumps(
            {
                "release": "people",
                "source": "public.person",
                "columns": {"id": {"role": "identifying"}, **quasi, **sensitive},
                "privacy": [
                    {"model": "k_anonymity", "k": 5},
                    {"model": "distinct_l_diversity", "column": "disease", "l": 2},
                    {"model": "distinct_l_diversity", "column": "drug", "l": 2},
                ],
                "method": {"name": "mondrian"},
                "trust": ["source_owner"],
            }
        )
    )


@pytest.mark.parametrize(
    ("source", "loaded", "most"),
    [
        # Figures go down only.
        (plans.SOURCE, plans.policy_of("one_dimensional"), Sent(302, 408, 38)),
        (PEOPLE, people(), Sent(461, 911, 159)),
    ],
    ids=["60 records, one_dimensional", "400 records, mondrian"],
)
def test_what_a_small_run_asks_of_the_server(
    db: Database, source: str, loaded: LoadedPolicy, most: Sent
) -> None:
    db.source(source)
    result, asked = sent(lambda: faults.run(db.dsn(), loaded))
    assert result.version == 1
    assert asked.messages <= most.messages
    assert asked.statements <= most.statements
    assert asked.tables <= most.tables
