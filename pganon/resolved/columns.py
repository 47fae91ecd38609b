"""Columns of a policy, resolved by their roles: attributes, sensitive and carried ones."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TypeVar, assert_never

from pganon.catalog.model import Column, Relation
from pganon.catalog.types import canonical_type
from pganon.catalog.values import stored
from pganon.hierarchies import has_ranges, leaf_kind
from pganon.identifiers import quote
from pganon.policy.columns import EXCEPTION_COLUMN, ColumnPolicy
from pganon.policy.domains import Domain, ValueSet
from pganon.policy.model import Policy
from pganon.policy.refusals import Place, Refusal, show
from pganon.policy.values import Unreadable, bound, misread, readable
from pganon.resolved.model import (
    Attribute,
    Averaged,
    Carried,
    Columns,
    Hidden,
    Microaggregated,
    Released,
    Scale,
    Sensitive,
    Shown,
)
from pganon.resolved.source import Source, column_refusals, comparable
from pganon.sqltools import col

RANGE_TYPES = {
    "integer": "numrange",
    "numeric": "numrange",
    "float": "numrange",
    "date": "daterange",
    "timestamp": "tsrange",
    "timestamptz": "tstzrange",
}
_NAMES = ("text", "bpchar", "citext", "enum")
"""Kinds of a column that names the column whose value is sensitive."""


Kind = TypeVar("Kind", bound=Released)


@dataclass(frozen=True)
class ColumnResolver:
    """Resolves columns of a policy; problems go to those of the source.

    Attributes:
        exceptions: relations that say whose values are sensitive, by their name in the policy.
        base_dir: folder that paths of hierarchies are relative to.
    """

    policy: Policy
    source: Source
    exceptions: Mapping[str, Relation]
    base_dir: Path
    found: list[Released] = field(default_factory=list)

    def resolve(self) -> Columns:
        """All columns in the order of the policy."""
        weight = None
        resolved = [
            (self.source.column(("columns", name), name), declared)
            for name, declared in self.policy.columns.items()
        ]
        for column, declared in resolved:
            if column is not None:
                self._add(column, declared, declared.published_as or column.name)
                weight = column if declared.role == "weight" else weight
        return Columns(
            attributes=self._of(Attribute),
            sensitive=self._of(Sensitive),
            carried=self._of(Carried),
            weight=weight,
            averaged=self._of(Averaged),
            microaggregated=self._of(Microaggregated),
        )

    def _of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        return tuple(one for one in self.found if isinstance(one, kind))

    def _next(self, kind: type[Released]) -> int:
        return len(self._of(kind))

    def _add(self, column: Column, declared: ColumnPolicy, published: str) -> None:
        match declared.role:
            case "sensitive" | "insensitive" if declared.shown != "none":
                self._add_means(column, declared, published)
            case "quasi_identifying" | "quasi_sensitive":
                attribute = self._attribute(column, declared, published)
                if attribute is not None:
                    self.found.append(attribute)
                if declared.mean:
                    self._add_means(column, declared, f"{published}_mean")
            case "semi_sensitive":
                self._add_semi_sensitive(column, declared, published)
                self._check_distance(column)
            case "sensitive":
                self.source.supports(column.name, column)
                self.found.append(self._sensitive(column, declared, published))
                self._check_distance(column)
            case "insensitive":
                self.source.supports(column.name, column)
                self.found.append(Carried(self._next(Carried), column, published))
            case "weight":
                if not column.is_number:
                    self.source.problems.report(
                        ("columns", column.name, "role"),
                        f"column {quote(column.name)} is {column.type_name}, and weights are"
                        " numbers",
                        "name the column that says how many people a record stands for",
                    )
                if declared.shown != "none":
                    ranged = declared.shown == "range"
                    self.found.append(Averaged(self._next(Averaged), column, published, ranged))
            case "identifying" | "individual":
                pass  # these never leave
            case unknown:
                assert_never(unknown)

    def _add_means(self, column: Column, declared: ColumnPolicy, published: str) -> None:
        """A number that is shown by means of groups, or of classes."""
        if not column.is_number:
            self.source.problems.report(
                ("columns", column.name, "mean" if declared.mean else "shown"),
                f"column {quote(column.name)} is {column.type_name}, and means are of numbers",
                "remove it",
            )
        whole = isinstance(declared.shown, str)
        least = 2 if isinstance(declared.shown, str) else declared.shown.groups
        number, known = self._next(Microaggregated), declared.mean
        self.found.append(Microaggregated(number, column, published, least, whole, known))

    def _add_semi_sensitive(self, column: Column, declared: ColumnPolicy, published: str) -> None:
        """An attribute of some records, and a sensitive column of the others."""
        hidden = self._hidden(column.name, sum(a.hidden is not None for a in self._of(Attribute)))
        attribute = self._attribute(column, declared, published)
        if attribute is None or hidden is None:
            return
        self.found.append(replace(attribute, hidden=hidden))
        self.found.append(
            Sensitive(
                self._next(Sensitive),
                column,
                published,
                "as_value",
                leaf_type=_leaf_type(column, declared),
                hidden=hidden,
                order=attribute.order,
                leaves=None if attribute.ranged else declared.hierarchy,
            )
        )

    def _hidden(self, name: str, index: int) -> Hidden | None:
        """For whom a semi-sensitive column is sensitive."""
        place = ("columns", name, "sensitive_when")
        when = self.policy.columns[name].sensitive_when
        assert when is not None  # the role needs it
        if when.relation is not None:
            relation = self.exceptions[when.relation]
            wrong = list(_exception_refusals((*place, "relation"), self.source.relation, relation))
            self.source.problems.refuse(wrong)
            return None if wrong else Hidden(index, None, relation)
        if when.column is not None:
            return self._companion((*place, "column"), when.column, index)
        condition = self.source.condition((*place, "predicate"), when.predicate)
        return None if condition is None else Hidden(index, condition)

    def _companion(self, place: Place, name: str, index: int) -> Hidden | None:
        """The boolean column that says of every record whether the value is sensitive."""
        column = self.source.column(place, name)
        if column is None or not column.readable:
            return None
        if column.kind == "boolean":
            return Hidden(index, stored(column, col(name, "src")))
        self.source.problems.report(
            place,
            f"column {quote(name)} is {column.type_name}, not a boolean that says whether a value"
            " is sensitive",
            "name a boolean column, or write a predicate",
        )
        return None

    def _check_distance(self, column: Column) -> None:
        if column.kind not in ("boolean", "uuid", "text", "bpchar", "citext"):
            return
        for number, model in enumerate(self.policy.privacy):
            ordered = getattr(model, "distance", None) == "ordered"
            if ordered and getattr(model, "column", None) == column.name:
                self.source.problems.report(
                    ("privacy", number, "distance"),
                    f"column {quote(column.name)} is {column.type_name}, whose values have no"
                    " order that a distance could be taken in",
                    "use distance: equal, or an enum or number",
                )

    def _sensitive(self, column: Column, declared: ColumnPolicy, published: str) -> Sensitive:
        index, hierarchy = self._next(Sensitive), declared.hierarchy
        if hierarchy is None or column.kind == "unsupported":
            return Sensitive(index, column, published, declared.nulls)
        kind = _leaf_type(column, declared)
        place = ("columns", column.name)
        self.source.check_hierarchy(place, column, hierarchy, kind, self.base_dir)
        return Sensitive(index, column, published, declared.nulls, hierarchy, kind)

    def _attribute(
        self, column: Column, declared: ColumnPolicy, published: str
    ) -> Attribute | None:
        if not self.source.supports(column.name, column):
            return None
        kind = self._scale_name(column, declared)
        if kind is None:
            return None
        self.source.problems.refuse(self.policy.method.kind_refusals(column.name, declared, kind))
        domain = declared.domain
        fits = domain_refusals(column, domain, categorical=kind == "categorical") if domain else ()
        for key, refusals in (
            ("domain", fits),
            ("order", _listed_refusals(column, declared.order or (), ())),
        ):
            self.source.problems.refuse(
                wrong.below("columns", column.name, key) for wrong in refusals
            )
        form, order = form_of(self.policy, declared, kind), declared.order
        scale = Scale.NOMINAL if kind == "categorical" else Scale.ORDERED
        mixed = form not in (Shown.VALUES, Shown.EXACT)
        has_nulls = mixed and column.nullable and declared.nulls == "as_value"
        if declared.hierarchy is not None:
            leaf, place = _leaf_type(column, declared), ("columns", column.name)
            self.source.check_hierarchy(place, column, declared.hierarchy, leaf, self.base_dir)
        return Attribute(
            index=self._next(Attribute),
            column=column,
            published=published,
            scale=scale if declared.hierarchy is None else Scale.TREE,
            form=form,
            value_type=canonical_type(column),
            published_type=published_type(form, column),
            null_column=f"{published}_null" if has_nulls else None,
            nulls=declared.nulls,
            weight=declared.weight,
            order=None if order is None else tuple(_spelled(column, text) for text in order),
            domain=None if isinstance(domain, ValueSet) else domain,
            values=domain.values if isinstance(domain, ValueSet) else None,
            qs_set=declared.qs_set,
            ranged=declared.hierarchy is not None and has_ranges(declared.hierarchy),
            in_regions=self.policy.ranges == "region",
            apart=declared.apart,
        )

    def _scale_name(self, column: Column, declared: ColumnPolicy) -> str | None:
        """The type that the policy declares, or that of the column; None if it is a wrong one."""
        ranked = column.is_number or column.is_time
        kind = declared.type or ("numeric" if ranked else "categorical")
        if kind != "numeric" or ranked:
            return kind
        self.source.problems.report(
            ("columns", column.name, "type"),
            f"column {quote(column.name)} is {column.type_name}, not a number or date",
            "use type: ordinal or categorical",
        )
        return None


def _leaf_type(column: Column, declared: ColumnPolicy) -> str:
    return leaf_kind(declared.hierarchy, declared.type, canonical_type(column))


def form_of(policy: Policy, declared: ColumnPolicy, kind: str) -> Shown:
    match policy.method.shows:
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


def published_type(form: Shown, column: Column) -> str:
    """SQL name of the type of the published column."""
    return {
        Shown.RANGE: RANGE_TYPES.get(column.kind, ""),
        Shown.SET: f"{column.stored_type}[]",
        Shown.LABEL: "text",
        Shown.VALUES: f"{column.stored_type}[]",
        Shown.EXACT: column.stored_type,
        Shown.MEAN: column.stored_type,
        Shown.MODE: column.stored_type,
    }[form]


def _exception_refusals(place: Place, source: Relation, relation: Relation) -> Iterator[Refusal]:
    """Why the relation cannot say whose values of the source are sensitive."""
    if not source.record_key:
        message = f"{source.name} has no primary key that rows of {relation.name} could name"
        yield Refusal(place, message, "give it a primary key, or use a boolean column")
    for column in filter(None, map(source.column, source.record_key)):
        yield from comparable(place, column, source, relation, lambda c: str(c.type_oid))
    yield from column_refusals(place, relation, EXCEPTION_COLUMN)
    named = relation.column(EXCEPTION_COLUMN)
    if named is not None and named.kind not in _NAMES:
        message = f"column {quote(named.name)} of {relation.name} is {named.type_name}, not a text"
        yield Refusal(place, message, "in it stand the names of columns whose value is sensitive")


def domain_refusals(column: Column, domain: Domain, *, categorical: bool) -> Iterator[Refusal]:
    """Refusals of a domain that does not fit its column; places are below that of the domain."""
    if not isinstance(domain, ValueSet):
        yield from type_refusals(column, domain)
    elif categorical:
        yield from _listed_refusals(column, domain.values, ("values",))
    else:
        yield Refusal(
            (),
            f"column {quote(column.name)} is {column.type_name}; a domain of listed values is for"
            " categories",
            "write the lowest and the highest value, domain: [0, 120], or add type: categorical",
        )


def _spelled(column: Column, text: str) -> str:
    """A value of an order in the one text that :func:`pganon.catalog.values.order_label` gives to
    all spellings of it: 1.00 is 1."""
    try:
        value = readable(column, text)
    except Unreadable:
        return text  # it is refused
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal() if column.is_number:  # of an enum it is the place of the label
            return f"{value.normalize():f}" if value else "0"
        case _ if column.is_number:
            return _NOT_FINITE[text.strip().lower()]
        case _:
            return text


_NOT_FINITE = {
    "nan": "NaN",
    **{f"{sign}{word}": "Infinity" for sign in ("", "+") for word in ("inf", "infinity")},
    **{f"-{word}": "-Infinity" for word in ("inf", "infinity")},
}


def _listed_refusals(
    column: Column, values: tuple[str, ...], place: tuple[str | int, ...]
) -> Iterator[Refusal]:
    """Values that are none of the column's type, or that equal another one of the list."""
    seen: dict[object, str] = {}
    for at, text in enumerate(values):
        try:
            value = _value(column, text)
        except Unreadable as wanted:
            yield Refusal((*place, at), misread(column, text, wanted))
            continue
        if value in seen:
            same = "" if seen[value] == text else f": {show(seen[value])} is the same value"
            message = f"{show(text)} stands in the list twice{same}"
            yield Refusal((*place, at), message, "keep one")
        seen.setdefault(value, text)


