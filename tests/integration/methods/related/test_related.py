"""Releases of related tables against the definitions, from their sources."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

import pytest
from psycopg import sql

from pganon.forms.work import TREE
from pganon.sqltools import statement
from pganon.steps import Check
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, fetch, refused
from tests.support.oracles.related import Events, Rule, divide
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only

Rows = dict[str, list[tuple[Any, ...]]]

COMMON = ("admission", "diagnosis")


def oracle(tables: Rows) -> dict[str, Events]:
    """The tables of :data:`wards.WHOLE`, with the values as they are published."""
    of_admission = {row[0]: row[1] for row in tables["admission"]}
    admission = [(row[1], (row[2], str(row[3])[:4])) for row in tables["admission"]]
    diagnosis = [(of_admission[row[0]], (row[2],)) for row in tables["diagnosis"]]
    studies = [(row[0], (row[1],)) for row in tables["patient_study"]]
    return {
        "admission": Events(admission, (0,)),
        "diagnosis": Events(diagnosis, (0,)),
        "patient_study": Events(studies, (0,)),
    }


def people_by_class(staged: Staged) -> dict[int, set[int]]:
    return staged.members


def groups(staged: Staged, number: str) -> dict[int, set[int]]:
    """People of every group, by the number that their classes show."""
    found: dict[int, set[int]] = defaultdict(set)
    for class_id, row in staged.classes.items():
        found[row[number]] |= staged.members[class_id]
    return found


def trees(staged: Staged) -> tuple[dict[int, list[int]], dict[int, set[int]], list[int]]:
    """Sides of the groups that were cut, people of all groups, and the tops."""
    rows = fetch(
        staged.conn,
        sql.SQL("SELECT node, parent FROM {}").format(staged.state.work(TREE).identifier),
    )
    numbers = fetch(
        staged.conn,
        sql.SQL("SELECT gid, class_id FROM {}").format(
            staged.state.work("numbers_class_id").identifier
        ),
    )
    of_class = {row["gid"]: staged.members[row["class_id"]] for row in numbers}
    parents = {row["node"]: row["parent"] for row in rows}
    below: dict[int, list[int]] = defaultdict(list)
    people: dict[int, set[int]] = defaultdict(set)
    for node, parent in parents.items():
        if parent is not None:
            below[parent].append(node)
        at: int | None = node if node < 0 else None
        while at is not None:
            people[at] |= of_class[-node]
            at = parents[at]
    return below, people, [node for node, parent in parents.items() if parent is None]


def sets(groups: dict[int, set[int]]) -> set[frozenset[int]]:
    return {frozenset(people) for people in groups.values()}


def run(
    db: Database, tables: Rows, k: int = 3, beta: float = 0.7, size: int = 10, **changes: Any
) -> Staged:
    wards.build(db.connect("source_owner"), tables)
    policy = wards.policy({**wards.WHOLE, **changes}, k, beta, group_size=size)
    return driver.run(db.owner(), policy)


CASES = [(1, 3, 0.7, 10), (2, 2, 0.5, 4), (3, 5, 0.9, 12), (4, 4, 0.6, 30), (5, 2, 0.95, 2)]


@pytest.mark.parametrize(("seed", "k", "beta", "size"), CASES)
@pytest.mark.slow
def test_a_release_is_what_the_definitions_say(
    db: Database, seed: int, k: int, beta: float, size: int
) -> None:
    tables = wards.rows(220, seed)
    staged = run(db, tables, k, beta, size)
    events = oracle(tables)
    rule = Rule(k, size, Fraction(str(beta)))
    below, people, tops = trees(staged)
    common = [events[name] for name in COMMON]
    for number, together in (
        ("group_id", common),
        ("patient_study_group_id", [events["patient_study"]]),
    ):
        expected = divide(rule, below, people, tops, together)
        assert expected is not None
        assert sets(groups(staged, number)) == expected
        assert all(rule.good(group, together) for group in expected)
        part = {"group_id": "groups"}.get(number, "patient_study_groups")
        measured = staged.utility.partitions[part]
        sizes = [len(group) for group in expected]
        assert (measured.groups, measured.smallest, measured.largest) == (
            len(expected),
            min(sizes),
            max(sizes),
        )
        ended = [node for node in below if frozenset(people[node]) in expected]
        divisible = [all(len(people[side]) >= size for side in below[node]) for node in ended]
        assert measured.limited == sum(divisible)
        assert measured.gcp == pytest.approx(_lost(tables["patient"], expected))
        for name in COMMON if number == "group_id" else ("patient_study",):
            facts = [_of_one(events[name], group) for group in expected]
            assert staged.utility.one_person[name] == pytest.approx(max(facts))
            assert measured_telling(staged, name) == telling(events[name], expected)
    _counted(staged, events)
    _paired(staged, events["admission"], rule)
    drop_leftovers(staged.conn)


def _lost(patients: list[tuple[Any, ...]], groups: set[frozenset[int]]) -> float:
    """Of everybody the range of years, and whether there are both sexes, in the group: the mean."""
    born, sex = ({row[0]: row[n] for row in patients} for n in (1, 2))
    span = max(born.values()) - min(born.values())
    total = 0.0
    for group in groups:
        years = [born[person] for person in group]
        both = len({sex[person] for person in group}) - 1
        total += len(group) * ((max(years) - min(years)) / span + both) / 2
    return total / len(patients)


def telling(events: Events, groups: Collection[frozenset[int]], most: int = 50) -> tuple[int, int]:
    """Values of one person of a group, and those that another value of his tells, but of who has
    more than `most`.

    The belief in a value of who takes somebody with another one to have it as often as all but him,
    and others in the group as often as who is without that one.
    """
    everybody = frozenset(person for person, _ in events.rows)
    having: dict[Any, set[int]] = defaultdict(set)
    for person, (value, *_) in events.rows:
        having[value].add(person)
    many = Counter(person for people in having.values() for person in people)
    crowd = {person for person, values in many.items() if values > most}
    alone = told = 0
    for group in groups:
        holders = events.holders(group)
        mine = {p: {v for v in having if having[v] & group == {p}} for p in holders}
        for person, values in mine.items():
            alone += len(values)
            told += (person not in crowd) * sum(
                any(
                    _believed(
                        having[known] - crowd,
                        having[value] - crowd,
                        everybody - crowd,
                        len(holders),
                    )
                    > Fraction(1, 2)
                    for known in values - {value}
                )
                for value in values
            )
    return alone, told


def _believed(known: set[int], value: set[int], everybody: frozenset[int], n: int) -> Fraction:
    if len(known) == 1 or known == everybody:
        return Fraction(0)
    his = Fraction(len(known & value) - 1, len(known) - 1)
    others = Fraction(len(value - known), len(everybody - known))
    return his / (his + (n - 1) * others) if his else Fraction(0)


def measured_telling(staged: Staged, table: str) -> tuple[int, int]:
    related = staged.plan.spec.related
    assert related is not None
    index = next(events.index for events in related.events if events.name == table)
    (check,) = [s for s in staged.plan.gathering_evidence.steps if s.name == "telling"]
    assert isinstance(check, Check)
    (row,) = fetch(staged.conn, statement(check.select(staged.state)))  # pyright: ignore
    return row[f"alone{index}"], row[f"told{index}"]


def chapters(seed: int) -> dict[str, list[tuple[Any, ...]]]:
    """Diagnoses with a chapter of their own, most of which come together."""
    tables = wards.rows(220, seed)
    draw = random.Random(seed)
    tables["diagnosis"] = [
        (admission, person, f"{chapter}{draw.choice('xyz')}")
        for admission, person, *_ in tables["admission"]
        for chapter in [draw.randint(1, 25)]
        for _ in range(3)
    ]
    return tables


@pytest.mark.parametrize(("seed", "size"), [(1, 8), (2, 30)])
def test_values_that_tell_others(db: Database, seed: int, size: int) -> None:
    tables = chapters(seed)
    staged = run(db, tables, 3, 0.9, size)
    events = oracle(tables)["diagnosis"]
    found = measured_telling(staged, "diagnosis")
    assert found == telling(events, sets(groups(staged, "group_id")))
    assert 0 < found[1] < found[0]
    drop_leftovers(staged.conn)


@pytest.mark.slow
def test_people_with_too_many_values_tell_nothing(db: Database) -> None:
    """All values of one person are counted, as in the views: fewer would say that they are many."""
    tables = chapters(1)
    tables["diagnosis"] += [
        (admission, person, f"{person} {n}")
        for admission, person, *_ in tables["admission"][:60]
        for n in range(60)
    ]
    staged = run(db, tables, 3, 0.9, 8)
    found = measured_telling(staged, "diagnosis")
    held, events = sets(groups(staged, "group_id")), oracle(tables)["diagnosis"]
    assert found == telling(events, held)
    assert found[1] < telling(events, held, most=500)[1]
    drop_leftovers(staged.conn)


def _of_one(events: Events, people: frozenset[int]) -> float:
    """The largest share of one person in the values of a group."""
    of_one = Counter(person for person, _ in {(p, v[0]) for p, v in events.of(people)})
    return max(of_one.values(), default=0) / max(1, of_one.total())


def _counted(staged: Staged, events: dict[str, Events]) -> None:
    """Holders, and people with every value, of every group."""
    found = groups(staged, "group_id")
    for row in staged.table("groups0"):
        mine = found[row["group_id"]]
        assert row["people"] == len(mine)
        for name in COMMON:
            assert row[name] == len(events[name].holders(mine))
    own = groups(staged, "patient_study_group_id")
    for row in staged.table("groups1"):
        mine = own[row["patient_study_group_id"]]
        assert (row["people"], row["persons"]) == (
            len(mine),
            len(events["patient_study"].holders(mine)),
        )
    for part, name, column, by in (
        ("slice0", "admission", "ward_no", found),
        ("slice1", "diagnosis", "code", found),
        ("slice2", "patient_study", "study_no", own),
    ):
        shown: dict[int, Counter[Any]] = defaultdict(Counter)
        number = "group_id" if by is found else "patient_study_group_id"
        for row in staged.table(part):
            assert row[column] not in shown[row[number]]
            shown[row[number]][row[column]] = row["persons"]
        expected = {g: events[name].counts(mine, 0) for g, mine in by.items()}
        assert dict(shown) == {g: counted for g, counted in expected.items() if counted}


def _paired(staged: Staged, admission: Events, rule: Rule) -> None:
    shown: dict[int, Counter[Any]] = defaultdict(Counter)
    for row in staged.table("pair0"):
        shown[row["group_id"]][row["ward_no"], row["admitted"]] = row["persons"]
    for number, mine in groups(staged, "group_id").items():
        rows = {(person, *values) for person, values in admission.of(mine)}
        opened = rule.open(rows)
        assert shown[number] == Counter((x, y) for _, x, y in rows if x in opened)


@pytest.mark.slow
def test_pairs_of_large_groups_are_shown(db: Database) -> None:
    tables = wards.rows(220, 1)
    staged = run(db, tables, 3, 0.9, 60)
    assert staged.table("pair0")
    _paired(staged, oracle(tables)["admission"], Rule(3, 60, Fraction("0.9")))
    drop_leftovers(staged.conn)


def _told(rows: Sequence[tuple[int, Any]]) -> dict[Any, tuple[int, int]]:
    """Of which values rows are told: frequent ones, of which the rarest hide what others have."""
    counted: dict[Any, Counter[int]] = defaultdict(Counter)
    for person, value in rows:
        counted[value][person] += 1

    def enough(people: Counter[int]) -> bool:
        return len(people) >= 10 and 2 * max(people.values()) <= people.total()

    told = {value: people for value, people in counted.items() if enough(people)}
    rest = sum((people for value, people in counted.items() if value not in told), Counter())
    most = max(rest.values(), default=0)
    size, hidden = rest.total(), not rest or enough(rest)
    for value in sorted(told, key=lambda v: (told[v].total(), v is None, v)):
        if hidden:
            break
        people = told.pop(value)
        most, size = most + max(people.values()), size + people.total()
        hidden = 2 * most <= size
    return {value: (len(people), people.total()) for value, people in told.items()}


@pytest.mark.parametrize(
    ("rare", "often", "kept"),
    [(0, 0, 5), (1, 0, 4), (3, 0, 4), (12, 0, 5), (0, 500, 0), (3, 500, 0), (0, 150, 2)],
)
def test_rows_of_the_release_are_of_frequent_values(
    db: Database, rare: int, often: int, kept: int
) -> None:
    """Those of all rows but those of frequent values are not few people's, either: `kind` tells
    how many rows there are."""
    tables = wards.rows(220, 1)
    admissions = tables["admission"]
    first = {row[1]: row for row in admissions}
    for number, row in enumerate([*first.values()][:rare]):
        tables["diagnosis"] += [(row[0], row[1], f"rare {number % 5}")] * 2
    tables["diagnosis"] += [(*admissions[1][:2], "a")] * often
    staged = run(db, tables)
    rows = [(person, code) for person, (code,) in oracle(tables)["diagnosis"].rows]
    found = {r["value"]: (r["persons"], r["rows"]) for r in staged.table("frequent1")}
    assert found == _told(rows)
    assert len(found) == kept
    drop_leftovers(staged.conn)


@pytest.mark.slow
def test_no_group_mixes_values_that_are_kept_apart(db: Database) -> None:
    """Groups are so large that they would be mixed."""
    names, size = ("sex", "blood"), 25
    tables = wards.rows(300, 2)
    found = {
        row[0]: [row[{"sex": 2, "blood": 3}[name]] for name in names] for row in tables["patient"]
    }
    quasi = {"role": "quasi_identifying"}
    for apart in (True, False):
        columns = {"born": quasi, **{name: {**quasi, "apart": apart} for name in names}}
        changes: dict[str, Any] = {"patient": {**wards.ROOT, "columns": columns}}
        if apart:  # parts have few people in studies
            changes["patient_study"] = {
                **wards.STUDIES,
                "columns": {"study_no": {"role": "insensitive", "references": "study"}},
            }
        staged = run(db, tables, 2, 0.9, size, **changes)
        kinds = [
            {tuple(found[person]) for person in mine}
            for number in ("group_id", "patient_study_group_id")
            for mine in groups(staged, number).values()
        ]
        assert all(len(kind) == 1 for kind in kinds) == apart
        assert len(trees(staged)[2]) == (6 if apart else 1)
        drop_leftovers(staged.conn)


@pytest.mark.slow
def test_who_has_rows_is_bounded_where_that_is_sensitive(db: Database) -> None:
    tables = wards.rows(300, 3)
    sensitive = {**wards.WHOLE["diagnosis"], "membership": "sensitive"}
    staged = run(db, tables, 3, 0.9, 10, diagnosis=sensitive)
    for row in staged.table("groups0"):
        assert row["diagnosis"] <= 0.9 * row["admission"]
    free = run(db, tables, 3, 0.9, 10)
    assert any(row["diagnosis"] > 0.9 * row["admission"] for row in free.table("groups0"))
    drop_leftovers(staged.conn)


@pytest.mark.slow
def test_people_who_are_left_out_take_their_rows_along(db: Database) -> None:
    tables = wards.rows(300, 4)
    root = {**wards.ROOT, "where": "born >= 1950"}
    admission = {**wards.ADMISSION, "where": "kind = 'plan'"}
    staged = run(db, tables, patient=root, admission=admission)
    young = {row[0] for row in tables["patient"] if row[1] >= 1950}
    planned = {row[0] for row in tables["admission"] if row[1] in young and row[4] == "plan"}
    kept: Rows = {
        **tables,
        "admission": [row for row in tables["admission"] if row[0] in planned],
        "diagnosis": [row for row in tables["diagnosis"] if row[0] in planned],
        "patient_study": [row for row in tables["patient_study"] if row[0] in young],
    }
    _counted(staged, oracle(kept))
    drop_leftovers(staged.conn)


@pytest.mark.slow
def test_the_same_secret_gives_the_same_release_in_any_order(db: Database) -> None:
    tables = wards.rows(220, 5)
    shown = []
    for order in (1, 2):
        mixed = {
            name: random.Random(order).sample(rows, len(rows)) for name, rows in tables.items()
        }
        staged = run(db, mixed)
        relations = staged.plan.relations(staged.state)
        parts = [
            one.part for one in relations if one.part not in ("members", "groups", "histogram")
        ]
        shown.append({part: staged.table(part) for part in parts})
        drop_leftovers(staged.conn)
    assert shown[0] == shown[1]


# -- what is refused -------------------------------------------------------------------------------


def _refusal(db: Database, tables: Rows, code: str, **changes: Any) -> str:
    wards.build(db.connect("source_owner"), tables)
    others = {key: changes.pop(key) for key in ("k", "beta", "group_size") if key in changes}
    policy = wards.policy({**wards.WHOLE, **changes}, **others)
    with refused(code) as caught:
        driver.run(db.owner(), policy)
    drop_leftovers(db.owner())
    return str(caught[0])


@pytest.fixture
def tables() -> Rows:
    return wards.rows(120, 1)


def _changed(rows: list[tuple[Any, ...]], at: int, place: int, value: Any) -> None:
    rows[at] = (*rows[at][:place], value, *rows[at][place + 1 :])


@pytest.mark.slow
def test_rows_that_lead_to_nobody(db: Database, tables: Rows) -> None:
    _changed(tables["admission"], 0, 1, 9_999)
    _changed(tables["diagnosis"], 3, 0, None)
    text = _refusal(db, tables, "orphans")
    assert text == ("1 rows of admission lead to nobody: their references are NULL, or name no row")
    out = {"orphans": "leave_out"}
    staged = run(
        db,
        tables,
        admission={**wards.ADMISSION, **out},
        diagnosis={**wards.WHOLE["diagnosis"], **out},
    )
    gone = tables["admission"][0][0]
    kept = {
        **tables,
        "admission": tables["admission"][1:],
        "diagnosis": [row for row in tables["diagnosis"] if row[0] not in (None, gone)],
    }
    _counted(staged, oracle(kept))
    drop_leftovers(staged.conn)


_AGAIN = "is there again in 2 rows, so it does not say which row others name"


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("admission", "admission_no", f"the key of admission {_AGAIN}"),
        ("ward", "ward_no", f"the key of ward {_AGAIN}"),
        (
            "patient",
            "patient_no",
            "the key patient_no is there again in 2 rows of the root, which has a row for each"
            " person",
        ),
    ],
)
def test_keys_that_are_there_again_or_null(
    db: Database, tables: Rows, name: str, key: str, text: str
) -> None:
    wards.build(db.connect("source_owner"), tables)
    changed = {**wards.WHOLE[name], "source": "hospital.odd"}
    policy = wards.policy({**wards.WHOLE, name: changed}, trust=["source_owner"])
    rest = ", ".join(c.split()[0] for c in wards.TABLES[name].split(", ")[1:])
    grant = "GRANT SELECT ON hospital.odd TO steward"
    db.source(
        f"CREATE VIEW hospital.odd AS TABLE hospital.{name} UNION ALL"
        f" (SELECT * FROM hospital.{name} ORDER BY {key} LIMIT 2); {grant}"
    )
    with refused("key_repeated") as caught:
        driver.run(db.owner(), policy)
    assert str(caught[0]) == text
    drop_leftovers(db.owner())
    db.source(
        f"DROP VIEW hospital.odd; CREATE VIEW hospital.odd AS SELECT nullif({key}, 1) AS {key},"
        f" {rest} FROM hospital.{name}; {grant}"
    )
    with refused("key_null"):
        driver.run(db.owner(), policy)
    drop_leftovers(db.owner())


@pytest.mark.slow
def test_rows_that_lead_to_two_people(db: Database, tables: Rows) -> None:
    both = {
        **wards.WHOLE["diagnosis"],
        "references": {"admission_no": "admission", "patient_no": "patient"},
    }
    staged = run(db, tables, diagnosis=both)
    _counted(staged, oracle(tables))
    drop_leftovers(staged.conn)
    wrong = tables["diagnosis"][0][1] % 120 + 1
    _changed(tables["diagnosis"], 0, 1, wrong)
    text = _refusal(db, tables, "shared_fact", diagnosis=both)
    assert text == (
        "1 rows of diagnosis lead to two people each: what is said of both of them cannot be"
        " counted as of one"
    )


@pytest.mark.slow
def test_rows_that_lead_to_somebody_over_a_row_of_nobody(db: Database, tables: Rows) -> None:
    """The other reference names a row that leads to nobody, as if it named none."""
    _changed(tables["admission"], 0, 1, 9_999)
    both = {
        **wards.WHOLE["diagnosis"],
        "references": {"admission_no": "admission", "patient_no": "patient"},
        "orphans": "leave_out",
    }
    admission = {**wards.ADMISSION, "orphans": "leave_out"}
    gone = tables["admission"][0][0]
    assert any(row[0] == gone for row in tables["diagnosis"])
    staged = run(db, tables, admission=admission, diagnosis=both)
    kept = {
        **tables,
        "admission": tables["admission"][1:],
        "diagnosis": [row for row in tables["diagnosis"] if row[0] != gone],
    }
    _counted(staged, oracle(kept))
    drop_leftovers(staged.conn)


def test_values_that_name_no_row_of_a_lookup(db: Database, tables: Rows) -> None:
    _changed(tables["admission"], 0, 2, 77)
    text = _refusal(db, tables, "reference")
    assert text == "ward_no of admission names no row of ward in 1 rows"


def test_lookups_that_are_people(db: Database, tables: Rows) -> None:
    tables["ward"] = [(n, f"bed {n}") for n in range(1, len(tables["admission"]) + 1)]
    tables["admission"] = [
        (row[0], row[1], n, *row[3:]) for n, row in enumerate(tables["admission"], start=1)
    ]
    text = _refusal(db, tables, "lookup_people")
    assert text.startswith("more than half of the rows of ward that ward_no of admission names")


def test_lookups_that_are_people_of_those_who_are_released(db: Database, tables: Rows) -> None:
    """Whoever is left out hides nobody: each bed has one person who is released, and one who is
    not, and names no row that has to be there."""
    old = [row[0] for row in tables["patient"] if row[1] < 1970]
    for name in ("admission", "diagnosis"):
        tables[name] = [row for row in tables[name] if row[1] not in old]
    beds = len(tables["admission"])
    tables["ward"] = [(n, f"bed {n}") for n in range(1, beds + 1)]
    tables["admission"] = [
        (row[0], row[1], n, *row[3:]) for n, row in enumerate(tables["admission"], start=1)
    ]
    more = [(10_000 + n, old[n % len(old)], n, "2020-01-01", "now") for n in range(1, beds + 2)]
    root = {**wards.ROOT, "where": "born >= 1970"}
    tables["admission"] += more
    text = _refusal(db, tables, "lookup_people", patient=root, group_size=3, k=2, beta=0.9)
    assert text.startswith("more than half of the rows of ward that ward_no of admission names")


@pytest.mark.slow
def test_too_few_people_with_rows_or_in_groups(db: Database, tables: Rows) -> None:
    tables["patient_study"] = [(1, 1), (2, 1)]
    text = _refusal(db, tables, "too_few_holders")
    assert text.startswith("only 2 people of a part that is kept apart have rows in patient_study")
    text = _refusal(db, wards.rows(120, 1), "too_few_records", group_size=121)
    assert text == ("groups need 121 people, and the smallest part that is kept apart has 120")


def test_a_share_that_no_groups_reach(db: Database, tables: Rows) -> None:
    tables["diagnosis"] = [(row[0], row[1], "a") for row in tables["diagnosis"]]
    text = _refusal(db, tables, "event_share", beta=0.75)
    assert text == (
        "event_share beta = 0.75 cannot be reached by values of code of diagnosis, whatever groups"
        " are made; the best reachable is beta = 1"
    )


@pytest.mark.slow
def test_a_level_that_no_hierarchy_has(db: Database, tables: Rows) -> None:
    high = {"admitted": {**wards.ADMISSION["columns"]["admitted"], "shown": 9}}
    columns = {**wards.ADMISSION["columns"], **high}
    text = _refusal(db, tables, "hierarchy", admission={**wards.ADMISSION, "columns": columns})
    assert text == "the hierarchy of admitted of admission has no level 9"
