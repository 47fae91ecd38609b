"""Experiments of the paper on background knowledge."""

from __future__ import annotations

from benchmarks.page import Figure, Panel, Paper

_KNOWN = ("gcp", "GCP"), ("rgcp", "RGCP"), ("rl", "RL (links)"), ("average", "records per class")


def _known(part: str, x: str, table: str) -> list[Figure]:
    return [Figure(part, x, y, x, said, {"table": table}) for y, said in _KNOWN]


PAPER = Paper(
    title="Background knowledge: beta-likeness and priors",
    about="reference/background-knowledge.md",
    benchmark="background",
    data="1,000 generated patients, after the paper's BKseq, which is not public: readers know what"
    " the exams were drawn from. And 1,000 of the 45,222 complete records of Adult, with priors by"
    " a kernel of bandwidth 2 for education and 0.3 else; the paper has 4,000. k = 5, beta = 3 and"
    " J = 0.8 where they do not vary. Residuals are absorbed, except in claim 7, where they are"
    " suppressed as in the paper. Lines without the paper's names are the methods as they are by"
    " default.",
    settings={
        "rows": 1000,
        "draws": 2,
        "sources": ("patients", "adult"),
        "ks": (3, 5, 10, 20),
        "js": (0.1, 0.3, 0.6, 0.8),
        "betas": (1, 2, 4, 6),
    },
    panels=(
        Panel(
            "Background knowledge, claims 1 to 3: loss and links by method",
            "beta_GE has the highest GCP and the lowest RL; kInc_GE has the lowest GCP, and kAgg_GE"
            " the highest RL.",
            ("by_k", "by_j", "by_beta"),
            [figure for table in ("patients", "adult") for figure in _known("by_k", "k", table)],
            claims=("1 ", "2 ", "3 "),
            why="RL is bounded by the number of classes, of which kAgg_GE makes as many as kInc_GE"
            " or fewer. Where residuals are absorbed, classes of the k-primacy methods grow.",
        ),
        Panel(
            "Background knowledge, claims 4 to 6: by k, J and beta",
            "GCP of beta_GE hardly changes with k; classes grow with k and J; GCP falls and RL"
            " grows with beta.",
            ("by_k", "by_j", "by_beta"),
            [
                figure
                for table in ("patients", "adult")
                for part, x in (("by_j", "j"), ("by_beta", "beta"))
                for figure in _known(part, x, table)
            ],
            claims=("4 ", "5 ", "6 "),
            why="The fewest buckets that a limit allows are tight, and tight buckets do not split.",
        ),
        Panel(
            "Background knowledge, claim 7: who is left out, by J and k",
            "At most 0.275 % are suppressed, fewest by beta_GE, fewer by kInc_GE than by kAgg_GE,"
            " and more at small J.",
            ("left_out", "left_out_by_k", "by_k", "by_j"),
            [
                Figure(part, x, "suppressed", x, "records suppressed", {"table": table})
                for table in ("patients", "adult")
                for part, x in (("left_out", "j"), ("left_out_by_k", "k"))
            ],
            claims=("7 ",),
            why="A cluster of people about whom the same is known tends to have values unlike those"
            " of the table, and then has no class that the model allows.",
        ),
        Panel(
            "Background knowledge, claim 8: GCP and RGCP",
            "GCP is at most RGCP, and the gap is largest at the smallest J.",
            ("by_k", "by_j", "by_beta"),
            claims=("8 ",),
        ),
        Panel(
            "Background knowledge, claim 9: time",
            "beta_GE is the fastest, kAgg_GE faster than kInc_GE, and small J faster than large.",
            ("by_k", "by_j", "by_beta"),
            [
                Figure(
                    "by_j", "j", "method_seconds", "J", "seconds of the method", {"table": table}
                )
                for table in ("patients", "adult")
            ],
            claims=("9 ",),
        ),
        Panel(
            "Background knowledge, claim 10: distributions of columns",
            "Mean relative differences of kInc_GE and kAgg_GE are below 0.1; beta_GE has the"
            " largest EMD; columns with more values have larger ones; means (Mic) are better for"
            " numbers and ranges for texts.",
            ("columns",),
            claims=("10 ",),
            why="Each of a few rare values that a class covers adds much to a mean of relative"
            " differences.",
        ),
        Panel(
            "Background knowledge, claim 11: the baseline, t-closeness",
            "With t = 0.5 and J = 0.6, GCP and query errors are below the baseline's, which is"
            " faster and suppresses up to 30 %.",
            ("baseline",),
            [
                Figure("baseline", "k", "gcp", "k", "GCP", {"table": table, "t": 0.5})
                for table in ("patients", "adult")
            ],
            claims=("11 ",),
        ),
        Panel(
            "Background knowledge, claim 11 with beta 4 and J 0.6",
            "With beta = 4 and J = 0.6, GCP is below the baseline's at equal RL.",
            ("likeness",),
            [
                Figure("likeness", "k", y, "k", said, {"table": table})
                for table in ("patients", "adult")
                for y, said in _KNOWN[:3]
            ],
            claims=("11 ",),
            why="The baseline has t-closeness with t = 0.5, beta-likeness is stricter for rare"
            " values.",
        ),
    ),
)
