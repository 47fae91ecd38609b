"""Programs that are measured from outside, and the environment in which other tools run."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg

_INTERVAL = 0.05
_INSTALL_SECONDS = 900
_NEEDED = ("psycopg[binary]", "pandas", "scipy", "treelib")


class NoResult(Exception):
    """A program that failed or did not end in time; the message says which."""


@dataclass(frozen=True)
class Spent:
    """What a program took.

    Attributes:
        cpu_seconds: of processors, in the program and in the server.
        peak_mb: largest resident memory of the program or of a process that it started. What
            wait4 says is at least that of this program, from which it was forked.
        server_mb: largest sum of what the processes of the server had of their own, above the
            smallest; None where they cannot be seen.
    """

    seconds: float
    cpu_seconds: float | None
    peak_mb: float | None
    server_mb: float | None


def measure(command: Sequence[str], dsn: str, timeout: float) -> Spent:
    """Run a program to its end.

    Raises:
        NoResult: it failed, or did not end within the timeout in seconds.
    """
    with Watch(dsn) as watch, tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            env={**os.environ, "PGANON_DSN": dsn},
            start_new_session=True,
        )
        watch.session = process.pid
        # Children of the program are ended, too.
        timer = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode(errors="replace").strip()
    if process.returncode == -signal.SIGKILL and seconds >= timeout:
        raise NoResult(f"did not end in {timeout:g} s")
    if process.returncode != 0:
        last = said.splitlines()[-1] if said else f"status {process.returncode}"
        raise NoResult(f"failed: {last}")
    in_server = watch.cpu_seconds()
    cpu_seconds = None if in_server is None else in_server + usage.ru_utime + usage.ru_stime
    return Spent(seconds, cpu_seconds, watch.peak_mb or None, watch.above())


# -- the server ---------------------------------------------------------------------------------


class Watch:
    """Watches a program, and what a server on this machine takes beside what it had before.

    Of the server it is memory that processes have of their own, without shared buffers, and the
    time of processes that have ended. None where the processes cannot be seen.

    Attributes:
        session: of the program, once it has begun.
    """

    session: int | None = None
    peak_mb: float = 0.0

    def __init__(self, dsn: str) -> None:
        with psycopg.connect(dsn) as conn:
            self._server = _parent(conn.info.backend_pid)
        self._least = self._most = self._memory()
        self._began = self._ended_processes()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def cpu_seconds(self) -> float | None:
        now = self._ended_processes()
        return None if now is None or self._began is None else now - self._began

    def above(self) -> float | None:
        """MB at most, above the least: the processes of earlier connections may just be ending."""
        return None if self._server is None else self._most - self._least

    def _ended_processes(self) -> float | None:
        if self._server is None:
            return None
        text = Path(f"/proc/{self._server}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")

    def _watch(self) -> None:
        while not self._ended.wait(_INTERVAL):
            now = self._memory()
            self._least, self._most = min(self._least, now), max(self._most, now)
            if self.session is not None:
                own = [_mb(pid, "VmHWM") for pid in _processes() if _session(pid) == self.session]
                self.peak_mb = max([self.peak_mb, *own])

    def _memory(self) -> float:
        own = [pid for pid in _processes() if self._server and _parent(pid) == self._server]
        return sum(_mb(pid, "RssAnon") for pid in own)


def _processes() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))


def _parent(pid: int) -> int | None:
    status = _status(pid)
    return int(status["PPid"]) if status.get("Name") == "postgres" else None


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def _mb(pid: int, name: str) -> float:
    return float(_status(pid).get(name, "0 kB").split()[0]) / 1024


def _status(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


# -- the environment ----------------------------------------------------------------------------


def environment(folder: Path, packages: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """A virtual environment with these packages, made where there is none.

    Args:
        packages: requirements by the name of the tool that needs them.

    Returns:
        Its Python, and why tools are missing by their name.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    _installed(python, *_NEEDED)
    problems = {tool: _installed(python, package) for tool, package in packages.items()}
    return python, {tool: problem for tool, problem in problems.items() if problem}


def _installed(python: Path, *packages: str) -> str | None:
    """What hinders, if anything."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run(
            [*pip, *packages], check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"could not be installed in {_INSTALL_SECONDS} s"
    except subprocess.CalledProcessError as error:
        said = [line for line in error.stderr.splitlines() if line.startswith("ERROR")]
        return f"could not be installed: {said[-1] if said else error}"
    return None
