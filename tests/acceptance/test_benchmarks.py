"""Every part of every benchmark, alone and on a few rows: none of them fails after hours."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from benchmarks import people, qs, support
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.qs_names import BLOCKS
from tests.support.harness import forked
from tests.support.harness.cluster import Server

pytestmark = pytest.mark.primary_server_only

LINES = 400
"""Of every file of the real data, from its beginning."""
SPREAD = {"acs2018_income.csv.gz": 1000, "national2018.csv.gz": 60, "adult.data.gz": 80}
"""Of these files every so manieth line: states follow each other, or the first lines allow no l."""
TAKEN = ("acs2018", "acs_sdnist", "adult", "diabetes130", "heart", "informs")

TINY = {
    "mondrian": "rows=400",
    "assess": "rows=400",
    "qs": "people=400 ks=[2] attributes=[2] subsets=[200] draws=1",
    "anatomy": "people=400 degrees=[2] sizes=[16]",
    "slamsa": "degrees=[2] sizes=[60] draws=2",
    "identity": "individuals=100 degrees=[2] degree=2 shares=[[0.6,0.4]] blocks=[20,40]"
    " quasi=[2] quasi_identifiers=3 queries=10 few=60 samples=1 draws=2",
    "lgb": "rows=300 queries=10 ks=[3] ls=[2,3] middle=3 dense=[[3,2]] densities=[20,40]",
    "background": 'rows=60 people=200 sources=["patients","adult"] ks=[2] js=[0.4]'
    ' betas=[3] few_ks=[2] few_betas=[3] sizes=[60] widths=[{"gender":2}]',
    "time": "people=400 months=2"
    ' series=[[1,"leaves","tight","distinct"],[1,"leaves","region","frequency"]]',
    "requests": "requests=8 idle=1 picked_up=2",
}

OPTIONAL = {
    name
    for kind in BENCHMARKS.values()
    for table in kind.tables
    for name in table.columns
    if name.startswith("expected ")
} | {"error", "median_error"}  # of queries, where there were enough records to ask any

PARTS = [(name, part) for name, kind in BENCHMARKS.items() for part in kind.parts]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """The real data, cut; None if they are not here."""
    whole = support.data_folder()
    if whole is None:
        return None
    folder = tmp_path_factory.mktemp("data")
    for name in TAKEN:
        shutil.copytree(whole / name, folder / name, copy_function=_cut)
    return folder


def _cut(source: str, target: str) -> None:
    def opened(name: str, mode: str) -> Any:
        return gzip.open(name, mode) if name.endswith(".gz") else Path(name).open(mode)

    with opened(source, "rb") as lines, opened(target, "wb") as out:
        step = SPREAD.get(Path(source).name)
        out.writelines(islice(lines, LINES) if step is None else islice(lines, 0, None, step))


@pytest.fixture(scope="module")
def program() -> Iterator[tuple[str, ...]]:
    with forked.program() as folder:
        yield (str(folder / "pganon"),)


@pytest.fixture
def bench(
    server: Server,
    few: Path | None,
    program: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """The folder of results; benchmarks run on the server of the tests."""
    monkeypatch.setenv("PGANON_BENCH_DSN", server.dsn)
    monkeypatch.setattr(support, "PROGRAM", program)
    monkeypatch.chdir(tmp_path)
    if few is not None:
        monkeypatch.setenv("PGANON_DATA", str(few))
    return tmp_path / "bench-results"


def run(name: str, *parts: str, changed: str = "") -> None:
    main([name, "--parts", *parts, "--set", *TINY[name].split(), *changed.split()])


def test_every_benchmark_is_tried() -> None:
    assert list(TINY) == list(BENCHMARKS)


@pytest.mark.parametrize(("name", "part"), PARTS, ids=lambda value: value)
@pytest.mark.slow
def test_part(bench: Path, name: str, part: str) -> None:
    kind = BENCHMARKS[name]
    if part in kind.real and support.data_folder() is None:
        pytest.skip("PGANON_DATA names no folder of real data")
    run(name, part)
    found = json.loads((bench / f"{name}.json").read_text())
    assert found[part]
    rows = [row for row in found[part] if "refused" not in row]
    assert rows
    for table in kind.tables:
        if table.part == part:
            assert set(table.columns) - OPTIONAL <= {name for row in rows for name in row}


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
    assert len(json.loads((bench / "assess.json").read_text())["dense"]) == 5


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["assess", "--parts", "by_k"], ["assess", "--set", "people=3"],
     ["assess", "--set", "rows"]],
)  # fmt: skip
def test_what_there_is_not(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


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
