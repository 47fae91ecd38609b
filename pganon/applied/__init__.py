"""Policies in the database: stored, checked against its catalog, and compared."""
