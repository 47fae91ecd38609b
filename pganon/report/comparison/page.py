"""The page of a comparison, made from its document alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pganon.report.charts import svg
from pganon.report.charts.maps import mark, risk_map
from pganon.report.comparison.series import Series, named, reasons, rows, series_of
from pganon.report.template import Document, render
from pganon.report.words import count, listed, percent, plain, several


def page(found: Document) -> str:
    """The page.

    Raises:
        PreconditionError: no_jinja2.
    """
    candidates = found["candidates"]
    series = series_of(candidates)
    maps = _maps(found, series)
    asked = found["workload"]
    words = {
        "title": f"Comparison: {plain(found['release'])}",
        "candidates": several(len(candidates), "candidate"),
        "lead": " ".join(_lead(found)),
        "rows": rows(candidates, found["limit"]),
        "reasons": reasons(candidates),
        "maps": [(title, note) for title, note, _ in maps],
        "key": [one.name for one in series],
        "unmapped": _unmapped(candidates),
        "limit": percent(found["limit"]),
        "asked": f"{several(asked['queries'], 'random count')} with"
        f" {several(asked['predicates'], 'condition')}"
        + (" and one on a sensitive column" if asked["sensitive"] else ""),
    }
    drawings = {
        "maps": [drawing for _, _, drawing in maps],
        "key": [svg.symbol(mark(7, 7, one.style, full=True)) for one in series],
        "beaten": svg.symbol(mark(7, 7, 0, full=False)),
    }
    return render("comparison.html.j2", found, drawings, words=words)


def _maps(found: Document, series: Sequence[Series]) -> list[tuple[str, str, str]]:
    """Title, note and drawing: loss of every form by itself, and errors of all."""
    forms = list(dict.fromkeys(m.figures["form"] for one in series for m in one.marks))
    maps: list[tuple[str, str, str | None]] = []
    for form in forms:
        title = "Information lost" + (f" of {form}" if len(forms) > 1 else "")
        note = "0 %: every value is exact. 100 %: nothing is known."
        maps.append((title, note, risk_map(_of(form, series), "loss", "information lost")))
    asked = found["workload"]
    note = f"Half of {several(asked['queries'], 'random count')} are off by less."
    drawing = risk_map(series, "median_error", "error of half of the counts")
    maps.append(("Error of counts", note, drawing))
    return [(title, note, drawn) for title, note, drawn in maps if drawn is not None]


def _of(form: str, series: Sequence[Series]) -> list[Series]:
    parts = [
        Series(one.name, one.style, one.joined, [m for m in one.marks if m.figures["form"] == form])
        for one in series
    ]
    return [one for one in parts if one.marks]


def _lead(found: Document) -> list[str]:
    candidates = found["candidates"]
    having = [one for one in candidates if one["figures"]]
    if not having:
        return ["No candidate can be released: all were refused."]
    left = [one for one in candidates if one["verdict"] == "candidate"]
    limit = percent(found["limit"])
    all_of = several(len(candidates), "candidate")
    if not left:
        return [
            f"None of {all_of} remains: each has a highest chance to find a person above {limit},"
            " is beaten by another, or was refused."
        ]
    remain, its, it = ("remains", "its", "it") if len(left) == 1 else ("remain", "their", "them")
    texts = [
        f"{count(len(left))} of {all_of} {remain}: {its} highest chance to find a person is at most"
        f" {limit}, and no other beats {it}."
    ]
    unknown = [str(one["number"]) for one in left if one["figures"]["highest_risk"] is None]
    if unknown:
        texts.append(f"Of {listed(unknown)} no chance to find a person is measured.")
    answering = [one for one in left if one["figures"]["median_error"] is not None]
    if len(left) > 1 and answering:
        best = min(answering, key=lambda one: one["figures"]["median_error"])
        texts.append(
            f"Number {named(best)} answers best of these: half of the counts are off by less"
            f" than {percent(best['figures']['median_error'])}."
        )
    return texts


def _unmapped(candidates: Sequence[Mapping[str, Any]]) -> str:
    """Which candidates with figures are on no map, for want of a chance."""
    found = [
        str(one["number"])
        for one in candidates
        if one["figures"] and not one["figures"]["mean_risk"]
    ]
    if not found:
        return ""
    verb = "is" if len(found) == 1 else "are"
    return f"{listed(found)} {verb} on no map: of this form no chance to find a person is measured."
