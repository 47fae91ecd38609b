"""Every judge can say no: of lines as a paper has them, of flat, reversed and scattered ones, and
of none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import pytest

from benchmarks import (
    background_claims,
    estimates_claims,
    identity_claims,
    judging,
    lgb_claims,
    qs_claims,
    slamsa_claims,
)
from benchmarks.background_names import AGG, BASELINE, BETA, INC, MIC
from benchmarks.judging import Figure

Row = dict[str, Any]
Shape = Callable[[float], float]
"""What becomes of a figure."""

SHAPES: Mapping[str, Shape] = {"flat": lambda _: 1.0, "reversed": lambda value: 1 / value}


def as_it_is(value: float) -> float:
    return value


def scattered(seed: int) -> Shape:
    """Every figure anywhere: what is to be equal is not."""
    drawn = Random(seed)
    return lambda value: value * 10 ** drawn.uniform(-2, 2)


def drifting(sign: int) -> Shape:
    """Flat lines that rise or fall a little from figure to figure."""
    passed = iter(range(1_000_000))
    return lambda _: 1 + sign * next(passed) / 100_000


# -- lines as the papers have them ------------------------------------------------------------


def identity(shape: Shape) -> Row:
    def row(method: str, model: str, size: float, **of: Any) -> Row:
        """Figures grow with `size`; GeneIR loses about twice as much, and is faster."""
        times = {"DAnonyIR, trees": 1.1, "GeneIR, trees": 2.2}.get(method, 1.0)
        theirs = method.startswith("GeneIR")
        factor = times * (1.02 if model == "eir" else 1)
        return {
            "table": "informs",
            "method": method,
            "model": f"{model}_x",
            **of,
            "nloss": shape(factor * size),
            "error": shape(factor * of.pop("wrong", size)),
            "v": 0 if model == "eir" else shape((2 if theirs else 3) * of.pop("open", size)),
            "seconds": shape((1 if theirs else 2) * size),
        }

    methods = [("DAnonyIR", "eir"), ("DAnonyIR", "ir"), ("DAnonyIR, trees", "ir"),
               ("GeneIR, trees", "ir")]  # fmt: skip
    shares = [(0.4, 0.4), (0.6, 0.4), (0.8, 0.4), (0.6, 0.2), (0.6, 0.6)]
    return {
        "by_l": [row(*m, n, l=n, quasi=6) for m in methods for n in (2, 6, 10)],
        "by_shares": [
            row(*m, 1 / (a * b), open=a / b, alpha=a, beta=b) for m in methods for a, b in shares
        ],
        "by_quasi": [row(*m, n**3, wrong=1 / n, open=1, quasi=n) for m in methods for n in (3, 8)],
        "shares_by_quasi": [
            row(*m, n, wrong=1 / n, open=1, quasi=n) for m in methods for n in (3, 5, 8)
        ],
        "by_block": [
            {"table": "informs_few", "block_size": size, "nloss": shape(size)} for size in (50, 100)
        ],
    }


def lgb(shape: Shape) -> Row:
    theirs = {"LGB_MDP": 1.0, "LGB_NCP, stop": 0.85, "LGB_NCP, fill": 0.84}
    done = {"table": "income", "records": 9, "seconds": 1.0, "ratio": 1.0, "peak_mb": 9.0}

    def error(method: str, k: int, l: int) -> float:  # noqa: E741
        less = 0.5 if method == "LGB_MDP" and l == 5 else 1.0
        return less * k**4 * l

    def asked(method: str, k: int, l: int, value: float, **of: int) -> Row:  # noqa: E741
        errors = dict.fromkeys(("r_error", "r_error_median"), shape(value))
        drawn = {f"{name}_drawn": [figure] * 3 for name, figure in errors.items()}
        bounds = dict.fromkeys(("outside", "beyond"), abs(shape(1.0) - 1))
        return {**done, "method": method, "k": k, "l": l, **of, **errors, **drawn, **bounds}

    return {
        "by_k": [
            {**done, "method": m, "k": k, "l": l, "ncp": shape(k * t), "c_dm": shape(k / t)}
            for (m, t), k, l in product(theirs.items(), (5, 10), (5, 20))  # noqa: E741
        ],
        "by_l": [
            asked(m, k, l, error(m, k, l))
            for m, k, l in product(theirs, (5, 10), (5, 20))  # noqa: E741
        ],
        "by_density": [
            asked(m, k, l, 1 / density**l, density=density)
            for m, (k, l), density in product(theirs, ((5, 5), (10, 20)), (10, 40))  # noqa: E741
        ],
    }


def slamsa(shape: Shape) -> Row:
    methods = {"SLAMSA": 1.0, "MSB": 2.0, "SLOMS": 3.0}

    def row(method: str, size: float, seconds: float | None = None, **of: Any) -> Row:
        factor = methods[method]
        return {
            "method": method,
            "draws": 3,
            **{f"r{r}": shape(factor * size * 1.2**r) for r in (1, 2, 3, 4)},
            "seconds": shape(factor * size if seconds is None else factor * seconds),
            "objective": shape(0.5),
            "baseline": 1.0,
            **of,
        }

    by_p = [row(m, p, p=p) for m in methods for p in (2, 3)]
    by_m = [row(m, n, sensitive=n) for m in methods for n in (2, 3)]
    alike = {m: 0.5 + rank / 100 for m, rank in methods.items()}
    by_m += [{**row(m, 1, sensitive=1), "seconds": shape(alike[m])} for m in methods]
    by_n = [row(m, n, n**0.5, records=n) for m in methods for n in (100, 200)]
    return {
        "by_column": by_p,
        "by_tuple": [
            {"p": p, "draws": int(shape(1.0) >= 1), "highest_probability": shape(1 / p)}
            for p in (2, 5)
        ],
        "by_number": by_m,
        "by_size": by_n,
        "by_degree": by_p,
        "pooled": by_p,
        "pooled_by_number": by_m,
        "pooled_by_size": by_n,
        "pooled_by_degree": by_p,
        "optimum": [{"objective": shape(0.5), "optimum": 0.5}],
    }


def qs(shape: Shape) -> Row:
    def row(method: str, loss: float, seconds: float, **of: int) -> Row:
        greedy = method != "efficient"
        found = {"gcp": shape(loss * (1 if greedy else 2))}
        found["ncp_total"] = found["gcp"]
        found["seconds"] = found["method_seconds"] = shape(seconds)
        return {"loss": "flat", "count": "product", "method": method, **of, **found}

    def rows(by: str, greedy: Callable[[int], float], efficient: Callable[[int], float],
             loss: Callable[[int], float]) -> list[Row]:  # fmt: skip
        return [
            row(method, loss(n), seconds(n), **{by: n})
            for method, seconds in (("efficient", efficient), ("greedy 1024", greedy))
            for n in (2, 4, 8)
        ]

    return {
        "by_k": rows("k", lambda n: 10.0 * n, lambda n: 1 / n, lambda n: n),
        "by_attributes": rows("attributes", lambda n: 99 / n, lambda n: n, lambda n: 1 / n),
        "by_size": rows("rows", lambda n: 9.0 * n, lambda n: n, lambda n: n),
    }


def background(shape: Shape) -> Row:
    ranks = {INC: 1.0, AGG: 2.0, BETA: 3.0}
    few = 1.0 if shape is as_it_is else 4000.0

    def row(method: str, k: float = 5, j: float = 0.8, beta: float = 3, **figures: Any) -> Row:
        """Losses and classes grow from kInc_GE to beta_GE, seconds fall; links by the paper."""
        rank = ranks.get(method, 1.5)
        size = 1 + k / 1000 + j - beta / 10
        found = {
            "gcp": shape(rank * size),
            "rgcp": shape(1.01) * shape(rank * size) + (shape(1 / j) - shape(1.0)) / 9,
            "rl": shape({INC: 5.0, AGG: 9.0, BETA: 1.0}.get(method, 5.0) * beta),
            "average": shape(rank * k * (1 + j)),
            "smallest": 0.5,
            "method_seconds": shape(4 / rank * (0.1 if j < 0.3 else 1)),
            "suppressed": few * shape({INC: 0.5, AGG: 1.0, BETA: 0.25}.get(method, 0.3) / j),
            "records": 4000,
        }
        return {"table": "t", "method": method, "k": k, "beta": beta, "j": j, **found, **figures}

    def column(method: str, name: str, values: int, emd: float, numeric: bool) -> Row:
        far = {INC: 1.0, AGG: 0.9, BETA: 3.0, MIC[0]: 1.5, MIC[1]: 1.4}[method]
        far = 1 / far if numeric and method not in (BETA,) else far
        far = {INC: 2.0, AGG: 1.9, BETA: 3.0}.get(method, far) if numeric else far
        shown = {"emd": shape(far * emd), "emd_midpoint": shape(far * emd)}
        return row(
            method, column=name, values=values, span=1.0, numeric=numeric, **shown,
            absolute=shape(far), difference=shape(1.0) * (0.05 if shape is as_it_is else 1),
        )  # fmt: skip

    def asked(method: str) -> Row:
        rank = 1.0 if method == BASELINE else 2.0
        errors = {f"error_{share}": shape(1 / rank) for share in background_claims.SELECTIVITIES}
        figures = {"gcp": shape(1 / rank), "rl": shape(1 / rank), "method_seconds": shape(rank)}
        lost = 0.3 if shape is as_it_is else 0.1
        return row(method, **errors, suppressed=lost * 4000, **figures)

    varied = {
        "by_k": [row(m, k=k) for m in ranks for k in (3, 20)],
        "by_j": [row(m, j=j) for m in ranks for j in (0.1, 0.3, 0.6)],
        "by_beta": [row(m, beta=beta) for m in ranks for beta in (1, 3)],
    }
    return varied | {
        "columns": [
            column(m, *of)
            for m in (*ranks, *MIC)
            for of in (("sex", 2, 0.1, False), ("age", 70, 1.0, True))
        ],
        "baseline": [asked(m) for m in (INC, AGG, BASELINE)],
    }


# -- what is said of them ---------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Lines and their judges.

    Attributes:
        kept: claims that flat and reversed lines satisfy, too, since they are about equality or
            about bounds, by parts of their texts.
        turned: claims that reversed lines satisfy, too, since they are about a range.
        defined: claims that can only fail, and figures without a verdict.
    """

    evaluate: Callable[[Row], list[Row]]
    lines: Callable[[Shape], Row]
    kept: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()
    defined: tuple[str, ...] = ()


