"""A policy resolved against the catalog: every name, type and index that a run needs.

Built by :mod:`pganon.resolved.resolve`, which reports all problems at once; after it no text of the
policy is looked up again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from pganon.catalog.model import Column, DistributedRead, ExternalObjects, Relation, Shards
from pganon.identifiers import QualifiedName
from pganon.policy.exclusions import Condition
from pganon.policy.hierarchies import (
    CsvHierarchy,
    FunctionHierarchy,
    Hierarchy,
    InlineHierarchy,
    OrderHierarchy,
    TableHierarchy,
)
from pganon.policy.model import Policy, policy_hash
from pganon.policy.options import RandomOrder, part_name
from pganon.policy.partition import Part
from pganon.policy.tables import EventTable, LookupTable
from pganon.privacy.base import Requirement
from pganon.privacy.models import BackgroundKnowledge, QSKAnonymity
from pganon.privacy.population import PopulationModel
from pganon.privacy.profit import Profitability
from pganon.privacy.release import ReleaseModel
from pganon.privacy.requirements import unprotected_columns
from pganon.privacy.uniqueness import PopulationUniqueness
from pganon.resolved.increments import Growth
from pganon.resolved.invariance import Signatures
from pganon.resolved.tables import Related


class Scale(StrEnum):
    """How the values of an attribute lie to each other.

    ordered: on a line (numbers, dates, ordinal values); groups are ranges of it.
    nominal: no structure; groups are sets of values.
    tree: leaves of a hierarchy; groups are ancestors.
    """

    ORDERED = "ordered"
    NOMINAL = "nominal"
    TREE = "tree"


class Shown(StrEnum):
    """The form in which values of a group are published.

    range, set, label: one generalized value that covers them.
    values: the sorted array of the distinct values themselves.
    mean, mode: a value in their middle, which need not cover them.
    """

    RANGE = "range"
    SET = "set"
    LABEL = "label"
    VALUES = "values"
    EXACT = "exact"
    MEAN = "mean"
    MODE = "mode"


@dataclass(frozen=True)
class Hidden:
    """For whom the value of a semi-sensitive column is sensitive, and therefore not shown.

    Attributes:
        index: position among the semi-sensitive columns, from 0; names its work column `f<index>`.
        when: condition over columns of the source; None where a relation says it.
        exceptions: the relation with a row for each sensitive value: the columns of the source's
            primary key, and one with the name of the column.
    """

    index: int
    when: exp.Expr | None
    exceptions: Relation | None = None

    @property
    def flag(self) -> str:
        """Work column: whether the value is sensitive."""
        return f"f{self.index}"


@dataclass(frozen=True)
class Released:
    """A column of the source that a release shows in some form.

    Attributes:
        index: position among those of its class, from 0; names its work columns.
        published: name of the published column.
    """

    index: int
    column: Column
    published: str


@dataclass(frozen=True)
class Attribute(Released):
    """A column that records are grouped by: a quasi-identifier or a quasi-sensitive attribute.

    Attributes:
        value_type: type in which the dictionary holds its values (canonical type).
        published_type: type of the published column.
        null_column: name of the published `<column>_null`, or None where NULLs cannot be mixed.
        order: the policy's own order of an ordinal column's values, lowest first.
        domain: the lowest and the highest value that there could be, as the policy declares them;
            losses and distances are shares of what lies between them.
        values: all values that a category could have, as texts; losses are shares of their number.
        qs_set: the QS set that it is in, None for a quasi-identifier.
        ranged: whether its hierarchy is made of ranges: leaves are then ordered by value, and the
            loss of an ancestor is its width; else by label, and the number of its leaves.
        hidden: of a semi-sensitive column, where it is no attribute but sensitive.
        in_regions: whether a group shows the bounds of its region, whatever its records have.
        apart: whether no group has several of its values.
    """

    scale: Scale
    form: Shown
    value_type: str
    published_type: str
    null_column: str | None
    nulls: str
    weight: float
    order: tuple[str, ...] | None = None
    domain: tuple[str, str] | None = None
    values: tuple[str, ...] | None = None
    qs_set: str | None = None
    ranged: bool = False
    hidden: Hidden | None = None
    in_regions: bool = False
    apart: bool = False

    @property
    def attained(self) -> bool:
        """Whether records have the ends of published ranges, and all elements of published sets."""
        return self.scale is not Scale.TREE and not self.in_regions

    @property
    def covers(self) -> bool:
        """Whether what is published covers the values of the records; else it is their middle."""
        return self.form not in (Shown.MEAN, Shown.MODE)

    @property
    def listed(self) -> tuple[str, ...] | None:
        """All values that it could have, as texts, of an ordinal column in their order; None where
        that is not known."""
        if self.order is not None or self.values is not None:
            return self.order or self.values
        if self.column.kind == "boolean":
            return ("false", "true")
        return self.column.labels if self.column.kind == "enum" else None

    @property
    def flat_names(self) -> tuple[str, ...]:
        """Columns that show its values where ranges and sets are taken apart."""
        if self.form is Shown.RANGE:
            return (f"{self.published}_low", f"{self.published}_high")
        return (self.published,)


@dataclass(frozen=True)
class Sensitive(Released):
    """A sensitive column, published unchanged.

    Attributes:
        hierarchy: the tree that distances between its values are taken in, if any.
        leaf_type: type of the values as leaves of a tree.
        hidden: of a semi-sensitive column, where it is sensitive; None if it is everywhere.
        order: of a semi-sensitive column, the policy's own order of the values, lowest first.
        leaves: of a semi-sensitive column, the hierarchy of which the leaves from left to right
            are the order of the values; None where that is their natural order.
    """

    nulls: str
    hierarchy: Hierarchy | None = None
    leaf_type: str = "text"
    hidden: Hidden | None = None
    order: tuple[str, ...] | None = None
    leaves: Hierarchy | None = None

    @property
    def rearranged(self) -> bool:
        """Whether its values have another order than their natural one."""
        return self.order is not None or self.leaves is not None


@dataclass(frozen=True)
class Carried(Released):
    """An insensitive column, published unchanged."""


@dataclass(frozen=True)
class Averaged(Released):
    """A column of which classes show the mean of their records: `m<index>` of `coded`.

    Attributes:
        ranged: whether they show the range from the least to the greatest, too, rounded outward.
    """

    ranged: bool = False

    @property
    def range_name(self) -> str:
        return f"{self.published}_range"

    @property
    def flat_names(self) -> tuple[str, str]:
        """Columns with the ends of the range where it is taken apart."""
        return f"{self.published}_low", f"{self.published}_high"

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that show it."""
        return (self.published, *((self.range_name, *self.flat_names) if self.ranged else ()))


