"""Every benchmark on a few generated rows: the command runs all parts and prints their tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from benchmarks import __main__ as benchmarks_main
from benchmarks import (
    classes,
    full_domain,
    lgb,
    peers,
    peers_measured,
    peers_process,
    people,
    qs,
    slamsa,
    support,
)
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.qs_names import BLOCKS
from tests.support.harness import forked
from tests.support.harness.cluster import Server
from tests.support.sources import benchmark_data

pytestmark = pytest.mark.primary_server_only

TINY: dict[str, str] = {
    "classes": "rows=400",
    "full_domain": "rows=400",
    "assess": "rows=400",
    "qs": 'people=400 ks=[2] attributes=[1] subsets=[60] draws=1 counts=["product"]',
    "anatomy": "people=400 degrees=[2] sizes=[16]",
    "slamsa": "degrees=[2] tuple_degrees=[2] sizes=[60] pooled_degrees=[2] pooled_sizes=[60]"
    " high_degrees=[2] samples=2 draws=1",
    "identity": "individuals=100 degrees=[2] degree=2 shares=[[0.6,0.6]] blocks=[50] quasi=[3]"
    " quasi_identifiers=3 queries=5 few=40 samples=1 draws=1",
    "lgb": "draws=2 error_draws=2 rows=150 queries=5 seeds=2 ks=[2] ls=[2,3] middle=2"
    ' dense=[[3,2]] densities=[20] methods=["LGB_MDP"]',
    "background": 'rows=60 people=80 sources=["patients"] ks=[5] js=[0.8] betas=[3]'
    " few_ks=[2] few_betas=[3] sizes=[40] widths=[0.3] seeds=2",
    "estimates": "queries=6 k=3 l=2 ks=[3] ls=[2]",
    "time": 'people=400 months=2 series=[[1,"leaves","region","distinct"]]',
    "requests": "requests=4 idle=1 picked_up=1",
    "citus": "rows=2000",
    "peers": 'few=60 ks=[3] queries=20 tools=["mondrian"] rows=[100]',
}
"""Settings that make every part small."""

ON_ADULT = {"background": "bandwidths"}
"""Parts that say something of Adult alone."""

FEWER: tuple[tuple[Any, str, Any], ...] = (
    (classes, "BEST_PEER", {(5, 3): classes.BEST_PEER[5, 3]}),
    (classes, "MODELS", classes.MODELS[:1]),
    (full_domain, "K", (2,)),
    (full_domain, "LIMITS", (0.05,)),
    (slamsa, "FOUR", slamsa.FOUR[:1]),
    (lgb, "METHODS", dict(list(lgb.METHODS.items())[:3])),
)
"""Lists that are no settings, shorter."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with the columns of the real ones."""
    return benchmark_data.write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def program() -> Iterator[tuple[str, ...]]:
    with forked.program() as folder:
        yield (str(folder / "pganon"),)


