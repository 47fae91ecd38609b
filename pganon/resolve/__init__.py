"""Policy x catalog -> ReleaseSpec: finds every problem and raises once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import assert_never

from sqlglot import exp

from pganon.catalog.model import TIMELESS_KINDS, Column, Relation
from pganon.catalog.values import stored
from pganon.encode.hierarchy import has_ranges
from pganon.encode.sensitive_trees import sensitive_tree_steps
from pganon.encode.snapshot import canonical_type
from pganon.encode.trees import tree_steps
from pganon.errors import PolicyError, PreconditionError, Problem
from pganon.identifiers import MAX_BYTES, QualifiedName, fits, quote
from pganon.policy.document import field_path
from pganon.policy.domains import ValueSet
from pganon.policy.expressions import ExpressionProblem, check_where, refuse_moving_times
from pganon.policy.knowledge import PROBABILITY
from pganon.policy.model import ColumnPolicy, Policy, policy_hash
from pganon.policy.options import FLAT
from pganon.policy.partition import partition_part
from pganon.privacy.models import BackgroundKnowledge
from pganon.privacy.requirements import requirements_of
from pganon.resolve.domains import domain_refusals
from pganon.resolve.exceptions import exception_problem
from pganon.resolve.exclusions import rule_refusals, rules
from pganon.resolve.increments import increment_refusals
from pganon.resolve.people import people_problem
from pganon.resolve.reference import reference_refusals
from pganon.spec.collations import collation_refusals
from pganon.spec.conditions import typed
from pganon.spec.model import Attribute, Carried, Hidden, ReleaseSpec, Scale, Sensitive, Shown
from pganon.sqltools import col

RANGE_TYPES = {
    "integer": "numrange",
    "numeric": "numrange",
    "float": "numrange",
    "date": "daterange",
    "timestamp": "tsrange",
    "timestamptz": "tstzrange",
}

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
    """
    builder = _Builder(
        policy, relation, public or {}, exceptions or {}, prior, exclude, base_dir, line_of
    )
    spec = builder.build()
    if builder.problems or spec is None:
        raise PolicyError(builder.problems, file=file)
    return spec


def _compared(column: Column) -> str:
    """What a column's values are compared as, as quasi-identifiers."""
    return "unsupported" if column.kind == "unsupported" else canonical_type(column)


def _told_apart(column: Column) -> str:
    """The same for sensitive values, of which other spellings are equal."""
    return "text" if column.kind in ("text", "bpchar", "enum") else column.kind


