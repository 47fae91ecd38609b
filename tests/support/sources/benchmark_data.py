"""Files in the forms of the real data sets that benchmarks read, with a few drawn records."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import full_domain, qs

ROWS = 300
_ADULT: Mapping[str, Sequence[object]] = {
    "age": range(17, 60),
    "workclass": ("Private", "Local-gov", "?"),
    "fnlwgt": range(100, 900),
    "education": ("Bachelors", "HS-grad", "Masters", "11th"),
    "education_num": range(7, 14),
    "marital_status": ("Divorced", "Never-married", "Widowed"),
    "occupation": ("Sales", "Tech-support", "Craft-repair", "Other-service", "Farming-fishing"),
    "relationship": ("Husband", "Wife", "Own-child"),
    "race": ("White", "Black", "Other"),
    "sex": ("Male", "Female"),
    "capital_gain": (0,),
    "capital_loss": (0,),
    "hours_per_week": range(20, 60),
    "native_country": ("United-States", "Mexico", "Cuba", "India"),
    "income": ("<=50K", ">50K"),
}
_DIGITS = range(1, 10)
_ACS = "SEX,AGEP,RELP,MAR,RAC1P,SCHL,WKHP,COW,OCCP"
_EXCERPT = (
    "SEX,AGEP,INDP,MSP,RAC1P,EDU,HISP,OWN_RENT,PINCP,INDP_CAT,PINCP_DECILE,POVPIP,NPF,DREM,PUMA"
)
_PERSON = "DOBMM,DOBYY,SEX,RACEX,EDUCYEAR,marry,poverty,HISPANX"
_PATIENT = "patient_nbr,race,gender,age,admission_type_id,admission_source_id,diag_1"


def write(folder: Path) -> Path:
    """All of them; two records in three of Adult are complete."""
    draw = random.Random(1)
    _write_adult(folder / "adult", draw)
    _write(folder / "heart/processed.cleveland.data", _drawn(draw, 60, [range(1, 7)] * 14))
    for year in (2018, 2019):
        file = folder / f"acs_sdnist/national{year}.csv.gz"
        _write(file, [_EXCERPT.split(","), *_drawn(draw, ROWS, [_DIGITS] * 15)])
    people = _drawn(draw, ROWS, [*[_DIGITS] * 9, ("CO", "NY", "TX")])
    _write(folder / "acs2018/acs2018_income.csv.gz", [[*_ACS.split(","), "STATE"], *people])
    _write_records(folder, draw)
    found = _drawn(draw, 40, [range(1, 7)] * 14)
    hungarian = [[*row[:10], "?", "?", "?", row[13]] for row in found]
    _write(folder / "heart/processed.hungarian.data", hungarian)
    return folder


def _write_adult(folder: Path, draw: random.Random) -> None:
    for name in ("adult.data.gz", "adult.test.gz"):
        rows = _drawn(draw, ROWS, list(_ADULT.values()))
        _write(folder / name, rows, ", ")
    for name, file in full_domain.ADULT.items():
        rows = [[value, "*"] for value in _ADULT[name]]
        _write(folder / "hierarchies_arx" / file, rows, ";")
    for name, file in qs.TREES.items():
        rows = [[value, "*"] for value in _ADULT[name]]
        _write(folder / f"hierarchies_anjana/{file}.csv", rows)


def _write_records(folder: Path, draw: random.Random) -> None:
    """Tables with several records per person."""
    people = [[n, *row] for n, row in enumerate(_drawn(draw, 100, [range(1, 3)] * 8))]
    file = folder / "informs/demographics05test.csv.gz"
    _write(file, [["DUPERSID", *_PERSON.split(",")], *people])
    illnesses = _drawn(draw, 250, [range(100), range(40)])
    _write(folder / "informs/conditions05.csv.gz", [["DUPERSID", "ICD9CODX"], *illnesses])
    stays = _drawn(draw, 250, [range(100), *[range(1, 3)] * 5, range(40)])
    _write(folder / "diabetes130/diabetic_data.csv.gz", [_PATIENT.split(","), *stays])


def _drawn(draw: random.Random, rows: int, values: Sequence[Sequence[object]]) -> list[list[Any]]:
    return [[draw.choice(column) for column in values] for _ in range(rows)]


def _write(file: Path, rows: Iterable[Iterable[object]], separator: str = ",") -> None:
    text = "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
