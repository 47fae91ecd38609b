"""Conditions of a policy over types that users made: what is rendered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pganon.policy.expressions import ExpressionProblem, check_where
from pganon.resolved.source import typed
from pganon.sqltools import render
from tests.unit.resolved.registry import column, relation

TABLE = relation(
    "t",
    {
        "stage": ("enum", "public.stage"),
        "other": ("enum", "public.other"),
        "word": ("citext", "public.citext"),
        "name": ("text", "text"),
    },
)
YEARS = replace(column("years", "integer", "integer", "public.years"), type_oid=9)
PAIR = replace(column("pair", "unsupported", "public.pair"), built_in=False)
OTHER = replace(TABLE.columns[1], base_oid=7)
OVER = replace(TABLE, columns=(TABLE.columns[0], OTHER, *TABLE.columns[2:], YEARS, PAIR))


def label(name: str) -> str:
    return f'(CASE WHEN NUM_NULLS("{name}") = 0 THEN FORMAT(\'%s\', "{name}") END)'


def place(name: str) -> str:
    return f"ARRAY_POSITION(CAST(ARRAY['I', 'II', 'III'] AS TEXT[]), {label(name)})"


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("stage = 'I'", f"{label('stage')} = 'I'"),
        ("stage in ('I', 'II')", f"{label('stage')} IN ('I', 'II')"),
        ("stage > 'II'", f"{place('stage')} > 2"),
        ("('III') >= (stage)", f"3 >= {place('stage')}"),
        ("stage between 'I' and 'III'", f"{place('stage')} BETWEEN 1 AND 3"),
        ("stage < stage", f"{place('stage')} < {place('stage')}"),
        ("stage < other", f"{label('stage')} < {label('other')}"),
        ("stage < name", f'{label("stage")} < "name"'),
        ("stage is null", f"{label('stage')} IS NULL"),
        ("lower(stage) = 'x'", f"LOWER({label('stage')}) = 'x'"),
        ("pair = 'x'", f"{label('pair')} = 'x'"),
        ("years > 3", 'CAST("years" AS integer) > 3'),
        ("word = 'x' or name = 'IV'", "\"word\" = 'x' OR \"name\" = 'IV'"),
    ],
)
def test_rendered(text: str, rendered: str) -> None:
    assert render(typed(check_where(text).expression, OVER)) == rendered


@pytest.mark.parametrize(
    "text", ["stage = 'IV'", "stage in ('I', 'x')", "stage between 'I' and ''"]
)
def test_a_text_that_is_no_label(text: str) -> None:
    with pytest.raises(ExpressionProblem, match="is no label of it"):
        typed(check_where(text).expression, OVER)
