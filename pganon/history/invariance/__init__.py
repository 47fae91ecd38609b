"""m-invariance (Xiao and Tao): the groups of a person show the same values in every version.

`signatures` has the steps of a run, `stored` the rows that outlive it.
"""
