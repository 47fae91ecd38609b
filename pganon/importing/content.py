"""What a file is, by its first bytes, and a file of its bytes without compression."""

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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from pganon.errors import UsageError

_HEAD = 4096

_PACKED: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda path: pa.CompressedInputStream(str(path), "zstd"),
}
_ZIP = b"PK\x03\x04"
_KINDS = [
    (re.compile(pattern, re.DOTALL), kind, reader)
    for pattern, kind, reader in (
        (rb"PAR1.*\0", "columns", "parquet"),
        (rb"ARROW1", "columns", "ipc"),
        (rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\0", "statistics", "dta"),
        (rb"\$FL[23]", "statistics", "sav"),
        (rb".{0,180}ASCII SPSS PORT FILE", "statistics", "por"),
        (rb"HEADER RECORD\*{7}LIB", "statistics", "xport"),
        (rb"\0{12}\xc2\xea\x81\x60", "statistics", "sas7bdat"),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook", "workbook"),
        (rb"", "text", "csv"),
    )
]
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


@dataclass(frozen=True)
class Content:
    """A file that can be opened several times.

    Attributes:
        file: as it was given, which messages name.
        path: of the bytes without compression.
        kind: "text", or how the file has to be read otherwise (`ANY` of pganon.importing.form).
        reader: "csv", or what reads it.
    """

    file: Path
    path: Path
    kind: str
    reader: str
    _before: tuple[int, ...]

    def check_unchanged(self) -> None:
        """Refuse a file that was replaced or written since it was opened first."""
        if stat.S_ISREG(self.file.stat().st_mode) and _state(self.file) != self._before:
            raise UsageError(
                f"{self.file} changed while it was read",
                hint="try again when nobody writes it, or import a copy; nothing was imported",
            )


@contextmanager
def content_of(file: Path) -> Iterator[Content]:
    """The content of a file. What is packed or in a pipe is kept in a private file meanwhile.

    Raises:
        UsageError: the file cannot be read, is damaged, or is of a kind that is not read.
    """
    try:
        with ExitStack() as kept:
            before, path = _state(file), file
            if not stat.S_ISREG(file.stat().st_mode):
                with file.open("rb") as pipe:
                    path = _copied(pipe, kept)
            head = _head(path)
            if head.startswith(_ZIP):
                with zipfile.ZipFile(path) as archive:
                    member = _packed_file(archive, file)
                    if member is None:
                        yield Content(file, path, "workbook", "workbook", before)
                        return
                    with archive.open(member) as stream:
                        path = _copied(stream, kept)
            unpack = next((way for mark, way in _PACKED.items() if head.startswith(mark)), None)
            if unpack is not None:
                with unpack(path) as stream:
                    path = _copied(stream, kept)
            elif head and file.suffix == ".gz":
                raise UsageError(f"{file} is not a gzip file")
            head = _head(path)
            for pattern, name, hint in _REFUSED:
                if pattern.match(head):
                    raise UsageError(f"{file} is {name}, which cannot be imported", hint=hint)
            kind, reader = next(found for pattern, *found in _KINDS if pattern.match(head))
            yield Content(file, path, kind, reader, before)
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


def _packed_file(archive: zipfile.ZipFile, file: Path) -> zipfile.ZipInfo | None:
    """The one file of an archive; None if it is a workbook."""
    names = archive.namelist()
    if "mimetype" in names and b"spreadsheet" in archive.read("mimetype")[:200]:
        return None
    if "[Content_Types].xml" in names:
        if any(name.startswith("xl/") for name in names):
            return None
        raise UsageError(
            f"{file} is an office document without sheets", hint="save its table as CSV"
        )
    members = [
        item
        for item in archive.infolist()
        if not item.is_dir() and not item.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise UsageError(
            f"{file} is a zip archive of {len(members)} files",
            hint="unpack it and import one of them",
        )
    return members[0]


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_HEAD)


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


def _state(file: Path) -> tuple[int, ...]:
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
