"""What other systems get wrong, each by the number under which it was found: ours gets it right.

A: generalization and k-anonymity in the database, P: models in data frames, J: anonymization of
data frames.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from psycopg import sql

import pganon
from pganon.errors import PolicyError, PrivacyRefusal
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused, run
from tests.support.sources.builders import make_table, policy

INTERVALS = {"q0": {"hierarchy": {"intervals": [10]}}, "kept": "i"}


def _table(db: Database, types: dict[str, str], rows: list[list[Any]], **named: Any) -> None:
    make_table(db.connect("source_owner"), types, rows, **named)


def _measured(db: Database, qi: list[str], sensitive: list[str] | None = None, **asked: Any) -> Any:
    found = pganon.assess("public.t", qi, sensitive or [], dsn=db.dsn(), **asked)
    return {measure.measure: measure for measure in found.measures}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        pytest.param("integer", [-5, -10, -1, 0, 5, 10], id="A1-below zero"),
        pytest.param("numeric", ["9.7", "-0.3", "10", "19.99"], id="A2-fractions"),
        pytest.param("numeric", ["3000000000.5", "7"], id="A3-beyond integer"),
        pytest.param("integer", [2**31 - 1, -(2**31), 0], id="A3-ends of integer"),
        pytest.param("integer", [0, 5, 10, 15, 20, 100], id="J2-ends of intervals"),
    ],
)
def test_a_range_holds_its_values(db: Database, kind: str, values: list[Any]) -> None:
    rows = [[value, value] for value in values for _ in range(3)]
    _table(db, {"q0": kind, "kept": kind}, rows)
    staged = run(db.owner(), policy(INTERVALS, 2))
    for row in staged.rows():
        low, high = row["q0"].lower, row["q0"].upper
        assert low is None or low <= row["kept"]
        assert high is None or row["kept"] <= high
        assert Decimal(row["kept"]) in [Decimal(value) for value in values]
    assert len(staged.rows()) == len(rows)


@pytest.mark.parametrize(
    "hierarchy",
    [{"intervals": [0]}, {"intervals": [-10]}, {"date": ["fortnight"]}],
    ids=["A4-step zero", "A4-step below zero", "A4-no unit"],
)
def test_steps_that_are_none(hierarchy: dict[str, Any]) -> None:
    with pytest.raises(PolicyError) as caught:
        pganon.load_policy(str(policy({"q0": {"hierarchy": hierarchy}}, 2)).replace("'", '"'))
    assert (caught.value.problems[0].field or "").startswith("columns.q0.hierarchy")


@pytest.mark.parametrize("rows", [pytest.param(3, id="A5-J3-NULL is no range of everything")])
def test_null_is_not_every_value(db: Database, rows: int) -> None:
    _table(db, {"q0": "integer"}, [[value] for value in (None, 1, 40) for _ in range(rows)])
    staged = run(db.owner(), policy({"q0": {"hierarchy": {"intervals": [10]}}}, rows))
    shown = [(row["q0"], row["q0_null"]) for row in staged.classes.values()]
    assert [value for value, null in shown if null and value is not None] == []
    assert all(value is None or not value.lower_inf for value, _ in shown)


@pytest.mark.parametrize("value", [pytest.param("infinity", id="A6-infinite dates")])
def test_infinite_values_are_named(db: Database, value: str) -> None:
    _table(db, {"q0": "date"}, [[value], ["2024-01-01"], ["2024-01-02"]])
    with refused("infinite_values"):
        run(db.owner(), policy({"q0": "q"}, 2))


@pytest.mark.parametrize("schema", [pytest.param("Else where", id="A7-A9-names and schemas")])
def test_names_are_what_they_are(db: Database, schema: str) -> None:
    owner = db.connect("source_owner")
    owner.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    owner.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO steward").format(sql.Identifier(schema)))
    rows = [[20], [20], [20], [30], [30]]
    for name in ((schema, "T"), ("public", "t")):
        make_table(owner, {"Age": "integer"}, rows, name=name)
    text = sql.SQL("SELECT pganon.k_anonymity(%s::regclass, ARRAY['Age'])")
    for relation in (f'"{schema}"."T"', "public.t"):
        assert db.owner().execute(text, [relation]).fetchone() == (2,)


@pytest.mark.parametrize("name", [pytest.param("of_k", id="A8-prepared statements")])
def test_a_prepared_measure_is_not_remembered(db: Database, name: str) -> None:
    _table(db, {"q0": "integer"}, [[1], [2], [2]])
    owner, conn = db.connect("source_owner"), db.owner()
    conn.execute(f"PREPARE {name} AS SELECT pganon.k_anonymity('public.t', ARRAY['q0'])".encode())
    assert conn.execute(f"EXECUTE {name}".encode()).fetchone() == (1,)
    owner.execute("INSERT INTO public.t VALUES (4, 1)")
    for _ in range(7):  # beyond the plans that are made for one call
        assert conn.execute(f"EXECUTE {name}".encode()).fetchone() == (2,)


@pytest.mark.parametrize("others", [pytest.param(4, id="P1-NaN counts")])
def test_a_record_with_nan_is_a_record(db: Database, others: int) -> None:
    _table(db, {"q0": "float8"}, [["NaN"], *[["1"]] * others])
    assert _measured(db, ["q0"])["k_anonymity"].value == 1


@pytest.mark.parametrize("values", [2, 3, 4, 6, 7, 10], ids="P2-{} equal shares".format)
def test_entropy_of_equal_shares(db: Database, values: int) -> None:
    _table(db, {"q0": "integer", "s": "integer"}, [[1, value] for value in range(values)])
    found = _measured(db, ["q0"], ["s"], require={"entropy_l": values})["entropy_l_diversity"]
    assert found.value == pytest.approx(values)
    assert found.holds


@pytest.mark.parametrize(("c", "holds"), [(9, False), (9.1, True)], ids="P3-{}".format)
def test_recursive_counts_the_most_frequent_first(db: Database, c: float, holds: bool) -> None:
    _table(db, {"q0": "integer", "s": "text"}, [[1, value] for value in "aaaaaaaaab"])
    found = _measured(db, ["q0"], ["s"], require={"c": c}, recursive_l=2)
    assert found["recursive_cl_diversity"].holds is holds


@pytest.mark.parametrize("moved", [False, True], ids=["P4-in order", "P4-records elsewhere"])
def test_places_of_records_mean_nothing(db: Database, moved: bool) -> None:
    rows = [[1, "a"], [1, "b"], [2, "a"], [2, "a"], [2, "c"]]
    _table(db, {"q0": "integer", "s": "text"}, rows)
    if moved:
        db.connect("source_owner").execute(
            "UPDATE public.t SET id = id + 100 WHERE id < 4;"
            " DELETE FROM public.t WHERE id = 5; INSERT INTO public.t VALUES (0, 2, 'c')"
        )
    assert _measured(db, ["q0"], ["s"])["distinct_l_diversity"].value == 2


@pytest.mark.parametrize("value", [pytest.param(None, id="P5-NULL as a sensitive value")])
def test_null_is_a_sensitive_value(db: Database, value: None) -> None:
    _table(db, {"q0": "integer", "s": "text"}, [[1, "a"], [1, value], [2, "a"], [2, value]])
    found = _measured(db, ["q0"], ["s"])
    assert found["distinct_l_diversity"].value == 2
    assert found["t_closeness"].value == 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([dt.date(2024, 1, day) for day in (1, 2, 3, 4)], 1 / 3, id="P6-dates"),
        pytest.param([dt.date(2024, 1, 1)] * 4, 0, id="P6-one value"),
    ],
)
def test_ordered_distance(db: Database, values: list[dt.date], expected: float) -> None:
    """Of the earlier half: a quarter moves by three places of four, and so on."""
    rows = [[at // 2, value] for at, value in enumerate(values)]
    _table(db, {"q0": "integer", "s": "date"}, rows)
    assert _measured(db, ["q0"], ["s"])["t_closeness_ordered"].value == pytest.approx(expected)


@pytest.mark.parametrize("sizes", [pytest.param((2, 98), id="P7-means over records")])
def test_mean_risk(db: Database, sizes: tuple[int, int]) -> None:
    _table(db, {"q0": "integer"}, [[at] for at, size in enumerate(sizes) for _ in range(size)])
    found = pganon.assess("public.t", ["q0"], dsn=db.dsn())
    risks = {risk.measure: risk.value for risk in found.risks if risk.size is None}
    assert float(risks["prosecutor_mean"]) == pytest.approx(2 / 100)


@pytest.mark.parametrize("limit", [pytest.param(0.5, id="J1-no numbers of rows")])
def test_what_is_published_has_declared_columns_alone(db: Database, limit: float) -> None:
    _table(db, {"q0": "text"}, [[value] for value in "aaaabbbc"])
    declared = policy(
        {"q0": {"nulls": "own_class"}}, 3, suppression_limit=limit, on_infeasible="suppress"
    )
    staged = run(db.owner(), declared)
    view = staged.plan.stored_views(staged.state)[0]
    assert {column.name for column in view.columns} <= {"class_id", "q0", "q0_null"}


@pytest.mark.parametrize("value", [pytest.param("d", id="J3-values beside a hierarchy")])
def test_values_that_a_hierarchy_lacks(db: Database, value: str) -> None:
    _table(db, {"q0": "text"}, [[letter] for letter in ("a", "a", "b", value)])
    hierarchy = {"inline": {"*": ["a", "b"]}}
    with pytest.raises(pganon.PganonError) as caught:
        run(db.owner(), policy({"q0": {"hierarchy": hierarchy}}, 2))
    assert "q0" in str(caught.value)
    assert "1" in str(caught.value)


@pytest.mark.parametrize("k", [pytest.param(5, id="J4-a k out of reach")])
def test_a_k_out_of_reach_is_refused(db: Database, k: int) -> None:
    _table(db, {"q0": "integer"}, [[1], [1], [2], [2]])
    with pytest.raises(PrivacyRefusal):
        run(db.owner(), policy({"q0": "q"}, k))
