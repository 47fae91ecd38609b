"""`pganon assess` and `pganon.assess`: as an analyst, as a gate, and without pganon."""

from __future__ import annotations

import csv
import io
import math

import pytest

import pganon as package
from pganon.errors import InstallError, PreconditionError, UsageError
from pganon.risk.sample import Sample
from pganon.risk.uniques import estimates
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.oracles.expected_risk import individual_risk

TABLE = """
    CREATE TABLE public.visit ("Age" int, city text, disease text, person int);
    INSERT INTO public.visit VALUES
        (30, 'a', 'flu', 1), (30, 'a', 'cold', 2), (30, 'a', 'flu', 3),
        (40, 'b', 'flu', 4), (40, 'b', 'cold', 4), (40, 'b', 'cold', 5), (40, NULL, 'flu', 6);
    GRANT SELECT ON public.visit TO analyst;
"""
CALL = ("assess", "visit", "--qi", "Age,city", "--sensitive", "disease")


@pytest.fixture
def visits(db: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    db.source(TABLE)
    monkeypatch.setenv("PGANON_DSN", db.dsn("analyst"))
    monkeypatch.setenv("COLUMNS", "120")
    return db


def test_a_readable_table(visits: Database) -> None:
    ran = pganon(*CALL, "--individual", "person")
    assert ran.code == 0, ran.err
    for word in (
        "k_anonymity",
        "eir_beta",
        "eir_l_diversity",
        "frequency_l_diversity",
        "prosecutor_mean",
        '"Age", city',
        "separation",
    ):
        assert word in ran.out


def test_a_gate_takes_all_quasi_identifiers_that_were_given(visits: Database) -> None:
    city = ("assess", "visit", "--qi", "city", "--require", "k=3")
    assert pganon(*city[:-1], "k=1").code == 0
    assert pganon(*city).code == 1, "one record has none"
    visits.source("UPDATE public.visit SET city = 'b' WHERE city IS NULL")
    assert pganon(*city).code == 0
    visits.source('UPDATE public.visit SET "Age" = 41 WHERE person = 6')
    for both in (("--qi", "Age,city"), ("--qi", "Age", "--qi", "city")):
        assert pganon("assess", "visit", *both, "--require", "k=3").code == 1
    assert pganon(*city, "--require", "k=1").code == 2
    with pytest.raises(UsageError, match="twice"):
        package.assess("visit", ["city"], require={"k": 3, "k_anonymity": 1})


def test_requirements_make_it_a_gate(visits: Database) -> None:
    assert pganon(*CALL, "--require", "k=1", "--require", "l=1").code == 0
    ran = pganon(*CALL, "--require", "k=3", "--json")
    assert ran.code == 1
    k = next(m for m in ran.json["measures"] if m["measure"] == "k_anonymity")
    assert (k["value"], k["holds"], k["violating_classes"], k["violating_records"]) == (
        1,
        False,
        1,
        1,
    )
    assert not ran.json["holds"]
    assert "required 3" in pganon(*CALL, "--require", "k=3").err


def test_json_has_a_text_for_what_no_parameter_bounds(visits: Database) -> None:
    ran = pganon(*CALL, "--json")
    found = {m["measure"]: m["value"] for m in ran.json["measures"]}
    assert found["delta_disclosure"] == "Infinity"
    assert ran.json["class_sizes"] == [{"size": 1, "classes": 1}, {"size": 3, "classes": 2}]
    assert ran.json["quasi_identifiers"][0]["columns"] == ["city"]


def test_csv(visits: Database) -> None:
    rows = list(csv.DictReader(io.StringIO(pganon(*CALL, "--csv").out)))
    assert rows[0]["measure"] == "k_anonymity"
    assert float(next(r for r in rows if r["measure"] == "delta_disclosure")["value"]) == math.inf


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--require", "k"), "not a requirement"),
        (("--require", "k=x"), "not a requirement"),
        (("--require", "k=inf"), "not a requirement"),
        (("--require", "q=1"), "nothing can be required"),
        (("--require", "eir_l=2"), "needs individuals"),
        (("--json", "--csv"), "exclude each other"),
        (("--population", "nowhere"), "no table or view"),
        (("--individual", "nobody"), "no column"),
    ],
)
def test_wrong_calls(visits: Database, arguments: tuple[str, ...], word: str) -> None:
    ran = pganon(*CALL, *arguments)
    assert ran.code == 2
    assert word in ran.err + ran.out


def test_reasoning_sets_are_searched_exactly(visits: Database) -> None:
    with visits.connect("analyst") as conn:
        found = package.assess(
            "visit",
            ["Age"],
            ["disease"],
            individual="person",
            require={"eir_l": 2, "k": 2},
            conn=conn,
        )
    eir = found.measures[-1]
    # Person 4 has both, 5 a cold, 6 flu; everybody of the other class has one of two.
    assert (eir.measure, eir.value, eir.holds) == ("eir_l_diversity", 2, True)
    assert found.missed == ()
    assert list(found.to_frame().columns)[:3] == ["measure", "column", "value"]


