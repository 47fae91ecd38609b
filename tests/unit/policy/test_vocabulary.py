"""What names of columns say, also shortened and with the code letters of surveys."""

from __future__ import annotations

import pytest

from pganon.policy.vocabulary import shortened, words


def test_words_of_a_name() -> None:
    assert words("dateOfBirth2") == ["date", "of", "birth"]
    assert words("2020") == []


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("edu", "education"),  # cut off
        ("schl", "school"),  # consonants
        ("gndr", "gender"),
        ("hispcat", "hispanic"),  # a stem with an ending
        ("educyear", "education"),
        ("racethn", "race"),  # a word with an ending
        ("dobmm", "dob"),
        ("irace", "race"),  # code letters
        ("isex", "sex"),
        ("agep", "age"),
        ("racex", "race"),
        ("rac1p", "race"),
        ("dAncstry1", "ancestry"),
        ("citizen", "citizenship"),
        ("married", "marriage"),
    ],
)
def test_short_forms_of_what_others_know(name: str, word: str) -> None:
    match = shortened(name)
    assert match is not None
    assert (match.word, match.role) == (word, "quasi_identifying")


@pytest.mark.parametrize("name", ["pinc", "diag_1", "occp", "diagnos", "procedures"])
def test_short_forms_of_what_is_sensitive(name: str) -> None:
    match = shortened(name)
    assert match is not None
    assert match.role == "sensitive"


@pytest.mark.parametrize(
    "name",
    # No word, words of their own, and too short for a sensitive word, which is shown as it is.
    [
        "registered",
        "puma",
        "num",
        "study_name",
        "chol",
        "povpip",
        "count",
        "status",
        "inch",
        "all",
        "off",
        "par",
    ],
)
def test_names_that_say_nothing(name: str) -> None:
    assert shortened(name) is None
