"""Exclusion rules of slamsa: no bucket has a record and a value that everybody knows apart."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon.methods.buckets.exclusions import idle_rules
from pganon.run.causes import warnings_of
from tests.support.harness.cluster import Database
from tests.support.harness.driver import drop_leftovers, refused, run
from tests.support.oracles.anatomy import fewest_suppressed
from tests.support.oracles.sliced import Row, Rule
from tests.support.sources import registry
from tests.support.sources.builders import make_table, policy
from tests.support.sources.registry import ROWS, WOMEN, records
from tests.support.sources.slamsa import Asked, buckets, check, objective, offences, shown, tally

pytestmark = pytest.mark.primary_server_only

NO_PROSTATE = [{"when": {"sex": "F"}, "never": {"cancer": "Prostate"}}]
NAMES = [*registry.COLUMNS][1:]
SUPPRESS = {"on_infeasible": "suppress"}


def document(l: int, *names: str, **changes: Any) -> dict[str, Any]:  # noqa: E741 (the field's letter)
    models = [{"model": "slicing_l_diversity", "l": l, "column": name} for name in names]
    return registry.document(**{"privacy": models, "exclusions": NO_PROSTATE, **changes})


def ages(*patients: tuple[int, ...]) -> set[frozenset[int]]:
    return {frozenset(ROWS[number - 1]["age"] for number in group) for group in patients}


# -- the worked example -------------------------------------------------------------------------


def test_nobody_can_exclude_prostate_cancer(db: Database) -> None:
    registry.build(db)
    staged = run(db.owner(), document(2, "cancer"))
    found = shown(staged)
    check(found, ROWS, Asked({"cancer": 2}, NAMES, rules=[WOMEN]))
    (qit,) = found.published.qits
    assert buckets(qit, "age") == ages((2, 4, 8), (1, 3), (5, 6), (7, 9))
    assert staged.utility.objective == pytest.approx(objective(qit, ["age", "zip"], ["sex"]))


IDLE = [
    {
        "when": {"sex": ["F", "f"], "age": {"min": 100}},
        "never": {"cancer": ["Prostate", "prostate"], "symptom": "nothing like it"},
    },
    *NO_PROSTATE,
]


def test_values_of_rules_that_occur_nowhere_are_named(db: Database) -> None:
    registry.build(db)
    staged = run(db.owner(), document(2, "cancer", exclusions=IDLE))
    parts = [
        'the value "f" in column sex',
        "a value in the range for column age",
        'the value "prostate" in column cancer',
        'the value "nothing like it" in column symptom',
    ]
    said = list(idle_rules(staged.plan.spec, staged.state.facts))
    for text, part in zip(said, parts, strict=True):
        assert f": no record has {part}" in text
        assert text.startswith('exclusion rule "sex, age excludes ')
    warned = warnings_of(staged.plan, staged.state)
    assert [text for text in warned if "no record has" in text] == said


def test_rules_whose_values_all_occur_are_not_warned_of(db: Database) -> None:
    registry.build(db)
    staged = run(db.owner(), document(2, "cancer"))
    assert list(idle_rules(staged.plan.spec, staged.state.facts)) == []


def test_men_by_themselves(db: Database) -> None:
    """The worked example has places of ages and zips among the men alone."""
    registry.build(db)
    declared = document(2, "cancer", where="sex = 'M'")
    staged = run(db.owner(), declared)
    (qit,) = shown(staged).published.qits
    assert buckets(qit, "age") == ages((1, 3), (5, 9), (6, 7))
    assert staged.utility.objective == pytest.approx(1.646841, abs=1e-6)
    assert staged.utility.baseline == pytest.approx(1.646841, abs=1e-6)


@pytest.mark.slow
def test_what_the_rule_costs(db: Database) -> None:
    """Half of the men have prostate cancer, two of three women had surgery."""
    registry.build(db)
    expected = {
        "cancer": (document(3, "cancer"), "3 of 6 records, l = 3 allows at most 2"),
        "treatment": (document(2, "cancer", "treatment"), "2 of 3 records, l = 2 allows at most 1"),
    }
    for name, (declared, figures) in expected.items():
        with refused("infeasible") as errors:
            run(db.owner(), declared)
        said = str(errors[0])
        assert f"column {name}: its most frequent value has {figures}" in said
        assert 'stratum of the exclusion rules "sex excludes cancer"' in said
        assert "Prostate" not in f"{said} {errors[0].hint}"
        del declared["exclusions"]
        run(db.owner(), declared)


@pytest.mark.slow
def test_records_left_out_because_of_a_rule(db: Database) -> None:
    """One man of every cancer is left, as l = 3 asks; all women are."""
    registry.build(db)
    with refused("suppression_limit") as errors:
        run(db.owner(), document(3, "cancer", suppression_limit=0.3, **SUPPRESS))
    assert "3 of 9" in str(errors[0])
    staged = run(db.owner(), document(3, "cancer", suppression_limit=0.34, **SUPPRESS))
    found = shown(staged)
    assert offences(found.published, Asked({"cancer": 3}, NAMES, rules=[WOMEN])) == []
    assert tally(found.published.qits[0], ["sex"]) == {("F",): 3, ("M",): 3}
    assert tally(found.published.sts[0], ["cancer"]) == {
        ("Lung",): 2,
        ("Liver",): 2,
        ("Colon",): 1,
        ("Prostate",): 1,
    }
    with refused("infeasible"):
        run(db.owner(), document(4, "cancer", suppression_limit=1.0, **SUPPRESS))


def test_a_record_contradicts(db: Database) -> None:
    registry.build(db)
    rules = [{"when": {"sex": "M", "age": {"min": 41}}, "never": {"cancer": ["x", "Prostate"]}}]
    with refused("rule_contradicted") as errors:
        run(db.owner(), document(2, "cancer", exclusions=rules))
    assert '1 records contradict the exclusion rule "sex, age excludes cancer"' in str(errors[0])
    assert "Prostate" not in f"{errors[0]} {errors[0].hint}"


@pytest.mark.slow
def test_as_few_as_possible(db: Database) -> None:
    """Of every stratum: ages up to 4, others, and none."""
    rng = random.Random(2)
    exclusion, rule = RULES[0]
    for turn in range(2):
        rows = table(rng, [rule])
        make_table(db.connect("source_owner"), COLUMNS, [list(r.values()) for r in rows])
        strata: dict[bool | None, list[Any]] = {}
        for row in rows:
            young = None if row["a"] is None else row["a"] <= 4
            strata.setdefault(young, []).append(row["s"])
        fewest = sum(fewest_suppressed(values, 3) for values in strata.values())
        limit = {"suppression_limit": fewest / len(rows) + 1e-9, **SUPPRESS}
        staged = run(db.owner(), random_policy(3, [exclusion], **limit), seed=turn)
        assert staged.facts["suppressed"] == fewest > 0
        check(shown(staged), kept_of(rows, staged), Asked({"s": 3}, [*COLUMNS], rules=[rule]))
        limit["suppression_limit"] = (fewest - 0.5) / len(rows)
        with refused("suppression_limit"):
            run(db.owner(), random_policy(3, [exclusion], **limit), seed=turn)


@pytest.mark.slow
def test_a_rule_over_two_slices(db: Database) -> None:
    """One record is b = x, another of the same bucket a = 3: no table says that none is both."""
    exclusion, rule = RULES[2]
    rows = [[a, "xy"[a > 2], None, s, None] for a, s in enumerate("wuvwvu")]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    method = {"name": "slamsa", "quasi_tables": [["a", "c"], ["b"]]}
    found = shown(run(db.owner(), random_policy(2, [exclusion], method=method)))
    check(found, records(COLUMNS, rows), Asked({"s": 2}, [*COLUMNS], rules=[rule]))
    assert buckets(found.published.qits[0], "a") == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    whole = shown(run(db.owner(), random_policy(2, [exclusion])))
    assert len(buckets(whole.published.qits[0], "a")) == 3


@pytest.mark.slow
def test_many_conditions(db: Database) -> None:
    """Each over two slices: more cases than a number has digits to base 3."""
    registry.build(db)
    conditions = [{"age": {"min": age}, "zip": age} for age in range(100, 125)]
    rules = [{"when": when, "never": {"cancer": "x"}} for when in conditions]
    declared = document(2, "cancer", exclusions=[*rules, *NO_PROSTATE])
    declared["method"]["quasi_tables"] = [["sex", "age"], ["zip"]]
    check(shown(run(db.owner(), declared)), ROWS, Asked({"cancer": 2}, NAMES, rules=[WOMEN]))


# -- random rules -------------------------------------------------------------------------------

COLUMNS = {"a": "integer", "b": "text", "c": "date", "s": "text", "t": "boolean"}
LATE, EARLY = "2024-01-06", "2024-01-03"
RULES: list[tuple[dict[str, Any], Rule]] = [
    (
        {"when": {"a": {"max": 4}}, "never": {"s": "u"}},
        Rule(lambda r: r["a"] is not None and r["a"] <= 4, "s", "u"),
    ),
    ({"when": {"a": [1, 7]}, "never": {"s": "v"}}, Rule(lambda r: r["a"] in (1, 7), "s", "v")),
    (
        {"when": {"b": "x", "a": {"min": 3}}, "never": {"s": "w"}},
        Rule(lambda r: r["b"] == "x" and r["a"] is not None and r["a"] >= 3, "s", "w"),
    ),
    (
        {"when": {"c": {"min": EARLY, "max": LATE}}, "never": {"s": "u"}},
        Rule(lambda r: r["c"] is not None and EARLY <= str(r["c"]) <= LATE, "s", "u"),
    ),
    (
        {"when": {"b": ["x", "y"], "c": LATE}, "never": {"t": True}},
        Rule(lambda r: r["b"] in ("x", "y") and str(r["c"]) == LATE, "t", True),
    ),
]


def table(rng: random.Random, rules: list[Rule]) -> list[Row]:
    """Records that no rule excludes, with NULLs."""

    def one() -> list[Any]:
        return [
            rng.choice((None, *range(10))),
            rng.choice((None, "x", "y", "z")),
            rng.choice((None, *[f"2024-01-0{n}" for n in range(1, 10)])),
            rng.choice((None, *"uuvvww", "x", "y")),
            rng.choice((None, False, True)),
        ]

    drawn = records(COLUMNS, [one() for _ in range(rng.randint(25, 60))])
    return [r for r in drawn if not any(x.when(r) and r[x.column] == x.value for x in rules)]


def random_policy(l: int, exclusions: list[Any], **others: Any) -> dict[str, Any]:  # noqa: E741
    return policy(
        {"a": "q", "b": "q", "c": "q", "s": "s", "t": "s"},
        [{"model": "slicing_l_diversity", "column": "s", "l": l}],
        exclusions=exclusions,
        **{"method": {"name": "slamsa"}, **others},
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_rules(db: Database, seed: int) -> None:
    rng = random.Random(seed)
    conn = db.owner()
    for turn in range(5):
        chosen = rng.sample(RULES, rng.randint(1, 3))
        rules = [rule for _, rule in chosen]
        rows = table(rng, rules)
        make_table(db.connect("source_owner"), COLUMNS, [list(r.values()) for r in rows])
        method: dict[str, Any] = {"name": "slamsa", "block_size": 12}
        method["sensitive_tables"] = rng.choice((1, 2))
        if rng.random() < 0.5:
            method["quasi_tables"] = rng.choice(([["a", "c"], ["b"]], [["a"], ["b"], ["c"]]))
        if rng.random() < 0.5:
            method |= {"profile": "independent", "link_threshold": 1}
        exclusions = [exclusion for exclusion, _ in chosen]
        declared = random_policy(2, exclusions, method=method, suppression_limit=1.0, **SUPPRESS)
        staged = run(conn, declared, seed=turn)
        found = shown(staged)
        kept = kept_of(rows, staged)
        check(found, kept, Asked({"s": 2}, [*COLUMNS], rules=rules))
        drop_leftovers(conn)


def kept_of(rows: list[Row], staged: Any) -> list[Row]:
    """Records that were released, as the source has them."""
    members = {int(row["member"]) for row in staged.table("members")}
    assert len(rows) - len(members) == staged.facts["suppressed"]
    (conn,) = [staged.conn]
    cursor = conn.execute("SELECT id, a, b, c, s, t FROM public.t")
    return [dict(zip(COLUMNS, row[1:], strict=True)) for row in cursor if row[0] in members]
