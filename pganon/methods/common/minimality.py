"""What groups tell who knows the method that made them.

Wong, Fu, Wang and Pei: Minimality attack in privacy preserving data publishing, VLDB 2007. A group
that its size would let be cut was not cut: of each cut, a side misses a requirement about sensitive
values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.privacy.base import Model
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State


@dataclass(frozen=True)
class Minimality:
    """A method that cuts every group as long as both sides satisfy all requirements.

    Of the allowed cuts by the attribute that it chooses it makes the one nearest to balance, the
    first of two. A class is number -`class_id` among groups.

    Attributes:
        unmeasured: why that is not so under a policy; None where it is.
        positions: SELECT (node, cell, attr, pos) from cells (node, cell, codes, w) of groups: where
            each lies in the order in which its group can be cut by an attribute. A cut has all
            cells up to a position on its left.
        made: SELECT (node, attr, left_node, right_node) of the cuts that were made, if they were
            kept; `attr` and `right_node` are NULL where a group only got another number.
        holds: of counts of sensitive values, sides x values, which sides satisfy a model.
    """

    unmeasured: Callable[[ReleaseSpec], str | None]
    positions: Callable[[ReleaseSpec, State, QualifiedName], exp.Select]
    made: Callable[[ReleaseSpec, State], exp.Select | None]
    holds: Callable[[Model], Callable[[Any], Any]]
