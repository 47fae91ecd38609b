"""Priors of background knowledge: what the steps make against what the definition says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PolicyError
from pganon.methods.background import kernel
from pganon.privacy.base import ALL_VERSIONS
from pganon.resolved.guarantee import guarantee
from pganon.resolved.model import ReleaseSpec
from pganon.run.context import resolve_policy
from tests.support.harness.cluster import Database
from tests.support.harness.driver import drop_leftovers, refused
from tests.support.harness.examples import examples
from tests.support.oracles import priors as oracle
from tests.support.oracles.definitions import Nominal, Ordered, Tree
from tests.support.sources.builders import Case, cases, make_table
from tests.support.sources.priors import Made, loaded, made, priors_policy

pytestmark = pytest.mark.primary_server_only

G4 = [(20, "F", "x"), (20, "F", "x"), (30, "F", "y"), (40, "F", "x"), (40, "M", "y"),
      (60, "M", "y"), (None, "M", "x")]  # fmt: skip
G4_CELLS = [(20, "F"), (30, "F"), (40, "F"), (40, "M"), (60, "M"), (None, "M")]
COLUMNS: dict[str, Any] = {"age": "q", "sex": "q", "s": "s"}


def _g4(db: Database) -> None:
    make_table(db.connect("source_owner"), {"age": "integer", "sex": "text", "s": "text"}, G4)


@pytest.mark.parametrize(
    ("age", "sex", "expected"),
    [
        pytest.param(0.3, 0.3, (0.867470, 0.478261, 0.765957, 0, 0, 1), id="G4 B=(.3,.3)"),
        pytest.param(0.6, 0.3, (0.736142, 0.712575, 0.660969, 0, 0, 1), id="G4 B=(.6,.3)"),
        pytest.param(
            0.6, 2.0, (0.685950, 0.604828, 0.471545, 0.385596, 0.149321, 1), id="G4 B=(.6,2.0)"
        ),
    ],
)
def test_golden(db: Database, age: float, sex: float, expected: tuple[float, ...]) -> None:
    _g4(db)
    wanted = {"kernel": {"bandwidth": {"age": age, "sex": sex}}}
    found = made(db.owner(), priors_policy(COLUMNS, wanted))
    assert found.sensitive == ["x", "y"]
    assert list(found.priors) == G4_CELLS
    assert tuple(round(prior[0], 6) for prior in found.priors.values()) == expected
    assert all(sum(prior) == pytest.approx(1) for prior in found.priors.values())
    assert [row["n"] for row in found.rows("qi_cells", "cell")] == [2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("given", "same"),
    [({}, 0.3), ({"bandwidth": {"sex": 2.0}}, {"age": 0.3, "sex": 2}), ({"bandwidth": 2}, 2.0)],
)
def test_columns_without_a_bandwidth_have_the_default(
    db: Database, given: dict[str, Any], same: Any
) -> None:
    _g4(db)
    short = made(db.owner(), priors_policy(COLUMNS, {"kernel": given}))
    long = made(db.owner(), priors_policy(COLUMNS, {"kernel": {"bandwidth": same}}))
    assert short.priors == long.priors


@pytest.mark.usefixtures("steps_alone")
def test_equal_priors_are_one_vector(db: Database) -> None:
    _g4(db)
    found = made(db.owner(), priors_policy(COLUMNS, {"kernel": {"bandwidth": 0.3}}))
    # 40,M and 60,M are at 0.5 of each other: both expect y.
    assert [row["vector"] for row in found.rows("cell_vectors", "cell")] == [1, 2, 3, 4, 4, 5]
    assert found.state.facts.by_name()["qi_cells"] == 6
    assert found.state.facts.by_name()["vectors"] == 5
    assert _left(found) == {"qi_cells", "vectors", "cell_vectors"}


def _left(found: Made) -> set[str]:
    """Work tables of priors that are there still."""
    prefix = f"r{found.state.run_id}_"
    rows = found.conn.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'pganon_work' AND tablename LIKE %s",
        [f"{prefix}%"],
    ).fetchall()
    names = {str(row[0]).removeprefix(prefix) for row in rows}
    return {n for n in names if not n.startswith(("dict", "values", "sdict", "coded", "level"))}


@pytest.mark.usefixtures("steps_alone")
@pytest.mark.parametrize("knowledge", [{"kernel": {}}, {"cells": {}}])
def test_nothing_is_computed_where_priors_may_differ_in_any_way(
    db: Database, knowledge: dict[str, Any]
) -> None:
    _g4(db)
    assert _left(made(db.owner(), priors_policy(COLUMNS, knowledge, j=1))) == set()


def test_a_category_has_no_intervals(db: Database) -> None:
    _g4(db)
    with pytest.raises(PolicyError) as raised:
        made(db.owner(), priors_policy(COLUMNS, {"cells": {"intervals": {"sex": 2}}}))
    (problem,) = raised.value.problems
    assert problem.field == "privacy[0].knowledge.cells.intervals.sex"
    assert problem.message == "column sex is text, whose values have no order"


@pytest.mark.parametrize(
    ("knowledge", "depends", "said"),
    [
        ({"kernel": {}}, "sensitive values", "follow from the source"),
        ({"cells": {}}, "sensitive values", "follow from the source"),
        ({"relation": "public.prior"}, "quasi-identifiers", "the owner has given"),
    ],
)
def test_the_guarantee_names_the_reader(
    db: Database, knowledge: Any, depends: str, said: str
) -> None:
    _g4(db)
    db.source("CREATE TABLE public.prior AS SELECT age, sex, s, 1 AS probability FROM public.t")
    spec = _resolved(db, priors_policy(COLUMNS, knowledge))
    (stated,) = guarantee(spec)
    prior = f"expects the same of all who have the same quasi-identifiers: the priors that {said}"
    words = (
        f"background_knowledge j=0.3 knowledge={next(iter(knowledge))} bounds=divergence of priors"
        f" verified=by the owner depends_on={depends}"
    )
    assert stated == {
        "requirement": words,
        "model": "background_knowledge",
        "j": 0.3,
        "knowledge": next(iter(knowledge)),
        "bounds": "divergence of priors",
        "verified": "by the owner",
        "depends_on": depends,
        "column": None,
        "over_versions": ALL_VERSIONS,
        "reader": "who knows the quasi-identifiers of a person",
        "assumes": [prior],
        "adversary": f"who knows the quasi-identifiers of a person, and {prior}",
    }
    assert spec.measured == ()
    assert len(spec.requirements) == 1


def test_without_the_model_no_reader_has_priors(db: Database) -> None:
    _g4(db)
    spec = _resolved(db, priors_policy(COLUMNS, {"kernel": {}}, j=1))
    assert guarantee(spec)[0]["adversary"] == "who knows the quasi-identifiers of a person"


def _resolved(db: Database, data: dict[str, Any]) -> ReleaseSpec:
    return resolve_policy(db.owner(), loaded(data))


@pytest.mark.parametrize(
    ("columns", "width", "column", "pairs"),
    [
        # Of 40 years those that are at most 3.9 of 39 apart, from 40 combinations.
        ({"age": "q", "s": "s"}, 0.1, "age", 40 + 2 * (39 + 38 + 37)),
        ({"sex": "q", "s": "s"}, 1.5, "sex", 2 * 2),
        ({"age": {"hierarchy": {"intervals": [10]}}, "s": "s"}, 0.6, "age", 40 * 10),
    ],
)
def test_too_many_pairs_are_refused(
    db: Database,
    monkeypatch: pytest.MonkeyPatch,
    columns: dict[str, Any],
    width: float,
    column: str,
    pairs: int,
) -> None:
    rows = [(age, "FM"[age % 2], "x") for age in range(40)]
    make_table(db.connect("source_owner"), {"age": "integer", "sex": "text", "s": "text"}, rows)
    policy = priors_policy(columns, {"kernel": {"bandwidth": width}})
    monkeypatch.setattr(kernel, "MOST_PAIRS", pairs - 1)
    with refused("too_many_pairs") as caught:
        made(db.owner(), policy)
    assert str(caught[0]).startswith(f"column {column} has so many different values that a kernel")
    assert f" compare {pairs} pairs" in str(caught[0])
    monkeypatch.setattr(kernel, "MOST_PAIRS", pairs)
    made(db.owner(), policy)


def test_too_many_pairs_of_combinations_are_refused(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From (a, b) all 20 values of b are seen, and 2 of c with each: 2 * 20 * 20 * 2 pairs. No
    column alone is compared as often: b is near 20 values from 40 combinations."""
    rows = [(a, b, (a + b) % 5, "xy"[b % 2]) for a in range(2) for b in range(20)]
    types = {"a": "integer", "b": "integer", "c": "integer", "s": "text"}
    make_table(db.connect("source_owner"), types, rows)
    columns = {"a": "q", "b": "q", "c": "q", "s": "s"}
    policy = priors_policy(columns, {"kernel": {"bandwidth": 2}})
    monkeypatch.setattr(kernel, "MOST_SUMS", 3199)
    with refused("too_many_pairs") as caught:
        made(db.owner(), policy)
    assert "add up 1600 pairs of them for column b, each with 2 sensitive values" in str(caught[0])
    monkeypatch.setattr(kernel, "MOST_SUMS", 3200)
    made(db.owner(), policy)


