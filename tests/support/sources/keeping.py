"""Sources whose people come and go, released with `refresh: invariant`, for tests of value sets.

The quasi-identifier of a person is the number of the person, so that published rows say who it is.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg import sql

from pganon.identifiers import parse_name
from pganon.run.options import Options
from pganon.run.pipeline import run_release
from pganon.run.result import RunResult
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles.invariance import Group, Person, Value
from tests.support.sources.builders import make_table, policy

People = Mapping[Person, Value]


def declared(name: str = "t", l: int = 2, **others: Any) -> dict[str, Any]:  # noqa: E741
    return policy(
        {"id": "identifying", "q": "q", "s": "s"},
        [{"model": "anatomy_l_diversity", "column": "s", "l": l}],
        **{
            "release": f"r_{name}",
            "source": f"public.{name}",
            "method": {"name": "anatomy", "block_size": 4 * l, "division": "eligible"},
            "refresh": "invariant",
            "suppression_limit": 1,
            **others,
        },
    )


@dataclass
class Kept:
    """A source and the versions that were published of it.

    Attributes:
        versions: their groups, by number.
        results: of the runs that published them.
    """

    db: Database
    name: str = "t"
    l: int = 2  # noqa: E741 (the field's own letter)
    kind: str = "text"
    versions: list[dict[int, Group]] = field(default_factory=list)
    results: list[RunResult] = field(default_factory=list)

    def fill(self, people: People) -> None:
        """Make these the people of the source, in another physical order every time."""
        rows = [(person, person, value) for person, value in people.items()]
        random.Random(len(self.versions)).shuffle(rows)
        owner = self.db.connect("source_owner")
        table = sql.Identifier("public", self.name)
        if not self.versions:
            columns = {"q": "integer", "s": self.kind}
            make_table(owner, columns, [], name=("public", self.name))
        owner.execute(sql.SQL("DELETE FROM {}").format(table))
        with owner.cursor() as cursor:
            cursor.executemany(sql.SQL("INSERT INTO {} VALUES (%s, %s, %s)").format(table), rows)

    def release(self, people: People | None = None, **others: Any) -> dict[int, Group]:
        """Publish a version of these people, or of those that are there."""
        if people is not None:
            self.fill(people)
        document = declared(self.name, self.l, **others)
        self.results.append(
            run_release(
                driver.loaded(document), dsn=self.db.dsn("steward"), options=Options(force=True)
            )
        )
        self.versions.append(self.published(document["release"]))
        return self.versions[-1]

    def tried(self, **others: Any) -> RunResult:
        """A dry run of the people who are there."""
        return run_release(
            driver.loaded(declared(self.name, self.l, **others)),
            dsn=self.db.dsn("steward"),
            options=Options(dry_run=True),
        )

    def published(self, release: str) -> dict[int, Group]:
        """The groups that readers see; the counterfeits that they see must be what is missing."""
        people: dict[int, set[Person]] = {}
        for number, person in self._rows(f"{release}_qit", "group_id, q"):
            people.setdefault(number, set()).add(person)
        values: dict[int, list[Value]] = {}
        for number, value, count in self._rows(f"{release}_st", "group_id, s, count"):
            values.setdefault(number, []).extend([value] * count)
        assert people.keys() == values.keys()
        found = {n: Group(frozenset(people[n]), tuple(values[n])) for n in people}
        told = dict(self._rows(f"{release}_counterfeits", "group_id, count"))
        assert told == {n: group.counterfeits for n, group in found.items() if group.counterfeits}
        return found

    def _rows(self, view: str, columns: str) -> list[tuple[Any, ...]]:
        text = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(columns),  # pyright: ignore[reportArgumentType]
            sql.Identifier("published", view),
        )
        return self.db.admin.execute(text).fetchall()

    @property
    def value_sets(self) -> dict[frozenset[Value], set[Person]]:
        """Who has which value set, by all versions."""
        found: dict[frozenset[Value], set[Person]] = {}
        for version in self.versions:
            for group in version.values():
                found.setdefault(frozenset(group.values), set()).update(group.people)
        return found

    @property
    def remembered(self) -> Counter[Any]:
        """Numbers of people by value set in the memory; None of who was not released."""
        rows = self.db.admin.execute(
            "SELECT m.person_table, m.cell_table FROM pganon_private.memory AS m"
            " JOIN pganon_private.version AS v ON v.population = m.population"
            " WHERE v.release = %s AND v.version = 1",
            [f"r_{self.name}"],
        ).fetchall()
        ((person, cell),) = rows
        text = "SELECT c.value_set::text, count(*) FROM {} p JOIN {} c USING (cell) GROUP BY 1"
        counted = sql.SQL(text).format(
            sql.Identifier(*parse_name(person)),
            sql.Identifier(*parse_name(cell)),  # pyright: ignore
        )
        return Counter(dict(self.db.admin.execute(counted).fetchall()))
