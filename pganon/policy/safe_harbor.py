"""Columns that may hold one of the 18 kinds of identifiers of HIPAA Safe Harbor.

The kinds are those of 45 CFR 164.514(b)(2)(i), A to R. Names and types of columns say something
about most of them. Hints are for people to look at; that there is none proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pganon.catalog.model import Column
from pganon.policy.vocabulary import shortened, words

KINDS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates, ages above 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan numbers",
    "J": "account numbers",
    "K": "certificate and license numbers",
    "L": "vehicles and their plates",
    "M": "devices and serial numbers",
    "N": "URLs",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "any other unique number or code",
}

_NUMBER = "(id|ids|no|nr|num|nbr|number|numbers)"
_NAMED = {
    "F": "e ?mails?|mail",
    "E": "fax",
    "D": "(tele|cell ?)?phones?|tel|mobile",
    "G": "ssn|social ?security",
    "H": f"mrn|medical ?record|patient ?{_NUMBER}",
    "I": f"health ?plan|beneficiary|subscriber|medicare|medicaid|(member|insurance) ?{_NUMBER}",
    "J": f"account|acct|iban|credit ?card|card ?{_NUMBER}",
    "L": "vin|vehicle|plate",
    "K": "licen[cs]e|certificate|passport|npi",
    "M": "device|serial|imei|mac|udi",
    "N": "urls?|web ?site|homepage",
    "O": "ip|ip ?addr(ess)?",
    "P": "finger ?prints?|voice ?print|biometrics?|retina|iris",
    "Q": "photo|photograph|picture|portrait|face",
    "B": "street|addr|address|city|town|municipality|village|county|precinct|district|parish"
    "|zip ?(code)?|post ?code|postal ?(code)?|plz|geocode|lat|lon|lng|latitude|longitude|geom"
    "|tract|puma|neighbou?rhood|location",
    "A": "((first|last|full|sur|fore|middle|maiden|family|given) ?)names?|initials|nickname",
    "C": "dob|birth ?(day|date)|date|born|died|admitted|discharged",
}
"""Whole words of names, the more special kinds before those with common words."""
_COMMON = {"R": "id|ids|uid|uuid|guid|key|pseudonym|token|login|user ?name", "A": "names?"}
"""Words that count where no other one says what a column is."""

_TYPED = {
    "bytea": ("P", "Q"),
    "inet": ("O",),
    "cidr": ("O",),
    "macaddr": ("M",),
    "macaddr8": ("M",),
    "point": ("B",),
}

BY_NAME, BY_TYPE = "by its name", "by its type"


@dataclass(frozen=True)
class Hint:
    """That a column may hold a kind of identifiers.

    Attributes:
        kind: its letter, a key of `KINDS`.
        share: of the values, or of the records, that look so; None where none was looked at.
    """

    column: str
    kind: str
    why: str
    share: float | None = None

    @property
    def label(self) -> str:
        """The letter and the kind."""
        return f"{self.kind}, {KINDS[self.kind]}"


def hints(columns: Iterable[Column]) -> list[Hint]:
    """What names and types of columns say, in the order of the columns."""
    return [hint for column in columns for hint in (*by_type(column), *by_name(column.name))]


def by_type(column: Column) -> list[Hint]:
    """What the type of a column says."""
    kinds = ("C",) if column.is_time else _TYPED.get(column.base, ())
    return [Hint(column.name, kind, BY_TYPE) for kind in kinds]


def by_name(name: str) -> list[Hint]:
    """What the name of a column says: one kind, or none."""
    spaced = " ".join(words(name))
    for patterns in (_NAMED, _COMMON):
        for kind, pattern in patterns.items():
            if re.search(rf"\b({pattern})\b", spaced):
                return [Hint(name, kind, BY_NAME)]
    return []


def is_age(name: str) -> bool:
    """Whether the name says that a column holds ages."""
    match = shortened(name)
    return match is not None and match.word == "age"
