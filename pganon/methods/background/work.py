"""How many priors there are, and combinations of quasi-identifiers that have one.

The tables are in :mod:`pganon.published.work`, where forms can read them, too.
"""

from __future__ import annotations

from pganon.steps.facts import count

NUMBER_OF_CELLS = count("qi_cells", assumed=40)
NUMBER_OF_VECTORS = count("vectors", assumed=40)
