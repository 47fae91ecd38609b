"""Queries on a release of every method: what is true of its records is within the bounds."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any, Literal, get_args, get_origin

import pytest

from pganon.errors import PolicyError, PreconditionError, PrivacyRefusal
from pganon.estimation.ask import Estimates, ask
from pganon.estimation.refusals import EstimateRefused
from pganon.identifiers import QualifiedName
from pganon.install import access
from pganon.methods.registry import methods
from pganon.run.record import RunResult
from tests.integration.methods.test_conformance import After
from tests.integration.methods.test_conformance import released as small_policy
from tests.support.harness import driver, faults, plans
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection
from tests.support.sources import conformance

pytestmark = pytest.mark.primary_server_only

QUERIES = 5

NOT_YET = {"kinc_mic", "kagg_mic"}
"""Methods whose forms are not estimated from: means and modes."""

AS_OTHERS = {
    "one_dimensional": "mondrian",
    "qs_efficient": "qs_greedy",
    **dict.fromkeys(("kinc", "kagg", "js_reduce"), "beta_primacy"),
    "lgb_ncp": "lgb_mdp",
    "kagg_mic": "kinc_mic",
}
"""Methods whose views have the columns and forms of those of another."""

CONDITIONS = {
    "age": (
        "age <= {}",
        "age BETWEEN 21 AND {}",
        "age IN (20, {})",
        "age % 2 = {} - 20",
        "age > {}",
    ),
    "zip": ("zip = 'Z{}'", "zip IN ('Z1', 'Z{}')", "zip IS NULL", "zip <> 'Z{}'"),
    "disease": ("disease = 'd{}'", "disease IN ('d0', 'd{}')", "NOT disease = 'd{}'"),
    "drug": ("drug = 'm{}'", "drug IN ('m1', 'm{}')", "drug <> 'm{}'"),
    "cost": ("cost < {}0", "cost > 30", "cost % {} = 1"),
}


def condition(draw: random.Random, name: str) -> str:
    number = draw.choice(range(20, 27)) if name == "age" else draw.choice(range(1, 6))
    return draw.choice(CONDITIONS[name]).format(number)


def query(
    draw: random.Random, columns: list[str], measured: list[str], keys: tuple[str, ...]
) -> tuple[str, str, str]:
    """List, WHERE, and GROUP BY."""
    items = ["count(*) AS n"]
    items += [f"{m}({c}) AS {m}_{c}" for c in measured for m in ("sum", "avg", "count")]
    names = draw.sample(columns, draw.choice([1, 2, min(3, len(columns))]))
    joined = "AND" if draw.random() < 0.7 else "OR"
    if joined == "OR" and len(names) > 1:
        items = items[:1]
    where = f" {joined} ".join(f"({condition(draw, name)})" for name in names)
    return ", ".join(items), where, draw.choice(["", "", *keys])


def true(conn: Connection, text: str) -> list[dict[str, Any]]:
    cursor = conn.execute(text.encode())
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def within(found: dict[str, Any], wanted: dict[str, Any], suppressed: int) -> None:
    """The bounds are those of released records: only counts allow for suppressed ones."""
    for name, value in wanted.items():
        if name == "key" or (suppressed and name != "n"):
            continue
        if value is None:
            # No record matches: a sum is 0 then, and a mean has no value.
            assert not name.startswith("sum") or found[f"{name}_lower"] <= 0
            continue
        lower, upper = found[f"{name}_lower"], found[f"{name}_upper"]
        assert float(lower) - 1e-6 <= float(value) <= float(upper) + suppressed + 1e-6, name
        assert float(lower) - 1e-6 <= float(found[name]) <= float(upper) + 1e-6, name
        likely = [found[f"{name}_{end}"] for end in ("low", "high")]
        assert float(lower) - 1e-6 <= likely[0] <= likely[1] <= float(upper) + 1e-6, name


APART = {
    *("slamsa", "slamsa independent", "slamsa independent, sliced", "sloms", "lgb_mdp"),
    *("lgb_ncp", "local_generalization", "local_bucketization"),
}
"""Methods with buckets of their own for several columns."""

INDEPENDENT = {"slamsa independent": 1, "slamsa independent, sliced": 2}
"""SLAMSA with buckets for every sensitive table, and so many QITs."""


def released(db: Database, method: str) -> RunResult:
    if method not in INDEPENDENT:
        return small_policy(db, method)
    db.source(plans.SOURCE)
    declared = conformance.document("slamsa")
    tables = {"sensitive_tables": [["disease"], ["drug"]], "link_threshold": 1}
    tables |= {"quasi_tables": INDEPENDENT[method]}
    declared["method"] = {"name": "slamsa", "profile": "independent", **tables}
    return faults.run(db.dsn(), conformance.loaded(declared), stable=True)


def sourced(db: Database) -> None:
    db.source(plans.SOURCE)


def can_be_read(db: Database) -> None:
    db.admin.execute("GRANT USAGE ON SCHEMA published TO analyst")
    db.admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA published TO analyst")


@pytest.mark.parametrize(
    "method",
    [*INDEPENDENT, *[m for m in conformance.METHODS if m not in NOT_YET and m not in AS_OTHERS]],
)
@pytest.mark.slow
def test_the_truth_is_within_the_bounds(db_after: After, method: str):
    db, result = db_after(released, method)
    can_be_read(db)
    asked(db, method, "visits", result.suppressed, QUERIES)


SEARCH = (
    *("association", "clustering", "optimizer", "priority", "choose", "objective", "select"),
    *("split", "assign", "ncp_assign", "ncp_small", "inc_pick"),
)
"""Options that decide which groups there are, and nothing of what is published of them."""
TABLES = {
    "quasi_tables": [1, 2, "auto"],
    "sensitive_tables": [1, 2, "auto"],
    "columns": [2, "auto"],
}


def combinations(method: str) -> list[dict[str, Any]]:
    """Every combination of the options that decide what is published; of others each choice."""
    own = conformance.document(method)["method"]
    found = {name: TABLES.get(name) or choices(field.annotation) for name, field in fields(method)}
    found = {name: values for name, values in found.items() if len(values) > 1}
    shown = {name: values for name, values in found.items() if name not in SEARCH}
    others = {name: values for name, values in found.items() if name in SEARCH}
    every = list(itertools.product(*shown.values()))
    most = max(len(every), *map(len, others.values()), 1)
    return [
        {
            **own,
            **dict(zip(shown, every[place % len(every)], strict=True)),
            **{name: values[place % len(values)] for name, values in others.items()},
        }
        for place in range(most)
    ]


def fields(method: str) -> list[tuple[str, Any]]:
    declared = methods()[method].options.model_fields
    return [(name, field) for name, field in declared.items() if name != "name"]


def choices(annotation: Any) -> list[Any]:
    """The words of an option."""
    if get_origin(annotation) is Literal:
        return [*get_args(annotation)]
    return [word for inner in get_args(annotation) if inner is not None for word in choices(inner)]


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in conformance.METHODS if name not in NOT_YET])
def test_every_combination_of_options_can_be_asked(db_after: After, method: str):
    db, _ = db_after(sourced)
    declared, done = conformance.document(method), 0
    for place, options in enumerate(combinations(method)):
        try:
            result = driver.publish(db, {**declared, "release": f"r{place}", "method": options})
        except (PolicyError, PreconditionError, PrivacyRefusal):
            continue  # what no policy may have, and what these few records do not allow
        can_be_read(db)
        asked(db, method, f"r{place}", result.suppressed, 3)
        done += 1
    assert done


def asked(db: Database, method: str, release: str, suppressed: int, queries: int) -> None:
    """Random queries about all columns."""
    labels = method == "geneir"
    individuals = method in ("danonyir", "geneir")
    shown = ["age", "disease", "cost", *([] if labels else ["zip"])]
    lacking = method.startswith("qs_") or method == "lgb_ncp"
    columns = [name for name in shown if name != "disease" or not lacking]
    both = method in INDEPENDENT or method in ("sloms", "lgb_ncp", "slamsa", "msb")
    columns += ["drug"] if both else []
    keys = tuple(name for name in ("disease", "age / 2") if name in (*columns, "age / 2"))
    measured = [] if individuals else ["cost", "age"]
    draw = random.Random(f"{method} {release}")
    with db.connect("analyst") as analyst:
        for _ in range(queries):
            items, where, key = query(draw, columns, measured, keys)
            if individuals and " OR " not in where:
                items += ", count(DISTINCT {who}) AS people"
            if " OR " in where:
                key = ""
            try:
                check(db, analyst, release, items, where, key, suppressed)
            except EstimateRefused as refused:
                # Alternatives on columns that records have in buckets of their own.
                expected = method in APART and " OR " in where
                if not expected or "buckets of their own" not in refused.message:
                    raise


def guarded(conn: Connection, release: str, text: str, spread: Any) -> Estimates:
    """The answer, for which nothing but views was read that were held and checked before."""
    checked: set[tuple[str, str]] = set()

    def check_view(conn: Connection, view: QualifiedName, **others: Any) -> Any:
        if not others:  # else it is what a view reads
            checked.add((view.schema, view.name))
        return real(conn, view, **others)

    real = access.check_view
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "check_view", check_view)
        found = ask(conn, release, text, spread)
    # Every name is quoted there, and to parse a text of a hundred pages takes a second.
    read = set(re.findall(r'(?:(?<!DISTINCT )FROM|JOIN|LATERAL) "([^"]+)"\."([^"]+)"', found.sql))
    assert read
    assert read <= checked
    return found


def check(
    db: Database,
    analyst: Connection,
    release: str,
    items: str,
    where: str,
    key: str,
    suppressed: int,
) -> None:
    grouped = f", {key} AS key" if key else ""
    tail = f" GROUP BY {key}" if key else ""
    text = f"SELECT {items}{grouped} FROM {{}} WHERE {where}{tail}"
    spread: Any = "uniform" if len(where) % 2 else "column"
    found = guarded(analyst, release, text.format(release, who="individual_no"), spread).as_dicts()
    wanted = true(db.admin, text.format("public.visit", who="person"))
    by_key = {row.get("key"): row for row in found}
    assert suppressed or {row.get("key") for row in wanted} <= set(by_key)
    for row in wanted:
        if row.get("key") in by_key:  # else all that have it were left out
            within(by_key[row.get("key")], row, suppressed)
    for row in found:
        if row.get("key") not in {other.get("key") for other in wanted}:
            assert row["n_lower"] == 0


def test_every_value_that_a_cluster_lists_is_had(db_after: After):
    db, _ = db_after(released, "qs_greedy")
    text = "SELECT age, count(*) AS n FROM visits GROUP BY age"
    with db.connect("steward") as steward:
        found = {row["age"]: row["n_lower"] for row in ask(steward, "visits", text).as_dicts()}
        wanted = steward.execute(
            "SELECT u.age, count(*) FROM published.visits AS v"
            " CROSS JOIN unnest(v.age) AS u(age) GROUP BY 1"
        )
        clusters = dict(wanted.fetchall())
    assert found.keys() == clusters.keys()
    assert all(found[age] >= n > 0 for age, n in clusters.items())


@pytest.mark.parametrize("method", sorted(NOT_YET - AS_OTHERS.keys()))
def test_forms_that_are_refused(db_after: After, method: str):
    db, _ = db_after(released, method)
    with db.connect("steward") as steward, pytest.raises(EstimateRefused, match="yet"):
        ask(steward, "visits", "SELECT count(*) FROM visits WHERE age > 1 AND cost > 1")
