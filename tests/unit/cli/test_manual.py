"""The manual page, and completion of the shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from pganon.cli import manual
from pganon.cli.main import application

PAGE = manual.page()


def test_every_command_and_option_is_in_the_page() -> None:
    text = re.sub(r"\\f[BIR]|\\&", "", PAGE).replace(r"\-", "-")
    sections = dict(re.findall(r"^\.SS (.+)\n((?:(?!\.SS ).*\n)*)", text, re.MULTILINE))
    commands = dict(manual._commands(application(), "pganon"))
    assert set(sections) == set(commands)
    for path, command in commands.items():
        assert command.help.split()[0] in sections[path]
        for parameter in command.params:
            for name in parameter.opts if parameter.param_type_name == "option" else ():
                assert name in sections[path], (path, name)


def test_no_line_is_taken_for_a_request() -> None:
    requests = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I"}
    lines = [line for line in PAGE.splitlines() if line.startswith((".", "'"))]
    assert {line.split()[0] for line in lines} == requests
    assert manual._text(".git - a 'b' \\n").startswith(r"\&.git \- a")
    assert manual._text("\\n") == r"\en"


def test_groff_reads_it() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff was not found")
    command = ["groff", "-man", "-Tutf8", "-ww", "-z"]
    done = subprocess.run(command, input=PAGE, capture_output=True, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "found"), [("pganon ver", "verify"), ("pganon extension b", "build")]
)
def test_completion(words: str, found: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from pganon.cli.main import main; main()"],
        env={
            **os.environ,
            "_PGANON_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [found]
