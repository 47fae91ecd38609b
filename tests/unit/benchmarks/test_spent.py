"""Figures of processes and of connections, from what the system says of them."""

from __future__ import annotations

import os

from benchmarks.spent import Bytes, cpu_seconds

COORDINATOR, WORKER = 5000, 5001


def test_seconds_of_a_process_and_of_those_that_it_began() -> None:
    before = cpu_seconds(os.getpid())
    child = os.fork()
    if child == 0:
        while sum(os.times()[:2]) < 0.2:
            pass
        os._exit(0)
    os.waitpid(child, 0)
    after = cpu_seconds(os.getpid())
    assert before is not None
    assert after is not None
    assert after - before >= 0.15
    assert cpu_seconds(2**22 + 1) is None


def test_bytes_by_who_connects_to_whom() -> None:
    mine = os.getppid()  # the server whose process this one would be
    for servers, found in (
        ({COORDINATOR: mine, WORKER: 1}, {"down": 30, "up": 7, "across": 0}),
        ({COORDINATOR: 1, WORKER: mine}, {"down": 0, "up": 0, "across": 37}),
    ):
        sent = Bytes(servers)
        for acknowledged in (10, 30):  # the later look counts
            sent._note(
                f"ESTAB 0 0 127.0.0.1:44 127.0.0.1:{WORKER} users:((postgres,pid={os.getpid()},"
                f"fd=3)) cubic bytes_acked:{acknowledged} bytes_received:7 mss:1"
            )
        sent._note(f"ESTAB 0 0 127.0.0.1:45 127.0.0.1:{WORKER} cubic bytes_acked:9")
        assert sent.between(COORDINATOR) == found
    assert Bytes({COORDINATOR: mine}).between(COORDINATOR) is None
