"""Snapshot: one statement reads the source; everything later works on pganon's own tables.

Its table is :data:`pganon.encode.work.SNAP`, with quasi-identifiers in their canonical type, other
values in the type that is stored, and keys as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.catalog.keys import key_text_of
from pganon.catalog.model import Column, ExternalObjects, Relation
from pganon.catalog.types import CANONICAL_TYPES
from pganon.catalog.values import as_text, caseless, stored
from pganon.encode import number_line
from pganon.encode.aliases import alias_steps, both_keys, known_as, with_first_keys
from pganon.encode.distribution import PLACED, beside_source
from pganon.encode.earlier_people import RETURNED_RECORDS, known_steps
from pganon.encode.facts import MOST_EACH
from pganon.encode.people import has_several, owner_columns
from pganon.encode.records import looks_of_source, number_of
from pganon.encode.related import related_tables
from pganon.encode.semi_sensitive import (
    applies,
    unmatched_counts,
    unmatched_facts,
    unmatched_problem,
    with_flags,
)
from pganon.encode.weights import (
    COUNTED,
    unweighted,
    weight_column,
    weight_problem,
    weight_steps,
)
from pganon.encode.work import SNAP
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal, Unbalanced
from pganon.identifiers import QualifiedName, quote
from pganon.policy.tasks import SEVERAL_RECORDS
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.resolved.population import People
from pganon.sqltools import aliased, cast, col, fragment, named, query, scalar
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import RECORDS, count, counts

SNAPSHOT = "snapshot"
"""Name of the one step that reads the source."""

READ = count("read_records", assumed=40)
"""Rows that the snapshot was made with."""

_DIFFERENT = count("different_rows", assumed=40)
"""The same where equal records are one row."""


def snapshot_steps(spec: ReleaseSpec, people: People | None = None) -> tuple[Step, ...]:
    """The whole source, and whether it can be released; `people` as in :func:`read_steps`."""
    return (*read_steps(spec, people), inspection(spec), *weight_steps(spec))


def copy_steps(spec: ReleaseSpec, snapshot: QualifiedName) -> tuple[Step, ...]:
    """The same from a table that :func:`read_steps` of another run filled.

    Which columns it has does not depend on the method or the privacy models of a policy.
    """
    copied = CreateTable(
        SNAPSHOT,
        "copy the snapshot of another run",
        lambda state: state.work(SNAP),
        lambda state: query("select s.* from s", {"s": snapshot}),
        counted=READ,
    )
    return (copied, inspection(spec), *weight_steps(spec))


def read_steps(spec: ReleaseSpec, people: People | None = None) -> tuple[Step, ...]:
    """The whole source, without people who were forgotten.

    Args:
        people: whom it is about, as versions know them.
    """
    read = CreateTable(
        SNAPSHOT,
        "read the source, once" + (", and count equal rows" if spec.counted else ""),
        lambda state: state.work(SNAP),
        lambda state: snapshot_select(spec, state),
        external=ExternalObjects(spec.read),
        counted=READ,
        placement=lambda state: beside_source(spec),
        beside=related_tables(spec),
    )
    known = known_steps(spec, people, lambda state: state.work(SNAP))
    return (*alias_steps(spec), read, *known)


def inspection(spec: ReleaseSpec, *, restricted: bool = False) -> Check:
    """Refuses a snapshot that cannot be released.

    Args:
        restricted: whether it has only some people of the source, and never had the others.
    """
    facts = [RECORDS, *([_DIFFERENT] if spec.counted else [])]
    for attribute in spec.attributes:
        name = f"q{attribute.index}"
        facts.append(count(f"nulls_{name}"))
        if infinite(attribute.column, name) is not None:
            facts.append(count(f"infinite_{name}"))
        if attribute.domain is not None or attribute.values is not None:
            facts.append(count(f"outside_{name}"))
    facts += [count(f"nulls_s{item.index}") for item in spec.sensitive]
    facts += [count(f"infinite_g{item.index}", assumed=0) for item in spec.microaggregated]
    facts += unmatched_facts(spec)
    facts += COUNTED if spec.weight is not None else []
    if spec.aliases is not None and not spec.individual:
        facts.append(count("namesakes"))
    if spec.individual:
        facts += counts("individuals", "nobody", of="source_")
    return Check(
        "inspect",
        "count records, NULLs and values that cannot be placed",
        lambda state: _inspection(spec, state),
        lambda row, state: _inspection_problem(spec, row, state, restricted=restricted),
        gives=[*facts, *([MOST_EACH] if has_several(spec) else [])],
    )


def records_kept(state: State) -> int:
    """Rows that were read, without those of people who were forgotten."""
    return state[READ] - (state.facts.get(RETURNED_RECORDS) or 0)


def canonical(column: Column, *, folded: bool = False) -> exp.Expr:
    """The value as it is compared and encoded.

    Floats go through text, because float8::numeric keeps 15 digits only. Texts take the collation
    "C": a collation that calls different texts equal would merge them.

    Args:
        folded: in lower case, as :func:`folds` says.
    """
    value = col(column.name, "src")
    if folded:
        return caseless(value)
    match column.kind:
        case "integer":
            return cast(value, "bigint")
        case "float":
            return fragment(":v::text::numeric", v=value)
        case "numeric" | "date" | "timestamp" | "timestamptz" | "boolean" | "uuid":
            return cast(value, CANONICAL_TYPES[column.kind])
        case "enum":
            return fragment(':v collate "C"', v=as_text(column, value))
        case _:
            return fragment(':v::text collate "C"', v=value)


def folds(attribute: Attribute) -> bool:
    """Whether spellings that a citext column calls equal are one value, because values count."""
    return attribute.qs_set is not None and attribute.column.kind == "citext"


def key_of(spec: ReleaseSpec, names: Sequence[str]) -> exp.Expr:
    """One text that identifies a record or an individual; NULL where a column of the key is.

    The same for the same people in other sources, whatever the types of their columns.
    """
    return key_text_of([_column(spec, name) for name in names], "src")


def _column(spec: ReleaseSpec, name: str) -> Column:
    column = spec.source.column(name)
    assert column is not None  # the policy was resolved against the source
    return column


def snapshot_select(spec: ReleaseSpec, state: State) -> exp.Expr:
    source = aliased(spec.source.name, "src")
    tree = exp.select().from_(source)
    for attribute in spec.attributes:
        value = canonical(attribute.column, folded=folds(attribute))
        tree.select(named(value, f"q{attribute.index}"), copy=False)
    for item in spec.sensitive:
        value = stored(item.column, col(item.column.name, "src"))
        tree.select(named(value, f"s{item.index}"), copy=False)
    for item in spec.carried:
        value = stored(item.column, col(item.column.name, "src"))
        tree.select(named(value, f"p{item.index}"), copy=False)
    for item in spec.microaggregated:
        value = cast(canonical(item.column), "numeric")
        tree.select(named(value, f"g{item.index}"), copy=False)
    key = key_of(spec, spec.individual or spec.record_key) if spec.has_identity else None
    tree = tree.select(*weight_column(spec))
    if spec.record_key:
        record = key_of(spec, spec.record_key)
        tree = tree.select(named(record if spec.individual else known_as(spec, record), "record"))
    if spec.individual and key is not None:
        tree = tree.select(named(known_as(spec, key), "individual"))
    elif not spec.individual:
        for name, owner in zip(owner_columns(spec), spec.owners, strict=False):
            told = fragment("hashtextextended(:key, 0)", key=key_of(spec, owner))
            tree = tree.select(named(told, name))
    if key is not None:
        tree = with_first_keys(spec, state, tree, key)
    if spec.where is not None:
        tree = tree.where(spec.where)
    if spec.exclude is not None:
        tree = tree.where(_stays(spec, spec.exclude))
    if spec.shards is not None and beside_source(spec) is not None:
        tree = tree.select(named(col(spec.shards.column, "src"), PLACED))
    return with_flags(spec, tree) if not spec.counted else _counted(spec, tree)


def _counted(spec: ReleaseSpec, rows: exp.Select) -> exp.Select:
    """Rows that are equal, and look so, as one with their number."""
    names = rows.named_selects
    by = [*[col(name, "t") for name in names], *looks_of_source(spec, "t")]
    tree = query("select count(*) as times from t", {"t": rows})
    columns = [col(name, "t") for name in names]
    return tree.select(*columns, *tree.selects, append=False).group_by(*by)


def _stays(spec: ReleaseSpec, exclude: Relation) -> exp.Expr:
    """Condition: the relation of people who are left out does not have the person."""
    names = spec.individual or spec.record_key
    columns = [column for name in names if (column := exclude.column(name)) is not None]
    listed = query("select :key from e", {"e": exclude.name}, key=key_text_of(columns, "e"))
    key = key_of(spec, names)
    keys = [key] if spec.aliases is None else [key, known_as(spec, key)]
    return exp.and_(
        *[fragment("(:key in :listed) is not true", key=k, listed=scalar(listed)) for k in keys]
    )


def infinite(column: Column, name: str) -> exp.Expr | None:
    """Condition on a column of `t`: the value has no place on a line (NaN, infinities)."""
    value = col(name, "t")
    if column.kind in ("numeric", "float"):
        return fragment("t.v in ('NaN', 'Infinity', '-Infinity')").transform(
            lambda node: value.copy() if isinstance(node, exp.Column) else node
        )
    if column.kind in ("date", "timestamp", "timestamptz"):
        return fragment("not isfinite(:v)", v=value)
    return None


def _inspection(spec: ReleaseSpec, state: State) -> exp.Expr:
    records = number_of(spec, "t")
    tree = query("select :n as records from t", {"t": state.work(SNAP)}, n=records)
    if spec.counted:
        tree = tree.select(named(fragment("count(*)"), _DIFFERENT.column))
    for attribute in spec.attributes:
        name = f"q{attribute.index}"
        tree.select(named(_missing(spec, attribute, name), f"nulls_{name}"), copy=False)
        bad = infinite(attribute.column, name)
        if bad is not None:
            tree.select(named(number_of(spec, "t", bad), f"infinite_{name}"), copy=False)
        if attribute.domain is not None or attribute.values is not None:
            beyond = number_line.external(attribute, col(name, "t"))
            tree.select(named(number_of(spec, "t", beyond), f"outside_{name}"), copy=False)
    for item in spec.sensitive:
        name = f"s{item.index}"
        tree.select(named(_missing(spec, item, name), f"nulls_{name}"), copy=False)
    for item in spec.microaggregated:
        bad = infinite(item.column, f"g{item.index}") or exp.false()
        number = fragment("count(*) filter (where :bad)", bad=bad)
        tree.select(named(number, f"infinite_g{item.index}"), copy=False)
    tree = tree.select(*unmatched_counts(spec), *unweighted(spec))
    if spec.aliases is not None and not spec.individual:
        repeated = fragment("count(:r) - count(distinct :r)", r=col("record", "t"))
        tree = tree.select(named(repeated, "namesakes"))
    if spec.individual:
        person = col("individual", "t")
        apart = person if beside_source(spec) is None else col(PLACED, "t")
        tree = tree.select(
            named(fragment("count(distinct :p)", p=apart), "individuals"),
            named(fragment("count(*) - count(:p)", p=person), "nobody"),
        )
        if has_several(spec):
            each = query("select count(*) as n from t", {"t": state.work(SNAP)}).group_by(apart)
            most = query("select max(e.n) as n from e", {"e": each})
            tree = tree.join(aliased(most, "m"), join_type="cross", copy=False)
            tree = tree.select(named(fragment("coalesce(max(m.n), 0)"), MOST_EACH.column))
    return tree


def _missing(spec: ReleaseSpec, item: Attribute | Sensitive, name: str) -> exp.Expr:
    """Number of records that have the column as this and no value in it."""
    missing, condition = fragment(":v is null", v=col(name, "t")), applies(item, "t")
    if condition is not None:
        missing = fragment(":mine and :missing", mine=condition, missing=missing)
    return number_of(spec, "t", missing)


def _inspection_problem(
    spec: ReleaseSpec, row: Mapping[str, Any], state: State, *, restricted: bool
) -> PganonError | None:
    source = str(spec.source.name)
    records, rows = row["records"], row.get(_DIFFERENT.column, row["records"])
    kept = state[READ] if restricted else records_kept(state)
    if rows != kept:
        return Unbalanced(f"{kept} records were read, and {rows} are there")
    if records == 0:
        filtered = " under the policy's `where`" if spec.where is not None else ""
        return PreconditionError(
            f"{source} has no rows{filtered}; there is nothing to release",
            code=ErrorCode.EMPTY_SOURCE,
        )
    # Where people keep signatures, a group may be of one and of values that nobody has.
    if records < spec.minimum_size and not spec.invariant:
        return PrivacyRefusal(
            f"{source} has {records} records, a class needs at least {spec.minimum_size}",
            model=max((r.model for r in spec.requirements), key=lambda m: m.minimum_size).name,
            required=spec.minimum_size,
            observed=records,
            hint="lower k or l, or release a larger table",
            code=ErrorCode.TOO_FEW_RECORDS,
        )
    if row.get("namesakes"):
        return both_keys(spec, row["namesakes"])
    problem = unmatched_problem(spec, row) or weight_problem(spec, row)
    if problem is not None:
        return problem
    for attribute in spec.attributes:
        problem = _column_problem(attribute.column, attribute.nulls, f"q{attribute.index}", row)
        if problem:
            return problem
    for item in spec.sensitive:
        problem = _column_problem(item.column, item.nulls, f"s{item.index}", row)
        if problem:
            return problem
    for item in spec.microaggregated:
        name = f"g{item.index}"
        problem = _column_problem(item.column, "as_value", name, {**row, f"nulls_{name}": 0})
        if problem:
            return problem
    return _individual_problem(spec, row)


def _column_problem(
    column: Column, nulls: str, name: str, row: Mapping[str, Any]
) -> PganonError | None:
    infinite = row.get(f"infinite_{name}", 0)
    if infinite:
        return PreconditionError(
            f"column {quote(column.name)} holds NaN or an infinity in {infinite} records, which no"
            " range can show",
            hint="replace these values in a view, or leave the records out with `where`",
            code=ErrorCode.INFINITE_VALUES,
        )
    missing = row[f"nulls_{name}"]
    if nulls == "reject" and missing:
        return PreconditionError(
            f"column {quote(column.name)} is NULL in {missing} records and the policy says"
            " nulls: reject",
            hint="fill them, leave them out with `where`, or choose another rule for nulls",
            code=ErrorCode.NULLS_REJECTED,
        )
    external = row.get(f"outside_{name}", 0)
    if external:
        return PreconditionError(
            f"column {quote(column.name)} has a value outside its domain in {external} records",
            hint="correct them, leave them out with `where`, or declare a domain that all values"
            " are in",
            code=ErrorCode.OUTSIDE_DOMAIN,
        )
    return None


def _individual_problem(spec: ReleaseSpec, row: Mapping[str, Any]) -> PganonError | None:
    names = ", ".join(map(quote, spec.individual))
    if spec.individual and row["nobody"]:
        what = (
            f"column {names} is" if len(spec.individual) == 1 else f"one of the columns {names} is"
        )
        return PreconditionError(
            f"{what} NULL in {row['nobody']} records, so it cannot be determined whose they are",
            hint="leave these records out with `where`, or fill the column",
            code=ErrorCode.KEY_NULL,
        )
    if not spec.individual or spec.policy.several_each:
        return None
    repeated = row["records"] - row["individuals"]
    if repeated <= 0:
        return None
    if spec.related is not None:
        return PreconditionError(
            f"the key {names} is there again in {repeated} rows of the root, which has a row for"
            " each person",
            hint="name the columns of a primary key, or a view with a row per person",
            code=ErrorCode.KEY_REPEATED,
        )
    models = ", ".join(requirement.model.name for requirement in spec.requirements)
    return PrivacyRefusal(
        f"individuals named by {names} have several records each:"
        f" {row['individuals']} individuals, {row['records']} records; {models} take every record"
        " for another individual and would promise more than they keep",
        hint=f"release one record per individual{_kept_together(spec)}, or accept it with"
        " records_per_individual: many_accepted",
        code=ErrorCode.SEVERAL_RECORDS_PER_INDIVIDUAL,
    )


def _kept_together(spec: ReleaseSpec) -> str:
    method = spec.policy.registry.method_for(SEVERAL_RECORDS)
    return f", keep them together with the method {method}" if method else ""
