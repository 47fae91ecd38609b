"""A report under the headings of an authority: pointers into the same document, and nothing else.

What the steward has not written is open; nothing is invented in its place.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from pganon.report import template
from pganon.report.parts import Count, Part
from pganon.report.words import number, plain, sentence

Name = Literal["ema", "iso27559", "hipaa", "ico"]

_ASKED = ("title", "purpose", "legal_basis", "recipients", "conditions", "contact")


class Section(Part):
    """A heading: JSON pointers (RFC 6901) to its facts, and to what nobody has written yet."""

    heading: str
    facts: list[str]
    open: list[str]


class Authority(Part):
    """Sections of a form, and how many items are open in all."""

    form: Name
    title: str
    note: str
    sections: list[Section]
    open: Count


def under_headings(report: Mapping[str, Any], name: Name) -> dict[str, Any]:
    """What a document has in addition, for an authority."""
    text = files("pganon.report").joinpath("forms.toml").read_text("utf-8")
    form = tomllib.loads(text)[name]
    sections: list[Section] = []
    for heading, facts, steward in form["headings"]:
        written = [p for key in steward.split() for p in _below(report, f"/about/{key}")]
        left = [pointer for pointer in written if _blank(at(report, pointer))]
        found = [pointer for fact in facts.split() for pointer in _of_name(report, fact)]
        found += [pointer for pointer in written if pointer not in left]
        sections.append(Section(heading=heading, facts=found, open=left))
    items = {pointer for one in sections for pointer in one.open}
    told = {key: form[key] for key in ("title", "note")}
    return Authority(form=name, sections=sections, open=len(items), **told).document()


def at(report: Mapping[str, Any], pointer: str) -> Any:
    """What a pointer points to."""
    return template.at(report, pointer[1:].replace("/", "."))


@dataclass(frozen=True)
class Told:
    """A fact on the page: its name, lines, and small tables, whose heads may be empty."""

    label: str
    lines: Sequence[str] = ()
    tables: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]] = ()


def shown(report: Mapping[str, Any], missing: str) -> list[tuple[str, list[Told], list[str]]]:
    """Headings, each with its facts, and names of what is open."""
    return [
        (
            one["heading"],
            [_told(pointer, at(report, pointer), missing) for pointer in one["facts"]],
            [label(pointer) for pointer in one["open"]],
        )
        for one in report["authority"]["sections"]
    ]


def declared(about: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """What the steward wrote, and of the first questions of a board what he did not."""
    report = {"about": about}
    found = {p: at(report, p) for key in about for p in _below(report, f"/about/{key}")}
    return [
        (label(pointer), None if _blank(text) else _text(text))
        for pointer, text in found.items()
        if pointer.removeprefix("/about/") in _ASKED or not _blank(text)
    ]


def label(pointer: str) -> str:
    """`Class sizes, source` of `/class_sizes/source`."""
    parts = pointer.removeprefix("/about").split("/")
    named = ", ".join(_word(part) for part in parts if part and not part.isdecimal())
    return sentence(named.removesuffix(" iri"))


def _of_name(report: Mapping[str, Any], fact: str) -> Iterator[str]:
    pointer, _, name = fact.partition("=")
    if not name:
        yield pointer
    elif report[pointer.split("/")[1]] is None:
        yield f"/{pointer.split('/')[1]}"
    else:
        for place, one in enumerate(at(report, pointer)):
            if one.get("attack", one.get("name")).replace(" ", "_") == name:
                yield f"{pointer}/{place}"


def _below(report: Mapping[str, Any], pointer: str) -> list[str]:
    found = at(report, pointer)
    return [f"{pointer}/{key}" for key in found] if isinstance(found, dict) else [pointer]


def _blank(found: Any) -> bool:
    return found is None or (isinstance(found, str) and not found.strip())


_COLUMNS = {
    "access": "role because",
    "attributes": "column form lost exact width unit",
    "columns": "name role seen goes_out",
    "events": "at what by",
    "files": "name sha256 exported.at exported.by exported.view exported.rows",
    "findings": "attack column somebody release.share control.share difference.value gains",
    "guarantee": "name published sentence required measured",
    "questions": "somebody remains result",
    "outcome": "label figure note result",
    "subgroups": "column value others prosecutor.people prosecutor.mean prosecutor.p95",
    "versions": "version published_at released suppressed over_versions",
}
"""What a table has of a list, or of one of it. All else is elsewhere on the page."""


def _told(pointer: str, found: Any, missing: str) -> Told:
    name, kind = label(pointer), _kind(pointer)
    if isinstance(found, dict):
        leaves = [leaf for key, one in _picked(kind, found).items() for leaf in _leaves(key, one)]
        rows = [(sentence(_word(key)), _text(one)) for key, one in leaves if not _rows(one)]
        tables = [_table(key, one) for key, one in leaves if _rows(one)]
        return Told(name, tables=[([], rows), *tables])
    if _rows(found):
        return Told(name, tables=[_table(kind, found)])
    lines = found if isinstance(found, list) and found else [found]
    return Told(name, [missing if one is None else _text(one) for one in lines])


def _table(kind: str, found: Sequence[Any]) -> tuple[list[str], list[list[str]]]:
    """Without columns in which there is nothing."""
    rows = [_picked(kind, one) for one in found]
    full = [key for key in rows[0] if any(row[key] not in (None, "", []) for row in rows)]
    return [sentence(_word(key)) for key in full], [
        [_text(row[key]) for key in full] for row in rows
    ]


def _kind(pointer: str) -> str:
    return next(part for part in reversed(pointer.split("/")) if not part.isdecimal())


def _picked(kind: str, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is shown, by its name."""
    picked: dict[str, Any] = {}
    for path in _COLUMNS[kind].split() if kind in _COLUMNS else ():
        first, _, below = path.partition(".")
        one: Any = _word(found[first]) if first == "attack" else found[first]
        picked[f"{first}, {below}" if below else first] = one and one[below] if below else one
    return picked or found


def _leaves(key: str, found: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(found, dict):
        for below, one in found.items():
            yield from _leaves(f"{key}, {below}", one)
    elif found != "":
        yield key, found


def _rows(found: Any) -> bool:
    return isinstance(found, list) and bool(found) and isinstance(found[0], dict)


def _text(found: Any) -> str:
    """In one line."""
    match found:
        case None:
            return "\u2013"
        case bool():
            return "yes" if found else "no"
        case str():
            return plain(" ".join(found.split()), 2000)
        case dict():
            return ", ".join(f"{_word(key)} {_text(one)}" for key, one in found.items())
        case list():
            return "; ".join(map(_text, found)) or "none"
        case _:
            return number(found)


def _word(key: str) -> str:
    return key.replace("_", " ")
