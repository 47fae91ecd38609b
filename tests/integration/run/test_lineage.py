"""The event of OpenLineage about a published version: where it goes, and what it tells."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import UsageError
from pganon.loading import load_policy
from pganon.run import lineage
from pganon.run.context import plan_release
from pganon.run.lineage import check_target, event_of
from pganon.steps import State
from tests.integration.methods.related.test_periods import timed
from tests.support.harness import faults, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import PASSWORD, Database
from tests.support.harness.fetch_openlineage import PYTHON
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only

KEY = "key-of-the-lineage-server"
AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


@pytest.fixture
def source(db_after: Any) -> Database:
    return db_after(lambda db: db.source(faults.SOURCE))[0]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    return file


def events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def made(db: Database, policy: Any, run_id: int = 1) -> dict[str, Any]:
    """The event about what a policy would publish."""
    plan = plan_release(policy, dsn=db.dsn())
    return event_of("postgres://h:1", "d", plan.spec, plan.stored_views(State(1)), run_id, AT)


def fields(event: dict[str, Any], view: str) -> dict[str, set[tuple[str, str, bool]]]:
    """By column of a view: the columns that it is made of, how, and whether that masks."""
    (output,) = [one for one in event["outputs"] if one["name"] == view]
    return {
        name: {way_of(one) for one in found["inputFields"]}
        for name, found in output["facets"]["columnLineage"]["fields"].items()
    }


def way_of(one: dict[str, Any]) -> tuple[str, str, bool]:
    (way,) = one["transformations"]
    return f"{one['name']}.{one['field']}", f"{way['type']} {way['subtype']}", way["masking"]


def test_a_mark_ends_at_generalized_columns_and_goes_on_at_exact_ones(source: Database):
    event = made(source, faults.policy(where="sex <> 'x' AND days < 9"))
    coarser, as_it_is = ("DIRECT TRANSFORMATION", True), ("DIRECT IDENTITY", False)
    table = "d.public.patient"
    assert [one["name"] for one in event["inputs"]] == [table]
    assert fields(event, "d.published.patients") == {
        "age": {(f"{table}.age", *coarser)},
        "age_null": {(f"{table}.age", *coarser)},
        "sex": {(f"{table}.sex", *coarser)},
        "city": {(f"{table}.city", *coarser)},
        "disease": {(f"{table}.disease", *as_it_is)},
        "days": {(f"{table}.days", *as_it_is)},
    }
    assert {"age_low", "age_high"} < fields(event, "d.published.patients_flat").keys()
    for output in event["outputs"]:
        assert [way_of(one) for one in output["facets"]["columnLineage"]["dataset"]] == [
            *((f"{table}.{name}", "INDIRECT GROUP_BY", True) for name in ("age", "sex", "city")),
            *((f"{table}.{name}", "INDIRECT FILTER", True) for name in ("sex", "days")),
        ]


def test_columns_of_joined_views_are_those_of_their_tables(db: Database):
    db.admin.execute(
        """
        CREATE TABLE public."a.b" AS SELECT n AS id, 20 + n % 5 AS age
            FROM generate_series(1, 40) n;
        CREATE TABLE public.stay AS SELECT n AS id, 'd' || n % 4 AS disease, n % 3 AS d
            FROM generate_series(1, 40) n;
        ALTER TABLE public."a.b" OWNER TO source_owner;
        ALTER TABLE public.stay OWNER TO source_owner;
        CREATE VIEW public.both_ AS SELECT p.id, p.age, s.disease, s.d + 1 AS days
            FROM public."a.b" AS p JOIN public.stay AS s USING (id);
        ALTER VIEW public.both_ OWNER TO source_owner; GRANT SELECT ON public.both_ TO steward
        """
    )
    columns = {
        "id": {"role": "individual"},
        "age": {"role": "quasi_identifying"},
        "disease": {"role": "sensitive"},
        "days": {"role": "insensitive"},
    }
    changes = {"source": "public.both_", "columns": columns, "trust": ["source_owner"]}
    event = made(db, faults.policy(**changes, privacy=[{"model": "k_anonymity", "k": 2}]))
    inputs = [one["name"] for one in event["inputs"]]
    assert inputs == ["d.public.both_", "d.public.a.b", "d.public.stay"]
    found = fields(event, "d.published.patients")
    assert found["age"] == {("d.public.a.b.age", "DIRECT TRANSFORMATION", True)}
    assert found["disease"] == {("d.public.stay.disease", "DIRECT IDENTITY", False)}
    assert found["days"] == {("d.public.stay.d", "DIRECT TRANSFORMATION", False)}
    assert "id" not in json.dumps([*found, *map(sorted, found.values())]).replace("disease", "")


@pytest.mark.parametrize("method", plans.METHODS)
def test_of_every_method(db_after: Any, method: str):
    """Whatever shows values as they are says so, and nothing is made of what stays."""
    db, _ = db_after(lambda db: db.source(plans.SOURCE))
    plan = plan_release(plans.policy_of(method), dsn=db.dsn())
    event = made(db, plans.policy_of(method))
    stays = {
        n for n, c in plan.spec.policy.columns.items() if c.role in ("identifying", "individual")
    }
    for view in plan.stored_views(State(1)):
        found = fields(event, f"d.{view.name.schema}.{view.name.name}")
        for column in view.columns:
            ways = found.get(column.name, set())
            if column.form in ("exact", "multiset"):
                assert any(not masking for _, _, masking in ways)
            if column.form in ("range", "set", "label", "mean", "mode", "null"):
                assert ways
            assert not {f"d.public.visit.{name}" for name in stays} & {name for name, _, _ in ways}


def test_of_related_tables(db: Database):
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    admission = {**wards.ADMISSION, "where": "kind = 'now'"}
    tables = {**wards.WHOLE, "admission": admission}
    event = made(db, load_policy(json.dumps(wards.policy(tables, 3, 0.9, group_size=30))))
    names = [f"d.hospital.{name}" for name in ("patient", *(n for n in tables if n != "patient"))]
    assert sorted(one["name"] for one in event["inputs"]) == sorted(names)
    found = {one["name"]: fields(event, one["name"]) for one in event["outputs"]}
    root = found["d.published.hospital"]
    assert {base for ways in root.values() for base, _, _ in ways} == {
        "d.hospital.patient.born",
        "d.hospital.patient.sex",
    }
    kept = ("DIRECT IDENTITY", False)
    assert found["d.published.hospital_ward"]["name"] == {("d.hospital.ward.name", *kept)}
    assert found["d.published.hospital_patient_study_study_no"] == {
        "study_no": {("d.hospital.patient_study.study_no", *kept)}
    }
    assert found["d.published.hospital_admission_ward_no_admitted"] == {
        "ward_no": {("d.hospital.admission.ward_no", *kept)},
        "admitted": {("d.hospital.admission.admitted", "DIRECT TRANSFORMATION", True)},
    }
    assert found["d.published.hospital_admission_rows"] == {
        "value": {
            ("d.hospital.admission.ward_no", *kept),
            ("d.hospital.admission.admitted", "DIRECT TRANSFORMATION", True),
        }
    }
    for output in event["outputs"]:
        indirect = {way_of(one) for one in output["facets"]["columnLineage"]["dataset"]}
        assert ("d.hospital.admission.kind", "INDIRECT FILTER", True) in indirect


def test_periods_are_those_of_the_column_with_the_time(db: Database):
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    event = made(db, timed())
    period = {("d.hospital.admission.admitted", "DIRECT TRANSFORMATION", True)}
    found = [fields(event, one["name"]) for one in event["outputs"]]
    assert sum(one.get("period") == period for one in found) > 2
    assert all(one.get("period", period) == period for one in found)
    assert "period" not in fields(event, "d.published.hospital")


def test_means_are_aggregations(source: Database):
    columns = {
        **faults.POLICY["columns"],
        "age": {"role": "quasi_identifying", "mean": True, "nulls": "suppress"},
        "days": {"role": "weight", "shown": "range"},
        "id": {"role": "insensitive", "shown": {"groups": 3}},
    }
    privacy = [{"model": "k_anonymity", "k": 8}]
    policy = faults.policy(columns=columns, privacy=privacy, suppression_limit=0.2)
    found = fields(made(source, policy), "d.published.patients")
    centre = ("DIRECT AGGREGATION", True)
    assert found["age_mean"] == {("d.public.patient.age", *centre)}
    assert found["days"] == found["days_range"] == {("d.public.patient.days", *centre)}
    assert found["id"] == {("d.public.patient.id", *centre)}
    assert found["age"] == {("d.public.patient.age", "DIRECT TRANSFORMATION", True)}


def test_a_table_is_made_of_itself(source: Database):
    """And not of the table whose columns it has."""
    source.source("CREATE TABLE public.child () INHERITS (public.patient)")
    source.admin.execute("GRANT SELECT ON public.child TO steward")
    event = made(source, faults.policy(source="public.child"))
    assert [one["name"] for one in event["inputs"]] == ["d.public.child"]


def test_relations_beside_the_source_are_inputs(db_after: Any):
    db, _ = db_after(lambda db: db.source(plans.SOURCE))
    risk = [
        {"model": "k_anonymity", "k": 2},
        {"model": "k_map", "k": 3, "population": "public.resident"},
    ]
    policy = {**plans.policy_of("mondrian").policy.document(), "privacy": risk}
    event = made(db, load_policy(json.dumps(policy)))
    assert [one["name"] for one in event["inputs"]] == ["d.public.visit", "d.public.resident"]


def texts(found: Any) -> Iterator[Any]:
    for one in found.values() if isinstance(found, dict) else found:
        if isinstance(one, dict | list):
            yield from texts(one)
        else:
            yield one


def test_the_event_has_names_and_nothing_else(source: Database, written: Path, tmp_path: Path):
    """Attack: no count, no value of the source, no condition, no password."""
    policy = {**faults.POLICY, "where": "disease <> 'plague' AND days < 987654321"}
    written.write_text(json.dumps(policy))
    file = tmp_path / "events"
    ran = pganon("run", str(written), "--lineage", str(file), "--dsn", source.dsn())
    assert (ran.code, "lineage" in ran.err) == (0, False)
    (event,) = events(file)
    assert {type(one) for one in texts(event)} == {str, bool}
    text = file.read_text()
    for hidden in (PASSWORD, "plague", "987654321", "Rome", "flu", "steward", "analyst", "k_anon"):
        assert hidden not in text.replace(event["eventTime"], "").replace(event["run"]["runId"], "")
    parts = source.admin.info
    (output, _) = event["outputs"]
    assert (output["namespace"], output["name"]) == (
        f"postgres://{'localhost' if parts.host.startswith('/') else parts.host}:{parts.port}",
        f"{parts.dbname}.published.patients",
    )
    assert (event["eventType"], event["job"]) == (
        "COMPLETE",
        {"namespace": "pganon", "name": "patients"},
    )


@pytest.mark.slow
def test_an_event_for_each_version_that_is_published(
    source: Database, written: Path, tmp_path: Path
):
    file = tmp_path / "events"
    once = ("run", str(written), "--lineage", str(file), "--dsn", source.dsn())
    for more, there in (
        (["--dry-run"], 0),
        ([], 1),
        ([], 1),  # unchanged
        (["--force"], 2),
    ):
        assert pganon(*once, *more).code == 0
        assert (len(events(file)) if file.exists() else 0) == there
    policy = {**faults.POLICY, "release": "held", "publish": {"approval": {"by": ["analyst"]}}}
    written.write_text(json.dumps(policy))
    assert "waits for approval" in pganon(*once).out
    assert len({one["run"]["runId"] for one in events(file)}) == len(events(file)) == 2


# -- where it goes ------------------------------------------------------------------------------


@contextmanager
def serving(answer: Any) -> Iterator[tuple[str, list[tuple[str, dict[str, str], bytes]]]]:
    """A server, and what it was asked: path, headers, content."""
    asked: list[tuple[str, dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, dict(self.headers), content))
            answer(self)

        do_GET = do_POST  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def status(code: int, **headers: str) -> Any:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code, KEY)
        for name, text in headers.items():
            handler.send_header(name, text)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def hidden(db: Database, *texts: str) -> bool:
    """Whether the key is in none of them, nor in the ledger."""
    (ledger,) = db.admin.execute("SELECT string_agg(l::text, '') FROM pganon_private.ledger l")
    return KEY not in "".join((*texts, ledger[0]))


@pytest.mark.slow
def test_a_server_gets_it_with_the_key(
    source: Database, written: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENLINEAGE_API_KEY", KEY)
    with serving(status(201)) as (url, asked):
        monkeypatch.setenv("OPENLINEAGE_URL", f"{url}/")
        ran = pganon("run", str(written), "--json", "--dsn", source.dsn())
    ((path, headers, content),) = asked
    assert (path, headers["Authorization"]) == ("/api/v1/lineage", f"Bearer {KEY}")
    assert headers["Content-Type"] == "application/json"
    assert json.loads(content)["eventType"] == "COMPLETE"
    assert (ran.code, [w for w in ran.json["warnings"] if "lineage" in w]) == (0, [])
    assert hidden(source, ran.out, ran.err)


def slow(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (status(500), "status 500"),
        (status(401), "status 401"),
        (slow, "TimeoutError"),
        (lambda handler: handler.wfile.write(b"\x00" * 70_000), "LineTooLong"),
    ],
    ids=["broken", "wrong key", "slow", "no HTTP"],
)
def test_a_failure_is_a_warning(
    source: Database, written: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, why: str
):
    monkeypatch.setenv("OPENLINEAGE_API_KEY", KEY)
    monkeypatch.setattr(lineage, "TIMEOUT", 0.2)
    with serving(answer) as (url, _):
        ran = pganon("run", str(written), "--lineage", url, "--dsn", source.dsn())
    assert ran.code == 0
    assert ran.out.startswith("published published.patients, version 1")
    assert f"the version is published, but 127.0.0.1 got no lineage event of it ({why})" in ran.err
    assert hidden(source, ran.out, ran.err)


@pytest.mark.slow
def test_the_key_goes_to_no_other_server(
    source: Database, written: Path, monkeypatch: pytest.MonkeyPatch
):
    """Attack: the server answers that another one has moved there."""
    monkeypatch.setenv("OPENLINEAGE_API_KEY", KEY)
    with serving(status(201)) as (other, asked), serving(status(302, Location=other)) as (url, _):
        ran = pganon("run", str(written), "--lineage", url, "--dsn", source.dsn())
    assert (ran.code, asked, "status 302" in ran.err) == (0, [], True)


@pytest.mark.slow
def test_the_key_goes_to_no_proxy(source: Database, written: Path, monkeypatch: pytest.MonkeyPatch):
    """Of plain HTTP it would read all."""
    monkeypatch.setenv("OPENLINEAGE_API_KEY", KEY)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serving(status(201)) as (proxy, proxied), serving(status(201)) as (url, asked):
        monkeypatch.setenv("http_proxy", proxy)
        ran = pganon("run", str(written), "--lineage", url, "--dsn", source.dsn())
    assert (ran.code, proxied, len(asked)) == (0, [], 1)


@pytest.mark.slow
def test_a_key_that_cannot_be_sent_is_not_told(
    source: Database, written: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENLINEAGE_API_KEY", f"{KEY}\r\nX: y")
    with serving(status(201)) as (url, asked):
        ran = pganon("run", str(written), "--lineage", url, "--dsn", source.dsn())
    assert (ran.code, asked) == (0, [])
    assert "got no lineage event of it (ValueError)" in ran.err
    assert hidden(source, ran.out, ran.err)


@pytest.mark.slow
def test_nobody_listens(source: Database, written: Path):
    with serving(status(201)) as (url, _):
        pass
    ran = pganon("run", str(written), "--lineage", url, "--dsn", source.dsn())
    assert (ran.code, "(ConnectionRefusedError)" in ran.err) == (0, True)


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_a_warning(
    source: Database, written: Path, tmp_path: Path
):
    kept, link, pipe = tmp_path / "kept", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(kept)
    os.mkfifo(pipe)
    for file in (link, pipe, tmp_path, tmp_path / "none" / "events"):
        once = ("run", str(written), "--force", "--lineage", str(file), "--dsn", source.dsn())
        ran = pganon(*once)
        assert (ran.code, f"but {file} got no lineage event of it (" in ran.err) == (0, True)
    assert not kept.exists()


@pytest.mark.parametrize(
    "target",
    [
        f"https://user:{KEY}@lineage.example",
        f"https://{KEY}@lineage.example",
        "https://",
        "https://lineage.example:many",
        f"https://lineage.example/?key={KEY}",
        "http:/lineage.example",
        "https://[::1",
    ],
)
def test_an_address_that_is_none_is_refused_before_the_run(target: str, written: Path):
    ran = pganon("run", str(written), "--lineage", target, "--dsn", "host=nowhere.invalid")
    assert (ran.code, KEY in ran.err) == (2, False)
    assert "error: --lineage has no address of a server\n" in ran.err
    with pytest.raises(UsageError):
        check_target(target)


def test_files_and_addresses_are_told_apart():
    for good in ("https://lineage.example/prefix", "http://[::1]:5000", "events", "/tmp/https"):
        check_target(good)


# -- what others read ---------------------------------------------------------------------------

LOAD = """
import json, sys
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset as c
from openlineage.client.serde import Serde
def inputs(found):
    return [c.InputField(namespace=f["namespace"], name=f["name"], field=f["field"],
        transformations=[c.Transformation(**w) for w in f["transformations"]]) for f in found]
