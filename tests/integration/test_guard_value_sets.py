"""Where sets of values count for the guard, and not cells."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PrivacyRefusal
from pganon.guard.rules import Rule
from pganon.privacy.frequency import AnatomyLDiversity, DistinctLDiversity
from pganon.spec.invariance import OUT
from tests.support.harness.cluster import Database
from tests.support.harness.guarded import Population, Row, Source, left_out, released

pytestmark = pytest.mark.primary_server_only

RULE = Rule(AnatomyLDiversity(3), "v")
FIRST: Source = {n: released(1 + n // 3, "abc"[n % 3]) for n in range(6)}
"""Two groups {a, b, c}."""

SECOND: Source = {0: released(7, "a"), 4: released(7, "b"), 2: released(8, "c")}
"""Some of them in other groups, where nobody has c, or a and b."""

NOBODY = [(7, "c"), (8, "a"), (8, "b")]
KEPT: dict[str, Any] = {
    "invariant": ("v",),
    "bounded": frozenset("v"),
    "republication": "refuse",
}


def test_sets_count_where_all_versions_keep_them(db: Database) -> None:
    population = Population(db.owner())
    figures = population.add(FIRST, [RULE], **KEPT)
    assert figures["guard_value_sets"] == ["v"]
    figures = population.add(SECOND, [RULE], counterfeits=NOBODY, **KEPT)
    assert figures["guard_value_sets"] == ["v"]
    assert figures["guard_smallest_cell"] == 1
    assert figures["guard_worst_probability"] == pytest.approx(1 / 3)
    assert (figures["guard_fewest_values"], figures["guard_certain"]) == (3, 0)
    assert (figures["guard_above"], figures["guard_people"]) == (0, 6)
    cells = population.cells.values()
    assert len({cell["value_set"] for cell in cells}) == 1
    assert all(cell["values"].keys() == {(1, v) for v in "abc"} for cell in cells)


def test_rounds_rule_no_value_of_a_set_out(db: Database) -> None:
    population = Population(db.owner())
    options = {**KEPT, "republication": "warn", "rounds": 3}
    for version, nobody in ((FIRST, []), (SECOND, NOBODY), ({0: released(1, "a")}, "bc")):
        wanted = [(1, value) for value in nobody] if isinstance(nobody, str) else nobody
        population.add(version, [RULE], counterfeits=wanted, **options)
    for cell in population.cells.values():
        assert cell["values"].keys() == {(1, value) for value in "abc"}


def test_a_version_by_another_method_brings_cells_back(db: Database) -> None:
    """Its groups are judged, and so is all that comes after."""
    population = Population(db.owner())
    population.add(FIRST, [RULE], **KEPT)
    figures = population.add({n: released(1, "abc"[n % 3]) for n in range(6)}, [RULE])
    assert figures["guard_value_sets"] is None
    assert {cell["value_set"] for cell in population.cells.values()} == {None}
    with pytest.raises(PrivacyRefusal) as caught:
        population.add(SECOND, [RULE], counterfeits=NOBODY, **KEPT)
    assert caught.value.code == "republication"


def test_a_version_by_another_method_before_is_one_too_many(db: Database) -> None:
    population = Population(db.owner())
    population.add(FIRST, [RULE])
    figures = population.add(FIRST, [RULE], **KEPT)
    assert figures["guard_value_sets"] is None
    with pytest.raises(PrivacyRefusal):
        population.add(SECOND, [RULE], counterfeits=NOBODY, **KEPT)


def test_a_version_of_which_nobody_knows_the_columns(db: Database) -> None:
    population = Population(db.owner())
    population.columns = ("w",)
    population.add(FIRST, [], unknown=True)
    population.columns = ("v",)
    for _ in range(2):
        figures = population.add(FIRST, [RULE], **KEPT)
        assert figures["guard_value_sets"] is None
    with pytest.raises(PrivacyRefusal):
        population.add(SECOND, [RULE], counterfeits=NOBODY, **KEPT)


def test_other_columns_do_not_matter(db: Database) -> None:
    """A version without the column leaves the sets alone; one that keeps others has none."""
    population = Population(db.owner())
    population.add(FIRST, [RULE], **KEPT)
    sets = {cell["value_set"] for cell in population.cells.values()}
    population.columns = ("w",)
    others = {n: released(1 + n // 3, "xyz"[n % 3]) for n in range(6)}
    figures = population.add(others, [], **{**KEPT, "invariant": ("w",), "bounded": frozenset("w")})
    assert figures["guard_value_sets"] == ["v"]
    assert {cell["value_set"] for cell in population.cells.values()} == sets
    figures = population.add(others, [], published=["w"])
    assert figures["guard_value_sets"] == ["v"]
    population.columns = ("v",)
    figures = population.add(SECOND, [RULE], counterfeits=NOBODY, **KEPT)
    assert figures["guard_value_sets"] == ["v"]


@pytest.mark.parametrize("republication", ["refuse", "warn", "allow"])
@pytest.mark.parametrize(
    ("second", "nobody"),
    [
        ({0: released(1, "a"), 9: released(1, "b")}, [(1, "d")]),
        ({0: released(1, "a"), 1: released(1, "b")}, []),
        ({0: released(1, "b"), 1: released(1, "a")}, [(1, "c")]),
    ],
    ids=["other set", "fewer values", "changed values"],
)
def test_who_would_get_other_values_is_refused(
    db: Database, second: Source, nobody: list[tuple[int, str]], republication: str
) -> None:
    population = Population(db.owner())
    options = {**KEPT, "republication": republication}
    population.add(FIRST, [RULE], **options)
    with pytest.raises(PrivacyRefusal) as caught:
        population.add(second, [], counterfeits=nobody, **options)
    assert caught.value.code == "value_sets"
    assert caught.value.observed == 2 - (nobody == [(1, "d")])


def test_who_was_left_out_stays_out(db: Database) -> None:
    """Left out by the method: for good. By a rule that reads no value: not."""
    population = Population(db.owner())
    population.add({**FIRST, 7: left_out(-1, "d"), 8: left_out(0, "e")}, [RULE], **KEPT)
    sets = {n: population.cells[cell]["value_set"] for n, cell in population.cell_of.items()}
    assert (str(sets[7]), sets[8]) == (OUT, None)
    later = {**FIRST, 7: left_out(-1, "d"), 8: left_out(-1, "e")}
    population.add(later, [RULE], **KEPT)
    new = {8: released(9, "e"), 9: released(9, "f"), 10: released(9, "g")}
    with pytest.raises(PrivacyRefusal) as caught:
        population.add({**FIRST, **new}, [RULE], **KEPT)
    assert caught.value.code == "value_sets"
    new = {11: released(9, "e"), 9: released(9, "f"), 10: released(9, "g")}
    population.add({**FIRST, **new}, [RULE], **KEPT)


def test_stronger_promises_count(db: Database) -> None:
    """l raised: sets of three values miss it; so do they where more values were promised."""
    population = Population(db.owner())
    population.add(FIRST, [RULE], **KEPT)
    population.add(FIRST, [RULE, Rule(DistinctLDiversity(3), "v")], **KEPT)
    for stronger in (Rule(AnatomyLDiversity(4), "v"), Rule(DistinctLDiversity(4), "v")):
        with pytest.raises(PrivacyRefusal) as caught:
            population.add(SECOND, [stronger], counterfeits=NOBODY, **KEPT)
        assert caught.value.code == "republication"


# -- several columns ------------------------------------------------------------------------------

VECTORS: dict[str, Any] = {
    "invariant": ("v", "w"),
    "bounded": frozenset("vw"),
    "republication": "refuse",
}
BOTH = [RULE, Rule(AnatomyLDiversity(3), "w")]


def together(group: int, *vectors: str, first: int = 0) -> Source:
    """People of a group by their vectors, one letter per column."""
    return {n: vector(group, v) for n, v in enumerate(vectors, first)}


def vector(group: int, values: str) -> Row:
    return Row((group, group), ((values[0],), (values[1],)))


def pairs(db: Database, first: Source) -> Population:
    population = Population(db.owner(), columns=("v", "w"))
    figures = population.add(first, BOTH, **VECTORS)
    assert figures["guard_value_sets"] == ["v", "w"]
    return population


def nobody(group: int, *vectors: str) -> list[tuple[int, str, str]]:
    found = [(group, values[0], "v") for values in vectors]
    return found + [(group, values[1], "w") for values in vectors]


def test_vectors_are_completed_by_those_of_the_set(db: Database) -> None:
    population = pairs(db, together(1, "ax", "by", "cz"))
    second = {0: vector(7, "ax"), 5: vector(7, "by"), 2: vector(8, "cz")}
    missing = [*nobody(7, "cz"), *nobody(8, "ax", "by")]
    figures = population.add(second, BOTH, counterfeits=missing, **VECTORS)
    assert figures["guard_value_sets"] == ["v", "w"]
    assert figures["guard_worst_probability"] == pytest.approx(1 / 3)
    assert (figures["guard_smallest_cell"], figures["guard_certain"]) == (1, 0)
    assert len({cell["value_set"] for cell in population.cells.values()}) == 1


@pytest.mark.parametrize(
    ("second", "missing", "people"),
    [
        ({0: vector(1, "ax"), 4: vector(1, "bz"), 5: vector(1, "cy")}, [], 3),
        ({0: vector(1, "ax"), 4: vector(1, "bz")}, nobody(1, "cy"), 2),
        ({0: vector(1, "ax"), 4: vector(1, "bv")}, nobody(1, "cz"), 2),
        ({0: vector(1, "ax")}, [*nobody(1, "by", "cz"), (1, "d", "v")], 1),
        ({0: vector(1, "ax")}, nobody(1, "by"), 1),
        ({0: vector(1, "ax"), 4: vector(1, "ax")}, nobody(1, "by", "cz"), 2),
        ({8: vector(1, "ax"), 9: vector(1, "by")}, nobody(1, "cz"), 2),
        ({0: vector(1, "ay"), 1: vector(1, "bx"), 2: vector(1, "cz")}, [], 3),
        ({0: vector(1, "by")}, nobody(1, "ax", "cz"), 1),
    ],
    ids=[
        "other vectors",
        "other vectors and nobody",
        "other values of a column",
        "more values of a column",
        "fewer",
        "twice the same",
        "newcomers and nobody",
        "changed",
        "changed to another of the set",
    ],
)
def test_who_would_get_other_vectors_is_refused(
    db: Database, second: Source, missing: list[tuple[int, str, str]], people: int
) -> None:
    """Also where every column has the same values as before."""
    population = pairs(db, together(1, "ax", "by", "cz"))
    with pytest.raises(PrivacyRefusal) as caught:
        population.add(second, [], counterfeits=missing, **VECTORS)
    assert caught.value.code == "value_sets"
    assert caught.value.observed == people
    assert "columns v, w" in str(caught.value)


def test_people_of_two_sets_with_the_same_values(db: Database) -> None:
    """In one group: each of them has a vector of the other's set."""
    first = {**together(1, "ax", "by", "cz"), **together(2, "ax", "bz", "cy", first=3)}
    population = pairs(db, first)
    assert len({cell["value_set"] for cell in population.cells.values()}) == 2
    kept = {0: vector(1, "ax"), 3: vector(2, "ax")}
    missing = [*nobody(1, "by", "cz"), *nobody(2, "bz", "cy")]
    population.add(kept, BOTH, counterfeits=missing, **VECTORS)
    both = {1: vector(1, "by"), 3: vector(1, "ax")}
    with pytest.raises(PrivacyRefusal) as caught:
        population.add(both, [], counterfeits=nobody(1, "cz"), **VECTORS)
    assert caught.value.code == "value_sets"


