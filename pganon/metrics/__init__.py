"""Utility of a release, as SQL over codes of the source and published relations.

Metrics know nothing of a published form but its shape; see :mod:`pganon.forms.shape`.
Definitions, rules for NULL and for suppressed records are in docs/reference/measures.md.
"""
