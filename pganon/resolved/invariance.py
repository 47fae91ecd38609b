"""Signatures and new individuals that a version under m-invariance takes over from earlier ones.

Xiao and Tao: m-invariance, towards privacy preserving re-publication of dynamic datasets, SIGMOD
2007. All values of a group are different, and a person is only in groups with one set of values. Of
several sensitive columns, those of a column are different, and the set is one of vectors: of what
people have in all columns.
"""

from __future__ import annotations

from dataclasses import dataclass

from pganon.identifiers import QualifiedName

OUT = "00000000-0000-0000-0000-000000000000"
"""Instead of a signature, of people who were left permanently suppressed."""


@dataclass(frozen=True)
class Signatures:
    """Tables that keep the signatures of people.

    Attributes:
        people: `person` uuid, `value_set` uuid, and `mark0`, `mark1`, .. of the values of the
            columns, by their names; NULL of who was left permanently suppressed.
        values: `value_set` uuid, `value` text: the values of every signature; vectors
            of several columns.
        columns: how many there are.
    """

    people: QualifiedName
    values: QualifiedName
    columns: int


@dataclass(frozen=True)
class Resumed:
    """Cohorts of new individuals on which no version decided yet.

    Attributes:
        cohort: (person, cohort), the cohort that the run tests; None: all but `others`.
        others: tables of those that runs of other releases will test.
    """

    signatures: Signatures
    cohort: QualifiedName | None
    others: tuple[QualifiedName, ...]
