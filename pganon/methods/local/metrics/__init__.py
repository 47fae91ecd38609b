"""Metrics of local generalization and bucketization, where a value is shown or in a bucket.

mwhere<w>    (row, attribute, form, number)   where the value of an attribute of a row is to be
             found: form g, the code or group `number`; b, the hidden code or bucket; w, nowhere
mmatch<w>    (query, place, form, number, n)   share of what is to be found there that matches what
             a query asks in a place; no row: nothing
mreach<w>    (query, row, n)   the product over all places

w is `source` for the records as they are, where every share is 1, and `shown` for the release.
"""
