"""Keys of a policy that only reports read: what a release is for, and what they may count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from pganon.policy.hierarchies import Declaration
from pganon.policy.labels import Name, RelationName, label, no_repeats, read_by
from pganon.policy.refusals import refuse_one, show
from pganon.policy.requests import Day

Text = Annotated[str, Field(min_length=1, max_length=2000)]

SMALLEST = 11
"""Fewest people of a bin, as CMS (US Medicare and Medicaid) asks of what it publishes."""

_DIGITS = 1_000_000


def _told_apart(limits: tuple[float, ...]) -> tuple[float, ...]:
    """By the names under which evidence has them."""
    no_repeats(tuple(Limit.of(one).name for one in limits))
    return limits


@dataclass(frozen=True)
class Limit:
    """A chance to find a person that a board accepts."""

    share: Fraction

    @classmethod
    def of(cls, declared: float) -> Limit:
        """As an exact number, to six decimals of its denominator."""
        return cls(Fraction(declared).limit_denominator(_DIGITS))

    @property
    def name(self) -> str:
        """In the keys of evidence: `0.09`, `1/11`."""
        return str(self.share) if self._one_in else f"{float(self.share):.6f}".rstrip("0")

    @property
    def words(self) -> str:
        """`9 %`, `1 in 11`."""
        if self._one_in:
            return f"1 in {self.share.denominator}"
        return f"{float(100 * self.share):g}\u00a0%"

    @property
    def largest(self) -> int:
        """Members of the largest group of whom one is found with a higher chance."""
        return -(-self.share.denominator // self.share.numerator) - 1

    @property
    def _one_in(self) -> bool:
        return self.share.numerator == 1 and (1000 * self.share).denominator > 1


REPORTED = ("report", "population")
"""Where a policy names the population of its report."""

AUTHORITIES = (0.09,)
"""Highest chance for publication to everybody: EMA (Policy 0070) and Health Canada. CMS publishes
no cell with fewer than 11 people, which is the same but for rounding."""


def _value(value: object) -> object:
    return None if value is None else label(value)


Missing = Annotated[
    tuple[
        Annotated[str | None, BeforeValidator(_value, json_schema_input_type=str | int | None)], ...
    ],
    Field(strict=False, min_length=1),
    AfterValidator(no_repeats),
]
"""Values as texts; None is NULL."""


def _iri(text: str) -> None:
    if not _IRI.fullmatch(text):
        refuse_one(
            f"{show(text)} is not the address of a term",
            suggestion="such as https://w3id.org/dpv/legal/eu/gdpr#A6-1-e",
        )


_IRI = re.compile(r"https?://[^\s<>\"{}|\\^`\x00-\x20\x7f-\x9f]+")
Iri = Annotated[str, Field(max_length=500), read_by(_iri)]


class Expert(Declaration):
    """Who determined that the risk is very small, and what exactly."""

    name: Text | None = None
    credentials: Text | None = None
    relation: Text | None = None
    determined_on: Day | None = None
    valid_until: Day | None = None
    conclusion: Text | None = None


class IntruderTest(Declaration):
    """People who tried to find somebody, with which sources, and what they found."""

    by: Text | None = None
    on: Day | None = None
    sources: Text | None = None
    result: Text | None = None


class About(Declaration):
    """What a board or an authority asks beside all figures, in the words of the steward.

    Attributes:
        rationale: why this method.
        other_columns: why the other columns do not identify.
        threshold: why these limits, and of which figure.
        utility: what the loss means for analyses.
    """

    title: Text | None = None
    purpose: Text | None = None
    legal_basis: Text | None = None
    legal_basis_iri: Iri | None = None
    legislation: Annotated[list[Iri], Field(min_length=1, max_length=20)] | None = None
    recipients: Text | None = None
    conditions: Text | None = None
    contact: Text | None = None
    controls: Text | None = None
    motives: Text | None = None
    harms: Text | None = None
    mitigation: Text | None = None
    roles: Text | None = None
    review_on: Day | None = None
    rationale: Text | None = None
    other_columns: Text | None = None
    threshold: Text | None = None
    utility: Text | None = None
    expert: Expert = Expert()
    intruder_test: IntruderTest = IntruderTest()


class Reporting(Declaration):
    """What a report counts.

    Attributes:
        smallest: fewest people that evidence counts together.
        limits: highest chances to find a person that are accepted.
        population: the relation whose people a record is sought among by who does not know who is
            in the source.
        missing: by sensitive column, values that say nothing about a person: a group has none of
            them in common.
        subgroups: quasi-identifiers by whose values chances are told, each alone.
    """

    smallest: Annotated[int, Field(ge=3, le=1000)] = SMALLEST
    limits: Annotated[
        tuple[Annotated[float, Field(ge=1e-6, lt=1)], ...],
        Field(strict=False, min_length=1, max_length=4),
        AfterValidator(_told_apart),
    ] = AUTHORITIES
    population: RelationName | None = None
    missing: Mapping[Name, Missing] = Field(default_factory=dict)
    subgroups: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        Field(strict=False, max_length=4),
        AfterValidator(no_repeats),
    ] = ()

    @property
    def accepted(self) -> tuple[Limit, ...]:
        return tuple(map(Limit.of, self.limits))
