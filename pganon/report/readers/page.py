"""The page of the edition for readers, made from its document alone."""

from __future__ import annotations

from pganon.report.charts import bars, lines
from pganon.report.page import commonest, of_each_limit, required, smallest
from pganon.report.template import Document, render
from pganon.report.words import exactly, guess, listed, plain, sentence, the_columns


def page(report: Document) -> str:
    """The page.

    Raises:
        PreconditionError: no_jinja2.
    """
    sizes, properties = report["class_sizes"]["release"], report["properties"]
    drawings = {
        "risk": lines.risk(report["risk"]),
        "sizes": bars.sizes(sizes, None, properties["members"]) if sizes else None,
        "commonest": [bars.commonest(item, properties["members"]) for item in report["sensitive"]],
    }
    name = f"{plain(properties['release'])}, version {properties['version']}"
    words = {
        "title": f"Report for readers: {name}",
        "guess": sentence(guess(alone=properties["alone"])),
        "known": the_columns(properties["known"]),
        "exactly": sentence(exactly(properties["known"])),
        "required": required(report["guarantee"]),
        "views": listed(report["views"]),
        "above": sentence(f"{of_each_limit(report, sizes['above'])}.") if sizes else "",
        "risk": lines.risk_title(report["risk"]) if sizes else "",
        "sizes": smallest(sizes) if sizes else "",
        "commonest": [commonest(item) for item in report["sensitive"]],
    }
    return render("readers.html.j2", report, drawings, words=words)
