"""Trees of values on a real server: every form, every refusal, and their properties."""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql
from pydantic import TypeAdapter

from pganon.errors import PreconditionError
from pganon.hierarchies import has_ranges, hierarchy_steps
from pganon.policy.hierarchies import Hierarchy
from pganon.run.executor import Executor
from pganon.steps import Load, State

HIERARCHY: TypeAdapter[Any] = TypeAdapter(Hierarchy)
GUIDE = Path(__file__).parents[3] / "docs/how-to/hierarchies.md"
_RUNS = itertools.count(1)
NO_TREE = r'"h.csv" has [^:]*: lines? [0-9]+|"h.csv" has only one level'


def values(state: State):
    return state.work("values")


@dataclass
class Trees:
    """Builds trees in one database."""

    conn: psycopg.Connection[Any]
    folder: Path
    db: Any
    state: State = field(default_factory=lambda: State(0))

    def build(
        self,
        form: dict[str, Any],
        kind: str,
        items: Any,
        *,
        records: int = 2,
        as_kind: str | None = None,
    ) -> None:
        """Build the tree of `items` of SQL type `kind`, each with `records` records."""
        self.state = State(next(_RUNS))
        hierarchy = HIERARCHY.validate_python(form)
        self._run([(item, records) for item in items], kind, hierarchy, as_kind or kind)
        self._holds_the_contract(has_ranges(hierarchy), kind, len(list(items)))

    def _run(self, rows: Any, sql_type: str, hierarchy: Any, kind: str) -> None:
        columns = [("value", sql_type), ("n", "bigint")]
        given = Load("values", "values of the column", values, columns, lambda: rows)
        steps = hierarchy_steps("q3", hierarchy, values, kind, self.folder, "age")
        self.state = Executor(self.conn, self.state).run([given, *steps])

    def _holds_the_contract(self, ranges: bool, kind: str, count: int) -> None:
        table = self.state.work("tree_q3")
        found = self.conn.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
            " WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum",
            [str(table)],
        ).fetchall()
        names = {"timestamp": "timestamp without time zone"}
        names["timestamptz"] = "timestamp with time zone"
        bound = "numeric" if kind in ("bigint", "double precision") else names.get(kind, kind)
        expected = [("value", names.get(kind, kind)), ("labels", "text[]")]
        if ranges:
            expected += [("lowers", f"{bound}[]"), ("uppers", f"{bound}[]")]
        assert found == expected
        left = self.conn.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE %s ORDER BY relname",
            [f"r{self.state.run_id}\\_%"],
        ).fetchall()
        run = f"r{self.state.run_id}_"
        assert [name.removeprefix(run) for (name,) in left] == ["tree_q3", "values"]
        assert self.state.facts.by_name()["tree_q3_rows"] == count

    def read(self, columns: str = "value::text, labels") -> list[tuple[Any, ...]]:
        query = sql.SQL("SELECT {} FROM {} ORDER BY value").format(
            sql.SQL(columns),  # pyright: ignore[reportArgumentType]
            self.state.work("tree_q3").identifier,
        )
        return self.conn.execute(query).fetchall()

    def labels(self) -> dict[str, list[str]]:
        return dict(self.read())

    def refuses(self, form: dict[str, Any], kind: str, items: Any, **options: Any) -> str:
        with pytest.raises(PreconditionError) as caught:
            self.build(form, kind, items, **options)
        assert caught.value.hint
        assert "column age: " in caught.value.message
        return caught.value.message

    def file(self, content: str) -> dict[str, Any]:
        (self.folder / "h.csv").write_text(content)
        return {"csv": "h.csv"}


@pytest.fixture
def trees(db, tmp_path):
    return Trees(db.owner(), tmp_path, db)


def test_file_with_ragged_rows_and_extra_leaves(trees):
    trees.build(trees.file("a;*\nb;x;*\nc;x;*\nunused;y;*\n"), "text", ["a", "b"])
    assert trees.labels() == {"a": ["a", "a", "*"], "b": ["b", "x", "*"]}
    assert trees.state.facts.by_name()["tree_q3_levels"] == 2


