"""Files and texts: what is read, and where problems are said to stand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pganon.errors import PolicyError, Problem
from pganon.loading import known, load_policy
from pganon.policy.document import read_document
from pganon.policy.loader import MAX_BYTES
from pganon.policy.policy_class import policy_schema
from tests.unit.policy.examples import policy

GOOD = """\
release: adult
source: public.adult
where: age >= 18 and Country = 'DE'
columns:
  person: {role: identifying}
  age:
    role: quasi_identifying
    hierarchy: {intervals: [5, 10]}
  on: {role: quasi_identifying}
  no: {role: insensitive}
  "a.b": {role: insensitive}
  2020: {role: insensitive}
  null: {role: insensitive}
privacy:
  - {model: k_anonymity, k: 5}
  - model: k_anonymity
    k: 6
method: {name: mondrian}
"""
VALID = GOOD.replace("  - model: k_anonymity\n    k: 6\n", "")


def problems(text: str | Path) -> list[Problem]:
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    return list(caught.value.problems)


def test_names_of_columns_stay_texts() -> None:
    found = load_policy(VALID)
    assert list(found.policy.columns) == ["person", "age", "on", "no", "a.b", "2020", "null"]


def test_lines() -> None:
    found = load_policy(VALID)
    assert found.lines.of(("columns", "age", "hierarchy", "intervals")) == 8
    assert found.lines.of(("columns", "age", "hierarchy", "intervals", 1)) == 8
    assert found.lines.of(("columns", "age", "role")) == 7
    assert found.lines.of(("columns", "age", "weight")) == 6
    assert found.lines.of(("columns", "a.b")) == 11
    assert found.lines.of(("privacy", 0, "k")) == 15
    assert found.lines.of(("nowhere",)) == 1
    assert found.lines.problem(("columns", "a.b"), "wrong") == Problem("wrong", 'columns."a.b"', 11)


def test_a_problem_across_keys_has_its_line() -> None:
    (problem,) = problems(GOOD)
    assert (problem.field, problem.line) == ("privacy[1]", 16)


def test_every_problem_at_once(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        """\
release: adult
sourse: public.adult
columns:
  age: {role: quasi_identifyng}
  job: {role: sensitive, weight: 2}
  zip: {role: quasi_identifying, hierarchy: {intervals: [5, 7]}}
privacy:
  - {model: k_anonymity, k: "5"}
  - {model: t_closeness, column: jbo, t: 0.2}
