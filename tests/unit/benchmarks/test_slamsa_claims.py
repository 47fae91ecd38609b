"""How claims of the paper of SLAMSA are judged."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.slamsa_claims import evaluate

Row = dict[str, Any]

PROBABLE = (2, 0.5), (5, 0.25)


def row(method: str, draws: int = 2, **figures: Any) -> Row:
    found = {"r1": 0.1, "r2": 0.2, "r3": 0.3, "r4": 0.4, "seconds": 1.0, "objective": 0.5,
             "baseline": None}  # fmt: skip
    return {"method": method, "draws": draws, **(found if draws else {}), **figures}


def verdicts(**parts: list[Row]) -> dict[str, tuple[str, str]]:
    return {one["claim"]: (one["holds"], one["found"]) for one in evaluate(dict(parts))}


def test_errors() -> None:
    """A method is compared where both have a release."""
    rows = [
        row("SLAMSA", p=2), row("SLAMSA", p=3, r4=0.5),
        row("MSB", p=2, r3=0.6, r4=0.6), row("MSB", p=3, draws=0),
        row("SLOMS", p=2, r4=0.5), row("SLOMS", p=3, r4=0.4),
    ]  # fmt: skip
    found = verdicts(pooled=rows)
    grows = "error grows with the quasi-identifiers that are asked about (four quasi-identifiers)"
    assert found[grows] == ("-", "by definition; falls in 0 of 15 steps")
    assert found["error of SLAMSA grows with p (four quasi-identifiers)"] == ("yes", "0.4, 0.5")
    claim = "SLAMSA has a lower error than MSB at every p (four quasi-identifiers)"
    assert found[claim] == ("yes", "1 of 1: 0.4 / 0.6")
    claim = "SLAMSA has a lower error than SLOMS at every p (four quasi-identifiers)"
    assert found[claim] == ("NO", "1 of 2: 0.4 / 0.5, 0.5 / 0.4")
    assert found["error of MSB grows with p (four quasi-identifiers)"] == ("-", "0.6")
    rows[-1]["r4"] = 0.48
    shown = "1 of 2, 1 undecided: 0.4 / 0.5, 0.5 / 0.48"
    assert verdicts(pooled=rows)[claim] == ("-", shown)
    rows[-1]["r4"] = 0.25
    assert verdicts(pooled=rows)[grows] == ("NO", "by definition; falls in 1 of 15 steps")


def test_objective() -> None:
    rows = [row("SLAMSA", p=p, objective=of, baseline=1.0) for p, of in ((2, 0.9), (3, 0.7))]
    found = verdicts(by_column=rows)
    assert found["objective is never above the median tree's"][0] == "-"
    assert found["objective by p, as a share of the median tree's"] == ("-", "90%, 70%")
    rows[0]["objective"] = 1.1
    found = verdicts(by_column=rows)
    assert found["objective is never above the median tree's"][0] == "NO"


def test_optimum() -> None:
    found = verdicts(optimum=[{"objective": 3.0, "optimum": 2.0}, {"objective": 2, "optimum": 2}])
    claim = "objective of the fireflies is the least that there is"
    assert found[claim] == ("NO", "1 of 2, 1.50 times at most")


def test_seconds() -> None:
    rows = [
        row(method, records=records, seconds=seconds)
        for method, records, seconds in (("SLAMSA", 100, 1.0), ("SLAMSA", 3000, 5.0),
                                         ("MSB", 100, 5.0), ("MSB", 3000, 900.0))
    ]  # fmt: skip
    found = verdicts(by_size=rows)
    of = "(two quasi-identifiers)"
    claim = f"seconds of SLAMSA grow slightly with n, less than n does {of}"
    assert found[claim] == ("yes", "times 5.00 for 30.00 times the records; 1, 5")
    assert found[f"seconds of MSB grow slightly with n, less than n does {of}"][0] == "NO"
    assert found[f"SLAMSA is faster than MSB at every n {of}"][0] == "yes"
    rows[2]["seconds"] = 2.0  # within the noise
    shown = "1 of 2, 1 undecided: 1 / 2, 5 / 900"
    assert verdicts(by_size=rows)[f"SLAMSA is faster than MSB at every n {of}"] == ("-", shown)
    rows[1]["seconds"] = 2.0
    claim = f"seconds of SLAMSA grow slightly with n, less than n does {of}"
    shown = "times 2.00 for 30.00 times the records; 1, 2"
    assert verdicts(by_size=rows)[claim] == ("-", shown)
    claim = f"SLAMSA is faster than SLOMS at every n {of}"
    assert found[claim] == ("-", "there are no figures of SLOMS")


def test_number_of_columns() -> None:
    rows = [row("SLAMSA", sensitive=m, r2=0.3 * m, seconds=s) for m, s in ((1, 1.0), (2, 0.95))]
    found = verdicts(by_number=rows)
    of = "(two quasi-identifiers)"
    assert found[f"error of SLAMSA grows with m {of}"] == ("-", "0.3, 0.6")  # by the last
    assert found[f"seconds of SLAMSA grow with m {of}"][0] == "-"
    rows[1]["seconds"] = 0.2
    assert verdicts(by_number=rows)[f"seconds of SLAMSA grow with m {of}"][0] == "NO"


@pytest.mark.parametrize(
    ("errors", "holds"),
    [((0.3, 0.31, 0.6), "-"), ((0.3, 0.5, 0.6), "yes"), ((0.3, 0.2, 0.6), "NO"),
     ((0.3, 0.31, 0.32), "NO"), ((0.3, 0.5, 0.51), "yes"), ((0.3, 0.6), "-"), ((0.6, 0.3), "NO")],
    ids=["by the last", "by all", "and falls before", "by none", "by the others", "of two",
         "falls of two"],
)  # fmt: skip
def test_the_last_column_alone_is_no_growth(errors: tuple[float, ...], holds: str) -> None:
    rows = [row("SLAMSA", sensitive=m, r2=error) for m, error in enumerate(errors, 1)]
    claim = "error of SLAMSA grows with m (two quasi-identifiers)"
    assert verdicts(by_number=rows)[claim] == (holds, ", ".join(f"{each:.3g}" for each in errors))


@pytest.mark.parametrize(
    ("second", "holds"),
    [((0.31, 0.41, 0.51), "-"), ((0.7, 0.7, 0.25), "-"), ((0.7, 0.7, 0.6), "yes")],
    ids=["slightly", "draws disagree", "draws agree"],
)
def test_growth_without_the_last_column(second: tuple[float, ...], holds: str) -> None:
    """It must be one by itself."""
    drawn = ((0.3, 0.4, 0.5), second, (0.9, 1.0, 1.1))
    rows = [
        row("SLAMSA", sensitive=m, r2=sum(of) / 3, r2_drawn=of) for m, of in enumerate(drawn, 1)
    ]
    claim = "error of SLAMSA grows with m (two quasi-identifiers)"
    assert verdicts(by_number=rows)[claim][0] == holds


def test_seconds_of_one_column() -> None:
    """They can only differ: what is within the noise is not known to be the same."""
    claim = "seconds are the same for all methods at m = 1 (two quasi-identifiers)"
    rows = [row(method, sensitive=1, seconds=s) for method, s in (("SLAMSA", 1.0), ("MSB", 0.95))]
    assert verdicts(by_number=rows)[claim] == ("-", "1, 0.95")
    rows[1]["seconds"] = 0.4
    assert verdicts(by_number=rows)[claim] == ("-", "1, 0.4")
    rows[1]["seconds"] = 0.2
    assert verdicts(by_number=rows)[claim] == ("NO", "1, 0.2")


def test_twelve_columns() -> None:
    found = verdicts(by_tuple=[row("SLAMSA", p=p, highest_probability=h) for p, h in PROBABLE])
    assert found["twelve columns as one value are published for every p"] == ("-", "p: 2, 5")
    claim = "twelve columns: a value of one has a probability of at most 1 / p"
    assert found[claim] == ("NO", "0.5, 0.25")
    refused = verdicts(by_tuple=[row("SLAMSA", p=2, highest_probability=0.5), row("", 0, p=5)])
    assert refused["twelve columns as one value are published for every p"] == ("NO", "p: 2")
    (first, _) = PROBABLE
    one = row("SLAMSA", p=first[0], highest_probability=first[1])
    assert verdicts(by_tuple=[one])[claim][0] == "yes"
