"""Policy x catalog -> ReleaseSpec: finds every problem and raises once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from sqlglot import exp

from pganon.catalog.model import TIMELESS_KINDS, Column, Relation
from pganon.catalog.types import canonical_type
from pganon.catalog.values import stored
from pganon.errors import PolicyError, PreconditionError, Problem
from pganon.hierarchies import has_ranges, hierarchy_steps
from pganon.identifiers import QualifiedName, quote
from pganon.policy.columns import ColumnPolicy
from pganon.policy.document import field_path
from pganon.policy.domains import ValueSet
from pganon.policy.expressions import ExpressionProblem, check_where, refuse_moving_times
from pganon.policy.flags import flag_hints
from pganon.policy.hierarchies import Hierarchy
from pganon.policy.model import Policy, policy_hash
from pganon.policy.partition import partition_part
from pganon.policy.refusals import Refusal
from pganon.policy.tasks import DECIDE
from pganon.privacy.requirements import requirements_of
from pganon.resolved.collations import collation_refusals
from pganon.resolved.conditions import typed
from pganon.resolved.domains import domain_refusals
from pganon.resolved.exceptions import exception_problem
from pganon.resolved.exclusions import rule_refusals, rules
from pganon.resolved.growth import increment_refusals
from pganon.resolved.model import Attribute, Carried, Hidden, ReleaseSpec, Scale, Sensitive, Shown
from pganon.resolved.names import name_refusals
from pganon.resolved.other import column_refusals, prior_refusals, public_refusals
from pganon.resolved.people import aliases_problem, key_refusals, people_problem
from pganon.resolved.reference import reference_refusals
from pganon.resolved.shown import form_of, published_type, scale_of
from pganon.sqltools import col
from pganon.steps import State

SUPPORTED = (
    "integers, numeric, floats, date, timestamp, timestamptz, boolean, text, varchar, char,"
    " citext, enum, uuid and domains over these"
)

LineOf = Callable[[str], int | None]


def resolve(
    policy: Policy,
    relation: Relation,
    *,
    public: Mapping[str, Relation] | None = None,
    exceptions: Mapping[str, Relation] | None = None,
    prior: Relation | None = None,
    exclude: Relation | None = None,
    aliases: Relation | None = None,
    base_dir: Path = Path(),
    file: str | None = None,
    line_of: LineOf = lambda field: None,
) -> ReleaseSpec:
    """The resolved policy; raises :class:`PolicyError` with all problems.

    Args:
        public: the relations that the policy names as public, by QS set.
        exceptions: those that say whose values are sensitive, by their name in the policy.
        prior: the one with what readers are assumed to know beforehand.
        exclude: the one of people who are left out.
        aliases: the one of people whose key changed.
    """
    builder = _Builder(
        policy, relation, public or {}, exceptions or {}, prior, exclude, aliases, base_dir, line_of
    )
    spec = builder.build()
    if builder.problems or spec is None:
        raise PolicyError(builder.problems, file=file)
    return spec


class _Builder:
    def __init__(
        self,
        policy: Policy,
        relation: Relation,
        public: Mapping[str, Relation],
        exceptions: Mapping[str, Relation],
        prior: Relation | None,
        exclude: Relation | None,
        aliases: Relation | None,
        base_dir: Path,
        line_of: LineOf,
    ) -> None:
        self.policy = policy
        self.relation = relation
        self.public = public
        self.exceptions = exceptions
        self.prior = prior
        self.exclude = exclude
        self.aliases = aliases
        self.base_dir = base_dir
        self.line_of = line_of
        self.problems: list[Problem] = []

    def report(self, field: str, message: str, suggestion: str | None = None) -> None:
        self.problems.append(Problem(message, field, self.line_of(field), suggestion))

    def _refuse(self, wrong: Refusal) -> None:
        self.report(field_path(wrong.place), wrong.message, wrong.suggestion)

    def build(self) -> ReleaseSpec | None:
        where = self._condition("where", self.policy.where)
        columns = {name: self._column(name) for name in self.policy.columns}
        attributes: list[Attribute] = []
        sensitive: list[Sensitive] = []
        carried: list[Carried] = []
        for name, declared in self.policy.columns.items():
            column = columns[name]
            if column is None:
                continue
            published = declared.published_as or name
            match declared.role:
                case "quasi_identifying" | "quasi_sensitive":
                    found = self._attribute(len(attributes), column, declared, published)
                    if found is not None:
                        attributes.append(found)
                case "semi_sensitive":
                    hidden = self._hidden(name, sum(a.hidden is not None for a in attributes))
                    found = self._attribute(len(attributes), column, declared, published)
                    if found is not None and hidden is not None:
                        attributes.append(replace(found, hidden=hidden))
                        item = Sensitive(
                            len(sensitive),
                            column,
                            published,
                            "as_value",
                            leaf_type=self._leaf_type(column, declared),
                            hidden=hidden,
                            order=declared.order,
                            leaves=None if found.ranged else declared.hierarchy,
                        )
                        sensitive.append(item)
                    self._distance(name, column)
                case "sensitive":
                    self._supported(name, column)
                    sensitive.append(self._sensitive(len(sensitive), column, declared, published))
                    self._distance(name, column)
                case "insensitive":
                    self._supported(name, column)
                    carried.append(Carried(len(carried), column, published))
                case "identifying" | "individual":
                    pass  # these never leave
                case unknown:
                    assert_never(unknown)
        self._people()
        self._undeclared()
        for wrong in (
            *name_refusals(self.policy, attributes, sensitive, carried),
            *public_refusals(attributes, self.relation, self.public),
            *prior_refusals(self.policy, self.relation, self.prior, attributes, sensitive),
            *rule_refusals(self.policy, attributes, sensitive),
            *reference_refusals(self.policy, sensitive),
        ):
            self._refuse(wrong)
        if self.problems:
            return None
        numbers = {item.column.name: item.index for item in sensitive}
        spec = ReleaseSpec(
            policy=self.policy,
            policy_hash=policy_hash(self.policy),
            source=self.relation,
            where=where,
            record_key=self._record_key(),
            individual=self.policy.individual_key,
            attributes=tuple(attributes),
            sensitive=tuple(sensitive),
            carried=tuple(carried),
            requirements=tuple(requirements_of(self.policy, numbers)),
            unreleased=tuple(
                name for name in self.relation.column_names if name not in self.policy.columns
            ),
            view=QualifiedName(self.policy.publish.view_schema, self.policy.release),
            readers=self.policy.publish.readers,
            public=self.public,
            prior=self.prior,
            exclude=self.exclude,
            aliases=self.aliases,
            rules=tuple(rules(self.policy, attributes, sensitive)),
            partition=partition_part(self.policy, self.relation.name, self.base_dir),
            base_dir=self.base_dir,
        )
        for wrong in increment_refusals(spec):
            self._refuse(wrong)
        return spec

    def _people(self) -> None:
        """What tells them apart, and relations of people by that."""
        key = self._key()
        for wrong in (
            *key_refusals(self.policy, self.relation, key),
            *collation_refusals(self.policy, self.relation, key),
        ):
            self._refuse(wrong)
        for field, relation, problem in (
            ("exclude.relation", self.exclude, people_problem),
            ("aliases.relation", self.aliases, aliases_problem),
        ):
            wrong = problem(self.relation, key, relation) if relation is not None else None
            if wrong is not None:
                self.report(field, *wrong)

    def _condition(self, field: str, text: str | None) -> exp.Expr | None:
        """A condition over columns of the source; None if there is none, or a wrong one."""
        if text is None:
            return None
        try:
            where = check_where(text)
        except ExpressionProblem as problem:
            self.report(field, problem.problem.message, problem.problem.suggestion)
            return None
        columns = [self._known(field, name) for name in sorted(where.columns)]
        try:
            if not all(column is None or column.kind in TIMELESS_KINDS for column in columns):
                refuse_moving_times(where.expression)
            return typed(where.expression, self.relation)
        except ExpressionProblem as problem:
            self.report(field, problem.problem.message, problem.problem.suggestion)
            return None

    def _known(self, field: str, name: str) -> Column | None:
        """The column of the source; reports its problems."""
        for wrong in column_refusals((), self.relation, name):
            self.report(field, wrong.message, wrong.suggestion)
        return self.relation.column(name)

    def _column(self, name: str) -> Column | None:
        return self._known(f"columns.{name}", name)

    def _hidden(self, name: str, index: int) -> Hidden | None:
        """For whom a semi-sensitive column is sensitive."""
        field = f"columns.{name}.sensitive_when"
        when = self.policy.columns[name].sensitive_when
        assert when is not None  # the role needs it
        if when.relation is not None:
            relation = self.exceptions[when.relation]
            wrong = exception_problem(self.relation, self._record_key(), relation)
            if wrong is None:
                return Hidden(index, None, relation)
            self.report(f"{field}.relation", *wrong)
            return None
        if when.column is not None:
            return self._companion(f"{field}.column", when.column, index)
        found = self._condition(f"{field}.predicate", when.predicate)
        return None if found is None else Hidden(index, found)

    def _companion(self, field: str, name: str, index: int) -> Hidden | None:
        column = self._known(field, name)
        if column is None or not column.readable:
            return None
        if column.kind == "boolean":
            return Hidden(index, stored(column, col(name, "src")))
        self.report(
            field,
            f"column {quote(name)} is {column.type_name}, not a boolean that says whether a value"
            " is sensitive",
            "name a boolean column, or write a predicate",
        )
        return None

    def _supported(self, name: str, column: Column) -> bool:
        if column.kind != "unsupported":
            return True
        self.report(
            f"columns.{name}",
            f"column {quote(name)} has the type {column.type_name}, which cannot be released",
            f"supported are {SUPPORTED}; cast it in a view over the source",
        )
        return False

    def _distance(self, name: str, column: Column) -> None:
        if column.kind not in ("boolean", "uuid", "text", "bpchar", "citext"):
            return
        for number, model in enumerate(self.policy.privacy):
            ordered = getattr(model, "distance", None) == "ordered"
            if ordered and getattr(model, "column", None) == name:
                self.report(
                    f"privacy[{number}].distance",
                    f"column {quote(name)} is {column.type_name}, whose values have no order that"
                    " a distance could be taken in",
                    "use distance: equal, or an enum or number",
                )

    def _sensitive(
        self, index: int, column: Column, declared: ColumnPolicy, published: str
    ) -> Sensitive:
        if declared.hierarchy is None or column.kind == "unsupported":
            return Sensitive(index, column, published, declared.nulls)
        kind, hierarchy = self._leaf_type(column, declared), declared.hierarchy
        item = Sensitive(index, column, published, declared.nulls, hierarchy, kind)
        self._check_hierarchy(column.name, hierarchy, kind)
        return item

    @staticmethod
    def _leaf_type(column: Column, declared: ColumnPolicy) -> str:
        # Numbers that the policy calls categorical are codes: their digits are what counts.
        return "text" if declared.type == "categorical" else canonical_type(column)

    def _attribute(
        self, index: int, column: Column, declared: ColumnPolicy, published: str
    ) -> Attribute | None:
        if not self._supported(column.name, column):
            return None
        ranked = column.is_number or column.is_time
        kind = declared.type or ("numeric" if ranked else "categorical")
        field = f"columns.{column.name}"
        if kind == "numeric" and not ranked:
            self.report(
                f"{field}.type",
                f"column {quote(column.name)} is {column.type_name}, not a number or date",
                "use type: ordinal or categorical",
            )
            return None
        if declared.domain is not None:
            categorical = kind == "categorical"
            for wrong in domain_refusals(column, declared.domain, categorical=categorical):
                place = ("columns", column.name, "domain", *wrong.place)
                self._refuse(replace(wrong, place=place))
        form = form_of(self.policy, declared, kind)
        null_column = None
        mixed = form not in (Shown.VALUES, Shown.EXACT)
        if mixed and column.nullable and declared.nulls == "as_value":
            null_column = f"{published}_null"
        attribute = Attribute(
            index=index,
            column=column,
            published=published,
            scale=scale_of(declared, kind),
            form=form,
            value_type=canonical_type(column),
            published_type=published_type(form, column),
            null_column=null_column,
            nulls=declared.nulls,
            weight=declared.weight,
            order=declared.order,
            domain=None if isinstance(declared.domain, ValueSet) else declared.domain,
            values=declared.domain.values if isinstance(declared.domain, ValueSet) else None,
            qs_set=declared.qs_set,
            ranged=declared.hierarchy is not None and has_ranges(declared.hierarchy),
            in_regions=self.policy.ranges == "region",
        )
        if attribute.scale is Scale.TREE:
            kind = self._leaf_type(column, declared)
            self._check_hierarchy(column.name, declared.hierarchy, kind)
        return attribute

    def _check_hierarchy(self, name: str, hierarchy: Hierarchy | None, kind: str) -> None:
        """Problems of a hierarchy that need no values: files, kinds."""
        if hierarchy is None:
            return

        def values(state: State) -> QualifiedName:
            return state.work("values")

        try:
            hierarchy_steps("", hierarchy, values, kind, self.base_dir, quote(name))
        except PreconditionError as error:
            self.report(f"columns.{name}.hierarchy", error.message, error.hint)

    def _undeclared(self) -> None:
        """Columns that nobody decided about, if the policy wants that for all of them."""
        if self.policy.undeclared != "refuse":
            return
        decide = self.policy.known.method_for(DECIDE)
        hints = flag_hints(self.relation.columns, self.policy.columns, decide)
        for name in self.relation.column_names:
            if name not in self.policy.columns:
                self.report(
                    "columns",
                    f"{self.relation.name} has the column {quote(name)}, which is not declared",
                    hints.get(name, "declare it; role: identifying withholds it"),
                )

    def _key(self) -> tuple[str, ...]:
        """What tells people apart."""
        return self.policy.individual_key or self._record_key()

    def _record_key(self) -> tuple[str, ...]:
        key = self.relation.primary_key
        return () if self.relation.unreadable(key) else key
