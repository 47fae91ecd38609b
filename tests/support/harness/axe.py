"""axe-core, where the package that carries it is installed."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

from tests.support.harness import browser

_PACKAGE = importlib.util.find_spec("axe_core_python")
SCRIPT = _PACKAGE and _PACKAGE.origin and Path(_PACKAGE.origin).with_name("axe.min.js")
"""The program that finds what keeps people from using a page; None: it is not there."""

DARK = "--blink-settings=preferredColorScheme=0"
WIDTHS = (420, 1200)
"""Of a phone and of a screen. A window is never narrower than 500 pixels, a frame may be."""

_HEARD = """<!doctype html><body>{frames}<script>
var seen = [];
addEventListener("message", function (event) {{
  seen.push(event.data);
  document.body.setAttribute("data-seen", JSON.stringify(seen));
}});</script></body>"""


def heard(folder: Path, pages: Sequence[str], *, dark: bool) -> list[dict[str, Any]]:
    """What pages of a folder post to who shows them, each narrow and wide.

    The program is `axe.js` in the folder.
    """
    assert isinstance(SCRIPT, Path)
    (folder / "axe.js").write_bytes(SCRIPT.read_bytes())
    frames = "".join(
        f'<iframe src="{page}" title="{page} {width}"'
        f' style="border:0;width:{width}px;height:900px"></iframe>'
        for page in pages
        for width in WIDTHS
    )
    (folder / "frames.html").write_text(_HEARD.format(frames=frames), "utf-8")
    flags = ["--window-size=1400,1000", *([DARK] if dark else [])]
    url = (folder / "frames.html").as_uri()
    done = browser.dom(url, *flags, milliseconds=120_000)
    seen = json.loads(unescape(done.split('data-seen="')[1].split('"')[0]))
    assert sorted(one["width"] for one in seen) == sorted(WIDTHS * len(pages))
    return seen
