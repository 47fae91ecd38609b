"""Methods and varied parameters as a command line writes them."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.candidates.settings import Varied, methods_in, options_of, varied_in, written
from pganon.errors import UsageError


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        ("mondrian", ["mondrian"]),
        ("mondrian, anatomy", ["mondrian", "anatomy"]),
        (
            "anatomy,{name: mondrian, choose: loss}",
            ["anatomy", {"name": "mondrian", "choose": "loss"}],
        ),
        ('[{"name": "slicing"}]'[1:-1], [{"name": "slicing"}]),
    ],
)
def test_methods(text: str, methods: list[Any]) -> None:
    assert methods_in(text) == methods


@pytest.mark.parametrize("text", ["{choose: loss}", "[mondrian]", "5", "mondrian, {name: 5}"])
def test_methods_have_names(text: str) -> None:
    with pytest.raises(UsageError, match="a method is a name, or a mapping with a name"):
        methods_in(text)


@pytest.mark.parametrize(
    ("text", "varied"),
    [
        ("k=5", Varied("k", (5,))),
        ("k=5,10,50", Varied("k", (5, 10, 50))),
        (" k = 5, 10 ", Varied("k", (5, 10))),
        ("t=0.1,1e-1", Varied("t", (0.1, 0.1))),
        ("choose=loss,width", Varied("choose", ("loss", "width"))),
        ("k_anonymity.k=5", Varied("k", (5,), "k_anonymity")),
        ("my.column.t=0.1", Varied("t", (0.1,), "my.column")),
        ("price=null,true", Varied("price", (None, True))),
        ("public={a: b}", Varied("public", ({"a": "b"},))),
    ],
)
def test_parameters(text: str, varied: Varied) -> None:
    assert varied_in(text) == varied
    assert varied.label == text.partition("=")[0].strip()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k", "--vary k: a parameter and its values are expected"),
        ("=5", "--vary =5: a parameter and its values are expected"),
        ("k_anonymity.=5", "a parameter and its values are expected"),
        ("k=", "--vary k: there is nothing to try"),
        ("k=5], other: [6", "--vary k: not valid YAML"),
        ("k=[5", "--vary k: not valid YAML"),
        ("k=5\nj: 6", "--vary k: not valid YAML"),
    ],
)
def test_wrong_parameters(text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        varied_in(text)
    assert message in refused.value.message
    assert refused.value.hint


def test_values_are_shown_as_written() -> None:
    assert [written(v) for v in (5, 0.1, "loss", True, None, [1, "a"])] == [
        *("5", "0.1", "loss", "true", "null", '[1, "a"]')
    ]
    assert (
        options_of({"name": "mondrian", "choose": "loss", "price": 1}) == "choose: loss, price: 1"
    )
