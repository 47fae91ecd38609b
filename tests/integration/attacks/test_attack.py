"""Attacks on a staged release, against an oracle and on planted tables."""

from __future__ import annotations

from typing import Any

from pganon.attacks.findings import Attacked
from pganon.attacks.measure import Settings, attack
from pganon.run.options import Options
from tests.support.harness import driver
from tests.support.harness.cluster import Database

# Groups of eight people who agree in both quasi-identifiers; `told` follows from them, `drawn` does
# not, and `alone` is one value of each record.
PLANTED = """
CREATE TABLE public.person (
    id integer PRIMARY KEY, age integer NOT NULL, town text NOT NULL,
    told text NOT NULL, drawn text NOT NULL
);
INSERT INTO public.person
SELECT n, 20 + n % 25, 't' || n % 25 / 5, 'd' || n % 25 * 7 % 11,
    'd' || abs(hashint4(n)::bigint) % 4
FROM generate_series(1, 400) AS n
"""


def policy(method: str = "mondrian", **changes: Any) -> dict[str, Any]:
    return {
        "release": "people",
        "source": "public.person",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "town": {"role": "quasi_identifying"},
            "told": {"role": "sensitive"},
            "drawn": {"role": "sensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": 4}],
        "method": {"name": method},
        **changes,
    }


def attacked(db: Database, declared: dict[str, Any], **how: Any) -> Attacked:
    settings = Settings(**{"targets": 100, "control": 0.25, **how})
    return attack(driver.loaded(declared), settings, dsn=db.dsn(), options=Options(dry_run=True))


def test_planted(db: Database) -> None:
    db.source(PLANTED)
    found = attacked(db, policy())
    for f in found.findings:
        print(f)

