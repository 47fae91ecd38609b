"""Work tables of priors, which the methods against background knowledge read, and their sizes."""

from __future__ import annotations

from pganon.encode.work import Table, codes_of
from pganon.steps.facts import count

QI_CELLS = Table("qi_cells", lambda spec, state: ["cell", *codes_of(spec), "n"])
"""A row per combination of codes that occurs, from 1 in their order, 0 (NULL) last; `n` records."""

VECTORS = Table("vectors", lambda spec, state: ["vector", "probabilities"])
"""A row per distinct prior, from 1 in the order of its first cell: `probabilities` by code of the
sensitive value, then of the values that only a relation of priors knows."""

CELL_VECTORS = Table("cell_vectors", lambda spec, state: ["cell", "vector"])
"""A row per cell: the prior of its records."""

NUMBER_OF_CELLS = count("qi_cells", assumed=40)
NUMBER_OF_VECTORS = count("vectors", assumed=40)
