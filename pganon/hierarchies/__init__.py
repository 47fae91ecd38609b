"""Generalization hierarchies: from what the policy declares to the ancestors of every value.

Input is a work table (value, n) with one row per distinct value that is not NULL. Output is the
work table `tree_<name>` with exactly one row per value:

    value   the value, in the type of the input
    labels  text[]: labels[1] is the value's own text, labels[i + 1] its ancestor on level i, the
            last one the top, which is the same for all values; equally long in all rows
    lowers  only for `intervals`, `age` and `date`: lowers[i] and uppers[i] are the half-open range
    uppers  [lower, upper) of the ancestor on level i; numeric[], or arrays of the column's own
            type (date, timestamp, timestamptz)
"""

from __future__ import annotations

from pathlib import Path

from pganon.hierarchies.build import Build, canonical_kind
from pganon.hierarchies.catalog import function_steps, table_steps
from pganon.hierarchies.computation import (
    age_steps,
    date_steps,
    interval_steps,
    prefix_steps,
    ready_steps,
)
from pganon.hierarchies.listing import loaded_steps
from pganon.hierarchies.rows import file_rows, order_rows
from pganon.policy.hierarchies import (
    RANGED,
    AgeHierarchy,
    CsvHierarchy,
    DateHierarchy,
    FunctionHierarchy,
    Hierarchy,
    InlineHierarchy,
    IntervalHierarchy,
    OrderHierarchy,
    PrefixHierarchy,
    ReadyHierarchy,
    TableHierarchy,
)
from pganon.steps import Name, Step

__all__ = ["has_ranges", "hierarchy_steps", "leaf_kind", "listed_leaves", "lists_leaves"]


def has_ranges(hierarchy: Hierarchy) -> bool:
    """Whether the tree has the columns `lowers` and `uppers`."""
    return isinstance(hierarchy, RANGED)


def lists_leaves(hierarchy: Hierarchy) -> bool:
    """Whether it says which values there could be."""
    return isinstance(hierarchy, CsvHierarchy | InlineHierarchy | OrderHierarchy | TableHierarchy)


def leaf_kind(hierarchy: Hierarchy | None, declared: str | None, value_kind: str) -> str:
    """Type of a column's values for its hierarchy: `value_kind`, or text.

    Values find listed leaves by what they are: 1 is 1.00. Of numbers that the policy calls
    categorical, a prefix or a function sees the digits.
    """
    listed = hierarchy is not None and lists_leaves(hierarchy)
    return "text" if declared == "categorical" and not listed else value_kind


def listed_leaves(name: str) -> Name:
    """The work table (leaf, padding, path) of such a hierarchy, where its steps keep it: the labels
    of every leaf from itself to the top."""
    return lambda state: state.work(f"tree_{name}_paths")


def hierarchy_steps(
    name: str,
    hierarchy: Hierarchy,
    values: Name,
    value_kind: str,
    base_dir: Path,
    column: str,
    *,
    keeps_leaves: bool = False,
    partial: bool = False,
) -> tuple[Step, ...]:
    """The steps that build `tree_<name>` from the work table `values`.

    Files are read now, so that plan and run see the same. Raises PreconditionError for a file
    that cannot be used and for a hierarchy that does not fit the kind of the values; the steps
    raise it for gaps and for what is no tree.

    Args:
        name: short and unique in the run; names the work tables.
        value_kind: what the values are: integer, numeric, float, date, timestamp, timestamptz,
            boolean, uuid, enum or text; any other counts as text. `text` is allowed for every
            type of `value` (codes that are stored as numbers); leaves then match its text.
        base_dir: folder that the path of a file is relative to.
        column: name of the column as messages show it, quoted where SQL needs it.
        keeps_leaves: whether :func:`listed_leaves` is needed.
        partial: whether values that a listing does not have are left out, instead of refused.
    """
    build = Build(name, values, canonical_kind(value_kind), column, keeps_leaves, partial)
    match hierarchy:
        case CsvHierarchy():
            rows = file_rows(
                build, hierarchy.csv, base_dir, sep=hierarchy.sep, header=hierarchy.header
            )
            return loaded_steps(build, rows, hierarchy.csv)
        case InlineHierarchy():
            return loaded_steps(build, hierarchy.rows, "the policy")
        case OrderHierarchy():
            tree = hierarchy.order
            return loaded_steps(build, order_rows(tree.values, tree.fanout), "the ordered values")
        case TableHierarchy():
            return table_steps(build, build.object_name(hierarchy.table))
        case FunctionHierarchy():
            return function_steps(build, build.object_name(hierarchy.function))
        case IntervalHierarchy():
            return interval_steps(build, hierarchy.intervals, hierarchy.origin)
        case AgeHierarchy():
            return age_steps(build, hierarchy)
        case DateHierarchy():
            return date_steps(build, hierarchy.date)
        case PrefixHierarchy():
            return prefix_steps(build, hierarchy.prefix)
        case _:
            assert isinstance(hierarchy, ReadyHierarchy)
            return ready_steps(build, hierarchy)
