"""Workbooks written by hand, with what libraries would not write: errors, merged cells."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

Cell = object
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


class Raw(str):
    """XML of a cell, without its reference."""


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[Cell]]],
    merged: Sequence[str] = (),
    hidden: Sequence[str] = (),
) -> bytes:
    """A workbook with these rows; the merged cells are those of the first sheet."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, text: str) -> None:
            head = '<?xml version="1.0" encoding="UTF-8"?>'
            archive.writestr(zipfile.ZipInfo(name), head + text)

        numbers = range(1, len(sheets) + 1)
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="application/vnd.'
            'openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            for n in numbers
        )
        add(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml"'
            ' ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType='
            '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
            f"{parts}</Types>",
        )
        add(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type='
            f'"{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"'
            + (' state="hidden"/>' if name in hidden else "/>")
            for n, name in zip(numbers, sheets, strict=True)
        )
        add(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        targets = "".join(
            f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet"'
            f' Target="worksheets/sheet{n}.xml"/>'
            for n in numbers
        )
        styles = f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        add(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">{targets}{styles}</Relationships>',
        )
        formats = "".join(f'<xf numFmtId="{n}" applyNumberFormat="1"/>' for n in (0, 14, 22, 9))
        add(
            "xl/styles.xml",
            f'<styleSheet xmlns="{_MAIN}"><cellXfs count="4">{formats}</cellXfs></styleSheet>',
        )
        for n, rows in zip(numbers, sheets.values(), strict=True):
            cells = "".join(
                f'<row r="{r}">{"".join(_cell(r, c, cell) for c, cell in enumerate(row))}</row>'
                for r, row in enumerate(rows, start=1)
            )
            spans = "".join(f'<mergeCell ref="{ref}"/>' for ref in merged if n == 1)
            spans = f"<mergeCells>{spans}</mergeCells>" if spans else ""
            add(
                f"xl/worksheets/sheet{n}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData>{spans}</worksheet>',
            )
    return buffer.getvalue()


def _cell(row: int, column: int, cell: Cell) -> str:
    place = f'r="{chr(65 + column)}{row}"'
    if cell is None:
        return ""
    if isinstance(cell, Raw):
        return f"<c {place} {cell}"
    if isinstance(cell, bool):
        return f'<c {place} t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float):
        return f"<c {place}><v>{cell!r}</v></c>"
    if isinstance(cell, dt.date):
        start = dt.datetime(1899, 12, 30)
        moment = cell if isinstance(cell, dt.datetime) else dt.datetime.combine(cell, dt.time())
        style = 2 if isinstance(cell, dt.datetime) else 1
        days = (moment - start) / dt.timedelta(days=1)
        return f'<c {place} s="{style}"><v>{days!r}</v></c>'
    return f'<c {place} t="inlineStr"><is><t>{escape(str(cell))}</t></is></c>'


def ods(rows: Sequence[Sequence[str]]) -> bytes:
    """A spreadsheet of OpenDocument; cells are XML of table:table-cell without its name."""
    buffer = io.BytesIO()
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(
        f'xmlns:{name}="{urn}:{name}:1.0"' for name in ("office", "table", "text", "manifest")
    )
    cells = "".join(
        f"<table:table-row>{''.join(f'<table:table-cell {c}' for c in row)}</table:table-row>"
        for row in rows
    )
    with zipfile.ZipFile(buffer, "w") as archive:
        kind = "application/vnd.oasis.opendocument.spreadsheet"
        archive.writestr(zipfile.ZipInfo("mimetype"), kind)
        archive.writestr(
            zipfile.ZipInfo("content.xml"),
            f'<?xml version="1.0"?><office:document-content {spaces} office:version="1.2">'
            f'<office:body><office:spreadsheet><table:table table:name="Sheet1">{cells}'
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
        archive.writestr(
            zipfile.ZipInfo("META-INF/manifest.xml"),
            f'<?xml version="1.0"?><manifest:manifest {spaces}><manifest:file-entry'
            f' manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',
        )
    return buffer.getvalue()
