"""Losses that every run of local generalization and bucketization observes; metrics read them."""

from __future__ import annotations

from pganon.forms.facts import MEASURE
from pganon.steps.facts import count, measure

LOSS = measure("loss", MEASURE)
"""Loss of all values that are generalized or withheld, added up."""

PAPER_LOSS = measure("paper_loss", MEASURE)
"""The same by the loss of the paper."""

CELLS = measure("cells", MEASURE)
"""Number of these values."""

SUPPRESSED_CELLS = count("suppressed_cells", MEASURE, assumed=0)
"""Number of values that suppressed records would have shown."""