@dataclass(frozen=True)
class Microaggregated(Released):
    """A number of which records show the mean of a group of records of their class.

    Its work column is `g<index>`.

    Attributes:
        least: the fewest records of a group.
        whole: whether all values of a class are a group, of as many records as a class at least.
        known: whether it is a quasi-identifier, which classes show as well.
    """

    least: int
    whole: bool
    known: bool = False

    @property
    def remembered(self) -> str:
        """Name by which versions compare the values: other than that of a quasi-identifier."""
        return f"mean of {self.column.name}" if self.known else self.column.name

    def least_in(self, spec: ReleaseSpec) -> int:
        return max(self.least, spec.minimum_size) if self.whole else self.least


@dataclass(frozen=True)
class ExclusionRule:
    """An exclusion: where all of `when` holds, the sensitive column has none of the values.

    Attributes:
        label: the columns of the rule, without values.
        when: conditions on quasi-identifiers; values as texts of the column's type.
    """

    label: str
    when: tuple[tuple[Attribute, Condition], ...]
    sensitive: Sensitive
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Relations that a policy names beside its source.

    Attributes:
        public: by QS set, those of the combinations that are known to exist.
        exceptions: those that say whose values are sensitive, by their name in the policy.
        prior: the one with what readers are assumed to know beforehand.
        population: the one of people whom models and reports count beside the source.
        exclude: the one of people who are left out, by their key.
        aliases: the one of people whose key changed.
        tables: those of related tables, by their name in the policy.
    """

    public: Mapping[str, Relation] = field(default_factory=dict)
    exceptions: Mapping[str, Relation] = field(default_factory=dict)
    prior: Relation | None = None
    population: Relation | None = None
    exclude: Relation | None = None
    aliases: Relation | None = None
    tables: Mapping[str, Relation] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Columns that are released, each numbered within its list."""

    attributes: tuple[Attribute, ...]
    sensitive: tuple[Sensitive, ...]
    carried: tuple[Carried, ...]
    weight: Column | None = None
    averaged: tuple[Averaged, ...] = ()
    microaggregated: tuple[Microaggregated, ...] = ()

    @property
    def sensitive_numbers(self) -> dict[str, int]:
        """Numbers of the sensitive columns, by their names in the source."""
        return {item.column.name: item.index for item in self.sensitive}


