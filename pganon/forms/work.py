"""Work tables that methods make and forms read, or the other way round."""

from __future__ import annotations

from functools import cache

from pganon.encode.axis import Axis, NominalAxis, axes
from pganon.encode.combination import COMBINATION, combined
from pganon.encode.people import identity, owner_columns
from pganon.encode.records import NUMBER, PART
from pganon.encode.work import CODED, Table, codes_of
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.resolved.increments import NUMBER as NUMBER_OF_GROUP
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.steps import State


def _record(spec: ReleaseSpec) -> list[str]:
    """What distinguishes records, or parts of cells, with equal codes."""
    if spec.divides_cells:
        return [PART]
    return [NUMBER] if spec.numbers_records else []


def _grouped(spec: ReleaseSpec, state: State) -> list[str]:
    if spec.policy.method.unlinks:
        return [NUMBER]
    return ["gid", *codes_of(spec), *_record(spec)]


def _grouped_classes(spec: ReleaseSpec, state: State) -> list[str]:
    if "semi_sensitive" in spec.policy.method.roles:
        return [CLASS_ID, *codes_of(spec), "display"]
    record = [] if spec.policy.method.unlinks else _record(spec)
    number = [COMBINATION] if combined(spec, state) else []
    return [CLASS_ID, *codes_of(spec), *record, *number]


def _extents(spec: ReleaseSpec, state: State) -> list[str]:
    extents = [item.alias for axis in axes(spec.attributes) for item in axis.extent(state, "c")]
    lost = [f"{name}{a.index}" for a in spec.attributes for name in ("loss", "glm", "height")]
    return [CLASS_ID, *extents, "n", *(lost if spec.shows_regions else [])]


def shown_beside(spec: ReleaseSpec) -> list[str]:
    """Columns of `coded` that are published or remembered as they are."""
    known = identity(spec)
    names = [f"v{item.index}" for item in spec.sensitive]
    names += [f"p{item.index}" for item in spec.carried]
    return list(dict.fromkeys([*names, *([known] if known else []), *owner_columns(spec)]))


def _local_grouped(spec: ReleaseSpec, state: State) -> list[str]:
    return [NUMBER, GROUP_ID, "display", *codes_of(spec), *shown_beside(spec)]


LEAVING_GROUPS = Table("leaving", lambda spec, state: [NUMBER_OF_GROUP])
"""Of a release that grows: groups that the run withdraws, by their published number."""

GROUPED = Table("grouped", _grouped, numbered="b")
"""The result of a method.

For classes a row per combination of codes, or per record where records have numbers: its class
`gid`. Where cells are divided, a row per `part` of a combination, 0 for all of it. For tables that
buckets link a row per record: its bucket `b<i>` in every partition of the arrangement."""

DEALT = Table("dealt", lambda spec, state: [*CODED.columns(spec, state), PART])
"""The records of divided cells as in :data:`~pganon.encode.work.CODED`, and the `part` of its cell
that each is in."""

LOCAL_GROUPED = Table("local_grouped", _local_grouped, numbered="b")
"""The result of local generalization, a row per record that is released: the published
number `group_id` of its group, its `display`, what it shows as codes, its published values, and the
published number `b<j>` of its bucket in every sensitive column, NULL where it has none."""

GROUP_CELLS = Table("group_cells", lambda spec, state: ["gid", "display", *codes_of(spec)])
"""A row per combination of codes and display that records have: the group `gid` of all of them."""

GROUP_SIZES = Table("group_sizes", lambda spec, state: [GROUP_ID, "display", "n"])
"""A row per group of :data:`LOCAL_GROUPED`: what its records show, and how many it has."""

DISPLAYS = Table("displays", lambda spec, state: ["mask", "display", "form"])
"""A row per set of hidden columns: the number and the form of what its records show."""

GROUPED_CLASSES = Table("grouped_classes", _grouped_classes)
"""The same rows with the published number of their class; of local generalization those of
:data:`GROUP_CELLS`."""

EXTENTS = Table("extents", _extents)
"""A row per class: its size `n`, which codes its records have, and where it shows its region, what
is lost of every attribute."""


def _individuals(spec: ReleaseSpec, state: State) -> list[str]:
    hulls = [name for axis in axes(spec.attributes) for name in hull_columns(axis, state)]
    held = [held_column(item) for item in spec.sensitive]
    return [NUMBER, "individual", "n", *held, *codes_of(spec), *hulls]


def held_column(item: Sensitive) -> str:
    """Column of :data:`INDIVIDUALS` with the code that every record has in a sensitive column."""
    return f"held{item.index}"


def hull_columns(axis: Axis, state: State) -> list[str]:
    """Columns that tell what of an attribute the records of an individual have."""
    i = axis.index
    if isinstance(axis, NominalAxis):
        return [f"b{i}"]
    return [f"lo{i}", f"hi{i}", *([f"n{i}"] if axis.has_null(state) else [])]


INDIVIDUALS = Table("individuals", _individuals)
"""A row per individual: a number `rid`, `n` records, their `sensitive` values as an array of codes,
one of its codes of every attribute, and what all of them cover."""

CLASSED = Table("classed", lambda spec, state: [NUMBER, "gid"])
"""A row per individual that is released: its class."""


QS_CELLS = Table("cells", lambda spec, state: ["cell", "w", *codes_of(spec)])
"""A row per combination of codes, in random order: `w` records."""

ASSIGNED = Table("assigned", lambda spec, state: ["gid", "cell", "n"])
"""A row per cluster and cell: `n` records of the cell are in the cluster."""


TREE = Table("tree", lambda spec, state: ["node", "parent", "start", "n", "loss"])
"""A row per group that was cut, and per class as minus its `gid`: the group of which it is a side,
the number of the first of its records, which it has in a row, how many, and what is lost of them.
"""


@cache
def class_groups(partition: int) -> Table:
    """A row per class `gid`: its group in a partition of related tables, a number of the tree."""
    return Table(f"class_groups{partition}", lambda spec, state: ["gid", "grp"])


@cache
def support(number: int) -> Table:
    """A row per combination of a QS set that exists, values by number; sets count from 1."""

    def columns(spec: ReleaseSpec, state: State) -> list[str]:
        attributes = list(spec.qs_sets.values())[number - 1]
        return [f"v{place}" for place, _ in enumerate(attributes, start=1)]

    return Table(f"support{number}", columns)


QI_CELLS = Table("qi_cells", lambda spec, state: ["cell", *codes_of(spec), "n"])
"""A row per combination of codes that occurs, from 1 in their order, 0 (NULL) last; `n` records."""

VECTORS = Table("vectors", lambda spec, state: ["vector", "probabilities"])
"""A row per distinct prior, from 1 in the order of its first cell: `probabilities` by code of the
sensitive value, then of the values that only a relation of priors knows."""

CELL_VECTORS = Table("cell_vectors", lambda spec, state: ["cell", "vector"])
"""A row per cell: the prior of its records."""

VECTOR_CLUSTERS = Table("vector_clusters", lambda spec, state: ["vector", "cluster"])
"""A row per prior: its cluster."""
