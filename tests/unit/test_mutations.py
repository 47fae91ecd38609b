"""The command that changes steps once: what it changes, and what it calls noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutate import ROOT, TARGETS, Target, files, survivors
from tests.support.harness.mutations import mutations

MODULE = '''"""Nothing < of this is changed."""

_SQL = """
    select max(a.n) from a
    where a.n <= a.most
"""


def cut(width, most):
    """Where width < most."""
    purpose = "halves that are small and even"
    return (width, "select a.x from a where a.x < b.y", *most)


class Tree:
    def node(self, n: int = 1):
        def inner():
            return n - 7

        return inner() if n > 2 else 0

    def plain(self):
        return self

    def nothing(self):
        """Only said."""


def assumed():
    return 1
'''


def test_one_change_per_function(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(MODULE)
    found = mutations([tmp_path])
    assert [(m.where, m.before, m.after) for m in found] == [
        ("_SQL", "<=", "<"),
        ("cut", "<", "<="),
        ("Tree.node", ">", ">="),
    ]
    lines = MODULE.splitlines()
    for mutation in found:
        changed = mutation.of(MODULE).splitlines()
        different = [n for n, line in enumerate(lines, 1) if line != changed[n - 1]]
        assert different == [mutation.line]
        compile(mutation.of(MODULE), "module", "exec")
    assert "a.x <= b.y" in found[1].of(MODULE)


def test_lines_of_sql(tmp_path: Path) -> None:
    file = tmp_path / "function.sql"
    file.write_text("-- a < b\nSELECT sum(x) FROM t -- <\nWHERE a > b;\nCOMMENT ON t IS 'a < b';\n")
    found = mutations([file])
    assert [(m.line, m.before, m.after) for m in found] == [(2, "sum(", "max("), (3, ">", ">=")]


def test_there_is_something_to_change_and_to_run() -> None:
    for name, target in TARGETS.items():
        assert mutations(ROOT / path for path in target.source), name
        assert files(target.tests), name
    with pytest.raises(SystemExit, match="no test file"):
        files(["test_of_nothing"])


@pytest.mark.slow
def test_what_survives(tmp_path: Path) -> None:
    """A test is about one function, and none about the other."""
    for folder in ("pganon", "sql", "migrations", "tests/unit", "benchmarks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "pganon" / "__init__.py").write_text(
        "def known(n):\n    return n < 2\n\n\ndef unknown(n):\n    return n > 2\n"
    )
    (tmp_path / "tests/unit/test_it.py").write_text(
        "from pganon import known\n\n\ndef test():\n    assert not known(2)\n"
    )
    found = survivors(Target(["pganon"], ["test_it"]), root=tmp_path)
    assert [mutation.where for mutation in found] == ["unknown"]
    assert survivors(Target(["pganon"], ["test_it"]), only=" known", root=tmp_path) == []
    (tmp_path / "tests/unit/test_it.py").write_text("def test():\n    assert False\n")
    with pytest.raises(SystemExit, match="fail without any change"):
        survivors(Target(["pganon"], ["test_it"]), root=tmp_path)
