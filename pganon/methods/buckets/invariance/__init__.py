"""Groups of people who keep their signatures (m-invariance, Xiao and Tao 2007), for any method.

    sets         (vset, value_set, key, code)      the values of every set; code NULL: nobody has it
    returned     (.., vset, gone, other)           all records; whose signature, and who is out
    needed       (vset, key, code, have, groups)   as many groups as people with one of the values
    newcomers    (.., turn)                        records without a signature, in random order
    taken        (code, n)                         newcomers who take over the set of a group
    listed       (.., gid)                         records in groups with an old signature
    counterfeits (gid, v)                          values that nobody in these groups has

`code` numbers vectors: what a record has in all sensitive columns, in anatomy its one value.
Survivors are listed by signature and vector. Where lists are shorter than the longest of their set,
newcomers who have the vector take over the set, as long as the others stay eligible; then vectors
without a person fill them. The lists are ordered along the curve, and the j-th of each form a
group. All other newcomers form groups with new signatures, as in a first version; where they are
not eligible, they are left permanently suppressed.
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
    "LEFTOVERS",
    "InvarianceContext",
    "counterfeits",
    "invariant_steps",
    "old_groups",
    "others",
]

LEFTOVERS = ("returned", "newcomers", "fillers", "taken")
"""Work tables that nothing reads once groups are made."""


def invariant_steps(context: InvarianceContext) -> list[Step]:
    """From the encoded records to groups with old signatures, and to whom those leave over."""
    return [
        *survivor_steps(context),
        *fill_steps(context),
        *list_steps(context),
        *other_steps(context),
    ]
