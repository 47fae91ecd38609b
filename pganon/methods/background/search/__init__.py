"""Classes of records with similar prior beliefs, whose sensitive values follow the table's.

Pure: histograms, probabilities and codes in; clusters, plans and classes out. k-anonymous
beta-likeness against background knowledge ("Hierarchical anonymization algorithms against
background knowledge attack in data releasing"): `linkage` clusters prior beliefs, `dropping` says
which clusters can be published, `buckets` and `selection` make classes from histograms
(beta-likeness-primacy), `primacy` grows them record by record (k-anonymity-primacy), and `reduce`
is the baseline of Riboni et al. `limits` is what a class must satisfy, `points` what the searches
know of a record, `posterior` what a reader can conclude.

Records, clusters and sensitive values are numbers from 0. Records come in the order in which ties
are broken.
"""
