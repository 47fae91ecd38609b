"""What `make test` and `make test-slow` run, together and apart."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests.conftest import not_drawn, on_a_second_version
from tests.support.harness.cluster import named_majors

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text()
CLOCKS = re.compile(r"\b(perf_counter|monotonic|process_time|time\.time|default_timer)\b")
TESTS = Path(__file__).parents[1]


def expressions(target: str) -> list[Expression]:
    """What the target's runs of the whole suite select by."""
    lines = re.search(rf"^{target}:.*\n((\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert lines, target
    found = re.findall(r'\$\(PYTEST\) -m "([^"]+)"', lines[1])
    return [Expression.compile(one) for one in found]


def test_every_test_runs_in_one_of_both(collected: list[pytest.Item]) -> None:
    """And what is random in the second run of the slow ones, whether it is slow or not."""
    (fast,), (slow, random) = expressions("test"), expressions("test-slow")
    for item in collected:
        marks = _marks(item)
        runs = [one.evaluate(marks.__contains__) for one in (fast, slow, random)]
        assert runs[2] is not marks.isdisjoint({"random_tables", "hypothesis"}), item
        assert runs[0] + (runs[1] or (runs[2] and not runs[0])) == 1, item


def test_make_test_takes_one_case_of_every_test_on_a_server(collected: list[pytest.Item]) -> None:
    if named_majors():
        pytest.skip("named servers take part in every test")
    on_a_server = [item for item in collected if "server" in getattr(item, "fixturenames", ())]
    fast = [item.nodeid for item in on_a_server if "slow" not in _marks(item)]
    cases = Counter(name.partition("[")[0] for name in fast)
    assert {name: number for name, number in cases.items() if number > 1} == {}
    assert len(fast) < len(on_a_server) or not on_a_server


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


def test_a_second_version_has_all_cases_of_what_is_marked_and_one_of_everything_else(
    collected: list[pytest.Item],
) -> None:
    """Of the files that were asked for."""
    first, second = Counter[str](), Counter[str]()
    for item in collected:
        cases = second if on_a_second_version(item) else first
        cases[item.nodeid.partition("[")[0]] += 1
    every = {item.nodeid.partition("[")[0] for item in collected if "all_versions" in _marks(item)}
    assert {name for name, several in second.items() if several > 1} <= every
    found = {name: second[name] for name in every & second.keys()}
    assert found == {name: first[name] for name in found}


def test_slow_tests_that_are_drawn(collected: list[pytest.Item]) -> None:
    """One in three, with one case, fewer on a second version; what is not slow, random or marked
    stays."""
    drawn = _drawn_for("a commit", collected)
    assert drawn == _drawn_for("a commit", collected[::-1])
    assert {item for item in collected if not _may_be_left_out(item)} <= drawn
    cases = Counter(_test(item) for item in drawn if _may_be_left_out(item))
    assert set(cases.values()) <= {1}
    tests = {_test(item) for item in collected if _may_be_left_out(item)}
    for second, least, most in ((False, 0.25, 0.4), (True, 0.05, 0.2)):
        of_version = [test for test in tests if test[1] is second]
        if len(of_version) > 200:
            assert (
                least < len([test for test in of_version if test in cases]) / len(of_version) < most
            )


def test_every_case_is_drawn_for_some_commit(collected: list[pytest.Item]) -> None:
    """Of a hundred of few cases: to draw from all for so many commits takes long."""
    cases = Counter(map(_test, collected))
    few = (item for item in collected if _may_be_left_out(item) and cases[_test(item)] <= 3)
    some = sorted(few, key=lambda item: item.nodeid)[:100]
    drawn = set[pytest.Item]().union(*[_drawn_for(f"commit {i}", some) for i in range(500)])
    assert drawn == set(some)


@pytest.mark.slow
@pytest.mark.always
def test_what_is_run_whatever_is_drawn(tmp_path: Path) -> None:
    """Marks that plugins give, as that of Hypothesis, are there when tests are drawn."""
    (tmp_path / "test_drawn.py").write_text(DRAWN)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    found = subprocess.run(
        [*command, "-v", str(tmp_path)],
        cwd=TESTS.parent,
        env=os.environ
        | {"PGANON_TEST_DRAW": "4000000000", "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    run = re.findall(r"::(test_\w+(?:\[\w+\])?) PASSED", found.stdout)
    always = ["test_always[a]", "test_always[b]"]
    assert sorted(run) == [*always, "test_fast", "test_of_hypothesis", "test_random"]
    assert re.search("slow tests: one in 4000000000, drawn for commit", found.stdout)


DRAWN = """
import pytest
from hypothesis import given, strategies as st

def test_fast():
    pass

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.slow
@pytest.mark.always
@pytest.mark.parametrize("case", ["a", "b"])
def test_always(case):
    pass

@pytest.mark.slow
@pytest.mark.random_tables
def test_random():
    pass

@pytest.mark.slow
@given(st.integers())
def test_of_hypothesis(drawn):
    pass
"""


def _test(item: pytest.Item) -> tuple[str, bool]:
    return item.nodeid.partition("[")[0], on_a_second_version(item)


def _may_be_left_out(item: pytest.Item) -> bool:
    marks = _marks(item)
    return "slow" in marks and marks.isdisjoint({"always", "random_tables", "hypothesis"})


def _drawn_for(commit: str, items: list[pytest.Item]) -> set[pytest.Item]:
    return set(items) - set(not_drawn(items, 3, commit))


@pytest.mark.slow
def test_it_runs_without_the_plugin_for_several_processes() -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--collect-only", "-q", __file__]
    found = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


RANDOM = """
import os
import pytest
from hypothesis import given, strategies as st
from tests.support.harness.examples import examples

@examples(5)
@given(drawn=st.integers(0, 2**64))
def test_drawn(drawn):
    print("drawn", drawn)
    assert drawn < int(os.environ["MOST"])
"""


def _drawn(folder: Path, *profile: str, most: int) -> str:
    (folder / "test_random.py").write_text(RANDOM)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    found = subprocess.run(
        [*command, "-rP", *profile, str(folder)],
        cwd=TESTS.parent,
        env=os.environ
        | {"CI": "1", "MOST": str(most), "HYPOTHESIS_STORAGE_DIRECTORY": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return "\n".join(
        re.findall(r"^(?:drawn .*|.*@reproduce_failure.*|.*ed in .*)$", found.stdout, re.M)
    )


@pytest.mark.slow
def test_random_tests_run_with_the_same_examples_and_with_others(tmp_path: Path) -> None:
    """In `make test` and `make test-slow`; what fails can be repeated."""
    fresh = re.findall("--hypothesis-profile=[a-z]+", MAKEFILE)
    assert len(fresh) == 1
    same, others = ([_drawn(tmp_path, *p, most=2**65) for _ in "ab"] for p in ([], fresh))
    assert all("1 passed" in run and run.count("drawn") >= 5 for run in same + others)
    assert len({run.partition("1 passed")[0] for run in same + others}) == 3
    assert same[0].partition("1 passed")[0] == same[1].partition("1 passed")[0]
    assert "@reproduce_failure" in _drawn(tmp_path, *fresh, most=0)


def test_no_test_looks_at_the_clock() -> None:
    """A busy machine would fail it. Helpers wait, with limits that only what hangs can reach."""
    looking = [
        str(file.relative_to(TESTS))
        for file in TESTS.rglob("test_*.py")
        if file != Path(__file__) and CLOCKS.search(file.read_text())
    ]
    assert looking == []
