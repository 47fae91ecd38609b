"""How the site is made from pages that are read in a repository, too.

The navigation is the list of pages of `index.md`. Info strings of blocks that say how they are
tested, and blocks that only tests see, are taken out. Files of `docker` that pages link to are
part of the site. The picture of the home page stands upright on narrow screens. Search finds
every word of the glossary by itself.
"""

from __future__ import annotations

import json
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
_SEARCH = re.compile(r'<div class="md-search" data-md-component="search" role="dialog"')
_SECTION = re.compile(r'(<nav class="md-nav" aria-label="[^"]*)(")')
_OUTSIDE = "](../../docker/"
_PICTURE = re.compile(r"!\[(.+)\]\(images/flow\.svg\)")
_PLACES = {
    "source": "75 0",
    "first": "190 196) rotate(90",
    "pganon": "75 252",
    "second": "190 448) rotate(90",
    "views": "75 504",
}
"""Of the parts of the picture, upright."""

_GLOSSARY = "reference/glossary.md"
_ITEM = re.compile(r"<li>(?P<word>.+?): (?P<means>.+)</li>")

Entry = dict[str, Any]

_WORDS: dict[str, tuple[str, str]] = {}
"""What search shows of the words of the glossary, by place."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = navigation((ROOT / "docs/index.md").read_text("utf-8"))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in sorted((ROOT / "docker").glob("*.*")):
        name = f"docker/{path.name}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    picture = upright((ROOT / "docs/images/flow.svg").read_text("utf-8"))
    files.append(File.generated(config, "images/flow-upright.svg", content=picture))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
        markdown = _PICTURE.sub(_picture, markdown)
    return shown(markdown.replace(_OUTSIDE, "](../docker/"))


def on_page_content(html: str, page: Page, **_: Any) -> str:
    if page.file.src_uri != _GLOSSARY:
        return html
    html, found = words(html)
    _WORDS.update({f"{page.url}#{anchor}": word for anchor, word in found.items()})
    return html


def on_post_build(config: MkDocsConfig) -> None:
    """Add the words to what is searched. The plugin for folders reads it afterwards."""
    file = Path(config.site_dir) / "search/search_index.json"
    index = json.loads(file.read_text("utf-8"))
    for location, (title, text) in _WORDS.items():
        index["docs"].append({"location": location, "title": title, "text": text})
    file.write_text(json.dumps(index, separators=(",", ":")), "utf-8")


def on_post_page(output: str, page: Page, **_: Any) -> str:
    return named(alone(output, page.url))


def on_post_template(output: str, template_name: str, **_: Any) -> str:
    return alone(output, template_name) if template_name.endswith(".html") else output


def alone(output: str, url: str) -> str:
    """A page that loads nothing from elsewhere."""
    if _SHIM not in output:
        raise PluginError(f"the theme does not load {_SHIM} any more: see docs/images/worker.js")
    return output.replace(_SHIM, get_relative_url("images/worker.js", url))


def named(output: str) -> str:
    """A page whose search has a name, and whose sections have others than those of the site."""
    output, found = _SEARCH.subn(r'\g<0> aria-label="Search"', output)
    if found != 1:
        raise PluginError("the theme has another search: see docs/hooks.py")
    return _SECTION.sub(r"\1 on this page\2", output)


def words(html: str) -> tuple[str, dict[str, tuple[str, str]]]:
    """The page with an anchor per item of its lists; by anchor the words and what they mean."""
    found: dict[str, tuple[str, str]] = {}

    def anchored(item: re.Match[str]) -> str:
        word, means = (re.sub(r"<.*?>", "", item[part]) for part in ("word", "means"))
        name = re.sub(r"\W+", "-", word.lower()).strip("-")
        anchor = f"word-{name}" if f"word-{name}" not in found else f"word-{name}-{len(found)}"
        found[anchor] = word, means
        return item[0].replace("<li>", f'<li id="{anchor}">', 1)

    return _ITEM.sub(anchored, html), found


def upright(picture: str) -> str:
    """The picture with its parts below each other and without what stands below them."""
    text = re.sub(r'^ *<text class="soft" y="2[13]4">.*\n', "", picture, flags=re.MULTILINE)
    text = text.replace("0 0 860 250", "0 0 400 700")
    for part, place in _PLACES.items():
        text, found = re.subn(rf'(id="{part}" transform="translate)\([^"]*', rf"\1({place})", text)
        if found != 1:
            raise PluginError(f"flow.svg has no part {part}")
    return text


def _picture(found: re.Match[str]) -> str:
    image = f'<img alt="{found[1]}" src="images/flow.svg">'
    source = '<source media="(max-width: 40em)" srcset="images/flow-upright.svg">'
    return f"<picture>{source}{image}</picture>"


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
