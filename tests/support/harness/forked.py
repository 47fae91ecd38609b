"""The program `pganon` for shells of tests, without its start.

Importing it takes a second, and pages of the documentation call it a hundred times. So one process
imports it and forks for each command, which gets arguments, environment, folder and streams of the
caller, and runs `main` as the installed program does.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]

# Isolated and without site-packages, so that it starts at once.
_CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
server.connect({address!r})
call = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(call).to_bytes(8, "big")], [0, 1, 2])
server.sendall(call)
code = server.recv(1)
sys.exit(code[0] if code else "the server of commands is gone")
"""


@contextmanager
def program() -> Iterator[Path]:
    """A folder with the program, for PATH."""
    with tempfile.TemporaryDirectory(prefix="pganon-forked-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        address = str(folder / "socket")
        client = folder / "pganon"
        client.write_text(_CLIENT.format(python=sys.executable, address=address), "utf-8")
        client.chmod(0o755)
        # Not as a module: worker processes of a command would import their main module again.
        started = f"from tests.support.harness.forked import serve; serve({address!r})"
        server = subprocess.Popen(
            [sys.executable, "-c", started],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield folder
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.communicate()


def serve(address: str) -> None:
    """Fork for every caller, until somebody ends the process."""
    from pganon.cli.main import main

    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(address)
    listening.listen()
    print("ready", flush=True)
    while True:
        caller, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            return _answer(caller, main)
        caller.close()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(caller: socket.socket, main: Any) -> None:
    """Run the command in a process of its own, which may turn into another program."""
    size, streams, *_ = socket.recv_fds(caller, 8, 3)
    call = b""
    while len(call) < int.from_bytes(size, "big"):
        call += caller.recv(65536)
    command = os.fork()
    if command == 0:
        caller.close()
        _become(streams, *json.loads(call))
        sys.exit(main())
    status = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        caller.sendall(bytes([status if status >= 0 else 128 - status]))
    os._exit(0)


def _become(
    streams: list[int], arguments: list[str], folder: str, environment: dict[str, str]
) -> None:
    for stream, given in enumerate(streams):
        os.dup2(given, stream)
        os.close(given)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    sys.argv[:] = arguments
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
