"""Versions about the same people, and one rule about their groups.

A reader of several versions can intersect their groups. A group of a new version is therefore new,
the same as in the versions before, or a function of one of them.
docs/explanation/releases-over-time.md says why all versions together then disclose no more than one
of them. Nothing is estimated.

Steps of a run work on the owner's tables of who was in which group.
"""
