"""Random tables released by slamsa, judged from what is published alone."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused, run
from tests.support.harness.examples import examples
from tests.support.oracles.sliced import Row
from tests.support.sources.builders import make_table, policy
from tests.support.sources.registry import records
from tests.support.sources.slamsa import Asked, check, objective, shown

pytestmark = pytest.mark.primary_server_only

Rng = random.Random
KINDS: dict[str, Callable[[Rng], Any]] = {
    "integer": lambda rng: rng.randint(-3, 9),
    "numeric": lambda rng: Decimal(rng.randint(0, 12)) / 4,
    "date": lambda rng: dt.date(1999, 12, 28) + dt.timedelta(days=rng.randint(0, 9)),
    "text": lambda rng: rng.choice("abcdefg"),
    "boolean": lambda rng: rng.random() < 0.5,
}
NUMBERS = ("integer", "numeric", "date")


@dataclass
class Case:
    """A random table, its policy, what it asks for, and the records that it does not leave out."""

    columns: dict[str, str]
    rows: list[list[Any]]
    records: list[Row]
    asked: Asked
    document: dict[str, Any]

    @property
    def eligible(self) -> bool:
        tables = self.document["method"]["sensitive_tables"]
        wanted = [([name], l) for name, l in self.asked.least.items()]  # noqa: E741
        wanted += [(table, self.asked.tuples) for table in tables if self.asked.tuples]
        return all(largest(self.records, names) >= l for names, l in wanted)  # noqa: E741


def largest(rows: Sequence[Row], names: Sequence[str]) -> int:
    """The largest l that the whole table satisfies."""
    return len(rows) // max(Counter(tuple(row[name] for name in names) for row in rows).values())


def column(rng: Rng, kind: str, size: int, *, varied: bool) -> list[Any]:
    """Values with NULLs; sensitive ones are less even, or else most of them are unique."""
    nulls = rng.choice((0, 0, 0.1, 0.3))
    values = [KINDS[kind](rng) for _ in range(size)]
    if varied and rng.random() < 0.3:
        values = [rng.choice((value, values[0])) for value in values]
    return [None if rng.random() < nulls else value for value in values]


def split(rng: Rng, names: Sequence[str], parts: int) -> list[list[str]]:
    """Into so many lists, none of which is empty."""
    drawn = rng.sample(names, len(names))
    found = [[name] for name in drawn[:parts]]
    for name in drawn[parts:]:
        rng.choice(found).append(name)
    return found


def case(rng: Rng, **method: Any) -> Case:
    size = rng.choice((rng.randint(3, 20), rng.randint(20, 70)))
    quasi = {f"q{i}": rng.choice([*KINDS]) for i in range(rng.randint(1, 3))}
    sensitive = {f"s{i}": rng.choice([*KINDS]) for i in range(rng.randint(1, 4))}
    columns = {**quasi, "other": "integer", **sensitive}
    values = [column(rng, kind, size, varied=name in sensitive) for name, kind in columns.items()]
    rows = [list(row) for row in zip(*values, strict=True)]
    tables = split(rng, [*sensitive], rng.randint(1, len(sensitive)))
    every = records(columns, rows)
    known = [row for row in every if row["q0"] is not None]
    kept = known if len(known) > 2 and rng.random() < 0.3 else every
    asked = wishes(rng, kept, [*sensitive], tables)
    method = {"name": "slamsa", "sensitive_tables": tables, **method}
    if rng.random() < 0.4 and len(quasi) > 1:
        method["quasi_tables"] = rng.choice((2, split(rng, [*quasi], 2)))
    if rng.random() < 0.4:
        method |= {"profile": "independent", "link_threshold": 1}
    method["block_size"] = rng.choice((2, 8, 500))
    method["division"] = rng.choice(("public", "eligible"))
    roles: dict[str, Any] = {
        **dict.fromkeys(quasi, "q"),
        "other": "i",
        **dict.fromkeys(sensitive, "s"),
    }
    if kept is known:
        roles["q0"] = {"nulls": "suppress"}
    document = policy(roles, models(asked), method=method, suppression_limit=1.0)
    return Case(columns, rows, kept, Asked(declared=[*columns], **asked), document)


def wishes(
    rng: Rng, rows: Sequence[Row], names: Sequence[str], tables: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Mostly what can be had, sometimes one more; not of every column."""
    more = rng.random() < 0.15
    least = {name: min(largest(rows, [name]) + more, rng.randint(2, 4)) for name in names}
    least = {name: l for name, l in least.items() if l > 1}  # noqa: E741 (the field's letter)
    asked: dict[str, Any] = {"least": least}
    most = min(largest(rows, table) for table in tables)
    if most > 1 and (not least or rng.random() < 0.5):
        asked["tuples"] = min(most, rng.randint(2, 5))
    if rng.random() < 0.3:
        asked["size"] = min(rng.randint(2, 6), len(rows))
    if not least and not asked.get("tuples"):
        asked["least"] = {names[0]: 2}
    return asked


def models(asked: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"column": name, "l": l}
        for name, l in asked["least"].items()  # noqa: E741 (the field's letter)
    ]
    if "tuples" in asked:
        found.append({"l": asked["tuples"], "level": "tuple"})
    if "size" in asked:
        found[-1]["min_size"] = asked["size"]
    return [{"model": "slicing_l_diversity", **model} for model in found]


@pytest.mark.random_tables
@examples(4)
@given(seed=st.integers(0, 2**32))
@pytest.mark.slow
def test_random_tables(db: Database, seed: int) -> None:
    rng = random.Random(seed)
    conn = db.owner()
    for turn in range(4):
        drawn = case(rng, optimizer=rng.choice(("firefly", "firefly", "base")))
        make_table(db.connect("source_owner"), drawn.columns, drawn.rows)
        if rng.random() < 0.2:
            db.source("ALTER TABLE public.t DROP COLUMN id", grant=False)
        if not drawn.eligible:
            with refused() as errors:
                run(conn, drawn.document)
            assert errors[0].code in ("infeasible", "too_few_records")
            continue
        staged = run(conn, drawn.document, seed=turn)
        found = shown(staged)
        check(found, drawn.records, drawn.asked)
        p = found.published
        assert found.tables == drawn.document["method"]["sensitive_tables"]
        if drawn.document["method"]["division"] == "eligible":
            assert staged.utility.objective <= staged.utility.baseline + 1e-9
        if drawn.document["method"]["optimizer"] == "base":
            assert staged.utility.objective == staged.utility.baseline
        complete = len(drawn.records) == len(drawn.rows)
        if len(p.qits) == 1 and p.links == "aligned" and complete:
            quasi = [n for n in drawn.columns if n.startswith("q")]
            numbers = [n for n in quasi if drawn.columns[n] in NUMBERS]
            rest = [n for n in quasi if n not in numbers]
            expected = objective(p.qits[0], numbers, rest)
            assert staged.utility.objective == pytest.approx(expected, abs=1e-6)
        if turn == 0:
            again = shown(run(conn, drawn.document, seed=turn))
            assert again == found
        driver.drop_leftovers(conn)