CASES = {
    "identity": Case(
        identity_claims.evaluate,
        identity,
        kept=("C8 relative error of EIR is close", "hardly change", "times as much as IR",
              "blocks of"),
        defined=("C1 no class", "s slower than IR", "with the same hierarchies"),
    ),
    "lgb": Case(
        lgb_claims.evaluate,
        lgb,
        kept=("within the paper's bounds",),
        defined=("does not depend on l", "within the certain bounds"),
    ),
    "slamsa": Case(
        slamsa_claims.evaluate,
        slamsa,
        kept=("twelve columns as one value", "seconds are the same for all methods at m = 1"),
        defined=("objective is never above", "objective by p"),
    ),
    "qs": Case(qs_claims.evaluate, qs),
    "background": Case(
        background_claims.evaluate,
        background,
        turned=("4 the range",),
        kept=("4 GCP of beta_GE hardly", "11 RL of", "9 seconds are the same", "is close to"),
        defined=("8 GCP is at most RGCP", "7 beta_GE suppresses fewest"),
    ),
}  # fmt: skip
"""Of estimates there are golden figures, which say no by themselves."""


def _said(case: Case, shape: Shape) -> dict[str, str]:
    rows = case.evaluate(case.lines(shape))
    verdicts: Mapping[Any, str] = {True: "yes", False: "NO", None: "-"}
    return {row["claim"]: verdicts.get(row["holds"]) or row["holds"] for row in rows}


