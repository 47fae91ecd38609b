"""Declared domains: losses and distances are shares of them, and values outside refuse the run."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pganon.forms.request import Request
from pganon.metrics.report import metrics_of
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, leftovers, publish, refused, run
from tests.support.sources.builders import make_table, policy

SECRET = 731907
"""A number outside every domain here, which nobody may be told."""


def build(db: Database, kind: str, values: Sequence[Any]) -> None:
    make_table(db.connect("source_owner"), {"q": kind}, [[value] for value in values])


def in_one_class(
    db: Database, kind: str, values: Sequence[Any], domain: Any, **keys: Any
) -> Staged:
    build(db, kind, values)
    return run(db.owner(), policy({"q": {"domain": domain, **keys}}, len(values)))


# -- what is lost -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "domain", "loss"),
    [
        ("integer", [30, 36, 39], [0, 120], 9 / 120),
        ("smallint", [-5, -2, -5], [-10, -1], 3 / 9),
        ("bigint", [2**62, 2**62 + 2**60], [0, 2**63 - 1], 2**60 / (2**63 - 1)),
        ("numeric", ["0.1", "0.4"], ["-0.5", "0.5"], 0.3),
        ("numeric", ["1e-30", "3e-30"], [0, "4e-30"], 0.5),
        ("numeric(6,2)", ["-999.99", "0"], [-999.99, 999.99], 0.5),
        ("double precision", ["0.1", "0.2"], [0, 1], 0.1),
        ("double precision", ["1e-300", "3e-300"], ["0", "1e300"], 0),
        ("real", ["0.1", "0.7"], [0.1, 0.7], 1),
        ("date", ["2020-02-28", "2020-03-01"], ["2020-02-20", "2020-03-01"], 0.2),
        ("timestamp", ["2020-01-01 06:00", "2020-01-01 18:00"], ["2020-01-01", "2020-01-02"], 0.5),
        (
            "timestamptz",
            ["2020-01-01 00:00+02", "2020-01-01 01:00+00"],
            ["2020-01-01T00:00+02:00", "2020-01-01 02:00"],
            0.75,
        ),
        ("integer", [7, 7], [0, 10], 0),
    ],
)
def test_loss_is_a_share_of_the_domain(
    db: Database, kind: str, values: list[Any], domain: list[Any], loss: float
) -> None:
    staged = in_one_class(db, kind, values, domain)
    assert staged.utility.gcp == pytest.approx(loss, abs=1e-15)
    assert staged.utility.ncp["q"] == pytest.approx(loss, abs=1e-15)


def test_domains_of_the_observed_values_change_nothing(db: Database) -> None:
    rng = random.Random(1)
    rows = [[rng.randint(18, 90), rng.randint(-9, 9) / 4] for _ in range(200)]
    ends = [[min(column), max(column)] for column in zip(*rows, strict=True)]
    make_table(db.connect("source_owner"), {"age": "integer", "x": "numeric"}, rows)
    found = [
        run(db.owner(), policy({"age": age, "x": x}, 5))
        for age, x in (("q", "q"), ({"domain": ends[0]}, {"domain": ends[1]}))
    ]
    one, other = ({frozenset(ids) for ids in staged.members.values()} for staged in found)
    assert one == other
    assert found[0].utility == found[1].utility


def test_a_wide_domain_makes_a_column_count_less(db: Database) -> None:
    rows = [[a, b] for a in range(4) for b in range(4)]
    make_table(db.connect("source_owner"), {"a": "integer", "b": "integer"}, rows)
    owner = db.owner()
    # Both columns are alike: the one whose domain is wide is not cut.
    for wide, narrow in (("a", "b"), ("b", "a")):
        declared = {wide: {"domain": [0, 300]}, narrow: {"domain": [0, 3]}}
        found = run(owner, policy(declared, 4)).table("classes")
        assert len(found) == 4
        assert {(row[wide].lower, row[wide].upper) for row in found} == {(0, 3)}


def test_null_is_in_no_domain_and_outside_none(db: Database) -> None:
    """A class that mixes it with values is shown and charged as without a domain."""
    staged = in_one_class(db, "integer", [None, 3, 4], [0, 10])
    (shown,) = staged.table("classes")
    assert (shown["q"].lower, shown["q"].upper, shown["q_null"]) == (3, 4, True)
    assert staged.utility.gcp == 1
    staged = in_one_class(db, "integer", [None, None], [0, 10])
    (shown,) = staged.table("classes")
    assert (shown["q"], shown["q_null"]) == (None, True)
    assert staged.utility.gcp == 0


def test_metrics_are_shares_of_the_domain(db: Database) -> None:
    """All mass of 0 and 10 moves to the three values evenly, over a span of 40."""
    build(db, "integer", [0] * 4 + [5] * 1 + [10] * 4)
    request = Request(everything=True)
    declared = policy({"q": {"domain": [-10, 30]}}, 9)
    staged = run(db.owner(), declared, request=request)
    found = metrics_of(staged.plan.spec, request, staged.state)
    assert found is not None
    assert found.attributes is not None
    assert found.attributes["q"].glm == pytest.approx(10 / 40)
    assert found.attributes["q"].emd == pytest.approx(2 * (4 / 9 - 3 / 9) * 5 / 40)


EXACT = [
    ("anatomy", [{"model": "anatomy_l_diversity", "column": "s", "l": 2}]),
    ("slicing", [{"model": "slicing_l_diversity", "column": "s", "l": 2}]),
    ("slamsa", [{"model": "slicing_l_diversity", "column": "s", "l": 2}]),
    ("msb", [{"model": "slicing_l_diversity", "column": "s", "l": 2, "level": "unique"}]),
]


@pytest.mark.parametrize(("name", "privacy"), EXACT, ids=[name for name, _ in EXACT])
def test_the_spread_of_groups(db: Database, name: str, privacy: list[dict[str, Any]]) -> None:
    """Two records in one group, of ages 2 and 4 in 40 years; of equal ages they are not spread."""
    columns = {"q": "integer", "s": "text"}
    for ages, spread in (((2, 4), 0.05), ((3, 3), 0)):
        rows = [[age, value] for age, value in zip(ages, "xy", strict=True)]
        make_table(db.connect("source_owner"), columns, rows)
        declared = policy({"q": {"domain": [0, 40]}, "s": "s"}, privacy, method={"name": name})
        assert run(db.owner(), declared).utility.gcp == pytest.approx(spread)


def test_one_value_beside_null_is_placed(db: Database) -> None:
    """Searches over points read places of values: one value is not where NULL is."""
    rows = [[value, secret] for value in (5, None) for secret in "abab"]
    make_table(db.connect("source_owner"), {"q": "integer", "s": "text"}, rows)
    privacy = [{"model": "slicing_l_diversity", "column": "s", "l": 2}]
    declared = policy({"q": {"domain": [0, 10]}, "s": "s"}, privacy, method={"name": "slamsa"})
    assert run(db.owner(), declared).utility.gcp == 0


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "inside", "beyond", "domain"),
    [
        ("integer", 5, SECRET, [0, 10]),
        ("integer", 5, -SECRET, [0, 10]),
        ("numeric", "10", f"10.0000000000000000000{SECRET}", [0, 10]),
        ("double precision", "0.5", f"1.{SECRET}", [0, 1]),
        ("date", "2020-01-01", f"{SECRET}-01-01", ["2020-01-01", "2020-01-02"]),
        ("timestamp", "2020-01-01", "2020-01-02 00:00:00.731907", ["2020-01-01", "2020-01-02"]),
        ("timestamptz", "2020-01-01Z", "2020-01-02 00:00:00.731907Z", ["2020-01-01", "2020-01-02"]),
    ],
)
def test_a_value_outside_is_counted_not_shown(
    db: Database, kind: str, inside: Any, beyond: Any, domain: list[Any]
) -> None:
    build(db, kind, [inside, None, beyond, inside, beyond])
    declared = policy({"q": {"domain": domain}}, 2, suppression_limit=1)
    with refused("outside_domain") as errors:
        publish(db, declared)
    error = errors[0]
    assert str(error) == "column q has a value outside its domain in 2 records"
    assert "where" in (error.hint or "")
    assert leftovers(db) == []
    rows = db.admin.execute("SELECT to_jsonb(l) FROM pganon_private.ledger AS l").fetchall()
    assert str(SECRET) not in f"{error!r} {vars(error)} {rows}"


def test_bounds_are_inside_and_what_is_left_out_does_not_count(db: Database) -> None:
    build(db, "integer", [0, 10, SECRET, 10, 0])
    declared = policy({"q": {"domain": [0, 10]}}, 4, where="q < 100")
    assert run(db.owner(), declared).utility.gcp == 1


def test_infinities_have_their_own_error(db: Database) -> None:
    build(db, "double precision", ["0.5", "Infinity", "NaN"])
    with refused("infinite_values"):
        run(db.owner(), policy({"q": {"domain": [0, 1]}}, 2))


def test_exit_codes(db: Database, tmp_path: Path) -> None:
    build(db, "integer", [1, 2, SECRET])
    file = tmp_path / "policy.json"
    for domain, part in (([0, 0.5], "not a whole number"), ([9, 0], "above the highest")):
        file.write_text(json.dumps(policy({"q": {"domain": domain}}, 2)))
        found = pganon("run", str(file), "--dsn", db.dsn())
        assert (found.code, part in found.err, "columns.q.domain" in found.err) == (2, True, True)
    file.write_text(json.dumps(policy({"q": {"domain": [0, 9]}}, 2)))
    found = pganon("run", str(file), "--dsn", db.dsn())
    assert found.code == 2
    assert "column q has a value outside its domain" in found.err
    assert str(SECRET) not in found.out + found.err
    planned = pganon("plan", str(file), "--sql", "--dsn", db.dsn())
    assert planned.code == 0
    assert str(SECRET) not in planned.out


def test_a_version_with_another_domain_is_one_by_another_policy(db: Database) -> None:
    build(db, "integer", [1, 2, 3, 4])
    first = publish(db, policy({"q": {"domain": [0, 9]}}, 2))
    second = publish(db, policy({"q": {"domain": [1, 4]}}, 2, republication="refuse"))
    assert (first.version, second.version) == (1, 2)
    # The classes are the same, so both versions together tell no more than one.
    text = "SELECT partition_hash, over_versions FROM pganon_private.version"
    hashes, over = zip(*db.admin.execute(text.encode()).fetchall(), strict=True)
    assert (len({*hashes}), over) == (2, ("holds", "holds"))


def test_dates_before_christ_are_outside(db: Database) -> None:
    build(db, "date", ["0044-03-15 BC", dt.date(1, 1, 1)])
    with refused("outside_domain"):
        run(db.owner(), policy({"q": {"domain": ["0001-01-01", "2000-01-01"]}}, 2))


# -- listed values of a category --------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "listed", "loss"),
    [
        ("text", ["a", "b", "b"], ["a", "b", "c", "d"], 1 / 3),
        ("text", ["a", "b", "c"], ["c", "b", "a"], 1),
        ("text", ["a", "a"], ["a", "b"], 0),
        ("text", ["a", "a"], ["a"], 0),
        # NULL is one more value where it occurs.
        ("text", ["a", None], ["a", "b", "c"], 1 / 3),
        ("boolean", [True, False], ["yes", "no"], 1),
        ("integer", [1, 2], ["01", "2", "3"], 1 / 2),
        ("numeric", ["1.50", "2"], ["1.5", "2.00", "9"], 1 / 2),
        ("date", ["2020-01-01", "2020-01-02"], ["2020-01-01", "2020-01-02", "2020-01-03"], 1 / 2),
    ],
)
@pytest.mark.parametrize("method", ["mondrian", "danonyir"])
def test_loss_is_a_share_of_the_listed_values(
    db: Database, kind: str, values: list[Any], listed: list[str], loss: float, method: str
) -> None:
    rows = [[n, value, "x"] for n, value in enumerate(values)]
    make_table(db.connect("source_owner"), {"person": "integer", "q": kind, "s": "text"}, rows)
    roles = {"person": "individual", "q": {"type": "categorical", "domain": {"values": listed}}}
    models: Any = len(values)
    if method == "danonyir":
        roles["s"] = "s"
        models = [{"model": "ir_k_anonymity", "k": len(values)}]
    staged = run(db.owner(), policy(roles, models, method={"name": method}))
    assert staged.utility.gcp == pytest.approx(loss)
    (shown,) = staged.table("classes")
    assert len(shown["q"]) == len(set(values) - {None})


def test_a_long_list_makes_a_column_count_less(db: Database) -> None:
    """Individuals join those who differ in the column with many possible values."""
    rows = [[n, a, b, f"d{n}"] for n, (a, b) in enumerate((a, b) for a in "xy" for b in "uv")]
    kinds = {"person": "integer", "a": "text", "b": "text", "s": "text"}
    make_table(db.connect("source_owner"), kinds, rows)
    for wide, narrow in (("a", "b"), ("b", "a")):
        lists = {wide: list("xyuvabcdefgh"), narrow: list("xyuv")}
        roles: dict[str, Any] = {n: {"domain": {"values": lists[n]}} for n in "ab"}
        declared = policy(
            {"person": "individual", **roles, "s": "s"},
            [{"model": "ir_k_anonymity", "k": 2}],
            method={"name": "danonyir"},
        )
        found = run(db.owner(), declared).table("classes")
        assert [(len(row[wide]), len(row[narrow])) for row in found] == [(2, 1)] * 2


def test_values_that_are_not_listed_are_refused_by_column_and_count(db: Database) -> None:
    hidden = "Zanzibar-7319"
    build(db, "text", ["a", "b", None, hidden, hidden])
    declared = policy({"q": {"domain": {"values": ["a", "b", "c"]}}}, 2)
    with refused("outside_domain") as errors:
        publish(db, declared)
    text = f"{errors[0]} {errors[0].hint}"
    assert "column q has a value outside its domain in 2 records" in text
    assert hidden not in text
    assert leftovers(db) == []


def test_listed_values_that_do_not_occur_show_nowhere(db: Database) -> None:
    build(db, "text", ["a", "b", "a", "b"])
    staged = run(db.owner(), policy({"q": {"domain": {"values": ["a", "b", "unseen"]}}}, 4))
    assert "unseen" not in str(staged.rows()) + str(staged.table("classes"))