def test_column_without_values(trees):
    trees.build(trees.file("a;*\n"), "text", [])
    assert trees.read() == []


@pytest.mark.parametrize(
    ("kind", "leaf", "value", "text"),
    [
        ("bigint", "39.0", 39, "39"),
        ("bigint", "9007199254740993", 9007199254740993, "9007199254740993"),
        ("numeric", "39", Decimal("39.00"), "39"),
        ("double precision", "39.50", 39.5, "39.5"),
        ("double precision", "1e20", 1e20, "1e+20"),
        ("double precision", "0.30000000000000004", 0.1 + 0.2, "0.30000000000000004"),
        ("boolean", "T", True, "true"),
        ("boolean", "no", False, "false"),
        ("date", "2024-05-31", "2024-05-31", "2024-05-31"),
        ("timestamp", "2024-05-31T08:00:00", "2024-05-31 08:00", "2024-05-31 08:00:00"),
        ("timestamptz", "2024-05-31T08:00:00Z", "2024-05-31 10:00+02", "2024-05-31 08:00:00+00"),
        (
            "uuid",
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ),
        ("text", "", "", ""),
        ("text", " a'\"b\\", " a'\"b\\", " a'\"b\\"),
    ],
)
def test_leaf_and_value_meet_by_meaning(trees, kind, leaf, value, text):
    quoted = leaf.replace('"', '""')
    trees.build(trees.file(f'"{quoted}";*\n?;*\nvalue;*\n'), kind, [value])
    assert [labels for _, labels in trees.read()] == [[text, "*"]]


def test_enum(trees):
    trees.conn.execute("CREATE TYPE pganon_work.mood AS ENUM ('sad', 'ok')")
    form = trees.file("sad;*\nok;*\n")
    trees.state = State(next(_RUNS))
    trees._run([("ok", 1)], "pganon_work.mood", HIERARCHY.validate_python(form), "enum")
    assert trees.labels() == {"ok": ["ok", "*"]}


def test_gap_is_counted_not_shown(trees):
    form = trees.file("a;*\nb;*\n")
    message = trees.refuses(form, "text", ["a", "secret", "hidden"], records=4)
    assert message.endswith("2 values in 8 records missing from it")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a;x;*\nb;y;everything", "2 roots"),
        ("a;x\nb", "2 roots"),
        ("a;*\nb;;*", "1 row with an empty label"),
        ("a\nb", "only one level"),
        ("a;x;*\na;y;*", "1 value in several rows"),
        ("a;x;p;*\nb;x;q;*", "1 label of level 1 with several parents on level 2"),
        ("a;b;*\nb;a;*", "2 labels on two levels for different groups"),
        ("a;x;a;*", "1 label on two levels"),
        ("Misc;Other;*\nOther;Rest;*", "1 label on two levels"),
    ],
)
def test_table_that_is_no_tree(trees, rows, message):
    """As of a file, which is refused before."""
    with pytest.raises(PreconditionError, match=NO_TREE):
        trees.build(trees.file(rows), "text", [])
    cells = [row.split(";") for row in rows.split("\n")]
    width = max(map(len, cells))
    columns = ", ".join(f"l{level} text" for level in range(width))
    given = trees.db.admin
    given.execute(f"CREATE TABLE public.labels ({columns})")
    for row in cells:
        padded = [*row, *[None] * (width - len(row))]
        given.execute(f"INSERT INTO public.labels VALUES ({', '.join(['%s'] * width)})", padded)
    given.execute("GRANT SELECT ON public.labels TO steward")
    assert message in trees.refuses({"table": "public.labels"}, "text", [])


def test_numbers_of_a_file_that_are_the_same(trees):
    """Which only the type of the column tells."""
    assert "1 value in several rows" in trees.refuses(trees.file("1;x;*\n1.0;y;*"), "bigint", [1])


def test_a_value_may_lie_in_the_group_of_its_name(trees):
    trees.build(trees.file("Misc;Other;*\nOther;Other;*\n"), "text", ["Misc", "Other"])
    assert trees.labels()["Other"] == ["Other", "Other", "*"]


