"""Tests of this folder start no server and connect to none."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pganon.data_directory import DataDirectory


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    original = psycopg.connect

    def connect(conninfo: str = "", **others: Any) -> Any:
        if "/nowhere" in conninfo:
            return original(conninfo, **others)
        return pytest.fail("a test in tests/unit needs no server")

    def start(self: DataDirectory) -> None:
        pytest.fail("a test in tests/unit starts no server")

    monkeypatch.setattr(psycopg, "connect", connect)
    monkeypatch.setattr(psycopg.Connection, "connect", connect)
    monkeypatch.setattr(DataDirectory, "start", start)
