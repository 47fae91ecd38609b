"""Experiments of papers: what each claims, and which parts of a benchmark repeat it.

Settings end in minutes per part. Figures are named by their numbers where the text of a paper has
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.page import Paper
from benchmarks.papers import background, identity, lgb, qs, slamsa

PAPERS: Sequence[Paper] = tuple(module.PAPER for module in (lgb, identity, slamsa, background, qs))