def test_same_row_twice_is_one(trees):
    trees.build(trees.file("1;x;*\n1.0;x;*\n"), "bigint", [1])
    assert trees.labels() == {"1": ["1", "x", "*"]}


def test_codes_stored_as_numbers(trees):
    trees.build({"prefix": [2]}, "bigint", [123, 45], as_kind="text")
    assert trees.labels() == {"45": ["45", "45", "*"], "123": ["123", "12*", "*"]}
    trees.build(trees.file("123;x;*\n"), "numeric", [Decimal("123")], as_kind="text")


def test_kinds_of_the_catalog_are_understood(trees):
    trees.build({"intervals": [5]}, "bigint", [7], as_kind="integer")
    trees.build({"intervals": [5]}, "double precision", [7.5], as_kind="float")
    assert trees.read("labels") == [(["7.5", "[5,10)", "*"],)]


def test_ordered_values_that_are_missing(trees):
    form = {"order": {"values": ["low", "high"], "fanout": [2]}}
    assert "1 value in 2 records" in trees.refuses(form, "text", ["low", "middle"])


TABLE = 'CREATE TABLE public."Levels" (leaf int, r text, "Top" text);'


def test_table_with_odd_names_and_ragged_rows(trees):
    rows = "INSERT INTO public.\"Levels\" VALUES (1, 'odd', '*'), (2, '*', NULL), (3, '*', '');"
    trees.db.source(TABLE + rows)
    trees.build({"table": 'public."Levels"'}, "numeric", [Decimal("1.0"), 2, 3])
    assert trees.labels() == {"1.0": ["1", "odd", "*"], "2": ["2", "2", "*"], "3": ["3", "3", "*"]}


def test_table_keeps_the_order_of_its_columns(trees):
    trees.db.source(
        "CREATE TABLE public.h (b text, gone int, e text, r text);"
        "ALTER TABLE public.h DROP COLUMN gone;"
        "INSERT INTO public.h VALUES ('leaf', 'group', '*');"
    )
    trees.build({"table": "public.h"}, "text", ["leaf"])
    assert trees.labels() == {"leaf": ["leaf", "group", "*"]}


@pytest.mark.parametrize(
    ("setup", "grant", "message"),
    [
        ("", True, 'no table public."Levels"'),
        (TABLE, False, 'public."Levels" is not readable'),
        (TABLE, True, "is empty"),
        ('CREATE TABLE public."Levels" (leaf int);', True, "only one level"),
        (TABLE + "INSERT INTO public.\"Levels\" VALUES (NULL, 'x', '*')", True, "1 row with NULL"),
        (TABLE + "INSERT INTO public.\"Levels\" VALUES (1, NULL, '*')", True, "empty label"),
    ],
)
def test_unusable_table(trees, setup, grant, message):
    trees.db.source(setup or "SELECT 1", grant=grant)
    assert message in trees.refuses({"table": 'public."Levels"'}, "bigint", [])


def test_table_needs_its_schema(trees):
    assert '"levels" has no schema' in trees.refuses({"table": "levels"}, "text", [])


def function(body: str) -> str:
    return (
        'CREATE FUNCTION public."F x"(value text, level integer) RETURNS text'
        f" LANGUAGE sql IMMUTABLE RETURN {body};"
    )


def test_function_is_called_until_one_label_is_left(trees):
    trees.db.source(function("CASE WHEN level < 3 THEN left(value, 3 - level) ELSE '*' END"))
    trees.build({"function": 'public."F x"'}, "bigint", [111, 121, 211])
    assert trees.labels() == {
        "111": ["111", "11", "1", "*"],
        "121": ["121", "12", "1", "*"],
        "211": ["211", "21", "2", "*"],
    }
    trees.build({"function": 'public."F x"'}, "bigint", [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("value", "still gives 2 labels on level 20"),
        ("nullif(value, '2')", "no label to 1 value on level 1"),
        ("CASE level WHEN 1 THEN 'x' || value WHEN 2 THEN 'y' END", ""),
        ("CASE level WHEN 1 THEN 'x' WHEN 2 THEN value ELSE '*' END", ""),
        (
            "CASE WHEN level > 2 THEN '*' WHEN level = 1 THEN left(value, 0) || mod(value::int, 2)"
            " ELSE 'y' || div(value::numeric, 2) END",
            "2 labels of level 1 with several parents",
        ),
    ],
)
def test_function_that_makes_no_tree(trees, body, message):
    trees.db.source(function(body))
    items = [1, 2] if "mod" not in body else [1, 2, 3, 4]
    if message:
        assert message in trees.refuses({"function": 'public."F x"'}, "bigint", items)
    else:
        trees.build({"function": 'public."F x"'}, "bigint", items)


