"""Values of a dictionary as they are published."""

from __future__ import annotations

from sqlglot import exp

from pganon.plan.sqltools import cast, fragment
from pganon.spec.model import Attribute


def element(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """A value by itself, or as an element of the attribute's published array.

    1.0 and 1.00 are one value, which a dictionary holds as the source happened to show it first:
    without a declared scale, digits that say nothing are cut.
    """
    if attribute.column.kind == "numeric":
        value = fragment("trim_scale(:v)", v=value)
    return cast(value, attribute.published_type.removesuffix("[]"))
