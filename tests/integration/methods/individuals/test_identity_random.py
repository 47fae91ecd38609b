"""Random tables whose individuals have several records: what is released keeps every promise.

One sensitive column, or two of which each has requirements of its own.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PrivacyRefusal
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, Staged, drop_leftovers, run
from tests.support.harness.examples import examples
from tests.support.oracles import definitions as oracle
from tests.support.oracles import identity as judge
from tests.support.oracles.geneir import Class, geneir
from tests.support.sources.builders import KINDS, Kind, make_table, policy
from tests.support.sources.identity import (
    drawn_sequence,
    holdings,
    in_order,
    members,
    offences,
    triples,
)

pytestmark = pytest.mark.primary_server_only

SETTINGS = examples(2)


@dataclass(frozen=True)
class Key:
    """Who individuals are: a type, spellings of the n-th one, and what is read of the memory."""

    sql_type: str
    spellings: Callable[[int], Sequence[Any]]
    read: Callable[[str], Any] = str


KEYS = (
    Key("text", lambda n: [f"p{n}"]),
    Key("char(5)", lambda n: [f"p{n}", f"p{n} "], str.strip),
    Key("integer", lambda n: [n - 3], int),
    Key("date", lambda n: [dt.date(2000, 1, 1 + n)], dt.date.fromisoformat),
    Key("numeric", lambda n: [Decimal(n), Decimal(f"{n}.00")], Decimal),
    Key("double precision", lambda n: [float(n), -float(n) if n == 0 else float(n)], float),
)
MODELS: tuple[dict[str, Any], ...] = (
    {"model": "ir_k_anonymity", "k": 2},
    {"model": "ir_k_anonymity", "k": 4},
    {"model": "ir_kl_anonymity", "column": "secret", "k": 2, "l": 3},
    {"model": "ir_kl_anonymity", "column": "secret", "k": 3, "l": 1},
    {"model": "ir_alpha_beta_anonymity", "column": "secret", "alpha": 0.4, "beta": 0.6},
    {"model": "ir_alpha_beta_anonymity", "column": "secret", "alpha": 0.7, "beta": 0.35},
    {"model": "eir_l_diversity", "column": "secret", "l": 2},
    {"model": "eir_l_diversity", "column": "secret", "l": 3},
    {"model": "eir_alpha_beta_anonymity", "column": "secret", "alpha": 0.5, "beta": 0.5},
    {"model": "eir_alpha_beta_anonymity", "column": "secret", "alpha": 1, "beta": 0.7},
)
TREES = [kind for kind in KINDS if kind.name in ("tree", "intervals")]


@dataclass
class Case:
    """A table with its policy; a row is (key as it is written, quasi-identifiers, other, secret).

    Attributes:
        owners: whose each row is.
        attributes: of the quasi-identifiers.
        hidden: the sensitive columns.
    """

    columns: dict[str, str]
    rows: list[list[Any]]
    owners: list[Any]
    policy: dict[str, Any]
    attributes: list[oracle.Attribute]
    key: Key
    hidden: list[str]

    def held(self, row: Sequence[Any]) -> dict[str, Any]:
        """What a row has of every sensitive column."""
        return {name: row[list(self.columns).index(name)] for name in self.hidden}

    def of(self, column: str) -> list[dict[str, Any]]:
        """The requirements on a column, without those on none."""
        return [asked for asked in self.policy["privacy"] if asked.get("column") == column]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from(["danonyir", "danonyir", "geneir"]))
    known = st.sampled_from(TREES if name == "geneir" else KINDS)
    kinds = draw(st.lists(known, min_size=1, max_size=3))
    key = draw(st.sampled_from(KEYS))
    rows, owners = draw(_rows(key, kinds))
    columns = {"person": key.sql_type}
    columns |= {f"q{i}": kind.sql_type for i, kind in enumerate(kinds)}
    columns |= {"other": "integer", "secret": "integer"}
    nulls = [draw(st.sampled_from(["as_value", "as_value", "suppress"])) for _ in kinds]
    roles: dict[str, Any] = {"person": "individual", "other": "i", "secret": "s"}
    roles |= {f"q{i}": {**k.policy, "nulls": nulls[i]} for i, k in enumerate(kinds)}
    attributes = [
        kind.model([row[1 + i] for row in rows], 1.0, nulls[i]) for i, kind in enumerate(kinds)
    ]
    asked = draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=2, unique_by=_model))
    hidden = draw(st.sampled_from([["secret"], ["other", "secret"]]))
    if "other" in hidden:
        roles["other"] = "s"
        about = st.sampled_from([model for model in MODELS if "column" in model])
        further = draw(st.lists(about, max_size=2, unique_by=_model))
        asked += [model | {"column": "other"} for model in further]
    declared = policy(
        roles,
        [dict(model) for model in asked],
        method={"name": name, **(draw(_options()) if name == "danonyir" else {})},
        suppression_limit=draw(st.sampled_from([0, 0.5, 1, 1])),
    )
    return Case(columns, rows, owners, declared, attributes, key, hidden)


def _model(model: dict[str, Any]) -> str:
    return model["model"]


def _options() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "block_size": st.sampled_from([4, 7, 500]),
            "residuals": st.sampled_from(["generalize", "suppress"]),
        }
    )


@st.composite
def _rows(draw: st.DrawFn, key: Key, kinds: list[Kind]) -> tuple[list[list[Any]], list[Any]]:
    """Individuals with up to four records, of whom some have several values."""
    cells = [
        st.integers(0, 11).flatmap(lambda n, v=kind.values: st.none() if n == 0 else v)
        for kind in kinds
    ]
    secret = st.one_of(st.none(), *[st.integers(1, 7)] * 9)
    rows: list[list[Any]] = []
    owners: list[Any] = []
    for person in range(draw(st.integers(4, 16))):
        own = [draw(cell) for cell in cells]
        for _ in range(draw(st.integers(1, 4))):
            moved = draw(st.integers(0, 9)) == 0
            quasi = [draw(cell) for cell in cells] if moved else own
            spelled = draw(st.sampled_from(key.spellings(person)))
            rows.append([spelled, *quasi, draw(st.integers(1, 3)), draw(secret)])
            owners.append(key.read(str(key.spellings(person)[0])))
    order = draw(st.permutations(range(len(rows))))
    return [rows[at] for at in order], [owners[at] for at in order]


@pytest.fixture
def connections(db: Database) -> Any:
    return db.connect("source_owner"), db.owner()


def attempt(owner: Connection, declared: dict[str, Any]) -> Staged | str:
    """A release, or the code of its refusal."""
    try:
        return run(owner, declared)
    except PrivacyRefusal as refusal:
        return refusal.code


REFUSALS = ("infeasible", "all_suppressed", "suppression_limit")


@pytest.mark.random_tables
@SETTINGS
@given(case=cases())
def test_random_tables(connections: Any, case: Case) -> None:
    source, owner = connections
    make_table(source, case.columns, case.rows)
    drop_leftovers(owner)
    kept = _without_nulls(case)
    pairs = [(case.owners[at], case.held(case.rows[at])) for at in kept]
    asked = case.policy["privacy"]
    reachable = all(judge.reachable(requirement, pairs) for requirement in asked)
    staged = attempt(owner, case.policy)
    if isinstance(staged, str):
        assert staged in REFUSALS
        assert not pairs or (staged == "infeasible") == (not reachable)
        return
    assert reachable
    check_numbers(case, staged)
    check_records(case, staged, kept)
    check_figures(case, staged, kept)


def _without_nulls(case: Case) -> list[int]:
    """Places of records that have every quasi-identifier that they need."""
    needed = [1 + i for i, a in enumerate(case.attributes) if a.nulls == "suppress"]
    return [
        at for at, row in enumerate(case.rows) if all(row[place] is not None for place in needed)
    ]


def check_numbers(case: Case, staged: Staged) -> None:
    rows = staged.rows()
    assert {"person", "id"}.isdisjoint(rows[0])
    assert offences(rows, ["other", "secret"]) == []
    shown = [(r["class_id"], r["individual_no"], {n: r[n] for n in case.hidden}) for r in rows]
    assert judge.violations(case.policy["privacy"], shown) == []


def check_records(case: Case, staged: Staged, kept: Sequence[int]) -> None:
    """Every class shows what its individuals have, and has all of their records."""
    shown: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in staged.rows():
        shown[row["class_id"]].append(row)
    classes = _classes(case, staged)
    everybody = [person for members in classes.values() for person in members]
    assert len(everybody) == len(set(everybody))
    assert classes.keys() == shown.keys()
    for i, attribute in enumerate(case.attributes):
        attribute.released = {case.rows[at][1 + i] for at in kept if case.owners[at] in everybody}
    for number, people in classes.items():
        held = [at for at in kept if case.owners[at] in people]
        assert holdings(
            (row["individual_no"], (row["other"], row["secret"])) for row in shown[number]
        ) == holdings((case.owners[at], tuple(case.rows[at][-2:])) for at in held)
        for i, attribute in enumerate(case.attributes):
            published = attribute.published(_shown(case, staged, kept, people)[i])
            first = shown[number][0]
            assert (first[f"q{i}"], first.get(f"q{i}_null", False)) == published


def _shown(
    case: Case, staged: Staged, kept: Sequence[int], people: set[Any]
) -> Sequence[Collection[Any]]:
    """Values that a class shows of every quasi-identifier."""
    if case.policy["method"]["name"] == "geneir":
        return next(c.element for c in _swept(case, staged, kept) if c.members == people)
    held = [case.rows[at] for at in kept if case.owners[at] in people]
    return [{row[1 + i] for row in held} for i in range(len(case.attributes))]


def _swept(case: Case, staged: Staged, kept: Sequence[int]) -> list[Class]:
    owned: dict[Any, list[tuple[Sequence[Any], Any]]] = defaultdict(list)
    for at in kept:
        owned[case.owners[at]].append((case.rows[at][1:-2], case.held(case.rows[at])))
    trees = [attribute for attribute in case.attributes if isinstance(attribute, oracle.Tree)]
    order = [case.key.read(name) for name in in_order(staged)]
    return geneir(owned, trees, case.policy["privacy"], drawn_sequence(staged), order)


def _classes(case: Case, staged: Staged) -> dict[int, set[Any]]:
    found = members(staged).items()
    return {number: {case.key.read(name) for name in names} for number, names in found}


def check_figures(case: Case, staged: Staged, kept: Sequence[int]) -> None:
    rows = triples(staged.rows(), "secret")
    assert staged.facts["suppressed"] == len(case.rows) - len(rows)
    assert staged.facts["suppressed"] <= case.policy["suppression_limit"] * len(case.rows)
    found = staged.utility
    lost = staged.facts["suppressed"] * len(case.attributes) + sum(
        sum(case.owners[at] in people for at in kept) * attribute.loss(values)
        for people in _classes(case, staged).values()
        for attribute, values in zip(
            case.attributes, _shown(case, staged, kept, people), strict=True
        )
    )
    assert found.gcp == pytest.approx(lost / len(case.rows) / len(case.attributes))
    missed: set[int] = set()
    exposed: set[int] = set()
    asked = False
    columns = {name: triples(staged.rows(), name) for name in case.hidden}
    for name, held in columns.items():
        l = max((m.get("l", 1) for m in case.of(name)), default=1)  # noqa: E741
        beta = min((Fraction(str(m.get("beta", 1))) for m in case.of(name)), default=Fraction(1))
        asked |= l > 1 or beta < 1
        missed |= judge.missed(held, l, beta)
        exposed |= set(judge.exposed(held, beside=len(columns) > 1))
    share = len(missed) / len(judge.classes(rows))
    assert found.vulnerable == (pytest.approx(share) if asked else None)
    highest = max(map(judge.highest_share, columns.values()))
    assert found.highest_share == pytest.approx(float(highest))
    assert found.smallest_count_group == judge.smallest_count_group(rows)
    assert found.exposed == len(exposed)
    sizes = [judge.ir_k(pairs) for pairs in judge.classes(rows).values()]
    assert found.individuals == sum(sizes)
    assert Fraction(1, min(sizes)) == Fraction(found.highest_risk).limit_denominator(1000)
