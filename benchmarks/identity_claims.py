"""What the paper of identity reservation says and the project asks. Nothing is asserted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.identity import BLOCKS, DEGREES, FEW

Row = dict[str, Any]

MOST_LOST_BY_BLOCKS = 0.05
"""The project's target for the loss in blocks of 500, above that in one block."""

_KL, _EIR = "ir_kl_anonymity", "eir_l_diversity"


def evaluate(found: Row) -> list[Row]:
    """Claims and whether they hold; none without figures of INFORMS."""
    if "by_l" not in found:
        return []
    said = {
        "no class is vulnerable under an EIR model": _no_class_is_vulnerable(found),
        "DAnonyIR loses less than GeneIR with the same model and hierarchies": _is_less(
            found, "nloss"
        ),
        "DAnonyIR answers queries better than GeneIR with the same model and hierarchies": _is_less(
            found, "error"
        ),
        "loss of IR (k, l) grows with l": _rises(_by_l(found, "DAnonyIR", _KL, "nloss")),
        "vulnerable classes of IR (k, l) grow with l": _rises(_by_l(found, "DAnonyIR", _KL, "v")),
        "loss of EIR l grows with l": _rises(_by_l(found, "DAnonyIR", _EIR, "nloss")),
        "relative error of EIR l grows with l": _rises(_by_l(found, "DAnonyIR", _EIR, "error")),
        "loss of EIR l grows with the quasi-identifiers": _rises(_by_quasi(found, _EIR, "nloss")),
        f"blocks of {BLOCKS[0]} lose at most {MOST_LOST_BY_BLOCKS:.0%} more than one block": (
            _blocks_lose_little(found)
        ),
    }
    return [{"claim": claim, "holds": "yes" if holds else "NO"} for claim, holds in said.items()]


def _no_class_is_vulnerable(found: Row) -> bool:
    measured = (*found["by_l"], *found["by_shares"], *found["by_quasi"])
    return not any(row["v"] for row in measured if "eir" in row["model"])


def _is_less(found: Row, figure: str) -> bool:
    """Of DAnonyIR than of GeneIR, for every l."""
    ours, theirs = (_by_l(found, f"{name}, trees", _KL, figure) for name in ("DAnonyIR", "GeneIR"))
    return all(low < high for low, high in zip(ours, theirs, strict=True))


def _by_l(found: Row, method: str, model: str, figure: str) -> list[float]:
    by = {(row["method"], row["model"], row["l"]): row for row in found["by_l"]}
    return [by[method, model, degree][figure] for degree in DEGREES]


def _by_quasi(found: Row, model: str, figure: str) -> list[float]:
    rows = [
        row for row in found["by_quasi"] if (row["method"], row["model"]) == ("DAnonyIR", model)
    ]
    return [row[figure] for row in sorted(rows, key=lambda row: row["quasi"])]


def _blocks_lose_little(found: Row) -> bool:
    lost = [row["nloss"] for row in found["by_block"] if row["table"] == f"informs_{FEW}"]
    return lost[0] <= (1 + MOST_LOST_BY_BLOCKS) * lost[-1]


def _rises(values: Sequence[float]) -> bool:
    return list(values) == sorted(values)
