"""Compact buckets that satisfy frequency conditions: median tree and firefly tuple partition.

Pure: codes and positions in, bucket numbers out. The tree (`tree`) halves buckets along one
encoded axis; the swarm (`firefly`) looks for better halves and never returns a worse partition.
"""

from pganon.methods.buckets.search.conditions import Condition
from pganon.methods.buckets.search.partition import Partition, partition
from pganon.methods.buckets.search.space import Nominal, Ordered, encode

__all__ = ["Condition", "Nominal", "Ordered", "Partition", "encode", "partition"]
