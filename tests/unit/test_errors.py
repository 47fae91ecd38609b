"""Errors as other processes hand them over."""

from __future__ import annotations

import pickle

import pytest

from pganon.error_codes import ErrorCode
from pganon.errors import (
    DatabaseError,
    PganonError,
    PolicyError,
    PrivacyRefusal,
    Problem,
    UsageError,
)


@pytest.mark.parametrize(
    "error",
    [
        UsageError("wrong", hint="do better", code=ErrorCode.BUSY),
        PrivacyRefusal("too few", model="k_anonymity", required=5, observed=2.0, hint="more"),
        PolicyError([Problem("is missing", "release", 1)], file="a.yaml"),
        DatabaseError("failed", sqlstate="57014", step="encode"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_arrives_as_it_was(error: PganonError) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert arrived.__dict__ == error.__dict__
    assert (arrived.code, arrived.exit_code) == (error.code, error.exit_code)
