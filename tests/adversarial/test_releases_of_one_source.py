"""Attack: intersect releases of one source, whatever their names and policies are."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg import sql

from pganon.history import populations
from pganon.publish import lifecycle
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy
from tests.support.sources.identity import eir

pytestmark = pytest.mark.primary_server_only

PEOPLE = 240
SECRET = "Zanzibar-7319"
"""A value of the source that no message may hold."""
VALUES = [SECRET, *[f"d{n:02}" for n in range(11)]]


@dataclass(frozen=True)
class Case:
    """A policy and a change of it; `number` is in the members and beside the values of `part`."""

    name: str
    policy: dict[str, Any]
    change: dict[str, Any]
    difference: str
    number: str
    part: str


def of(method: dict[str, Any], model: dict[str, Any], **columns: Any) -> dict[str, Any]:
    roles = {"q": "q", "z": "q", "s": "s", **columns}
    return policy(roles, [model], method=method, trust=["source_owner"])


def anatomy(l: int) -> dict[str, Any]:  # noqa: E741 (the field's letter)
    return {"model": "anatomy_l_diversity", "column": "s", "l": l}


def k(number: int) -> dict[str, Any]:
    return {"model": "k_anonymity", "k": number}


CASES = [
    Case(
        "anatomy",
        of({"name": "anatomy"}, anatomy(4)),
        {"privacy": [anatomy(5)]},
        "privacy.anatomy_l_diversity(s).l 4 -> 5",
        "group_id",
        "st",
    ),
    Case(
        "mondrian",
        of({"name": "mondrian", "variant": "relaxed"}, k(5)),
        {"privacy": [k(6)]},
        "privacy.k_anonymity.k 5 -> 6",
        "class_id",
        "records",
    ),
    Case(
        "danonyir",
        of({"name": "danonyir", "block_size": 60}, {**eir(4), "column": "s"}, person="individual"),
        {"method": {"name": "danonyir", "block_size": 50}},
        "method.block_size 60 -> 50",
        "class_id",
        "records",
    ),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
def source(db: Database) -> Database:
    """Everybody has quasi-identifiers of their own, which all readers know."""
    rng = random.Random(5)
    rows = [[n, rng.randint(0, 30), f"p{n}", rng.choice(VALUES)] for n in range(PEOPLE)]
    rng.shuffle(rows)
    columns = {"q": "integer", "z": "integer", "person": "text", "s": "text"}
    make_table(db.connect("source_owner"), columns, rows)
    return db


Possible = dict[str, set[Any]]


def possible(db: Database, case: Case, run_id: int) -> Possible:
    """What everybody may have, for readers who find the group of anybody."""
    members = sql.Identifier("pganon_private", f"r{run_id}_members")
    part = sql.Identifier("pganon_data", f"r{run_id}_{case.part}")
    number = sql.Identifier(case.number)
    text = sql.SQL("SELECT DISTINCT m.member, t.s FROM {} AS m JOIN {} AS t USING ({})")
    found: Possible = {}
    for member, value in db.admin.execute(text.format(members, part, number)).fetchall():
        found.setdefault(member, set()).add(value)
    return found


def certain(*seen: Possible) -> int:
    """People who are left with one value by all of what was seen."""
    return sum(len(set.intersection(*[one[m] for one in seen])) == 1 for m in seen[0])


def fewer(*seen: Possible) -> int:
    """People of whom all together leave fewer values than the first alone."""
    return sum(not set.intersection(*[one[m] for one in seen]) >= seen[0][m] for m in seen[0])


def publish(db: Database, declared: dict[str, Any]) -> Any:
    return driver.publish(db, {"republication": "refuse", **declared})


def refused(
    db: Database, declared: dict[str, Any], code: str = "republication", *, judged: bool = True
) -> str:
    """The message of a refusal, which says nothing of rows and recommends no other name.

    The rule about groups gives a reason; policies alone give none.
    """
    with driver.refused(code) as errors:
        publish(db, declared)
    error: Any = errors[0]
    text = f"{error} {error.hint}"
    assert SECRET not in text
    assert "another name" not in text
    assert "republication: warn" in text
    assert error.exit_code == 1
    assert (error.reason is not None) == (judged and code == "republication")
    assert driver.leftovers(db) == []
    return text


def warnings(result: Any) -> list[str]:
    words = ("learn what neither", "void for who has both")
    return [warning for warning in result.warnings if any(word in warning for word in words)]


def without_key(db: Database) -> None:
    """Nothing tells people apart, so nobody can be compared."""
    db.source("ALTER TABLE public.t DROP CONSTRAINT t_pkey", grant=False)


# -- other policies ---------------------------------------------------------------------------


@pytest.mark.slow
@every_case
@pytest.mark.parametrize("name", ["r", "other"])
def test_another_policy(source: Database, case: Case, name: str) -> None:
    first = possible(source, case, publish(source, case.policy).run_id)
    changed = {**case.policy, **case.change, "release": name}
    refused(source, changed)
    conn = source.owner()
    started, ended = faults.events(conn, name)[-2:]
    assert (started, ended.split(": ")[0]) == ("started", "refused")
    assert faults.version(conn, "r") == 1
    views = conn.execute("SELECT viewname::text FROM pg_views WHERE schemaname = 'published'")
    assert "other" not in {row[0] for row in views.fetchall()}
    # What it would have given away.
    done = publish(source, {**changed, "republication": "warn"})
    assert warnings(done)
    assert done.guard["guard_below_k"] > 0 or case.name == "anatomy"
    second = possible(source, case, done.run_id)
    assert certain(first) == 0
    assert fewer(first, second) > PEOPLE / 10
    if case.name == "anatomy":
        assert certain(first, second) > 0


def test_it_is_known_before_any_work(source: Database) -> None:
    """Where nobody can be told apart, the policies alone decide."""
    case = CASES[0]
    without_key(source)
    publish(source, case.policy)
    steps: list[str] = []
    changed = {**case.policy, **case.change}
    with driver.refused("no_identity") as errors:
        faults.run(source.dsn(), driver.loaded(changed), before=steps.append)
    assert case.difference in str(errors[0])
    assert "version 1 of the release r " in str(errors[0])
    assert steps == []


def test_allowed_without_a_word(source: Database) -> None:
    case = CASES[0]
    publish(source, case.policy)
    done = publish(source, {**case.policy, **case.change, "republication": "allow"})
    assert warnings(done) == []


# -- other names ------------------------------------------------------------------------------


@pytest.mark.slow
@every_case
def test_another_name_shows_the_same(source: Database, case: Case) -> None:
    """Three releases tell no more than one."""
    seen = [possible(source, case, publish(source, case.policy).run_id)]
    for name in ("two", "three"):
        done = publish(source, {**case.policy, "release": name, "republication": "warn"})
        assert warnings(done) == []
        seen.append(possible(source, case, done.run_id))
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]
    # Drawn anew, one more would have told.
    source.admin.execute("UPDATE pganon_private.version SET partition_hash = 'x'")
    refused(source, {**case.policy, "release": "four"})
    done = publish(source, {**case.policy, "release": "four", "republication": "allow"})
    assert fewer(seen[0], possible(source, case, done.run_id)) > PEOPLE / 10


@pytest.mark.slow
@every_case
def test_a_changed_source_under_another_name(source: Database, case: Case) -> None:
    publish(source, case.policy)
    source.source("DELETE FROM public.t WHERE id = 7", grant=False)
    refused(source, {**case.policy, "release": "other"})
    done = publish(source, {**case.policy, "release": "other", "republication": "warn"})
    assert warnings(done)


@pytest.mark.slow
@every_case
@pytest.mark.parametrize("kind", ["numeric", "text"])
def test_a_record_that_was_respelled(source: Database, case: Case, kind: str) -> None:
    """4.0 and 4.000 are equal, but a version that shows the second marks who was edited."""
    note = "7.0" if kind == "numeric" else "'x'"
    source.source(f"ALTER TABLE public.t ADD note {kind} NOT NULL DEFAULT {note}", grant=False)
    columns = {**case.policy["columns"], "note": {"role": "insensitive"}}
    declared = {**case.policy, "columns": columns}
    publish(source, declared)
    assert publish(source, declared).version == 2
    changed = "note * 1.00" if kind == "numeric" else "note || ' '"
    source.source(f"UPDATE public.t SET note = {changed} WHERE id = 7", grant=False)
    refused(source, declared)


@pytest.mark.parametrize("keyed", [True, False])
def test_labels_in_another_order(source: Database, keyed: bool) -> None:
    """The order of an enum decides groups, and nothing of its values changes with it."""
    source.source(
        """
        CREATE TYPE public.m0 AS ENUM ('a', 'b', 'c', 'd', 'e', 'f');
        ALTER TABLE public.t ADD m public.m0;
        UPDATE public.t SET m = (ARRAY['a', 'b', 'c', 'd', 'e', 'f'])[1 + id % 6]::public.m0
    """,
        grant=False,
    )
    if not keyed:
        source.source("ALTER TABLE public.t DROP CONSTRAINT t_pkey", grant=False)
    columns = {"m": {"role": "quasi_identifying", "type": "ordinal"}, "s": {"role": "sensitive"}}
    declared = {**CASES[0].policy, "columns": columns}
    publish(source, declared)
    assert publish(source, declared).version == 2
    source.source(
        """
        CREATE TYPE public.m1 AS ENUM ('d', 'a', 'f', 'c', 'b', 'e');
        ALTER TABLE public.t ALTER m TYPE public.m1 USING m::text::public.m1;
        DROP TYPE public.m0;
        ALTER TYPE public.m1 RENAME TO m0
    """,
        grant=False,
    )
    refused(source, declared, "republication" if keyed else "no_identity")


@pytest.mark.slow
def test_another_type_is_another_source(source: Database) -> None:
    """Though the values are equal, and have the same hash."""
    publish(source, CASES[1].policy)
    source.source("ALTER TABLE public.t ALTER z TYPE bigint", grant=False)
    refused(source, CASES[1].policy)


def test_the_release_itself_is_named_first(source: Database) -> None:
    case = CASES[0]
    without_key(source)
    publish(source, case.policy)
    other = {**case.policy, "release": "other", "privacy": [anatomy(3)]}
    publish(source, {**other, "republication": "allow"})
    assert "version 1 of the release r " in refused(
        source, {**case.policy, **case.change}, "no_identity"
    )
    assert "version 1 of the release other " in refused(
        source, {**case.policy, **case.change, "release": "third"}, "no_identity"
    )


@pytest.mark.slow
def test_what_was_shown_may_be_shown_again(source: Database) -> None:
    """Not only the newest version counts: any whose groups come out again will do."""
    case = CASES[0]
    first = publish(source, case.policy)
    publish(source, {**case.policy, **case.change, "republication": "allow"})
    again = publish(source, {**case.policy, "release": "other"})
    assert possible(source, case, again.run_id) == possible(source, case, first.run_id)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["dropped", "retired", "rolled back"])
def test_copies_survive(source: Database, how: str) -> None:
    """Versions that nobody can read any more were read."""
    case = CASES[0]
    publish(source, case.policy)
    if how == "dropped":
        lifecycle.drop(source.owner(), "r")
    else:
        changed = {**case.policy, **case.change, "republication": "allow"}
        publish(source, {**changed, "publish": {"keep": 1 if how == "retired" else 2}})
    if how == "rolled back":
        lifecycle.show_earlier(source.owner(), "r")
    refused(source, {**case.policy, "release": "other", "privacy": [anatomy(3)]})
    again = publish(source, {**case.policy, "release": "other"})
    assert warnings(again) == []


COPIES = {
    "public.copied": "CREATE TABLE public.copied (LIKE public.t INCLUDING ALL);"
    " INSERT INTO public.copied TABLE public.t",
    "public.renamed": "ALTER TABLE public.t RENAME TO renamed",
    "away.t": "CREATE SCHEMA away; GRANT USAGE ON SCHEMA away TO steward;"
    " ALTER TABLE public.t SET SCHEMA away",
}


@pytest.mark.slow
@pytest.mark.parametrize("other", COPIES)
def test_a_table_of_another_name(source: Database, other: str) -> None:
    """The same rows are the same people."""
    case = CASES[0]
    publish(source, case.policy)
    source.source(COPIES[other])
    changed = {**case.policy, **case.change, "release": "other", "source": other}
    refused(source, changed)
    done = publish(source, {**changed, "republication": "warn"})
    assert warnings(done)
    assert done.guard["guard_shared"] == PEOPLE
    again = publish(source, {**changed, "release": "third", "republication": "allow"})
    assert warnings(again) == []


def test_other_sources_are_free(source: Database) -> None:
    case = CASES[0]
    publish(source, case.policy)
    source.source(
        "CREATE TABLE public.others AS TABLE public.t;"
        "UPDATE public.others SET z = z + 1 WHERE id = (SELECT min(id) FROM public.t)"
    )
    publish(source, {**case.policy, **case.change, "release": "other", "source": "public.others"})


# -- views ------------------------------------------------------------------------------------

VIEWS = {
    "view": "CREATE VIEW public.seen AS TABLE public.t",
    "view over a view": "CREATE VIEW public.below AS TABLE public.t;"
    " CREATE VIEW public.seen AS TABLE public.below",
    "copy that is refreshed": "CREATE MATERIALIZED VIEW public.seen AS TABLE public.t",
    "query": "CREATE VIEW public.seen AS SELECT * FROM public.t WHERE id IN"
    " (SELECT o.id FROM public.t AS o)",
    "function": "CREATE FUNCTION public.all_t() RETURNS SETOF public.t LANGUAGE sql STABLE"
    " BEGIN ATOMIC SELECT * FROM public.t; END; CREATE VIEW public.seen AS"
    " SELECT * FROM public.all_t()",
}


@pytest.mark.slow
def test_a_view_is_the_tables_below_it(source: Database) -> None:
    """Its groups need not come out again: it may show other rows by the same policy."""
    case = CASES[1]
    publish(source, case.policy)
    for number, statements in enumerate(VIEWS.values()):
        seen = f"public.seen{number}"
        source.source(statements.replace("public.seen", seen))
        # A view has no key.
        declared = {**case.policy, "release": "other", "source": seen}
        told = refused(source, declared, "no_identity", judged=False)
        assert f"source public.t -> {seen}" in told


# What is compared is a set of names, whichever of both was published first.
@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=[] if how == "view" else pytest.mark.slow) for how in VIEWS]
)
@pytest.mark.slow
def test_a_table_is_what_a_view_was_made_of(source: Database, how: str) -> None:
    case = CASES[1]
    source.source(VIEWS[how])
    publish(source, {**case.policy, "source": "public.seen"})
    # A table has a key, but the version before it told nobody apart.
    declared = {**case.policy, "release": "other"}
    told = refused(source, declared, "republication", judged=False)
    assert "source public.seen -> public.t" in told
    # The same view under another name of the release is the same source.
    publish(source, {**declared, "source": "public.seen"})


def test_parts_of_a_table(source: Database) -> None:
    case = CASES[1]
    source.source(
        "CREATE TABLE public.whole (LIKE public.t) PARTITION BY RANGE (id);"
        "CREATE TABLE public.part PARTITION OF public.whole FOR VALUES FROM (1) TO (100);"
        "CREATE TABLE public.others PARTITION OF public.whole DEFAULT;"
        "INSERT INTO public.whole TABLE public.t;"
        "GRANT SELECT ON public.part TO steward"
    )
    publish(source, {**case.policy, "source": "public.whole"})
    refused(source, {**case.policy, "release": "other", "source": "public.part"}, "no_identity")


def test_a_view_that_becomes_another(source: Database) -> None:
    """Its definition is exchanged when it was looked up and not yet read."""
    case = CASES[1]
    source.source("CREATE TABLE public.copied AS TABLE public.t")
    source.source("CREATE VIEW public.seen AS TABLE public.copied")
    publish(source, case.policy)

    def exchange() -> None:
        source.source("CREATE OR REPLACE VIEW public.seen AS TABLE public.t")

    hook = faults.at("snapshot.snapshot", exchange)
    declared = driver.loaded({**case.policy, "release": "other", "source": "public.seen"})
    with driver.refused("source_changed"):
        faults.run(source.dsn(), declared, before=hook)
    refused(source, {**case.policy, "release": "other", "source": "public.seen"}, "no_identity")


# -- what else of the database decides ----------------------------------------------------------

TREES = {
    "table": {"table": "public.tree"},
    "function": {"function": "public.tree_of"},
}
TREE = """
CREATE TABLE public.tree AS
SELECT z::text AS value, 'g' || z / 8 AS level1, '*' AS top FROM generate_series(0, 30) AS z;
CREATE FUNCTION public.tree_of(value text, level integer) RETURNS text LANGUAGE sql STABLE
AS $$ SELECT CASE level WHEN 0 THEN value WHEN 1 THEN level1 WHEN 2 THEN top END
FROM public.tree AS t WHERE t.value = $1 $$;
GRANT SELECT ON public.tree TO steward
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", TREES)
def test_labels_of_the_database_are_source(source: Database, how: str) -> None:
    """Other labels show other groups: both together are finer than one."""
    source.source(TREE)
    column = {"hierarchy": TREES[how], "type": "categorical"}
    declared = of({"name": "mondrian"}, k(5), z=column)
    publish(source, declared)
    publish(source, {**declared, "release": "same"})
    source.source("UPDATE public.tree SET level1 = 'g' || value::int / 7", grant=False)
    refused(source, {**declared, "release": "other"})


