"""Every list of models and methods that is written by hand has all of the one registry."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from pganon.loading import known
from pganon.methods import registry
from pganon.methods.registry import OWN, methods
from pganon.privacy.declaration import PrivacyModel
from pganon.privacy.models import MODELS
from tests.mutate import ROOT, TARGETS
from tests.support.harness import plans
from tests.support.sources.every_model import EVERY

NAMES = list(OWN)
WORDS = list(known().models)
DOCS = Path(__file__).parents[2] / "docs/reference"


def test_models_and_methods_have_a_policy_in_the_tests() -> None:
    assert sorted(plans.METHODS) == sorted(NAMES)
    assert [*EVERY, "event_share"] == WORDS  # which is about several tables


def test_generic_code_names_no_method() -> None:
    """A text that names one is in the folder of its family, or in the registry; policies
    shown as examples are not."""
    families = {name: _family(_options_file(name)) for name in NAMES}
    listing = {Path(registry.__file__)}
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, families))})(?!\w)")
    wrong = [
        f"{path}:{text.lineno}: {name}"
        for path in sorted({*(ROOT / "pganon").rglob("*.py")} - listing)
        for text in _texts(ast.parse(path.read_text()))
        if "method: {name:" not in text.value
        for name in named.findall(text.value)
        if not path.is_relative_to(families[name])
    ]
    assert wrong == []


def _options_file(name: str) -> Path:
    return Path(inspect.getfile(methods()[name].options))


def _family(path: Path) -> Path:
    """The folder of the family that a module is in."""
    methods = ROOT / "pganon" / "methods"
    return methods / path.relative_to(methods).parts[0]


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """Texts that are values, not documentation."""
    described = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str()) if node not in described:
                yield node


def test_methods_are_under_their_names() -> None:
    assert {name: methods()[name].name for name in NAMES} == {name: name for name in NAMES}


def test_every_model_says_what_is_measured() -> None:
    assert {type(model) for model in MODELS} == {type(PrivacyModel)}
    assert all(model.measures is not PrivacyModel.measures for model in MODELS)


def read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def cells(page: str, heading: str) -> list[str]:
    """The names in the first cells of the first table below a heading."""
    below = read(page).split(f"{heading}\n", 1)[1]
    table = below[below.index("\n|") :]
    rows = table[: table.index("\n\n")].strip().splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]


def items(page: str, heading: str) -> list[str]:
    """What the items of the list below a heading begin with: names, or links to their sections."""
    below = read(page).split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    starts = re.findall(r"^- (.*?)(?::(?!\*)|$)", below, re.MULTILINE)
    return [named for start in starts for named in re.findall(r"(?<=`)\w+(?=`)|(?<=#)\w+", start)]


def test_pages_have_all_models_and_methods() -> None:
    assert sorted(items("models.md", "# Privacy models")) == sorted(WORDS)
    headings = re.findall(r"^## (\w+)$", read("models.md"), re.MULTILINE)
    assert sorted(headings) == sorted(WORDS)
    assert cells("policy.md", "\n## method") == NAMES
    assert sorted(items("models.md", "## Readers who compute the method")) == sorted(NAMES)


def test_steps_of_every_method_are_changed_once() -> None:
    """By `tests/mutate.py`: all modules beside the options of a method."""
    sources = [ROOT / path for target in TARGETS.values() for path in target.source]
    assert [path for path in sources if not path.exists()] == []
    folders = {_options_file(name).parent for name in NAMES}
    modules = {file for folder in folders for file in folder.glob("*.py")}
    changed = {file for file in modules for path in sources if file.is_relative_to(path)}
    assert {file.name for file in modules - changed} <= {"options.py"}
