"""What all versions about the same people may show together: one rule about groups.

Who has several versions can intersect their groups. A group of a new version is therefore new, the
same as in the versions before, or a function of one of them; docs/explanation/releases-over-time.md
says why nobody is told more then than by one version alone. Nothing is estimated.

What is here is pure: steps of a run over the owner's tables of who was in which group.
"""
