"""Local generalization and bucketization (Li, He and Sun), on histograms and codes.

What is decided here sees flags, numbers of records per value and codes of attributes, never which
record has which sensitive value: who knows the procedure learns nothing by it.
"""
