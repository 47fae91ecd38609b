"""The shape of a release is what its relations have, and what its views show of them."""

from __future__ import annotations

import pytest

from pganon.forms.shape import released, sizes
from pganon.sqltools import statement
from tests.support.harness import driver, plans
from tests.support.harness.cluster import Database
from tests.support.sources import conformance

CASES = [
    pytest.param(name, marks=[] if name in conformance.FIRST else pytest.mark.slow)
    for name in conformance.METHODS
]


@pytest.mark.parametrize("method", CASES)
def test_relations_are_as_they_are_described(db: Database, method: str) -> None:
    db.source(plans.SOURCE)
    conn = db.connect("steward")
    made = driver.run(conn, conformance.document(method))
    form, spec = made.plan.method.form, made.plan.spec
    shape = form.shape(spec, made.state)
    tables = {relation.part: made.state.stage(relation.part) for relation in shape}
    shown = {c.name for view in made.plan.stored_views(made.state) for c in view.columns}
    stored = [r.part for r in made.plan.relations(made.state)]
    # Those that readers see come first.
    assert stored[: len(shape)] == [relation.part for relation in shape]
    for relation in shape:
        described = {*relation.columns, *(item.published for item in relation.carried)}
        assert all(set(row) == described for row in made.table(relation.part))
        assert described <= shown
        group = relation.groups[0]
        assert [r[group] for r in made.table(relation.part) if r[group] is None] == []
    row = conn.execute(statement(released(shape, tables))).fetchone()
    assert row == (made.facts["published"],)
    for relation in shape:
        if relation.rows != "value":
            continue
        held = dict(conn.execute(statement(sizes(shape, relation.link, tables))).fetchall())
        held.pop(None, None)  # in no bucket
        counts: dict[int, int] = {}
        for found in made.table(relation.part):
            assert relation.count is not None
            number = found[relation.groups[0]]
            counts[number] = counts.get(number, 0) + found[relation.count]
        assert counts == held
