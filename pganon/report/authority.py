"""A report under the headings of an authority: pointers into the same document, and nothing else.

What the steward has not written is open; nothing is invented in its place.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
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


def shown(report: Mapping[str, Any], missing: str) -> list[tuple[str, Any, list[str]]]:
    """Headings, each with its facts as texts by their names, and names of what is open."""
    return [
        (
            one["heading"],
            [(label(p), list(_texts(at(report, p), missing))) for p in one["facts"]],
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


def _texts(found: Any, missing: str) -> Iterator[str]:
    if found is None:
        yield missing
    elif isinstance(found, list) and found:
        yield from map(_text, found)
    else:
        yield _text(found)


def _text(found: Any) -> str:
    """In one line; bins are drawn elsewhere on the page."""
    match found:
        case None:
            return "\u2013"
        case bool():
            return "yes" if found else "no"
        case str():
            return plain(" ".join(found.split()), 2000)
        case dict():
            held = {key: one for key, one in found.items() if one != ""}
            return ", ".join(
                f"{_word(key)} ({_text(one)})"
                if isinstance(one, dict | list)
                else f"{_word(key)}: {_text(one)}"
                for key, one in held.items()
            )
        case list():
            return "; ".join(map(_text, found)) or "none"
        case _:
            return number(found)


def _word(key: str) -> str:
    return key.replace("_", " ")
