"""Tests of this folder start no server and connect to none."""

from __future__ import annotations

from typing import NoReturn

import psycopg
import pytest

from pganon import embedded


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        pytest.fail("a test in tests/unit needs no server")

    monkeypatch.setattr(psycopg.Connection, "connect", refuse)
    monkeypatch.setattr(embedded.Cluster, "start", refuse)
