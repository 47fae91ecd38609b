"""Releases that grow under models that compare: groups are held against the first version."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any
from unittest import mock

import pytest

from pganon.publish import lifecycle
from pganon.run.pipeline import run_release
from pganon.run.result import RunResult
from tests.integration.test_increments import growing_policy, run
from tests.support.harness import driver, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles.definitions import t_equal, t_ordered

pytestmark = pytest.mark.primary_server_only

Value = Any

SOURCE = "CREATE TABLE public.person (id integer PRIMARY KEY, age integer, city text, s {kind})"
TREE = {"*": {"some": ["0", "1", "2"], "others": ["3", "4", "5"]}}
COLUMN: dict[str, Any] = {"role": "sensitive"}


def policy(model: dict[str, Any], **changes: Any) -> dict[str, Any]:
    hierarchical = model.get("distance") == "hierarchical"
    return {
        "release": "people",
        "source": "public.person",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "city": {"role": "quasi_identifying"},
            "s": {**COLUMN, "hierarchy": {"inline": TREE}} if hierarchical else COLUMN,
        },
        "privacy": [{"model": "k_anonymity", "k": 2}, {"column": "s", **model}],
        "method": {"name": "mondrian"},
        "refresh": "increments",
        "increment_size": 2,
        "suppression_limit": 1,
        **changes,
    }


# -- the definitions --------------------------------------------------------------------------


def beta(values: Sequence[Value], reference: Sequence[Value], *, enhanced: bool) -> float:
    found = 0.0
    for value, n in Counter(values).items():
        p, q = reference.count(value) / len(reference), n / len(values)
        if not p:
            return math.inf
        if q > p and enhanced and (q - p) / p > -math.log(p) + 1e-12:
            return math.inf
        found = max(found, (q - p) / p)
    return found


def delta(values: Sequence[Value], reference: Sequence[Value]) -> float:
    if set(values) != set(reference):
        return math.inf
    shares = (
        (values.count(v) / len(values), reference.count(v) / len(reference)) for v in set(reference)
    )
    return max(abs(math.log(q / p)) for q, p in shares)


def hierarchical(values: Sequence[Value], reference: Sequence[Value]) -> float:
    """Section 5.2 of Li et al.: excess that children of a node have is moved over the node.

    NULL, and what nobody of the tree is, are children of the root with nodes of their own.
    """

    def excess(members: Sequence[Value]) -> float:
        shares = ((values.count(v), reference.count(v)) for v in members)
        return sum(n / len(values) - m / len(reference) for n, m in shares)

    inner = list(TREE["*"].values())
    known = {v for leaves in inner for v in leaves}
    below = [[excess([v]) for v in leaves] for leaves in inner]
    top = [sum(leaves) for leaves in below]
    top += [excess([v]) for v in {*values, *reference} - known]
    cost = sum(min(_positive(leaves), _positive([-e for e in leaves])) for leaves in below) / 2
    return cost + min(_positive(top), _positive([-e for e in top]))


def _positive(excesses: Sequence[float]) -> float:
    return sum(e for e in excesses if e > 0)


def measure(
    model: dict[str, Any],
    values: Sequence[Value],
    reference: Sequence[Value],
    newcomers: Sequence[Value],
) -> float:
    """Args: newcomers: all who were tested together, whose values have places in the order."""
    match model["model"], model.get("distance", "equal"):
        case "beta_likeness", _:
            return beta(values, reference, enhanced=model["variant"] == "enhanced")
        case "delta_disclosure", _:
            return delta(values, reference)
        case _, "equal":
            return float(t_equal(values, reference))
        case _, "ordered":
            places = sorted({*reference, *newcomers}, key=lambda v: (v is None, v or 0))
            return float(t_ordered(values, reference, places))
        case _:
            return hierarchical(values, reference)


def satisfied(model: dict[str, Any], measured: float) -> bool:
    limit = model.get("t", model.get("beta", model.get("delta")))
    strict = model["model"] == "delta_disclosure"
    return measured < limit - 1e-12 if strict else measured <= limit + 1e-12


# -- releases ---------------------------------------------------------------------------------


def add(db: Database, first: int, values: Sequence[Value], rng: random.Random) -> None:
    rows = [
        (first + n, rng.randint(20, 60), rng.choice(("Rome", "Oslo", "Bern")), value)
        for n, value in enumerate(values)
    ]
    with db.connect("source_owner").cursor() as cursor:
        cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)


def make(db: Database, kind: str) -> None:
    db.source(SOURCE.format(kind=kind))


def grow(db: Database, document: dict[str, Any]) -> RunResult:
    return run_release(driver.loaded(document), dsn=db.dsn())


def groups(conn: Connection, method: str) -> dict[int, list[Value]]:
    """Values of every class, or of every bucket."""
    if method != HIDES:
        return classes(conn)
    found: dict[int, list[Value]] = defaultdict(list)
    for number, value, n in conn.execute("SELECT * FROM published.people_values_s").fetchall():
        found[number] += [value] * n
    return found


def classes(conn: Connection) -> dict[int, list[Value]]:
    found: dict[int, list[Value]] = defaultdict(list)
    for number, value in conn.execute("SELECT class_id, s FROM published.people").fetchall():
        found[number].append(value)
    return found


def references(conn: Connection) -> list[str]:
    """The stored distributions of all increments, oldest first."""
    rows = conn.execute(
        "SELECT 'pganon_private.' || tablename FROM pg_tables"
        " WHERE tablename ~ '^r[0-9]+_reference'"
        " ORDER BY substr(tablename, 2, strpos(tablename, '_') - 2)::int"
    ).fetchall()
    return [name for (name,) in rows]


def measured_of(conn: Connection, model: dict[str, Any]) -> dict[str, float | None]:
    """By what it was held against, as verification finds it in the stored relations."""
    findings = lifecycle.verify(conn, "people")
    assert [finding for finding in findings if not finding.holds] == []
    return {f.against: f.measured for f in findings if f.model == model["model"]}


MODELS = {
    "equal": ({"model": "t_closeness", "t": 0.45, "distance": "equal"}, "integer"),
    "ordered": ({"model": "t_closeness", "t": 0.3, "distance": "ordered"}, "integer"),
    "hierarchical": ({"model": "t_closeness", "t": 0.35, "distance": "hierarchical"}, "text"),
    "basic": ({"model": "beta_likeness", "beta": 2, "variant": "basic"}, "text"),
    "enhanced": ({"model": "beta_likeness", "beta": 4, "variant": "enhanced"}, "integer"),
    "delta": ({"model": "delta_disclosure", "delta": 1.3}, "text"),
}
METHODS = [
    *((name, "mondrian") for name in MODELS),
    *((name, "kinc") for name in ("equal", "ordered", "basic")),
    *((name, "beta_primacy") for name in ("basic", "enhanced")),
    *((name, "lgb_mdp") for name in ("equal", "ordered")),
]
HIDES = "lgb_mdp"
"""It has buckets of values, which are compared with all values in buckets of the first version."""


def drawn(rng: random.Random, kind: str, model: str) -> list[Value]:
    """Newcomers with any distribution; now and then values that nobody had."""
    values = range(2 if model == "delta_disclosure" else 6 if rng.random() < 0.4 else 4)
    weights = [rng.choice((1, 1, 2, 5)) for _ in values]
    found = rng.choices(values, weights, k=rng.randint(8, 24))
    return [value(v, kind, rng) for v in found]


def value(number: int, kind: str, rng: random.Random) -> Value:
    if number == 3 and rng.random() < 0.3:
        return None
    return number if kind == "integer" else str(number)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), METHODS)
@pytest.mark.parametrize("seed", range(2))
def test_groups_are_held_against_the_first_version(
    db: Database, name: str, method: str, seed: int
) -> None:
    """By definition, of random increments: what is released satisfies it, and what is not does not.

    An increment is tested as a whole, against the same distribution.
    """
    model, kind = MODELS[name]
    rng = random.Random(f"{name} {seed}")
    document = policy(model, method={"name": method})
    make(db, kind)
    many = 2 if name == "delta" else 4
    reference = [value(v, kind, rng) for v in range(many) for _ in range(rng.randint(4, 12))]
    rng.shuffle(reference)
    add(db, 1, reference, rng)
    assert grow(db, document).suppressed == 0
    conn = db.owner()
    before = groups(conn, method)
    worst = [measure(model, values, reference, reference) for values in before.values()]
    for first in (1000, 1100, 1200, 1300):
        newcomers = drawn(rng, kind, model["model"])
        add(db, first, newcomers, rng)
        whole = measure(model, newcomers, reference, newcomers)
        if not satisfied(model, whole):
            with driver.refused("infeasible"):
                grow(db, document)
            assert groups(conn, method) == before
            continue
        grow(db, document)
        after = groups(conn, method)
        assert all(after[c] == values for c, values in before.items())
        added = [values for c, values in after.items() if c not in before]
        assert Counter(v for values in added for v in values) == Counter(newcomers)
        worst += [measure(model, values, reference, newcomers) for values in added]
        before = after
    assert all(satisfied(model, found) for found in worst)
    assert measured_of(conn, model) == {
        f"first version's {distribution}": pytest.approx(max(worst))
        for distribution in (("published",) if method == HIDES else ("source", "published"))
    }


# -- by hand ----------------------------------------------------------------------------------

T = {"model": "t_closeness", "t": 0.3, "distance": "equal"}
BETA = {"model": "beta_likeness", "beta": 1, "variant": "basic"}


def of_ten(model: dict[str, Any]) -> dict[str, Any]:
    privacy = [{"model": "k_anonymity", "k": 10}, {"column": "s", **model}]
    return policy(model, privacy=privacy, increment_size=10)


@pytest.fixture
def people(db: Database) -> Database:
    make(db, "text")
    return db


def released(db: Database, first: int, letters: str, document: dict[str, Any]) -> RunResult:
    """A run after these people came; they are of one age, so that they are one class."""
    rows = [(first + n, 30, "Rome", letter) for n, letter in enumerate(letters)]
    with db.connect("source_owner").cursor() as cursor:
        cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)
    return grow(db, document)


def test_distances_by_hand(people: Database) -> None:
    """The first version has shares 0.6, 0.3 and 0.1; newcomers the distances 0.2, 0.9, 0.4, 0.1."""
    document = policy(T)
    released(people, 1, "aaaaaabbbc", document)
    conn = people.owner()
    assert released(people, 20, "ab", document).version == 2
    assert measured_of(conn, T)["first version's source"] == pytest.approx(0.2)
    for first, letters in ((30, "cc"), (40, "aaad")):
        with driver.refused("infeasible") as caught:
            released(people, first, letters, document)
        assert "out for good" in str(caught[0])
    # Nobody had a d; its share counts in all, and the other shares are as before.
    assert released(people, 50, "aaaaaabbbd", document).version == 3
    assert measured_of(conn, T)["first version's source"] == pytest.approx(0.2)


def test_a_value_that_nobody_had_is_an_infinite_gain(people: Database) -> None:
    document = policy(BETA)
    released(people, 1, "aaaaaabbbc", document)
    with driver.refused("infeasible") as caught:
        released(people, 20, "aaaaaaaaabbbd", document)
    assert "no beta is enough" in str(caught[0])
    strict = policy({"model": "delta_disclosure", "delta": 9})
    with driver.refused("infeasible"):
        released(people, 40, "aaabbbcccd", strict)
    with driver.refused("infeasible"):
        released(people, 50, "aaabbb", strict)  # without c, which the first version has
    assert released(people, 60, "abc", strict).version == 2


def test_newcomers_do_not_shift_what_they_are_held_against(people: Database) -> None:
    """A value of 20 % may have 40 % of a class; many such classes do not make it a frequent one."""
    document = of_ten(BETA)
    released(people, 1, "a" * 16 + "HHHH", document)
    for first in (100, 120, 140):
        released(people, first, "aaaaaaHHHH", document)
    conn = people.owner()
    before = classes(conn)
    assert Counter(v for values in before.values() for v in values) == Counter(a=34, H=16)
    with driver.refused("infeasible") as caught:
        released(people, 160, "aaaaaHHHHH", document)
    assert caught[0].observed == pytest.approx(1.5)  # pyright: ignore[reportAttributeAccessIssue]
    assert classes(conn) == before


def test_the_guard_compares_with_the_first_version(people: Database) -> None:
    """Not with the source of now, in which the value is rarer."""
    document = of_ten({**BETA, "beta": 0.4})
    released(people, 1, "aaaaaHHHHH", document)
    released(people, 100, "a" * 70 + "H" * 30, document)
    assert released(people, 300, "aaaaaHHHHH", document).version == 3


def test_records_that_the_first_version_left_out(people: Database) -> None:
    """Its source has their values, what it published has not: newcomers are held against both."""
    columns = {
        "age": {"role": "quasi_identifying"},
        "city": {"role": "quasi_identifying", "nulls": "own_class"},
        "s": COLUMN,
    }
    wide = {**T, "t": 0.4}
    document = policy(wide, columns=columns, on_infeasible="suppress")
    people.source(
        "INSERT INTO public.person SELECT n, 30, NULL, 'H' FROM generate_series(1, 4) AS n",
        grant=False,
    )
    assert released(people, 10, "aaaaaaaabbbbbbbb", document).suppressed == 4
    conn = people.owner()
    assert released(people, 30, "aabbHH", document).version == 2
    assert measured_of(conn, wide) == {
        "first version's source": pytest.approx(0.2),  # the first version, without H
        "first version's published": pytest.approx(1 / 3),
    }
    with driver.refused("infeasible") as caught:
        released(people, 40, "aabbHHH", document)
    assert caught[0].observed == pytest.approx(3 / 7)  # pyright: ignore[reportAttributeAccessIssue]
    # Of a cut at their ages one side would be close to the source alone.
    rows = [(60 + n, 20, "Rome", s) for n, s in enumerate("aabbHHH")]
    rows += [(70 + n, 60, "Rome", s) for n, s in enumerate("aaaabbbb")]
    before = classes(conn)
    with people.connect("source_owner").cursor() as cursor:
        cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)
    grow(people, document)
    (added,) = [values for number, values in classes(conn).items() if number not in before]
    assert len(added) == len(rows)
    strict = policy(BETA, columns=columns, on_infeasible="suppress")
    with driver.refused("infeasible"):
        released(people, 50, "aaaabbbbH", strict)


@pytest.mark.parametrize("refresh", ["increments", "recompute"])
def test_models_that_come_later(people: Database, refresh: str) -> None:
    """What the first version published is known, by group; of its source nothing else was kept."""
    first = policy(T, privacy=[{"model": "k_anonymity", "k": 2}], refresh=refresh)
    if refresh == "recompute":
        del first["increment_size"]
    released(people, 1, "aaaaaabbbc", first)
    document = policy(T)
    assert released(people, 20, "ab", document).version == 2
    with driver.refused("infeasible"):
        released(people, 30, "cc", document)
    stricter = policy({**T, "t": 0.15})
    with driver.refused("infeasible"):
        released(people, 40, "ab", stricter)
    assert released(people, 50, "aaab", stricter).version == 3
    found = [
        (f.parameter, f.against, f.measured)
        for f in lifecycle.verify(people.owner(), "people")
        if f.model == "t_closeness"
    ]
    assert sorted(found) == [
        (t, f"first version's {kind}", pytest.approx(measured))
        for t, measured in ((0.15, 0.15), (0.3, 0.2))
        for kind in ("published", "source")
    ]


def test_after_a_version_that_was_made_at_once(people: Database) -> None:
    """Its own evidence is against the source that it had."""
    first = policy(T, refresh="recompute")
    del first["increment_size"]
    released(people, 1, "aaaaaabbbc", first)
    released(people, 20, "ab", policy(T))
    assert measured_of(people.owner(), T) == {
        "source": 0,
        "published": 0,
        "first version's source": pytest.approx(0.2),
        "first version's published": pytest.approx(0.2),
    }


def test_one_distribution_is_published(people: Database) -> None:
    document = policy(T, publish={"reference": True, "keep": 1})
    released(people, 1, "aaaaaabbbc", document)
    released(people, 20, "ab", document)
    released(people, 30, "aaaaaabbbd", document)
    conn = people.owner()
    shown = conn.execute("SELECT s, share FROM published.people_reference").fetchall()
    assert sorted(shown) == [("a", 0.6), ("b", 0.3), ("c", 0.1)]
    (_, stated) = lifecycle.show(conn, "people").guarantee
    assert stated["compared_with"] == "the first version of the release"
    told = " ".join(pganon("show", "people", "--dsn", people.dsn("steward")).out.split())
    assert "t_closeness(s) t=0.3 compared with the first version of the release" in told
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    withdraw = policy(T, publish={"reference": True}, leavers="withdraw")
    with driver.refused("policy") as caught:
        grow(people, withdraw)
    assert [problem.field for problem in caught[0].problems] == ["leavers"]  # pyright: ignore


def test_in_regions(people: Database) -> None:
    """Every cohort is held against all of the first version, and those that miss it are out."""
    document = policy({**T, "t": 0.4}, regions="leaves")
    first = [(n, 20 + n // 10 * 40, "Rome", s) for n, s in enumerate("aaaaaabbbc" * 2)]
    later = [(100 + n, 20, "Rome", s) for n, s in enumerate("aab")]
    later += [(200 + n, 60, "Rome", s) for n, s in enumerate("ccb")]
    for rows in (first, later):
        with people.connect("source_owner").cursor() as cursor:
            cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)
        done = grow(people, document)
    assert done.added is not None
    assert (done.added.cohorts, done.added.released, done.added.suppressed) == (2, 3, 3)
    found = measured_of(people.owner(), T)
    assert max(value or 0 for value in found.values()) <= 0.4


def test_groups_that_are_withdrawn_still_count(people: Database) -> None:
    document = policy(T, leavers="withdraw")
    released(people, 1, "aaaaaabbbc", document)
    released(people, 20, "ab", document)
    people.source("DELETE FROM public.person WHERE id = 1", grant=False)
    done = grow(people, document)
    assert (done.version, done.released) == (3, 2)
    assert released(people, 30, "ab", document).version == 4
    with driver.refused("infeasible"):
        released(people, 40, "bb", document)
    assert measured_of(people.owner(), T)["first version's source"] == pytest.approx(0.2)


def test_only_a_withdrawal_compares_nothing(people: Database) -> None:
    """Nobody's values are encoded, and no ancestors are known."""
    model, _ = MODELS["hierarchical"]
    document = policy(model, leavers="withdraw")
    released(people, 1, "000111222333", document)
    released(people, 20, "0123", document)
    people.source("DELETE FROM public.person WHERE id = 20", grant=False)
    assert grow(people, document).version == 3
    assert released(people, 30, "0123", document).version == 4