method: {name: mondrain}
""",
        "utf-8",
    )
    with pytest.raises(PolicyError) as caught:
        load_policy(file)
    found = {(p.line, p.field): p.suggestion for p in caught.value.problems}
    assert found == {
        (1, "source"): "for example source: public.adult",
        (2, "sourse"): 'did you mean "source"?',
        (4, "columns.age.role"): 'did you mean "quasi_identifying"?',
        (5, "columns.job.weight"): "remove weight",
        (6, "columns.zip.hierarchy.intervals[1]"): "for example 10",
        (8, "privacy[0].k"): "write 5 without quotes",
        (9, "privacy[1].column"): 'did you mean "job"?',
        (10, "method.name"): 'did you mean "mondrian"?',
    }
    text = str(caught.value)
    assert text.startswith(f"{file}:1: source: is missing (for example")
    assert "pydantic" not in text
    assert "Input should" not in text


def test_duplicate_keys_name_both_lines() -> None:
    text = VALID.replace("  no:", "  age: {role: sensitive}\n  no:")
    (problem,) = problems(text)
    assert problem.field == "columns.age"
    assert problem.message == "written twice, on line 6 and on line 10"
    assert problem.line == 10
    data = json.dumps(policy(), indent=1).replace('"job": {', '"age": {}, "job": {')
    assert any("written twice" in p.message for p in problems(data))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("false", False), ("True", "True"), ("yes", "yes"), ("off", "off"),
        ("null", None), ("~", None), ("", None), ("5", 5), ("-5", -5), ("010", "010"),
        ("0x1F", "0x1F"), ("0o17", "0o17"), ("1:30", "1:30"), ("2020-01-01", "2020-01-01"),
        ("1.5", 1.5), ("1e3", 1000.0), (".5", ".5"), ("1_000", "1_000"), ("+5", "+5"),
        (".inf", ".inf"), ("'5'", "5"), ('"\\u00e9"', "é"), ("!!str 5", "5"),
    ],
)  # fmt: skip
def test_scalars(text: str, value: object) -> None:
    document = read_document(f"a: {text}\n")
    assert document.problems == []
    assert document.data == {"a": value}
    assert type(document.data["a"]) is type(value)


@pytest.mark.parametrize(
    ("text", "part", "line"),
    [
        ("\na: [1,\nb: 2\n", "not valid YAML", 2),
        ("a: b: c\n", "not valid YAML", 1),
        ("a:\n\tb: 1\n", "not valid YAML", 2),
        ("a: 1\n---\nb: 2\n", "not valid YAML", 2),
        ("a: *x\n", "not valid YAML", 1),
        ("\n", "the file is empty", None),
        ("# nothing\n", "the file is empty", None),
        ("- a\n- b\n", "is a mapping", None),
        ("a: !!python/object:os.system x\n", "the tag", 1),
        ("a: !!int x\n", "the tag", 1),
        ("a: !!binary aGk=\n", "the tag", 1),
        ("? [a, b]\n: 1\n", "a key must be a plain word", 1),
        ("a: \x07\n", "control character", 1),
        ("a: &x 1\nb: [" + "*x," * 21 + "]\n", "more than 20 aliases", 2),
        ("a: &x [*x]\n", "nested more than", 1),
        ("a: " + "[" * 150 + "]" * 150 + "\n", "nested more than", 1),
        ("a: " + "[" * 5000 + "]" * 5000 + "\n", "nested more than", None),
        ("{" + '"a":[' * 3000 + "]" * 3000 + "}\n", "nested more than", None),
    ],
)
def test_texts_that_are_no_policy(text: str, part: str, line: int | None) -> None:
    found = problems(text)
    assert any(part in p.message for p in found), found
    if line is not None:
        assert any(p.line == line for p in found)


def test_alias_bomb() -> None:
    text = "a0: &a0 [x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [*a{i - 1},*a{i - 1},*a{i - 1},*a{i - 1}]\n" for i in range(1, 12)
    )
    assert "aliases" in problems(text)[0].message


def test_a_few_aliases_are_fine() -> None:
    text = VALID.replace("privacy:\n  - {", "privacy:\n  - &k {")
    assert load_policy(text).policy == load_policy(VALID).policy
    text = VALID.replace("{role: identifying}", "&i {role: identifying}")
    text = text.replace("  no: {role: insensitive}", "  no: *i")
    assert load_policy(text).policy.columns["no"].role == "identifying"


def test_json(tmp_path: Path) -> None:
    text = json.dumps(policy(), indent="\t")
    by_content = load_policy(text)
    file = tmp_path / "p.json"
    file.write_text(text)
    assert load_policy(file).policy == by_content.policy
    assert by_content.lines.of(("columns", "age", "role")) == 9
    escaped = json.dumps(policy(release="😀é"), ensure_ascii=True)
    assert load_policy(escaped).policy.release == "😀é"
    file.write_text('{"release": "x",\n "source" "y"}')
    (problem,) = problems(file)
    assert problem.message.startswith("not valid JSON")
    assert problem.line == 2
    file.write_text("release: x\n")
    assert problems(file)[0].message.startswith("not valid JSON")


def test_flow_yaml_that_is_no_json() -> None:
    text = "{release: a, source: b, columns: {c: {role: quasi_identifying}},\n"
    text += "privacy: [{model: k_anonymity, k: 2}], method: {name: mondrian}}"
    assert load_policy(text).policy.release == "a"


def test_files(tmp_path: Path) -> None:
    def message(path: Path | str) -> str:
        (problem,) = problems(path)
        return problem.message

    assert message(tmp_path) == "is a folder, not a policy file"
    assert message(tmp_path / "missing.yaml") == "there is no such file"
    assert message("\x00") in ("there is no such file", "cannot be read: bad path")
    assert "cannot be read" in message("x" * 5000) or "no such file" in message("x" * 5000)
    file = tmp_path / "p.yaml"
    file.write_bytes(b"")
    assert message(file) == "the file is empty"
    file.write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    assert message(file) == "is not a text in UTF-8"
    file.write_bytes(b"a\x00b")
    assert message(file) == "is not a text file"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    assert message(file) == "is larger than 1 MiB"
    file.write_bytes(b"\xef\xbb\xbf" + VALID.replace("\n", "\r\n").encode())
    assert load_policy(file).policy == load_policy(VALID).policy
    assert load_policy(str(file)).base_dir == tmp_path
    os.mkfifo(tmp_path / "fifo")
    assert message(tmp_path / "fifo") == "is not a plain file"


def test_long_values_are_not_echoed() -> None:
    text = VALID.replace("release: adult", "release: [" + "secret, " * 500 + "]")
    assert "secret" not in str(problems(text))
    text = VALID.replace("role: identifying", "role: " + "x" * 5000)
    assert all(len(p.message) < 300 for p in problems(text))


def test_where_is_checked() -> None:
    (problem,) = problems(VALID.replace("age >= 18", "age > (select 1)"))
    assert (problem.field, problem.line) == ("where", 3)
    assert problem.message == "a sub-select is not allowed"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("role", "model", "name", "k", "column", "hierarchy", "csv", "set", "public"),
                    *("x", "when", "never", "min", "columns", "sensitive_tables", "level"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("release", "source", "columns", "privacy", "method", "publish", "individual"),
                *("exclusions", "z"),
            ]
        ),
        ANYTHING,
    )
)
@pytest.mark.slow
def test_no_input_breaks_the_loader(changes: dict[str, object]) -> None:
    text = json.dumps({**policy(), **changes})
    found: PolicyError | None = None
    try:
        load_policy(text)
    except PolicyError as error:
        found = error
    if found is not None:
        assert found.problems
        assert all(p.message for p in found.problems)
        assert "pydantic" not in str(found)
        assert "Input should" not in str(found)


@settings(deadline=None)
@given(st.text(alphabet="ab:{}[]&*!|>-\n \t#'\"?,%@`~0", max_size=40))
def test_no_text_breaks_the_loader(text: str) -> None:
    with pytest.raises(PolicyError):
        load_policy(text + "\n")


def test_schema() -> None:
    schema = policy_schema(known())
    assert schema["required"] == ["release", "privacy", "method"]
    assert schema["anyOf"] == [{"required": ["source", "columns"]}, {"required": ["tables"]}]
    assert schema["additionalProperties"] is False
    publish = {"schema", "readers", "keep", "reference", "labels", "approval", "review_by"}
    assert set(schema["$defs"]["Publish"]["properties"]) == publish
    json.dumps(schema)