@pytest.mark.slow
def test_files_count_by_what_they_hold(source: Database, tmp_path: Any) -> None:
    for folder, width in (("one", 8), ("two", 8), ("three", 7)):
        (tmp_path / folder).mkdir()
        lines = [f"{z},g{z // width},*" for z in range(31)]
        (tmp_path / folder / f"{folder}.csv").write_text("\n".join(lines), "utf-8")
    column = {"type": "categorical", "hierarchy": {"csv": "one.csv"}}
    declared = of({"name": "mondrian"}, k(5), z=column)

    def run(folder: str, name: str) -> None:
        hierarchy = {"type": "categorical", "role": "quasi_identifying"}
        columns = {**declared["columns"], "z": {**hierarchy, "hierarchy": {"csv": f"{folder}.csv"}}}
        found = driver.loaded({**declared, "release": name, "columns": columns}, tmp_path / folder)
        faults.run(source.dsn(), found)

    run("one", "r")
    run("two", "moved")
    with driver.refused("republication") as errors:
        run("three", "other")
    assert getattr(errors[0], "reason", None)


@pytest.mark.slow
def test_public_combinations_are_source(source: Database) -> None:
    source.source("CREATE TABLE public.known AS SELECT DISTINCT q, z FROM public.t")
    columns = {name: {"role": "quasi_sensitive", "set": "a"} for name in ("q", "z")}
    columns["s"] = {"role": "quasi_sensitive", "set": "b"}
    model = {"model": "qs_k_anonymity", "k": 3, "public": {"a": "public.known"}}
    declared = policy(columns, [model], method={"name": "qs_efficient"})
    publish(source, declared)
    source.source("INSERT INTO public.known SELECT q, z FROM public.known LIMIT 9", grant=False)
    publish(source, {**declared, "release": "same"})
    # Fewer combinations support these clusters, which who has the public table knows already.
    source.source("DELETE FROM public.known WHERE q = 3", grant=False)
    publish(source, {**declared, "release": "other"})
    told = source.admin.execute("SELECT DISTINCT over_versions FROM pganon_private.version")
    assert told.fetchall() == [("holds",)]


