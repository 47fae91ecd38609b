"""The rule where people are in several groups at once: of other people, or the very same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pganon.resolved.presentation import Form, Presentation
from tests.support.oracles.verdicts import Group, VersionGroups, judge


def told(run: int, form: Form, *groups: Group, **changes: bytes) -> VersionGroups:
    manner = Presentation(run, form, ("v",), ("q",), "policy", b"1")
    people = frozenset(person for group in groups for person in group.people)
    return VersionGroups(replace(manner, **changes), groups, people)


def group(*people: int) -> Group:
    return Group({person: {"v": f"x{person % 2}"} for person in people})


def left_out(person: int) -> Group:
    return Group({person: {}}, left_out=True, shown=False)


FIRST = (group(0, 1), group(2, 3))


@pytest.mark.parametrize("left", [(), (left_out(14),)])
def test_other_people(left: tuple[Group, ...]) -> None:
    newcomers = told(2, "several", group(10, 11), group(12, 13), *left)
    found = judge(newcomers, [told(1, "several", *FIRST)])
    assert {verdict.reason for verdict in found} == {None}


@pytest.mark.parametrize("forms", [("several", "several"), ("several", "classes"),
                                   ("classes", "several")])  # fmt: skip
@pytest.mark.parametrize(
    ("before", "now"),
    [
        (FIRST, (group(10, 3), group(11, 12))),
        (FIRST, (group(10, 11), left_out(3))),
        ((*FIRST, left_out(9)), (group(9, 10), group(11, 12))),
        (FIRST, FIRST),
    ],
    ids=["in a group", "left out now", "left out before", "the same groups"],
)
def test_one_of_another_version(
    forms: tuple[Form, Form], before: tuple[Group, ...], now: tuple[Group, ...]
) -> None:
    found = judge(told(2, forms[1], *now, drawn=b"2"), [told(1, forms[0], *before)])
    assert "several" in {verdict.reason for verdict in found}


def test_drawn_again_of_the_same_rows() -> None:
    """By the same policy and seed; as long as nobody of them was forgotten."""
    again = told(2, "several", *FIRST)
    assert [v.reason for v in judge(again, [told(1, "several", *FIRST)])] == [None, None]
    other_policy = told(1, "several", *FIRST, partition_hash="other")  # type: ignore[arg-type]
    assert {v.reason for v in judge(again, [other_policy])} == {"several"}
    gone = told(1, "several", FIRST[0], replace(FIRST[1], forgotten=True))
    assert {v.reason for v in judge(again, [gone])} == {"several"}
