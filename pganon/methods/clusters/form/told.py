"""What clusters say of themselves: combinations that remain, and values that are certain."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.forms.told import Told, count, number, share, told
from pganon.forms.utility import ClusterUtility, Utility


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, ClusterUtility)
    return list(_told(utility, members))


def _told(utility: ClusterUtility, members: str) -> Iterator[Told]:
    yield told(
        "clusters",
        count(utility.clusters),
        " clusters of ",
        count(utility.smallest_cluster),
        " to ",
        count(utility.largest_cluster),
        f" {members} show the values of all of these together.",
    )
    for name, found in utility.supported.items():
        yield told(
            f"set {name}",
            "At least ",
            count(found.least),
            " combinations that exist remain in a cluster, ",
            number(found.median),
            " or more in half of the clusters. For who does not know which ones exist it is at"
            " least ",
            count(utility.product[name].least),
            ".",
        )
    for name, found in utility.posterior.items():
        if found.worst is None:
            yield told(
                f"chances of set {name}",
                f"How likely a combination is, was not measured: every cluster has many {members}.",
            )
            continue
        yield told(
            f"chances of set {name}",
            "Combinations need not be equally likely. In the ",
            count(found.clusters),
            " clusters that are small enough to count all that may be so, one has a chance of at"
            " most ",
            share(found.worst),
            ".",
        )
    if utility.constants:
        yield told(
            "single values",
            count(utility.constants),
            " times a column has one value in a whole cluster: who finds the cluster knows it of"
            f" all its {members}.",
        )