# -- no change --------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_no_change(source: Database) -> None:
    case = CASES[0]
    first = publish(source, case.policy)
    columns = case.policy["columns"]
    renamed = {**columns, "q": {**columns["q"], "as": "number", "nulls": "as_value"}}
    for number, changes in enumerate(
        [
            {"publish": {"readers": ["analyst"], "keep": 7}},
            {"publish": {"schema": "elsewhere"}},
            {"columns": {**renamed, "person": {"role": "identifying"}}, "release": "renamed"},
            {"method": {"name": "anatomy", "block_size": 100, "division": "public"}},
            {"source": "t"},
        ]
    ):
        done = publish(source, {**case.policy, "release": f"r{number}", **changes})
        assert possible(source, case, done.run_id) == possible(source, case, first.run_id)


# -- at the same time ---------------------------------------------------------------------------


@pytest.mark.slow
@every_case
def test_two_names_at_once(source: Database, case: Case) -> None:
    """Both find nothing before them; one is published, the other is judged beside it.

    Both see that there is no population yet before either can make one.
    """
    together = threading.Barrier(2, timeout=faults.LONG)
    outcomes: dict[str, str] = {}

    def one(name: str) -> None:
        def meet(step: str) -> None:
            if step == "snapshot.snapshot":
                together.wait()

        try:
            declared = driver.loaded({**case.policy, "release": name})
            faults.run(source.dsn(), declared, before=meet)
            outcomes[name] = "published"
        except driver.PganonError as error:
            outcomes[name] = error.code

    threads = [threading.Thread(target=one, args=[name]) for name in ("one", "two")]
    with source.admin.transaction():
        source.admin.execute("LOCK TABLE pganon_private.population IN SHARE MODE")
        for thread in threads:
            thread.start()
        waiting = """SELECT count(*) = 2 FROM pg_locks
            WHERE relation = 'pganon_private.population'::regclass AND NOT granted"""
        faults.wait_until(lambda: source.admin.execute(waiting).fetchone() == (True,))
    for thread in threads:
        thread.join(90)
    assert sorted(outcomes.values()) == ["published", "republication"]
    late = next(name for name, outcome in outcomes.items() if outcome != "published")
    early = ({"one", "two"} - {late}).pop()
    runs = [publish(source, {**case.policy, "release": name}).run_id for name in (late, early)]
    assert possible(source, case, runs[0]) == possible(source, case, runs[1])


@every_case
@pytest.mark.slow
def test_published_once_no_people_were_found(
    source: Database, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another release of the source is published after the run found none about its people."""
    make = populations.make

    def slowly(*args: Any) -> int:
        monkeypatch.setattr(populations, "make", make)
        publish(source, {**case.policy, "release": "other"})
        return make(*args)

    monkeypatch.setattr(populations, "make", slowly)
    with driver.refused("republication") as errors:
        publish(source, case.policy)
    assert getattr(errors[0], "reason", None)


# -- what is remembered -----------------------------------------------------------


def test_without_the_secret_nothing_is_published(source: Database) -> None:
    """Another one would not recognize the sources of the versions that there are."""
    publish(source, CASES[1].policy)
    source.admin.execute("DELETE FROM pganon_private.installation_secret")
    with driver.refused("internal") as errors:
        publish(source, CASES[1].policy)
    assert "the secret of the installation is missing" in str(errors[0])
    assert driver.leftovers(source) == []
