"""The largest sets of versions that one role could ever read, against every role's own set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pganon.guard.audiences import PUBLIC, audiences
from pganon.guard.model import Memory
from pganon.identifiers import QualifiedName
from pganon.publish.memory import EVERYBODY, About, Remembered
from pganon.run.apart import Apart, Seeing, largest, new_audiences

ROLES = [*"abcd", PUBLIC]


@given(
    readers=st.dictionaries(
        st.integers(0, 5), st.none() | st.sets(st.sampled_from(ROLES)), max_size=6
    )
)
def test_every_role_is_in_an_audience(readers: dict[int, set[str] | None]) -> None:
    found = [one.runs for one in audiences(readers)]
    for role in (*ROLES, "who came later"):
        has = {run for run, who in readers.items() if who is None or who & {role, PUBLIC}}
        assert not has or any(has <= runs for runs in found)
    assert not any(one < other for one in found for other in found)
    for one in audiences(readers):
        runs = {r for r, who in readers.items() if who is None or who & {one.name, PUBLIC}}
        assert one.runs == runs


def test_by_name() -> None:
    both = audiences({1: ["b", "a"], 2: ["c"], 3: [PUBLIC]})
    assert [(one.name, set(one.runs)) for one in both] == [("a", {1, 3}), ("c", {2, 3})]
    assert [set(one.runs) for one in audiences({1: [PUBLIC], 2: None})] == [{1, 2}]
    assert audiences({}) == ()
    assert audiences({1: []}) == ()


def version(run_id: int, readers: list[str] | None) -> About:
    return About("r", 1, run_id, "mondrian", None, [], None, None, None, readers, {}, None)


def test_new_readers_of_a_version_that_everybody_may_have() -> None:
    about = [version(1, None), version(2, ["a"])]
    assert largest(about, {1: ["b"]}) is None
    found = largest([*about, version(3, ["b"])], {1: ["b"]})
    assert found is not None
    assert [(one.name, set(one.runs)) for one in found] == [("a", {1, 2}), ("b", {1, 3})]


@given(
    st.lists(st.lists(st.sampled_from([*ROLES, PUBLIC]), max_size=2), min_size=1, max_size=5),
    st.sets(st.integers(0, 4), min_size=1),
    st.sets(st.sampled_from([*ROLES, PUBLIC]), min_size=1),
)
def test_what_a_new_reader_has(readers: list[list[str]], shown: set[int], added: set[str]) -> None:
    """All that a role has after is what it had itself, or is judged."""
    runs = shown & set(range(len(readers)))
    about = [version(run, names) for run, names in enumerate(readers)]
    new = new_audiences(about, runs, sorted(added))
    after = [names + [*added] * (run in runs) for run, names in enumerate(readers)]
    for role in (*ROLES, "who came later"):
        now = has(after, role)
        assert now == has(readers, role) or any(now <= one.runs for one in new)
    for one in new:
        assert has(readers, one.name) < has(after, one.name) == one.runs
        assert one.runs & runs


def has(readers: list[list[str]], role: str) -> set[int]:
    return {run for run, names in enumerate(readers) if {role, PUBLIC} & set(names)}


def test_memories_that_a_version_does_not_change() -> None:
    """Those of audiences that there are, and that do not get it."""
    table = QualifiedName("pganon_private", "t")
    memory = Memory((), (), table, table, table)
    known = [
        Remembered(name, memory, runs, b"", 9)
        for name, runs in [(EVERYBODY, (1, 2, 3)), ("a", (1,)), ("b", (2,)), ("c", (2, 3))]
    ]
    after = Apart((), (Seeing("a", (1,)),), (frozenset({2, 3}), frozenset({1})))
    assert after.kept(known) == ("c",)