@pytest.mark.parametrize("name", CASES)
def test_as_the_paper_has_it(name: str) -> None:
    case = CASES[name]
    said = _said(case, as_it_is)
    wrong = {claim: holds for claim, holds in said.items() if holds not in ("yes", "-")}
    assert wrong == {}
    undecided = {claim for claim, holds in said.items() if holds == "-"}
    assert [claim for claim in undecided if not any(map(claim.__contains__, case.defined))] == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CASES)
def test_flat_and_reversed_lines(name: str, shape: str) -> None:
    case = CASES[name]
    said = _said(case, SHAPES[shape])
    able = (*case.kept, *case.defined, *(case.turned if shape == "reversed" else ()))
    held = [claim for claim, holds in said.items() if holds != "NO"]
    assert [claim for claim in held if not any(map(claim.__contains__, able))] == []


@pytest.mark.parametrize("name", CASES)
def test_every_claim_can_fail(name: str) -> None:
    """Those about equality among them."""
    case = CASES[name]
    shapes = [*SHAPES.values(), *map(scattered, range(20))]
    said = [_said(case, shape) for shape in shapes]
    failed = {claim for each in said for claim, holds in each.items() if holds == "NO"}
    never = [claim for claim in said[0] if claim not in failed]
    assert [claim for claim in never if not any(map(claim.__contains__, case.defined))] == []


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["identity", "lgb", "slamsa", "qs"])
def test_flat_lines_with_noise_are_no_trends(name: str, sign: int) -> None:
    said = _said(CASES[name], drifting(sign))
    trends = [claim for claim in said if {"grow", "grows", "fall", "falls"} & set(claim.split())]
    assert trends
    assert [claim for claim in trends if said[claim] != "NO"] == []


