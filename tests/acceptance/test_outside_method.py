"""A method in a package of somebody else: that of docs/how-to/write-a-method.md."""

from __future__ import annotations

import importlib
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pganon
from pganon import loading
from pganon.errors import PolicyError, PrivacyRefusal, UsageError
from pganon.methods import registry
from tests.support.harness import faults, plans
from tests.support.harness.cli import pganon as command
from tests.support.harness.cluster import Database
from tests.support.harness.pages import blocks
from tests.support.harness.walk import walk

DOCS = Path(__file__).parents[2] / "docs/how-to"
PACKAGE = DOCS / "sorted-runs"
DOCUMENT: dict[str, Any] = {
    **faults.POLICY,
    "privacy": [{"model": "k_anonymity", "k": 3}],
    "method": {"name": "sorted_runs"},
}


def _forget() -> None:
    registry.methods.cache_clear()
    loading.known.cache_clear()
    importlib.invalidate_caches()


def _install(folder: Path, entries: dict[str, str]) -> None:
    """What an installer leaves of a package: its modules, name and entry points."""
    (folder / "sorted_runs.py").write_bytes((PACKAGE / "sorted_runs.py").read_bytes())
    about = folder / "sorted_runs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sorted-runs\nVersion: 1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{lines}")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    _install(tmp_path, project["entry-points"][registry.GROUP])
    monkeypatch.syspath_prepend(tmp_path)
    _forget()
    yield tmp_path
    sys.modules.pop("sorted_runs", None)
    monkeypatch.undo()
    _forget()


@pytest.mark.usefixtures("installed")
def test_from_plan_to_verified_release(db: Database) -> None:
    db.source(faults.SOURCE)
    loaded = pganon.load_policy(_text())
    plan = pganon.plan_release(loaded, dsn=db.dsn())
    assert "grouped" in [step.name for phase in plan.phases for step in phase.steps]
    result = pganon.run_release(loaded, dsn=db.dsn())
    assert (result.version, result.method, result.suppressed) == (1, "sorted_runs", 0)
    sizes = [
        row[0]
        for row in db.owner().execute(
            f"SELECT count(*) FROM {result.view} GROUP BY class_id"  # pyright: ignore
        )
    ]
    assert sum(sizes) == result.records
    assert 3 <= min(sizes) <= max(sizes) < 6
    assert command("verify", loaded.policy.release, "--dsn", db.dsn()).code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_through_every_command(db: Database, tmp_path: Path) -> None:
    db.source(plans.SOURCE)
    document = plans.policy_of("mondrian", DOCUMENT["privacy"]).policy.document()
    loaded = pganon.load_policy(_text({**document, "method": DOCUMENT["method"]}))
    assert walk(db, loaded, tmp_path) == []


@pytest.mark.usefixtures("installed")
def test_what_cannot_be_guaranteed_is_refused(db: Database) -> None:
    """The form verifies what the method made: it is trusted with nothing."""
    db.source(faults.SOURCE)
    too_many = {**DOCUMENT, "privacy": [{"model": "k_anonymity", "k": 10_000}]}
    with pytest.raises(PrivacyRefusal):
        pganon.run_release(pganon.load_policy(_text(too_many)), dsn=db.dsn())
    assert faults.content(db.owner()) is None
    diverse = {"model": "distinct_l_diversity", "column": "disease", "l": 2}
    with pytest.raises(PolicyError) as caught:
        pganon.load_policy(_text({**DOCUMENT, "privacy": [diverse]}))
    assert "sorted_runs cannot guarantee" in caught.value.problems[0].message


