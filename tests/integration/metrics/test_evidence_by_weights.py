"""The journalist's risk by sample weights, against the weights of every class added up by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any, LiteralString

import pytest
from psycopg import sql

from pganon.report.document import document
from pganon.report.page import page
from tests.support.harness.cluster import Database
from tests.support.harness.driver import run
from tests.support.oracles.evidence import check_chances
from tests.support.sources import reports
from tests.unit.report.test_page import check_figures, shown

POLICY: dict[str, Any] = {
    "release": "survey",
    "source": "public.survey",
    "columns": {
        "person": {"role": "individual"},
        "age": {"role": "quasi_identifying"},
        "sex": {"role": "quasi_identifying"},
        "number": {"role": "insensitive"},
        "income": {"role": "sensitive"},
        "wt": {"role": "weight"},
    },
    "privacy": [{"model": "k_anonymity", "k": 4}],
    "method": {"name": "mondrian"},
    "report": {"limits": [0.05, 0.2], "smallest": 3},
}
MAKE = (
    "CREATE TABLE public.survey AS SELECT n AS person, n AS number, 20 + n * 7 % 40 AS age,"
    " CASE WHEN n % 9 = 0 THEN NULL WHEN n % 2 = 0 THEN 'f' ELSE 'm' END AS sex, n % 5 AS income,"
    " {weight} AS wt FROM generate_series(1, {rows}) n"
)
METHODS = ["mondrian", "one_dimensional", "full_domain"]


def survey(db: Database, weight: LiteralString, rows: int = 300) -> dict[int, Decimal]:
    """A table of so many people; their weights by number."""
    owner = db.connect("source_owner")
    owner.execute(sql.SQL(MAKE).format(weight=sql.SQL(weight), rows=sql.Literal(rows)))
    owner.execute("GRANT SELECT ON public.survey TO steward")
    found = owner.execute("SELECT number, wt::numeric FROM public.survey").fetchall()
    return dict(found)


def evidence_of(db: Database, **changes: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    found = run(db.owner(), {**POLICY, **changes}, described=True)
    evidence = found.plan.evidence(found.state)
    assert evidence is not None
    return evidence, found.table("records")


@pytest.mark.all_versions
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "weight",
    ["(1 + n % 17 * 1.37)::numeric", "(n % 4 + 0.25)::real", "(0.001 * n)::float8"],
    ids=["of people", "small", "mostly below one"],
)
def test_the_people_whom_a_class_stands_for(db: Database, method: str, weight: LiteralString):
    """1 / F of a class is 1 / (the sum of its weights); never above that of the prosecutor."""
    weights = survey(db, weight)
    levels = {"hierarchy": {"intervals": [5, 10]}} if method == "full_domain" else {}
    columns = {**POLICY["columns"], "age": {"role": "quasi_identifying", **levels}}
    evidence, records = evidence_of(db, method={"name": method}, columns=columns)
    total: dict[int, Decimal] = defaultdict(Decimal)
    for record in records:
        total[record["class_id"]] += weights[record["number"]]
    sizes = Counter(record["class_id"] for record in records)
    covered = {number: max(n, int(total[number])) for number, n in sizes.items()}
    assert min(sizes.values()) > 1
    among = evidence["population"]
    assert among["by_weights"] is True
    assert among["smallest"] == min(covered.values())
    check_chances(among, [(n, covered[number]) for number, n in sizes.items()], 3)
    for limit in among["above"]:
        chances = {number: Fraction(1, people) for number, people in covered.items()}
        above = sum(n for number, n in sizes.items() if chances[number] > Fraction(limit))
        few = 0 < above < 3 or 0 < len(records) - above < 3
        assert among["above"][limit] == (None if few else above)
    assert among["highest"] <= 1 / evidence["class_sizes"]["release"]["smallest"]


def test_the_weight_of_one_record_is_not_told(db: Database):
    """Attack: of a person alone in a class the figure is the weight, which nobody publishes."""
    survey(db, "CASE WHEN n = 1 THEN 157.3 ELSE 400 END", rows=40)
    alone = [{"model": "sample_uniqueness", "share": 0.9}]
    evidence, records = evidence_of(db, privacy=alone)
    assert 1 in Counter(record["class_id"] for record in records).values()
    assert evidence["population"]["smallest"] == 100


@pytest.mark.parametrize(
    ("weight", "smallest"), [("1e30::numeric", 2**63 - 1), ("1e-30::numeric", 4)]
)
def test_weights_beyond_all_people(db: Database, weight: LiteralString, smallest: int):
    """No run fails because of them."""
    survey(db, weight, rows=40)
    assert evidence_of(db)[0]["population"]["smallest"] == smallest


def test_a_table_of_the_population_says_more(db: Database):
    survey(db, "100")
    owner = db.connect("source_owner")
    owner.execute("CREATE TABLE public.everybody AS SELECT age, sex FROM public.survey")
    owner.execute("GRANT SELECT ON public.everybody TO steward")
    asked = {**POLICY["report"], "population": "public.everybody"}
    evidence, records = evidence_of(db, report=asked)
    among = evidence["population"]
    assert among["by_weights"] is False
    assert among["smallest"] == min(Counter(r["class_id"] for r in records).values())


def test_nothing_is_measured_without_weights_or_of_people_with_several_records(db: Database):
    survey(db, "100")
    plain = {**POLICY["columns"], "wt": {"role": "identifying"}}
    assert evidence_of(db, columns=plain)[0]["population"] is None
    several = {**POLICY["columns"], "person": {"role": "individual"}}
    found = evidence_of(db, columns=several, records_per_individual="many_accepted")[0]
    assert found["population"] is None


def test_the_page_says_that_weights_were_added_up(db: Database):
    survey(db, "(1 + n % 17)::numeric")
    evidence, _ = evidence_of(db)
    policy = {**reports.POLICY, "report": POLICY["report"]}
    report = document(reports.collected(policy, evidence=evidence))
    assert report["risk"]["population"] == evidence["population"]
    html = page(report)
    check_figures(html, report)
    text = shown(html)
    assert "for whom the records stand, by their weights (journalist)" in text
    least = evidence["population"]["smallest"]
    said = f"By the weights of its records, every group looks like at least {least} people of the"
    assert said in text
