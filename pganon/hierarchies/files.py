"""Files that a policy names, checked without a database."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.errors import PolicyError, PreconditionError, Problem
from pganon.hierarchies.build import Build
from pganon.hierarchies.rows import file_rows
from pganon.identifiers import QualifiedName, quote
from pganon.policy.hierarchies import CsvHierarchy
from pganon.policy.loader import LoadedPolicy


def check_files(loaded: LoadedPolicy) -> None:
    """Read every file as a run would.

    Raises:
        PolicyError: with every file that cannot be used, at its column.
    """
    problems = list(_problems(loaded))
    if problems:
        raise PolicyError(problems, file=loaded.file)


def _problems(loaded: LoadedPolicy) -> Iterator[Problem]:
    for name, column in loaded.policy.columns.items():
        hierarchy = column.hierarchy
        if not isinstance(hierarchy, CsvHierarchy):
            continue
        build = Build(name, lambda state: QualifiedName("", ""), "text", quote(name))
        try:
            file_rows(
                build, hierarchy.csv, loaded.base_dir, sep=hierarchy.sep, header=hierarchy.header
            )
        except PreconditionError as error:
            yield loaded.lines.problem(("columns", name, "hierarchy"), error.message, error.hint)
