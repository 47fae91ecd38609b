"""Work tables of the encoded source, which methods, forms and metrics read.

Tables of one attribute or sensitive column have its index in their names.
"""

from __future__ import annotations

from functools import cache

from pganon.encode.combination import COMBINATION, combined
from pganon.encode.distribution import PLACED, beside_source
from pganon.encode.first import first_of
from pganon.encode.people import owner_columns
from pganon.encode.records import DRAW, HIDES, NUMBER, PLACE, TIMES, tells_hidden
from pganon.encode.value_codes import valued
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State, WorkTable

Table = WorkTable[ReleaseSpec]

WEIGHT = "weight"
"""Column of the snapshot with sample weights, as numeric."""


def weighs(spec: ReleaseSpec) -> bool:
    """Whether weights of groups are added up: records are people, and not in shards."""
    return spec.weight is not None and spec.shards is None and not spec.policy.several_each


def _snap(spec: ReleaseSpec, state: State) -> list[str]:
    values = [f"q{attribute.index}" for attribute in spec.attributes]
    values += [f"s{item.index}" for item in spec.sensitive]
    values += [f"p{item.index}" for item in spec.carried]
    listing = {h.exceptions.name for h in spec.hidden if h.exceptions is not None}
    unmatched = [f"unmatched{number}" for number, _ in enumerate(listing)]
    values += [f"g{item.index}" for item in spec.microaggregated]
    values += [WEIGHT] if spec.weight is not None else []
    placed = [PLACED] if beside_source(spec) else []
    last = [*placed, *_times(spec)]
    return [*values, *_identity(spec), *_flags(spec), *unmatched, *_cohort(spec), *last]


def _times(spec: ReleaseSpec) -> list[str]:
    return [TIMES] if spec.counted else []


def _cohort(spec: ReleaseSpec) -> list[str]:
    return ["cohort"] if spec.in_cohorts else []


def _flags(spec: ReleaseSpec) -> list[str]:
    return [hidden.flag for hidden in spec.hidden]


def _coded(spec: ReleaseSpec, state: State) -> list[str]:
    place = [PLACE] if spec.policy.method.encoding.along_curve else []
    return [*_left_out(spec, state), *place]


def _left_out(spec: ReleaseSpec, state: State) -> list[str]:
    orders = {"none": [], "drawn": [DRAW], "numbered": [NUMBER]}
    values = [f"v{item.index}" for item in spec.sensitive]
    values += [f"p{item.index}" for item in spec.carried]
    values += [WEIGHT] if weighs(spec) or spec.averaged else []
    values += [f"g{item.index}" for item in spec.microaggregated]
    codes = [*codes_of(spec), *[f"s{item.index}" for item in valued(spec)]]
    order = orders[spec.random_order]
    hidden = [*_flags(spec), *([HIDES] if tells_hidden(spec) else [])]
    number = [COMBINATION] if combined(spec, state) else []
    beside = [*_cohort(spec), *order, *_times(spec)]
    return [*codes, *number, *values, *_identity(spec), *hidden, *beside]


def _identity(spec: ReleaseSpec) -> list[str]:
    record = ["record"] if spec.record_key else []
    owners = ["individual"] if spec.individual else owner_columns(spec)
    return [*record, *owners]


def _looks(spec: ReleaseSpec, state: State) -> list[str]:
    shown = [f"s{item.index}" for item in valued(spec)]
    shown += [f"v{item.index}" for item in spec.sensitive]
    return [COMBINATION, "w", *shown, *[f"p{item.index}" for item in spec.carried], "n"]


def codes_of(spec: ReleaseSpec) -> list[str]:
    """Columns with the codes of the quasi-identifiers."""
    return [f"c{attribute.index}" for attribute in spec.attributes]


SNAP = Table("snap", _snap)
"""A row per record of the source: values of quasi-identifiers `q<i>`, sensitive `s<j>` and
insensitive ones `p<j>`, perhaps a `weight`, the key of the `record`, and whose it is, the
`individual`, or who may be, `o<n>`; flags `f<h>` of values that somebody hides, and
`unmatched<n>`, how many exceptions are about nothing; of new individuals in regions the number of
their `cohort`; beside a source in shards what that is distributed by, `d`, which no other table
has. Where equal records are one row, how many `times` they are there."""

