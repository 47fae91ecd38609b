"""The manual page of the program, from what its commands say about themselves.

`python -m pganon.cli.manual > pganon.1`
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from pganon.cli.main import application
from pganon.install.state import program_version


def page() -> str:
    """The page as roff, section 1."""
    app = application()
    lines = [
        f'.TH PGANON 1 "" "pganon {program_version()}" "User Commands"',
        ".SH NAME",
        r"pganon \- anonymized data releases, computed, verified and published in PostgreSQL",
        ".SH SYNOPSIS",
        r".B pganon",
        r".I COMMAND",
        r"[\fIOPTIONS\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(app.help),
        ".SH OPTIONS",
        *_options(app),
        ".SH COMMANDS",
    ]
    for path, command in _commands(app, "pganon"):
        lines += [f".SS {_text(path)}", *_paragraphs(command.help), *_options(command)]
    return "\n".join(lines) + "\n"


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        here = f"{path} {name}"
        if hasattr(command, "commands"):
            yield from _commands(command, here)
        else:
            yield here, command


def _paragraphs(text: str | None) -> Iterator[str]:
    for paragraph in (text or "").strip().split("\n\n"):
        yield ".PP"
        yield _text(" ".join(paragraph.split()))


def _options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        names = ", ".join(rf"\fB{_text(name)}\fR" for name in parameter.opts)
        yield ".TP"
        if parameter.param_type_name == "argument":
            yield rf"\fI{_text(_metavar(parameter))}\fR"
        else:
            value = (
                ""
                if getattr(parameter, "is_flag", False)
                else rf" \fI{_text(_metavar(parameter))}\fR"
            )
            yield names + value
        yield _text(" ".join((getattr(parameter, "help", None) or "").split())) or r"\&"


def _metavar(parameter: Any) -> str:
    return parameter.metavar or parameter.name.upper()


def _text(text: str) -> str:
    """As roff prints it: a backslash and a hyphen are its own, so is a period at the beginning."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write(page())
