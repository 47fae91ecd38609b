"""Metrics of tables that buckets link, as anatomy, slicing and SLAMSA publish them.

They know of the form its :class:`~pganon.published.arrangement.Arrangement` and the published
relations alone. What a reader can count is an estimate: records of the last QIT, each with the
shares that what is asked for has in its buckets of the other relations.
"""
