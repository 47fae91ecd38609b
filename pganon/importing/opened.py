"""A file opened as text: plain, gzip or the one file of a zip archive, in its encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from pganon.errors import UsageError

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_OTHERS = {
    b"BZh": "is compressed with bzip2",
    b"\xfd7zXZ\x00": "is compressed with xz",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd",
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive",
    b"PAR1": "is a Parquet file",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an old Excel workbook",
    b"PK\x05\x06": "is an empty zip archive",
    b"SQLite format 3\x00": "is an SQLite database",
    b"%PDF-": "is a PDF document",
}
"""First bytes of files that are no text, and what they are."""

_HEAD = 4096
_UTF_8 = frozenset({"utf-8", "utf8", "utf-8-sig"})
_ESCAPED = re.compile("[\udc80-\udcff]")


@contextmanager
def opened(file: Path, encoding: str | None) -> Iterator[TextIO]:
    """The text of the file, with its line ends as they are.

    Args:
        encoding: a Python codec; None: UTF-8, or what a byte order mark says.

    Raises:
        UsageError: the file cannot be read, or is something else; with the line where the text is
            not of that encoding.
    """
    used = encoding or "utf-8"
    try:
        "".encode(used)  # codecs that are not for text refuse it
    except (LookupError, UnicodeError):
        raise UsageError(f'unknown encoding "{encoding}"') from None
    try:
        with _content(file) as content:
            used = _encoding(file, content, encoding)
            yield _text(content, used)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UsageError(f"{file} is not a complete gzip file") from None
    except OSError as error:
        reason = error.strerror or "it can be read only once"
        raise UsageError(f"cannot read {file}: {reason}") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        if not _is_zip_error(error):
            raise
        raise UsageError(
            f"{file} is a zip archive that is damaged, encrypted or of an unknown kind",
            hint="unpack it",
        ) from None
    except UnicodeError:
        raise _undecodable(file, used) from None


def _is_zip_error(error: Exception) -> bool:
    return isinstance(error, zipfile.BadZipFile | NotImplementedError) or "password" in str(error)


@contextmanager
def _content(file: Path) -> Iterator[io.BufferedReader]:
    """The bytes of the text, unpacked."""
    with file.open("rb") as packed:
        head = packed.peek(_HEAD)
        if head.startswith(_GZIP):
            with gzip.open(packed) as content:
                yield io.BufferedReader(cast(io.RawIOBase, content))
        elif head.startswith(_ZIP):
            if not packed.seekable():
                raise UsageError(f"{file} is a zip archive in a pipe", hint="unpack it")
            with zipfile.ZipFile(packed) as archive, _only_member(file, archive) as content:
                yield io.BufferedReader(cast(io.RawIOBase, content))
        else:
            if file.suffix == ".gz" and head:
                raise UsageError(f"{file} is not a gzip file")
            for mark, name in _OTHERS.items():
                if head.startswith(mark):
                    raise UsageError(f"{file} {name}", hint="unpack it, or save it as CSV")
            yield packed


def _only_member(file: Path, archive: zipfile.ZipFile) -> BinaryIO:
    names = [item.filename for item in archive.infolist()]
    if "[Content_Types].xml" in names:
        raise UsageError(f"{file} is an office document, such as a workbook", hint="save it as CSV")
    files = [
        item
        for item in archive.infolist()
        if not item.is_dir() and not item.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        raise UsageError(
            f"{file} is a zip archive of {len(files)} files",
            hint="unpack it and import one of them",
        )
    return cast(BinaryIO, archive.open(files[0]))


def _encoding(file: Path, content: io.BufferedReader, given: str | None) -> str:
    """The codec to use.

    Raises:
        UsageError: the first bytes are those of another encoding than the one that was given.
    """
    head = content.peek(_HEAD)[:_HEAD]
    marked, unmarked = _by_mark(head), _by_zeros(head)
    if given is None and marked:
        return marked
    name = codecs.lookup(given or "utf-8").name
    seen = marked or unmarked
    if seen and not name.startswith(seen[:6]):
        raise UsageError(
            f"{file} is {seen[:6].upper()} text, not {name}",
            hint=f"give --encoding {seen}",
        )
    # A byte order mark is no part of the first column's name.
    if name in _UTF_8:
        return "utf-8-sig"
    return seen or given or name


def _by_mark(head: bytes) -> str | None:
    """The encoding that a byte order mark names, apart from UTF-8."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None


def _by_zeros(head: bytes) -> str | None:
    """UTF-16 without a byte order mark: every other byte of Latin letters and digits is zero."""
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if pairs and even == 0 and 2 * odd > pairs:
        return "utf-16-le"
    if pairs and odd == 0 and 2 * even > pairs:
        return "utf-16-be"
    return None


def _text(content: io.BufferedReader, encoding: str, errors: str = "strict") -> TextIO:
    return io.TextIOWrapper(content, encoding, errors, newline="")


def _undecodable(file: Path, encoding: str) -> UsageError:
    """The error for bytes that are not of the encoding, with the line of the first one.

    Text is read ahead, so no record has its number. There is none if a unit of the encoding has
    several bytes, since there are no lines after an error, and for input that can be read only
    once, such as a pipe.
    """
    line = _line_of_error(file, encoding) if file.is_file() else None
    name = codecs.lookup(encoding).name.removesuffix("-sig")
    return UsageError(
        f"{file}{f', line {line}' if line else ''}: not {name} text",
        hint="give --encoding, such as --encoding windows-1252 or --encoding latin-1",
    )


def _line_of_error(file: Path, encoding: str) -> int | None:
    try:
        with _content(file) as content:
            text = _text(content, encoding, "surrogateescape")
            escaped = (n for n, line in enumerate(text, start=1) if _ESCAPED.search(line))
            return next(escaped, None)
    except UnicodeError:
        return None
