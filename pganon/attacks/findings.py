"""What attacks found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pganon.attacks.intervals import Difference, Rate, difference, rate

Kind = Literal["singling_out", "linkability", "inference"]


@dataclass(frozen=True)
class Attempt:
    """An attack by somebody, on people of some kind.

    Attributes:
        adversary: what the attacker knows or does beyond reading the release.
        column: that is inferred; None of the other attacks.
    """

    attack: Kind
    adversary: str
    column: str | None = None


@dataclass(frozen=True)
class Counted:
    """Successes among attempts, on people of the release and of the control group."""

    successes: int
    attempts: int
    control_successes: int
    control_attempts: int


@dataclass(frozen=True)
class Finding:
    """How often an attack succeeded.

    Attributes:
        release: on the release that the policy would make, against people who are in it.
        members: on the shadow release, against people who are in it.
        control: on the shadow release, against people who are not.
        difference: members less control.
    """

    attack: Kind
    adversary: str
    column: str | None
    release: Rate | None
    members: Rate | None
    control: Rate | None
    difference: Difference | None


@dataclass(frozen=True)
class NotMeasured:
    """An attack that was not tried, and why."""

    attack: Kind
    reason: str


@dataclass(frozen=True)
class Attacked:
    """The result of all attacks.

    Attributes:
        run_id: of the run in the ledger that the two dry runs belong to.
        records: of the source, without people who were forgotten.
        people: of the source; records, where nothing says whose they are.
        control_people: who were held out of the shadow release.
        targets: who were attacked, of those who are in it, and as many of the others.
        known_others: people of the target's group whom one of the adversaries knows.
        versions, requests: of the release, made or to be made by the same policy of the same data;
            reports of them have the findings.
    """

    release: str
    source: str
    run_id: int
    seed: int
    records: int
    people: int
    control_people: int
    targets: int
    known_others: int
    findings: tuple[Finding, ...]
    not_measured: tuple[NotMeasured, ...]
    versions: tuple[int, ...] = ()
    requests: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def findings(
    release: Iterable[tuple[Attempt, Counted]], shadow: Iterable[tuple[Attempt, Counted]]
) -> tuple[Finding, ...]:
    """Those of both releases, which were attacked in the same order."""
    made: list[Finding] = []
    for (attempt, whole), (_, found) in zip(release, shadow, strict=True):
        members = rate(found.successes, found.attempts)
        control = rate(found.control_successes, found.control_attempts)
        made.append(
            Finding(
                attempt.attack,
                attempt.adversary,
                attempt.column,
                rate(whole.successes, whole.attempts),
                members,
                control,
                difference(members, control),
            )
        )
    return tuple(made)
