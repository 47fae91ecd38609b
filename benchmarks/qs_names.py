"""Names of methods, counts and losses of the benchmark of QS k-anonymity."""

EFFICIENT, BLOCKS, ONE_BLOCK = "efficient", "greedy 1024", "greedy one block"
"""The three methods; the last is the algorithm of the paper without its partitioning."""
COUNTS = ("product", "supported")
TAXONOMIES, FLAT = "taxonomies", "flat"
LOSSES = (TAXONOMIES, FLAT)
"""Distances of categories: by their lowest common ancestor, as in the paper, or 0 and 1."""
K = 4
"""Where something else varies."""
