"""Every model's SQL against the oracle, on random histograms of several groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pganon.identifiers import QualifiedName
from pganon.privacy.base import Model
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from pganon.privacy.identity import EIRBeta, IRAlpha, IRBeta
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from pganon.privacy.release import AverageRisk, RecordsAtRisk, ReleaseModel, SampleUniqueness
from pganon.sqltools import col, query, render
from tests.support.harness.driver import Connection
from tests.support.oracles import definitions as oracle
from tests.support.oracles import model as model_oracle
from tests.support.oracles.published import whole_offences

HIST, REF = QualifiedName("pg_temp", "hist"), QualifiedName("pg_temp", "ref")
Groups = Sequence[Sequence[int]]


@pytest.fixture
def conn(db: Any) -> Connection:
    conn = db.connect()
    conn.execute("CREATE TEMP TABLE hist (grp int, value int, n bigint)")
    conn.execute("CREATE TEMP TABLE ref (value int, position int, share float8)")
    return conn


def measured(conn: Connection, model: Model, groups: Groups) -> dict[int, tuple[Any, bool]]:
    """(measure, whether it holds) of every group; all groups together are the reference."""
    conn.execute("TRUNCATE hist, ref")
    conn.cursor().executemany(
        "INSERT INTO hist SELECT %s, v, count(*) FROM unnest(%s::int[]) v GROUP BY v",
        [(number, list(group)) for number, group in enumerate(groups)],
    )
    conn.execute(
        "INSERT INTO ref SELECT value, row_number() OVER (ORDER BY value),"
        " sum(n)::float8 / sum(sum(n)) OVER () FROM hist GROUP BY value"
    )
    tree = model.measure(HIST, ["grp"], REF if model.needs_reference else None)
    rows = conn.execute(render(tree).encode()).fetchall()
    found = {
        row[tree.named_selects.index("grp")]: row[1 - tree.named_selects.index("grp")]
        for row in rows
    }
    worst = conn.execute(render(model.worst(tree)).encode()).fetchone()
    assert worst is not None
    holds = {grp: model.satisfied_by(float(value)) for grp, value in found.items()}
    assert worst[0] == sum(not ok for ok in holds.values())
    return {grp: (float(value), holds[grp]) for grp, value in found.items()}


def measured_together(conn: Connection, model: ReleaseModel, groups: Groups) -> bool:
    """Whether all groups together satisfy the model."""
    conn.execute("TRUNCATE hist")
    conn.cursor().executemany(
        "INSERT INTO hist SELECT %s, v, count(*) FROM unnest(%s::int[]) v GROUP BY v",
        [(number, list(group)) for number, group in enumerate(groups)],
    )
    tree = query("select w.failing from w", {"w": model.worst(model.measure(HIST, ["grp"]))})
    row = conn.execute(render(tree).encode()).fetchone()
    assert row is not None
    return row[0] == 0


GROUPS = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=20), min_size=1, max_size=6)
MODEST = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@MODEST
@given(groups=GROUPS, k=st.integers(2, 8), l=st.sampled_from(["2", "2.5", "3", "4"]))
@pytest.mark.slow
def test_counts_and_entropy(conn: Connection, groups: Groups, k: int, l: str) -> None:  # noqa: E741
    for grp, (measure, holds) in measured(conn, KAnonymity.of(k), groups).items():
        assert (measure, holds) == (len(groups[grp]), len(groups[grp]) >= k)
    for grp, (measure, holds) in measured(conn, DistinctLDiversity.of(3), groups).items():
        distinct = oracle.distinct_l(groups[grp])
        assert (measure, holds) == (distinct, distinct >= 3)
    for grp, (measure, holds) in measured(conn, EntropyLDiversity.of(float(l)), groups).items():
        assert measure == pytest.approx(oracle.entropy_l(groups[grp]))
        assert holds == oracle.entropy_at_least(groups[grp], Fraction(l))


@MODEST
@given(
    groups=GROUPS,
    bound=st.sampled_from(["0.1", "0.2", "0.25", "0.3", "0.5"]),
    highest=st.sampled_from(["0.1", "0.2", "0.25", "0.3333", "0.5", "0.9"]),
)
def test_all_groups_together(conn: Connection, groups: Groups, bound: str, highest: str) -> None:
    found = {
        name: not measured_together(conn, model, groups)
        for name, model in (
            ("risk", AverageRisk(float(bound))),
            ("share", RecordsAtRisk(float(bound), float(highest))),
        )
    }
    wanted = {"risk": float(bound), "highest": float(highest), "share": float(bound)}
    missed = whole_offences([len(group) for group in groups], wanted)
    assert [name for name, misses in found.items() if misses] == missed
    sizes = [len(group) for group in groups]
    alone = whole_offences(sizes, {"model": "sample_uniqueness", "share": float(bound)})
    assert measured_together(conn, SampleUniqueness.of(float(bound)), groups) == (not alone)


@MODEST
@given(
    groups=GROUPS,
    t=st.sampled_from(["0.1", "0.2", "0.25", "0.3", "0.375", "0.5", "1"]),
    distance=st.sampled_from(["equal", "ordered"]),
)
def test_closeness(conn: Connection, groups: Groups, t: str, distance: str) -> None:
    whole = [value for group in groups for value in group]
    emd = oracle.t_ordered if distance == "ordered" else oracle.t_equal
    for grp, (measure, holds) in measured(conn, TCloseness.of(float(t), distance), groups).items():
        expected = emd(groups[grp], whole)
        assert measure == pytest.approx(float(expected), abs=1e-12)
        assert holds == (expected <= Fraction(t))


def test_salaries_of_the_t_closeness_paper(conn: Connection) -> None:
    groups = [[3, 4, 5], [6, 8, 11], [7, 9, 10]]
    found = measured(conn, TCloseness.of(0.375, "ordered"), groups)
    assert found[0] == (pytest.approx(0.375), True)
    assert found[1] == (pytest.approx(1 / 6), True)


@pytest.mark.parametrize("m", [2, 3, 4, 6, 7, 11, 100])
def test_entropy_of_m_uniform_values_is_m(conn: Connection, m: int) -> None:
    assert measured(conn, EntropyLDiversity.of(m), [list(range(m)) * 3])[0][1]
    assert not measured(conn, EntropyLDiversity.of(m + 1), [list(range(m)) * 3])[0][1]


@pytest.mark.parametrize(
    ("part", "whole", "share", "holds"),
    [
        (1, 3, "0.3333333333333333", False),
        (1, 3, "0.3333333333333334", True),
        (333_333_333, 1_000_000_000, "0.333333333", True),
        (333_333_334, 1_000_000_000, "0.333333333", False),
        (500_000_000_001, 1_000_000_000_000, "0.5", False),
        (57, 100, "0.57", True),
        (7, 7, "1", True),
    ],
)
def test_shares_are_compared_as_fractions(
    conn: Connection, part: int, whole: int, share: str, holds: bool
) -> None:
    """Also those that differ by less than rounding errors do."""
    conn.execute("INSERT INTO hist VALUES (1, 1, %s)", [part])
    if part < whole:
        conn.execute(
            "INSERT INTO hist SELECT 1, v + 2, (%s + v) / 3 FROM generate_series(0, 2) AS v"
            " WHERE (%s + v) / 3 > 0",
            [whole - part, whole - part],
        )
    for model in (RelativeFrequency(float(share)), IRAlpha(float(share)), IRBeta(float(share))):
        row = conn.execute(render(model.worst(model.measure(HIST, ["grp"]))).encode()).fetchone()
        assert row is not None
        assert (row[0] == 0) == holds
        assert row[1] == pytest.approx(part / whole)
    holders = f"(SELECT grp, value, n, {whole}::bigint AS total FROM hist) AS g"
    measure = render(EIRBeta(float(share)).aggregate("g"))
    condition = render(EIRBeta(float(share)).holds(col("measure", "m")))
    row = conn.execute(
        f"SELECT {condition} FROM (SELECT {measure} AS measure FROM {holders}) AS m".encode()
    ).fetchone()
    assert row == (holds,)


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_constant_values(conn: Connection, distance: str) -> None:
    assert measured(conn, TCloseness.of(0.001, distance), [[1, 1], [1]])[0] == (0, True)
    assert measured(conn, DistinctLDiversity.of(2), [[1, 1]])[0] == (1, False)


@MODEST
@given(
    groups=GROUPS,
    alpha=st.sampled_from(["0.2", "0.25", "0.3", "0.5", "0.6", "1"]),
    c=st.sampled_from(["0.5", "1", "1.5", "2", "3"]),
    l=st.integers(1, 4),
)
def test_shares_and_recursion(
    conn: Connection,
    groups: Groups,
    alpha: str,
    c: str,
    l: int,  # noqa: E741
) -> None:
    for grp, (measure, holds) in measured(conn, RelativeFrequency(float(alpha)), groups).items():
        expected = model_oracle.alpha(groups[grp])
        assert measure == pytest.approx(float(expected))
        assert holds == (expected <= Fraction(alpha))
    model = RecursiveCLDiversity.of(float(c), l)
    for grp, (measure, holds) in measured(conn, model, groups).items():
        ratio = model_oracle.recursive_c(groups[grp], l)
        assert measure == pytest.approx(float(ratio))
        assert holds == (ratio < Fraction(c))  # strict


@MODEST
@given(
    groups=GROUPS,
    beta=st.sampled_from(["0.25", "0.5", "1", "1.5", "2", "4"]),
    delta=st.floats(0.01, 3),
)
@pytest.mark.slow
def test_likeness(conn: Connection, groups: Groups, beta: str, delta: float) -> None:
    whole = [value for group in groups for value in group]
    for grp, (measure, holds) in measured(
        conn, BetaLikeness.of(float(beta), "basic"), groups
    ).items():
        basic = model_oracle.beta_basic(groups[grp], whole)
        assert measure == pytest.approx(float(basic), abs=1e-12)
        assert holds == (basic <= Fraction(beta))
    for grp, (measure, holds) in measured(conn, BetaLikeness.of(float(beta)), groups).items():
        enhanced = model_oracle.beta_enhanced(groups[grp], whole)
        assert measure == pytest.approx(float(enhanced), abs=1e-12)
        assert holds == (enhanced <= Fraction(beta))
    for grp, (measure, _) in measured(conn, DeltaDisclosure.of(delta), groups).items():
        assert measure == pytest.approx(model_oracle.delta(groups[grp], whole), abs=1e-12)


def test_delta_is_strict(conn: Connection) -> None:
    groups = [[1, 1, 2, 2], [1, 2, 2, 2], [1, 1, 1, 2]]
    found = measured(conn, DeltaDisclosure.of(math.log(2)), groups)
    assert [holds for _, holds in found.values()] == [True, False, False]
    just_above = measured(conn, DeltaDisclosure.of(math.log(2) + 1e-9), groups)
    assert all(holds for _, holds in just_above.values())


@MODEST
@given(
    groups=GROUPS,
    model=st.sampled_from(
        [
            RelativeFrequency(0.5),
            RecursiveCLDiversity.of(1, 2),
            RecursiveCLDiversity.of(2, 3),
            TCloseness.of(0.2),
            TCloseness.of(0.2, "ordered"),
            BetaLikeness.of(1, "basic"),
            BetaLikeness.of(1),
            DeltaDisclosure.of(1),
            EntropyLDiversity.of(2),
            DistinctLDiversity.of(2),
            KAnonymity.of(2),
        ]
    ),
)
def test_merging_two_groups_never_makes_the_worse_worse(
    conn: Connection, groups: Groups, model: Model
) -> None:
    apart = [value for value, _ in measured(conn, model, groups).values()]
    together = [
        value
        for value, _ in measured(
            conn, model, [[*groups[0], *(groups[1] if groups[1:] else [])], *groups[2:]]
        ).values()
    ]
    if model.bound.value == ">=":
        assert min(together) >= min(apart) - 1e-9
    else:
        assert max(together) <= max(apart) + 1e-9


@pytest.mark.parametrize(
    ("variant", "value", "most"),
    [
        ("enhanced", "HIV", 441),
        ("enhanced", "Flu", 569),
        ("enhanced", "Brain", 670),
        ("basic", "HIV", 461),
        ("basic", "Flu", 692),
        ("basic", "Brain", 923),
    ],
)
def test_caps_of_the_beta_likeness_example(
    conn: Connection, variant: str, value: str, most: int
) -> None:
    """Flu 6, HIV 4, Hypertension 8, Brain 8, beta = 2: the largest share (per mille) of a class.

    Caps are 0.4418, 0.5692 and 0.6704, basic 0.4615, 0.6923 and 0.9231.
    """
    codes = {"Flu": (1, 6), "HIV": (2, 4), "Hypertension": (3, 8), "Brain": (4, 8)}
    code = codes[value][0]
    others = [number for number, _ in codes.values() if number != code]
    for count, expected in ((most, True), (most + 1, False)):
        group = [code] * count + [others[i % 3] for i in range(1000 - count)]
        rest = [n for n, share in codes.values() for _ in range(share * 1000 - group.count(n))]
        assert measured(conn, BetaLikeness.of(2, variant), [group, rest])[0][1] is expected