class _Builder:
    def __init__(
        self,
        policy: Policy,
        relation: Relation,
        public: Mapping[str, Relation],
        exceptions: Mapping[str, Relation],
        prior: Relation | None,
        exclude: Relation | None,
        base_dir: Path,
        line_of: LineOf,
    ) -> None:
        self.policy = policy
        self.relation = relation
        self.public = public
        self.exceptions = exceptions
        self.prior = prior
        self.exclude = exclude
        self.base_dir = base_dir
        self.line_of = line_of
        self.problems: list[Problem] = []

    def report(self, field: str, message: str, suggestion: str | None = None) -> None:
        self.problems.append(Problem(message, field, self.line_of(field), suggestion))

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
        self._names(attributes, sensitive, carried)
        self._undeclared()
        for attribute in attributes:
            self._public(attribute)
        self._priors(attributes, sensitive)
        if self.exclude is not None:
            key = self.policy.individual_key or self._record_key()
            wrong = people_problem(self.relation, key, self.exclude)
            if wrong is not None:
                self.report("exclude.relation", *wrong)
        for wrong in collation_refusals(self.policy, self.relation):
            self.report(field_path(wrong.place), wrong.message, wrong.suggestion)
        for wrong in rule_refusals(self.policy, attributes, sensitive):
            self.report(field_path(wrong.place), wrong.message, wrong.suggestion)
        for wrong in reference_refusals(self.policy, sensitive):
            self.report(field_path(wrong.place), wrong.message, wrong.suggestion)
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
            rules=tuple(rules(self.policy, attributes, sensitive)),
            partition=partition_part(self.policy, self.relation.name, self.base_dir),
            base_dir=self.base_dir,
        )
        for wrong in increment_refusals(spec):
            self.report(field_path(wrong.place), wrong.message, wrong.suggestion)
        return spec

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

    def _known(self, field: str, name: str, relation: Relation | None = None) -> Column | None:
        """The column of the source, or of another relation; reports its problems."""
        relation = relation or self.relation
        column = relation.column(name)
        if column is None:
            near = get_close_matches(name, relation.column_names, n=1)
            self.report(
                field,
                f"{relation.name} has no column {quote(name)}",
                f"did you mean {quote(near[0])}?" if near else None,
            )
        elif not column.readable:
            self.report(
                field,
                f"column {quote(name)} of {relation.name} may not be read",
                f"GRANT SELECT ({quote(name)}) ON {relation.name} TO the pganon owner",
            )
        return column

    def _public(self, attribute: Attribute) -> None:
        """The column in the public relation of its set, comparable with that of the source."""
        name = attribute.column.name
        relation = self.public.get(attribute.qs_set or "")
        if relation is None:
            return
        self._comparable(f"columns.{name}.set", attribute.column, relation, _compared)

    def _comparable(
        self, field: str, own: Column, relation: Relation, compared: Callable[[Column], str]
    ) -> None:
        """The column of the same name in another relation holds values of the same kind."""
        other = self._known(field, own.name, relation)
        if other is not None and compared(own) != compared(other):
            self.report(
                field,
                f"column {quote(own.name)} is {own.type_name} in {self.relation.name}"
                f" and {other.type_name} in {relation.name}",
                "name a view that casts it to the type of the source",
            )

    def _priors(self, attributes: Iterable[Attribute], sensitive: Iterable[Sensitive]) -> None:
        """Where the priors of background knowledge come from fits the columns."""
        models = enumerate(self.policy.privacy)
        named = ((i, model) for i, model in models if isinstance(model, BackgroundKnowledge))
        number, declared = next(named, (0, None))
        if declared is None:
            return
        field = f"privacy[{number}].knowledge"
        cells = declared.knowledge.cells
        for attribute in attributes:
            name = attribute.column.name
            parts = cells.intervals if cells is not None else None
            if isinstance(parts, Mapping) and name in parts and attribute.scale is Scale.NOMINAL:
                self.report(
                    f"{field}.cells.intervals.{name}",
                    f"column {quote(name)} is {attribute.column.type_name}, whose values have no"
                    " order",
                    "leave it out; its values are told apart, or by levels of a hierarchy",
                )
            if self.prior is not None:
                self._comparable(f"{field}.relation", attribute.column, self.prior, _compared)
        if self.prior is None:
            return
        for item in sensitive:
            self._comparable(f"{field}.relation", item.column, self.prior, _told_apart)
        column = self._known(f"{field}.relation", PROBABILITY, self.prior)
        if column is not None and not column.is_number:
            self.report(
                f"{field}.relation",
                f"column {quote(PROBABILITY)} of {self.prior.name} is {column.type_name}, not a"
                " number",
                "name a view that casts it",
            )

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
        self._tree(column.name, lambda: sensitive_tree_steps(item, self.base_dir))
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
                self.report(field_path(place), wrong.message, wrong.suggestion)
        scale = self._scale(declared, kind)
        form = self._form(declared, kind)
        null_column = None
        mixed = form not in (Shown.VALUES, Shown.EXACT)
        if mixed and column.nullable and declared.nulls == "as_value":
            null_column = f"{published}_null"
        published_type = {
            Shown.RANGE: RANGE_TYPES.get(column.kind, ""),
            Shown.SET: f"{column.stored_type}[]",
            Shown.LABEL: "text",
            Shown.VALUES: f"{column.stored_type}[]",
            Shown.EXACT: column.stored_type,
            Shown.MEAN: column.stored_type,
            Shown.MODE: column.stored_type,
        }[form]
        attribute = Attribute(
            index=index,
            column=column,
            published=published,
            scale=scale,
            form=form,
            value_type=canonical_type(column),
            published_type=published_type,
            null_column=null_column,
            nulls=declared.nulls,
            weight=declared.weight,
            order=declared.order,
            domain=None if isinstance(declared.domain, ValueSet) else declared.domain,
            values=declared.domain.values if isinstance(declared.domain, ValueSet) else None,
            qs_set=declared.qs_set,
            ranged=declared.hierarchy is not None and has_ranges(declared.hierarchy),
            shares=self.policy.method.loses_shares,
        )
        self._hierarchy(attribute)
        return attribute

    def _hierarchy(self, attribute: Attribute) -> None:
        """Problems of a hierarchy that need no values: files, kinds."""
        if attribute.scale is not Scale.TREE:
            return
        self._tree(attribute.column.name, lambda: tree_steps(self.policy, self.base_dir, attribute))

    def _tree(self, name: str, build: Callable[[], object]) -> None:
        try:
            build()
        except PreconditionError as error:
            self.report(f"columns.{name}.hierarchy", error.message, error.hint)

    @staticmethod
    def _scale(declared: ColumnPolicy, kind: str) -> Scale:
        if declared.hierarchy is not None:
            return Scale.TREE
        return Scale.NOMINAL if kind == "categorical" else Scale.ORDERED

    def _form(self, declared: ColumnPolicy, kind: str) -> Shown:
        shows = self.policy.method.shows
        match shows:
            case "values":
                return Shown.VALUES
            case "exact":
                return Shown.EXACT
            case "centre":
                mean = kind == "numeric" and declared.hierarchy is None
                return Shown.MEAN if mean else Shown.MODE
            case "generalized":
                pass
        if declared.hierarchy is not None:
            return Shown.RANGE if has_ranges(declared.hierarchy) else Shown.LABEL
        return Shown.RANGE if kind == "numeric" else Shown.SET

    def _names(
        self,
        attributes: Iterable[Attribute],
        sensitive: Iterable[Sensitive],
        carried: Iterable[Carried],
    ) -> None:
        """Published names: unique, storable, and none that pganon adds is a source column's."""
        added = self.policy.method.added_columns(self.policy.columns)
        used: Counter[str] = Counter(added)
        apart = [item for item in sensitive if item.hidden is None]
        for item in (*attributes, *apart, *carried):
            used[item.published] += 1
            field = f"columns.{item.column.name}"
            if item.published in added:
                self.report(
                    field,
                    f"{quote(item.published)} is a column that pganon adds",
                    "rename it with `as:`",
                )
            elif used[item.published] > 1:
                self.report(
                    field,
                    f"two published columns would be named {quote(item.published)}",
                    "rename one with `as:`",
                )
        for attribute in attributes:
            if attribute.null_column is None:
                continue
            field = f"columns.{attribute.column.name}"
            used[attribute.null_column] += 1
            if used[attribute.null_column] > 1:
                self.report(
                    field,
                    f"the column {quote(attribute.null_column)} that shows its NULLs has the name"
                    " of another published column",
                    "rename one with `as:`, or choose another rule for nulls",
                )
            if not fits(attribute.null_column):
                self.report(
                    field,
                    f"the name {quote(attribute.null_column)} of the column that shows its NULLs"
                    f" has more than {MAX_BYTES} bytes",
                    "shorten it with `as:`, or choose another rule for nulls",
                )

        if FLAT in self.policy.method.parts:
            self._flat_names(attributes, used)

    def _flat_names(self, attributes: Iterable[Attribute], used: Counter[str]) -> None:
        for attribute in attributes:
            for name in attribute.flat_names:
                field = f"columns.{attribute.column.name}"
                what = f"the column {quote(name)} that shows an end of its range"
                if name != attribute.published and used[name]:
                    self.report(
                        field, f"{what} has the name of another one", "rename one with `as:`"
                    )
                if not fits(name):
                    self.report(
                        field, f"{what} has more than {MAX_BYTES} bytes", "shorten it with `as:`"
                    )

    def _undeclared(self) -> None:
        """Columns that nobody decided about, if the policy wants that for all of them."""
        if self.policy.undeclared != "refuse":
            return
        for name in self.relation.column_names:
            if name not in self.policy.columns:
                self.report(
                    "columns",
                    f"{self.relation.name} has the column {quote(name)}, which is not declared",
                    "declare it; role: identifying keeps it at home",
                )

    def _record_key(self) -> tuple[str, ...]:
        key = self.relation.primary_key
        return () if self.relation.unreadable(key) else key
