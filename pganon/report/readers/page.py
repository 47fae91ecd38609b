"""The page of the edition for readers, made from its document alone."""

from __future__ import annotations

from pganon.report.charts import bars, risk
from pganon.report.figures import limit_words
from pganon.report.template import Document, render
from pganon.report.words import count, listed, percent, plain, sentence


def page(report: Document) -> str:
    """The page.

    Raises:
        PreconditionError: no_jinja2.
    """
    sizes, properties = report["class_sizes"]["release"], report["properties"]
    drawings = {
        "risk": risk.risk(report["risk"]),
        "sizes": bars.sizes(sizes, None) if sizes else None,
        "commonest": [bars.commonest(item) for item in report["sensitive"]],
    }
    name = f"{plain(properties['release'])}, version {properties['version']}"
    words = {
        "title": f"Report for readers: {name}",
        "known": listed(properties["known"]),
        "views": listed(report["views"]),
        "above": _above(report) if sizes else "",
        "risk": risk.finding(report["risk"]) if sizes else "",
        "sizes": f"Nobody is in a group of fewer than {count(sizes['smallest'])}" if sizes else "",
        "commonest": [
            f"On average {percent(item['mean'])} share the most common {plain(item['column'], 30)}"
            for item in report["sensitive"]
        ],
    }
    return render("readers.html.j2", report, drawings, words=words)


def _above(report: Document) -> str:
    above = report["class_sizes"]["release"]["above"]
    texts = [
        f"{count(held) if held else 'no'} {report['properties']['members']} have one above"
        f" {limit_words(name)}"
        for name, held in above.items()
    ]
    return sentence(f"{' and '.join(texts)}.")
