"""The models as the SQL functions use them are those of the package."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon import sqlfiles
from pganon.privacy import sqlgen
from pganon.privacy.base import Model
from pganon.privacy.frequency import RecursiveCLDiversity
from pganon.sqltools import col, num, render


def test_the_committed_file_is_what_the_models_give() -> None:
    committed = (sqlfiles.sql_folder() / "functions" / "measure" / "measures.sql").read_text(
        "utf-8"
    )
    assert committed == sqlgen.text(), "run `python -m pganon.privacy.sqlgen`"


@pytest.mark.parametrize("l", [3, 4, 7])
def test_the_text_for_any_l_is_that_of_each(l: int) -> None:  # noqa: E741
    entry = next(e for e in sqlgen.entries() if e.name.endswith("_any_l"))
    assert entry.aggregate is not None
    model = RecursiveCLDiversity(1, l)
    assert render(entry.aggregate).replace('"l"', str(l)) == render(model.aggregate("g"))


MODELS = [entry.model for entry in sqlgen.entries()]


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