def test_reasoning_sets_that_share_a_value(visits: Database) -> None:
    visits.source("DELETE FROM public.visit WHERE person IN (2, 6)", grant=False)
    with visits.connect("analyst") as conn:
        found = package.assess(
            "visit", ["Age"], ["disease"], individual="person", require={"eir_l": 2}, conn=conn
        )
    eir = found.measures[-1]
    assert (eir.value, eir.holds, eir.violating_classes) == (1, False, 2)
    assert (eir.violating_records, eir.violating_individuals) == (5, 4)


def test_population(visits: Database) -> None:
    visits.source(
        "CREATE TABLE public.town AS SELECT * FROM visit CROSS JOIN generate_series(1, 4);"
        "GRANT SELECT ON public.town TO analyst"
    )
    ran = pganon(*CALL, "--population", "public.town", "--json")
    risk = {item["measure"]: item["value"] for item in ran.json["risk"]}
    assert risk["journalist_highest"] == 0.25
    assert risk["prosecutor_highest"] == 1


def test_without_pganon(bare_db: Database) -> None:
    bare_db.source("CREATE TABLE public.t (a int); INSERT INTO t VALUES (1)")
    with pytest.raises(InstallError) as caught:
        package.assess("t", ["a"], dsn=bare_db.dsn())
    assert "pganon init" in (caught.value.hint or "")
    assert caught.value.exit_code == 3


def test_names_of_relations(visits: Database) -> None:
    with visits.connect("analyst") as conn:
        with pytest.raises(PreconditionError, match="no table or view"):
            package.assess("Nope", ["a"], conn=conn)
        with pytest.raises(UsageError):
            package.assess("a.b.c", ["a"], conn=conn)
        conn.execute("CREATE TEMP TABLE empty AS SELECT 1 AS a WHERE false")
        with pytest.raises(PreconditionError, match="no records"):
            package.assess("pg_temp.empty", ["a"], conn=conn)


def test_types_that_are_not_the_server_s_own(visits: Database) -> None:
    """Whoever does not own pganon measures them, too, by functions made for the session."""
    visits.source(
        "CREATE TYPE public.grade AS ENUM ('low', 'high');"
        "CREATE TABLE public.graded AS SELECT n / 4 AS q, (ARRAY['low', 'high'])[1 + n % 2]"
        "::public.grade AS s FROM generate_series(0, 7) AS n;"
        "GRANT SELECT ON public.graded TO analyst"
    )
    found = package.assess(
        "public.graded", ["q"], ["s"], dsn=visits.dsn("analyst"), trust=["source_owner"]
    )
    measured = {item.measure: item.value for item in found.measures}
    assert measured["distinct_l_diversity"] == 2


