"""Releases of the method slamsa with given buckets, so that worked examples can be measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from pganon.forms.facts import SUPPRESSED
from pganon.forms.request import Request
from pganon.methods.common.form.grouping import bucket
from pganon.methods.registry import method_of
from pganon.plan import build
from pganon.plan.build import NOTHING_MORE
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, num, query
from pganon.steps import Check, CreateTable, Load, State, Step
from pganon.steps.facts import RECORDS
from tests.support.harness.driver import Connection, Staged, run


def run_with(
    monkeypatch: pytest.MonkeyPatch,
    conn: Connection,
    policy: dict[str, Any],
    buckets: Sequence[Sequence[int | None]],
    request: Request = NOTHING_MORE,
) -> Staged:
    """All phases, with the buckets of the records 1, 2, .. in every partition.

    Partitions are in the order of the arrangement: that of a sliced QIT, then those of its links.
    A record without a bucket is suppressed. The policy must list the columns of all tables.
    """
    names = [bucket(place) for place in range(len(buckets))]
    rows = [
        (str(key), *held)
        for key, held in enumerate(zip(*buckets, strict=True), start=1)
        if None not in held
    ]

    def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
        def grouped(state: State) -> Any:
            tree = query(
                "select c.rid from c join g on g.record = c.record",
                {"c": state.work("coded"), "g": state.work("given")},
            )
            return tree.select(*[col(name, "g") for name in names])

        return (
            Load(
                "given",
                "given buckets",
                lambda s: s.work("given"),
                (("record", "text"), *[(name, "bigint") for name in names]),
                lambda: rows,
            ),
            CreateTable("grouped", "given buckets", lambda s: s.work("grouped"), grouped),
            Check(
                "suppressed",
                "records without a bucket",
                lambda s: query(
                    "select :all - :given as suppressed",
                    None,
                    all=num(s[RECORDS]),
                    given=num(len(rows)),
                ),
                gives=[SUPPRESSED],
            ),
        )

    def forced(spec: ReleaseSpec) -> Any:
        return dataclasses.replace(method_of(spec), partition_steps=partition_steps)

    with monkeypatch.context() as patch:
        patch.setattr(build, "method_of", forced)
        return run(conn, policy, request=request)
