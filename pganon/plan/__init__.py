"""The list of steps of a run, built from a resolved policy and rendered from counts only.

`pganon plan` prints the list that the executor walks.
"""
