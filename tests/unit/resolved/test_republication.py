"""Which earlier version is shown again, and what a run is told that shows something else."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.loading import policy_from
from pganon.policy.partition import part_hash
from pganon.resolved.republication import ACCEPT, KEY, Earlier, Prints, Republication
from tests.unit.policy.examples import policy

NOW = {"source": "public.t", "privacy.k_anonymity.k": 5}
OTHER = {**NOW, "privacy.k_anonymity.k": 4}
HASH = part_hash(NOW)
FINGERPRINT = b"now"
PRINTS = Prints(FINGERPRINT, b"rows")


def earlier(**changes: Any) -> Earlier:
    found: dict[str, Any] = {
        "release": "r",
        "version": 1,
        "run_id": 1,
        "partition": NOW,
        "partition_hash": HASH,
        "source_fingerprint": FINGERPRINT,
        "rows_fingerprint": b"rows of others",
    }
    return Earlier(**{**found, **changes})


def other(**changes: Any) -> Earlier:
    return earlier(partition=OTHER, partition_hash=part_hash(OTHER), **changes)


def run(*versions: Earlier, mode: str = "refuse", keyed: bool = False) -> Republication:
    """Of a source of which nothing tells people apart, unless it has a key."""
    return Republication(
        policy_from(policy(republication=mode)), NOW, versions, publishes=True, keyed=keyed
    )


def test_nothing_before() -> None:
    found = run()
    assert found.before_work() is None
    assert found.after_reading(PRINTS) is None
    assert found.repeated(FINGERPRINT) is None
    assert run(mode="warn").warning(PRINTS) is None


def test_the_nearest_equal_version_is_shown_again() -> None:
    versions = [
        other(run_id=9),
        earlier(run_id=8, source_fingerprint=b"another"),
        earlier(run_id=7, release="b"),
        earlier(run_id=6, release="c"),
    ]
    found = run(*versions)
    repeated = found.repeated(FINGERPRINT)
    assert repeated is not None
    assert repeated.run_id == 7
    assert found.before_work() is None
    assert found.after_reading(PRINTS) is None
    for mode in ("refuse", "warn", "allow"):
        assert run(*versions, mode=mode).warning(PRINTS) is None


def forgets(label: str, name: str, version: int) -> str:
    return (
        f"version {version} of the release {label} has no key and stays incomparable: if no copy is"
        f" left of it, drop it and `pganon forget {name} --version {version} --reason TEXT`"
    )


def test_what_cannot_be_compared_is_not_shown_again() -> None:
    found = run(earlier(partition_hash=None))
    assert found.repeated(FINGERPRINT) is None
    refusal = found.before_work()
    assert refusal is not None
    assert "version 1 of the release r is over the same source and cannot be" in str(refusal)
    assert refusal.hint == f"{KEY}; {forgets('r', 'r', 1)}; {ACCEPT}"


def test_another_policy() -> None:
    found = run(other(release="My release", version=3))
    refusal = found.before_work()
    of_mine = forgets('"My release"', "'My release'", 3)
    assert refusal is not None
    assert refusal.code == "no_identity"
    assert str(refusal) == (
        'version 3 of the release "My release" is over the same source under another policy:'
        " privacy.k_anonymity.k 4 -> 5; who has both may learn what neither shows"
    )
    assert refusal.hint == (
        f"{KEY}; {of_mine}; {ACCEPT}; undoing the change of the policy avoids it"
    )


def test_another_source() -> None:
    found = run(other(version=4), earlier(version=3, source_fingerprint=b"another"))
    assert found.before_work() is None
    refusal = found.after_reading(PRINTS)
    assert refusal is not None
    assert "the source changed since version 3 of the release r;" in str(refusal)
    assert refusal.code == "no_identity"
    assert refusal.hint == f"{KEY}; {forgets('r', 'r', 4)}; {ACCEPT}"


def test_a_copy() -> None:
    copy = earlier(is_over_source=False, rows_fingerprint=b"rows")
    refusal = run(copy).after_reading(PRINTS)
    assert refusal is not None
    assert "was made from the same rows in another table (public.t)" in str(refusal)
    assert run(copy).after_reading(Prints(b"another", b"other rows")) is None


@pytest.mark.parametrize(
    "before",
    [
        other(population=3),
        earlier(population=3, source_fingerprint=b"another"),
        earlier(population=3, is_over_source=False, rows_fingerprint=b"rows"),
    ],
)
def test_what_the_rule_judges_is_not_refused_before(before: Earlier) -> None:
    found = run(before, keyed=True)
    assert found.before_work() is None
    assert found.after_reading(PRINTS) is None
    assert run(before, mode="warn", keyed=True).warning(PRINTS) is None


def test_the_rule_cannot_be_held_against_versions_of_nobody() -> None:
    refusal = run(other(), keyed=True).before_work()
    assert refusal is not None
    assert refusal.code == "republication"
    assert refusal.hint == (
        f"{forgets('r', 'r', 1)}; {ACCEPT}; undoing the change of the policy avoids it"
    )


@pytest.mark.parametrize("mode", ["warn", "allow"])
@pytest.mark.parametrize("before", [other(), earlier(source_fingerprint=b"another")])
def test_accepted(mode: str, before: Earlier) -> None:
    found = run(before, mode=mode)
    assert found.before_work() is None
    assert found.after_reading(PRINTS) is None
    assert (found.warning(PRINTS) is not None) == (mode == "warn")
    assert run(before).warning(PRINTS) is None
