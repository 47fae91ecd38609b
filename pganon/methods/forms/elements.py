"""Values as they are published, and as keys of what was published."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.sensitive import sensitive_key
from pganon.plan.sqltools import cast, col, fragment
from pganon.spec.model import Attribute, Sensitive


def element(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """A value by itself, or as an element of the attribute's published array.

    1.0 and 1.00 are one value, which a dictionary holds as the source happened to show it first:
    without a declared scale, digits that say nothing are cut.
    """
    if attribute.column.kind == "numeric":
        value = fragment("trim_scale(:v)", v=value)
    return cast(value, attribute.published_type.removesuffix("[]"))


def value_key(item: Sensitive, table: str) -> exp.Expr:
    """A published sensitive value as a text that is never NULL."""
    value = cast(exp.paren(sensitive_key(item, col(item.published, table))), "text")
    return fragment("coalesce('=' || :v, '')", v=value)
