"""How claims of the paper of identity reservation are judged."""

from __future__ import annotations

from typing import Any

from benchmarks.identity_claims import OURS, OURS_TREES, THEIRS, evaluate

Row = dict[str, Any]

IR, EIR = "ir_kl_anonymity", "eir_l_diversity"


def row(method: str, model: str, **figures: Any) -> Row:
    found = {"nloss": 0.1, "v": 0.0, "error": 0.1, "seconds": 1.0}
    return {"method": method, "model": model, **found, **figures}


def verdicts(**parts: list[Row]) -> dict[str, tuple[str, str]]:
    return {one["claim"]: (one["holds"], one["found"]) for one in evaluate(dict(parts))}


def test_by_l() -> None:
    rows = [
        row(method, model, l=l, **figures)
        for l, step in ((2, 1), (6, 3))  # noqa: E741
        for method, model, figures in (
            (OURS, EIR, {"nloss": 0.104 * step}),
            (OURS, IR, {"nloss": 0.1 * step, "v": 0.2 * step, "error": 0.2 / step}),
            (OURS_TREES, IR, {"nloss": 0.1 * step, "error": 0.2}),
            (THEIRS, IR, {"nloss": 0.2 * step, "v": 0.3, "error": 0.1, "seconds": 0.2}),
        )
    ]
    found = verdicts(by_l=rows)
    assert found["C1 no class is vulnerable under an EIR model (l)"][0] == "-"
    assert found["C1 vulnerable classes of DAnonyIR grow with l"] == ("yes", "0.2, 0.6")
    assert found["C3 more classes are vulnerable in DAnonyIR than in GeneIR (l)"][0] == "NO"
    claim = "C4 GeneIR loses 1.923 to 2.683 times as much as DAnonyIR under IR (l)"
    assert found[claim] == ("yes", "2, 2 times")
    claim = "C4 GeneIR loses 1.863 to 2.626 times as much as DAnonyIR under EIR (l)"
    assert found[claim] == ("yes", "1.92, 1.92 times")
    claim = "C5 EIR loses at most 1.0347 times as much as IR (l)"
    assert found[claim] == ("NO", "1.04, 1.04 times")
    assert found["C7 loss of DAnonyIR, EIR grows with l"][0] == "yes"
    assert found["C8 relative error of DAnonyIR, IR grows with l"][0] == "NO"
    claim = "C8 DAnonyIR answers better than GeneIR with the same hierarchies (l)"
    assert found[claim] == ("-", "0 of 2: 0.2 / 0.1, 0.2 / 0.1")  # not in the paper
    assert [claim for claim in found if "trees" in claim and "GeneIR" not in claim] == []
    assert found["C8 relative error of EIR is close to IR (l)"][0] == "NO"
    assert found["C10 GeneIR is faster than DAnonyIR (l)"][0] == "yes"
    assert found["C10 EIR is at most 28.5 s slower than IR (l)"][0] == "-"
    rows[-1]["seconds"] = 0.5  # within the noise
    claim = "C10 GeneIR is faster than DAnonyIR (l)"
    assert verdicts(by_l=rows)[claim] == (
        "-",
        "GeneIR / DAnonyIR: 1 of 2, 1 undecided: 0.2 / 1, 0.5 / 1",
    )
    vulnerable = verdicts(by_l=[row(OURS, EIR, l=2, v=0.1)])
    assert vulnerable["C1 no class is vulnerable under an EIR model (l)"][0] == "NO"
    slow = [row(OURS, IR, l=2), row(OURS, EIR, l=2, seconds=40.0)]
    assert verdicts(by_l=slow)["C10 EIR is at most 28.5 s slower than IR (l)"][0] == "NO"


def test_draws() -> None:
    """Quotients are those of the means, with what draws say."""
    rows = [
        row(OURS, IR, l=10, nloss=0.1, nloss_drawn=[0.1, 0.1]),
        row(THEIRS, IR, l=10, nloss=0.25, nloss_drawn=[0.1, 0.4]),
    ]
    found = verdicts(by_l=rows)
    claim = "C4 GeneIR loses 1.923 to 2.683 times as much as DAnonyIR under IR (l)"
    assert found[claim] == ("yes", "2.5 (1 to 4) times")
    claim = "C4 DAnonyIR loses less than GeneIR (l)"
    assert found[claim] == ("-", "0 of 1, 1 undecided: 0.1 / 0.25 (0.1 to 0.4)")
    rows[1]["nloss_drawn"] = [0.2, 0.3]
    assert verdicts(by_l=rows)[claim] == ("yes", "1 of 1: 0.1 / 0.25 (0.2 to 0.3)")


