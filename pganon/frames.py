"""Results as pandas frames: the one place that imports pandas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame
else:
    Frame = Any


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Frame:
    """The rows of an answer of the server."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns))


def frame(rows: Sequence[Any]) -> Frame:
    """One row per dataclass instance, one column per field."""
    import pandas as pd  # slow to import, and most runs never need it

    return pd.DataFrame([asdict(row) for row in rows])
