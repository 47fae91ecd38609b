"""Work tables that packages hand to each other have the columns that they declare."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from pganon.encode import work as encoded
from pganon.encode.value_codes import referenced, valued
from pganon.encode.work import Table
from pganon.forms import work as published
from pganon.forms.request import Request
from pganon.loading import load_policy
from pganon.methods.registry import method_of
from pganon.plan.build import build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.resolved.model import ReleaseSpec, Scale
from pganon.run.context import resolve_policy
from pganon.run.executor import Executor
from pganon.run.options import Options, advise_planner
from pganon.steps import Alone, CreateTable, Dialogue, Load, Loop, Search, State
from tests.support.harness import plans
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, drop_leftovers

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

RUN = 5_000

DISEASES = {"*": {"some": ["d0", "d1", "d2"], "others": ["d3", "d4", "d5"]}}
COLUMNS: dict[str, dict[str, Any]] = {
    "id": {"role": "identifying"},
    "person": {"role": "individual"},
    "age": {"role": "quasi_identifying", "hierarchy": {"intervals": [5, 10]}},
    "zip": {"role": "quasi_identifying", "nulls": "suppress", "hierarchy": {"prefix": [1]}},
    "disease": {"role": "sensitive"},
    "drug": {"role": "identifying"},
    "cost": {"role": "identifying"},
}


@dataclass
class _Looking(Executor):
    """Looks at the columns of every work table as soon as it is there."""

    seen: dict[str, set[str]] = field(default_factory=dict)

    def _run_one(self, step: Alone | Loop | Dialogue, name: str) -> None:
        super()._run_one(step, name)
        if isinstance(step, CreateTable | Load | Search):
            table = step.table(self.state)
            rows = self.conn.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0",
                [str(table)],
            )
            short = table.name.removeprefix(f"r{RUN}_")
            self.seen[short] = {str(row[0]) for row in rows.fetchall()}


def _ran(conn: Connection, loaded: LoadedPolicy) -> tuple[ReleaseSpec, State, dict[str, set[str]]]:
    spec = resolve_policy(conn, loaded)
    advise_planner(conn, Options())
    conn.execute(
        "INSERT INTO pganon_private.run_secret (run_id, key, seed_a, seed_b, partition_seed)"
        " VALUES (%s, sha256('x'), 1, 2, 3)",
        [RUN],
    )
    executor = _Looking(conn, State(RUN))
    measured = method_of(spec).form.statistics.on_request is not None
    for phase in build_plan(spec, request=Request(everything=measured)).phases:
        executor.run(phase.steps)
    return spec, executor.state, executor.seen


def _declared(spec: ReleaseSpec) -> list[Table]:
    """All that there may be for a specification."""
    found: list[Table] = [encoded.SNAP, encoded.CODED, encoded.REPEATED, encoded.LEFT_OUT]
    found += [encoded.dictionary(a.index) for a in spec.attributes]
    found += [encoded.ancestors(a.index) for a in spec.attributes if a.scale is Scale.TREE]
    found += [encoded.sensitive_values(item.index) for item in valued(spec)]
    kinds = ("source", "published")
    found += [encoded.reference(i.index, kind) for i in referenced(spec) for kind in kinds]
    found += [published.GROUPED, published.GROUPED_CLASSES, published.EXTENTS]
    found += [published.INDIVIDUALS, published.CLASSED, published.ASSIGNED]
    found += [published.support(number) for number, _ in enumerate(spec.qs_sets, start=1)]
    if spec.hidden:
        found += [published.LOCAL_GROUPED, published.DISPLAYS]
        found += [published.GROUP_CELLS, published.GROUP_SIZES]
    if spec.policy.method.name == "mondrian":
        found += [encoded.PART_CELLS, encoded.FIT]
    return [*found, *([published.QS_CELLS] if spec.qs_sets else [])]


def _different(
    tables: Iterable[Table], spec: ReleaseSpec, state: State, seen: dict[str, set[str]]
) -> list[str]:
    """Of every table that was there, what is declared and what it has, where that differs."""
    found: list[str] = []
    for table in tables:
        if table.name not in seen:
            continue
        declared, there = set(table.columns(spec, state)), seen[table.name]
        if table.numbered:
            further = sorted(c for c in there if re.fullmatch(rf"{table.numbered}\d+", c))
            assert further == [f"{table.numbered}{n}" for n, _ in enumerate(further)], table.name
            there = there - set(further)
        if declared != there:
            found.append(f"{table.name} declares {sorted(declared)} and has {sorted(there)}")
    return found


def _policies() -> dict[str, LoadedPolicy]:
    return {method: plans.policy_of(method) for method in plans.METHODS}


def _further(method: dict[str, Any], *privacy: dict[str, Any], **columns: Any) -> LoadedPolicy:
    """With what columns depend on and the small policies do not have."""
    document = {
        "release": "visits",
        "source": "public.visit",
        "columns": {**COLUMNS, **columns},
        "privacy": privacy,
        "method": method,
        "trust": ["source_owner"],
        "suppression_limit": 0.5,
    }
    if method["name"] == "mondrian":
        document["records_per_individual"] = "many_accepted"
    return load_policy(json.dumps(document))


CASES = {
    **_policies(),
    "mondrian, closeness": _further(
        {"name": "mondrian"},
        {"model": "k_anonymity", "k": 4},
        {"model": "t_closeness", "column": "disease", "t": 0.9, "distance": "hierarchical"},
        cost={"role": "insensitive"},
        disease={"role": "sensitive", "hierarchy": {"inline": DISEASES}},
    ),
    "mondrian, relaxed": _further(
        {"name": "mondrian", "variant": "relaxed"},
        {"model": "distinct_l_diversity", "column": "disease", "l": 2},
    ),
    "danonyir, collapsed": _further(
        {"name": "danonyir", "duplicates": "collapse"},
        {"model": "ir_kl_anonymity", "column": "disease", "k": 2, "l": 2},
    ),
}


@pytest.mark.usefixtures("steps_alone")
@pytest.mark.parametrize("case", CASES)
def test_tables_have_the_columns_that_they_declare(db: Database, case: str) -> None:
    db.source(plans.SOURCE)
    spec, state, seen = _ran(db.owner(), CASES[case])
    tables = _declared(spec)
    assert _different(tables, spec, state, seen) == []
    made = {table.name for table in tables} & seen.keys()
    assert {"snap", "coded", "dict0"} <= made
    assert made & {"grouped", "assigned", "local_grouped"} or case == "anatomy"


@pytest.mark.usefixtures("steps_alone")
def test_every_declaration_is_of_a_table_that_is_made(db: Database) -> None:
    db.source(plans.SOURCE)
    conn = db.owner()
    seen: set[str] = set()
    names: set[str] = set()
    for loaded in CASES.values():
        spec, _, there = _ran(conn, loaded)
        seen |= there.keys()
        names |= {table.name for table in _declared(spec)}
        conn.execute("DELETE FROM pganon_private.run_secret WHERE run_id = %s", [RUN])
        drop_leftovers(conn)
    assert names <= seen