def test_by_shares() -> None:
    """Each of both varies where the other one is what most rows have."""
    rows = [
        row(OURS, "ir_alpha_beta_anonymity", alpha=alpha, beta=beta, nloss=loss)
        for alpha, beta, loss in ((0.4, 0.4, 0.3), (0.6, 0.4, 0.2), (0.8, 0.4, 0.1),
                                  (0.6, 0.2, 0.4), (0.6, 0.6, 0.5))
    ]  # fmt: skip
    found = verdicts(by_shares=rows)
    assert found["C7 loss of DAnonyIR, IR falls with alpha"] == ("yes", "0.3, 0.2, 0.1")
    assert found["C7 loss of DAnonyIR, IR falls with beta"] == ("NO", "0.4, 0.2, 0.5")


def test_by_quasi() -> None:
    rows = [
        row(OURS, IR, quasi=quasi, nloss=loss, error=error, v=v)
        for quasi, loss, error, v in ((3, 0.1, 0.2, 0.5), (8, 0.3, 0.6, 0.55))
    ]
    found = verdicts(by_quasi=rows, shares_by_quasi=[])
    assert found["C7 loss of DAnonyIR, IR (l) grows with the quasi-identifiers"][0] == "yes"
    claim = "C9 relative error of DAnonyIR, IR (l) falls with the quasi-identifiers"
    assert found[claim] == ("NO", "0.2, 0.6")
    claim = "C2 vulnerable classes of DAnonyIR (l) hardly change"
    assert found[claim] == ("yes", "0.5, 0.55")
    rows[1]["v"] = 0.6
    assert verdicts(by_quasi=rows)[claim] == ("NO", "0.5, 0.6")


def test_nothing_is_lost() -> None:
    """Of a tiny table, for example: no ratio to 0."""
    rows = [row(method, model, l=2, nloss=0.0) for method, model in ((OURS, IR), (OURS, EIR))]
    found = verdicts(by_l=rows)
    assert "C5 EIR loses at most 1.0347 times as much as IR (l)" not in found


def test_growth() -> None:
    """With which of both loss grows more."""
    by_l = [row(OURS, IR, l=l, nloss=loss) for l, loss in ((2, 0.1), (6, 0.3))]  # noqa: E741
    by_quasi = [row(OURS, IR, quasi=n, nloss=loss) for n, loss in ((3, 0.1), (8, 0.2))]
    found = verdicts(by_l=by_l, by_quasi=by_quasi)
    claim = "C7 growth of the loss of DAnonyIR, IR is sharper with quasi-identifiers than l"
    assert found[claim] == ("NO", "times 2, 3")
    by_quasi[1]["nloss"] = 0.32  # equal
    assert verdicts(by_l=by_l, by_quasi=by_quasi)[claim] == ("-", "times 3.2, 3")
    by_quasi[1]["nloss"] = 0.4
    assert verdicts(by_l=by_l, by_quasi=by_quasi)[claim][0] == "yes"


def test_blocks() -> None:
    def sizes(small: float, large: float) -> list[Row]:
        pairs = ((500, small), (2000, large))
        return [{"table": "informs_few", "block_size": size, "nloss": of} for size, of in pairs]

    claim = "blocks of 500 lose at most 5% more than one block"
    assert verdicts(by_block=sizes(0.104, 0.1))[claim] == ("yes", "0.104 / 0.1")
    assert verdicts(by_block=sizes(0.106, 0.1))[claim][0] == "NO"
    assert verdicts(by_block=sizes(0.0, 0.0))[claim][0] == "yes"


def test_seconds_may_go_against_a_trend() -> None:
    """By less than a factor of 3, from one value to the next."""
    rows = [row(OURS, IR, l=l, seconds=s) for l, s in ((2, 1.0), (6, 0.5), (10, 5.0))]  # noqa: E741
    claim = "C11 seconds of DAnonyIR grow with l"
    assert verdicts(by_l=rows)[claim] == ("yes", "1, 0.5, 5")
    assert verdicts(by_l=rows[:2])[claim][0] == "-"
    rows[1]["seconds"] = 0.2
    assert verdicts(by_l=rows[:2])[claim][0] == "NO"
