"""What the paper of identity reservation says and the project asks. Nothing is asserted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Row = dict[str, Any]

MOST_LOST_BY_BLOCKS = 0.05
"""The project's target for the loss in small blocks, above that in one block."""

_KL, _EIR = "ir_kl_anonymity", "eir_l_diversity"


def evaluate(found: Row) -> list[Row]:
    """Claims on the parts that were measured, and whether they hold."""
    said = [
        *(
            _of_all(
                [row for part in ("by_l", "by_shares", "by_quasi") for row in found.get(part, ())]
            )
        ),
        *(_of_l(found["by_l"]) if "by_l" in found else ()),
        *(_of_quasi(found["by_quasi"]) if "by_quasi" in found else ()),
        *(_of_blocks(found["by_block"]) if "by_block" in found else ()),
    ]
    return [{"claim": claim, "holds": "yes" if holds else "NO"} for claim, holds in said]


Judged = tuple[str, bool]


def _of_all(rows: Sequence[Row]) -> Iterator[Judged]:
    reserved = [row for row in rows if "eir" in row["model"]]
    if reserved:
        yield "no class is vulnerable under an EIR model", not any(row["v"] for row in reserved)


def _of_l(rows: Sequence[Row]) -> Iterator[Judged]:
    def line(method: str, model: str, figure: str) -> list[float]:
        return _line(rows, method, model, "l", figure)

    for figure, said in (("nloss", "loses less"), ("error", "answers queries better")):
        ours, theirs = (line(f"{name}, trees", _KL, figure) for name in ("DAnonyIR", "GeneIR"))
        less = all(low < high for low, high in zip(ours, theirs, strict=True))
        yield f"DAnonyIR {said} than GeneIR with the same model and hierarchies", less
    yield "loss of IR (k, l) grows with l", _rises(line("DAnonyIR", _KL, "nloss"))
    yield "vulnerable classes of IR (k, l) grow with l", _rises(line("DAnonyIR", _KL, "v"))
    yield "loss of EIR l grows with l", _rises(line("DAnonyIR", _EIR, "nloss"))
    yield "relative error of EIR l grows with l", _rises(line("DAnonyIR", _EIR, "error"))


def _of_quasi(rows: Sequence[Row]) -> Iterator[Judged]:
    losses = _line(rows, "DAnonyIR", _EIR, "quasi", "nloss")
    yield "loss of EIR l grows with the quasi-identifiers", _rises(losses)


def _of_blocks(rows: Sequence[Row]) -> Iterator[Judged]:
    few = sorted((r for r in rows if r["table"] == "informs_few"), key=lambda r: r["block_size"])
    little = few[0]["nloss"] <= (1 + MOST_LOST_BY_BLOCKS) * few[-1]["nloss"]
    small = few[0]["block_size"]
    yield f"blocks of {small} lose at most {MOST_LOST_BY_BLOCKS:.0%} more than one block", little


def _line(rows: Sequence[Row], method: str, model: str, by: str, figure: str) -> list[float]:
    chosen = [row for row in rows if (row["method"], row["model"]) == (method, model)]
    return [row[figure] for row in sorted(chosen, key=lambda row: row[by])]


def _rises(values: Sequence[float]) -> bool:
    return list(values) == sorted(values)
