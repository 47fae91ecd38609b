"""Metrics of local generalization and bucketization, where a value is shown or in a bucket.

mwhere<w>    (row, attribute, form, number)   location of the value of an attribute of a row:
             form g, the code or group `number`; b, the hidden code or bucket; w, nowhere
mmatch<w>    (query, place, form, number, n)   share of the values at a location that match the
             predicate of a query in a place; no row: 0
mreach<w>    (query, row, n)   the product over all places

w is `source` for the records as they are, where every share is 1, and `shown` for the release.
"""
