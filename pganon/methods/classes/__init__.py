"""Equivalence classes of generalized quasi-identifiers."""
