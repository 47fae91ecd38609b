"""What happens in the publishing transaction and to versions afterwards.

Staged tables become stored versions with views and grants; versions are rolled back, dropped,
exported and forgotten.
"""
