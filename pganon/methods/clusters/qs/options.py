"""Options of QS k-anonymity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pganon.policy.columns import Columns
from pganon.policy.options import CLUSTER_NO, SIZE, UNPUBLISHED, BlockSize, MethodOptions
from pganon.policy.refusals import Refusal, show
from pganon.policy.tasks import Start


class _QuasiSensitive(MethodOptions):
    """Clusters of records with at least k combinations of values in every QS set."""

    roles = UNPUBLISHED | {"quasi_sensitive", "insensitive"}
    grouped = "quasi_sensitive"
    models = frozenset({"qs_k_anonymity"})
    example = "{model: qs_k_anonymity, k: 5}"
    adds = (CLUSTER_NO, SIZE)
    parts = ("expanded",)
    shows = "values"
    leaves_out = False

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        sets = {column.qs_set for column in columns.values() if column and column.qs_set}
        if len(sets) == 1:
            yield Refusal(
                ("columns",),
                f"QS k-anonymity needs at least two QS sets; all columns are in {show(sets.pop())}",
                "write another name as `set` of the columns that come from another source",
            )

    def decides_by_values(self, *, bounded: bool) -> bool:
        return True  # clusters depend on the values of all sets


class QsGreedy(_QuasiSensitive):
    """Clusters grown record by record, each time by the record with the least information loss."""

    starts = (
        Start(
            task="joined",
            page="how-to/share-joined-sources.md",
            costs="values stay exact, but in a cluster none of them belongs to a record any more",
            about_all=({"model": "qs_k_anonymity", "k": 4},),
        ),
    )

    name: Literal["qs_greedy"]
    block_size: BlockSize = 2048


class QsEfficient(_QuasiSensitive):
    """Clusters cut from the records in the order of a Hilbert curve."""

    name: Literal["qs_efficient"]
    block_size: BlockSize = 16_384
