"""Experiments of the paper on QS k-anonymity."""

from __future__ import annotations

from benchmarks.page import Figure, Panel, Paper

_BLOCKS = "greedy has blocks of 1,024 different records; efficient has blocks of 16,384, two of"

PAPER = Paper(
    title="QS k-anonymity: joined sources",
    about="reference/qs-k-anonymity.md",
    benchmark="qs",
    data="All 32,561 records of Adult, as in the paper, two sets of four columns, `count: product`,"
    " with taxonomies for categories; random subsets where the size varies. Greedy is"
    " drawn twice; efficient draws nothing that matters to the loss. Growth is about linear where"
    " r² of a line is at least 0.99, and the exponent of a power between 0.85 and 1.15.",
    settings={
        "losses": ("taxonomies",),
        "counts": ("product",),
        "ks": (2, 3, 4, 5, 8, 10, 15, 20),
        "attributes": (1, 2, 3, 4),
        "subsets": (2000, 4000, 8000, 16000),
        "draws": 2,
    },
    panels=(
        Panel(
            "QS k-anonymity by k",
            "Greedy has the lower GCP for every k, and both grow with k; efficient is faster, its"
            " time falls with k, and greedy's grows.",
            ("by_k",),
            [
                Figure("by_k", "k", "gcp", "k", "GCP"),
                Figure("by_k", "k", "method_seconds", "k", "seconds of the method"),
            ],
            why="For large k, residual records that greedy adds to the nearest cluster cost more"
            " than its choices gain. A larger k makes fewer clusters, and larger ones: seconds"
            " do not follow it.",
            differs=f"{_BLOCKS} the 19,805 different records",
        ),
        Panel(
            "QS k-anonymity by attributes per set",
            "With more attributes per set the loss falls, greedy's time falls, and efficient's"
            " rises; greedy has the lower loss, and efficient is faster.",
            ("by_attributes",),
            [
                Figure("by_attributes", "attributes", "gcp", "attributes per set", "GCP"),
                Figure("by_attributes", "attributes", "method_seconds", "attributes per set",
                       "seconds of the method"),
            ],
            why="Equal records are clustered together. With one or two columns per set there are"
            " far fewer different ones, and less for greedy to compare. With one, age and years of"
            " education, the next age is nearer than the next education: greedy takes 65 ages"
            " or more into a cluster before it has four educations, and makes five or six clusters,"
            " efficient 25.",
            differs=f"{_BLOCKS} the 16,595 and 19,805 different records with three and four"
            " columns",
        ),
        Panel(
            "QS k-anonymity by size",
            "The total loss grows about linearly with the number of records, and greedy's is the"
            " lowest at any size; greedy is slower.",
            ("by_size",),
            [
                Figure("by_size", "rows", "ncp_total", "records", "total NCP"),
                Figure("by_size", "rows", "method_seconds", "records", "seconds of the method"),
            ],
            differs=f"{_BLOCKS} the 19,805 different records of all",
            why="Losses lie on a line, which begins above zero: the exponent is about 0.9. More"
            " records have nearer neighbours.",
        ),
    ),
)  # fmt: skip
