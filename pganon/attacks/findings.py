"""What attacks found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pganon.attacks.curve import Choice, Guesses, certain, chosen, worst_value
from pganon.attacks.intervals import Difference, Rate, difference, rate
from pganon.forms.confidential import STRANGERS

Kind = Literal["singling_out", "linkability", "membership", "inference"]


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
    """Successes among attempts, on people of the release and of the control group.

    Attributes:
        guesses: of values, on those who are held out of the shadow release.
    """

    successes: int
    attempts: int
    control_successes: int
    control_attempts: int
    guesses: tuple[Guesses, ...] = ()


@dataclass(frozen=True)
class Posterior:
    """The chance that somebody is in the source of whom the attacker says so.

    Attributes:
        prior: share of the list that is.
    """

    prior: float
    chance: float


@dataclass(frozen=True)
class Finding:
    """How often an attack succeeded.

    Attributes:
        release: on the release that the policy would make, against those of the control group, who
            are in it.
        members: on the shadow release, against people who are in it.
        control: on the shadow release, against people who are not.
        difference: members less control; of membership, the attacker's advantage.
        certain: guesses in the release without any doubt.
        choice: of who attacks in the release where he is surest; None of few targets, and where
            anybody guesses most.
        value_choice: of who guesses one value alone, of all values the one of which most is lost.
        posteriors: what membership tells of people, of lists that are more or less in the source.
    """

    attack: Kind
    adversary: str
    column: str | None
    release: Rate | None
    members: Rate | None
    control: Rate | None
    difference: Difference | None
    certain: Rate | None = None
    choice: Choice | None = None
    value_choice: Choice | None = None
    posteriors: tuple[Posterior, ...] = ()


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
        learned: whether a model is among what the surest guesses are compared with.
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
    learned: bool
    findings: tuple[Finding, ...]
    not_measured: tuple[NotMeasured, ...]
    versions: tuple[int, ...] = ()
    requests: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def findings(
    release: Iterable[tuple[Attempt, Counted]],
    shadow: Sequence[tuple[Attempt, Counted]],
    models: Mapping[str, Sequence[Guesses]],
    priors: Sequence[float],
) -> tuple[Finding, ...]:
    """Those of both releases, which were attacked in the same order.

    Args:
        models: guesses of who learned from the source without the control group, by column.
        priors: shares of lists that are in the source.
    """
    made: list[Finding] = []
    for (attempt, whole), (_, found) in zip(release, shadow, strict=True):
        members = rate(found.successes, found.attempts)
        control = rate(found.control_successes, found.control_attempts)
        more: dict[str, Any] = {}
        # Whom nothing published is about has no guess, in one of them or in both.
        if attempt.attack == "inference" and whole.attempts == found.control_attempts:
            strangers = {
                STRANGERS[other.adversary]: counted.guesses
                for other, counted in shadow
                if other.column == attempt.column and other.adversary in STRANGERS
            }
            strangers["model"] = tuple(models.get(attempt.column or "", ()))
            curves = (whole.guesses, strangers, whole.attempts)
            more = {"choice": chosen(*curves), "value_choice": worst_value(*curves)}
        if attempt.attack == "membership" and members and control:
            more["posteriors"] = tuple(_posterior(prior, members, control) for prior in priors)
        made.append(
            Finding(
                **vars(attempt),
                release=rate(whole.successes, whole.attempts),
                members=members,
                control=control,
                difference=difference(members, control),
                certain=certain(whole.guesses),
                **more,
            )
        )
    return tuple(made)


def _posterior(prior: float, members: Rate, control: Rate) -> Posterior:
    """Bayes; where nobody is said to be in the source, nothing is learned."""
    inside, outside = prior * members.share, (1 - prior) * control.share
    return Posterior(prior, inside / (inside + outside) if inside + outside else prior)
