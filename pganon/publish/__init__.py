"""The publishing transaction, and published versions.

Staged tables become stored versions with views and grants. Versions are rolled back,
dropped and exported.
"""
