"""How claims of the paper are judged from the figures of the benchmark."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.background import risk_and_utility
from benchmarks.background_claims import evaluate, judged
from benchmarks.background_names import AGG, BASELINE, BETA, INC, MIC, SELECTIVITIES
from benchmarks.background_runs import means

Row = dict[str, Any]
ERRORS = [f"error_{share}" for share in SELECTIVITIES]


def run(method: str, k: int = 5, j: float = 0.8, beta: float = 3, **figures: Any) -> Row:
    found = {
        "records": 4000, "suppressed": 0, "gcp": 0.3, "rgcp": 0.3, "rl": 50.0, "linked": 0.01,
        "average": 9.0, "smallest": 5, "seconds": 2.0, "method_seconds": 1.0,
    }  # fmt: skip
    return {"table": "t", "method": method, "k": k, "beta": beta, "j": j, **found, **figures}


def verdicts(**parts: list[Row]) -> dict[str, tuple[str, str]]:
    return {row["claim"]: (row["holds"], row["found"]) for row in evaluate(dict(parts))}


@pytest.mark.parametrize(
    ("agree", "undecided", "holds", "defined"),
    [(4, 0, True, None), (3, 0, "mostly", None), (3, 1, "mostly", None), (2, 0, False, False),
     (2, 1, None, None), (1, 1, False, False), (1, 2, None, None), (0, 3, False, False),
     (2, 2, None, None), (0, 4, None, None), (0, 0, False, False)],
)  # fmt: skip
def test_verdicts(
    agree: int, undecided: int, holds: bool | str | None, defined: bool | None
) -> None:
    verdicts = [True] * agree + [None] * undecided + [False] * (4 - agree - undecided)
    assert judged("", verdicts)[1] == holds
    assert judged("", verdicts, defined=True)[1] is defined


def test_one_verdict_is_kept() -> None:
    assert judged("", ["slightly"])[1] == "slightly"
    assert judged("", [None])[1] is None
    assert judged("", [True], defined=True)[1] is None


def test_ranks() -> None:
    """Runs are compared with those that differ in the method alone, refused ones with none."""
    rows = [
        *[run(method, 3, gcp=gcp, rl=rl) for method, gcp, rl in
          ((INC, 0.2, 60.0), (AGG, 0.3, 50.0), (BETA, 0.4, 5.0))],
        *[run(method, 5, gcp=gcp, rl=rl) for method, gcp, rl in
          ((INC, 0.2, 50.0), (AGG, 0.5, 60.0), (BETA, 0.4, 6.0))],
        run(INC, 10, gcp=0.1), {"table": "t", "method": BETA, "k": 10, "refused": "why"},
    ]  # fmt: skip
    found = verdicts(by_k=rows)
    assert found["1 beta_GE has the highest GCP"][0] == "NO"
    assert found["1 beta_GE has the highest GCP"][1].startswith("1 of 2")
    assert found["1 beta_GE has the lowest RL"][0] == "yes"
    assert found["2 GCP of kInc_GE is below kAgg_GE"][0] == "yes"
    assert found["3 kAgg_GE has the highest RL"][0] == "NO"
    assert found["3 kAgg_GE has the highest RL"][1].startswith("1 of 2: mean")
    assert found["4 GCP of beta_GE hardly changes with k"][0] == "yes"


def test_equal_figures_have_no_rank() -> None:
    """By 10 %; seconds by a factor of 4."""
    rows = [
        run(method, k, gcp=gcp, method_seconds=seconds)
        for k in (3, 5)
        for method, gcp, seconds in ((INC, 0.38, 12.0), (AGG, 0.3, 2.5), (BETA, 0.4, 1.0))
    ]
    found = verdicts(by_k=rows)
    shown = "0 of 2, 2 undecided: mean kInc_GE 0.38, kAgg_GE 0.3, beta_GE 0.4"
    assert found["1 beta_GE has the highest GCP"] == ("-", shown)
    assert found["1 beta_GE has the lowest RL"][0] == "-"
    assert found["9 beta_GE is the fastest"][0] == "-"
    assert found["9 kAgg_GE is faster than kInc_GE"][0] == "yes"
    rows[0]["gcp"] = 0.5  # beyond that of beta_GE
    assert verdicts(by_k=rows)["1 beta_GE has the highest GCP"][0] == "NO"
    rows[2]["method_seconds"] = 11.0  # more than four times that of kAgg_GE
    assert verdicts(by_k=rows)["9 beta_GE is the fastest"][0] == "NO"


def drawn(name: str, *draws: float) -> Row:
    return {name: sum(draws) / len(draws), f"{name}_drawn": list(draws)}


def test_ranks_that_draws_do_not_agree_on() -> None:
    """Of a figure, and of the difference of two, seed by seed."""

    def found(beta: Row, agg: Row) -> dict[str, tuple[str, str]]:
        rows = [run(BETA, **beta), run(AGG, **agg), run(INC, gcp=0.1, average=9.0, smallest=8)]
        return verdicts(by_k=rows)

    claim = "1 beta_GE has the highest GCP"
    assert found(drawn("gcp", 0.4, 0.5), drawn("gcp", 0.2, 0.3))[claim][0] == "yes"
    assert found(drawn("gcp", 0.4, 0.5), drawn("gcp", 0.2, 0.51))[claim][0] == "-"
    assert found(drawn("gcp", 0.2, 0.3), drawn("gcp", 0.4, 0.5))[claim][0] == "NO"
    claim = "5 average less smallest class is the largest of beta_GE"
    smallest = drawn("smallest", 2, 12)
    narrow = {**drawn("average", 5, 15), **smallest}  # 3 of each, though averages overlap
    assert found({**drawn("average", 9, 19), **smallest}, narrow)[claim][0] == "yes"
    assert found({**drawn("average", 14, 14), **smallest}, narrow)[claim][0] == "-"
    assert found(narrow, {**drawn("average", 9, 19), **smallest})[claim][0] == "NO"
    assert found(narrow, narrow)[claim][0] == "-"


def test_seconds_along_j() -> None:
    def by_j(*seconds: float) -> dict[str, tuple[str, str]]:
        bounds = (0.1, 0.3, 0.6) if len(seconds) == 3 else (0.1, 0.2, 0.3, 0.6)
        rows = [run(INC, j=j, method_seconds=of) for j, of in zip(bounds, seconds, strict=True)]
        return verdicts(by_j=rows)

    faster = "9 J below 0.3 is faster than others: kInc_GE"
    same = "9 seconds are the same for J from 0.3 on: kInc_GE"
    assert by_j(1, 5, 6)[faster] == ("yes", "2 of 2: 1 / 5, 6")
    assert by_j(1, 2, 5)[faster] == ("-", "1 of 2, 1 undecided: 1 / 2, 5")
    assert by_j(12, 2, 5)[faster][0] == "NO"
    # Every J below is compared with every other.
    assert by_j(1, 1.2, 5, 6)[faster] == ("yes", "4 of 4: 1, 1.2 / 5, 6")
    assert by_j(1, 1.2, 6, 4.5)[faster] == ("mostly", "3 of 4, 1 undecided: 1, 1.2 / 6, 4.5")
    assert by_j(1, 2, 4, 5)[faster][0] == "-"
    assert by_j(1, 30, 4, 5)[faster][0] == "NO"
    assert by_j(1, 2, 5)[same] == ("-", "2, 5")
    assert by_j(1, 1, 5)[same][0] == "NO"


def test_trends() -> None:
    by_beta = ((2, 0.4, 9.0), (1, 0.6, 8.0), (4, 0.5, 7.0))
    rows = [run(INC, beta=beta, gcp=gcp, rl=rl) for beta, gcp, rl in by_beta]
    found = verdicts(by_beta=rows)
    assert found["6 GCP falls with beta: kInc_GE"] == ("NO", "0.6, 0.4, 0.5")
    assert found["6 RL grows with beta: kInc_GE"] == ("NO", "8, 9, 7")


def test_trends_that_say_little() -> None:
    """Ends that are equal are no trend, and steps within what tables differ by are none."""
    rows = [run(INC, beta=beta, rl=rl) for beta, rl in ((1, 8.0), (2, 8.1), (4, 8.2))]
    assert verdicts(by_beta=rows)["6 RL grows with beta: kInc_GE"] == ("NO", "8, 8.1, 8.2")
    for draws, holds in (((7.0, 11.0, 9.0), "-"), ((11.0, 12.0, 13.0), "yes")):
        rows = [
            run(INC, beta=1, rl=8.0, rl_drawn=[6.0, 8.0, 10.0]),
            run(INC, beta=4, rl=12.0, rl_drawn=list(draws)),
        ]
        assert verdicts(by_beta=rows)["6 RL grows with beta: kInc_GE"][0] == holds
    for last, holds in (((6.1, 8.2, 10.3), "slightly"), ((6.1, 8.2, 9.9), "NO")):
        rows[1] |= {"rl": 8.2, "rl_drawn": list(last)}
        assert verdicts(by_beta=rows)["6 RL grows with beta: kInc_GE"][0] == holds


def test_suppressed() -> None:
    lost = [run(INC, j=0.1, suppressed=12), run(AGG, j=0.1, suppressed=40), run(INC, suppressed=11)]
    by_k = [run(INC, k=3, suppressed=0), run(AGG, k=3, suppressed=0)]
    found = verdicts(by_j=[*lost, run(BETA, j=0.1)], by_k=by_k)
    claim = "7 at most 0.275 % are suppressed by"
    assert found[f"{claim} kInc_GE, J < 0.3"] == ("NO", "0.30% at most")
    assert found[f"{claim} kAgg_GE, J < 0.3"] == ("NO", "1.00% at most")
    assert found[f"{claim} kInc_GE, J >= 0.3"] == ("yes", "0.27% at most")
    assert found[f"{claim} kInc_GE, whatever k"][0] == "yes"
    assert found[f"{claim} beta_GE, J < 0.3"] == ("yes", "0.00% at most")
    # The whole table is one cluster: it can only be more.
    one = {"by_j": [run(BETA, clusters=1)], "by_k": [run(BETA, k=3, clusters=1)]}
    one_cluster = verdicts(**one)
    for said in ("J >= 0.3", "whatever k"):
        assert one_cluster[f"{claim} beta_GE, {said}"] == ("-", "0.00% at most")
    one["by_j"][0]["clusters"] = 1.5  # of two tables
    assert verdicts(**one)[f"{claim} beta_GE, J >= 0.3"][0] == "yes"
    whole = [run(BETA, j=0.1, suppressed=12), run(BETA, suppressed=1, suppressed_most=12)]
    for said in ("J < 0.3", "J >= 0.3"):
        assert verdicts(by_j=whole)[f"{claim} beta_GE, {said}"] == ("NO", "0.30% at most")
    assert found["7 beta_GE suppresses fewest"][0] == "yes"
    fewer = "7 kInc_GE suppresses fewer than kAgg_GE"
    assert found[fewer] == ("-", "1 of 2, 1 undecided: mean kAgg_GE 20, kInc_GE 6")
    # One draw above the limit is enough, and ends that are equal are no trend.
    one = [run(INC, suppressed=3, suppressed_most=12)]
    assert verdicts(by_j=one)[f"{claim} kInc_GE, J >= 0.3"][0] == "NO"
    assert found["7 more are suppressed at small J: kInc_GE"] == ("NO", "12, 11")
    assert (
        verdicts(by_j=[run(BETA, suppressed=1), run(INC), run(AGG, suppressed=2)])[
            "7 beta_GE suppresses fewest"
        ][0]
        == "NO"
    )


def test_nobody_suppresses_anybody() -> None:
    """Ties at 0 are no rank, and no line."""
    rows = [run(method, j=j) for method in (INC, AGG, BETA) for j in (0.1, 0.3)]
    found = verdicts(by_j=rows)
    shown = "0 of 2, 2 undecided: mean kInc_GE 0, kAgg_GE 0, beta_GE 0"
    assert found["7 beta_GE suppresses fewest"] == ("-", shown)
    assert found["7 kInc_GE suppresses fewer than kAgg_GE"][0] == "-"
    assert found["7 more are suppressed at small J: kInc_GE"] == ("-", "0, 0")
    rows[4]["suppressed"] = 1
    assert verdicts(by_j=rows)["7 beta_GE suppresses fewest"][0] == "NO"


def test_loss_of_those_who_are_left_out() -> None:
    """By method, where there are some: RGCP counts them, and GCP does not, so that it can only be
    not below."""
    lost = {"suppressed": 3, "gcp": 0.3}
    rows = [
        run(INC, k=3, **lost, rgcp=0.4), run(INC, k=5, rgcp=0.2), run(INC, k=10, **lost, rgcp=0.31),
        run(AGG, k=3, **lost, rgcp=0.4), run(AGG, k=5, **lost, rgcp=0.3),
        run(BETA, k=3, rgcp=0.4), run(BETA, k=5, rgcp=0.4),
    ]  # fmt: skip
    found = verdicts(by_k=rows)
    claim = "8 GCP is below RGCP"
    assert found[f"{claim}: kInc_GE"] == ("-", "2 of 2: nobody is left out in 1 of 3")
    assert found[f"{claim}: kAgg_GE"] == ("NO", "1 of 2: nobody is left out in 0 of 2")
    assert found[f"{claim}: beta_GE"] == ("-", "nobody is left out in 2 of 2")
    assert f"{claim}: kAgg_GE" not in verdicts(by_k=rows[:3])


def test_reallocated_loss() -> None:
    rows = [
        run(BETA, j=j, gcp=0.3, rgcp=rgcp, suppressed=3) for j, rgcp in ((0.1, 0.5), (0.3, 0.4))
    ]
    found = verdicts(by_j=rows)
    assert found["8 GCP is at most RGCP"] == ("-", "2 of 2: by definition")
    below = "8 GCP is below RGCP: beta_GE"
    assert found[below] == ("-", "2 of 2: nobody is left out in 0 of 2")
    claim = "8 the gap is largest at the smallest J: beta_GE"
    assert found[claim] == ("yes", "0.2, 0.1")
    # What rounding leaves is no gap.
    rows = [
        run(BETA, j=j, gcp=0.3, rgcp=0.3 + more, suppressed=3)
        for j, more in ((0.1, -1e-16), (0.3, 1e-16))
    ]
    found = verdicts(by_j=rows)
    assert found[claim][0] == "-"
    assert found[below][0] == "NO"
    assert found["8 GCP is at most RGCP"][0] == "-"
    assert verdicts(by_j=[run(BETA, rgcp=0.2)])["8 GCP is at most RGCP"][0] == "NO"


@pytest.mark.parametrize(
    ("gaps", "holds"),
    [((0.3, 0.2, 0.1), "yes"), ((0.3, 0.0, 0.0), "yes"), ((0.2, 0.19, 0.1), "-"),
     ((0.2, 0.1, 0.3), "NO"), ((0.2, 0.19, 0.3), "NO"), ((0.0, 0.0, 0.1), "NO"),
     ((0.0, 0.0, 0.0), "-"), ((0.2, 0.2, 0.2), "-")],
)  # fmt: skip
def test_largest_gap(gaps: tuple[float, ...], holds: str) -> None:
    """Gaps that are equal have no largest, and one that is larger is enough to contradict."""
    rows = [
        run(BETA, j=j, gcp=0.3, rgcp=0.3 + gap)
        for j, gap in zip((0.1, 0.3, 0.6), gaps, strict=True)
    ]
    found = verdicts(by_j=rows)["8 the gap is largest at the smallest J: beta_GE"]
    assert found[0] == holds
    if 0.0 not in gaps:
        assert found[1] == ", ".join(f"{gap:g}" for gap in gaps)


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [((0.5, 0.7), (0.4, 0.6), "yes"), ((0.5, 0.7), (0.25, 0.75), "-"),
     ((0.4, 0.6), (0.5, 0.7), "NO")],
)  # fmt: skip
def test_gaps_by_draws(first: tuple[float, float], second: tuple[float, float], holds: str) -> None:
    """Those of RGCP and GCP of a seed, whose gaps agree though neither figure does."""
    rows = [
        run(BETA, j=j, **drawn("rgcp", *of), **drawn("gcp", 0.3, 0.5))
        for j, of in ((0.1, first), (0.3, second))
    ]
    claim = "8 the gap is largest at the smallest J: beta_GE"
    assert verdicts(by_j=rows)[claim][0] == holds


def test_columns_by_draws() -> None:
    """Of the middles of ranges those of the middles, and in units those of the column."""
    age = {"difference": 0.05, "absolute": 0.2, "values": 70, "numeric": True, "column": "age",
           "span": 60}  # fmt: skip
    sex = {**age, "values": 2, "span": 1, "numeric": False, "column": "sex"}
    (mic, _) = MIC

    def found(of_age: Row, of_sex: Row, of_mic: Row) -> dict[str, str]:
        columns = [run(INC, **age, **of_age), run(INC, **sex, **of_sex), run(mic, **age, **of_mic)]
        judged = verdicts(by_k=[run(INC)], columns=columns)
        spans = "10 EMD in spans of the column is larger for columns with more values"
        more = int(of_age["emd"] > of_sex["emd"])
        assert judged[spans] == ("-", f"sex, age: {more} of 1")
        return {claim: holds for claim, (holds, _) in judged.items()}

    middles = "10 EMD of numbers: kInc_Mic is below kInc_GE (emd midpoint)"
    means = "10 EMD of numbers: kInc_Mic is below kInc_GE (emd)"
    units = "10 EMD in units of the column is larger for columns with more values"
    of_age = {**drawn("emd", 0.1, 0.2), **drawn("emd_midpoint", 0.3, 0.4)}
    said = found(of_age, drawn("emd", 0.9, 1.0), drawn("emd", 0.2, 0.3))
    assert (said[middles], said[means], said[units]) == ("yes", "NO", "yes")
    said = found(of_age, drawn("emd", 13.0, 1.0), drawn("emd", 0.35, 0.1))
    assert (said[middles], said[means], said[units]) == ("-", "-", "-")  # 6, 12 / 13, 1
    said = found(of_age, drawn("emd", 13.0, 14.0), drawn("emd", 0.5, 0.6))
    assert (said[middles], said[means], said[units]) == ("NO", "NO", "NO")
    assert found(of_age, drawn("emd", 0.01, 0.02), drawn("emd", 0.2, 0.2))[units] == "yes"
    assert found(of_age, drawn("emd", 9.0, 9.0), drawn("emd", 0.2, 0.2))[units] == "-"  # equal


@pytest.mark.parametrize(
    ("ours", "holds"),
    [((40.0, 44.0), "NO"), ((50.0, 54.0), "yes"), ((52.0, 53.0), "yes"), ((40.0, 51.0), "yes"),
     ((60.0, 64.0), "NO"), ((30.0, 55.0), "-"), ((75.0, 49.0), "-")],
    ids=["lower", "equal", "hardly higher", "equal by means", "higher", "lower by one",
         "higher by one"],
)  # fmt: skip
def test_links_of_the_baseline(ours: tuple[float, float], holds: str) -> None:
    """Equal, or another number where draws agree."""
    baseline = [run(INC, **drawn("rl", *ours)), run(BASELINE, **drawn("rl", 48.0, 52.0))]
    for row in baseline:
        row |= dict.fromkeys(ERRORS, 0.1)
    claim = "11 RL of kInc_GE is that of the baseline"
    assert verdicts(baseline=baseline)[claim][0] == holds


def test_most_that_the_baseline_suppresses() -> None:
    """In one draw."""
    claim = "11 the baseline suppresses up to 30%"
    for figures, holds in (
        ({"suppressed": 400, "suppressed_most": 1200}, ("yes", "30.0% at most")),
        ({"suppressed": 1200, "suppressed_most": 1600}, ("NO", "40.0% at most")),
        ({"suppressed": 400}, ("NO", "10.0% at most")),
    ):
        row = run(BASELINE, **dict.fromkeys(ERRORS, 0.2), **figures)
        assert verdicts(baseline=[row])[claim] == holds


def test_columns_and_baseline() -> None:
    far = {"difference": 0.05, "absolute": 0.2, "values": 70, "numeric": True, "column": "age"}
    far["span"] = 60
    sex = {**far, "values": 2, "span": 1, "numeric": False, "column": "sex"}
    (mic, _) = MIC
    columns = [
        run(INC, **far, emd=0.01, emd_midpoint=0.05),
        run(mic, **far, emd=0.04, emd_midpoint=0.04),
        run(INC, **sex, emd=0.02, emd_midpoint=0.02),
    ]
    baseline = [
        run(INC, beta=3, **dict.fromkeys(ERRORS, 0.1), gcp=0.2),
        run(BASELINE, **{**dict.fromkeys(ERRORS, 0.2), ERRORS[-1]: 0.05}, suppressed=1200),
    ]
    found = verdicts(by_k=[run(INC)], columns=columns, baseline=baseline)
    assert found["10 mean relative difference of kInc_GE is below 0.1"][0] == "yes"
    assert found["10 EMD of numbers: kInc_Mic is below kInc_GE (emd)"][0] == "NO"
    assert found["10 EMD of numbers: kInc_Mic is below kInc_GE (emd midpoint)"][0] == "yes"
    # In years: 0.6 is more than 0.02.
    claim = "of the column is larger for columns with more values"
    assert found[f"10 EMD in units {claim}"] == ("yes", "sex, age")
    assert found[f"10 EMD in spans {claim}"] == ("-", "sex, age: 0 of 1")
    assert found["11 GCP of kInc_GE is below the baseline"][0] == "yes"
    claim = "11 the baseline suppresses up to 30%"
    assert found[claim] == ("yes", "30.0% at most")


@pytest.mark.parametrize(
    ("errors", "holds"),
    [([0.1] * 4, "yes"), ([0.1] * 3 + [0.4], "yes"), ([0.1] * 2 + [0.2, 0.4], "-"),
     ([0.1] + [0.4] * 3, "NO"), ([0.2] * 4, "-")],
)  # fmt: skip
def test_most_cases(errors: list[float], holds: str) -> None:
    """Of all selectivities together."""
    ours = run(INC, **dict(zip(ERRORS, errors, strict=True)))
    found = verdicts(baseline=[ours, run(BASELINE, **dict.fromkeys(ERRORS, 0.2))])
    assert found["11 query error of kInc_GE is below the baseline in most cases"][0] == holds


def test_columns_with_as_many_values() -> None:
    """They have no rank: 72 and 70 values are as many."""
    kept = {"difference": 0.0, "absolute": 0.0, "numeric": True, "span": 1, "emd_midpoint": 0.1}
    sizes = {"sex": (2, 0.1), "weight": (70, 0.4), "age": (72, 0.3)}
    columns = [run(INC, column=c, values=n, emd=emd, **kept) for c, (n, emd) in sizes.items()]
    units = "10 EMD in units of the column is larger for columns with more values"
    assert verdicts(columns=columns)[units] == ("yes", "sex, weight, age")
    columns[0]["emd"] = 0.35
    assert verdicts(columns=columns)[units][0] == "NO"


def test_points_of_the_map() -> None:
    rows = [run(INC), {"table": "t", "method": AGG, "refused": "why"}]
    (point,) = risk_and_utility({"by_k": rows})
    assert (point["risk"], point["loss"], point["method"]) == (0.01, 0.3, INC)


def test_bounds_that_leave_the_same_clusters_are_one_setting() -> None:
    rows = [
        run(method, j=j, clusters=clusters, gcp=gcp, average=average)
        for j, clusters, average in ((0.1, 3, 9.0), (0.3, 1, 8.0), (0.6, 1, 8.0))
        for method, gcp in ((INC, 0.2), (AGG, 0.3), (BETA, 0.4))
    ]
    found = verdicts(by_j=rows)
    assert found["1 beta_GE has the highest GCP"][1].startswith("2 of 2")
    assert found["5 average class grows with J: beta_GE"] == ("NO", "9, 8")


def test_means_over_tables() -> None:
    """Of what tables refuse, the others' count; of one table, its row is kept as it is."""
    asked = {"table": "t", "method": INC, "k": 5, "beta": 3, "j": 0.8}
    rows = [
        {**asked, "gcp": 0.25, "clusters": 2, "method_seconds": 3.0},
        {**asked, "refused": "why"},
        {**asked, "gcp": 0.75, "clusters": 1},
        {**asked, "k": 3, "refused": "why"},
    ]
    found, refused = means(rows)
    assert found == {
        **asked, "gcp": 0.5, "clusters": 1.5, "method_seconds": 3.0, "draws": 2,
        "gcp_drawn": [0.25, 0.75], "gcp_least": 0.25, "gcp_most": 0.75,
    }  # fmt: skip
    assert refused == rows[3]
    assert list(means(rows[:1])) == rows[:1]
