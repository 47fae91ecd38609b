"""Worked examples of anatomy and slicing: a cancer registry, and smaller tables.

Tables are tuples of rows; `BUCKETS` of the registry are the partitions of its worked release.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tests.support.oracles.sliced import Published, Row, Rule
from tests.support.sources.builders import make_table
from tests.support.sources.by_hand import aligned, independent

if TYPE_CHECKING:
    from tests.support.harness.cluster import Database

# -- the registry -------------------------------------------------------------------------------

NAME = ("public", "registry")
COLUMNS = {
    "patient": "text",
    "sex": "text",
    "age": "integer",
    "zip": "integer",
    "cancer": "text",
    "treatment": "text",
    "symptom": "text",
    "date": "date",
    "physician": "text",
    "method": "text",
}
PATIENTS = (
    ("P1", "M", 23, 68034, "Lung", "Chemotherapy", "Weight loss", "12-10", "John", "Chest X-ray"),
    ("P2", "F", 27, 68079, "Colon", "Surgery", "Abdominal pain", "12-01", "Victor", "CT scan"),
    ("P3", "M", 24, 68058, "Prostate", "Chemotherapy", "Back pain", "11-10", "Sam", "Blood test"),
    ("P4", "F", 26, 68034, "Liver", "Surgery", "Jaundice", "10-03", "Victor", "CT scan"),
    ("P5", "M", 28, 68046, "Lung", "Radiation", "Cough", "10-21", "John", "Chest X-ray"),
    ("P6", "M", 31, 68061, "Prostate", "Radiation", "Back pain", "09-14", "Sam", "Blood test"),
    ("P7", "M", 35, 68079, "Liver", "Chemotherapy", "Abdominal pain", "09-28", "Victor", "CT scan"),
    ("P8", "F", 38, 68112, "Lung", "Radiation", "Cough", "11-19", "John", "Chest X-ray"),
    ("P9", "M", 41, 68022, "Prostate", "Surgery", "Back pain", "11-02", "Sam", "Blood test"),
)
REGISTRY = tuple((*row[:7], dt.date.fromisoformat(f"2012-{row[7]}"), *row[8:]) for row in PATIENTS)
QUASI = (("sex", "age"), ("zip",))
SENSITIVE = (("cancer", "treatment"), ("symptom", "date"), ("physician", "method"))
BUCKETS = {
    "qit": (1, 2, 1, 1, 2, 2, 3, 3, 3),
    "cancer": (1, 2, 2, 1, 2, 1, 3, 3, 3),
    "symptom": (1, 1, 1, 2, 2, 3, 3, 3, 2),
    "physician": (1, 2, 1, 1, 2, 3, 3, 3, 2),
}

# -- smaller tables -----------------------------------------------------------------------------

DISEASES = ("age", "sex", "zip", "disease")
ANATOMY = (
    (23, "M", 11000, "pneumonia"),
    (27, "M", 13000, "dyspepsia"),
    (35, "M", 59000, "dyspepsia"),
    (59, "M", 12000, "pneumonia"),
    (61, "F", 54000, "flu"),
    (65, "F", 25000, "gastritis"),
    (65, "F", 25000, "flu"),
    (70, "F", 30000, "bronchitis"),
)
"""The patients of the paper of Anatomy; columns are `DISEASES`."""

SLICING = (
    (22, "M", 47906, "dyspepsia"),
    (22, "F", 47906, "flu"),
    (33, "F", 47905, "flu"),
    (52, "F", 47905, "bronchitis"),
    (54, "M", 47302, "flu"),
    (60, "M", 47302, "dyspepsia"),
    (60, "M", 47304, "dyspepsia"),
    (64, "F", 47304, "gastritis"),
)
"""The patients of the paper of slicing; columns are `DISEASES`."""

LINKED = (
    ("t1", "Lung", "Cough"),
    ("t2", "Liver", "Jaundice"),
    ("t3", "Bladder", "Hematuria"),
    ("t4", "Skin", "Lesion"),
)
"""Person, cancer, symptom: every cancer has a symptom of its own."""

TWELVE = (
    (20, 10, "flu", "A"),
    (22, 60, "flu", "B"),
    (24, 12, "cold", "A"),
    (26, 58, "cold", "B"),
    (40, 11, "flu", "C"),
    (42, 55, "ulcer", "A"),
    (44, 14, "ulcer", "B"),
    (46, 62, "cold", "C"),
    (60, 15, "asthma", "A"),
    (62, 57, "asthma", "B"),
    (64, 13, "cold", "C"),
    (66, 61, "ulcer", "C"),
)
"""Where the firefly search finds better buckets than medians; columns are `INCOMES`."""

INCOMES = {"age": "integer", "income": "integer", "disease": "text", "drug": "text"}


def records(columns: Iterable[str], table: Sequence[Sequence[Any]]) -> list[Row]:
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in table]


ROWS = records(COLUMNS, REGISTRY)

WOMEN = Rule(lambda person: person["sex"] == "F", "cancer", "Prostate")
"""No woman has prostate cancer."""


def worked() -> Published:
    """The release of the paper: three independent partitions and a sliced QIT."""
    groups = [BUCKETS[name] for name in ("cancer", "symptom", "physician")]
    return independent(ROWS, groups, SENSITIVE, QUASI, BUCKETS["qit"])


def by_cancer(*sensitive: Sequence[str]) -> Published:
    """Aligned by the partition of cancers; the QIT is not sliced."""
    return aligned(ROWS, BUCKETS["cancer"], sensitive, [["sex", "age", "zip"]])


def of_anatomy(groups: Sequence[Sequence[int]]) -> Published:
    """Groups of the patients of Anatomy, by their numbers from 1."""
    of = {record: number for number, group in enumerate(groups, 1) for record in group}
    rows = records(DISEASES, ANATOMY)
    numbers = [of[record] for record in range(1, len(rows) + 1)]
    return aligned(rows, numbers, [["disease"]], [["age", "sex", "zip"]])


# -- sources and policies -----------------------------------------------------------------------


def build(db: Database) -> None:
    """The registry as public.registry."""
    make_table(db.connect("source_owner"), COLUMNS, REGISTRY, name=NAME)


def build_twelve(db: Database) -> None:
    """The twelve rows as public.t."""
    make_table(db.connect("source_owner"), INCOMES, TWELVE)


def document(**changes: Any) -> dict[str, Any]:
    """A policy over public.registry, with other top-level keys."""
    roles = {
        "patient": "identifying",
        **{name: "quasi_identifying" for part in QUASI for name in part},
        **{name: "sensitive" for table in SENSITIVE for name in table},
    }
    return {
        "release": "registry",
        "source": "public.registry",
        "columns": {name: {"role": role} for name, role in roles.items()},
        "privacy": [{"model": "slicing_l_diversity", "l": 3}],
        "method": {"name": "slamsa", "sensitive_tables": [list(table) for table in SENSITIVE]},
        "publish": {"readers": ["analyst"]},
        **changes,
    }
