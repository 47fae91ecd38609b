"""Categories of many values beside several records per person."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness import digests
from tests.support.harness.cluster import Database
from tests.support.harness.driver import publish
from tests.support.oracles import identity as oracle
from tests.support.sources.builders import make_table, policy
from tests.support.sources.identity import eir, triples
from tests.support.sources.stays import stored

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"person": "text", "town": "text", "age": "integer", "disease": "text"}


def document(**options: Any) -> dict[str, Any]:
    roles: dict[str, Any] = {"person": "individual", "town": "q", "age": "q", "disease": "s"}
    return policy(roles, [eir(2)], method={"name": "danonyir", **options}, suppression_limit=0.9)


@pytest.mark.slow
def test_more_values_than_a_table_could_have_columns(db: Database) -> None:
    """A column per 64 values would be 1,600 columns here; NULL is a value like the others."""
    people = 1_000
    db.source(
        "CREATE TABLE public.t (person text, town text, age integer, disease text);"
        "INSERT INTO public.t SELECT 'p' || n % 1000, nullif('t' || n, 't7'), n % 1000 / 4,"
        f" 'd' || (n * 7 % 10) FROM generate_series(1, {105 * people}) AS n;"
        "GRANT SELECT ON public.t TO steward"
    )
    done = publish(db, document(block_size=100))
    assert done.released > people
    rows = stored(db, done.run_id, "records")
    assert oracle.violations([eir(2)], triples(rows)) == []


@pytest.mark.slow
def test_classes_show_the_values_of_their_individuals(db: Database) -> None:
    """Blocks number their values anew, and share classes with the blocks beside."""
    rows = [
        [f"p{n}", None if n % 17 == 0 else f"t{n * at % 90}", n % 12, f"d{(n + at) % 5}"]
        for n in range(200)
        for at in range(1, 1 + n % 3 + 1)
    ]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    for size in (20, 50, 300):
        done = publish(db, {**document(block_size=size), "republication": "allow"})
        shown = {row["class_id"]: row for row in stored(db, done.run_id, "classes")}
        members = digests.members(db, done.run_id, "class_id", key="person", table=("public", "t"))
        for number, row in shown.items():
            own = {member for member, group in members if group == number}
            towns = {town for person, town, _, _ in rows if person in own}
            nothing = {None} if row["town_null"] else set[Any]()
            assert set(row["town"] or ()) | nothing == towns
        assert oracle.violations([eir(2)], triples(stored(db, done.run_id, "records"))) == []
