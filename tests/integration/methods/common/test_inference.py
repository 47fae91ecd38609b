"""Figures of inference in every form, against the attack in plain Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from psycopg.rows import dict_row

from pganon.identifiers import QualifiedName
from pganon.methods.buckets.form import inference
from pganon.methods.common.form import attacks
from pganon.methods.common.search.inference import Layout, guesses
from pganon.sqltools import statement
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, refused, run
from tests.support.oracles import association as association_oracle
from tests.support.oracles import inference as oracle
from tests.support.oracles.inference import Record
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

QUASI, INSENSITIVE, SENSITIVE = ("age", "zip"), ("pay",), ("ill", "drug")
COLUMNS = {"age": "integer", "zip": "text", "pay": "numeric", "ill": "text", "drug": "integer"}
Row = dict[str, Any]


def people(count: int, seed: int = 1) -> list[Row]:
    """Age and drug follow from the illness, more or less; some values are NULL."""
    rng = random.Random(seed)
    found = []
    for number in range(1, count + 1):
        ill = rng.choice(("flu", "gout", "acne", "burn", None))
        place = ("flu", "gout", "acne", "burn", None).index(ill)
        age = place * 15 + rng.randint(0, 24)
        found.append(
            {
                "id": number,
                "age": None if rng.random() < 0.05 else age,
                "zip": None if rng.random() < 0.05 else f"Z{rng.randint(1, 6)}",
                "pay": None if rng.random() < 0.05 else rng.randint(1, 900) + place * 300,
                "ill": ill,
                "drug": None if rng.random() < 0.1 else 100 * place + rng.randint(0, 40),
            }
        )
    return found


def stage(
    db: Database,
    rows: Sequence[Row],
    method: dict[str, Any],
    l: int = 2,  # noqa: E741
    **others: Any,
) -> Staged:
    """A release of the first sensitive column, or of both where the method can."""
    names = list(COLUMNS)
    make_table(db.connect("source_owner"), COLUMNS, [[row[name] for name in names] for row in rows])
    sensitive = SENSITIVE if method["name"] in ("slamsa", "msb", "sloms") else SENSITIVE[:1]
    kind = "anatomy_l_diversity" if method["name"] == "anatomy" else "slicing_l_diversity"
    unique = {"level": "unique"} if method["name"] in ("msb", "sloms") else {}
    privacy = [{"model": kind, "column": name, "l": l, **unique} for name in sensitive]
    if method["name"] == "sloms":
        privacy.append({"model": "k_anonymity", "k": 3})
    roles = {**dict.fromkeys(QUASI, "q"), **dict.fromkeys(INSENSITIVE, "i")}
    roles |= dict.fromkeys(sensitive, "s")
    leave_out = {"suppression_limit": 1, "on_infeasible": "suppress"}
    declared = policy(roles, privacy, method=method, **leave_out, **others)
    return run(db.owner(), declared)


def attacked(
    staged: Staged, rows: Sequence[Row], name: str, link: str, beside: Sequence[str] = ()
) -> tuple[list[Record], list[Any]]:
    """The released records as who knows all quasi-identifiers sees them, and their values."""
    by_id = {row["id"]: row for row in rows}
    held = [(by_id[int(m["member"])], m) for m in staged.table("members")]
    classes: dict[int, Row] = {}
    if "class_id" in held[0][1]:
        classes = {row["class_id"]: row for row in staged.table("qit")}
    known = [column for column in QUASI if column not in beside]
    columns = []
    for column in (*known, *INSENSITIVE):
        if classes and column in QUASI:
            shown = (column, f"{column}_null")
            columns.append([tuple(str(classes[m["class_id"]][c]) for c in shown) for _, m in held])
        elif column == "zip":
            columns.append([row[column] for row, _ in held])
        else:
            columns.append(oracle.pieces([row[column] for row, _ in held]))
    values = zip(*columns, strict=True)
    records = [
        Record((m[link], *[row[column] for column in beside]), known_values)
        for (row, m), known_values in zip(held, values, strict=True)
    ]
    return records, [row[name] for row, _ in held]


FORMS: dict[str, tuple[dict[str, Any], dict[str, str], tuple[str, ...]]] = {
    "anatomy": ({"name": "anatomy", "block_size": 16}, {"ill": "group_id"}, ()),
    "slicing": (
        {"name": "slicing", "columns": [["age"], ["zip", "ill"]]},
        {"ill": "group_id"},
        ("zip",),
    ),
    "aligned": (
        {"name": "slamsa", "sensitive_tables": 1, "block_size": 60, "optimizer": "base"},
        {"ill": "group_id", "drug": "group_id"},
        (),
    ),
    "independent": (
        {
            "name": "slamsa", "sensitive_tables": 2, "block_size": 60, "optimizer": "base",
            "profile": "independent", "link_threshold": 1, "quasi_tables": 2,
        },
        {"ill": "st1_group_id", "drug": "st2_group_id"},
        (),
    ),
    "msb": ({"name": "msb"}, {"ill": "group_id", "drug": "group_id"}, ()),
    "sloms": (
        {"name": "sloms", "sensitive_tables": [["ill"], ["drug"]], "link_threshold": 1},
        {"ill": "st1_group_id", "drug": "st2_group_id"},
        (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_figures(db: Database, form: str) -> None:
    rows = people(300)
    method, links, beside = FORMS[form]
    staged = stage(db, rows, method)
    figures = staged.utility.inferred
    assert set(figures) == set(links)
    for name, link in links.items():
        records, truth = attacked(staged, rows, name, link, beside)
        kinds = {value: value for value in truth}
        if name == "drug":
            kinds = dict(zip(truth, oracle.pieces(truth), strict=True))
        expected, found = oracle.measured(records, truth, 0.75, kinds), figures[name]
        assert (found.records, found.limit, found.allowed) == (len(records), 0.75, 0.5)
        gained = oracle.advantage(found.accuracy, found.records, 0.5)
        assert found.advantage == pytest.approx(gained, abs=1e-6)
        assert found.confidence == pytest.approx(expected.confidence, abs=1e-6)
        assert found.above == pytest.approx(expected.above, abs=2 / len(records))
        least, most = expected.accuracy
        assert least - 1e-9 <= found.accuracy <= most + 1e-9
        assert expected.share[0] - 0.01 <= found.share <= expected.share[1] + 0.01


def measured(conn: Any, rows: Sequence[tuple[Any, ...]], allowed: float) -> Row:
    """What the product makes of guesses (learner, posterior, right)."""
    conn.execute(
        "CREATE TEMP TABLE IF NOT EXISTS guesses"
        " (learner smallint, posterior float8, correct boolean)"
    )
    conn.execute("TRUNCATE guesses")
    with conn.cursor().copy("COPY guesses FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    tree = attacks.measured(QualifiedName("pg_temp", "guesses"), attacks.Bounds(0.75, allowed))
    return dict(conn.cursor(row_factory=dict_row).execute(statement(tree)).fetchone())


@pytest.mark.parametrize(
    ("right", "of", "allowed"),
    [(80, 100, 0.5), (500, 1_000, 0.5), (300, 300, 1 / 3), (33, 33, 0.5), (32, 32, 0.5), (1, 1, 1)],
)
def test_accuracy_beyond_what_is_allowed(db: Database, right: int, of: int, allowed: float) -> None:
    rows = [(1, 0.6, place < right) for place in range(of)]
    found = measured(db.admin, rows, allowed)
    assert (found["records"], found["accuracy"], found["share"]) == (of, right / of, 0)
    expected = oracle.advantage(right / of, of, allowed) if allowed < 1 else 0
    assert found["advantage"] == pytest.approx(expected, abs=1e-9)
    assert (expected > 0) == ((right, of) in [(80, 100), (300, 300), (33, 33)])


def test_the_worse_learner_is_reported(db: Database) -> None:
    poor = [(1, 0.6, place % 2 == 0) for place in range(200)]
    often = [(2, 0.6, place % 10 > 0) for place in range(200)]
    surely = [(3, 0.9, True)] * 190 + [(3, 0.6, False)] * 10
    by_accuracy = measured(db.admin, [*poor, *often], 0.5)
    assert (by_accuracy["records"], by_accuracy["accuracy"], by_accuracy["share"]) == (200, 0.9, 0)
    assert measured(db.admin, poor, 0.5)["accuracy"] == 0.5
    by_share = measured(db.admin, [*poor, *often, *surely], 0.5)
    assert (by_share["records"], by_share["share"]) == (200, 0.95)
    few = [(4, 0.9, True)] * 60 + [(4, 0.6, place % 3 == 0) for place in range(140)]
    assert measured(db.admin, [*often, *few], 0.5)["accuracy"] == 0.9
    half = [(4, 0.9, True)] * 110 + [(4, 0.6, False)] * 90
    fairly = [(2, 0.6, place % 4 > 0) for place in range(200)]
    assert measured(db.admin, [*fairly, *half], 0.5)["share"] == 0.55
    wrong = [(5, 0.9, False)] * 200
    assert measured(db.admin, [*wrong, *surely], 0.5)["share"] == 0.95
    nobody = measured(db.admin, [], 0.5)
    assert nobody.pop("records") == 0
    assert set(nobody.values()) == {None}


@pytest.mark.slow
def test_independent_columns_are_no_alarm(db: Database) -> None:
    """Over many random tables: no learner is right more often than chance makes it."""
    alarms = 0
    for seed in range(100):
        rng = random.Random(seed)
        l, n = rng.choice((2, 3, 5)), rng.choice((40, 200, 600))  # noqa: E741 (the field's letter)
        sizes = [rng.choice((2, 5, 12)) for _ in range(rng.choice((1, 3, 5)))]
        values = [v for _ in range(n // l) for v in rng.sample(range(2 * l), l)]
        rows = [
            (at // l, *[rng.randrange(size) for size in sizes], value)
            for at, value in enumerate(values)
        ]
        found = measured(
            db.admin, guesses(Layout(1, (False,) * len(sizes), False), rows).rows, 1 / l
        )
        alarms += max(found["share"], found["advantage"]) > attacks.NOTICEABLE
    assert alarms == 0


@pytest.mark.parametrize(
    ("l", "asked", "expected"),
    [
        (2, None, 0.75),
        (3, None, 0.5),
        (4, None, 0.5),
        (2, {"share": 1, "limit": 0.9}, 0.9),
        (2, {"share": 1, "limit": 0.4}, 0.75),
        (4, {"share": 1, "limit": 0.3}, 0.375),
    ],
)
def test_what_counts_as_inferred(
    db: Database,
    l: int,  # noqa: E741
    asked: dict[str, float] | None,
    expected: float,
) -> None:
    others = {} if asked is None else {"inference": asked}
    staged = stage(db, people(60), FORMS["anatomy"][0], l, **others)
    found = staged.utility.inferred["ill"]
    assert (found.limit, found.allowed) == (expected, 1 / l)


def test_a_column_without_a_model_has_the_limit_of_the_policy(db: Database) -> None:
    rows = people(60)
    method = {"name": "slamsa", "sensitive_tables": 1, "block_size": 60, "optimizer": "base"}
    names = list(COLUMNS)
    make_table(db.connect("source_owner"), COLUMNS, [[row[name] for name in names] for row in rows])
    roles = {**dict.fromkeys(QUASI, "q"), **dict.fromkeys(SENSITIVE, "s")}
    models = [{"model": "slicing_l_diversity", "column": "ill", "l": 2}]
    staged = run(db.owner(), policy(roles, models, method=method))
    held = {name: (found.limit, found.allowed) for name, found in staged.utility.inferred.items()}
    assert held == {"ill": (0.75, 0.5), "drug": (0.5, 0.5)}


def test_whole_buckets_within_the_limits(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = people(300)
    monkeypatch.setattr(attacks, "RECORDS", 40)
    monkeypatch.setattr(attacks, "CANDIDATES", 160)
    staged = stage(db, rows, FORMS["anatomy"][0])
    found = staged.utility.inferred["ill"]
    sizes: dict[int, int] = {}
    for member in staged.table("members"):
        sizes[member["group_id"]] = sizes.get(member["group_id"], 0) + 1
    attacked_groups, candidates = 0, 0
    for number in sorted(sizes):
        candidates += sizes[number] * max(sizes[number], 4)
        attacked_groups += candidates <= 160
    assert found.records == sum(sizes[n] for n in sorted(sizes)[:attacked_groups])
    assert 20 <= found.records <= 40


def test_a_bucket_that_is_too_large_is_left_out(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are attacked; if there are none, nothing is known, and that is no pass."""
    rows = people(300)
    method = {"name": "slicing", "columns": [["age", "zip"], ["ill"]]}
    buckets = stage(db, rows, method)
    counts: dict[int, list[int]] = {}
    for row in buckets.table("st"):
        counts.setdefault(row["group_id"], []).append(row["count"])
    weights = {number: sum(held) * max(len(held), 5) for number, held in counts.items()}
    largest = max(weights.values())
    sizes = {number: sum(held) for number, held in counts.items()}
    assert len(weights) > 2
    monkeypatch.setattr(attacks, "RECORDS", (largest - 1) // 5)
    monkeypatch.setattr(attacks, "CANDIDATES", largest - 1)
    others = [number for number, weight in weights.items() if weight < largest]
    found = stage(db, rows, method).utility.inferred["ill"]
    assert 0 < found.records <= sum(sizes[number] for number in others)
    monkeypatch.setattr(attacks, "RECORDS", 2)
    monkeypatch.setattr(attacks, "CANDIDATES", 10)
    unknown = stage(db, rows, method).utility
    assert (unknown.inferred["ill"].records, unknown.inferred["ill"].share) == (0, None)
    assert "not measured" in unknown.summary()["inference of ill"]
    with refused("inference") as caught:
        stage(db, rows, method, inference={"share": 1})
    assert "cannot be measured" in str(caught[0])


def test_association(db: Database) -> None:
    """The strongest pairs of any column with a sensitive one, as the definitions have them."""
    rows = people(300)
    related = stage(db, rows, FORMS["aligned"][0]).utility.related
    names = [*QUASI, *INSENSITIVE, *SENSITIVE]
    columns = [[row[name] for row in rows] for name in names]
    numeric = [COLUMNS[name] != "text" for name in names]
    pairs = association_oracle.association(columns, numeric, "contingency")
    expected = {
        (names[i], names[j]): value
        for (i, j), value in pairs.items()
        if names[i] not in SENSITIVE and names[j] in SENSITIVE and value > 0
    }
    strongest = sorted(expected, key=lambda pair: -expected[pair])[: inference.STRONGEST]
    assert [(r.column, r.sensitive) for r in related] == strongest
    for r in related:
        assert r.association == pytest.approx(expected[r.column, r.sensitive], abs=1e-7)


def test_association_of_the_first_records(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the limit says, and the same ones again."""
    whole = stage(db, people(300), FORMS["anatomy"][0]).utility.related
    monkeypatch.setattr(inference, "RELATED", 50)
    some = [stage(db, people(300), FORMS["anatomy"][0]).utility.related for _ in range(2)]
    assert some[0] == some[1]
    assert some[0] != whole
