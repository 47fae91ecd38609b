"""Pages of the documentation as programs: their fenced blocks, run in order.

The info string of a block says what it is:

    console          `$ command` lines with the output that is expected below each; `> ` goes on
    sh               a script that must end well
    sql [ROLE]       statements, run as ROLE, else as the page's own role
    python           a program
    yaml [NAME]      a policy, or a part of one with the key `hierarchy`; NAME writes it to a file
    ... no-run       looked at, not run
    text, csv, json  not run

An HTML comment `<!-- test LANGUAGE ...` holds a block that the reader does not see.

Expected output is compared line by line. Blanks and ruled lines count as one blank or rule
whatever their length, empty lines do not count, `...` in a line stands for anything, a line `...`
for any lines. `[exit N]` as the last line is the expected exit code, else it is 0.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

RUN = {"console", "sh", "sql", "python", "yaml"}
SHOWN = {"text", "csv", "json", "dockerfile", "toml"}
TIMEOUT = 180  # seconds per command

_BLOCK = re.compile(
    r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```\s*$"
    r"|^<!-- test (?P<hidden>[^\n]*)\n(?P<hidden_text>.*?)^-->\s*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first line of text in the page, from 1."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int

    @property
    def runs(self) -> bool:
        return self.language in RUN and "no-run" not in self.words


@dataclass(frozen=True)
class Command:
    """One `$ command` and the lines below it."""

    text: str
    expected: tuple[str, ...]


def blocks(page: str) -> list[Block]:
    found: list[Block] = []
    for match in _BLOCK.finditer(page):
        info = match["info"] if match["info"] is not None else match["hidden"]
        text = match["text"] if match["text"] is not None else match["hidden_text"]
        language, *words = info.split() or [""]
        line = page.count("\n", 0, match.start()) + 2
        found.append(Block(language, tuple(words), text, line))
    return found


def commands(text: str) -> list[Command]:
    found: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1][0].append(line[2:])
        elif found:
            found[-1][1].append(line)
        else:
            raise ValueError(f"output before any command: {line}")
    return [Command("\n".join(lines), tuple(expected)) for lines, expected in found]


def _plain(line: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[─-]{3,}", "───", line)).strip()


def _pattern(line: str) -> str:
    if line == "...":
        return r"(?:[^\n]*\n)*?"
    return ".*?".join(re.escape(part) for part in line.split("...")) + r"\n"


def matches(expected: list[str], output: str) -> bool:
    """Whether the output is what a page shows."""
    wanted = [line for line in map(_plain, expected) if line]
    got = [line for line in map(_plain, output.splitlines()) if line]
    return (
        re.fullmatch("".join(map(_pattern, wanted)), "".join(f"{line}\n" for line in got))
        is not None
    )


class Shell:
    """One bash for a page, so that folders and variables stay from command to command."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, text: str) -> tuple[str, int]:
        """Output (both streams) and exit code."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        mark = uuid.uuid4().hex
        self._bash.stdin.write(f"{{ {text}\n}} </dev/null\nprintf '\\n{mark} %s\\n' $?\n")
        self._bash.stdin.flush()
        previous = signal.signal(signal.SIGALRM, self._give_up)
        signal.alarm(TIMEOUT)
        try:
            lines: list[str] = []
            for line in self._bash.stdout:
                if line.startswith(mark):
                    return "".join(lines), int(line.split()[1])
                lines.append(line)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
        raise AssertionError(f"the shell ended in: {text}\n{''.join(lines)}")

    def _give_up(self, number: int, frame: object) -> None:
        os.killpg(self._bash.pid, signal.SIGKILL)

    def close(self) -> None:
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.close()
        self._bash.wait(30)
        self._bash.stdout.close()


def check(command: Command, output: str, code: int) -> str | None:
    """What is wrong with the outcome of a command, or None."""
    expected = list(command.expected)
    wanted = 0
    if expected and (found := re.fullmatch(r"\[exit (\d+)\]", expected[-1].strip())):
        wanted = int(found[1])
        expected.pop()
    if code != wanted:
        return f"$ {command.text}\nexit code {code}, expected {wanted}; output:\n{output}"
    if any(line.strip() for line in expected) and not matches(expected, output):
        return f"$ {command.text}\nprinted\n{output}\nthe page shows\n{chr(10).join(expected)}"
    return None
