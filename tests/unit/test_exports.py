"""What the package offers by name."""

import pytest

import pganon


@pytest.mark.parametrize("name", pganon.__all__)
def test_everything_offered_is_there(name: str) -> None:
    assert getattr(pganon, name) is not None
