"""Sources whose people come and go, released with `refresh: invariant`, for tests of signatures.

The quasi-identifier of a person is the number of the person, so that published rows say who it is.
Of several sensitive columns the value of a person is a vector.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg import sql

from pganon.identifiers import parse_name
from pganon.run.options import Options
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles.invariance import Group, Person, Value, Vector
from tests.support.sources.builders import make_table, policy

People = Mapping[Person, Value]
Vectors = dict[Person, Vector]


def declared(name: str = "t", l: int = 2, **others: Any) -> dict[str, Any]:  # noqa: E741
    return policy(
        {"id": "identifying", "q": "q", "s": "s"},
        [{"model": "anatomy_l_diversity", "column": "s", "l": l}],
        **{
            "release": f"r_{name}",
            "source": f"public.{name}",
            "method": {"name": "anatomy", "block_size": 4 * l, "division": "eligible"},
            "refresh": "invariant",
            "population": {"renewed": True},
            "suppression_limit": 1,
            **others,
        },
    )


def declared_vectors(
    name: str = "t",
    l: int = 2,  # noqa: E741 (the field's own letter)
    columns: Sequence[str] = ("s", "u"),
    *,
    sliced: bool = False,
    **others: Any,
) -> dict[str, Any]:
    """The same of slamsa, with one sensitive table per column if not said otherwise."""
    method = {
        "name": "slamsa",
        "optimizer": "base",
        "block_size": 4 * l,
        "sensitive_tables": [[column] for column in columns],
        **({"quasi_tables": [["q"], ["z"]]} if sliced else {}),
        **others.pop("method", {}),
    }
    declared = {
        "id": "identifying",
        "q": "q",
        **({"z": "q"} if sliced else {}),
        **dict.fromkeys(columns, "s"),
    }
    return policy(
        declared,
        others.pop("privacy", [{"model": "slicing_l_diversity", "l": l}]),
        **{
            "release": f"r_{name}",
            "source": f"public.{name}",
            "method": method,
            "refresh": "invariant",
            "population": {"renewed": True},
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
    columns: tuple[str, ...] = ("s",)
    versions: list[dict[int, Group]] = field(default_factory=list)
    results: list[RunResult] = field(default_factory=list)

    def fill(self, people: People) -> None:
        """Make these the people of the source, in another physical order every time."""
        rows = [(person, *self._values(person, value)) for person, value in people.items()]
        random.Random(len(self.versions)).shuffle(rows)
        table = sql.Identifier("public", self.name)
        with self.db.connect("source_owner") as owner:
            if not self.versions:
                quasi = dict.fromkeys(("q", "z") if self.several else ("q",), "integer")
                columns = {**quasi, **dict.fromkeys(self.columns, self.kind)}
                make_table(owner, columns, [], name=("public", self.name))
            owner.execute(sql.SQL("DELETE FROM {}").format(table))
            places = sql.SQL(", ").join([sql.Placeholder()] * len(rows[0]))
            names = ["id", "q", *(["z"] if self.several else []), *self.columns]
            listed = sql.SQL(", ").join(map(sql.Identifier, names))
            insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(table, listed, places)
            owner.cursor().executemany(insert, rows)

    def release(self, people: People | None = None, **others: Any) -> dict[int, Group]:
        """Publish a version of these people, or of those that are there."""
        if people is not None:
            self.fill(people)
        document = self.declared(**others)
        self.results.append(
            run_release(
                driver.loaded(document), dsn=self.db.dsn("steward"), options=Options(force=True)
            )
        )
        self.versions.append(self.published(document["release"]))
        return self.versions[-1]

    def declared(self, **others: Any) -> dict[str, Any]:
        if not self.several:
            return declared(self.name, self.l, **others)
        return declared_vectors(self.name, self.l, self.columns, **others)

    @property
    def several(self) -> bool:
        return len(self.columns) > 1

    def _values(self, person: Person, value: Any) -> Sequence[Any]:
        return (person, person % 3, *value) if self.several else (person, value)

    def tried(self, **others: Any) -> RunResult:
        """A dry run of the people who are there."""
        return run_release(
            driver.loaded(self.declared(**others)),
            dsn=self.db.dsn("steward"),
            options=Options(dry_run=True),
        )

    def published(self, release: str) -> dict[int, Group]:
        """The groups that readers see; the counterfeits that they see must be what is missing."""
        people: dict[int, set[Person]] = {}
        views = self._views(release)
        quasi = next(view for view in views if view.startswith("qit"))
        for number, person in self._rows(f"{release}_{quasi}", "group_id, q"):
            people.setdefault(number, set()).add(person)
        shown = [self._shown(release, views, column) for column in self.columns]
        assert all(people.keys() == values.keys() for values in shown)
        first, *others = shown
        found = {
            n: Group(frozenset(people[n]), tuple(first[n]), tuple(tuple(v[n]) for v in others))
            for n in people
        }
        told = dict(self._rows(f"{release}_counterfeits", "group_id, count"))
        assert told == {n: group.counterfeits for n, group in found.items() if group.counterfeits}
        return found

    @property
    def everything(self) -> list[list[Group]]:
        """The groups of all versions."""
        return [list(groups.values()) for groups in self.versions]

    @property
    def placed(self) -> set[Person]:
        """Who is in the last version."""
        return {person for group in self.versions[-1].values() for person in group.people}

    def _views(self, release: str) -> list[str]:
        """The parts of a release, `qit` first and then the sensitive tables."""
        rows = self.db.admin.execute(
            "SELECT substr(viewname, length(%(r)s) + 2) FROM pg_views"
            " WHERE schemaname = 'published' AND viewname ~ ('^' || %(r)s || '_(q|s)')"
            " ORDER BY 1",
            {"r": release},
        )
        return [part for (part,) in rows.fetchall()]

    def _shown(self, release: str, views: Sequence[str], column: str) -> dict[int, list[Value]]:
        """Values of a column by group, each as often as it is there."""
        found: dict[int, list[Value]] = {}
        for view in views:
            if view.startswith("st") and column in self._columns(f"{release}_{view}"):
                for number, value, count in self._rows(
                    f"{release}_{view}", f"group_id, {column}, count"
                ):
                    found.setdefault(number, []).extend([value] * count)
        return found

    def sensitive_rows(self, release: str) -> list[tuple[list[str], list[tuple[Any, ...]]]]:
        """Of every sensitive table its columns, and rows (group_id, count, these)."""
        found: list[tuple[list[str], list[tuple[Any, ...]]]] = []
        for view in self._views(release):
            if view.startswith("st"):
                here = self._columns(f"{release}_{view}")
                names = [column for column in self.columns if column in here]
                text = ", ".join(["group_id", "count", *names])
                found.append((names, self._rows(f"{release}_{view}", text)))
        return found

    def _columns(self, view: str) -> set[str]:
        rows = self.db.admin.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
            [f"published.{view}"],
        )
        return {name for (name,) in rows.fetchall()}

    def _rows(self, view: str, columns: str) -> list[tuple[Any, ...]]:
        text = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(columns),  # pyright: ignore[reportArgumentType]
            sql.Identifier("published", view),
        )
        return self.db.admin.execute(text).fetchall()

    @property
    def signatures(self) -> dict[frozenset[Value], set[Person]]:
        """Who has which signature, by all versions."""
        found: dict[frozenset[Value], set[Person]] = {}
        for version in self.versions:
            for group in version.values():
                found.setdefault(frozenset(group.values), set()).update(group.people)
        return found

    @property
    def remembered(self) -> Counter[Any]:
        """Numbers of people by signature."""
        rows = self.db.admin.execute(
            "SELECT s.person_table FROM pganon_private.value_sets AS s"
            " JOIN pganon_private.version AS v ON v.population = s.population"
            " WHERE v.release = %s AND v.version = 1",
            [f"r_{self.name}"],
        ).fetchall()
        ((person,),) = rows
        text = "SELECT p.value_set::text, count(*) FROM {} p GROUP BY 1"
        counted = sql.SQL(text).format(sql.Identifier(*parse_name(person)))  # pyright: ignore
        return Counter(dict(self.db.admin.execute(counted).fetchall()))