CODED = Table("coded", _coded)
"""A row per record that is kept: codes `c<i>`, where the method asks for it their `combination`,
values to publish `v<j>` and `p<j>` and to take means of, `weight` and `g<j>`, codes of sensitive
values `s<j>` where they are distinguished, `record`, `individual` or `o<n>`, flags `f<h>` and which
of them are set, `hides`, and a random order of the records, `rid` or `draw`, which may be
one of those with a value; where the method asks for it the place along a curve. Where equal records
are one row, how many `times` they are there."""

LOOKS = Table("looks", _looks)
"""A row per combination of codes of records in shards, with `w` records: how these look, as arrays
of values `v<j>` and `p<j>`, codes `s<j>`, and of the numbers `n` of records that look so; texts of
the arrays."""

REPEATED = Table("repeated", _coded)
"""The same before records that repeat a value of their individual are left out."""

LEFT_OUT = Table("left_out", _left_out)
"""The same, without a place, of the records that the rules for NULL suppress; for metrics."""


@cache
def dictionary(index: int) -> Table:
    """A row per value of a quasi-identifier: `code` 1..m in order, 0 for NULL; `n` records;
    `position` in [0, 1] of the declared domain, else of the values that occur."""
    return Table(f"dict{index}", lambda spec, state: ["code", "value", "n", "position"])


@cache
def ancestors(index: int) -> Table:
    """A row per leaf and level of a hierarchy: the ancestor's `label`, the range of codes `lo` to
    `hi` below it, and its `loss`; of ranges `lower` and `upper`, too."""

    def columns(spec: ReleaseSpec, state: State) -> list[str]:
        bounds = ["lower", "upper"] if spec.attributes[index].ranged else []
        return ["code", "level", "label", "lo", "hi", "loss", *bounds]

    return Table(f"level{index}", columns)


@cache
def sensitive_values(index: int) -> Table:
    """A row per value of a sensitive column; NULL is one value, the last; `n` records.

    Where new individuals are compared with the first version, its values as well, and how many
    records of its source and of what it published have them.
    """

    def columns(spec: ReleaseSpec, state: State) -> list[str]:
        first = first_of(spec, spec.sensitive[index])
        return ["code", "value", "n", *([] if first is None else ["source_n", "published_n"])]

    return Table(f"sdict{index}", columns)


@cache
def reference(index: int, kind: str) -> Table:
    """A row per value of a sensitive column: its share of the records of the source, or of those
    that are published, whichever `kind` says; with a hierarchy the `path` of its ancestors."""

    def columns(spec: ReleaseSpec, state: State) -> list[str]:
        path = [] if spec.sensitive[index].hierarchy is None else ["path"]
        return ["value", "position", "n", "share", *path]

    return Table(f"ref{index}_{kind}", columns)


def _part_cells(spec: ReleaseSpec, state: State) -> list[str]:
    record = [NUMBER] if spec.policy.method.encoding.numbers_records else []
    values = [f"s{item.index}" for item in valued(spec)]
    return ["node", *codes_of(spec), *values, "w", *record]


PART_CELLS = Table("cells", _part_cells)
"""A row per combination of codes, or per record where records have numbers: its part `node`, and
`w` records."""

FIT = Table("fit", lambda spec, state: ["node", "requirement", "measure", "holds"])
"""A row per part and requirement: the part measured as one class."""


PRIOR = Table(
    "known", lambda spec, state: [*[f"q{a.index}" for a in spec.attributes], "value", "probability"]
)
"""The relation of priors as it was read: values of quasi-identifiers `q<i>` and of the sensitive
column as its dictionary has them, and a `probability`, a numeric."""

POPULATION = Table(
    "population", lambda spec, state: [*[f"q{a.index}" for a in spec.attributes], "n"]
)
"""A row per combination of values `q<i>` of quasi-identifiers in the relation of the population,
and `n` people who have it."""


@cache
def place(index: int) -> Table:
    """A row per value of the population: its `code`, or that of a value below the lowest label, on
    `level`, that it has in common with a value of the source; NULL where there is none. With the
    `path` of its labels from itself to the top."""
    return Table(f"place{index}", lambda spec, state: ["value", "code", "level", "path"])
