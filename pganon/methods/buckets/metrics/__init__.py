"""Metrics of tables linked by buckets, as anatomy, slicing and SLAMSA publish them.

They depend only on the shape of the release and the published relations. A reader estimates a count
from the records of the last QIT. Each is weighted by the shares that match the question in its
buckets of the other relations.
"""
