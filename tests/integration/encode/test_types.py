"""Every supported type as quasi-identifier and as sensitive column: what is published."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.harness.driver import publish, refused, run
from tests.support.sources.builders import make_table, policy

SETUP = """
CREATE TYPE public."Mood" AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN public.age AS integer CHECK (value >= 0);
CREATE DOMAIN public.code AS varchar(5);
"""
BIG = 2**53


@dataclass(frozen=True)
class Typed:
    """Values of a column, its published type, and the texts of the classes with k = 2."""

    kind: str
    values: list[str]
    published: str
    classes: set[str]
    policy: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.values[0]}"


UUIDS = [f"{c * 8}-0000-0000-0000-000000000000" for c in "0af9"]
TYPED = [
    Typed("smallint", ["-3", "-1", "7", "9"], "numrange", {"[-3,-1]", "[7,9]"}),
    Typed("integer", ["2147483647", "-2147483648", "0", "1"], "numrange",
          {"[-2147483648,0]", "[1,2147483647]"}),
    Typed("bigint", [str(BIG), str(BIG + 1), str(BIG + 2), str(BIG + 3)], "numrange",
          {f"[{BIG},{BIG + 1}]", f"[{BIG + 2},{BIG + 3}]"}),
    Typed("numeric", ["0.100000000000000000000000000001", "0.1", "7.50", "7.5000"], "numrange",
          {"[0.1,0.100000000000000000000000000001]", "[7.5,7.5]"}),
    Typed("numeric", ["-9.7", "-9.65", "9.7", "123456789012345678901234567890"], "numrange",
          {"[-9.7,-9.65]", "[9.7,123456789012345678901234567890]"}),
    Typed("real", ["0.1", "0.2", "3.4e38", "-1e-38"], "numrange",
          {"[-0." + "0" * 37 + "1,0.1]", "[0.2,34" + "0" * 37 + "]"}),
    Typed("double precision", ["0.1", "-0.0", "1e300", "0.30000000000000004"], "numrange",
          {"[0,0.1]", "[0.30000000000000004,1" + "0" * 300 + "]"}),
    Typed("date", ["5874897-12-31", "4713-01-01 BC", "4713-01-02 BC", "5874897-12-30"],
          "daterange", {'["4713-01-01 BC","4713-01-03 BC")', "[5874897-12-30,)"}),
    Typed("date", ["2020-02-28", "2020-02-29", "2021-01-01", "2021-01-02"], "daterange",
          {"[2020-02-28,2020-03-01)", "[2021-01-01,2021-01-03)"}),
    Typed("timestamp", ["2020-01-01 00:00", "2020-01-01 12:00", "294276-12-31 23:59:59.999999",
                        "294276-12-31 23:59:59"], "tsrange",
          {'["2020-01-01 00:00:00","2020-01-01 12:00:00.000001")',
           '["294276-12-31 23:59:59",)'}),
    Typed("timestamptz", ["2020-01-01 00:00+05", "2020-01-01 00:00+00", "2021-01-01 00:00+00",
                          "2021-01-01 00:00-05"], "tstzrange",
          {'["2019-12-31 19:00:00+00","2020-01-01 00:00:00.000001+00")',
           '["2021-01-01 00:00:00+00","2021-01-01 05:00:00.000001+00")'}),
    Typed("boolean", ["t", "t", "f", "f"], "boolean[]", {"{t}", "{f}"}),
    Typed("text", ["b", "a", "Z", "ä"], "text[]", {"{Z,a}", "{b,ä}"}),
    Typed("varchar(5)", ["b", "a", "c", "d"], "character varying(5)[]", {"{a,b}", "{c,d}"}),
    Typed("char(3)", ["b", "a", "c", "d"], "character(3)[]", {'{"a  ","b  "}', '{"c  ","d  "}'}),
    Typed("name", ["b", "a", "c", "d"], "name[]", {"{a,b}", "{c,d}"}),
    Typed("uuid", UUIDS, "uuid[]",
          {f"{{{UUIDS[0]},{UUIDS[3]}}}", f"{{{UUIDS[1]},{UUIDS[2]}}}"}),
    Typed('public."Mood"', ["happy", "sad", "ok", "ok"], 'text[]',
          {"{ok}", "{sad,happy}"}),
    Typed('public."Mood"', ["happy", "sad", "sad", "ok"], 'text[]',
          {"{sad}", "{ok,happy}"}, {"type": "ordinal"}),
    Typed('public."Mood"', ["happy", "sad", "ok", "ok"], 'text[]',
          {"{ok}", "{happy,sad}"}, {"type": "ordinal", "order": ["ok", "happy", "sad"]}),
    Typed("public.age", ["30", "31", "60", "61"], "numrange", {"[30,31]", "[60,61]"}),
    Typed("public.code", ["b", "a", "c", "d"], "character varying(5)[]", {"{a,b}", "{c,d}"}),
    Typed("integer", ["10", "9", "8", "7"], "integer[]", {"{7,8}", "{9,10}"},
          {"type": "categorical"}),
    Typed("integer", ["10", "9", "8", "7"], "integer[]", {"{7,8}", "{9,10}"}, {"type": "ordinal"}),
    Typed("numeric(5,2)", ["1.00", "1", "2.50", "3"], "numeric(5,2)[]", {"{1.00}", "{2.50,3.00}"},
          {"type": "categorical"}),
]  # fmt: skip


@pytest.mark.parametrize("case", TYPED, ids=lambda case: case.id)
def test_published_values_of_a_type(db: Any, case: Typed) -> None:
    db.source(SETUP)
    source, owner = db.connect("source_owner"), db.owner()
    make_table(source, {"q": case.kind, "s": case.kind}, [[v, v] for v in case.values])
    # NOT NULL: no column for NULLs.
    source.execute("ALTER TABLE public.t ALTER q SET NOT NULL")
    privacy = [
        {"model": "k_anonymity", "k": 2},
        {"model": "t_closeness", "column": "s", "t": 1.0},
    ]
    declared = policy({"q": {**case.policy}, "s": "s"}, privacy, trust=["source_owner"])
    staged = run(owner, declared)
    rows = staged.rows("q::text AS q, s::text AS s, pg_typeof(q)::text AS type")
    assert {row["q"] for row in rows} == case.classes
    assert {row["type"].removesuffix("[]") for row in rows} <= {
        case.published.split("(")[0].removesuffix("[]"),
        case.published.removesuffix("[]"),
    }
    columns = {c.name: c.type for c in staged.plan.stored_views(staged.state)[0].columns}
    assert columns == {"class_id": "integer", "q": case.published, "s": columns["s"]}
    # What is sensitive leaves unchanged, to the last digit.
    source_texts = source.execute("SELECT s::text FROM public.t ORDER BY 1").fetchall()
    assert sorted(row["s"] for row in rows) == sorted(text for (text,) in source_texts)


@pytest.fixture
def citext(db: Any) -> Any:
    if db.admin.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'").rowcount < 1:
        pytest.skip("the server has no citext")
    db.admin.execute("CREATE EXTENSION citext SCHEMA public")
    return db


def test_citext(citext: Any) -> None:
    source, owner = citext.connect("source_owner"), citext.owner()
    rows = [["Ab", "X"], ["aB", "x"], ["c", "y"], ["d", "Y"]]
    make_table(source, {"q": "public.citext", "s": "public.citext"}, rows)
    privacy = [
        {"model": "k_anonymity", "k": 2},
        {"model": "distinct_l_diversity", "column": "s", "l": 2},
    ]
    staged = run(owner, policy({"q": "q", "s": "s"}, privacy))
    # X and x are one value, so the cut {Ab,aB} | {c,d} is not allowed.
    assert {row["q"] for row in staged.rows("q::text")} == {"{Ab,aB,c,d}"}


def test_spellings_are_different_looks(citext: Any) -> None:
    """Classes of one level differ in how their values look."""
    rows = [["Aab"[n % 3], n % 2] for n in range(60)]
    make_table(citext.connect("source_owner"), {"q": "public.citext", "b": "integer"}, rows)
    columns = {"q": {}, "b": {"hierarchy": {"intervals": [2]}}}
    staged = run(citext.owner(), policy(columns, 3, method={"name": "full_domain"}))
    assert {row["q"] for row in staged.rows("q::text")} == {"{A}", "{a}", "{b}"}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("double precision", ["NaN", "Infinity", "-Infinity"]),
        ("real", ["NaN", "Infinity", "-Infinity"]),
        ("numeric", ["NaN", "Infinity", "-Infinity"]),
        ("date", ["infinity", "-infinity"]),
        ("timestamp", ["infinity", "-infinity"]),
        ("timestamptz", ["infinity", "-infinity"]),
    ],
)
def test_values_without_a_place_are_refused_by_name(db: Any, kind: str, values: list[str]) -> None:
    source, owner = db.connect("source_owner"), db.owner()
    for value in values:
        make_table(source, {"Q": kind}, [[value], [None], [None], [None]])
        with refused("infinite_values") as errors:
            run(owner, policy({"Q": {}}, 2))
        assert '"Q"' in str(errors[0])
        assert "1 record" in str(errors[0])


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_sensitive_values_need_no_place(db: Any, value: str) -> None:
    source, owner = db.connect("source_owner"), db.owner()
    make_table(source, {"q": "integer", "s": "double precision"}, [[1, value], [2, "1"]])
    privacy = [{"model": "distinct_l_diversity", "column": "s", "l": 2}]
    assert len(run(owner, policy({"q": "q", "s": "s"}, privacy)).rows()) == 2


@pytest.mark.parametrize(
    ("kind", "equal"),
    [("numeric", ("1.0", "1.00")), ("double precision", ("0", "-0")), ("char(4)", ("a", "a "))],
)
def test_equal_values_are_one_sensitive_value(db: Any, kind: str, equal: tuple[str, str]) -> None:
    source, owner = db.connect("source_owner"), db.owner()
    make_table(source, {"q": "integer", "s": kind}, [[1, equal[0]], [1, equal[1]]])
    with refused("infeasible"):
        run(
            owner,
            policy(
                {"q": "q", "s": "s"}, [{"model": "distinct_l_diversity", "column": "s", "l": 2}]
            ),
        )


def test_unsupported_types_are_named_all_at_once(db: Any) -> None:
    source, owner = db.connect("source_owner"), db.owner()
    make_table(source, {"j": "jsonb", "a": "integer[]", "i": "interval"}, [])
    with refused("policy") as errors:
        run(owner, policy({"j": "q", "a": "s", "i": "i"}, 2))
    assert all(name in str(errors[0]) for name in ("jsonb", "integer[]", "interval"))


def test_ranges_answer_containment_for_analysts(db: Any) -> None:
    source = db.connect("source_owner")
    make_table(
        source,
        {"age": "integer", "born": "date", "word": "text"},
        [[34, "1990-01-01", "b"], [36, "1992-01-01", "a"]],
    )
    result = publish(
        db,
        policy({"age": "q", "born": "q", "word": "q"}, 2, publish={"readers": ["analyst"]}),
    )
    analyst = db.connect("analyst")
    # numrange takes numeric elements only; a bare 34 is an integer to the server.
    found = analyst.execute(
        f"SELECT count(*), max(word::text) FROM {result.view}"
        " WHERE age @> 34::numeric AND born @> date '1992-01-01' AND 'a' = ANY (word)"
    ).fetchone()
    assert found == (2, "{a,b}")


def test_the_time_zone_of_another_session_changes_nothing(db: Any) -> None:
    db.admin.execute("ALTER ROLE steward SET TimeZone = 'Asia/Tokyo'")
    try:
        source, owner = db.connect("source_owner"), db.owner()
        times = [["2020-01-01 00:30+00"], ["2020-01-01 23:30+00"]]
        make_table(source, {"q": "timestamptz"}, times)
        staged = run(owner, policy({"q": {"hierarchy": {"date": ["day", "year"]}}}, 2))
    finally:
        db.admin.execute("ALTER ROLE steward RESET TimeZone")
    assert {row["q"] for row in staged.rows("q::text")} == {
        '["2020-01-01 00:00:00+00","2020-01-02 00:00:00+00")'
    }
