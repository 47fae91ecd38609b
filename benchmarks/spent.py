"""What servers on this machine spend: CPU seconds of their processes, and bytes between them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_TICK = os.sysconf("SC_CLK_TCK")
_BETWEEN = 0.05
_SOCKET = re.compile(r"(?P<end>\S+:\d+)\s+\S+:(?P<port>\d+)\s.*pid=(?P<pid>\d+)")


def cpu_seconds(postmaster: int) -> float | None:
    """Of a server and all its processes, those that have ended, too; None where it is elsewhere."""
    own = _stat(postmaster)
    if own is None:
        return None
    backends = [found for one in _processes() if (found := _stat(one)) and found[0] == postmaster]
    return sum(own[1:]) + sum(user + system for _, user, system, *_ in backends)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(process: int) -> tuple[int, float, float, float, float] | None:
    """The parent, and seconds: user, system, and both of children that have ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    user, system, users, systems = (int(field) / _TICK for field in fields[11:15])
    return int(fields[1]), user, system, users, systems


class Spending:
    """CPU seconds of a coordinator and of workers, and MB between them, by phase.

    Figures that cannot be known are left out.
    """

    def __init__(self, port: int, processes: Mapping[int, int]) -> None:
        """Args: port: of the coordinator; processes: see :class:`Bytes`."""
        self._port, self._processes = port, processes
        self._bytes = Bytes(processes)
        self._phase = "before"
        self._phases: dict[str, Counter[str]] = {}
        self._seen: dict[str, float] = {}

    def __enter__(self) -> Spending:
        self._bytes.__enter__()
        self._seen = self._now()
        return self

    def __exit__(self, *error: object) -> None:
        self._bytes.__exit__(*error)
        self.begin("after")

    def begin(self, phase: str) -> None:
        """What was spent since the last call was the phase's before."""
        if phase == self._phase:
            return
        now = self._now()
        spent = self._phases.setdefault(self._phase, Counter())
        spent.update({name: number - self._seen.get(name, 0) for name, number in now.items()})
        self._phase, self._seen = phase, now

    def rows(self) -> list[dict[str, Any]]:
        """What every phase spent."""
        return [{"phase": phase, **spent} for phase, spent in self._phases.items()]

    def spent(self) -> dict[str, Any]:
        """What all of them did."""
        return dict(sum(self._phases.values(), Counter()))

    def _now(self) -> dict[str, float]:
        seconds = {port: cpu_seconds(process) for port, process in self._processes.items()}
        known = {port: spent for port, spent in seconds.items() if spent is not None}
        workers = {port: spent for port, spent in known.items() if port != self._port}
        found = {f"{way}_mb": n / 1e6 for way, n in (self._bytes.between(self._port) or {}).items()}
        if self._port in known:
            found["coordinator"] = known[self._port]
        if len(workers) == len(self._processes) - 1:
            found["workers"] = sum(workers.values())
        return found


class Bytes:
    """Bytes that go from servers to ports of others, and back, looked up again and again.

    What goes in the last moment of a connection is not seen. Of a process of others nothing is,
    unless this one may see it.
    """

    def __init__(self, postmasters: Mapping[int, int]) -> None:
        """Args: postmasters: numbers of processes by the port of their server."""
        self._postmasters = postmasters
        self._seen: dict[tuple[str, int], tuple[int, int, int]] = {}
        self._ended = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Bytes:
        if shutil.which("ss"):
            self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._looking.ident is not None:
            self._looking.join()

    def between(self, first: int) -> dict[str, int] | None:
        """So far: bytes `down` from the server of this port to others, `up` to it, and `across`
        between others; None where nothing could be seen."""
        seen = list(self._seen.items())
        if not seen:
            return None
        found: Counter[str] = Counter(down=0, up=0, across=0)
        for (_, port), (postmaster, sent, received) in seen:
            if port == first:
                continue
            if postmaster == self._postmasters[first]:
                found.update(down=sent, up=received)
            else:
                found.update(across=sent + received)
        return dict(found)

    def _look(self) -> None:
        ports = " or ".join(f"dport = :{port}" for port in self._postmasters)
        while not self._ended.wait(_BETWEEN):
            told = subprocess.run(
                ["ss", "-tinpHO", f"( {ports} )"], capture_output=True, text=True, check=False
            )
            for line in told.stdout.splitlines():
                self._note(line)

    def _note(self, line: str) -> None:
        named = _SOCKET.search(line)
        if named is None:
            return
        key = (named["end"], int(named["port"]))
        parent = self._seen[key][0] if key in self._seen else (_stat(int(named["pid"])) or [0])[0]
        if parent in self._postmasters.values():
            self._seen[key] = (
                parent,
                _number("bytes_acked", line),
                _number("bytes_received", line),
            )


def _number(name: str, line: str) -> int:
    found: Any = re.search(rf"{name}:(\d+)", line)
    return int(found[1]) if found else 0
