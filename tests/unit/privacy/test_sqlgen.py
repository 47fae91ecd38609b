"""The models as the SQL functions use them are those of the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon import sqlfiles
from pganon.privacy.assessment_measures import measures, short_names
from pganon.privacy.base import Model
from pganon.privacy.frequency import RecursiveCLDiversity
from pganon.sqltools import col, num, render
from tests.support.harness import measures as sqlgen


def test_the_committed_file_is_what_the_models_give() -> None:
    committed = (sqlfiles.sql_folder() / "functions" / "measure" / "measures.sql").read_text(
        "utf-8"
    )
    assert committed == sqlgen.text(), "run `python -m tests.support.harness.measures`"


@pytest.mark.parametrize("l", [3, 4, 7])
def test_the_text_for_any_l_is_that_of_each(l: int) -> None:  # noqa: E741
    measure = next(m for m in measures() if m.name.endswith("_any_l"))
    assert measure.aggregate is not None
    model = RecursiveCLDiversity.of(1, l)
    assert render(measure.aggregate).replace('"l"', str(l)) == render(model.aggregate("g"))


def test_assess_asks_for_all_of_them() -> None:
    """By what it is given: quasi-identifiers alone, sensitive columns, individuals."""
    folder = sqlfiles.sql_folder() / "functions" / "measure"
    lists = re.findall(r"'\{([\w, \n]+)\}'", (folder / "assess.sql").read_text("utf-8"))
    asked = [word.strip() for names in lists for word in names.split(",")]
    every = {measure.name for measure in measures() if measure.counts}
    assert sorted(asked) == sorted(every - {"recursive_cl_diversity_any_l"})


def test_the_page_has_all_short_names() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/cli.md").read_text("utf-8")
    (row,) = re.findall(r"^- `--require NAME=NUMBER`.*$", page, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == set(short_names())


MODELS = [measure.model for measure in measures()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_both_forms_of_the_condition_name_the_same_limit(model: Model) -> None:
    text = render(model.holds_for(col("m"), num(1)))
    limit = eval(  # the formula has no names but greatest
        text.split(model.comparison, 1)[1], {"GREATEST": max}
    )
    assert float(render(model.holds(col("m"))).split()[-1]) == limit


@given(st.sampled_from(MODELS), st.floats(0.01, 1e6))
def test_equality_decides_by_strictness(model: Model, parameter: float) -> None:
    if model.exact:
        parameter = int(parameter) + 1
    assert model.satisfied_with(parameter, parameter) != model.strict
