"""Every task has a method, what it begins with loads, and the page on choosing says the same."""

from __future__ import annotations

import re

from pganon.loading import known
from pganon.policy.guess import keeps_records_together
from pganon.policy.registry import Registry
from pganon.policy.tasks import DECIDE, SEVERAL_RECORDS, TASKS
from tests.support.harness.tasks import PAGE, page


def test_the_page_has_the_table_of_the_code() -> None:
    assert PAGE.read_text() == page(), "run python -m tests.support.harness.tasks"


def test_every_task_has_one_method() -> None:
    declared = [start.task for options in known().methods.values() for start in options.starts]
    assert sorted(declared) == sorted(TASKS)
    assert list(known().tasks) == list(TASKS)


def test_tasks_of_refusals_have_methods_that_can_do_them() -> None:
    assert keeps_records_together(known().tasks[SEVERAL_RECORDS][0])
    assert "semi_sensitive" in known().tasks[DECIDE][0].roles
    assert known().method_for("unheard-of") is None


def test_of_several_methods_for_a_task_the_first_is_taken() -> None:
    first, _ = known().tasks["survey"]

    class Second(first):  # pyright: ignore[reportGeneralTypeIssues, reportUntypedBaseClass]
        pass

    registry = Registry({**known().methods, "second": Second}, ())
    assert registry.tasks["survey"][0] is first


def test_the_page_is_the_first_how_to_of_the_index() -> None:
    index = (PAGE.parents[1] / "index.md").read_text()
    assert re.findall(r"\(how-to/([\w-]+)\.md\)", index)[0] == PAGE.stem
