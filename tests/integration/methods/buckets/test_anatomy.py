"""The method anatomy on servers, against the oracle and its own promises."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hilbertcurve.hilbertcurve import HilbertCurve

from tests.support.harness.cluster import Connection, Database
from tests.support.harness.driver import refused
from tests.support.oracles.anatomy import (
    blocks,
    canonical,
    cap,
    column,
    eligible,
    joined,
    largest_l,
    of,
    reconstruction_error,
    stripes,
    unique,
    violations,
)
from tests.support.oracles.curves import place_in_gray_codes
from tests.support.sources import visits
from tests.support.sources.builders import make_table, policy
from tests.support.sources.registry import ANATOMY
from tests.support.sources.visits import Dealt, deal, published, release


def requirement(l: int, **others: Any) -> list[dict[str, Any]]:  # noqa: E741 (the field's letter)
    return [{"model": "anatomy_l_diversity", "column": "s", "l": l, **others}]


def declared(l: int, columns: dict[str, Any] | None = None, **others: Any) -> dict[str, Any]:  # noqa: E741
    level = {"level": others.pop("level")} if "level" in others else {}
    division = others.pop("division", "eligible")
    return policy(
        columns or {"q": "q", "s": "s"},
        requirement(l, **level),
        method={"name": "anatomy", "block_size": 4 * l, "division": division},
        **others,
    )


def source(db: Database, rows: Sequence[Sequence[Any]], **types: str) -> None:
    make_table(db.connect("source_owner"), types or {"q": "integer", "s": "text"}, rows)


def context(groups: Any) -> list[list[Any]]:
    """Values of groups, whatever their order and that of the records."""
    return sorted(
        (sorted(group, key=canonical) for group in groups),
        key=lambda group: [canonical(value) for value in group],
    )


def check(dealt: Dealt, values: dict[int, Any], l: int) -> None:  # noqa: E741
    """What every run must have done, whatever its blocks are."""
    kept = [record for group in dealt.groups.values() for record in group]
    assert len(kept) == len(set(kept)) == len(values) - dealt.suppressed
    for number, groups in dealt.blocks.items():
        records = dealt.of_block(number)
        held = {record: values[record] for record in records}
        assert eligible(held.values(), l)
        assert len(groups) == len(records) // l
        found = [of(sorted(dealt.groups[group]), values) for group in groups]
        assert all(unique(group, l) and len(group) < 2 * l for group in found)
        assert max(map(len, found)) - min(map(len, found)) <= 1
        assert context(found) == context(of(group, values) for group in stripes(held, l))


# -- one block ----------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [(), (None,), ("flu",)])
def test_one_block_is_stripe_anatomy(db: Database, extra: tuple[Any, ...]) -> None:
    """The worked example, with all quasi-identifiers equal."""
    values = column(*[row[3] for row in ANATOMY], *extra)
    source(db, [(1, value) for value in values.values()])
    for l in (2, 3, 4):  # noqa: E741 (the field's letter)
        if not eligible(values.values(), l):
            with refused("infeasible"):
                deal(db.owner(), declared(l))
            continue
        dealt = deal(db.owner(), declared(l))
        check(dealt, values, l)
        assert len(dealt.groups) == len(values) // l
        utility = dealt.staged.utility
        assert utility.sensitive["s"].reconstruction_error == len(values) - len(dealt.groups)
        assert utility.groups == len(dealt.groups)
        assert utility.gcp == 0


@pytest.mark.primary_server_only
def test_exact_ties(db: Database) -> None:
    values = column("flu", "flu", "cold", "cold", "ulcer", "flu")
    source(db, [(7, value) for value in values.values()])
    dealt = deal(db.owner(), declared(2))
    check(dealt, values, 2)
    found = context(of(sorted(group), values) for group in dealt.groups.values())
    assert found == [["cold", "flu"], ["cold", "flu"], ["flu", "ulcer"]]


@pytest.mark.primary_server_only
def test_as_few_records_as_l(db: Database) -> None:
    values = column("a", None, "c")
    source(db, [(n, value) for n, value in values.items()])
    dealt = deal(db.owner(), declared(3))
    check(dealt, values, 3)
    assert list(dealt.groups.values()) == [{1, 2, 3}]


# -- blocks -------------------------------------------------------------------------------------


def on_a_line(rng: random.Random, size: int) -> list[str | None]:
    """Values that come in runs, so that halves of the line are often not eligible."""
    values: list[str | None] = []
    while len(values) < size:
        values += rng.choices([*"aaabbcde", None], k=1) * rng.choice((1, 1, 2, 5))
        values += rng.choices("abcdefghij", k=rng.choice((2, 4, 9)))
    return values[:size]


def pieces_of(order: Sequence[int], l: int) -> list[list[int]]:  # noqa: E741
    """Records in the order of the curve, cut as methods/anatomy/blocks.py says."""
    number = max(len(order) // (4 * l), 1)
    number = 1 << (number.bit_length() - 1)
    found: list[list[int]] = [[] for _ in range(number)]
    for place, record in enumerate(order):
        found[place * number // len(order)].append(record)
    return found


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.parametrize("division", ["public", "eligible"])
def test_blocks_are_as_small_as_the_rule_allows(db: Database, division: str) -> None:
    """With one ordered column the curve is its order, so that the pieces are known."""
    rng = random.Random(11)
    sizes: Counter[int] = Counter()
    for seed in range(10):
        l = rng.choice((2, 2, 3))  # noqa: E741
        line = on_a_line(rng, rng.randint(3 * l, 170))
        place = rng.sample(range(len(line)), len(line))
        values = {record: line[at] for record, at in enumerate(place, 1)}
        if not eligible(values.values(), l):
            continue
        source(db, [(at * 3, line[at]) for at in place])
        dealt = deal(db.owner(), declared(l, division=division), seed=seed)
        check(dealt, values, l)
        order = sorted(values, key=lambda record: place[record - 1])
        pieces = pieces_of(order, l)
        by_piece = [of(piece, values) for piece in pieces]
        expected = [set(joined(pieces, numbers)) for numbers in blocks(by_piece, l, division)]
        assert [dealt.of_block(number) for number in sorted(dealt.blocks)] == expected
        sizes.update(len(numbers) for numbers in blocks(by_piece, l, division))
    assert sizes.keys() >= {1, 2, 4}


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_random_tables(db: Database) -> None:
    rng = random.Random(5)
    checked = 0
    for seed in range(10):
        level = rng.choice(("attribute", "unique"))
        size, l = rng.randint(2, 120), rng.choice((2, 3, 4))  # noqa: E741
        table = [
            (rng.choice([None, *range(9)]), rng.choice("xyz"), rng.choice((True, False, None)),
             rng.choice([*"aabcdefg", None]))
            for _ in range(size)
        ]  # fmt: skip
        values = column(*[row[3] for row in table])
        source(db, table, a="integer", b="text", c="boolean", s="text")
        asked = declared(l, {"a": "q", "b": "q", "c": "q", "s": "s"}, level=level)
        if not eligible(values.values(), l):
            with refused():
                deal(db.owner(), asked, seed=seed)
            continue
        checked += 1
        dealt = deal(db.owner(), asked, seed=seed)
        check(dealt, values, l)
        qit, st = dealt.staged.table("qit"), dealt.staged.table("st")
        assert Counter(tuple(row.values())[1:] for row in qit) == Counter(r[:3] for r in table)
        by_key = dict(enumerate(table, 1))
        for number, records in dealt.groups.items():
            shown = Counter((r["a"], r["b"], r["c"]) for r in qit if r["group_id"] == number)
            assert shown == Counter(by_key[record][:3] for record in records)
            held = Counter({r["s"]: r["count"] for r in st if r["group_id"] == number})
            assert held == Counter(values[record] for record in records)
        found = [of(sorted(group), values) for group in dealt.groups.values()]
        utility = dealt.staged.utility
        (about,) = utility.sensitive.values()
        assert about.reconstruction_error == pytest.approx(float(reconstruction_error(found)))
        assert about.degree == pytest.approx(min(map(len, found)))
        assert (utility.smallest_group, utility.largest_group) == (
            min(map(len, found)),
            max(map(len, found)),
        )
    assert checked > 3


@pytest.mark.primary_server_only
def test_spread_of_the_groups(db: Database) -> None:
    """GCP as if ages were generalized: spans of the groups by the span of all."""
    source(db, [(age, f"v{age}") for age in (0, 10, 40, 100)])
    dealt = deal(db.owner(), declared(2))
    ages = {1: 0, 2: 10, 3: 40, 4: 100}
    expected = 0.0
    for group in dealt.groups.values():
        held = [ages[record] for record in group]
        expected += len(held) * (max(held) - min(held)) / 100 / 4
    assert dealt.staged.utility.gcp == pytest.approx(expected)
    assert dealt.staged.utility.ncp["q"] == pytest.approx(expected)


@pytest.mark.primary_server_only
@pytest.mark.parametrize(("block_size", "number"), [(500, 1), (13, 1), (12, 2), (6, 4), (2, 4)])
def test_sizes_of_pieces(db: Database, block_size: int, number: int) -> None:
    """Never fewer records than l; what is left over is spread."""
    values = column(*"abcdef" * 4)
    source(db, [(n, value) for n, value in values.items()])
    method = {"name": "anatomy", "block_size": block_size, "division": "eligible"}
    dealt = deal(db.owner(), {**declared(4), "method": method})
    check(dealt, values, 4)
    assert len(dealt.blocks) == number
    assert {len(dealt.of_block(block)) for block in dealt.blocks} == {24 // number}


def on_the_curve(point: Sequence[int | None], nullable: int) -> int:
    """Its place: on Hilbert's up to six attributes, on that of Gray codes from seven on.

    Values are 0 to 3, and NULL, the last, in the first attributes. Records are 48, so 12 bits are
    enough in all.
    """
    bits = max(min(3 if nullable else 2, -(-12 // len(point))), 1)
    top = 2**bits - 1
    lasts = [4 if place < nullable else 3 for place in range(len(point))]
    codes = [last if code is None else code for code, last in zip(point, lasts, strict=True)]
    spread = [(2 * top * c + last) // (2 * last) for c, last in zip(codes, lasts, strict=True)]
    if len(point) < 7:
        return HilbertCurve(bits, len(point)).distance_from_point(spread)
    return place_in_gray_codes(spread, bits)


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("attributes", "nullable"),
    [
        *[(6, 0), (6, 2), (7, 0), (7, 1), (7, 3), (9, 9)],
        *[pytest.param(*large, marks=pytest.mark.slow) for large in ((64, 5), (70, 0))],
    ],
)
def test_blocks_follow_the_curve(db: Database, attributes: int, nullable: int) -> None:
    rng, names = random.Random(attributes), [f"q{i}" for i in range(attributes)]

    def drawn(place: int) -> int | None:
        value = rng.randrange(5 if place < nullable else 4)
        return None if value == 4 else value

    every: list[tuple[int | None, ...]] = [(n,) * attributes for n in range(4)]
    every += [(None,) * nullable + (0,) * (attributes - nullable)] * (nullable > 0)
    every += [tuple(drawn(place) for place in range(attributes)) for _ in range(400)]
    points: list[tuple[int | None, ...]] = []
    for point in every:
        known = {on_the_curve(other, nullable) for other in points}
        if len(points) < 48 and on_the_curve(point, nullable) not in known:
            points.append(point)
    rows = [(*point, f"v{n}") for n, point in enumerate(points)]
    source(db, rows, **dict.fromkeys(names, "integer"), s="text")
    method = {"name": "anatomy", "block_size": 6}
    columns = {**dict.fromkeys(names, "q"), "s": "s"}
    dealt = deal(db.owner(), {**declared(2, columns), "method": method})
    places = {record: on_the_curve(point, nullable) for record, point in enumerate(points, 1)}
    assert len(points) == 48
    order = sorted(places, key=lambda record: places[record])
    expected = [set(order[first : first + 6]) for first in range(0, 48, 6)]
    assert [dealt.of_block(block) for block in sorted(dealt.blocks)] == expected


@pytest.mark.primary_server_only
def test_the_end_of_the_curve_does_not_unite_the_rest(db: Database) -> None:
    """40 records in pieces of at least 8: four of ten, the last of which is not eligible."""
    values = column(*("abcdefgh" * 4 + "aaaaaabc"))
    source(db, [(n, value) for n, value in values.items()])
    dealt = deal(db.owner(), declared(2))
    check(dealt, values, 2)
    assert [len(dealt.of_block(block)) for block in sorted(dealt.blocks)] == [10, 10, 20]


# -- the published relations --------------------------------------------------------------------


@pytest.mark.parametrize("level", ["attribute", "unique"])
def test_release(db: Database, level: str) -> None:
    """Everything that is promised, from what a reader sees alone."""
    table = visits.rows(200)
    visits.build(db, table)
    done = release(db, privacy=visits.requirement(4, level=level))
    assert (done.suppressed, done.version) == (0, 1)
    seen = published(db.connect("analyst"))
    assert violations(seen.qit, seen.st, 4, level=level) == []
    assert violations(seen.qit, seen.st, 4, level="unique") == []
    assert Counter(row for _, row in seen.qit) == Counter(row[:4] for row in table)
    assert Counter(value for _, value, n in seen.st for _ in range(n)) == Counter(
        row[4] for row in table
    )
    assert all(4 <= counts.total() < 8 for counts in seen.groups.values())
    expected = Counter(
        (number, *row, value, Fraction(n, seen.groups[number].total()))
        for number, row in seen.qit
        for value, n in seen.groups[number].items()
    )
    rounded = Counter((*row[:-1], round(float(row[-1]), 9)) for row in expected.elements())
    assert Counter((*row[:-1], round(float(row[-1]), 9)) for row in seen.joined) == rounded
    total = db.owner().execute("SELECT sum(probability) FROM published.visits").fetchone()
    assert total is not None
    assert float(total[0]) == pytest.approx(200)


def test_columns_of_the_views(db: Database) -> None:
    visits.build(db, visits.rows(40))
    release(db)
    common = {"group_id": "integer", "age": "integer", "zip": "text", "ward": "text",
              "nights": "integer"}  # fmt: skip
    expected = {
        "visits": {**common, "disease": "text", "probability": "numeric"},
        "visits_qit": common,
        "visits_st": {"group_id": "integer", "disease": "text", "count": "bigint"},
    }
    for view, columns in expected.items():
        found = db.admin.execute(
            "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute"
            " WHERE attrelid = to_regclass(%s) AND attnum > 0 ORDER BY attnum",
            [f"published.{view}"],
        ).fetchall()
        assert found == list(columns.items())


# -- types --------------------------------------------------------------------------------------

SETUP = """
CREATE TYPE public."Mood" AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN public.age AS integer CHECK (value >= 0);
CREATE DOMAIN public.code AS varchar(5);
"""
UUIDS = [f"{c * 8}-0000-0000-0000-000000000000" for c in "0af9"]
TYPES: list[tuple[str, list[str | None]]] = [
    ("smallint", ["-32768", "32767", "0", None]),
    ("integer", ["2147483647", "-2147483648", "0", None]),
    ("bigint", ["9223372036854775807", "-9223372036854775808", "9007199254740993", "1"]),
    (
        "numeric",
        ["0.100000000000000000000000000001", "-1e-30", "123456789012345678901234567890", None],
    ),
    ("numeric(6,2)", ["1.00", "1.50", "-9999.99", "0"]),
    ("real", ["3.4028235e+38", "-1e-45", "0.1", None]),
    ("double precision", ["1.7976931348623157e+308", "-5e-324", "0.30000000000000004", "0.1"]),
    ("date", ["5874897-12-31", "4713-01-01 BC", "2020-02-29", None]),
    ("timestamp", ["294276-12-31 23:59:59.999999", "4713-01-01 00:00:00 BC", "2020-01-01", None]),
    ("timestamp(0)", ["2020-01-01 00:00:01", "2020-01-01 00:00:02", "2020-01-01", None]),
    ("timestamptz", ["2020-01-01 00:00+05", "2020-01-01 00:00-05", "2020-07-01 00:00+00", None]),
    ("boolean", ["t", "f", None]),
    ("text", ["", " a ", "A", "ä"]),
    ("varchar(5)", ["b", "b ", "B", None]),
    ("char(3)", ["b", "", "abc", None]),
    ("name", ["b", "a", "c", "d"]),
    ("uuid", list(UUIDS)),
    ('public."Mood"', ["happy", "sad", "ok", None]),
    ("public.age", ["30", "31", "0", None]),
    ("public.code", ["b", "a", "c", None]),
]

STORED = {'public."Mood"': "text", "public.age": "integer", "public.code": "varchar(5)"}
"""Of enums and domains the type that is published."""


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_values_leave_as_they_came(db: Database) -> None:
    """Quasi-identifier, insensitive and sensitive column: to the last digit."""
    db.source(SETUP)
    for kind, values in TYPES:
        source(db, [(v, v, w) for v in values for w in values], q=kind, i=kind, s=kind)
        policy = declared(2, {"q": "q", "i": "i", "s": "s"}, trust=["source_owner"])
        staged = deal(db.owner(), policy).staged
        qit, st = (f"pganon_stage.{staged.state.stage(part).name}" for part in ("qit", "st"))
        stored = STORED.get(kind, kind)
        db.admin.execute(f"CREATE TEMP TABLE x (q {stored}, i {stored}, s {stored})".encode())
        assert types_of(db.admin, qit) | types_of(db.admin, st) == types_of(db.admin, "pg_temp.x")
        db.admin.execute("DROP TABLE x")
        for shown, rows in (("q, i", qit), ("s", f"{st}, generate_series(1, count)")):
            texts = ", ".join(f"{name}::text" for name in shown.split(", "))
            found, expected = (
                Counter(db.admin.execute(f"SELECT {texts} FROM {table}".encode(), prepare=False))
                for table in (rows, "public.t")
            )
            assert found == expected, kind


def types_of(conn: Connection, table: str) -> set[tuple[Any, ...]]:
    """Types of the columns that come from the source."""
    found = conn.execute(
        "SELECT attname::text, atttypid, atttypmod FROM pg_attribute WHERE attnum > 0"
        " AND attrelid = to_regclass(%s) AND attname = ANY ('{q,i,s}')",
        [table],
    )
    return set(found.fetchall())


@pytest.mark.primary_server_only
def test_digits_that_say_nothing_do_not_show_who_came_first(db: Database) -> None:
    """1.0 and 1.00 are one value of a quasi-identifier."""
    looks = ["1.0", "1.00", "1", "1.000"]
    for order in (looks, looks[::-1]):
        source(db, [(look, f"v{n}") for n, look in enumerate(order)], q="numeric", s="text")
        qit = deal(db.owner(), declared(2)).staged.table("qit")
        assert [str(row["q"]) for row in qit] == ["1"] * 4


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    "keys",
    [
        {"type": "ordinal", "order": ["c", "a", "b"]},
        {"hierarchy": {"inline": {"any": {"x": ["a", "b"], "y": ["c"]}}}},
        {"type": "categorical"},
    ],
)
def test_what_orders_values_does_not_change_them(db: Database, keys: dict[str, Any]) -> None:
    table = [(q, f"v{n % 4}") for n, q in enumerate("abcabcabcabc")]
    source(db, table, q="text", s="text")
    qit = deal(db.owner(), declared(2, {"q": keys, "s": "s"})).staged.table("qit")
    assert Counter(row["q"] for row in qit) == Counter("abc" * 4)


@pytest.mark.primary_server_only
def test_computed_hierarchies_generalize_nothing(db: Database) -> None:
    source(db, [(n, f"v{n % 4}") for n in range(12)])
    keys = {"hierarchy": {"intervals": [5, 10]}}
    qit = deal(db.owner(), declared(2, {"q": keys, "s": "s"})).staged.table("qit")
    assert sorted(row["q"] for row in qit) == list(range(12))


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("kind", "looks"),
    [
        ("numeric", ["1.0", "1.00", "1"]),
        ("double precision", ["0", "-0"]),
        ("real", ["-0", "0"]),
        ("char(4)", ["a", "a "]),
        ("citext", ["Ab", "aB", "AB"]),
    ],
)
def test_equal_sensitive_values_are_one_value(db: Database, kind: str, looks: list[str]) -> None:
    """Looks of one value never share a group, so none of them makes another look rarer."""
    if kind == "citext":
        have = "SELECT 1 FROM pg_available_extensions WHERE name = 'citext'"
        if db.admin.execute(have).rowcount < 1:
            pytest.skip("the server has no citext")
        db.admin.execute("CREATE EXTENSION citext SCHEMA public")
        kind = "public.citext"
    others = ["7", "8", "9"]
    table = [(n, look) for n, look in enumerate(looks * 2)]
    source(db, [*table, *[(n, v) for n, v in enumerate(others)]], q="integer", s=kind)
    with refused("infeasible") as errors:
        deal(db.owner(), declared(4))
    assert f"{2 * len(looks)} of {2 * len(looks) + 3}" in str(errors[0])
    filler = [(n, v) for n, v in enumerate(others * 6)]
    source(db, [*table, *filler], q="integer", s=kind)
    dealt = deal(db.owner(), declared(2))
    equal = set(range(1, 2 * len(looks) + 1))
    assert all(len(records & equal) <= 1 for records in dealt.groups.values())


# -- NULL ---------------------------------------------------------------------------------------


def with_nulls(nulls: str, sensitive: str = "as_value", **others: Any) -> dict[str, Any]:
    columns = {"q": {"nulls": nulls}, "s": {"role": "sensitive", "nulls": sensitive}}
    return declared(2, columns, **others)


@pytest.mark.primary_server_only
def test_rules_for_null(db: Database) -> None:
    source(db, [(1, "a"), (None, "b"), (2, "a"), (None, None), (3, "c"), (4, None)])
    conn = db.owner()
    whole = deal(conn, with_nulls("as_value"))
    assert sorted(map(len, whole.groups.values())) == [2, 2, 2]
    assert sum(row["q"] is None for row in whole.staged.table("qit")) == 2
    assert sum(row["count"] for row in whole.staged.table("st") if row["s"] is None) == 2
    with refused("suppression_limit") as errors:
        deal(conn, with_nulls("suppress"))
    assert "2 of 6" in str(errors[0])
    fewer = deal(conn, with_nulls("suppress", suppression_limit=0.4))
    assert fewer.suppressed == 2
    assert sorted(row["q"] for row in fewer.staged.table("qit")) == [1, 2, 3, 4]
    for rule in (with_nulls("reject"), with_nulls("as_value", "reject")):
        with refused("nulls_rejected"):
            deal(conn, rule)


@pytest.mark.primary_server_only
def test_nothing_left_by_the_rules_for_null(db: Database) -> None:
    source(db, [(None, "a"), (None, "b")])
    with refused("all_suppressed") as errors:
        deal(db.owner(), with_nulls("suppress", suppression_limit=1.0))
    assert "all 2 records" in str(errors[0])


@pytest.mark.primary_server_only
def test_null_is_as_frequent_as_any_value(db: Database) -> None:
    source(db, [(n, value) for n, value in enumerate([None, None, None, "cold"])])
    with refused("infeasible") as errors:
        deal(db.owner(), declared(2))
    assert "3 of 4 records, l = 2 allows at most 2" in str(errors[0])


# -- not eligible -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_suppression_leaves_out_as_few_as_possible(db: Database) -> None:
    rng = random.Random(9)
    conn = db.owner()
    table = [*"FFFFFGGH"]
    for l, out in ((2, 2), (3, 5)):  # noqa: E741
        source(db, list(enumerate(table)))
        most = {"on_infeasible": "suppress", "suppression_limit": 1.0}
        dealt = deal(conn, declared(l, **most))
        assert dealt.suppressed == out
        check(dealt, column(*table), l)
    for seed in range(5):
        l = rng.choice((2, 3))  # noqa: E741
        table = [*rng.choices("aaaaaabbcd", k=rng.randint(8, 20)), *"bcd"]
        source(db, list(enumerate(table)))
        kept = Counter({v: min(n, cap(table, l)) for v, n in Counter(table).items()})
        out = len(table) - kept.total()
        dealt = deal(conn, declared(l, on_infeasible="suppress",
                                    suppression_limit=out / len(table)), seed=seed)  # fmt: skip
        assert dealt.suppressed == out
        values = column(*table)
        assert Counter(values[r] for g in dealt.groups.values() for r in g) == kept
        check(dealt, values, l)
        if out:
            with refused("suppression_limit") as errors:
                deal(conn, declared(l, on_infeasible="suppress",
                                    suppression_limit=(out - 0.5) / len(table)))  # fmt: skip
            assert f"{out} of {len(table)}" in str(errors[0])


@pytest.mark.primary_server_only
def test_the_largest_l_that_is_named_is_feasible(db: Database) -> None:
    table = [*"aaabbcdde"]
    source(db, list(enumerate(table)))
    with refused("infeasible") as errors:
        deal(db.owner(), declared(5))
    assert errors[0].observed == largest_l(table) == 3
    assert "l = 3" in (errors[0].hint or "")
    check(deal(db.owner(), declared(3)), column(*table), 3)