def test_a_release_outlives_the_package(
    db: Database, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was published stays readable, verified and removable without who made it."""
    db.source(faults.SOURCE)
    name = pganon.load_policy(_text()).policy.release
    pganon.run_release(pganon.load_policy(_text()), dsn=db.dsn())
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(installed)])
    _forget()
    shown = command("show", name, "--dsn", db.dsn())
    assert (shown.code, "brings the method sorted_runs" in shown.out) == (0, True)
    for call in (("verify", name), ("history", name), ("drop", name, "--yes")):
        assert command(*call, "--dsn", db.dsn()).code == 0, call


def test_without_the_package() -> None:
    with pytest.raises(PolicyError) as caught:
        pganon.load_policy(_text())
    assert caught.value.problems[0].field == "method.name"


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"mine": "sorted_runs:steps"}, "is no pganon.methods.common.base.Method"),
        ({"mine": "sorted_runs:METHOD", "other": "sorted_runs:METHOD"}, "is there already"),
        (
            {"mine": "sorted_runs:METHOD", "mondrian": "pganon.methods.buckets.anatomy:METHOD"},
            "anatomy is",
        ),
        ({"mine": "sorted_runs:nothing"}, "AttributeError"),
        ({"mine": "sorted_walks:METHOD"}, "ModuleNotFoundError"),
    ],
)
def test_a_package_that_offers_something_else(
    entries: dict[str, str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, entries)
    monkeypatch.syspath_prepend(tmp_path)
    _forget()
    try:
        with pytest.raises(UsageError, match=says) as caught:
            pganon.load_policy(_text())
        assert caught.value.code == "bad_method"
    finally:
        sys.modules.pop("sorted_runs", None)
        monkeypatch.undo()
        _forget()


def test_the_page_shows_the_package() -> None:
    shown = [block.text for block in blocks((DOCS / "write-a-method.md").read_text("utf-8"))]
    for name in ("pyproject.toml", "sorted_runs.py"):
        text = (PACKAGE / name).read_text("utf-8")
        pieces = [block for block in shown if block in text]
        assert "".join(text.split()) == "".join("".join(pieces).split()), name


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        (("    adds = (CLASS_ID,)\n", ""), "SortedRuns.adds is missing"),
        (("    example = ", "    examples: ClassVar[str] = "), "SortedRuns.example is missing"),
        (('{"k_anonymity"}', '{"k_anonymty"}'), '"k_anonymty" (k_anonymity?)'),
        (('frozenset({"k_anonymity"})', '"k_anonymity"'), "SortedRuns.models is no frozenset"),
        (('grouped = "quasi_', 'grouped = "quazi_'), "(quasi_identifying?)"),
        (("parts = (FLAT,)", 'supports = frozenset({"label"})'), '"label" (labels?)'),
        (('Literal["sorted_runs"]', "str"), "SortedRuns.name is not a Literal of one word"),
        (("(SortedRuns, CLASSES, ", "(SortedRuns, None, "), "SortedRuns is no PublishedForm"),
        (("(SortedRuns, CLASSES, steps", "(SortedRuns, CLASSES, ()"), "cannot be called"),
        (("(SortedRuns, CLASSES, ", "(MethodOptions, CLASSES, "), "MethodOptions."),
        (("(SortedRuns, CLASSES, ", '("SortedRuns", CLASSES, '), "no subclass of MethodOptions"),
    ],
)
def test_a_declaration_that_is_wrong_is_named(
    installed: Path, changed: tuple[str, str], wanted: str
) -> None:
    """When the methods are read, whatever the policy says, and by every command."""
    module = installed / "sorted_runs.py"
    text = module.read_text()
    assert changed[0] in text
    text = text.replace(*changed).replace("import Literal", "import ClassVar, Literal")
    module.write_text(text)
    sys.modules.pop("sorted_runs", None)
    _forget()
    with pytest.raises(UsageError) as caught:
        pganon.load_policy(_text())
    assert caught.value.code == "bad_method"
    assert wanted in caught.value.message
    assert "sorted_runs = sorted_runs:METHOD" in caught.value.message
    ran = command("policy", "schema")
    assert (ran.code, "bad_method" in ran.err or wanted in ran.err) == (2, True)


def _text(document: dict[str, Any] = DOCUMENT) -> str:
    return json.dumps(document)
