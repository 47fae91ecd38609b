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

from tests.support.harness import axe, browser

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]


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
    item = "<li>{}: {}</li>\n"
    html = item.format("δ-presence", "<code>delta_presence</code>") + item.format("Δ presence", "b")
    assert hooks.words(html) == (
        html.replace("<li>", '<li id="word-δ-presence">', 1).replace(
            "<li>", '<li id="word-δ-presence-1">', 1
        ),
        {
            "word-δ-presence": ("δ-presence", "delta_presence"),
            "word-δ-presence-1": ("Δ presence", "b"),
        },
    )


def test_search_and_sections_of_a_page_have_names(hooks: ModuleType) -> None:
    search = '<div class="md-search" data-md-component="search" role="dialog"'
    nav = '<nav class="md-nav" aria-label="Do"'
    assert hooks.named(f"{search}>{nav}>") == (
        f'{search} aria-label="Search"><nav class="md-nav" aria-label="Do on this page">'
    )
    with pytest.raises(hooks.PluginError, match="another search"):
        hooks.named(nav)


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


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|link)[^>]* (?:src|href)=\"?((?:https?:)?//[^\" >]+)")
    found = {name for path in site.rglob("*.html") for name in loads.findall(path.read_text())}
    assert found == set()
    assert (site / "docker/pganon-worker.service").exists()
    assert (site / "images/flow-upright.svg").exists()
    home = (site / "index.html").read_text("utf-8")
    assert 'srcset="images/flow-upright.svg"' in home


@pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here")
def test_search_works_from_a_folder(site: Path) -> None:
    page = browser.dom(f"file://{site}/how-to/choose.html?q=suppression", milliseconds=8000)
    assert "matching documents" in page
    assert "full_domain.html" in page
    # What papers call otherwise, however common its parts are.
    page = browser.dom(f"file://{site}/index.html?q=(α, k)-anonymity", milliseconds=8000)
    first = page.split("md-search-result__link", 2)[1]
    assert "reference/glossary.html" in first


AUDIT = """<script src="{root}axe.js"></script><script>
addEventListener("load", function () {{
  axe.run(document).then(function (found) {{
    var seen = {{width: innerWidth, page: location.pathname, passes: found.passes.length}};
    for (var kind of ["violations", "incomplete"]) {{
      seen[kind] = found[kind].map(function (rule) {{
        return [rule.id, rule.nodes.map(function (node) {{
          return [node.html, node.any.map(function (check) {{ return check.data; }})];
        }})];
      }});
    }}
    parent.postMessage(seen, "*");
  }});
}});</script></body>"""

AUDITED = ("index", "how-to/measure-attacks", "reference/models")
"""Home; a page with code and tables of figures; one with long tables."""


@pytest.mark.skipif(axe.SCRIPT is None, reason="axe-core-python is not installed")
@pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("dark", [False, True])
def test_it_shuts_nobody_out(site: Path, dark: bool) -> None:
    """No rule of axe-core is broken, wide or narrow. Pages of one name are told apart by their
    section: axe-core leaves open whether their links can be."""
    for name in AUDITED:
        html = (site / f"{name}.html").read_text("utf-8")
        audited = html.replace("</body>", AUDIT.format(root="../" * name.count("/")))
        (site / f"{name}.audited.html").write_text(audited, "utf-8")
    for one in axe.heard(site, [f"{name}.audited.html" for name in AUDITED], dark=dark):
        page, left_open = one["page"], dict(one["incomplete"])
        assert (page, one["violations"]) == (page, [])
        assert left_open.keys() <= {"color-contrast", "identical-links-same-purpose"}
        for html, checks in left_open.get("color-contrast", []):
            # Of cells of tables that scroll, and of lines of symbols, it measures none.
            (seen,) = checks
            assert (seen.get("contrastRatio") or 4.5) >= 4.5, (page, html)
        assert one["passes"] > 20
