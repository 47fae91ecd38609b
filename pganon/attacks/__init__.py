"""Attacks on the release that a policy would make, against people who are not in it."""
