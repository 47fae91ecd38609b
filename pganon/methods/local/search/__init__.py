"""Local generalization and bucketization (Li, He and Sun), on histograms and codes.

These functions read flags, numbers of records per value and codes of attributes, but never which
record has which sensitive value. So knowledge of the procedure discloses nothing.
"""
