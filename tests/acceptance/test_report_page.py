"""The page of a report in Chromium: it loads nothing, and fits wide and narrow screens."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pganon.report.document import document
from pganon.report.page import page
from tests.support.sources.reports import collected, event

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
)
DARK = "--blink-settings=preferredColorScheme=0"

FRAME = """<!doctype html><body style="margin:0"><iframe id="f" src="report.html"
style="border:0;width:{width}px;height:900px"></iframe><script>
document.getElementById("f").onload = function () {{
  var page = this.contentDocument.documentElement;
  var style = getComputedStyle(page.ownerDocument.body);
  var loaded = this.contentWindow.performance.getEntriesByType("resource").length;
  document.body.setAttribute("data-seen",
    [page.clientWidth, page.scrollWidth, loaded, style.backgroundColor].join(";"));
}};</script></body>"""
"""A window is never narrower than 500 pixels, so the page is shown in a frame."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.primary_server_only,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here"),
]


@pytest.mark.parametrize("width", [420, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_and_loads_nothing(tmp_path: Path, width: int, dark: bool):
    name = "a_very_long_name_without_any_blank_" * 3
    events = [event(n, "released", n, row_count=n) for n in range(1, 9)]
    found = collected(readers=[name], events=events)
    (tmp_path / "report.html").write_text(page(document(found)))
    (tmp_path / "frame.html").write_text(FRAME.format(width=width))
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER,
            *FLAGS,
            *([DARK] if dark else []),
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1400,1000",
            "--dump-dom",
            (tmp_path / "frame.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    seen = done.stdout.split('data-seen="')[1].split('"')[0]
    shown, needed, loaded, colour = seen.split(";")
    assert (int(shown), int(loaded)) == (width, 0)
    assert int(needed) <= width
    assert colour == ("rgb(20, 23, 27)" if dark else "rgb(252, 251, 248)")
