"""Methods that publish exact quasi-identifiers and unlink sensitive values from them by group.

Anatomy (Xiao and Tao), slicing (Li et al.), SLAMSA, MSB and SLOMS for several sensitive
attributes, and m-invariance (Xiao and Tao 2007) for releases over time.
"""
