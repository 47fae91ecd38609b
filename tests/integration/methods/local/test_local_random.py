"""Random tables of which people hide some values: groups, buckets and promises by the oracles."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PrivacyRefusal
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, run
from tests.support.harness.examples import examples
from tests.support.oracles import lgb
from tests.support.oracles.lgb import Refused, Table, nominal, numeric, tree
from tests.support.oracles.lgb_buckets import (
    dealt_values,
    histogram,
    leaves,
    segments,
    total,
)
from tests.support.oracles.lgb_groups import Rows, discernibility, mdp, ncp, ncp_of, paper_loss
from tests.support.oracles.lgb_release import v1, v2, v3, v4, v5, v6, v7
from tests.support.sources.local import build, close, diverse, groups, policy, release

pytestmark = [pytest.mark.primary_server_only, pytest.mark.random_tables]

# Siblings are in the order of their labels.
TOWNS = {
    "Lyon": "FR",
    "Paris": "FR",
    "Milan": "IT",
    "Rome": "IT",
    "Turin": "IT",
    "FR": "EU",
    "IT": "EU",
}
COLUMNS = (numeric("x"), nominal("y"), tree("z", TOWNS), numeric("s"))
ROLES = {
    "x": "semi_sensitive",
    "y": "semi_sensitive",
    "z": "quasi_identifying",
    "s": "sensitive",
}
L, T, SIZE = 2, 0.5, 2


def table(seed: int) -> Table:
    rng = random.Random(seed)
    share = rng.choice([0.1, 0.3, 0.5])
    values, hidden = {}, {}
    for key in range(1, rng.randint(12, 60)):
        values[key] = (
            rng.choice([*range(9), None]),
            rng.choice(["a", "b", "c", None]),
            rng.choice(["Paris", "Lyon", "Rome", "Milan", "Turin"]),
            rng.choice([*range(8), None]),
        )
        hidden[key] = frozenset({3, *[a for a in (0, 1) if rng.random() < share]})
    # The tree counts the values that the source has.
    present = {row[2] for row in values.values()}
    held = {child: parent for child, parent in TOWNS.items() if child in present or parent == "EU"}
    nodes = {child: p for child, p in held.items() if p != "EU" or child in held.values()}
    return Table((*COLUMNS[:2], tree("z", nodes), COLUMNS[3]), values, hidden)


def expected_classes(t: Table, k: int, merge: bool) -> dict[str, list[int]]:
    handling = "merge" if merge else "suppress"
    return lgb.small_subsets(lgb.partition(t), k, handling)[0]


@pytest.mark.parametrize("method", ["lgb_mdp", "lgb_ncp"])
@examples(2)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 4),
    merge=st.booleans(),
    assign=st.sampled_from(["m_invariance", "deal"]),
)
def test_random_tables(
    db: Database,
    method: str,
    seed: int,
    k: int,
    merge: bool,
    assign: str,
) -> None:
    t = table(seed)
    db.disconnect()  # those of the example before
    drop_leftovers(db.owner())
    build(db, t, ROLES)
    options: dict[str, Any] = {"name": method, "assign": assign}
    options["small_subsets"] = "merge" if merge else "apart"
    declared = policy(
        t,
        options,
        k,
        [diverse("x", L), close("y", T, SIZE), diverse("s", L)],
        ROLES,
        on_infeasible="suppress",
        suppression_limit=1,
    )
    try:
        classes = expected_classes(t, k, merge)
        plans = _plans(t, classes, assign)
    except Refused:
        with pytest.raises(PrivacyRefusal):
            run(db.owner(), declared)
        return
    if not classes:
        with pytest.raises(PrivacyRefusal):
            run(db.owner(), declared)
        return
    staged = run(db.owner(), declared)
    _check_promises(staged, t, k)
    _check_buckets(staged, t, plans)
    _check_figures(staged, t)
    _check_groups(staged, t, k, classes, exact=method == "lgb_mdp")


def _plans(t: Table, classes: Mapping[str, list[int]], assign: str) -> dict[int, list[list[Any]]]:
    """Values of every bucket, where diversity is the principle."""
    found: dict[int, list[list[Any]]] = {}
    for a, attribute in enumerate(t.attributes):
        held = [t.values[k][a] for f, keys in classes.items() if f[a] == "b" for k in keys]
        if a == 1:
            if held and (len(held) < SIZE or len(set(held)) < 2):
                raise Refused("too few values")
            continue
        each: list[list[Any]] = []
        for leaf in leaves(histogram(held, attribute), L):
            if assign == "deal":
                each += dealt_values(leaf, total(leaf) // L)
            else:
                each += [list(s) for alpha, s in segments(leaf, L) for _ in range(alpha)]
        found[a] = each
    return found


def _check_promises(staged: Staged, t: Table, k: int) -> None:
    r = release(staged, t, ROLES)
    assert (v1(r), v2(r, k), v3(r), v4(r)) == ([], [], [], [])
    assert (v5(r, 0, L), v5(r, 3, L), v6(r, 1, Fraction(str(T)))) == ([], [], [])
    for a in (0, 3):
        assert max(v7(r, a).values(), default=0) <= Fraction(1, L)


def _check_buckets(staged: Staged, t: Table, plans: Mapping[int, list[list[Any]]]) -> None:
    r = release(staged, t, ROLES)
    for a, planned in plans.items():
        place = t.attributes[a].null_last

        def order(each: list[list[Any]], place: Any = place) -> list[list[Any]]:
            return sorted(sorted(map(place, one)) for one in each)

        held = [list(counts.elements()) for counts in r.counts(a).values()]
        assert order(held) == order(planned)


def _check_figures(staged: Staged, t: Table) -> None:
    r = release(staged, t, ROLES)
    for a in (0, 1, 3):
        figures = staged.utility.buckets[t.attributes[a].name]
        held = list(r.counts(a).values())
        sizes = [counts.total() for counts in held]
        assert (figures.cells, figures.buckets) == (sum(sizes), len(sizes))
        assert (figures.smallest, figures.largest) == (min(sizes, default=0), max(sizes, default=0))
        shares = [max(c.values()) / c.total() for c in held]
        assert figures.share == pytest.approx(max(shares, default=0))


def _check_groups(
    staged: Staged, t: Table, k: int, classes: Mapping[str, list[int]], *, exact: bool
) -> None:
    found = groups(staged, t)
    form = lgb.forms(classes)
    shown = {group: form[min(group)] for group in found}
    assert {key for group in found for key in group} == set(form)
    assert all(len({form[key] for key in group}) == 1 for group in found)
    if exact:
        spans = lgb.extents(t, classes)
        expected = {g for f, keys in classes.items() for g in mdp(Rows(t, spans, f), keys, k)}
        assert found == expected
    dropped = [key for key in t.values if key not in form]
    spans = lgb.extents(t, classes)
    for measured, loss in ((staged.utility.gcp, ncp_of), (staged.utility.paper_gcp, paper_loss)):
        lost = ncp(t, spans, shown, dropped, loss)
        assert measured == pytest.approx(float(lost.ratio or 0))
    measure = discernibility(found, len(dropped), len(t.values))
    assert staged.utility.discernibility == measure