_LISTED = (CsvHierarchy, InlineHierarchy, OrderHierarchy, TableHierarchy)


@dataclass(frozen=True, kw_only=True)
class Resolved(Beside, Columns):
    """A policy beside its source and the other relations, of which rules say whether it can be run.

    Attributes:
        base_dir: folder that paths in the policy are relative to.
    """

    policy: Policy
    source: Relation
    where: exp.Expr | None
    base_dir: Path

    @property
    def people_key(self) -> tuple[str, ...]:
        """What tells people apart: the individual, else the primary key; perhaps nothing."""
        return self.policy.individual_key or self.source.record_key

    @property
    def undeclared(self) -> list[tuple[str | None, Relation, str]]:
        """Columns of which the policy says nothing, with their tables: None is the source."""
        found: list[tuple[str | None, Relation, str]] = [
            (None, self.source, name)
            for name in self.source.column_names
            if name not in self.policy.columns
        ]
        for name, table in self.policy.tables.items():
            if isinstance(table, EventTable | LookupTable):
                relation = self.tables[name]
                others = [one for one in relation.column_names if one not in table.mentioned]
                found += [(name, relation, one) for one in others]
        return found

    @property
    def labelled(self) -> list[Attribute]:
        """Columns of which the values below labels are published: of hierarchies that list them."""
        asked = self.policy.publish.labels
        return [
            attribute
            for attribute in self.attributes
            if asked
            and attribute.form is Shown.LABEL
            and isinstance(self.policy.columns[attribute.column.name].hierarchy, _LISTED)
        ]


