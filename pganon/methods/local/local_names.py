"""Names of columns and parts that local generalization and bucketization adds to a release."""

from __future__ import annotations


def bucket_column(published: str) -> str:
    """The column with the number of the bucket that has the value of a record."""
    return f"{published}_bucket"


def form_column(published: str) -> str:
    """The column that says how the value of a record is shown."""
    return f"{published}_form"


def values_part(published: str) -> str:
    """The part of a release with the values of a column's buckets."""
    return f"values_{published}"
