"""The largest sets of versions that one role could ever read, against every role's own set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pganon.guard.audiences import PUBLIC, audiences

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