def test_who_was_left_out_stays_out_of_groups_of_vectors(db: Database) -> None:
    """Also where a vector of the set is free."""
    out = {7: Row((), (("a",), ("x",)), -1)}
    population = pairs(db, together(1, "ax", "by", "cz") | out)
    back = {7: vector(1, "ax"), 1: vector(1, "by")}
    for second, missing in ((back, nobody(1, "cz")), (together(2, "ax", "kl", "mn", first=7), [])):
        with pytest.raises(PrivacyRefusal) as caught:
            population.add(second, [], counterfeits=missing, **VECTORS)
        assert caught.value.code == "value_sets"


def test_another_choice_of_columns_brings_cells_back(db: Database) -> None:
    population = pairs(db, together(1, "ax", "by", "cz"))
    figures = population.add(
        {n: released(1, "abc"[n]) for n in range(3)},
        [RULE],
        published=["v"],
        **{**VECTORS, "invariant": ("v",), "republication": "allow"},
    )
    assert figures["guard_value_sets"] is None
    assert {cell["value_set"] for cell in population.cells.values()} == {None}


def test_versions_of_other_columns_leave_vectors_alone(db: Database) -> None:
    population = pairs(db, together(1, "ax", "by", "cz"))
    population.columns = ("k",)
    figures = population.add({n: released(1, "lmn"[n]) for n in range(3)}, [])
    assert figures["guard_value_sets"] == ["v", "w"]
    population.columns = ("v", "w")
    missing = nobody(4, "ax", "cz")
    figures = population.add({1: vector(4, "by")}, BOTH, counterfeits=missing, **VECTORS)
    assert figures["guard_value_sets"] == ["v", "w"]
