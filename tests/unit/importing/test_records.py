"""Records of CSV files: as Python's csv module reads them, and as COPY would."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from pganon.errors import UsageError
from pganon.importing import lines
from pganon.importing.form import Format
from pganon.importing.records import Records

FILE = Path("t.csv")


def read(text: str, width: int, **form: object) -> tuple[list[list[str | None]], str]:
    """The records as COPY would read them, and the text for it."""
    records = Records(io.StringIO(text, newline=""), Format(**form), FILE)  # type: ignore[arg-type]
    parts = list(records.batches(width))
    lines = "".join(part for part, _, _ in parts)
    separator, quote = records.copy_marks
    rows = copied(lines, separator, quote, records.null)
    assert len(rows) == sum(number for _, number, _ in parts)
    for at in range(width):
        values = {row[at] for row in rows}
        seen = {value for _, _, columns in parts for value in columns[at].values}
        assert values - {None} == seen
        assert (None in values) == any(columns[at].nulls for _, _, columns in parts)
    return rows, lines


def copied(text: str, separator: str, quote: str, null: str) -> list[list[str | None]]:
    """What COPY reads in CSV: a quote turns quoting on or off wherever it stands."""
    rows: list[list[str | None]] = []
    row: list[str | None] = []
    cell, quoted, inside = "", False, False
    for at, character in enumerate(text):
        if inside:
            if character == quote:
                inside = False
            else:
                cell += character
        elif character == quote:
            cell += quote if quoted and text[at - 1] == quote and at else ""
            quoted = inside = True
        elif character in (separator, "\n"):
            row.append(None if cell == null and not quoted else cell)
            cell, quoted = "", False
            if character == "\n":
                rows.append(row)
                row = []
        else:
            assert character != "\r", "COPY refuses it unquoted"
            cell += character
    assert (row, cell, inside) == ([], "", False)
    return rows


def expected(text: str, width: int, **marks: str) -> list[list[str]] | None:
    """What Python reads; None where it refuses something."""
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(lines, strict=True, **marks)  # type: ignore[arg-type]
    rows: list[list[str]] = []
    try:
        before = 0
        for row in reader:
            written = "".join(lines[before : reader.line_num])
            before = reader.line_num
            if width == 1 or written.strip():
                rows.append(row or [""])
    except csv.Error:
        return None
    return rows if all(len(row) == width for row in rows) else None


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize(("separator", "quote"), [(",", '"'), (";", "'"), ("¦", '"')])
def test_any_text_is_read_as_python_reads_it(width: int, separator: str, quote: str) -> None:
    draw = random.Random(width)
    pieces = [separator, separator, quote, quote * 2, "\n", "\r\n", "a", " ", "\\.", "NA", "é"]
    pieces += [
        f"{quote}a{separator}\n{quote}",
        f"{quote}{quote}{separator}",
        f"{separator}{quote}b{quote}",
    ]
    agreed = 0
    for _ in range(6000):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 9)))
        rows = expected(text, width, delimiter=separator, quotechar=quote)
        try:
            found, _ = read(text, width, separator=separator, quote=quote)
        except UsageError:
            assert rows is None, repr(text)
            continue
        assert rows is not None, repr(text)
        assert [[cell or "" for cell in row] for row in found] == rows, repr(text)
        agreed += 1
    assert agreed > 300


@pytest.mark.parametrize(
    ("nulls", "force", "expected"),
    [
        (("",), False, [[None, "", "NA"], ["NA", "", "x"], ["NA", "a,b", "x"]]),
        (("", "NA"), False, [[None, "", "NA"], [None, "", "x"], [None, "a,b", "x"]]),
        (("NA",), False, [["", "", "NA"], [None, "", "x"], [None, "a,b", "x"]]),
        (("", "NA"), True, [[None, None, None], [None, None, "x"], [None, "a,b", "x"]]),
        ((), False, [["", "", "NA"], ["NA", "", "x"], ["NA", "a,b", "x"]]),
    ],
)
def test_what_is_quoted_is_not_null(
    nulls: tuple[str, ...], force: bool, expected: list[list[str | None]]
) -> None:
    text = ',"","NA"\nNA,"",x\nNA,"a,b",x\n'
    assert read(text, 3, nulls=nulls, force_null=force)[0] == expected


def test_blank_lines() -> None:
    """They are records of one column, and nothing where there are several."""
    text = '1\n\n2\n""\n \n\n'
    assert read(text, 1)[0] == [["1"], [None], ["2"], [""], [" "], [None]]
    assert read("1,2\n\n  \n3,4\n\n", 2)[0] == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize(
    ("text", "separator"),
    [("sep=;\na;b\n1;2\n", None), ('"sep=;"\r\na;b\r\n1;2\r\n', None), ("sep=,\na;b\n1;2\n", ";")],
)
def test_a_first_line_for_excel(text: str, separator: str | None) -> None:
    records = Records(io.StringIO(text, newline=""), Format(separator=separator), FILE)
    assert records.header() == ["a", "b"]
    assert [part for part, _, _ in records.batches(2)] == ["1;2\n"]
    assert records.line == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n1,"x\n\n3\n', "line 2: a quoted field has no end"),
        ('a,b\n1,"x"y\n', "line 2: text after the end of a quoted field"),
        ('a,b\n"1\n\n2",x,y\n', "line 4: 3 fields, there are 2 columns"),
    ],
)
def test_lines_are_named(text: str, message: str) -> None:
    records = Records(io.StringIO(text, newline=""), Format(), FILE)
    records.header()
    with pytest.raises(UsageError, match=message):
        list(records.batches(2))


def test_a_long_quoted_field_is_read_once() -> None:
    """Lines of one field, each with quotes; going back for each would take minutes."""
    lines = ['he said ""no""'] * 100_000
    text = 'a,"' + "\n".join(lines) + '"\n'
    rows, _ = read(text, 2)
    assert len(rows[0][1] or "") == len("\n".join(lines)) - 2 * len(lines)


def test_what_passes_is_not_written_anew() -> None:
    text = '1,"x, y",\n2,5" pipe,"NA"\n'
    assert read(text, 3, nulls=("", "NA"))[1] == '1,"x, y",\n"2","5"" pipe","NA"\n'


def test_the_end_of_copy_is_quoted() -> None:
    """Servers before 18 end at a line of it, wherever it stands."""
    assert read("\\.\n", 1)[1] == '"\\."\n'
    assert read('1,"a\n\\.\n"\n', 2)[1] == '"1","a\n\\.\n"\n'


LONG = "x" * 200


@pytest.mark.parametrize("block", [1, 7, 8, 9, 60])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LONG, 1),
        (f"a,b\n{LONG}", 2),
        (f"a,b\n1,2\n\n{LONG}", 4),
        (f"a,b\r\n1,2\r\n{LONG}\r\n", 3),
        (f"a,b\r1,2\r{LONG}\r", 3),
        (f"a,b\n1,2\n3,4\n'{LONG}'\n", 4),
        (f"a,b\n1,2\n3,'\n{LONG}'\n", 4),
    ],
)
def test_a_line_without_an_end(
    monkeypatch: pytest.MonkeyPatch, text: str, line: int, block: int
) -> None:
    """Memory is bounded, whatever a file holds."""
    monkeypatch.setattr(lines, "LONGEST", 64)
    monkeypatch.setattr(lines, "BLOCK_CHARACTERS", block)
    read: list[int] = []

    class Counting(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            read.append(-1 if size is None else size)
            return super().readline(size)

    def read_all() -> None:
        records = Records(Counting(text, newline=""), Format(quote="'"), FILE)
        records.header()
        list(records.batches(2))

    with pytest.raises(UsageError, match=f"line {line}: more than 64 characters") as caught:
        read_all()
    assert "a record per line" in str(caught.value.hint)
    assert set(read) == {65}


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_blocks_are_of_whole_lines(monkeypatch: pytest.MonkeyPatch, end: str, block: int) -> None:
    monkeypatch.setattr(lines, "BLOCK_CHARACTERS", block)
    text = end.join(["a,b", "1,2", "", "333,'4", "4'", "5,6", ""])
    records = Records(io.StringIO(text, newline=""), Format(quote="'"), FILE)
    assert records.header() == ["a", "b"]
    parts = list(records.batches(2))
    rows = copied("".join(part for part, _, _ in parts), ",", "'", "")
    assert rows == [["1", "2"], ["333", f"4{end}4"], ["5", "6"]]
    assert records.line == 6