def test_function_that_is_missing_or_forbidden(trees):
    form = {"function": 'public."F x"'}
    assert "no function" in trees.refuses(form, "text", [])
    revoke = 'REVOKE EXECUTE ON FUNCTION public."F x"(text, integer) FROM PUBLIC'
    trees.db.source(function("'*'") + revoke)
    assert "may not be called" in trees.refuses(form, "text", [])


def test_names_are_not_sql(trees):
    name = "x\"'; DROP TABLE a; --\\"
    quoted = '"' + name.replace('"', '""') + '"'
    assert "no table" in trees.refuses({"table": f"public.{quoted}"}, "text", [])
    assert "no function" in trees.refuses({"function": f"public.{quoted}"}, "text", [])
    create = function("'*'").replace('"F x"', quoted)
    trees.db.source(create)
    trees.build({"function": f"public.{quoted}"}, "text", ["a"])
    assert trees.labels() == {"a": ["a", "*"]}


def test_infinite_values_have_no_range(trees):
    for kind in ("numeric", "double precision"):
        message = trees.refuses({"intervals": [5]}, kind, ["NaN", "Infinity", "1"])
        assert "2 values in 4 records NaN or infinite" in message
    message = trees.refuses({"date": ["year"]}, "date", ["infinity", "0001-01-01 BC", "2024-01-01"])
    assert "2 values in 4 records outside the years" in message


NUMBERS = {
    "bigint": st.integers(-(2**63), 2**63 - 1) | st.integers(-50, 50),
    "numeric": st.decimals(allow_nan=False, allow_infinity=False, places=22),
    "double precision": st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-3, 3, allow_nan=False),
}
WIDTHS = st.sampled_from([[5, 10, 20], [0.1, 0.5], [3], [1, 7, 49], [0.25, 0.5, 1000]])
ON_ONE_DATABASE = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def nested(rows: list[tuple[list[str], list[Any], list[Any]]]) -> bool:
    """Whether ranges grow level by level, and two ranges of one level are equal or apart."""
    for _, lowers, uppers in rows:
        assert lowers == sorted(lowers, reverse=True)
        assert uppers == sorted(uppers)
    for level in range(len(rows[0][1])):
        ranges = sorted({(lowers[level], uppers[level]) for _, lowers, uppers in rows})
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ranges))
        names = {(labels[level + 1], lowers[level]) for labels, lowers, _ in rows}
        assert len(names) == len(ranges) == len({name for name, _ in names})
    return True


@pytest.mark.parametrize("kind", NUMBERS)
@ON_ONE_DATABASE
@given(data=st.data(), widths=WIDTHS, origin=st.sampled_from([0, 1, -0.05]))
def test_intervals_hold_their_values_and_nest(trees, kind, data, widths, origin):
    items = data.draw(st.sets(NUMBERS[kind], min_size=1, max_size=30))
    items = {repr(item) if kind == "double precision" else str(item) for item in items}
    items = list({Decimal(item): item for item in items}.values())
    trees.build({"intervals": widths, "origin": origin}, kind, items)
    rows = trees.read("value::text::numeric, labels, lowers, uppers")
    for value, _, lowers, uppers in rows:
        assert all(low <= value < high for low, high in zip(lowers, uppers, strict=True))
        for low, high, width in zip(lowers, uppers, map(str, widths), strict=False):
            assert exactly(high) - exactly(low) == exactly(width)
            assert (exactly(low) - exactly(origin)) % exactly(width) == 0
    assert nested([row[1:] for row in rows])


