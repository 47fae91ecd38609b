"""Hints say where in a policy the lines belong that they propose."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from pganon.cli.failures import error_object
from pganon.errors import PolicyError, PrivacyRefusal, UsageError
from pganon.loading import known, policy_from
from pganon.policy.places import lines_in, place_of, placed
from tests.support.harness.codes import PAGE, trees
from tests.support.sources.reports import POLICY

PROPOSED = re.compile(
    r"\b(?:write|use|set|add|with|declare|choose|example) `?([a-z]\w*):(?=[ ]?[\[{\w])"
)
"""Lines that a text proposes, whatever they are called; names in its placeholders are left out."""

NO_LINES = {"another", "members", "x"}
"""Words before a colon that are no keys there."""


def texts(tree: ast.AST) -> Iterator[str]:
    """Texts of a module that are shown: no docstrings; in place of what is filled in stands `x`."""
    silent = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(node)}
            parts = (p.value if isinstance(p, ast.Constant) else "x" for p in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from () if id(node) in silent else (node.value,)


def proposals() -> set[tuple[str, str]]:
    """Texts with the lines that they propose, of all modules and of the page of codes."""
    shown = [text for _, tree in trees() for text in texts(tree) if "\n" not in text]
    shown += re.findall(r"(?m)^- `\w+`[^:\n]*: (.+)$", PAGE.read_text())
    return {(key, text) for text in shown for key in PROPOSED.findall(text)} - {
        (key, text) for text in shown for key in NO_LINES
    }


@pytest.mark.slow
def test_every_line_that_is_proposed_has_a_place():
    """A key that was renamed would be in no section."""
    found = proposals()
    assert len(found) > 60
    assert [(key, text) for key, text in found if place_of(key, known()) is None] == []


@pytest.mark.slow
def test_hints_name_the_place_of_every_line_in_them():
    for key, text in proposals():
        if key in lines_in(text):
            assert re.search(rf"\b{key}\b[\w ]* belongs? ", placed(text, known())), text


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("use refresh: recompute", "refresh belongs at the top level of the policy"),
        ("use nulls: as_value", "nulls belongs with its column, under columns"),
        ("set qi_conflict: hull", "qi_conflict belongs under method"),
        ("use knowledge: {cells: {}}", "knowledge belongs in the list under privacy"),
        ("add {model: k_anonymity, k: 5}", "model belongs in the list under privacy"),
        ("write order: [a, b]", "order belongs with its column, under columns"),
        ("set header: true", "header belongs under hierarchy, with its column"),
        (
            "on_infeasible: suppress and suppression_limit: 0.1",
            "on_infeasible and suppression_limit belong at the top level of the policy",
        ),
        ("write variant: strict", "variant belongs in the list under privacy or under method"),
    ],
)
def test_places(hint: str, said: str):
    assert placed(hint, known()) == f"{hint}; {said}"


@pytest.mark.parametrize(
    "hint", ["wait, and run it again", "its columns: age, sex", "cancel one: SELECT 1", "${x}: 1"]
)
def test_what_proposes_no_line_stays(hint: str):
    assert placed(hint, known()) == hint


def test_a_place_that_the_message_names_is_not_named_again():
    assert placed("write variant: strict", known(), ("method", "variant")) == (
        "write variant: strict"
    )
    assert placed("use nulls: reject", known(), ("columns", "age")) == "use nulls: reject"
    own = "individual: [hospital, patient_no]"
    assert placed(own, known(), ("individual",)) == own
    there = placed("use nulls: reject", known(), ("privacy", 0))
    assert there.endswith("; nulls belongs with its column, under columns")


def test_errors_of_policies_and_of_runs_name_places():
    """Of a model, the hint is about its column; of the column itself, the place is said before."""
    models = [{"model": "t_closeness", "column": "days", "t": 0.2}]
    with pytest.raises(PolicyError) as error:
        policy_from({**POLICY, "privacy": models})
    assert (
        'set role: sensitive on column "days", or name another column;'
        " role belongs with its column, under columns)"
    ) in str(error.value)
    columns = {**POLICY["columns"], "age": {"role": "quasi_identifying", "order": [1, 2]}}
    with pytest.raises(PolicyError) as error:
        policy_from({**POLICY, "columns": columns})
    assert "columns.age.order: order needs type: ordinal (add type: ordinal)" in str(error.value)
    shown = error_object(PrivacyRefusal("no", hint="use nulls: as_value"))["hint"]
    assert shown == "use nulls: as_value; nulls belongs with its column, under columns"


def test_an_error_is_shown_whatever_packages_are_installed(monkeypatch: pytest.MonkeyPatch):
    def refused() -> object:
        raise UsageError("a package cannot be used")

    monkeypatch.setattr("pganon.loading.known", refused)
    assert error_object(PrivacyRefusal("no", hint="use nulls: as_value"))["hint"] == (
        "use nulls: as_value"
    )