def test_population_uniques(visits: Database) -> None:
    visits.source(
        "CREATE TABLE public.sampled AS SELECT n AS person, CASE WHEN n < 40 THEN n WHEN n < 64"
        " THEN 100 + n / 2 ELSE 1000 + (n - 64) / 3 END AS place FROM generate_series(0, 78) AS n;"
        "GRANT SELECT ON public.sampled TO analyst"
    )
    call = ("assess", "sampled", "--qi", "place", "--individual", "person")
    ran = pganon(*call, "--population-size", "7900", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["population_size"] == 7900
    found = {item["estimator"]: item for item in ran.json["population_uniques"]}
    expected = estimates(Sample.of({1: 40, 2: 12, 3: 5}, 7900))
    assert list(found) == ["zayatz", "pitman", "snb", "dankar"]
    for name, item in found.items():
        assert item["uniques"] == expected[name].uniques
        assert (item["by"], item["reason"]) == (expected[name].by, expected[name].reason)
    assert found["pitman"]["share"] == found["pitman"]["uniques"] / 7900
    assert "dankar (pitman)" in pganon(*call, "--population-size", "7900").out
    assert pganon(*call, "--json").json["population_uniques"] == []


def test_population_uniques_that_cannot_be_estimated(visits: Database) -> None:
    call = (*CALL, "--individual", "person", "--population-size")
    ran = pganon(*call, "70")
    assert (ran.code, "individuals have several records" in ran.err) == (2, True)
    visits.source(
        "UPDATE public.visit SET person = 10 + \"Age\" WHERE disease = 'cold'", grant=False
    )
    visits.source("DELETE FROM public.visit WHERE person = 50", grant=False)
    assert "the population size 5 must be above 5" in pganon(*call, "5").err
    ran = pganon(*call, "6", "--json")
    found = {item["estimator"]: item for item in ran.json["population_uniques"]}
    assert (found["snb"]["uniques"], found["snb"]["reason"]) == (None, "no_pairs")
    assert found["snb"]["share"] is None
    assert "no_pairs" in pganon(*call, "6").out


def test_sample_weights_and_households(visits: Database) -> None:
    visits.source(
        "CREATE TABLE public.survey AS SELECT * FROM (VALUES ('a', 4, 1), ('a', 6, 1), ('b', 1, 2))"
        " AS v(place, weight, household); GRANT SELECT ON public.survey TO analyst"
    )
    call = ("assess", "survey", "--qi", "place", "--weight", "weight")
    ran = pganon(*call, "--household", "household", "--max-global", "0.2", "--json")
    assert ran.code == 0, ran.err
    risk = {item["measure"]: item["value"] for item in ran.json["risk"]}
    first = individual_risk(2, 0.2)
    shared = 1 - (1 - first) ** 2
    assert risk["weighted_mean"] == pytest.approx((2 * first + 1) / 3)
    assert risk["expected"] == pytest.approx(2 * shared + 1)
    assert risk["global_threshold"] == pytest.approx(shared)
    assert risk["above_global_threshold"] == 1
    assert "weighted_highest" in pganon(*call).out
    ran = pganon(*call, "--population", "survey")
    assert (ran.code, "give one of them" in ran.err) == (2, True)


def test_records_that_few_columns_single_out(visits: Database) -> None:
    visits.source(
        "CREATE TABLE public.few (a int, b int, c int);"
        "INSERT INTO public.few VALUES (1, 1, 1), (1, 1, 1), (1, 2, 2), (3, 2, 1);"
        "GRANT SELECT ON public.few TO analyst"
    )
    call = ("assess", "few", "--qi", "a,b,c", "--suda", "2")
    ran = pganon(*call, "--population-size", "40", "--json")
    assert ran.code == 0, ran.err
    found = {(item["measure"], item["column"] or item["size"]): item for item in ran.json["suda"]}
    # (1, 2, 2) is alone by c, and by a and b; (3, 2, 1) by a, and by b and c.
    assert {key: found["minimal_sets", key]["value"] for key in (1, 2)} == {1: 2, 2: 2}
    assert found["score_total", None]["value"] == 6
    assert found["contribution", "a"]["value"] == 0.5
    assert found["dis", None]["value"] == pytest.approx(2 * 0.1 / (2 * 0.1 + 2 * 0.9))
    assert "SUDA2" in pganon(*call, "--population-size", "40").out
    assert "must be above 4" in pganon(*call, "--population-size", "4").err
    ran = pganon(*call)
    assert (ran.code, "give --population-size" in ran.err) == (2, True)
    assert pganon("assess", "few", "--qi", "a", "--json").json["suda"] == []


def test_weights_say_what_suda_takes_for_the_population(visits: Database) -> None:
    """The sum of the weights; a size that is given wins, and alone has uniques estimated."""
    visits.source(
        "CREATE TABLE public.few (a int, b int, c int, w numeric);"
        "INSERT INTO public.few VALUES (1, 1, 1, 9.5), (1, 1, 1, 11), (1, 2, 2, 15.5),"
        " (3, 2, 1, 4);"
        "GRANT SELECT ON public.few TO analyst"
    )
    call = ("assess", "few", "--qi", "a,b,c", "--suda", "2")

    def figures(*given: str) -> dict[str, float]:
        ran = pganon(*call, *given, "--json")
        assert ran.code == 0, ran.err
        return {item["measure"]: item["value"] for item in ran.json["suda"]}

    weighed = ("--weight", "w")
    assert figures(*weighed) == figures("--population-size", "40")
    assert figures(*weighed, "--population-size", "80") == figures("--population-size", "80")
    assert "population 40 by weights" in pganon(*call, *weighed).out
    assert "by weights" not in pganon(*call, "--population-size", "40").out
    assert pganon(*call, *weighed, "--json").json["population_uniques"] == []
    visits.source("UPDATE public.few SET w = 0.5")
    assert "must be above 4" in pganon(*call, *weighed).err
    visits.source("UPDATE public.few SET w = NULL WHERE a = 3")
    assert "no weight in 1 records" in pganon(*call, *weighed).err


def test_minimal_quasi_identifiers(visits: Database) -> None:
    visits.source("ALTER TABLE public.visit ADD note json")
    ran = pganon("quasi", "visit", "--separation", "1", "--json")
    assert ran.code == 0, ran.err
    sets = [item["columns"] for item in ran.json["sets"]]
    assert sorted(map(sorted, sets)) == [["disease", "person"]]
    few = pganon("quasi", "visit", "--separation", "0.5", "--columns", "Age,city", "--json")
    # 12 of 21 pairs differ in age; of city, which NULL is a value of, 15 do.
    assert [(item["columns"], item["separation"]) for item in few.json["sets"]] == [
        (["city"], pytest.approx(15 / 21)),
        (["Age"], pytest.approx(12 / 21)),
    ]
    assert '"Age"' in pganon("quasi", "visit", "--separation", "0.5").out
    assert pganon("quasi", "visit", "--largest", "1", "--json").json["sets"] == []
    ran = pganon("quasi", "visit", "--separation", "2")
    assert (ran.code, "must be above 0 and at most 1" in ran.err) == (2, True)
    assert "no column nothing" in pganon("quasi", "visit", "--columns", "nothing").err