def exactly(value: Any) -> Fraction:
    return Fraction(str(value))


UNITS = st.sampled_from(
    [
        ["day"],
        ["week"],
        ["day", "week"],
        ["month", "quarter", "year", "decade"],
        ["year", "century"],
    ]
)


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
@ON_ONE_DATABASE
@given(
    days=st.sets(
        st.dates(min_value=date(101, 1, 1), max_value=date(9899, 12, 31)), min_size=1, max_size=20
    ),
    units=UNITS,
)
def test_periods_hold_their_values_and_nest(trees, kind, days, units):
    days = days | {date(1999, 12, 31), date(2000, 1, 1), date(2024, 12, 30), date(2025, 1, 1)}
    trees.build({"date": units}, kind, [day.isoformat() for day in days])
    rows = trees.read("value, labels, lowers, uppers")
    for value, _, lowers, uppers in rows:
        assert all(low <= value < high for low, high in zip(lowers, uppers, strict=True))
    assert nested([row[1:] for row in rows])


def test_periods_at_the_ends_of_the_span(trees):
    form = {"date": ["day", "month", "quarter", "year", "decade"]}
    for kind in ("date", "timestamp", "timestamptz"):
        trees.build(form, kind, ["0001-01-01", "9999-12-31"])
        inside = (
            "(SELECT bool_and(l <= value AND value < u) FROM unnest(lowers, uppers) AS b(l, u))"
        )
        assert trees.read(inside) == [(True,), (True,)]


def test_periods_ignore_the_time_zone_of_the_session(trees):
    trees.conn.execute("SET TimeZone = 'Asia/Tokyo'")
    trees.build({"date": ["day"]}, "timestamptz", ["2024-05-31 23:00+00"])
    assert trees.read("labels[2], lowers[1] = '2024-05-31 00:00+00'") == [("2024-05-31", True)]


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_many_values_take_few_statements(trees):
    rows = [[str(i), f"{i // 10}x", f"{i // 100}y", "*"] for i in range(100_000)]
    trees.build({"inline": rows}, "bigint", range(100_000))
    trees.build({"intervals": [5, 10, 20]}, "bigint", range(100_000))


def real_files() -> list[Path]:
    folder = Path(os.environ.get("PGANON_DATA", "")) / "adult"
    return sorted(f for part in ("hierarchies_*", "taxonomy_*") for f in folder.glob(f"{part}/*"))


@pytest.mark.skipif(not os.environ.get("PGANON_DATA"), reason="PGANON_DATA is not set")
def test_real_files_are_trees(trees):
    assert real_files()
    for path in real_files():
        kind = "bigint" if "age" in path.name else "text"
        leaf = path.read_text().splitlines()[0].split(";")[0].split(",")[0]
        trees.build({"csv": str(path)}, kind, [leaf])
        assert trees.read("labels[1]") == [(leaf,)]
        assert trees.read("labels[cardinality(labels)]") == [("*",)]


def guide_examples() -> list[tuple[str, list[tuple[str, str]]]]:
    """Per section of the guide with an expected result: its title and blocks (language, text)."""
    sections = re.split(r"^## ", GUIDE.read_text(), flags=re.MULTILINE)
    found = [
        (text.splitlines()[0], re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
        for text in sections
    ]
    return [(title, blocks) for title, blocks in found if blocks]


@pytest.mark.parametrize(("title", "blocks"), guide_examples())
def test_guide(trees, title, blocks):
    texts = dict(blocks)
    declared = yaml.safe_load(texts["yaml"])["hierarchy"]
    kind = texts["yaml"].splitlines()[0].split()[-1]
    if "csv" in texts:
        (trees.folder / declared["csv"]).write_text(texts["csv"])
    if "sql" in texts:
        trees.db.source(texts["sql"])
    expected = [line.split(" > ") for line in texts["text"].splitlines()]
    trees.build(declared, kind, [path[0] for path in expected])
    assert sorted(trees.read("labels")) == sorted((path,) for path in expected)
