"""The contract of a published form: its relations, statistics, members and metrics.

What a family publishes is in its `form/`; verification, publication and metrics read this.
"""
