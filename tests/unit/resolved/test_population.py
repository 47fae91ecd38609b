"""Which population a source belongs to, by its names and its key."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PreconditionError
from pganon.resolved.population import Asked, Known, chosen

PATIENT, VISIT = ("patient",), ("visit",)


def asked(key: tuple[str, ...] = PATIENT, name: str | None = None, **changes: Any) -> Asked:
    return Asked(name, **{"source": "a.t", "columns": frozenset({*key, "age"}), **changes}, key=key)


def known(number: int = 1, name: str | None = None, **changes: Any) -> Known:
    found: dict[str, Any] = {"released_from": frozenset({"a.t"}), "key": PATIENT}
    return Known(number, name, **{**found, **changes})


FROM_VIEW = {"released_from": frozenset({"a.v"})}
HAS_BOTH = {"columns": frozenset({"patient", "visit"})}


@pytest.mark.parametrize(
    ("ask", "there", "found"),
    [
        (asked(), [], None),
        (asked(name="p"), [], None),
        (asked(), [known()], 1),
        (asked(), [known(1, **FROM_VIEW)], 1),
        (asked(name="p"), [known()], 1),  # it gets the name
        (asked(name="p"), [known(1, "p")], 1),
        (asked(name="p"), [known(1, "p", near=False, key=VISIT)], 1),
        (asked(name="p", **HAS_BOTH), [known(1, "p", near=False, key=VISIT)], 1),
        (asked(), [known(1, "p", **FROM_VIEW), known(2)], 2),  # its own
        (asked(VISIT), [known(1, **FROM_VIEW)], 1),  # if they are known by the other key
        (asked(VISIT, "q", accepts=True), [known(1, "p", **FROM_VIEW)], None),
        (asked(VISIT, "q"), [known(1, "p", **FROM_VIEW), known(2, "q", key=VISIT)], 2),
    ],
)
def test_chosen(ask: Asked, there: list[Known], found: int | None) -> None:
    one = chosen(ask, there)
    assert (one.id if one else None) == found


@pytest.mark.parametrize(
    ("ask", "there", "hint"),
    [
        (asked(VISIT, **HAS_BOTH), [known()], "tell them apart by patient"),
        (asked(VISIT, **HAS_BOTH), [known(1, **FROM_VIEW)], "tell them apart by patient"),
        (asked(VISIT, "p", **HAS_BOTH), [known(1, "p", **FROM_VIEW)], "tell them apart by patient"),
        (asked(VISIT, "q", **HAS_BOTH), [known(1, "p", **FROM_VIEW)], "{name: p}"),
        (asked(VISIT, "q"), [known(1, "p", **FROM_VIEW)], "republication: warn"),
        (asked(VISIT, "q", accepts=True, **HAS_BOTH), [known(1, "p", **FROM_VIEW)], "{name: p}"),
        (asked(name="q"), [known(1, "p")], "{name: p}"),
        (asked(), [known(1, **FROM_VIEW), known(2, **FROM_VIEW)], "the same name"),
        (asked(name="p"), [known(1, **FROM_VIEW), known(2, "p")], "leave the name out"),
    ],
)
def test_refused(ask: Asked, there: list[Known], hint: str) -> None:
    with pytest.raises(PreconditionError) as raised:
        chosen(ask, there)
    assert raised.value.code == "population"
    assert hint in (raised.value.hint or "")
