"""One text for statements of all rounds: names of work tables follow the round, nothing else."""

from __future__ import annotations

import pytest

from pganon.errors import PganonError
from pganon.sqltools import col, named, query, statement, text
from pganon.steps import State
from pganon.steps.rounds import Template


def _tree(state: State, value: str, column: str):
    within = query("select x.* from x", {"x": state.in_round("cells")}).where(col(column, "x"))
    return query(
        "select 1 from c join n on n.node = c.node",
        {"c": within, "n": state.in_round("nodes", 1)},
    ).select(named(text(value), "said"), col(column, "c"))


@pytest.mark.parametrize("number", [0, 1, 12])
@pytest.mark.parametrize(
    "looks", ['r7_cells_1"', '_1000000000"', "r7_cells_0", "r7_cells_", "{0}", "%s", ":later"]
)
def test_what_looks_like_a_table_of_a_round_stays(number: int, looks: str) -> None:
    state = State(7)
    template = Template.of(_tree(state.in_every_round(), looks, looks))
    rendered = statement(_tree(state.at_round(number), looks, looks))
    assert template.at(number).as_string(None) == rendered.as_string(None)
    assert f'"r7_cells_{number}"' in rendered.as_string(None)


def test_a_value_cannot_pass_for_a_round() -> None:
    """Of no use in a statement anyway: no text of PostgreSQL has the character NUL."""
    with pytest.raises(PganonError, match="NUL"):
        Template.of(_tree(State(7).in_every_round(), "\x001\x00", "x"))


def test_a_query_for_every_round_does_not_know_its_number() -> None:
    with pytest.raises(PganonError, match="asks for the round's number"):
        print(State(7).in_every_round().round)
