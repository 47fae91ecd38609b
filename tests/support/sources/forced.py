"""Releases with given classes, so that published examples can be measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from pganon.encode.axis import axes
from pganon.forms.facts import SUPPRESSED
from pganon.forms.request import Request
from pganon.methods.registry import method_of
from pganon.plan import build
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, num, query
from pganon.steps import Check, CreateTable, Load, State, Step
from pganon.steps.facts import RECORDS
from tests.support.harness.driver import Connection, Staged, run


def run_with(
    monkeypatch: pytest.MonkeyPatch,
    conn: Connection,
    policy: dict[str, Any],
    classes: Sequence[Sequence[int]],
    request: Request,
) -> Staged:
    """All phases up to measures with these classes of record keys; the others are suppressed."""

    def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
        given = [(str(key), gid) for gid, keys in enumerate(classes, start=1) for key in keys]
        columns = [axis.code for axis in axes(spec.attributes)]

        def grouped(s: State) -> Any:
            tree = query(
                "select distinct g.gid from c join g on g.record = c.record",
                {"c": s.work("coded"), "g": s.work("given")},
            )
            return tree.select(*[col(name, "c") for name in columns])

        return (
            Load(
                "given",
                "given classes",
                lambda s: s.work("given"),
                (("record", "text"), ("gid", "integer")),
                lambda: given,
            ),
            CreateTable("grouped", "given classes", lambda s: s.work("grouped"), grouped),
            Check(
                "suppressed",
                "records in no class",
                lambda s: query(
                    "select :all - :given as suppressed",
                    None,
                    all=num(s[RECORDS]),
                    given=num(len(given)),
                ),
                gives=[SUPPRESSED],
            ),
        )

    def forced(spec: ReleaseSpec) -> Any:
        return dataclasses.replace(method_of(spec), partition_steps=partition_steps)

    monkeypatch.setattr(build, "method_of", forced)
    monkeypatch.setattr(ReleaseSpec, "keeps_cuts", False)  # nothing was cut
    return run(conn, policy, request=request)
