"""Groups of people who keep their value sets (m-invariance, Xiao and Tao 2007).

    sets         (vset, value_set, key, code)      the values of every set; code NULL: nobody has it
    returned     (.., vset, gone, other)           all records; whose value set, and who is out
    needed       (vset, key, code, have, groups)   as many groups as people with one of the values
    newcomers    (.., turn)                        records without a value set, in random order
    taken        (code, n)                         newcomers who take over the set of a group
    listed       (.., gid)                         records in groups with an old value set
    counterfeits (gid, v)                          values that nobody in these groups has

Survivors are listed by value set and value. Where lists are shorter than the longest of their set,
newcomers who have the value take over the set, as long as the others stay eligible; then values
without a person fill them. The lists are ordered along the curve, and the j-th of each form a
group. All other newcomers form groups with new value sets, as in a first version; where they are
not eligible, they are left out for good.
"""

from __future__ import annotations

from pganon.methods.anatomy.invariant.fill import fill_steps
from pganon.methods.anatomy.invariant.groups import counterfeits, list_steps, old_groups
from pganon.methods.anatomy.invariant.others import other_steps
from pganon.methods.anatomy.invariant.survivors import survivor_steps
from pganon.methods.anatomy.shape import AnatomyShape
from pganon.steps import Step

__all__ = ["counterfeits", "invariant_steps", "old_groups"]


def invariant_steps(shape: AnatomyShape) -> list[Step]:
    """From the encoded records to groups with old value sets, and to whom those leave over."""
    return [
        *survivor_steps(shape),
        *fill_steps(shape),
        *list_steps(shape),
        *other_steps(shape),
    ]
