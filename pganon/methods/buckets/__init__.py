"""Exact quasi-identifiers beside values by group: anatomy and its relatives.

Anatomy (Xiao and Tao), slicing (Li et al.), SLAMSA, MSB and SLOMS for several sensitive
attributes, and buckets that keep their sets of values (m-invariance).
"""
