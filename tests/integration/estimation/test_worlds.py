"""Estimates, bounds and errors against all possible worlds of random tiny releases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.estimation.ask import answer
from pganon.estimation.boxes import Fitted, fitted
from pganon.estimation.parse import parse_query
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.estimation.resolve import resolve
from pganon.identifiers import QualifiedName
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle

VIEW = QualifiedName("worlds", "released")
_AGE = Part("age", False, VIEW, "class_id", None)
_SEX = Part("sex", False, VIEW, "class_id", None)
_REST = Part("records", True, VIEW, "class_id", None)


def release(kind: str = "integer") -> AskedRelease:
    columns = {
        "age": Published("age", "range", kind, None, True, _AGE, "age_null"),
        "sex": Published("sex", "set", "integer", None, True, _SEX),
        "flu": Published("flu", "exact", "text", '"default"', False, _REST),
        "x": Published("x", "exact", "integer", None, False, _REST),
    }
    return AskedRelease("released", 1, VIEW, _AGE, None, columns)


RELEASE = release()
TABLE = """
    CREATE TABLE worlds.released (
        class_id integer, age numrange, age_null boolean, sex integer[], flu text, x integer
    )
"""


@dataclass
class Class:
    """What a class shows; `sex` None stands for a missing value of all records."""

    ages: tuple[int, int] | None
    age_null: bool
    sexes: tuple[int, ...] | None
    rows: list[tuple[str | None, int | None]]

    @property
    def fits(self) -> bool:
        ages = 0 if self.ages is None else len(set(self.ages))
        return len(self.rows) >= max(ages + self.age_null, len(self.sexes or ()))


def _class(n: int) -> st.SearchStrategy[Class]:
    ages = st.tuples(st.integers(1, 4), st.integers(0, 2)).map(lambda a: (a[0], a[0] + a[1]))
    return st.builds(
        Class,
        ages=st.one_of(ages, ages, ages, st.none()),
        age_null=st.booleans(),
        sexes=st.one_of(st.sets(st.integers(1, 3), min_size=1, max_size=2).map(sorted).map(tuple)),
        rows=st.lists(
            st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([-2, 0, 3, 5, None])),
            min_size=n,
            max_size=n,
        ),
    ).filter(lambda c: c.fits and (c.ages is not None or c.age_null))


CLASSES = st.lists(st.integers(1, 3).flatmap(_class), min_size=1, max_size=2)


def fill(conn: Any, classes: list[Class]) -> None:
    conn.execute("CREATE SCHEMA IF NOT EXISTS worlds")
    conn.execute("DROP TABLE IF EXISTS worlds.released")
    conn.execute(TABLE)
    for number, item in enumerate(classes):
        for flu, x in item.rows:
            ages = None if item.ages is None else f"[{item.ages[0]},{item.ages[1]}]"
            conn.execute(
                "INSERT INTO worlds.released VALUES (%s, %s, %s, %s, %s, %s)",
                [number, ages, item.age_null, list(item.sexes) if item.sexes else None, flu, x],
            )


def buckets(
    conn: Any, classes: list[Class], spread: Any, asked: AskedRelease = RELEASE
) -> list[oracle.Bucket]:
    """The classes as the oracle has them, with the spread that was fitted."""
    age, sex = (fitted(conn, asked.columns[name], spread) for name in ("age", "sex"))
    assert sex.elements is not None
    sexes = dict(zip(map(int, sex.elements), sex.shares, strict=True))
    found = []
    for item in classes:
        weights: dict[Any, float] = {}
        attained: list[Any] = []
        if item.ages is not None:
            low, high = item.ages
            weights = {v: _share(age, v) for v in _ages(age, low, high)}
            attained = sorted({low, high})
        if item.age_null:
            alone = age.endless and len(weights) == 1
            weights[None] = age.odds if alone else age.lacking
            weights = {low: 1.0, None: age.odds} if alone else weights
            attained.append(None)
        shown = item.sexes or (None,)
        parts = (
            oracle.Boxed("age", _fractions(weights), tuple(attained), age.endless),
            oracle.Boxed("sex", _fractions({v: sexes[v] for v in shown}), shown),
            oracle.Exact(tuple((("flu", flu), ("x", x)) for flu, x in item.rows)),
        )
        found.append(oracle.Bucket(len(item.rows), parts))
    return found


def _fractions(weights: dict[Any, float]) -> tuple[tuple[Any, Fraction], ...]:
    """What is possible, however little likely, has a share."""
    return tuple(
        (value, Fraction(weight) or Fraction(1, 10**18)) for value, weight in weights.items()
    )


def _ages(age: Fitted, low: int, high: int) -> list[Any]:
    """Values of a range. Of dense numbers halves stand for all that are between whole ones."""
    if not age.endless:
        return list(range(low, high + 1))
    return [Fraction(half, 2) for half in range(2 * low, 2 * high + 1)]


def _share(age: Fitted, value: Any) -> float:
    """Of a cell the same part as of its length."""
    assert age.line is not None
    for low, high, share in zip(age.line.low, age.line.high, age.shares, strict=True):
        if age.endless and value.denominator > 1 and low < value < high:
            return share / float(high - low)
        if not age.endless and low <= value <= high:
            return share / (int(high) - int(low) + 1)
    return 0.0


@contextmanager
def released_as(how: str) -> Iterator[AskedRelease]:
    """A release of whole numbers that are counted one by one or in cells, or of any numbers."""
    with pytest.MonkeyPatch.context() as patch:
        if how == "cells":
            patch.setattr("pganon.estimation.boxes.MAX_VALUES", 0)
        yield release("numeric" if how == "dense" else "integer")


@dataclass(frozen=True)
class Condition:
    """SQL, and the same of a record: true, false or None."""

    text: str
    holds: Any = field(compare=False)


def _compared(name: str, value: Any) -> list[Condition]:
    def less(record: Any) -> Any:
        return None if record[name] is None else record[name] <= value

    def equal(record: Any) -> Any:
        return None if record[name] is None else record[name] == value

    literal = f"'{value}'" if isinstance(value, str) else str(value)
    return [
        Condition(f"{name} <= {literal}", less),
        Condition(f"{name} = {literal}", equal),
        Condition(f"{name} IS NULL", lambda record: record[name] is None),
    ]


def _not(item: Condition) -> Condition:
    def holds(record: Any) -> Any:
        value = item.holds(record)
        return None if value is None else not value

    return Condition(f"NOT ({item.text})", holds)


def _both(one: Condition, other: Condition) -> Condition:
    def holds(record: Any) -> Any:
        values = [one.holds(record), other.holds(record)]
        return False if False in values else None if None in values else True

    return Condition(f"({one.text}) AND ({other.text})", holds)


def _either(one: Condition, other: Condition) -> Condition:
    found = _not(_both(_not(one), _not(other)))
    return Condition(f"({one.text}) OR ({other.text})", found.holds)


_AGES = st.sampled_from([c for v in (1, 2, 3, 5) for c in _compared("age", v)])
_SEXES = st.sampled_from([c for v in (1, 2) for c in _compared("sex", v)])
_RESTS = st.sampled_from([*_compared("flu", "a"), *_compared("x", 0), *_compared("x", 3)])
_TRUE = Condition("", lambda record: True)


def _perhaps_not(items: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.builds(lambda c, no: _not(c) if no else c, items, st.booleans())


def _joined(one: Any, other: Any) -> st.SearchStrategy[Condition]:
    return st.builds(
        lambda a, b, every: (_both if every else _either)(a, b), one, other, st.booleans()
    )


_PARTS = [_perhaps_not(items) for items in (_AGES, _SEXES, _RESTS)]
ANY_WHERE = st.one_of(
    st.just(_TRUE),
    *_PARTS,
    _joined(_PARTS[0], _PARTS[1]),
    _joined(_PARTS[2], _perhaps_not(_joined(_PARTS[0], _PARTS[1]))),
    _joined(_PARTS[1], _perhaps_not(_joined(_PARTS[2], _PARTS[0]))),
)
CONJUNCTIONS = st.one_of(
    st.just(_TRUE),
    *_PARTS,
    st.builds(_both, _PARTS[0], _PARTS[1]),
    st.builds(_both, _PARTS[1], _PARTS[2]),
    st.builds(lambda a, b, c: _both(_both(a, b), c), *_PARTS),
)


TANGLES = st.one_of(
    _joined(_joined(_PARTS[0], _PARTS[1]), _joined(_PARTS[0], _PARTS[1])),
    _joined(_joined(_PARTS[0], _PARTS[2]), _perhaps_not(_joined(_PARTS[2], _PARTS[1]))),
    _joined(_PARTS[1], _joined(_joined(_PARTS[0], _PARTS[2]), _joined(_PARTS[0], _PARTS[2]))),
)


def ask(conn: Any, text: str, spread: Any, asked: AskedRelease = RELEASE) -> list[dict[str, Any]]:
    return answer(conn, resolve(parse_query(text), asked), spread).as_dicts()


def agrees(row: dict[str, Any], name: str, wanted: oracle.Answer, *, tight: bool = True) -> None:
    """The figures of an aggregate are those of all worlds."""
    if wanted.estimate is None:
        assert row[name] is None
        return
    assert row[name] == pytest.approx(float(wanted.estimate), abs=1e-9)
    lower, upper = row[f"{name}_lower"], row[f"{name}_upper"]
    if tight:
        assert float(lower) == pytest.approx(float(wanted.lower), abs=1e-9)
        assert float(upper) == pytest.approx(float(wanted.upper), abs=1e-9)
    else:
        assert float(lower) <= float(wanted.lower) + 1e-9
        assert float(upper) >= float(wanted.upper) - 1e-9
    assert row[f"{name}_error"] == pytest.approx(float(wanted.variance or 0) ** 0.5, abs=1e-6)
    likely = 2 * (wanted.deviations or 0)
    low = max(float(lower), float(wanted.estimate) - likely)
    high = min(float(upper), float(wanted.estimate) + likely)
    assert row[f"{name}_low"] == pytest.approx(low, abs=1e-5)
    assert row[f"{name}_high"] == pytest.approx(high, abs=1e-5)


def are_apart(text: str, release: AskedRelease) -> bool:
    """Whether there are alternatives, and not conditions of one SELECT."""
    return resolve(parse_query(text), release).questions[0].alternatives is not None


def one_by_one(row: dict[str, Any], name: str, wanted: oracle.Answer) -> None:
    """The estimate is that of all worlds, bounds are no tighter, the error is known where none."""
    if wanted.estimate is None:
        assert row[name] is None
        return
    ends = ("_lower", "_low", "", "_high", "_upper")
    figures = [float(row[f"{name}{end}"]) for end in ends]
    assert figures == sorted(figures)
    assert figures[0] <= float(wanted.lower) + 1e-9
    assert float(wanted.upper) <= figures[-1] + 1e-9
    assert row[name] == pytest.approx(float(wanted.estimate), abs=1e-9)
    assert row[f"{name}_error"] == (0 if figures[0] == figures[-1] else None)


def _adds(where: Condition, value: Any) -> oracle.Added:
    return lambda record: value(record) if where.holds(record) is True else None


def _where(condition: Condition) -> str:
    return f" WHERE {condition.text}" if condition.text else ""


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
def test_a_count_is_that_of_all_worlds(db: Database, data: st.DataObject):
    classes, where = data.draw(CLASSES), data.draw(ANY_WHERE)
    spread = data.draw(st.sampled_from(["column", "uniform"]))
    how = data.draw(st.sampled_from(["single", "cells", "dense"]))
    with db.connect() as conn, released_as(how) as asked:
        fill(conn, classes)
        (row,) = ask(conn, f"SELECT count(*) FROM released{_where(where)}", spread, asked)
        known = buckets(conn, classes, spread, asked)
    wanted = oracle.total(known, _adds(where, lambda r: 1))
    agrees(row, "count", wanted)
    assert row["maybe_empty"] == (wanted.lower == 0)


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
@pytest.mark.slow
def test_several_alternatives_are_those_of_all_worlds(db: Database, data: st.DataObject):
    """With conditions on one column in several of them, which are answered one by one."""
    classes, where = data.draw(CLASSES), data.draw(TANGLES)
    how = data.draw(st.sampled_from(["single", "cells", "dense"]))
    apart = "x" not in where.text.replace("sex", "") and "flu" not in where.text
    items = "count(*), sum(x) AS s" if apart else "count(*)"
    text = f"SELECT {items} FROM released{_where(where)}"
    with db.connect() as conn, released_as(how) as asked:
        fill(conn, classes)
        (row,) = ask(conn, text, "column", asked)
        known = buckets(conn, classes, "column", asked)
        compare = one_by_one if are_apart(text, asked) else agrees
    compare(row, "count", oracle.total(known, _adds(where, lambda r: 1)))
    if apart:
        compare(row, "s", oracle.total(known, _adds(where, lambda r: r["x"])))


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
def test_sums_and_means_are_those_of_all_worlds(db: Database, data: st.DataObject):
    classes, where = data.draw(CLASSES), data.draw(CONJUNCTIONS)
    spread = data.draw(st.sampled_from(["column", "uniform"]))
    text = (
        "SELECT count(x) nx, sum(x) sx, avg(x) ax, count(age) na, sum(age) sa, avg(age) aa,"
        f" sum(sex) ss, count(*) n FROM released{_where(where)}"
    )
    how = data.draw(st.sampled_from(["single", "cells"]))
    with db.connect() as conn, released_as(how) as asked:
        fill(conn, classes)
        (row,) = ask(conn, text, spread, asked)
        known = buckets(conn, classes, spread, asked)
    for name in ("x", "age"):
        value = _adds(where, lambda r, name=name: r[name])
        counted = _adds(where, lambda r, name=name: None if r[name] is None else 1)
        exact = name == "x"
        agrees(row, f"n{name[0]}", oracle.total(known, counted))
        agrees(row, f"s{name[0]}", oracle.total(known, value), tight=exact)
        agrees(row, f"a{name[0]}", oracle.average(known, value), tight=exact)
    agrees(row, "ss", oracle.total(known, _adds(where, lambda r: r["sex"])), tight=False)


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
def test_extremes_are_those_of_all_worlds(db: Database, data: st.DataObject):
    classes, where = data.draw(CLASSES), data.draw(CONJUNCTIONS)
    names = ("x", "age", "sex")
    items = ", ".join(f"{m}({name}) {m}_{name}" for name in names for m in ("min", "max"))
    how = data.draw(st.sampled_from(["single", "cells", "dense"]))
    with db.connect() as conn, released_as(how) as asked:
        fill(conn, classes)
        (row,) = ask(conn, f"SELECT {items} FROM released{_where(where)}", "uniform", asked)
        known = buckets(conn, classes, "uniform", asked)
    for name in names:
        value = _adds(where, lambda r, name=name: r[name])
        for best in (min, max):
            found = f"{best.__name__}_{name}"
            low, high = row[f"{found}_lower"], row[f"{found}_upper"]
            wanted = oracle.extreme(known, value, best)
            if name == "x" or not where.text:
                assert (low, high) == wanted
            else:
                assert low is None or (wanted[0] is not None and low <= wanted[0])
                assert high is None or (wanted[1] is not None and high >= wanted[1])
            assert row[found] == (low if low == high else None)


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
def test_groups_are_those_of_all_worlds(db: Database, data: st.DataObject):
    classes, where = data.draw(CLASSES), data.draw(CONJUNCTIONS)
    keys = data.draw(
        st.sets(st.sampled_from(["age / 2", "sex", "flu", "x"]), min_size=1, max_size=3).map(sorted)
    )
    listed = ", ".join(f"{key} AS k{i}" for i, key in enumerate(keys))
    text = f"SELECT {listed}, count(*) n, sum(x) s, avg(age) a FROM released{_where(where)}"
    text += f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}"
    with db.connect() as conn:
        fill(conn, classes)
        rows = ask(conn, text, "uniform")
        known = buckets(conn, classes, "uniform")
    groups = {
        tuple(_key(record, key) for key in keys)
        for bucket in known
        for _, records in oracle.worlds(bucket)
        for record in records
        if where.holds(record) is True
    }
    assert {tuple(row[f"k{i}"] for i in range(len(keys))) for row in rows} == groups
    for row in rows:
        group = tuple(row[f"k{i}"] for i in range(len(keys)))

        def inside(record: Any, group: Any = group) -> Any:
            found = tuple(_key(record, key) for key in keys)
            return where.holds(record) is True and found == group

        within = Condition("", inside)
        agrees(row, "n", oracle.total(known, _adds(within, lambda r: 1)))
        agrees(row, "s", oracle.total(known, _adds(within, lambda r: r["x"])))
        agrees(row, "a", oracle.average(known, _adds(within, lambda r: r["age"])), tight=False)


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
def test_a_filter_is_one_more_condition(db: Database, data: st.DataObject):
    """Of groups as well, in which it may keep nothing."""
    classes, where = data.draw(CLASSES), data.draw(CONJUNCTIONS)
    kept = data.draw(CONJUNCTIONS.filter(lambda c: bool(c.text)))
    key = data.draw(st.sampled_from(["flu", "age / 2", None]))
    items = ["count(*) n", *[f"{x} FILTER (WHERE {kept.text}) {y}" for x, y in _FILTERED.items()]]
    text = f"SELECT {', '.join([*([f'{key} AS k'] if key else []), *items])} FROM released"
    text += _where(where) + (" GROUP BY 1 ORDER BY f DESC" if key else "")
    with db.connect() as conn:
        fill(conn, classes)
        rows = ask(conn, text, "column")
        known = buckets(conn, classes, "column")
    assert [row["f"] for row in rows] == sorted((row["f"] for row in rows), reverse=True)
    both = _both(where, kept) if where.text else kept
    for row in rows:

        def inside(record: Any, condition: Condition, row: Any = row) -> Any:
            own = key is None or _key(record, key) == row["k"]
            return condition.holds(record) is True and own

        whole = Condition("", lambda r: inside(r, where))
        own = Condition("", lambda r: inside(r, both))
        agrees(row, "n", oracle.total(known, _adds(whole, lambda r: 1)))
        agrees(row, "f", oracle.total(known, _adds(own, lambda r: 1)))
        agrees(row, "s", oracle.total(known, _adds(own, lambda r: r["x"])))
        agrees(row, "a", oracle.average(known, _adds(own, lambda r: r["x"])))
        assert row["maybe_empty"] == (row["n_lower"] == 0)


_FILTERED = {"count(*)": "f", "sum(x)": "s", "avg(x)": "a"}


@dataclass(frozen=True)
class Expression:
    """SQL, and its value from a count, a count with FILTER and a sum; None: a division by 0."""

    text: str
    value: Any = field(compare=False)


def _applied(one: Expression, operator: str, other: Expression) -> Expression:
    def value(known: Any) -> Any:
        a, b = one.value(known), other.value(known)
        if a is None or b is None or (operator == "/" and b == 0):
            return None
        if operator != "/":
            return {"+": a + b, "-": a - b, "*": a * b}[operator]
        return int(Fraction(a, b)) if isinstance(a, int) and isinstance(b, int) else Fraction(a) / b

    return Expression(f"({one.text} {operator} {other.text})", value)


def _negated(item: Expression) -> Expression:
    return _applied(Expression("0", lambda known: 0), "-", item)


_LEAVES = [
    *[Expression(str(number), lambda known, number=number: number) for number in (2, 7)],
    Expression("0.5", lambda known: Fraction(1, 2)),
    Expression("count(*)", lambda known: known[0]),
    Expression("count(*) FILTER (WHERE sex = 1)", lambda known: known[1]),
    Expression("sum(x)", lambda known: known[2]),
]
EXPRESSIONS = st.recursive(
    st.sampled_from(_LEAVES),
    lambda inner: st.one_of(
        st.builds(_applied, inner, st.sampled_from("+-*/"), inner),
        inner.map(lambda e: Expression(f"- {e.text}", _negated(e).value)),
        inner.map(lambda e: Expression(f"{e.text}::numeric", _applied(e, "*", _ONE).value)),
    ),
    max_leaves=4,
).filter(lambda e: "(*)" in e.text or "(x)" in e.text)
_ONE = Expression("1", lambda known: Fraction(1))


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
def test_arithmetic_of_aggregates_is_within_its_bounds(db: Database, data: st.DataObject):
    """In every world, in the types of the source."""
    classes, where = data.draw(CLASSES), data.draw(CONJUNCTIONS)
    drawn = data.draw(st.lists(EXPRESSIONS, min_size=4, max_size=4))
    text = ", ".join(f"{e.text} AS e{i}" for i, e in enumerate(drawn))
    with db.connect() as conn:
        fill(conn, classes)
        (row,) = ask(conn, f"SELECT {text} FROM released{_where(where)}", "uniform")
        known = buckets(conn, classes, "uniform")
    reached = {(0, 0, 0)}
    for bucket in known:
        own = {
            (
                len(found),
                sum(r["sex"] == 1 for r in found),
                sum(r["x"] or 0 for r in found),
            )
            for _, records in oracle.worlds(bucket)
            for found in [[r for r in records if where.holds(r) is True]]
        }
        reached = {tuple(a + b for a, b in zip(x, y, strict=True)) for x in reached for y in own}
    for number, expression in enumerate(drawn):
        figures = [row[f"e{number}{end}"] for end in ("_lower", "_low", "", "_high", "_upper")]
        values = [expression.value(totals) for totals in reached]
        if figures[0] is None:
            assert "/" in expression.text
            continue
        assert None not in values
        figures = list(map(float, figures))
        assert figures[0] - 1e-9 <= min(values) <= max(values) <= figures[-1] + 1e-9
        assert figures == sorted(figures)
        error = row[f"e{number}_error"]
        alone = expression in _LEAVES
        assert alone or error is None or (error == 0 and figures[0] == figures[-1])


def _key(record: Any, key: str) -> Any:
    if key == "age / 2":
        return None if record["age"] is None else record["age"] // 2
    return record[key]
