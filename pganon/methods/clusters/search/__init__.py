"""Worlds of a cluster as exact covers: pure functions on numbers of values."""