def test_many_sensitive_values_are_in_several_rows(db: Database) -> None:
    rng = random.Random(7)
    rows = [(rng.randrange(6), rng.choice("FM"), f"v{rng.randrange(120)}") for _ in range(700)]
    make_table(db.connect("source_owner"), {"age": "integer", "sex": "text", "s": "text"}, rows)
    found = made(db.owner(), priors_policy(COLUMNS, {"kernel": {"bandwidth": 0.5}}))
    assert len(found.sensitive) > kernel.SIDE_BY_SIDE
    attributes = [Ordered([row[0] for row in rows]), Nominal([row[1] for row in rows])]
    exact = oracle.kernel([((age, sex), s) for age, sex, s in rows], attributes, [0.5, 0.5])
    for q, prior in found.priors.items():
        assert prior == pytest.approx([exact[q][value] for value in found.sensitive], abs=1e-11)


# -- against the definition -------------------------------------------------------------------


def _tables(db: Database, columns: dict[str, str], rows: Sequence[Sequence[Any]]) -> None:
    with db.connect("source_owner") as source:
        make_table(source, columns, rows)


def _kept(case: Case) -> list[tuple[tuple[Any, ...], Any]]:
    """Combinations and sensitive values of the records that the rules for NULL keep."""
    kept = [i for i, a in enumerate(case.attributes) if a.nulls == "suppress"]
    return [
        (tuple(row[:-1]), row[-1]) for row in case.rows if all(row[i] is not None for i in kept)
    ]


