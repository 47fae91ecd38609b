"""The report of a version, for a data protection officer or a board.

A document of JSON is built from what is stored of the version (:mod:`pganon.report.document`), and
a page is made from that document alone (:mod:`pganon.report.page`). No connection is opened here,
and the source is not read: a figure that no run measured is missing, and the report says so.
"""
