"""The search of one-dimensional partitioning: pure functions over arrays of codes."""