def _value(column: Column, text: str) -> object:
    """The value that a text stands for, as equal as the database would find it.

    Raises:
        Unreadable: it is no value of the column's type.
    """
    if column.kind in ("timestamp", "timestamptz"):
        _check(column, text)
        return bound(text)
    if column.kind == "uuid":
        try:
            return uuid.UUID(text)
        except ValueError:
            raise Unreadable("a uuid") from None
    value = readable(column, text)
    return text if value is None else value


def type_refusals(column: Column, domain: tuple[str, str]) -> Iterator[Refusal]:
    """Refusals of a span that the column's type does not allow; places are below the domain's."""
    if not (column.is_number or column.is_time):
        yield Refusal(
            (),
            f"column {quote(column.name)} is {column.type_name}; a domain is for numbers, dates"
            " and timestamps",
            "remove domain",
        )
        return
    for at, text in enumerate(domain):
        try:
            _check(column, text)
        except Unreadable as wanted:
            yield Refusal((at,), misread(column, text, wanted))


def _check(column: Column, text: str) -> None:
    if column.kind not in ("timestamp", "timestamptz"):
        readable(column, text)
        return
    value = bound(text)
    if not isinstance(value, datetime.date):
        raise Unreadable("a timestamp like 2020-01-31 13:00")
    # The server would ignore the zone, and mean another moment.
    zone = isinstance(value, datetime.datetime) and value.tzinfo is not None
    if zone and column.kind == "timestamp":
        raise Unreadable("a timestamp without time zone like 2020-01-31 13:00")
