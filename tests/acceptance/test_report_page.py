"""Pages in Chromium: they load nothing, fit wide and narrow screens, and shut nobody out."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from pganon.report.comparison.page import page as comparison_page
from pganon.report.document import document
from pganon.report.page import page
from pganon.report.readers.document import document as readers_document
from pganon.report.readers.page import page as readers_page
from tests.support.harness import axe
from tests.support.harness.browser import FLAGS, PROGRAM
from tests.support.sources import pages as kept
from tests.support.sources.comparisons import candidate, check, comparison, figures, of_adult
from tests.support.sources.reports import ATTACKED, collected, event
from tests.unit.report.test_readers_edition import COLUMNS, column, seen

NAME = "a_very_long_name_without_any_blank_" * 3
LARGEST = 300_000
"""Bytes of a page."""

FRAMES = """<!doctype html><body style="margin:0">{frames}<script>
addEventListener("load", async function () {{
  var seen = [];
  for (var frame of document.querySelectorAll("iframe")) {{
    var fonts = [...(await frame.contentDocument.fonts.ready)].map(function (font) {{
      return font.family.replaceAll('"', "") + " " + font.status;
    }});
    var page = frame.contentDocument.documentElement;
    var style = getComputedStyle(page.ownerDocument.body);
    var loaded = frame.contentWindow.performance.getEntriesByType("resource").length;
    var columns = 0;
    for (var row of page.querySelectorAll("table:not(.r) thead tr")) {{
      var heads = [...row.children].filter(function (one) {{ return one.offsetWidth > 1; }});
      columns = Math.max(columns, heads.length);
    }}
    seen.push([page.clientWidth, page.scrollWidth, loaded, columns, style.backgroundColor, fonts]
      .join(";"));
  }}
  document.body.setAttribute("data-seen", seen.join("|"));
}});</script></body>"""
"""A window is never narrower than 500 pixels, so pages are shown in frames."""

AUDIT = """<script src="axe.js"></script><script>
function light(colour) {
  var parts = colour.match(/[\\d.]+/g).slice(0, 3).map(function (part) {
    var share = part / 255;
    return share <= 0.03928 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05;
}
addEventListener("load", function () {
  document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  var paper = light(getComputedStyle(document.body).backgroundColor);
  var contrasts = [...document.querySelectorAll("svg text")].map(function (one) {
    var ink = light(getComputedStyle(one).fill);
    return ink > paper ? ink / paper : paper / ink;
  });
  axe.run(document).then(function (found) {
    var seen = {width: innerWidth, passes: found.passes.length, contrast: Math.min(...contrasts)};
    for (var kind of ["violations", "incomplete"]) {
      seen[kind] = found[kind].map(function (rule) {
        return [rule.id, rule.nodes.map(function (node) { return node.html; })];
      });
    }
    parent.postMessage(seen, "*");
  });
});</script></body>"""
"""Text of drawings, whose contrast axe-core leaves open, is measured against the page."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.primary_server_only,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here"),
]


def _pages() -> dict[str, str]:
    events = [event(n, "released", n, row_count=n) for n in range(1, 9)]
    events.append(event(9, "attacked", 1, **ATTACKED))
    file = {"file": NAME, "view": NAME, "rows": 9, "sha256": "ab" * 32}
    events.append(event(10, "exported", 1, **file))
    checks = [check(NAME, f"{n}{NAME}", NAME, ">=", 4) for n in range(4)]
    made = candidate(
        13, {"name": "mondrian", "option": NAME}, varied={NAME: 5}, figures=figures(verified=checks)
    )
    return {
        "report": page(document(collected(readers=[NAME], events=events))),
        "readers": readers_page(
            readers_document(seen(release=NAME, columns=[*COLUMNS, column(NAME, NAME, "set")]))
        ),
        "comparison": comparison_page(comparison(*of_adult(), made, release=NAME)),
        **{f"kept_{name}": html for name, html in kept.pages().items()},
    }


@pytest.mark.parametrize("width", [420, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_and_load_nothing(tmp_path: Path, width: int, dark: bool):
    pages = _pages()
    frames = ""
    for name, html in pages.items():
        assert len(html.encode()) < LARGEST
        (tmp_path / f"{name}.html").write_text(html)
        style = f"border:0;width:{width}px;height:900px"
        frames += f'<iframe src="{name}.html" style="{style}"></iframe>'
    (tmp_path / "frames.html").write_text(FRAMES.format(frames=frames))
    assert PROGRAM is not None
    done = subprocess.run(
        [
            PROGRAM,
            *FLAGS,
            "--virtual-time-budget=2000",
            *([axe.DARK] if dark else []),
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1400,1000",
            "--dump-dom",
            (tmp_path / "frames.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    seen = done.stdout.split('data-seen="')[1].split('"')[0].split("|")
    assert len(seen) == len(pages)
    for one in seen:
        shown, needed, loaded, columns, colour, fonts = one.split(";")
        assert fonts == "Report Sans loaded,Report Serif loaded"
        assert (int(shown), int(loaded)) == (width, 0)
        assert int(needed) <= width
        assert int(columns) <= (3 if width == 420 else 12)
        assert colour == ("rgb(20, 23, 27)" if dark else "rgb(252, 251, 248)")


@pytest.mark.skipif(axe.SCRIPT is None, reason="axe-core-python is not installed")
@pytest.mark.parametrize("dark", [False, True])
def test_pages_shut_nobody_out(tmp_path: Path, dark: bool):
    """No rule of axe-core is broken. Pages are without their policy, which keeps it out, too."""
    pages = _pages()
    for name, html in pages.items():
        assert html.count("</body>") == 1
        audited = re.sub(r"<meta http-equiv=.*", "", html).replace("</body>", AUDIT)
        (tmp_path / f"{name}.html").write_text(audited)
    seen = axe.heard(tmp_path, [f"{name}.html" for name in pages], dark=dark)
    for one in seen:
        assert one["violations"] == []
        assert [rule for rule, _ in one["incomplete"]] in ([], ["color-contrast"])
        for _, left_open in one["incomplete"]:
            assert [html for html in left_open if not html.startswith("<text")] == []
        assert one["contrast"] is None or one["contrast"] >= 4.7
        assert one["passes"] > 20
