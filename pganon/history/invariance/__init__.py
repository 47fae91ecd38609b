"""m-invariance: people keep the set of values that their groups show.

`value_sets` are the statements, `stored` the rows that outlive a run.
"""
