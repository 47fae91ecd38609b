"""Blocks of lines that pass at once: the same records and types as if each was looked at."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from pganon.importing import lines as by_line
from pganon.importing.form import Format
from pganon.importing.inference import ColumnType, SureLines
from pganon.importing.records import Records
from tests.unit.importing.test_records import copied

WIDTH = 4
USUAL = ["1", "25", "-3"]
OTHER = [
    *("", "1.5", "3000000000", "9" * 19, "9" * 20, "1e5", "007", "t", "true", "2020-01-31", "NA"),
    *(
        "2020-02-30",
        "2020-01-31 10:00",
        "x",
        '""',
        '"a,b"',
        '"a\nb"',
        '"a""b"',
        'a"b',
        "1,5",
        "\\.",
    ),
    *("-0", "+5", "0.5", ".5", "5.", "1.234", '"1"', " 1", "1 ", "?", "1" * 102, "0." + "3" * 105),
]


def imported(
    text: str, form: Format, *, sure: bool
) -> tuple[list[list[str | None]], list[object], int]:
    """Records as COPY reads them, what is known of the columns, and how many blocks passed."""
    records = Records(io.StringIO(text, newline=""), form, Path("t.csv"))
    types = [ColumnType(form.reading) for _ in range(WIDTH)]
    lines = SureLines(types, records.marks.separator)
    parts: list[str] = []
    passed = total = 0
    for part, number, columns in records.batches(WIDTH, *([lines.pattern] if sure else [])):
        parts.append(part)
        total += number
        passed += not columns
        for type_, column in zip(types, columns, strict=bool(columns)):
            type_.add(column)
    separator, quote = records.copy_marks
    rows = copied("".join(parts), separator, quote, records.null)
    assert len(rows) == total
    assert records.line == len(text.splitlines())
    return rows, [(t.name, t.nullable, t.words) for t in types], passed


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "form",
    [
        Format(),
        Format(separator=";", decimal=",", thousands="."),
        Format(decimal=","),
        Format(nulls=("", "NA")),
        Format(nulls=("NA",)),
        Format(force_null=True),
    ],
)
def test_blocks_that_pass_change_nothing(
    form: Format, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_line, "BLOCK_CHARACTERS", 60)
    separator = form.separator or ","
    draw = random.Random(1)
    passed = 0
    for _ in range(400):
        others = draw.sample(OTHER, 6)
        lines: list[str] = []
        for _ in range(60):
            cells = [draw.choice(others if draw.random() < 0.02 else USUAL) for _ in range(WIDTH)]
            cells = [
                f'"{cell}"' if separator in cell and '"' not in cell else cell for cell in cells
            ]
            lines.append(separator.join(cells) + end)
        text = "".join(lines)
        rows, types, blocks = imported(text, form, sure=True)
        assert (rows, types, 0) == imported(text, form, sure=False)
        passed += blocks
    marks_differ = separator != form.decimal and form.nulls == ("",) and not form.force_null
    assert (passed > 1000) == marks_differ
    assert (passed > 0) == marks_differ


def test_a_block_teaches_that_values_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_line, "BLOCK_CHARACTERS", 100)
    text = "1,2,3,4\n" * 100 + "1,2,3,\n" * 100 + ",,,\n"
    _, types, passed = imported(text, Format(), sure=True)
    assert types[3] == ("integer", True, set())
    assert types[2] == ("integer", True, set())
    assert types[0] == ("integer", True, set())
    assert passed > 10


def test_patterns_are_made_a_few_times() -> None:
    types = [ColumnType(Format().reading)]
    lines = SureLines(types, ",")
    found = []
    for n in range(100):
        types[0].words = {str(w) for w in range(n)}
        found.append(lines.pattern("[^,]++"))
    assert sum(pattern is not None for pattern in found) == 20
