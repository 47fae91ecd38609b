"""Names of methods and parts of the benchmark against background knowledge."""

INC, AGG, BETA = "kInc_GE", "kAgg_GE", "beta_GE"
"""Methods as in the paper."""
OURS_INC, OURS_BETA = "kinc", "beta_primacy"
"""The same with the options of this project."""
MIC = ("kInc_Mic", "kAgg_Mic")
"""The first two with means and modes in place of ranges and sets."""
BASELINE = "JS-reduce"

VARIED = {"by_k": "k", "by_j": "j", "by_beta": "beta"}
"""Parts in which one parameter varies."""
SELECTIVITIES = (0.02, 0.05, 0.1, 0.2)
