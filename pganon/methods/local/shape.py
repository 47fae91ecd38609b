"""What of a release the steps of local generalization and bucketization look at.

masks        (mask, n)              which semi-sensitive columns records show and hide: g and b
displays     (mask, display, form)  what is shown of them: g, b, or w for a withheld value
placed       (rid, display, codes, s<j>, beside)   the records that are released; codes are 0 where
             the value is not generalized, s<j> is 0 where it is in no bucket; and what is published
             or remembered as it is. Not made where these are the encoded records as they are
group_cells  (gid, display, codes)  the group of all records with these codes
hidden       (s<j>.., w)            how many records have these hidden values
bucketed<j>  (rid, b, v)            the bucket of every hidden value of sensitive column j, and the
             value; of one column instead `ranges<j>`, which numbers of records have which bucket
local_grouped  (rid, group_id, display, codes, beside, b<j>)   all of it, with published numbers
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.methods.common.shape import MethodShape
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.options import Local, LocalBuckets, LocalGroups
from pganon.sqltools import col


@dataclass(frozen=True)
class Shape(MethodShape[Local]):
    kind = Local

    @property
    def layout(self) -> Layout:
        return Layout(self.spec)

    @property
    def buckets(self) -> LocalBuckets:
        """How buckets are made, where they are."""
        assert isinstance(self.options, LocalBuckets)
        return self.options

    @property
    def merges(self) -> bool:
        """Whether small subsets of the records are united."""
        return isinstance(self.options, LocalGroups) and self.options.small_subsets == "merge"

    @property
    def k(self) -> int:
        return self.layout.k

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.layout.axes


def codes(shape: Shape, table: str) -> list[exp.Column]:
    return [col(axis.code, table) for axis in shape.axes]
