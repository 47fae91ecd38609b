"""The append-only record of runs and what became of them."""
