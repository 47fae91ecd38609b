"""Candidates of a policy, measured side by side on one snapshot of its source."""
