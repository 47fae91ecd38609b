"""m-invariance (Xiao and Tao 2007) for any method: groups in which signatures stay the same.

    sets         (vset, value_set, key, code)      values of every signature; code NULL: no record
    returned     (.., vset, gone, other)           all records; signature, permanently suppressed
    needed       (vset, key, code, have, groups)   groups of a signature, and records with a value
    newcomers    (.., turn)                        new records without a signature, in random order
    taken        (code, n)                         new records that get the signature of a group
    listed       (.., gid)                         records in groups with an old signature
    counterfeits (gid, v)                          counterfeit values of these groups

`code` numbers vectors: the values of a record in all sensitive columns, in anatomy its one value.
Surviving records are listed by signature and vector. Lists shorter than the longest one of their
signature are filled with new records of that vector, as long as the other new records stay
eligible, then with counterfeits. The lists are ordered along the curve, and the j-th records of
each form a group. All other new records form groups with new signatures, as in a first version.
Where they are not eligible, they are permanently suppressed.
"""

from __future__ import annotations

from pganon.methods.buckets.invariance.context import InvarianceContext
from pganon.methods.buckets.invariance.fill import fill_steps
from pganon.methods.buckets.invariance.groups import counterfeits, list_steps, old_groups
from pganon.methods.buckets.invariance.others import DEALT, other_steps, others
from pganon.methods.buckets.invariance.survivors import survivor_steps
from pganon.steps import Step

__all__ = [
    "DEALT",
    "InvarianceContext",
    "counterfeits",
    "invariant_steps",
    "old_groups",
    "others",
]


def invariant_steps(context: InvarianceContext) -> list[Step]:
    """From the encoded records to groups with old signatures, and the other new records."""
    return [
        *survivor_steps(context),
        *fill_steps(context),
        *list_steps(context),
        *other_steps(context),
    ]
