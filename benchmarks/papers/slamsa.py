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
    " are quasi-identifiers here. Of its twelve sensitive columns only rbp, sc, thalach and, of"
    " Cleveland, oldpeak allow l = 3. MSB and SLOMS ask for distinct values; MSB"
    " ignores quasi-identifiers, which it generalizes in the paper, and SLOMS has groups of p"
    " records. The error is the KL divergence; ties and fireflies are"
    " drawn anew in every draw.",
    elsewhere="k-anonymity and protection of membership are denied, since quasi-identifiers are"
    " exact; gamma of equations 5 and 6 is no correlation, and Cramér's V takes its place; the"
    " example's probability is 1/2 for who knows that women have no prostate cancer, not 1/3:"
    " [differences](reference/slamsa.md#differences-from-the-paper).",
    settings={
        "pooled_degrees": (2, 3, 4, 5),
        "pooled_sizes": (100, 300, 500, 558),
        "methods": ("SLAMSA", "MSB", "SLOMS"),
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
            claims=("error", "SLAMSA has"),
            differs="m = 3 instead of 10, which allow no l above 1; p up to 8 and 5, the most that"
            " these columns allow; r of 1 and 2 of two quasi-identifiers, for the paper's 2 to 4",
        ),
        Panel(
            "SLAMSA, figure 2: error by p up to 20",
            "The same for the paper's p, with as many columns as allow it.",
            ("by_degree", "pooled_by_degree"),
            (
                Figure("by_degree", "p", "r2", "p", "mean KL, r = 2, m = 2"),
                Figure("pooled_by_degree", "p", "r4", "p", "mean KL, r = 4, m = 1, pooled"),
            ),
            claims=("error", "SLAMSA has"),
            differs="m = 2 (sc, thalach) and, of all records, m = 1 (sc)",
        ),
        Panel(
            "SLAMSA, figure 3: error by m",
            "The error grows with the number of sensitive columns (m), and is lower than that of"
            " MSB and SLOMS.",
            ("by_number", "pooled_by_number"),
            (
                Figure("by_number", "sensitive", "r2", "m", "mean KL, r = 2, p = 3"),
                Figure("pooled_by_number", "sensitive", "r4", "m", "mean KL, r = 4, p = 2, pooled"),
            ),
            claims=("error", "SLAMSA has"),
            differs="m of 1 to 4 instead of 3 to 12, p = 3 and 2; r = 2 where there are two"
            " quasi-identifiers",
            why="With the first three columns the error differs by less than draws do; that it"
            " grows is due to the fourth, of which one value has 32 % of Cleveland's records and"
            " 47 % of all, about as many as p allows, so it says nothing about m. The buckets"
            " of MSB ignore quasi-identifiers, so its error is high with one sensitive column,"
            " too. SLOMS has a table of its own for every column, so another one changes"
            " nothing.",
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
            differs="m = 3 instead of 4, which allow no p = 3 of all records; seconds are those of"
            " a whole run, with loading and verification",
            why="A search by fireflies does more than one pass of MSB.",
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
            differs="n = 297 and 558 instead of 500; m of 1 to 4 instead of 3 to 12; p = 2 of all"
            " records; seconds of a whole run",
            why="A search by fireflies does more than one pass of MSB.",
        ),
        Panel(
            "SLAMSA: what fireflies find",
            "Fireflies find optimal buckets.",
            ("optimum", "by_column"),
            (Figure("by_column", "p", "objective", "p", "objective per record"),),
            claims=("objective",),
            differs="the objective, which the paper does not name: distances to the means of"
            " buckets. The optimum is that of all partitions of ten random records, p = 2, m = 1",
            why="Halves of halves are not all partitions, and better halves need not make a better"
            " partition.",
        ),
        Panel(
            "SLAMSA: what fireflies search",
            "Fireflies search the sensitive columns for sensitive tables. Here they search the"
            " quasi-identifiers for all tables; what the other would do was measured in memory.",
            ("spaces",),
            (
                Figure("spaces", "p", "objective", "p", "distance of quasi-identifiers",
                       by=("space",)),
                Figure("spaces", "p", "range", "p", "range of values, of the column's",
                       by=("space",)),
            ),
            claims=("distance", "range"),
            differs="m = 1 (sc)",
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
            differs="the data have two quasi-identifiers",
            why="Eight of the columns have a value in more than 40 % of the records, so only"
            " combinations of all twelve can be diverse, which bounds no single column.",
        ),
    ),
)  # fmt: skip
