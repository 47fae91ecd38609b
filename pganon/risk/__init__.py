"""Re-identification risk in the population that a table is a sample of.

Pure functions of class sizes. Definitions are in docs/reference/measures.md.
"""
