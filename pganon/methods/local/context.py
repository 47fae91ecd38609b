"""The input of the steps of local generalization and bucketization, and their work tables.

masks        (mask, n)              which semi-sensitive columns records show and hide: g and b
displays     (mask, display, form)  published form of each: g, b, or w for a withheld value
placed       (rid, display, codes, s<j>, beside)   the released records; codes are 0 where the value
             is not generalized, s<j> is 0 where it is in no bucket; `beside` are the columns that
             are published or stored unchanged. Not created where these are all encoded records
group_cells  (gid, display, codes)  the group of all records with these codes
hidden       (s<j>.., w)            how many records have these hidden values
bucketed<j>  (rid, b, v)            the bucket of every hidden value of sensitive column j, and the
             value; of one column instead `ranges<j>`, the buckets by ranges of record numbers
local_grouped  (rid, group_id, display, codes, beside, b<j>)   all of these, with published numbers
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.methods.common.context import MethodContext
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.options import Local, LocalBuckets, LocalGroups
from pganon.sqltools import col


@dataclass(frozen=True)
class Context(MethodContext[Local]):
    """A release with local generalization or bucketization."""

    kind = Local

    @property
    def layout(self) -> Layout:
        return Layout(self.spec)

    @property
    def buckets(self) -> LocalBuckets:
        """The options of buckets; only for methods with buckets."""
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


def codes(context: Context, table: str) -> list[exp.Column]:
    """The columns of `table` with the codes of the quasi-identifiers."""
    return [col(axis.code, table) for axis in context.axes]
