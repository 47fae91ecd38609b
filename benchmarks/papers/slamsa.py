"""Experiments of the paper on SLAMSA."""

from __future__ import annotations

from benchmarks.page import Figure, Panel, Paper

PAPER = Paper(
    title="SLAMSA: several sensitive columns",
    about="reference/slamsa.md",
    benchmark="slamsa",
    data="Heart disease data (UCI): 297 complete records of Cleveland with the quasi-identifiers"
    " age and sex; and, as `pooled`, these with 261 Hungarian records that miss nothing but slope,"
    " ca and thal. The paper has 557 records and groups queries by up to four quasi-identifiers, of"
    " which the data have two (its third is a number of identity); for r = 3 and 4, cp and exang"
    " are quasi-identifiers here. Of its twelve sensitive columns only rbp, sc and thalach allow"
    " l = 3, and oldpeak l = 2. The error is the KL divergence; ties and fireflies are drawn anew"
    " in every draw.",
    settings={
        "degrees": (2, 3, 4, 6),
        "tuple_degrees": (2, 5, 10, 20),
        "pooled_degrees": (2, 3, 4, 5),
        "pooled_sizes": (100, 300, 500, 558),
        "draws": 3,
    },
    panels=(
        Panel(
            "SLAMSA, figures 1 and 2: error by p and r",
            "The error grows with the quasi-identifiers asked about (r) and with the privacy degree"
            " (p), and is lower than that of MSB and SLOMS.",
            ("by_column", "pooled"),
            (
                Figure("by_column", "p", "r2", "p", "mean KL, r = 2"),
                *(
                    Figure("pooled", "p", f"r{r}", "p", f"mean KL, r = {r}, pooled")
                    for r in (1, 2, 3, 4)
                ),
            ),
            claims=("error",),
        ),
        Panel(
            "SLAMSA, figure 3: error by m",
            "The error grows with the number of sensitive columns (m).",
            ("by_number", "pooled_by_number"),
            (
                Figure("by_number", "sensitive", "r2", "m", "mean KL, r = 2, p = 3"),
                Figure("pooled_by_number", "sensitive", "r4", "m", "mean KL, r = 4, p = 2, pooled"),
            ),
            claims=("error",),
            why="SLAMSA loses more with the fourth column, which has one value in a third of the"
            " records; up to three differ by less than draws do. The buckets of MSB ignore"
            " quasi-identifiers, so its error is high with one sensitive column, too. SLOMS has a"
            " table of its own for every column, so another one changes nothing.",
        ),
        Panel(
            "SLAMSA, figure 4: time by n",
            "Time grows slightly with the number of records (n), and SLAMSA is the fastest.",
            ("by_size", "pooled_by_size"),
            (
                Figure("by_size", "records", "seconds", "n", "seconds, p = 3"),
                Figure("pooled_by_size", "records", "seconds", "n", "seconds, p = 3, pooled"),
            ),
            claims=("seconds", "SLAMSA is"),
            why="Seconds are those of a whole run, with loading and verification. A search by"
            " fireflies does more than one pass of MSB.",
        ),
        Panel(
            "SLAMSA, figure 5: time by m",
            "Time grows with the number of sensitive columns (m), and SLAMSA is the fastest.",
            ("by_number", "pooled_by_number"),
            (
                Figure("by_number", "sensitive", "seconds", "m", "seconds, p = 3"),
                Figure("pooled_by_number", "sensitive", "seconds", "m", "seconds, p = 2, pooled"),
            ),
            claims=("seconds", "SLAMSA is"),
            why="Seconds are those of a whole run, with loading and verification. A search by"
            " fireflies does more than one pass of MSB.",
        ),
        Panel(
            "SLAMSA: what fireflies find",
            "Fireflies find optimal buckets. Measured is less: they are never worse than those of"
            " the median tree.",
            ("by_column",),
            (Figure("by_column", "p", "objective", "p", "objective per record"),),
            claims=("objective",),
        ),
        Panel(
            "SLAMSA: twelve sensitive columns",
            "All twelve sensitive columns are published with p up to 20, so that no value has a"
            " probability above 1 / p.",
            ("by_tuple",),
            (
                Figure(
                    "by_tuple", "p", "highest_probability", "p",
                    "highest probability of a value of one column",
                ),
            ),
            claims=("twelve",),
            why="Eight of the columns have a value in more than 40 % of the records, so only"
            " combinations of all twelve can be diverse, which bounds no single column.",
        ),
    ),
)  # fmt: skip
