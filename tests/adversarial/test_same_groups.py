"""Attack: keep several versions over one source and intersect their groups."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg import sql

from pganon.publish import lifecycle
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

QUASI_SENSITIVE = {
    column: {"role": "quasi_sensitive", "set": name}
    for name, columns in vehicles.SETS.items()
    for column in columns
}
INSENSITIVE = {"note": {"role": "insensitive"}, "fee": {"role": "insensitive"}}
IDENTIFYING = {"hour": {"role": "quasi_identifying"}, "mark": {"role": "quasi_identifying"}}
ANATOMY = [{"model": "anatomy_l_diversity", "column": "colour", "l": 3}]


@dataclass(frozen=True)
class Method:
    """A method with random choices; `parts` are the stored relations that readers see."""

    name: str
    options: dict[str, Any]
    columns: dict[str, Any]
    privacy: list[dict[str, Any]]
    number: str
    parts: tuple[str, ...]

    def policy(self, **changes: Any) -> Any:
        return vehicles.policy(
            columns={**self.columns, **INSENSITIVE},
            privacy=self.privacy,
            method={"name": self.name, **self.options},
            **changes,
        )


CLUSTERS = (QUASI_SENSITIVE, vehicles.requirement(4), "cluster_no", ("clusters",))
METHODS = [
    Method("qs_greedy", {"block_size": 48}, *CLUSTERS),
    Method("qs_efficient", {"block_size": 48}, *CLUSTERS),
    Method(
        "anatomy",
        {},
        {**IDENTIFYING, "colour": {"role": "sensitive"}},
        ANATOMY,
        "group_id",
        ("qit", "st"),
    ),
    Method(
        "mondrian",
        {"variant": "relaxed"},
        IDENTIFYING,
        [{"model": "k_anonymity", "k": 4}],
        "class_id",
        ("classes", "records"),
    ),
]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


@dataclass(frozen=True)
class Version:
    """What a version says: the group of every member, and the rows of every group."""

    run_id: int
    numbers: dict[str, int]
    rows: dict[int, Counter[Any]]

    @property
    def groups(self) -> set[frozenset[str]]:
        found: dict[int, set[str]] = {}
        for member, number in self.numbers.items():
            found.setdefault(number, set()).add(member)
        return {frozenset(members) for members in found.values()}

    @property
    def shown(self) -> Counter[Any]:
        """Groups as readers see them, without their numbers."""
        return Counter(frozenset(rows.items()) for rows in self.rows.values())


def build(db: Database, *, key: bool = True) -> None:
    """Vehicles of which many are equal in what is grouped, so that chance has a lot to decide."""
    once = vehicles.rows(180)
    rows = [*once, *once[:60], *once[:30]]
    # Fees that are equal look different.
    different = [(*row[:5], f"{row[5]}.{'0' * (1 + n // 60)}", n % 7) for n, row in enumerate(rows)]
    columns = {**vehicles.COLUMNS, "mark": "integer"}
    source = db.connect("source_owner")
    make_table(source, columns, different, name=("public", "vehicle"))
    if not key:
        source.execute("ALTER TABLE public.vehicle DROP COLUMN id")


def reorder(db: Database) -> None:
    """The same records in another physical order."""
    db.source(
        "CREATE TEMP TABLE copied AS SELECT * FROM public.vehicle; TRUNCATE public.vehicle;"
        " INSERT INTO public.vehicle SELECT * FROM copied ORDER BY random(); DROP TABLE copied"
    )


def publish(db: Database, method: Method, **changes: Any) -> Version:
    run_id = faults.run(db.dsn(), method.policy(**changes)).run_id
    members = sql.Identifier("pganon_private", f"r{run_id}_members")
    found = driver.fetch(db.admin, sql.SQL("SELECT * FROM {}").format(members))
    rows: dict[int, Counter[Any]] = {}
    for part in method.parts:
        table = sql.Identifier("pganon_data", f"r{run_id}_{part}")
        for row in driver.fetch(db.admin, sql.SQL("SELECT * FROM {}").format(table)):
            number = row.pop(method.number)
            rows.setdefault(number, Counter())[(part, *map(canonical, row.values()))] += 1
    return Version(run_id, {row["member"]: row[method.number] for row in found}, rows)


def canonical(value: Any) -> Any:
    """The order inside a bag is drawn anew."""
    return tuple(sorted(map(repr, value))) if isinstance(value, list) else repr(value)


def secrets(db: Database, column: str, *versions: Version) -> list[Any]:
    text = sql.SQL("SELECT {} FROM pganon_private.run_secret WHERE run_id = %s")
    name = sql.Identifier(column)
    found = [db.admin.execute(text.format(name), [v.run_id]).fetchone() for v in versions]
    return [row[0] for row in found if row]


@pytest.mark.slow
@every_method
def test_versions_over_one_source_have_the_same_groups(db: Database, method: Method) -> None:
    build(db)
    versions = [publish(db, method)]
    for _ in range(2):
        reorder(db)
        versions.append(publish(db, method))
    first, *others = versions
    assert len(first.groups) > 10
    for other in others:
        assert other.groups == first.groups
        assert other.shown == first.shown
    for one, two in itertools.combinations(versions, 2):
        same = sum(one.numbers[member] == two.numbers[member] for member in one.numbers)
        assert same < len(one.numbers) / 2, "numbers of groups are drawn anew"
    assert len(set(secrets(db, "partition_seed", *versions))) == 1
    for column in ("key", "seed_a", "seed_b"):
        assert len(set(secrets(db, column, *versions))) == 3


@every_method
@pytest.mark.slow
def test_without_a_key_of_the_records_too(db: Database, method: Method) -> None:
    build(db, key=False)
    first = publish(db, method)
    reorder(db)
    assert publish(db, method).shown == first.shown


@every_method
@pytest.mark.slow
def test_chance_decides(db: Database, method: Method) -> None:
    """What the other tests compare would differ if the seed were not taken over."""
    build(db)
    first = publish(db, method, release="one")
    db.admin.execute("UPDATE pganon_private.version SET partition_hash = 'x'")
    second = publish(db, method, release="two", republication="allow")
    assert first.groups != second.groups


@every_method
@pytest.mark.slow
def test_releases_over_one_source_have_the_same_groups(db: Database, method: Method) -> None:
    build(db)
    first = publish(db, method, release="one")
    reorder(db)
    second = publish(db, method, release="two")
    assert second.groups == first.groups
    assert second.shown == first.shown
    assert len(set(secrets(db, "partition_seed", first, second))) == 1


@pytest.mark.slow
@every_method
def test_another_source_is_drawn_anew(db: Database, method: Method) -> None:
    build(db)
    first = publish(db, method)
    db.source("UPDATE public.vehicle SET note = 'another' WHERE id = 1")
    second = publish(db, method, republication="allow")
    third = publish(db, method)
    assert first.groups != second.groups == third.groups
    seeds = secrets(db, "partition_seed", first, second, third)
    assert seeds[0] != seeds[1] == seeds[2]
    db.source("UPDATE public.vehicle SET note = 'note 0' WHERE id = 1")
    fourth = publish(db, method)
    assert fourth.groups == first.groups, "the records of the first version again"


@pytest.mark.slow
def test_the_seed_outlives_rollback_drop_and_failed_runs(db: Database) -> None:
    method = METHODS[2]
    build(db)
    versions = [publish(db, method), publish(db, method)]
    conn = db.owner()
    lifecycle.show_earlier(conn, "vehicles")
    versions.append(publish(db, method))
    lifecycle.drop(conn, "vehicles")
    db.source("UPDATE public.vehicle SET note = note || '!' WHERE id = 1")
    with driver.refused("republication"):
        publish(db, method)
    db.source("UPDATE public.vehicle SET note = trim(trailing '!' from note) WHERE id = 1")
    versions.append(publish(db, method))
    assert all(version.groups == versions[0].groups for version in versions)


@pytest.mark.slow
def test_without_the_secrets_of_a_version_its_groups_do_not_come_again(db: Database) -> None:
    """Nobody knows the seed any more, and other groups are refused."""
    method = METHODS[2]
    build(db)
    first = publish(db, method)
    db.admin.execute("DELETE FROM pganon_private.run_secret")
    with driver.refused("republication"):
        publish(db, method)
    assert publish(db, method, republication="allow").groups != first.groups


@pytest.mark.parametrize(
    ("method", "privacy", "order"),
    [
        ({"name": "mondrian", "variant": "relaxed"}, {"model": "k_anonymity", "k": 2}, "rid"),
        ({"name": "anatomy"}, {"model": "anatomy_l_diversity", "column": "s", "l": 2}, "draw"),
    ],
    ids=["numbered", "drawn"],
)
def test_the_order_of_records_says_nothing_of_others(
    db: Database, method: dict[str, Any], privacy: dict[str, Any], order: str
) -> None:
    """Records that share values would be in the same order, rotated, if hashes just added up."""
    size = 24
    rows = [[q, s] for q in range(size) for s in range(size)]
    conn = db.connect("source_owner")
    make_table(conn, {"q": "integer", "s": "integer"}, rows)
    conn.execute("ALTER TABLE public.t DROP COLUMN id")
    staged = driver.run(db.owner(), policy({"q": "q", "s": "s"}, [privacy], method=method))
    name = staged.state.work("coded").identifier
    text = sql.SQL("SELECT c0, v0, {} AS place FROM {}").format(sql.Identifier(order), name)
    found = driver.fetch(db.owner(), text)
    places = sorted(row["place"] for row in found)
    assert len(set(places)) == size**2
    assert order == "draw" or places == list(range(1, size**2 + 1))
    ranks = []
    for value in range(size):
        of_value = [(row["place"], row["c0"]) for row in found if row["v0"] == value]
        codes = [code for _, code in sorted(of_value)]
        ranks.append([codes.index(code) for code in range(1, size + 1)])
    squares = [correlation(a, b) ** 2 for a, b in itertools.combinations(ranks, 2)]
    # 1 / (size - 1) on average if orders are independent.
    assert sum(squares) / len(squares) < 2 / (size - 1)


def correlation(one: list[int], two: list[int]) -> float:
    """Spearman's, of two orders of the same things."""
    n = len(one)
    squares = sum((a - b) ** 2 for a, b in zip(one, two, strict=True))
    return 1 - 6 * squares / (n * (n * n - 1))