def test_another_hierarchy(people: Database) -> None:
    model, _ = MODELS["hierarchical"]
    document = policy(model)
    released(people, 1, "000111222333", document)
    other = {"*": {"some": ["0", "1"], "others": ["2", "3", "4", "5"]}}
    changed = document["columns"] | {"s": {**COLUMN, "hierarchy": {"inline": other}}}
    with driver.refused("other_reference"):
        released(people, 20, "0123", {**document, "columns": changed})
    assert grow(people, document).version == 2


@pytest.mark.slow
def test_hidden_values_in_an_order_of_their_own(db: Database) -> None:
    """Values that nobody has in a bucket of the first version are in their places."""
    db.source(plans.SOURCE)
    document = growing_policy("lgb_mdp").policy.document()
    zips = document["columns"]["zip"] | {"type": "ordinal", "order": ["Z5", "Z3", "Z2", "Z1", "Z0"]}
    document["columns"] |= {"zip": zips}
    document["privacy"][-1]["t"] = 0.6
    run(db, driver.loaded(document))
    db.source(
        "INSERT INTO public.visit SELECT n, 'p' || n / 2, 20 + n % 13, 'Z' || n % 6, 'd' || n % 7,"
        " 'm', n FROM generate_series(100, 190) AS n WHERE n % 6 <> 4",
        grant=False,
    )
    assert run(db, driver.loaded(document)).version == 2
    conn = db.owner()
    assert all(finding.holds for finding in lifecycle.verify(conn, "visits"))
    (stored,) = references(conn)
    told = conn.execute(
        f"SELECT value, n > 0 FROM {stored} WHERE value <> '' ORDER BY position".encode()
    ).fetchall()
    assert told == [("=Z5", False), *((f"=Z{n}", True) for n in (3, 2, 1, 0))]


