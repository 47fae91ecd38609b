"""Metrics of local generalization and bucketization, where a value is shown or in a bucket.

mwhere       (row, attribute, form, number)   location of the value of an attribute of a row: form
             g, the group `number`; b, the bucket; w, nowhere
mmatch       (query, place, attribute, form, number, n)   share of the values at a location that
             match the predicate of a query in a place; no row: 0
mreach<p>    (query, row, n)   the product over so many places
"""
