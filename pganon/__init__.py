"""Anonymized data releases, computed, verified and published inside PostgreSQL."""
