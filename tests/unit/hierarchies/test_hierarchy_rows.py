"""Rows of hierarchies from files and ordered lists; no database."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PreconditionError
from pganon.hierarchies import has_ranges, hierarchy_steps, rows
from pganon.hierarchies.build import Build
from pganon.hierarchies.rows import file_rows, order_rows
from pganon.policy.hierarchies import (
    CsvHierarchy,
    DateHierarchy,
    InlineHierarchy,
    IntervalHierarchy,
    PrefixHierarchy,
)
from pganon.sqltools import render
from pganon.steps import CreateTable, State


def values(state: State):
    return state.work("values")


BUILD = Build("q0", values, "text", "education")


def read(folder: Path, content: str | bytes, **options):
    data = content.encode() if isinstance(content, str) else content
    (folder / "h.csv").write_bytes(data)
    return file_rows(BUILD, "h.csv", folder, **options)


@pytest.mark.parametrize("sep", [";", ",", "\t", "|"])
def test_separator_is_detected(tmp_path, sep):
    content = f"a b{sep}c{sep}*\nd e{sep}c{sep}*\n"
    assert read(tmp_path, content) == [("a b", "c", "*"), ("d e", "c", "*")]


def test_separator_of_consistent_lines_wins_over_characters_in_labels(tmp_path):
    assert read(tmp_path, "a,b;c;*\nd;e;*\n") == [("a,b", "c", "*"), ("d", "e", "*")]
    assert read(tmp_path, '17,"[15; 20[",*\n20,"[20; 25[",*\n')[0] == ("17", "[15; 20[", "*")


def test_ragged_rows_quotes_bom_blank_lines_and_windows_ends(tmp_path):
    content = b'\xef\xbb\xbfa;x;*\r\n\r\n"b;""c""";*;\r\nd;*\r\n'
    assert read(tmp_path, content) == [("a", "x", "*"), ('b;"c"', "*"), ("d", "*")]


def test_given_separator_and_header(tmp_path):
    assert read(tmp_path, "v:g\na;b:*\n", sep=":", header=True) == [("a;b", "*")]


def test_empty_text_is_a_value(tmp_path):
    assert read(tmp_path, ";unknown;*\na;b;*\n")[0] == ("", "unknown", "*")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"M\xfcnchen;*\n", "not UTF-8"),
        (b"a;\x00;*\n", "not a text file"),
        (b'"a;b;*\nc;d;*\n', "not a readable CSV"),
        (b";".join([b"a"] * 100), "more than 64 levels"),
    ],
)
def test_unusable_file(tmp_path, content, message):
    with pytest.raises(PreconditionError, match=message) as caught:
        read(tmp_path, content)
    assert "column education: " in caught.value.message


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (
            "Lima;Peru;*\nCusco;Peru;*\n\nOslo,Norway,*\nBergen,Norway,*\n",
            "under another root than the others: lines 4, 5",
            'write ";" between',
        ),
        ("a\tx\t*\nb\tx\t*\nc;x;*\n", "others: line 3", "write a tab between"),
        ("city;country;all\nLima;Peru;*\nCusco;Peru;*\n", "others: line 1", "header: true"),
        ("a;*\nb;;*\n", "an empty label between value and top: line 2", "repeat the label below"),
        ("a;x;*\nb;x;*\na;y;*\n", "in a line before: line 3", "one row"),
        ("a;x;p;*\nb;x;q;*\nc;x;r;*\n", "in a line before: lines 2, 3", "one label"),
        ("a;b;*\nc;b;*\nb;a;*\n", "for different groups .*: lines 1, 3", "in that group itself"),
        ("a\nb\n", "has only one level", "separator"),
        ("".join(f"{n};x;{n}\n" for n in range(9)), "lines 2, 3, 4, 5, 6 and 3 more", "the same"),
    ],
)
def test_file_that_is_no_tree(tmp_path, content, message, hint):
    """Lines are named, and no label."""
    with pytest.raises(PreconditionError, match=message) as caught:
        read(tmp_path, content)
    assert hint in caught.value.hint


