"""How the program writes files: through no link, and complete under their names or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pganon.errors import UsageError


@contextmanager
def writing(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block has ended well.

    Until then it has a random name beside it and only its owner reads it.

    Args:
        private: for its owner alone. Else it may be read as the file before it, or a new one.

    Raises:
        UsageError: it cannot be written; what stands there is no file, but a link or a device.
    """
    try:
        mode = _mode(path)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".pganon-", delete=False) as file:
            part = Path(file.name)
            try:
                yield file  # type: ignore[misc]
                os.fchmod(file.fileno(), mode & 0o600 if private else mode)
                file.close()
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def write(path: Path, text: str | bytes) -> None:
    """Write a file as a whole, and make the folder that it is in."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent} cannot be made: {error.strerror}") from None
    with writing(path) as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def _mode(path: Path) -> int:
    """Who may read the file that is there, or one that is new."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        umask = os.umask(0o077)
        os.umask(umask)
        return 0o666 & ~umask
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(
            f"{path} is no file, but a link, a folder or a device", hint="choose another name"
        )
    return status.st_mode & 0o777
