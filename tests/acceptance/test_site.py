"""The site: every page is in it, its search works from a folder, and it loads nothing."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.harness import browser

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.primary_server_only


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs/hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for below in entry.values():
            yield from [below] if isinstance(below, str) else pages(below)


def test_every_page_is_in_the_navigation_once(hooks: ModuleType) -> None:
    nav = hooks.navigation((ROOT / "docs/index.md").read_text("utf-8"))
    there = [path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")]
    assert sorted(pages(nav)) == sorted(there)
    assert [next(iter(section)) for section in nav] == [
        "Home",
        "Learn",
        "Do",
        "Look up",
        "Understand",
    ]


def test_what_blocks_say_to_tests_is_not_shown(hooks: ModuleType) -> None:
    text = """Text
<!-- test sql admin
SELECT 1;
-->
```yaml visits.yaml
a: 1
```
```sql source_owner
SELECT 2;
```
```json
{}
```
"""
    assert (
        hooks.shown(text)
        == """Text
```yaml title="visits.yaml"
a: 1
```
```sql
SELECT 2;
```
```json
{}
```
"""
    )


def test_every_word_of_the_glossary_can_be_found(hooks: ModuleType) -> None:
    row = "<tr>\n<td>{}</td>\n<td>{}</td>\n</tr>\n"
    html = row.format("δ-presence", "<code>delta_presence</code>") + row.format("Δ presence", "b")
    assert hooks.words(html) == (
        html.replace("<tr>", '<tr id="word-δ-presence">', 1).replace(
            "<tr>", '<tr id="word-δ-presence-1">', 1
        ),
        {
            "word-δ-presence": ("δ-presence", "delta_presence"),
            "word-δ-presence-1": ("Δ presence", "b"),
        },
    )


def test_the_picture_stands_upright_with_all_its_parts(hooks: ModuleType) -> None:
    wide = (ROOT / "docs/images/flow.svg").read_text("utf-8")
    narrow = hooks.upright(wide)
    places = {re.findall(r'id="(.+?)" transform="(.+?)"', text)[n] for text in (wide, narrow)
              for n in range(5)}  # fmt: skip
    assert len(places) == 10
    assert narrow.count("<text") == wide.count("<text") - 6
    with pytest.raises(hooks.PluginError, match="no part views"):
        hooks.upright(wide.replace('id="views"', ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(ROOT / "mkdocs.yml", folder)
    return folder


def build(config: Path, folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-q",
        "-f",
        config,
        "-d",
        folder,
    ]
    subprocess.run(
        command, check=True, capture_output=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )


@pytest.mark.slow
def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|link)[^>]* (?:src|href)=\"?((?:https?:)?//[^\" >]+)")
    found = {name for path in site.rglob("*.html") for name in loads.findall(path.read_text())}
    assert found == set()
    assert (site / "docker/pganon-worker.service").exists()
    assert (site / "images/flow-upright.svg").exists()
    home = (site / "index.html").read_text("utf-8")
    assert 'srcset="images/flow-upright.svg"' in home


@pytest.mark.slow
@pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here")
def test_search_works_from_a_folder(site: Path) -> None:
    page = browser.dom(f"file://{site}/how-to/choose.html?q=suppression", milliseconds=8000)
    assert "matching documents" in page
    assert "full_domain.html" in page
    # What papers call otherwise, however common its parts are.
    page = browser.dom(f"file://{site}/index.html?q=(α, k)-anonymity", milliseconds=8000)
    first = page.split("md-search-result__link", 2)[1]
    assert "reference/glossary.html" in first
