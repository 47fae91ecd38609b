"""Combinatorial searches on codes of one bounded block, never on values."""
