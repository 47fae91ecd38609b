"""Increments: who is new, which cohorts they form, and what a run reads of them.

A cohort is committed, owner only, before any sensitive value of its people is looked at. Counts and
quasi-identifiers alone decide who is in it; it is tested once, and its people are never pooled with
later ones. So whether a group appears says nothing about a value of one member rather than another:
the posterior of a value given all versions and all decisions is its share in the group.

    everybody   (snapshot columns, person)  every record of the source
    pending     (person, ...)               records of who was never released and is in no cohort
    newcomers   (person, region)            these people
    due         (person, cohort)            who is in a cohort that this run tests
    snap        the records of these people alone: what every method works on
"""
