"""Policies: what a steward writes, and every rule that needs neither catalog nor data.

Pydantic models by section of the document, the loader that reports all problems at once with line
and field, and what a policy is guessed from.
"""
