"""What a classification answers, and why it may not: apart from what needs NumPy to be imported."""

from __future__ import annotations

MOST_LABELS = 100
"""Different values of a target beyond which nothing is trained."""

ANSWERS = ("original", "published", "transfer", "baseline")
TOO_FEW, ONE_VALUE, MANY_VALUES, NO_CONVERGENCE = 1, 2, 3, 4
"""Problems, as the figure `problem` says them; 0 is none."""