def test_values_too_far_to_be_hidden(people: Database) -> None:
    document = policy(T, method={"name": "lgb_mdp"})
    released(people, 1, "aaaaaabbbc", document)
    with driver.refused("infeasible") as caught:
        released(people, 20, "ccb", document)
    assert "all 3 sensitive values together are too far" in str(caught[0])
    assert released(people, 30, "aab", document).version == 2
    assert list(measured_of(people.owner(), T)) == ["first version's published"]


def test_a_first_version_of_which_nothing_was_kept(people: Database) -> None:
    """As of one that an earlier pganon published."""
    first = policy(T, privacy=[{"model": "k_anonymity", "k": 2}])
    released(people, 1, "aaaaaabbbc", first)
    people.admin.execute(
        "UPDATE pganon_private.version SET relations = (SELECT jsonb_agg(r) FROM"
        " jsonb_array_elements(relations) AS r WHERE r ->> 'part' <> 'histogram')"
    )
    with mock.patch("pganon.publish.growth.is_intact", return_value=True):
        with driver.refused("other_reference"):
            released(people, 20, "ab", policy(T))
        assert released(people, 30, "ab", first).version == 2


@pytest.mark.parametrize("method", ["mondrian", HIDES])
def test_a_reference_that_was_changed(people: Database, method: str) -> None:
    """Verification compares it with the first version's own."""
    document = policy(T, method={"name": method})
    released(people, 1, "aaaaaabbbc", document)
    released(people, 20, "ab", document)
    conn = people.owner()
    conn.execute(f"UPDATE {references(conn)[-1]} SET n = n + 1 WHERE value = '=a'".encode())
    found = {f.model: f.measured for f in lifecycle.verify(conn, "people") if not f.holds}
    assert found["first_version"] == 1


