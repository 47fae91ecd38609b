"""m-invariance: people keep the set of values that their groups show.

`signatures` are the statements, `stored` the rows that outlive a run.
"""