@dataclass(frozen=True, kw_only=True)
class ReleaseSpec(Resolved):
    """A policy resolved against the catalog, with what methods and forms need of earlier versions.

    Attributes:
        owners: keys that may say so, or lead to a person, by which people of groups are counted.
        roles: numbers of the readers and trusted roles that it names.
        rules: what everybody knows to be impossible; one per sensitive column of an exclusion.
        partition: what of the policy decides which groups come out and what of them is shown.
        growth: what the run adds to, of a release that grows; None for a version made at once.
        distributed_reads: what statements of a run read of tables that Citus distributes.
        related: the other tables of a release of several.
        shards: those of the source, where it is such a table itself and the run may work on them.
        counted: whether equal records of the source are read as one row, with their number.
    """

    requirements: tuple[Requirement, ...]
    rules: tuple[ExclusionRule, ...]
    partition: Part
    owners: tuple[tuple[str, ...], ...] = ()
    growth: Growth | None = None
    signatures: Signatures | None = None
    related: Related | None = None
    roles: Mapping[str, int] = field(default_factory=dict)
    distributed_reads: tuple[DistributedRead, ...] = ()
    shards: Shards | None = None
    counted: bool = False

    @cached_property
    def policy_hash(self) -> str:
        return policy_hash(self.policy)

    @property
    def record_key(self) -> tuple[str, ...]:
        """The source's primary key columns (identity of a record), perhaps empty."""
        return self.source.record_key

    @property
    def individual(self) -> tuple[str, ...]:
        """Columns that together say whose record it is, perhaps none."""
        return self.policy.individual_key

    @property
    def unreleased(self) -> tuple[str, ...]:
        """Columns of the source, and of the other tables, that the policy withholds."""
        return tuple(n if table is None else f"{table}.{n}" for table, _, n in self.undeclared)

    @property
    def view(self) -> QualifiedName:
        """The published view."""
        return QualifiedName(self.policy.publish.view_schema, self.policy.release)

    @property
    def readers(self) -> tuple[str, ...]:
        return self.policy.publish.readers

    @property
    def reading(self) -> dict[str, int]:
        """Readers that were found, with their numbers."""
        return {name: self.roles[name] for name in self.readers if name in self.roles}

    @property
    def trusted(self) -> dict[str, int]:
        """Trusted roles that were found, with their numbers."""
        return {name: self.roles[name] for name in self.policy.trust if name in self.roles}

    @property
    def shows_means(self) -> bool:
        """Whether anything is shown as means of records."""
        return bool(self.averaged or self.microaggregated)

    @property
    def has_identity(self) -> bool:
        """Whether people can be told apart."""
        return bool(self.individual or self.record_key)

    @property
    def in_cohorts(self) -> bool:
        """Whether records have the number of a cohort, of which each is grouped by itself.

        Those of related tables are parts that are kept apart, whatever their number.
        """
        return self.growth is not None and self.growth.in_cohorts and self.related is None

    @property
    def keeps_cuts(self) -> bool:
        """Whether the cuts of the run may be kept, to divide new individuals in the same way.

        Of a version that is made at once, too: a release may go on from it by increments.
        """
        first = self.growth is None or self.growth.version is None
        # What was cut may be undone, and classes be left out.
        stays = first and not self.of_release and not self.profits and self.related is None
        return stays and self.has_identity and self.policy.method.admits("regions", "leaves")

    @property
    def leaves_surplus_out(self) -> bool:
        """Whether single records of values that are too frequent may be left out."""
        policy = self.policy
        asked = policy.on_infeasible == "suppress" and policy.refresh == "recompute"
        bounded = any(requirement.bounds_frequency for requirement in self.requirements)
        return policy.method.leaves_surplus_out and asked and bounded

    @property
    def random_order(self) -> RandomOrder:
        """How records with equal codes are ordered."""
        return "numbered" if self.leaves_surplus_out else self.policy.method.encoding.order

    @property
    def numbers_records(self) -> bool:
        return self.random_order == "numbered"

    @property
    def may_count(self) -> bool:
        """Whether nothing is asked of records but their number: equal ones are not told apart."""
        alike = self.policy.method.encoding.combines and not self.numbers_records
        told_apart = self.has_identity or self.owners or self.weight or self.shows_means
        return alike and not told_apart and not self.hidden and not self.related

    @property
    def divides_cells(self) -> bool:
        """Whether records with equal codes may be in several groups, without numbers that would
        identify them."""
        return self.policy.method.encoding.divides_cells and not self.numbers_records

    @property
    def shows_regions(self) -> bool:
        """Whether groups show the bounds of the region that they are in."""
        return any(attribute.in_regions for attribute in self.attributes)

    @property
    def minimum_size(self) -> int:
        """Fewest records that any class can have under all requirements."""
        return max((requirement.model.minimum_size for requirement in self.requirements), default=1)

    @property
    def grows(self) -> bool:
        """Whether a run adds to a version."""
        return self.growth is not None and self.growth.version is not None

    @property
    def closes(self) -> bool:
        """Whether a run adds a period of events to groups that there are."""
        return self.growth is not None and self.growth.closes

    @property
    def tests_once(self) -> bool:
        """Whether new individuals who fail are left out for good, whatever the limit.

        Rows of events come later, so that another test of the same people would tell by whose.
        """
        return self.grows and self.related is not None and bool(self.related.events)

    @property
    def suppression_limit(self) -> float:
        """The share of the records that may be left out."""
        return 1.0 if self.tests_once else self.policy.suppression_limit

    @property
    def least_cohort(self) -> int:
        """Fewest new individuals who can be a group."""
        return max(self.minimum_size, self.related.group_size if self.related else 1)

    @property
    def least_people(self) -> int:
        """People that a group would have to have, if each had one record: of clusters as many as
        combinations."""
        sets = (model.k for model in self.policy.privacy if isinstance(model, QSKAnonymity))
        return max((self.minimum_size, *sets))

    @property
    def invariant(self) -> bool:
        """Whether people keep the signatures that they were released with."""
        return self.policy.refresh == "invariant"

    @property
    def invariant_items(self) -> tuple[Sensitive, ...]:
        """The sensitive columns of which they do, by name: the order of the values of a vector."""
        items = sorted(self.sensitive, key=lambda item: item.column.name)
        return tuple(items) if self.invariant else ()

    @property
    def invariant_columns(self) -> tuple[str, ...]:
        """Their names in the source."""
        return tuple(item.column.name for item in self.invariant_items)

    @property
    def measured(self) -> tuple[Requirement, ...]:
        """The requirements that are measured of histograms."""
        return tuple(r for r in self.requirements if r.model.from_histogram)

    @property
    def of_release(self) -> tuple[Requirement, ...]:
        """The requirements about all classes together."""
        return tuple(r for r in self.requirements if isinstance(r.model, ReleaseModel))

    @property
    def in_population(self) -> tuple[Requirement, ...]:
        """The requirements that are measured of classes beside a population."""
        return tuple(r for r in self.requirements if isinstance(r.model, PopulationModel))

    @property
    def profits(self) -> tuple[Requirement, ...]:
        """The requirements that classes pay."""
        return tuple(r for r in self.requirements if isinstance(r.model, Profitability))

    @property
    def estimated(self) -> tuple[PopulationUniqueness, ...]:
        """The models that are estimated of all class sizes together."""
        models = (requirement.model for requirement in self.requirements)
        return tuple(m for m in models if isinstance(m, PopulationUniqueness))

    @property
    def background(self) -> BackgroundKnowledge | None:
        """The background knowledge of readers; None where it may be anything."""
        declared = (m for m in self.policy.privacy if isinstance(m, BackgroundKnowledge))
        return next((model for model in declared if model.j < 1), None)

    @property
    def unprotected(self) -> tuple[Sensitive, ...]:
        """Sensitive columns that no model is about, without those that the policy accepts."""
        names = unprotected_columns(self.policy)
        return tuple(item for item in self.sensitive if item.column.name in names)

    @property
    def qs_sets(self) -> dict[str, tuple[Attribute, ...]]:
        """The attributes of every QS set, both in the order of the policy."""
        names = dict.fromkeys(a.qs_set for a in self.attributes if a.qs_set is not None)
        return {name: tuple(a for a in self.attributes if a.qs_set == name) for name in names}

    @property
    def external(self) -> ExternalObjects:
        """Relations and functions that the policy names and a run reads or calls."""
        hierarchies = [column.hierarchy for column in self.policy.columns.values()]
        tables = [QualifiedName.of(h.table) for h in hierarchies if isinstance(h, TableHierarchy)]
        beside = filter(None, (*self.public.values(), self.prior, self.population, self.aliases))
        return ExternalObjects(
            relations=(*self.read, *[relation.name for relation in beside], *tables),
            functions=tuple(
                QualifiedName.of(h.function)
                for h in hierarchies
                if isinstance(h, FunctionHierarchy)
            ),
        )

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """Of the semi-sensitive columns, in the order of the policy."""
        return tuple(a.hidden for a in self.attributes if a.hidden is not None)

    @property
    def read(self) -> tuple[QualifiedName, ...]:
        """Relations that the snapshot reads: the source, exceptions, people who are left out, other
        tables."""
        names = [h.exceptions.name for h in self.hidden if h.exceptions is not None]
        names += [self.exclude.name] if self.exclude is not None else []
        names += self.related.relations if self.related is not None else ()
        return tuple(dict.fromkeys([self.source.name, *names]))

    @property
    def about_people(self) -> tuple[int, ...]:
        """Numbers of the relations whose rows are of people: the source, and tables of events."""
        events = self.related.events if self.related is not None else ()
        return (self.source.oid, *[one.relation.oid for one in events])

    def view_of(self, part: str) -> QualifiedName:
        """The published view of a part of the release, beside :attr:`view`."""
        return QualifiedName(self.view.schema, part_name(self.view.name, part))