for text in sys.stdin:
    e = json.loads(text)
    outputs = []
    for o in e["outputs"]:
        f = o["facets"]["columnLineage"]
        facet = c.ColumnLineageDatasetFacet(producer=f["_producer"], dataset=inputs(f["dataset"]),
            fields={n: c.Fields(inputs(d["inputFields"])) for n, d in f["fields"].items()})
        outputs.append(OutputDataset(o["namespace"], o["name"], facets={"columnLineage": facet}))
    event = RunEvent(eventTime=e["eventTime"], run=Run(e["run"]["runId"]), job=Job(**e["job"]),
        eventType=RunState[e["eventType"]], producer=e["producer"],
        inputs=[InputDataset(**i) for i in e["inputs"]], outputs=outputs)
    print(Serde.to_json(event))
"""


def pruned(found: Any) -> Any:
    """Without what is empty."""
    if isinstance(found, dict):
        return {key: pruned(one) for key, one in found.items() if one not in (None, [], {})}
    return [pruned(one) for one in found] if isinstance(found, list) else found


def test_the_library_of_openlineage_writes_the_same(source: Database):
    if not PYTHON.exists():
        pytest.skip(
            "openlineage-python is not here;"
            " `python -m tests.support.harness.fetch_openlineage` installs it"
        )
    found = [made(source, faults.policy(where="days < 9")), made(source, faults.policy())]
    text = "\n".join(map(json.dumps, found))
    ran = subprocess.run(
        [PYTHON, "-I", "-c", LOAD], input=text, capture_output=True, text=True, check=True
    )
    written = [pruned(json.loads(line)) for line in ran.stdout.splitlines()]
    assert written == [pruned(event) for event in found]
