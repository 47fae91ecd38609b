"""Values of semi-sensitive columns: a record has them as an attribute or as a sensitive value.

A snapshot has the flag `f<h>` of every such column: true where the value is sensitive, and where
nobody said anything. `q<i>` is NULL where it is true, `s<j>` where it is false, so that nothing
that is taken from attributes, such as the span of a column, comes from a hidden value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.catalog.keys import key_text_of
from pganon.catalog.model import Column, Relation
from pganon.catalog.values import as_text
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import quote
from pganon.policy.columns import EXCEPTION_COLUMN
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.sqltools import col, computed_once, fragment, named, query, scalar, text
from pganon.steps.facts import Fact, count


def with_flags(spec: ReleaseSpec, tree: exp.Select) -> exp.Select:
    """The snapshot `tree` with the flags, and without the values that are not of their kind."""
    if not spec.hidden:
        return tree
    for attribute in spec.attributes:
        if attribute.hidden is not None:
            tree = tree.select(named(_flag(spec, attribute), attribute.hidden.flag))
    for listed in _exceptions(spec):
        tree = tree.select(named(_unmatched(spec, listed), listed.unmatched))
    kept = {f"q{a.index}": _shown(a) for a in spec.attributes if a.hidden is not None}
    kept |= {f"s{i.index}": _kept(i) for i in spec.sensitive if i.hidden is not None}
    columns = [named(kept.get(name, col(name, "t")), name) for name in tree.named_selects]
    return query("select 1 from t", {"t": computed_once(tree)}).select(*columns, append=False)


def applies(item: Attribute | Sensitive, table: str) -> exp.Expr | None:
    """Condition: the record has the value as this; None for columns that all have so."""
    if item.hidden is None:
        return None
    flag = col(item.hidden.flag, table)
    return exp.not_(flag) if isinstance(item, Attribute) else flag


def _shown(attribute: Attribute) -> exp.Expr:
    value = col(f"q{attribute.index}", "t")
    return fragment("case when not :f then :v end", f=_of(attribute), v=value)


def _kept(item: Sensitive) -> exp.Expr:
    value = col(f"s{item.index}", "t")
    return fragment("case when :f then :v end", f=_of(item), v=value)


def _of(item: Attribute | Sensitive) -> exp.Expr:
    assert item.hidden is not None
    return col(item.hidden.flag, "t")


def _flag(spec: ReleaseSpec, attribute: Attribute) -> exp.Expr:
    hidden = attribute.hidden
    assert hidden is not None
    if hidden.exceptions is not None:
        relation = hidden.exceptions
        listed = query(
            "select :key as key from e where :named = :name",
            {"e": relation.name},
            key=_key_of(spec, relation),
            named=_named_column(relation),
            name=text(attribute.column.name),
        )
        said = fragment(":key in :listed", key=_source_key(spec), listed=scalar(listed))
    else:
        assert hidden.when is not None
        said = hidden.when
    return fragment(":said is distinct from false", said=exp.paren(said))


def _source_key(spec: ReleaseSpec) -> exp.Expr:
    return key_text_of([_known(spec.source, name) for name in spec.record_key], "src")


def _key_of(spec: ReleaseSpec, relation: Relation) -> exp.Expr:
    return key_text_of([_known(relation, name) for name in spec.record_key], "e")


def _named_column(relation: Relation) -> exp.Expr:
    return as_text(_known(relation, EXCEPTION_COLUMN), col(EXCEPTION_COLUMN, "e"))


def _known(relation: Relation, name: str) -> Column:
    column = relation.column(name)
    assert column is not None  # the policy was resolved against the catalog
    return column


@dataclass(frozen=True)
class _Exceptions:
    """A relation of exceptions, and the semi-sensitive columns that it decides about."""

    relation: Relation
    attributes: tuple[Attribute, ...]
    number: int

    @property
    def unmatched(self) -> str:
        """Column of the snapshot: rows about no record, or about no column that asks."""
        return f"unmatched{self.number}"


def _exceptions(spec: ReleaseSpec) -> list[_Exceptions]:
    by_column: dict[str, list[Attribute]] = {}
    relations: dict[str, Relation] = {}
    for attribute in spec.attributes:
        if attribute.hidden is not None and attribute.hidden.exceptions is not None:
            relation = attribute.hidden.exceptions
            relations[str(relation.name)] = relation
            by_column.setdefault(str(relation.name), []).append(attribute)
    return [
        _Exceptions(relations[name], tuple(attributes), number)
        for number, (name, attributes) in enumerate(by_column.items())
    ]


def _unmatched(spec: ReleaseSpec, listed: _Exceptions) -> exp.Expr:
    """Read in the statement that reads the source: a misspelt row would publish a secret."""
    keys = query("select :key as key from src", {"src": spec.source.name}, key=_source_key(spec))
    names = [text(attribute.column.name) for attribute in listed.attributes]
    tree = query(
        "select count(*) from e where :named is not true or (:key in :keys) is not true",
        {"e": listed.relation.name},
        named=exp.paren(exp.In(this=_named_column(listed.relation), expressions=names)),
        key=_key_of(spec, listed.relation),
        keys=scalar(keys),
    )
    return scalar(tree)


def unmatched_counts(spec: ReleaseSpec) -> list[exp.Expr]:
    """Aggregates over a snapshot `t`: rows of exceptions that are about nothing."""
    return [
        named(fragment("coalesce(max(:n), 0)", n=col(listed.unmatched, "t")), listed.unmatched)
        for listed in _exceptions(spec)
    ]


def unmatched_facts(spec: ReleaseSpec) -> list[Fact[int]]:
    """Facts that :func:`unmatched_counts` gives."""
    return [count(listed.unmatched) for listed in _exceptions(spec)]


def unmatched_problem(spec: ReleaseSpec, row: Mapping[str, Any]) -> PganonError | None:
    for listed in _exceptions(spec):
        rows = row[listed.unmatched]
        if rows:
            names = ", ".join(quote(attribute.column.name) for attribute in listed.attributes)
            return PreconditionError(
                f"{rows} rows of {listed.relation.name} name no record of {spec.source.name}, or"
                f" no column that it decides about ({names}); a misspelt exception would publish"
                " what it was to hide",
                hint=f"correct the key columns and {quote(EXCEPTION_COLUMN)}, or remove the rows",
                code=ErrorCode.UNMATCHED_EXCEPTIONS,
            )
    return None