def test_file_that_is_a_tree(tmp_path):
    assert len(read(tmp_path, "Misc;Other;*\nOther;Other;*\nOther;Other;*\nx;*\n*\n")) == 5
    assert len(read(tmp_path, "l1;l2;l3\na;x;*\n", header=True)) == 1


def test_file_of_empty_cells(tmp_path):
    for options in ({"sep": ";"}, {"sep": ";", "header": True}):
        with pytest.raises(PreconditionError, match="has no rows"):
            read(tmp_path, ";;\n", **options)


def test_missing_file_and_folder(tmp_path):
    for path in ("none.csv", "."):
        with pytest.raises(PreconditionError, match="there is no file"):
            file_rows(BUILD, path, tmp_path)


def test_file_over_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MAX_FILE_BYTES", 3)
    with pytest.raises(PreconditionError, match="is larger than"):
        read(tmp_path, "a;b;*\n")


def test_order_groups_neighbours():
    assert order_rows(list("abcde"), [2, 2]) == [
        ("a", "a..b", "a..d", "*"),
        ("b", "a..b", "a..d", "*"),
        ("c", "c..d", "a..d", "*"),
        ("d", "c..d", "a..d", "*"),
        ("e", "e", "e", "*"),
    ]
    assert order_rows(list("abc"), [5]) == [("a", "a..c"), ("b", "a..c"), ("c", "a..c")]


@given(st.integers(1, 40), st.lists(st.integers(2, 4), min_size=1, max_size=4))
def test_order_is_a_tree(count, fanout):
    tree = order_rows([f"v{i}" for i in range(count)], fanout)
    assert len({row[-1] for row in tree}) == 1
    for level in range(len(tree[0]) - 1):
        parents = {(row[level], row[level + 1]) for row in tree}
        assert len(parents) == len({label for label, _ in parents})


@pytest.mark.parametrize(
    ("hierarchy", "kind", "message"),
    [
        (IntervalHierarchy(intervals=(5,)), "text", "intervals are for numbers"),
        (IntervalHierarchy(intervals=(5,)), "date", "intervals are for numbers"),
        (DateHierarchy(date=("month",)), "bigint", "for dates"),
        (PrefixHierarchy(prefix=(2,)), "bigint", "prefix is for text"),
        (PrefixHierarchy(prefix=(2,)), "date", "prefix is for text"),
    ],
)
def test_form_must_fit_the_type(hierarchy, kind, message):
    with pytest.raises(PreconditionError, match=message) as caught:
        hierarchy_steps("q0", hierarchy, values, kind, Path(), "c")
    assert caught.value.hint


def test_prefix_of_numbers_names_the_way_out():
    with pytest.raises(PreconditionError) as caught:
        hierarchy_steps("q0", PrefixHierarchy(prefix=(2,)), values, "integer", Path(), "zip")
    assert "type: categorical" in (caught.value.hint or "")


def test_steps_are_pure_and_named_once(tmp_path):
    (tmp_path / "h.csv").write_text("a;*\n")
    made = [
        hierarchy_steps("q0", CsvHierarchy(csv="h.csv"), values, "text", tmp_path, "c")
        for _ in range(2)
    ]
    names = [step.name for step in made[0]]
    assert len(set(names)) == len(names)
    assert all(name.startswith("tree_q0_") for name in names)
    sql = [
        [render(step.select(State(7))) for step in steps if isinstance(step, CreateTable)]
        for steps in made
    ]
    assert sql[0] == sql[1]
    assert all('"pganon_work"."r7_' in text for text in sql[0])


def test_ranges_are_told_from_labels():
    assert has_ranges(IntervalHierarchy(intervals=(5,)))
    assert not has_ranges(InlineHierarchy.model_validate({"inline": [["a", "*"]]}))