KINDS = {
    "numeric": ("1.0", "1.00", "-3.50", "1e3"),
    "float8": ("0", "-0", "0.1", "1e-300"),
    "date": ("2020-01-01", "0001-01-01 BC", "infinity", "1999-12-31"),
    "timestamptz": ("2020-01-01 00:00:00.000001+02", "1900-01-01", "2020-07-01", "infinity"),
    "boolean": ("true", "false", "true", "false"),
    "uuid": (*("00000000-0000-0000-0000-00000000000" + n for n in "123"), "f" * 32),
    "text": ("", "=", "null", "é'"),
    "varchar(4)": ("A", "a", " a", "B"),
    "char(4)": ("A", "a", "ab", "B"),
    "mood": ("sad", "ok", "happy", "ok"),
}

ORDERED = ("numeric", "float8", "date", "timestamptz", "mood")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_values_of_every_type_are_found_again(db: Database, kind: str) -> None:
    """Shares of the first version are those of the same values, and places are in their order."""
    db.source("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')") if kind == "mood" else None
    make(db, kind)
    distance = "ordered" if kind in ORDERED else "equal"
    model = {"model": "t_closeness", "t": 1, "distance": distance}
    document = policy(model)
    conn = db.owner()
    values = [*KINDS[kind], None]
    for first, found in ((1, [*values[:3] * 2, None]), (20, values), (40, values[::-1][:3])):
        released(db, first, found, document)  # pyright: ignore[reportArgumentType]
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    told = conn.execute(
        f"SELECT position, n FROM {references(conn)[1]} ORDER BY position".encode()
    ).fetchall()
    order = "s"
    if kind in ("boolean", "uuid"):
        order = "s::text"
    elif "char" in kind or kind == "text":
        order = 's::text COLLATE "C"'
    truth = conn.execute(
        "SELECT count(*) FILTER (WHERE id < 20) FROM public.person WHERE id < 40"
        f" GROUP BY {order} ORDER BY {order} NULLS LAST".encode()
    ).fetchall()
    assert told == [(place, n) for place, (n,) in enumerate(truth, start=1)]
