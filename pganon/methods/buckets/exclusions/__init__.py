"""Exclusion rules: values that cannot occur together in one record, as readers know."""
