"""Priors that a relation gives: which are taken, which refused, and what they become."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PolicyError
from pganon.methods.background.prior_facts import UNEXPECTED, prior_warnings
from tests.support.harness.cluster import Database
from tests.support.harness.driver import drop_leftovers, refused
from tests.support.harness.examples import examples
from tests.support.oracles import priors as oracle
from tests.support.sources.builders import Case, cases, make_table
from tests.support.sources.priors import Made, made, priors_policy

pytestmark = pytest.mark.primary_server_only

COLUMNS: dict[str, Any] = {"age": "q", "sex": "q", "s": "s"}
TYPES = {"age": "integer", "sex": "text", "s": "text"}
ROWS = [(20, "F", "x"), (20, "F", "y"), (30, None, "y"), (30, None, None), (40, "M", "x")]
PRIOR = [
    (20, "F", "x", Decimal("0.25")),
    (20, "F", "y", Decimal("0.75")),
    (30, None, "y", Decimal("0.5")),
    (30, None, None, Decimal("0.2")),
    (30, None, "z", Decimal("0.3")),
    (40, "M", "w", Decimal("0.4")),
    (40, "M", "x", Decimal("0.6")),
    (99, "M", "x", Decimal(1)),
]
EXPECTED = {
    (20, "F"): {"x": 0.25, "y": 0.75},
    (30, None): {"y": 0.5, None: 0.2, "z": 0.3},
    (40, "M"): {"w": 0.4, "x": 0.6},
}
KNOWLEDGE = {"relation": "public.prior"}


def _tables(
    db: Database,
    priors: Sequence[Sequence[Any]] = PRIOR,
    types: dict[str, str] | None = None,
    rows: Sequence[Sequence[Any]] = ROWS,
) -> None:
    with db.connect("source_owner") as source:
        make_table(source, TYPES, rows)
        name = ("public", "prior")
        make_table(source, types or {**TYPES, "probability": "numeric"}, priors, name=name)


def _made(db: Database, **model: Any) -> Made:
    return made(db.owner(), priors_policy(COLUMNS, KNOWLEDGE, **model))


def _by_value(found: Made, values: Sequence[Any]) -> dict[Any, dict[Any, float]]:
    return {q: dict(zip(values, prior, strict=True)) for q, prior in found.priors.items()}


@pytest.mark.parametrize("kind", ["numeric", "float8", "real"])
def test_a_relation_gives_the_priors(db: Database, kind: str) -> None:
    _tables(db, types={**TYPES, "probability": kind})
    found = _made(db)
    assert found.sensitive == ["x", "y", None]
    # Those that no record has come after the others.
    values = ["x", "y", None, "w", "z"]
    assert _by_value(found, values) == {
        q: {value: pytest.approx(prior.get(value, 0), abs=1e-7) for value in values}
        for q, prior in EXPECTED.items()
    }
    assert list(prior_warnings(found.spec, found.state.facts)) == []


def test_whole_numbers_are_certain(db: Database) -> None:
    certain = [(20, "F", "x", 1), (30, None, "y", 1), (30, None, "x", 0), (40, "M", "x", 1)]
    _tables(db, certain, {**TYPES, "probability": "integer"})
    found = _made(db)
    assert list(found.priors.values()) == [(1, 0, 0), (0, 1, 0), (1, 0, 0)]
    assert [row["vector"] for row in found.rows("cell_vectors", "cell")] == [1, 2, 1]
    # One record has y where x is certain, one has NULL where y is.
    assert found.state[UNEXPECTED] == 2
    (said,) = prior_warnings(found.spec, found.state.facts)
    assert "public.prior gives probability 0 to the sensitive value of 2 records" in said


def test_nothing_is_certain_after_smoothing(db: Database) -> None:
    _tables(db)
    found = _made(db, smoothing=0.1)
    whole = {"x": 0.4, "y": 0.4, None: 0.2}
    values = ["x", "y", None, "w", "z"]
    assert _by_value(found, values) == {
        q: {
            value: pytest.approx(0.9 * prior.get(value, 0) + 0.1 * whole.get(value, 0))
            for value in values
        }
        for q, prior in EXPECTED.items()
    }
    _tables(db, [(20, "F", "x", 1), (30, None, "x", 1), (40, "M", "x", 1)])
    assert _made(db, smoothing=0.1).state[UNEXPECTED] == 0
    assert _made(db).state[UNEXPECTED] == 3


def test_probabilities_may_add_up_to_nearly_1(db: Database) -> None:
    third = [(20, "F", value, Decimal("0.333333")) for value in "abc"]
    others = [(30, None, "y", 1), (40, "M", "x", Decimal("1.000001"))]
    _tables(db, [*third, *others])
    found = _made(db)
    priors = _by_value(found, ["x", "y", None, "a", "b", "c"])
    assert priors[20, "F"]["a"] == round(1 / 3, 12)
    assert priors[40, "M"]["x"] == 1
    _tables(db, [*third[:2], (20, "F", "c", Decimal("0.333332")), *others])
    with refused("bad_priors"):
        _made(db)


def test_numbers_that_no_double_can_hold_are_no_error(db: Database) -> None:
    tiny = [(20, "F", "x", 1), (20, "F", "y", Decimal("1e-500")), (30, None, "y", 1)]
    _tables(db, [*tiny, (40, "M", "x", 1)])
    assert _made(db).priors[20, "F"] == (1, 0, 0)


def test_with_j_of_1_the_relation_is_not_read(db: Database) -> None:
    _tables(db, [])
    found = made(db.owner(), priors_policy(COLUMNS, KNOWLEDGE, j=1))
    name = str(found.state.work("known"))
    assert found.conn.execute("SELECT to_regclass(%s)", [name]).fetchone() == (None,)


def _but(*changed: tuple[int, Any]) -> list[tuple[Any, ...]]:
    """The relation with other probabilities."""
    rows = [tuple(row) for row in PRIOR]
    for i, probability in changed:
        rows[i] = (*rows[i][:-1], probability)
    return rows


@pytest.mark.parametrize(
    ("priors", "part"),
    [
        pytest.param([], "public.prior has no rows", id="empty"),
        pytest.param(
            _but((0, Decimal("-0.25")), (1, Decimal("1.25"))),
            "1 probabilities are negative, NaN, infinite or NULL",
            id="negative",
        ),
        pytest.param(_but((0, Decimal("NaN"))), "1 probabilities are negative, NaN", id="NaN"),
        pytest.param(
            _but((0, Decimal("Infinity")), (2, None)), "2 probabilities are", id="infinite, NULL"
        ),
        pytest.param(
            [*PRIOR, *PRIOR[2:5]], "3 rows repeat quasi-identifiers and sensitive", id="repeated"
        ),
        pytest.param(
            _but((0, Decimal("0.3")), (3, Decimal("0.1")), (7, Decimal("0.9"))),
            "the probabilities of 3 combinations of quasi-identifiers add up",
            id="sums",
        ),
        pytest.param(
            PRIOR[:2],
            "no prior for 2 combinations of quasi-identifiers, which occur in 3 records",
            id="missing",
        ),
        pytest.param(
            [row for row in PRIOR if row[1] is not None],
            "no prior for 1 combinations of quasi-identifiers, which occur in 2 records",
            id="NULL is missing",
        ),
    ],
)
def test_what_is_no_prior_is_refused(
    db: Database, priors: Sequence[Sequence[Any]], part: str
) -> None:
    _tables(db, priors)
    with refused("bad_priors") as caught:
        _made(db)
    assert part in str(caught[0])
    assert caught[0].hint


def test_all_that_is_wrong_is_said_at_once(db: Database) -> None:
    _tables(db, [*_but((0, None), (7, Decimal("0.5"))), PRIOR[2]])
    with refused("bad_priors") as caught:
        _made(db)
    assert str(caught[0]).startswith(
        "public.prior does not give probability distributions: 1 probabilities are negative, NaN,"
        " infinite or NULL; 1 rows repeat"
    )
    assert "the probabilities of 3 combinations" in str(caught[0])


def _problems(db: Database) -> str:
    with pytest.raises(PolicyError) as raised:
        _made(db)
    return str(raised.value)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("RENAME sex TO gender", "public.prior has no column sex"),
        ("RENAME s TO disease", "public.prior has no column s"),
        ("RENAME probability TO probabilities", 'did you mean "probabilities"?'),
        ("ALTER age TYPE text", "column age is integer in public.t and text in public.prior"),
        ("ALTER s TYPE integer USING 1", "column s is text in public.t and integer in public.pr"),
        ("ALTER probability TYPE text", "probability of public.prior is text, not a number"),
    ],
)
def test_a_relation_that_does_not_fit_is_refused(db: Database, change: str, part: str) -> None:
    _tables(db)
    db.source(f"ALTER TABLE public.prior {change}")
    assert part in _problems(db)


def test_types_that_hold_the_same_values_fit(db: Database) -> None:
    labels = "CREATE TYPE public.answer AS ENUM ('z', 'y', 'x', 'w')"
    db.source(f"CREATE TABLE public.nothing (); {labels}")
    _tables(db)
    db.source(
        "ALTER TABLE public.prior ALTER age TYPE bigint, ALTER sex TYPE varchar(3),"
        " ALTER s TYPE public.answer USING s::public.answer"
    )
    found = _made(db)
    # An order is that of the source's values, of those that it lacks by their texts.
    assert _by_value(found, ["x", "y", None, "w", "z"])[40, "M"]["w"] == 0.4


def test_a_relation_that_is_missing_or_closed_is_refused(db: Database) -> None:
    _tables(db)
    db.source("REVOKE SELECT ON public.prior FROM steward", grant=False)
    with refused("source_privilege"):
        _made(db)
    db.source("GRANT SELECT (age, sex, s) ON public.prior TO steward", grant=False)
    assert "column probability of public.prior may not be read" in _problems(db)
    db.source("DROP TABLE public.prior", grant=False)
    with refused("source_missing"):
        _made(db)


def test_a_stranger_gives_no_priors(db: Database) -> None:
    _tables(db)
    db.source("DROP TABLE public.prior")
    db.admin.execute(
        "CREATE VIEW public.prior AS SELECT 20 AS age, 'F' AS sex, 'x' AS s, 1.0 AS probability;"
        " ALTER VIEW public.prior OWNER TO analyst; GRANT SELECT ON public.prior TO steward"
    )
    with refused("untrusted_code") as caught:
        _made(db)
    assert "view public.prior of analyst" in str(caught[0])


def test_other_priors_are_another_source(db: Database) -> None:
    def digest(priors: Sequence[Sequence[Any]]) -> Any:
        _tables(db, priors)
        return _made(db).state.facts.by_name()["source_other_prior"]

    first = digest(PRIOR)
    assert digest(PRIOR[::-1]) == first
    assert digest(_but((0, Decimal("0.26")), (1, Decimal("0.74")))) != first


# -- against the definition -------------------------------------------------------------------


@pytest.mark.random_tables
@examples(4)
@given(data=st.data(), case=cases(models=False))
def test_random_relations(db: Database, data: st.DataObject, case: Case) -> None:
    rng = random.Random(data.draw(st.integers(0, 1000)))
    share = data.draw(st.sampled_from([0, 0.2]))
    kept = [i for i, a in enumerate(case.attributes) if a.nulls == "suppress"]
    records = [row for row in case.rows if all(row[i] is not None for i in kept)]
    if not records:
        return
    values = [None, *range(1, 7)]
    priors: dict[tuple[Any, ...], dict[Any, float]] = {}
    for row in case.rows:
        weights = {value: rng.choice([0, 1, 2, 5]) for value in values}
        whole = sum(weights.values())
        if whole == 0:
            weights[1] = whole = 1
        priors[tuple(row[:-1])] = {value: w / whole for value, w in weights.items() if w}
    rows = [[*q, value, p] for q, prior in priors.items() for value, p in prior.items()]
    rng.shuffle(rows)
    with db.connect("source_owner") as source:
        make_table(source, case.columns, case.rows)
        types = {**case.columns, "probability": "float8"}
        make_table(source, types, rows, name=("public", "prior"))
    found = made(db.owner(), priors_policy(case.policy["columns"], KNOWLEDGE, smoothing=share))
    known = {value for prior in priors.values() for value in prior}
    further = sorted(known - {*found.sensitive, None})
    further += [None] if None in known - {*found.sensitive} else []
    whole = {value: n / len(case.rows) for value, n in Counter(r[-1] for r in case.rows).items()}
    for q, prior in _by_value(found, [*found.sensitive, *further]).items():
        wanted = oracle.smoothed(dict.fromkeys(prior, 0.0) | priors[q], whole, share)
        assert prior == {value: pytest.approx(p, abs=1e-11) for value, p in wanted.items()}
    assert set(found.priors) == {tuple(row[:-1]) for row in records}
    unexpected = [r for r in records if not share and not priors[tuple(r[:-1])].get(r[-1], 0)]
    assert found.state[UNEXPECTED] == len(unexpected)
    drop_leftovers(found.conn)
    found.conn.close()
