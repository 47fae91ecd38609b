"""Increments: new individuals, the cohorts that they form, and the records that a run reads.

A cohort is committed, owner only, before any sensitive value of its people is read. Counts and
quasi-identifiers alone decide who is in it. It is tested once, and its people are never pooled with
later ones. So whether a group appears discloses nothing about a value of one member rather than
another: the posterior of a value, given all versions and all decisions, is its share in the group.

    everybody   (snapshot columns, person)  every record of the source
    pending     (person, ...)               records of people in no version and in no cohort
    newcomers   (person, region)            these people, the new individuals
    due         (person, cohort)            people of the cohorts that this run tests
    snap        the records of these people alone: what every method works on
"""
