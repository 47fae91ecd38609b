"""How the site is made from pages that are read in a repository, too.

The navigation is the list of pages of `index.md`. Info strings of blocks that say how they are
tested, and blocks that only tests see, are taken out. Files of `docker` that pages link to are
part of the site.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[1]

_FENCE = re.compile(r"^```([a-z]+) +(\S+).*$", re.MULTILINE)
_HIDDEN = re.compile(r"^<!-- test .*?^-->\n", re.MULTILINE | re.DOTALL)
_LINE = re.compile(
    r"^(##|###|-) (?:\[(?P<title>.+)\]\((?P<page>\S+)\)|(?P<heading>.+))$", re.MULTILINE
)
_SHIM = "https://unpkg.com/iframe-worker/shim"
_OUTSIDE = "](../../docker/"

Entry = dict[str, Any]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = navigation((ROOT / "docs/index.md").read_text("utf-8"))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in sorted((ROOT / "docker").glob("*.*")):
        name = f"docker/{path.name}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    return shown(markdown.replace(_OUTSIDE, "](../docker/"))


def on_post_page(output: str, page: Page, **_: Any) -> str:
    return alone(output, page.url)


def on_post_template(output: str, template_name: str, **_: Any) -> str:
    return alone(output, template_name) if template_name.endswith(".html") else output


def alone(output: str, url: str) -> str:
    """A page that loads nothing from elsewhere."""
    if _SHIM not in output:
        raise PluginError(f"the theme does not load {_SHIM} any more: see docs/images/worker.js")
    return output.replace(_SHIM, get_relative_url("images/worker.js", url))


def navigation(index: str) -> list[Entry]:
    """Sections, sections in them, and pages, of the headings and lists of a page."""
    top: list[Entry] = [{"Home": "index.md"}]
    section = outer = top
    for found in _LINE.finditer(index):
        heading, page = found["heading"], found["page"]
        if page:
            section.append({found["title"]: page})
            continue
        below: list[Entry] = []
        if found[1] == "##":
            outer = below
            top.append({heading: below})
        else:
            outer.append({heading: below})
        section = below
    return top


def shown(markdown: str) -> str:
    """A page without what its blocks say to tests; a block that is a file has its name as title."""
    return _FENCE.sub(_fence, _HIDDEN.sub("", markdown))


def _fence(found: re.Match[str]) -> str:
    language, word = found.groups()
    return f'```{language} title="{word}"' if "." in word else f"```{language}"
