"""Results as pandas frames: the one place that imports pandas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd


def frame(rows: Sequence[Any]) -> pd.DataFrame:
    """One row per dataclass instance, one column per field."""
    return pd.DataFrame([asdict(row) for row in rows])