def _whole(case: Case) -> dict[Any, float]:
    counts = Counter(row[-1] for row in case.rows)
    return {value: n / len(case.rows) for value, n in counts.items()}


def _policy(case: Case, knowledge: Any, **model: Any) -> dict[str, Any]:
    return priors_policy(case.policy["columns"], knowledge, **model)


def _compare(
    found: Made, case: Case, expected: Mapping[tuple[Any, ...], oracle.Prior], *further: Any
) -> None:
    values = [*found.sensitive, *further]
    made_of = found.priors
    places = [attribute.codes for attribute in case.attributes]

    def place(q: tuple[Any, ...]) -> list[tuple[bool, int]]:
        codes = [place[value] for place, value in zip(places, q, strict=True)]
        return [(code == 0, code) for code in codes]

    assert list(made_of) == sorted(expected, key=place)
    for q, prior in made_of.items():
        assert prior == tuple(round(p, 12) for p in prior)
        wanted = [expected[q].get(value, 0) for value in values]
        assert prior == pytest.approx(wanted, abs=1e-11)
    first = [row["vector"] for row in found.rows("cell_vectors", "cell")]
    assert list(dict.fromkeys(first)) == list(range(1, len(set(first)) + 1))
    assert len(set(made_of.values())) == len(set(first))
    sizes = Counter(q for q, _ in _kept(case))
    assert [row["n"] for row in found.rows("qi_cells", "cell")] == [sizes[q] for q in made_of]


@pytest.mark.random_tables
@examples(5)
@given(data=st.data(), case=cases(models=False))
def test_random_kernels(db: Database, data: st.DataObject, case: Case) -> None:
    if not _kept(case):
        return
    widths = [data.draw(st.sampled_from([0.1, 0.3, 0.6, 1, 1.5, 2])) for _ in case.attributes]
    share = data.draw(st.sampled_from([0, 0, 0.1]))
    side_by_side = data.draw(st.sampled_from([100, 1]))
    _tables(db, case.columns, case.rows)
    knowledge = {"kernel": {"bandwidth": {f"q{i}": width for i, width in enumerate(widths)}}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "SIDE_BY_SIDE", side_by_side)
        found = made(db.owner(), _policy(case, knowledge, smoothing=share))
    exact = oracle.kernel(_kept(case), case.attributes, widths)
    whole = _whole(case)
    _compare(found, case, {q: oracle.smoothed(p, whole, share) for q, p in exact.items()})
    drop_leftovers(found.conn)
    found.conn.close()


@pytest.mark.random_tables
@examples(4)
@given(data=st.data(), case=cases(models=False))
def test_random_grids(db: Database, data: st.DataObject, case: Case) -> None:
    if not _kept(case):
        return
    parts = [data.draw(st.integers(1, 5)) for _ in case.attributes]
    added = data.draw(st.sampled_from([0, 1, 2.5]))
    _tables(db, case.columns, case.rows)
    ordered = {f"q{i}": n for i, n in enumerate(parts) if isinstance(case.attributes[i], Ordered)}
    trees = {f"q{i}": n for i, n in enumerate(parts) if isinstance(case.attributes[i], Tree)}
    knowledge = {"cells": {"intervals": ordered, "levels": trees, "pseudo_records": added}}
    found = made(db.owner(), _policy(case, knowledge))
    whole = _whole(case)
    _compare(found, case, oracle.coarse(_kept(case), case.attributes, parts, whole, added))
    drop_leftovers(found.conn)
    found.conn.close()
