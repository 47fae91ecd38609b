"""Lines of a text file, one by one or in blocks, none longer than memory should hold."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TextIO

from pganon.errors import UsageError

BLOCK_CHARACTERS = 500_000

LONGEST = 2**26
"""Characters of a record. Memory for one is a few times as much; COPY takes 2**30 bytes."""


class Lines:
    """Lines of an open file, with their ends; one may end in CR, LF or CRLF.

    Raises:
        UsageError: one has more than LONGEST characters.
    """

    def __init__(self, text: TextIO, file: Path) -> None:
        self._text = text
        self._file = file
        self._returned = ""

    def one(self, before: int) -> str:
        """The next line; none is left where it is empty.

        Args:
            before: number of lines before it.
        """
        line, self._returned = self._returned or self._text.readline(LONGEST + 1), ""
        if len(line) > LONGEST:
            raise self._too_long(before + 1)
        return line

    def give_back(self, line: str) -> None:
        """Make a line the next one again."""
        self._returned = line

    def block(self, before: int) -> str:
        """The next lines, of about BLOCK_CHARACTERS, or one that is longer."""
        block, self._returned = self._returned + self._text.read(BLOCK_CHARACTERS), ""
        if not block or block.endswith("\n"):
            return block
        rest = self._text.readline(LONGEST + 1)
        if len(rest) > LONGEST:
            begun = sum(1 for _ in io.StringIO(block, newline=""))
            raise self._too_long(before + begun + block.endswith("\r"))
        return block + rest

    def _too_long(self, line: int) -> UsageError:
        return UsageError(
            f"{self._file}, line {line}: more than {LONGEST:,} characters without a line end",
            hint="a CSV file has a record per line; save it as one",
        )
