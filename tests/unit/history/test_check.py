"""What is asked of a version beside others."""

from __future__ import annotations

from dataclasses import replace

from pganon.history.check import RuleCheck, rule_steps
from pganon.history.model import EarlierVersion, GroupTables, NewVersion
from pganon.identifiers import QualifiedName
from pganon.resolved.presentation import Presentation

TABLES = GroupTables(QualifiedName("t", "members"), QualifiedName("t", "groups"), "g")
KEEPS = Presentation(1, "exact", ("s",), ("q", "o"), invariant=("s",))


def asked(new: Presentation, past: Presentation) -> list[str]:
    rule = RuleCheck(NewVersion(new, TABLES), [EarlierVersion(past.run_id, "", past, TABLES)])
    assert rule.compares == bool(rule_steps(rule, refuses=True))
    return [step.name for step in rule_steps(rule, refuses=True)]


def test_columns_clash_though_people_keep_their_signatures() -> None:
    """Whatever groups they are in, a column is not shown of who is known by it."""
    shows = replace(KEEPS, run_id=2, columns=("s", "o"), quasi=("q",))
    assert asked(shows, KEEPS) == ["roles"]
    assert asked(replace(KEEPS, run_id=2), KEEPS) == []


def test_without_other_roles_only_groups_are_compared() -> None:
    plain = replace(KEEPS, invariant=())
    names = asked(replace(plain, run_id=2), plain)
    assert "roles" not in names
    assert names[-1] == "rule"
