"""Several versions about the same people."""

from __future__ import annotations

import random
from typing import Any

from tests.integration.methods.local.test_local import EXAMPLE_COLUMNS, EXAMPLE_MODELS, local_policy
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

PEOPLE = 60
COLUMNS = {"q": "integer", "z": "integer", "person": "text", "s": "text"}
ROLES = {"q": "q", "z": "q", "s": "s"}
K = {"model": "k_anonymity", "k": 4}
L = {"model": "distinct_l_diversity", "column": "s", "l": 2}
ANATOMY = {"model": "anatomy_l_diversity", "column": "s", "l": 3}


def rows(people: int = PEOPLE, seed: int = 7) -> list[list[Any]]:
    rng = random.Random(seed)
    return [[n, rng.randint(0, 30), f"p{n}", rng.choice("abcdefg")] for n in range(people)]


def declared(**changes: Any) -> dict[str, Any]:
    return {**policy(ROLES, [K, L], trust=["source_owner"]), "republication": "allow", **changes}


def history(db: Database) -> None:
    """Versions with newcomers, leavers, changed values, and people who are left out."""
    source = db.connect("source_owner")
    make_table(source, COLUMNS, rows())
    driver.publish(db, declared())
    source.execute("DELETE FROM public.t WHERE q % 7 = 3")
    source.execute("UPDATE public.t SET s = 'h' WHERE id % 9 = 1")
    driver.publish(db, declared(privacy=[{**K, "k": 5}, L], republication="warn"))
    source.execute(
        "INSERT INTO public.t SELECT 500 + n, n, n, 'n', 'c' FROM generate_series(1, 9) n"
    )
    rare = declared(
        release="rare",
        method={"name": "anatomy"},
        privacy=[ANATOMY],
        suppression_limit=0.9,
        on_infeasible="suppress",
    )
    source.execute("UPDATE public.t SET s = 'a' WHERE id % 4 = 0")
    driver.publish(db, rare)


OTHER = policy(
    {"gender": "q", "disease": "s"},
    [{"model": "k_anonymity", "k": 2}],
    trust=["source_owner"],
)


def people_decide(**changes: Any) -> dict[str, Any]:
    """A release with several partitions of the people of an example."""
    method = {"name": "lgb_mdp", "link_threshold": 1}
    return local_policy(EXAMPLE_COLUMNS, EXAMPLE_MODELS, method=method, **changes)


def other(**changes: Any) -> dict[str, Any]:
    """One with classes of the same people."""
    return {**OTHER, "release": "other", "republication": "allow", **changes}
