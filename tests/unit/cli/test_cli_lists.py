"""Options that take a list: repeated, with commas, or both, they add up."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pganon import assessment
from pganon.cli import assess, common, main, manual
from pganon.errors import UsageError
from pganon.forms import request
from pganon.forms.request import parse_workload
from pganon.importing import files
from tests.support.harness.cli import pganon

LISTS = {
    "pganon assess --qi",
    "pganon assess --sensitive",
    "pganon compare --methods",
    "pganon compare --vary",
    "pganon compare --workload",
    "pganon import --columns",
    "pganon import --key",
    "pganon import --names",
    "pganon quasi --columns",
    "pganon run --workload",
}
"""Options whose value is a list with commas."""

WAYS = (["a,b,c"], ["a", "b", "c"], ["a", "b,c"], ["a, b", "c"])


def _options() -> dict[str, Any]:
    commands = manual._commands(main.application(), "pganon")
    return {
        f"{path} {parameter.opts[0]}": parameter
        for path, command in commands
        for parameter in command.params
        if parameter.param_type_name == "option"
    }


def test_no_list_forgets_what_was_given_before() -> None:
    options = _options()
    commas = re.compile(r"commas|\w,\w", re.ASCII)
    assert {name for name, option in options.items() if commas.search(option.help or "")} == LISTS
    for name, option in options.items():
        assert option.multiple == ("repeatable" in (option.help or "")), name
    assert all(options[name].multiple for name in LISTS)


def test_commas_are_parted_in_one_place() -> None:
    folder = Path(main.__file__).parent
    parts = re.compile(r"split\([\"'],|csv\.reader")
    assert [p.name for p in folder.glob("*.py") if parts.search(p.read_text())] == ["common.py"]


def test_names_add_up() -> None:
    for given in WAYS:
        assert common.names(given) == ["a", "b", "c"]
    assert common.names(['"a,b", c', '" d "', "e , f "]) == ["a,b", "c", " d ", "e", "f"]
    assert common.names(["", " "]) == []
    assert common.names(None) == []
    with pytest.raises(UsageError, match="names of columns"):
        common.names(["a\nb"])


@pytest.mark.parametrize("given", WAYS, ids=" and ".join)
def test_every_list_adds_up(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All that the commands hand on."""
    seen: dict[str, Any] = {}

    class Reached(Exception):
        pass

    def reach(*values: Any, **named: Any) -> Any:
        seen["values"], seen["named"] = values, named
        raise Reached

    def call(*arguments: str) -> None:
        assert pganon(*arguments).code == 4

    def repeated(option: str, texts: list[str]) -> list[str]:
        return [word for text in texts for word in (option, text)]

    class Connection:
        def __enter__(self) -> None:
            return None

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(common, "connect", lambda *_, **__: Connection())
    monkeypatch.setattr(assessment, "assess", reach)
    call("assess", "t", *repeated("--qi", given), *repeated("--sensitive", given))
    assert seen["values"] == ("t", ["a", "b", "c"], ["a", "b", "c"])
    monkeypatch.setattr(assessment, "quasi_identifiers", reach)
    call("quasi", "t", *repeated("--columns", given))
    assert seen["values"] == ("t", ["a", "b", "c"])
    monkeypatch.setattr(files, "import_file", reach)
    call("import", "t.csv", "t", *repeated("--names", given))
    assert seen["named"]["form"].names == ["a", "b", "c"]
    monkeypatch.setattr(request, "parse_workload", reach)
    call("run", "p.yaml", *repeated("--workload", given))
    assert [part.strip() for part in seen["values"][0].split(",")] == ["a", "b", "c"]


def test_nothing_is_required_twice() -> None:
    with pytest.raises(UsageError, match="k is required twice"):
        assess._requirements(["k=5", "k=2"])
    for twice in (("k=5", "k=5"), ("k=5", "k_anonymity=2")):
        with pytest.raises(UsageError, match="twice"):
            assess._requirements(twice)
    both = {"k_anonymity": 5.0, "t_closeness": 0.2}
    assert assess._requirements(["k=5", "t=0.2"]) == both
    with pytest.raises(UsageError, match="twice"):
        parse_workload("seed=1,seed=2")
