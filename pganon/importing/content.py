"""What a file is, by its first bytes, and its bytes without compression, as often as needed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from pganon.errors import UsageError

_HEAD = 4096

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_KINDS = {
    b"ARROW1": ("columns", "ipc"),
    b"<stata_dta>": ("statistics", "dta"),
    b"$FL2": ("statistics", "sav"),
    b"$FL3": ("statistics", "sav"),
    b"HEADER RECORD*******LIB": ("statistics", "xport"),
    b"\0" * 12 + b"\xc2\xea\x81\x60": ("statistics", "sas7bdat"),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("workbook", "workbook"),
}
_PARQUET = re.compile(rb"PAR1.*\0", re.DOTALL)
_OLD_STATA = re.compile(rb"[\x69-\x73][\x01\x02]\x01[\x00]")
_REFUSED = [
    (re.compile(pattern, re.DOTALL), name, hint)
    for pattern, name, hint in (
        (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"),
        (rb"PK\x05\x06", "an empty zip archive", "pack the file anew"),
        (rb"SQLite format 3\0", "an SQLite database", "export its table as CSV"),
        (rb"%PDF-", "a PDF document", "ask for the table that it was made from"),
        (rb"RD[AX][23]\n", "a file of R", "write it from R with arrow::write_parquet"),
        (rb"\x89HDF", "an HDF5 file", "write it as Parquet"),
        # A header may begin with such letters, as ORCID; no text has a NUL.
        (rb"FEA1.*\0", "a Feather file of version 1", "write it as Parquet"),
        (rb"ORC.*\0", "an ORC file", "write it as Parquet"),
        (rb"Obj\x01", "an Avro file", "write it as Parquet"),
        (rb"PGDMP.*\0", "a dump of PostgreSQL", "restore it with pg_restore"),
        (rb"(?i)\s*(--[^\n]*\n\s*)*(-- (Postgre|My)SQL|INSERT INTO |SET \w+ *(=|TO )"
         rb"|CREATE (TABLE|DATABASE|SCHEMA|EXTENSION|TYPE) )", "an SQL script", "run it with psql"),
        (rb'\s*(\{\s*["}]|\[\s*[\[{"\]\d])', "JSON", "write its records as CSV or Parquet"),
        (rb"(?i)\s*<(!doctype|html|table|\?xml|[a-z]+[\s>])", "HTML or XML",
         "save the table as CSV or as a workbook"),
    )
]  # fmt: skip


class Content:
    """A file that can be opened several times.

    Attributes:
        kind: "text", or how the file has to be read otherwise (`ANY` of pganon.importing.form).
        reader: "csv", or what reads it.
        path: of the bytes without compression; None for text.
    """

    def __init__(self, file: Path, source: Path, kept: ExitStack) -> None:
        self.file, self._source = file, source
        self._before = _state(source)
        with self.opened() as stream:
            head = stream.read(_HEAD)
        self.kind, self.reader = next(
            (kind for mark, kind in _KINDS.items() if head.startswith(mark)), ("text", "csv")
        )
        if _PARQUET.match(head):
            self.kind, self.reader = "columns", "parquet"
        elif _OLD_STATA.match(head):
            self.kind, self.reader = "statistics", "dta"
        elif b"ASCII SPSS PORT FILE" in head[:200]:
            self.kind, self.reader = "statistics", "por"
        for pattern, name, hint in _REFUSED:
            if pattern.match(head):
                raise UsageError(f"{file} is {name}, which cannot be imported", hint=hint)
        if source.suffix == ".gz" and head and self._packing() is None:
            raise UsageError(f"{file} is not a gzip file")
        if self._is_workbook():
            self.kind, self.reader = "workbook", "workbook"
        self.path = None
        if self.kind != "text":
            self.path = source
            if self._packing() and not self._is_workbook():
                with self.opened() as stream:
                    self.path = _copied(stream, kept)

    def _packing(self) -> str | None:
        with self._source.open("rb") as packed:
            head = packed.read(8)
        return next((name for mark, name in _PACKED.items() if head.startswith(mark)), None)

    def _is_workbook(self) -> bool:
        if self._packing() != "zip":
            return False
        with zipfile.ZipFile(self._source) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and b"spreadsheet" in archive.read("mimetype")[:200]:
                return True
        if "[Content_Types].xml" in names and not any(name.startswith("xl/") for name in names):
            raise UsageError(
                f"{self.file} is an office document without sheets", hint="save its table as CSV"
            )
        return "[Content_Types].xml" in names

    def check_unchanged(self) -> None:
        """Refuse a file that was replaced or written since it was opened first."""
        if _state(self._source) != self._before:
            raise UsageError(
                f"{self.file} changed while it was read",
                hint="try again when nobody writes it, or import a copy; nothing was imported",
            )

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes without compression, from their beginning."""
        packing = self._packing()
        with ExitStack() as open_files:
            enter = open_files.enter_context
            if packing == "zip" and not self._is_workbook():
                archive = enter(zipfile.ZipFile(self._source))
                members = [
                    item
                    for item in archive.infolist()
                    if not item.is_dir() and not item.filename.startswith("__MACOSX/")
                ]
                if len(members) != 1:
                    raise UsageError(
                        f"{self.file} is a zip archive of {len(members)} files",
                        hint="unpack it and import one of them",
                    )
                yield enter(archive.open(members[0]))
            elif packing == "zstd":
                import pyarrow as pa

                yield enter(cast(Any, pa.CompressedInputStream(str(self._source), "zstd")))
            else:
                opener = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}.get(
                    packing or "", open
                )
                yield enter(cast(Any, opener)(self._source, "rb"))


def _copied(stream: IO[bytes], kept: ExitStack) -> Path:
    """A private copy, by a path at which it can be opened several times.

    Where the system has such paths, it is a file without a name, which goes with the process,
    however that ends.
    """
    copy: IO[bytes] = kept.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (kept)
    path = Path(f"/proc/self/fd/{copy.fileno()}")
    if not path.exists():
        path = Path(kept.enter_context(tempfile.TemporaryDirectory())) / "content"
        copy = kept.enter_context(path.open("wb"))
    shutil.copyfileobj(stream, copy)
    copy.flush()
    return path


@contextmanager
def content_of(file: Path) -> Iterator[Content]:
    """The content of a file, or of a pipe, which is kept in a private file meanwhile.

    Raises:
        UsageError: the file cannot be read, is damaged, or is of a kind that is not read.
    """
    try:
        with ExitStack() as kept:
            source = file
            if not stat.S_ISREG(file.stat().st_mode):
                with file.open("rb") as pipe:
                    source = _copied(pipe, kept)
            yield Content(file, source, kept)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise UsageError(f"{file} is not complete, or damaged: it cannot be unpacked") from error
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise UsageError(
            f"{file} is a zip archive that is damaged or of an unknown kind", hint="unpack it"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or 'it is damaged'}") from None
    except RuntimeError as error:
        if "password" not in str(error):
            raise
        raise UsageError(f"{file} is an encrypted zip archive", hint="unpack it") from None


def _state(file: Path) -> tuple[int, ...]:
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
