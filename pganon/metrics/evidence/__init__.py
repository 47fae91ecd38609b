"""Evidence: what a report says of a version, for who decides on it.

A run measures it once, since the source is not read again for a report. It is a document of JSON
that holds counts, shares, and values that many people have; no combination of columns, and nothing
of a single group but its measures. How many they are, the policy says (`report.smallest`).
"""