@pytest.fixture
def bench(
    server: Server,
    data: Path,
    program: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """The folder of results; benchmarks run on the server of the tests."""
    monkeypatch.setenv("PGANON_BENCH_DSN", server.dsn)
    monkeypatch.setattr(support, "PROGRAM", program)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGANON_DATA", str(data))
    return tmp_path / "bench-results"


def run(name: str, *parts: str, changed: str = "") -> None:
    main([name, "--parts", *parts, "--set", *TINY[name].split(), *changed.split()])


def figures(bench: Path, name: str) -> dict[str, Any]:
    return json.loads((bench / f"{name}.json").read_text())


def test_every_benchmark_is_tried() -> None:
    assert list(TINY) == list(BENCHMARKS)
    for name, settings in TINY.items():
        given = {setting.partition("=")[0] for setting in settings.split()}
        assert given <= BENCHMARKS[name].defaults().keys()


@pytest.mark.parametrize("name", TINY)
@pytest.mark.slow
def test_all_parts(
    bench: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every part gives figures, and every table is printed."""
    for module, constant, value in FEWER:
        monkeypatch.setattr(module, constant, value)
    kind = BENCHMARKS[name]
    if lacks := kind.lacks():
        pytest.skip(lacks)
    found: dict[str, Any] = {}
    if part := ON_ADULT.get(name):
        run(name, part, changed='sources=["adult"]')
        found |= figures(bench, name)
    run(name, *(part for part in kind.parts if part in kind.real and part not in found))
    monkeypatch.delenv("PGANON_DATA")
    run(name, *(part for part in kind.parts if part not in kind.real))
    found |= figures(bench, name)
    assert [part for part in kind.parts if all("refused" in row for row in found[part])] == []
    printed = " ".join(capsys.readouterr().out.split())  # long titles are wrapped
    titles = [table.title for table in kind.tables if found.get(table.part)]
    assert titles
    assert [title for title in titles if title not in printed] == []


def test_parts_on_real_data_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PGANON_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    main(["anatomy", "--parts", "adult"])
    assert "adult is skipped" in capsys.readouterr().err


def test_a_benchmark_without_its_servers_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PGANON_BENCH_CITUS_DSN", raising=False)
    monkeypatch.chdir(tmp_path)
    main(["citus"])
    assert "runs is skipped: PGANON_BENCH_CITUS_DSN" in capsys.readouterr().err


def test_programs_of_others_are_installed_by_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(benchmarks_main, "run", lambda name, *_, **__: ran.append(name))
    main([])
    assert ran == [name for name in BENCHMARKS if name != "peers"]
    main(["peers"])
    assert ran[-1] == "peers"


@pytest.mark.slow
def test_parts_stay(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one part found is on disk though a later one fails, and beside what is found later."""

    def fails(self: Any) -> Iterator[Any]:
        yield {"call": "assess"}
        raise RuntimeError("the end")

    monkeypatch.setattr(BENCHMARKS["assess"], "sparse", fails)
    with pytest.raises(RuntimeError, match="the end"):
        run("assess", "dense", "sparse")
    file = bench / "assess.json"
    dense = json.loads(file.read_text())["dense"]
    assert len(dense) == 5
    assert "sparse" not in json.loads(file.read_text())


@pytest.mark.slow
def test_figures_of_other_settings_go(bench: Path) -> None:
    run("assess", "dense")
    run("assess", "sparse")
    file = bench / "assess.json"
    assert {"dense", "sparse"} < json.loads(file.read_text()).keys()
    run("assess", "sparse", changed="rows=300")
    assert "dense" not in json.loads(file.read_text())


@pytest.mark.slow
def test_tables_of_another_run_are_gone(bench: Path, server: Server) -> None:
    """As a run that was killed leaves them."""
    with server.admin() as conn:
        conn.execute("CREATE DATABASE pganon_bench_assess")
    dsn = conninfo.make_conninfo(server.dsn, dbname="pganon_bench_assess")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE VIEW assessed AS SELECT 1 AS age")
    run("assess", "dense")
    assert len(figures(bench, "assess")["dense"]) == 5


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["assess", "--parts", "by_k"], ["assess", "--set", "people=3"],
     ["assess", "--set", "rows"]],
)  # fmt: skip
def test_what_there_is_not(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


COPIES = """
import json, sys, time
import psycopg
task = json.load(open(sys.argv[1]))
if task["l"]:
    time.sleep(600)
shown = ", ".join(f"{name}::text" for name in [*task["columns"], task["sensitive"]])
with psycopg.connect(task["dsn"]) as conn:
    conn.execute(f"CREATE TABLE {task['target']} AS SELECT {shown} FROM {task['source']}")
    time.sleep(2)
"""
"""Another tool, which anonymizes nothing, and never ends where l is asked for. It stays long enough
for the memory of its connection to be seen."""


@pytest.mark.slow
def test_other_tools_are_held_to_what_was_asked(
    bench: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who is slow or missing is named, too."""
    script = tmp_path / "copies.py"
    script.write_text(COPIES)
    monkeypatch.setattr(peers, "_SCRIPT", script)
    found = (Path(sys.executable), {"anjana": "could not be installed"})
    monkeypatch.setattr(peers_process, "environment", lambda *_: found)
    monkeypatch.delenv("PGANON_DATA")
    tools = 'tools=["anonypy","anjana","arx"] timeout=20'
    with pytest.raises(SystemExit) as ended:
        run("peers", "quality", "--check", changed=tools)
    assert ended.value.code == 1
    rows = json.loads((bench / "peers.json").read_text())["quality"]
    by_tool = {(row["tool"], row["l"]): row for row in rows}
    assert by_tool["anonypy", None]["smallest"] == 1
    assert by_tool["anonypy", None]["gcp"] == 0
    assert by_tool["anonypy", None]["cpu_seconds"] > 0
    assert by_tool["anonypy", None]["server_mb"] > 0
    assert 5 < by_tool["anonypy", None]["peak_mb"] < 80  # this program has more
    assert by_tool["anonypy", 3]["refused"] == "did not end in 20 s"
    assert by_tool["anjana", None]["refused"] == "could not be installed"
    assert "--set arx=PATH" in by_tool["arx", None]["refused"]
    assert "anonypy delivers k = 3" in capsys.readouterr().out


@pytest.mark.slow
def test_loss_of_a_release_by_its_labels_alone(bench: Path) -> None:
    """As pganon computes it from what it knows of the classes."""
    with support.bench_database("labels") as dsn:
        people.create(dsn, 300)
        columns = peers.PEOPLE_QI
        policy = classes.policy(
            "peers", "people", columns, 3, sensitive="occupation", method={"name": "mondrian"}
        )
        utility = support.run_policy(dsn, policy).result["utility"]
        source = peers_measured.read_source(dsn, sql.Identifier("people"), columns, {})
        release = sql.Identifier("published", "peers")
        released = peers_measured.read_released(dsn, release, columns, "occupation", source)
        found = peers_measured.measured(source, released, 3, None, queries=20)
        assert found["gcp"] == pytest.approx(utility["gcp"])
        assert found["classes"] <= utility["classes"]
        assert found["holds"]


@pytest.mark.slow
def test_draws_are_apart(bench: Path) -> None:
    """Three releases of one policy over one source would be one draw, whatever they are called."""
    with support.bench_database("draws") as dsn:
        people.create(dsn, 80)
        policy = qs.Setting(people.TABLE, 80, BLOCKS, "product", k=2).policy(None)

        def lost(measured: support.Measured) -> float:
            return round(measured.result["utility"]["gcp"], 9)

        drawn = [lost(one) for one in support.draws(dsn, policy, 3)]
        named = [lost(support.run_policy(dsn, {**policy, "release": name})) for name in ("a", "b")]
        assert len(set(drawn)) > 1
        assert lost(support.drawn(dsn, policy, 1)) == drawn[1]
        assert len(set(named)) == 1