@pytest.mark.parametrize("name", CASES)
def test_of_nothing_there_is_no_verdict(name: str) -> None:
    case = CASES[name]
    parts = case.lines(as_it_is)
    assert {row["holds"] for row in case.evaluate({part: [] for part in parts})} <= {"-", None}
    assert case.evaluate({}) == []


def test_estimates_without_figures() -> None:
    assert estimates_claims.evaluate({}) == []


def figures(*values: float) -> list[Figure]:
    return list(map(Figure, values))


def test_trends() -> None:
    """Neither what is within 10 % nor what draws do not agree on is one."""
    assert judging.grows(figures(1, 2, 3))
    assert judging.grows(figures(1)) is None
    assert judging.grows(figures(1, 0.95, 1.2))
    assert judging.grows(figures(1, 0.95, 1.05)) is False
    assert judging.grows(figures(1, 2, 1.7)) is False
    assert judging.grows(figures(1, 0.95, 0.85, 1.2)) is False  # two small steps back
    assert judging.falls(figures(3, 2))
    assert judging.falls(figures(0.152, 0.147, 0.145)) is False
    assert judging.falls(figures(2, 3)) is False


@pytest.mark.parametrize(
    ("draws", "holds"),
    [
        (((1, 4, 2), (2, 8, 4)), True),  # of every seed, though they overlap
        (((1, 4, 2), (2, 3, 4)), False),
        (((1, 1), (2, 3, 4)), True),  # seeds are not known
        (((1, 3), (2, 3, 4)), False),
        ((range(10), [-1, *range(2, 11)]), True),  # nine of ten
        ((range(10), [-1, -1, *range(3, 11)]), False),
    ],
)
def test_draws_must_agree(draws: tuple[list[float], list[float]], holds: bool) -> None:
    low, high = (Figure(value, tuple(of)) for value, of in zip((1, 2), draws, strict=True))
    assert judging.apart(low, high) is holds
    assert judging.grows([low, high]) is holds


def test_a_step_back_that_draws_do_not_agree_on_is_none() -> None:
    line = [Figure(1, (1, 1)), Figure(3, (2, 4)), Figure(2, (2.5, 1.5))]
    assert judging.grows(line)
    assert judging.grows([*line[:2], Figure(2, (1.5, 2.5))]) is False


def test_ranks() -> None:
    assert judging.ranked([(Figure(1), Figure(1 + 1e-12))]) == (False, "0 of 1: 1 / 1")
    assert judging.ranked([(Figure(1, (0, 2)), Figure(2))]) == (True, "1 of 1: 1 (0 to 2) / 2")
    assert judging.ranked([])[0] is None
    assert judging.equal([1, 1.1])
    assert judging.equal([1, 1.2]) is False
    assert judging.every([None, True])
    assert judging.every([]) is None
    assert judging.by_definition(True) is None
    assert judging.by_definition(False) is False


def test_quotients() -> None:
    """Of the means, and of the draws; of nothing there is none."""
    pairs = [(Figure(2, (1, 4)), Figure(4, (4, 4))), (Figure(0), Figure(1))]
    assert judging.listed(judging.quotients(pairs)) == "2 (1 to 4)"
