"""What all versions of a population tell together: who may still be who, and have which value.

Nobody who was in the same group of every version can be told apart, so people with the same past
form a *cell*. The memory of a population is the cell of every person, and bounds on how many
people of a cell have a value. A version refines the cells and tightens the bounds; cells that it
makes must satisfy what their people were promised. docs/explanation/releases-over-time.md has the
theorems.

What is here is pure: steps of a run, over tables that :mod:`pganon.guard.work` declares.
"""
