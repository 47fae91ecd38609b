"""Rules about combinations of keys in a policy that can be checked without a catalog.

The functions work on input that was not checked, or only in part, so that the loader can report
these problems together with all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pganon.policy.columns import ColumnPolicy
from pganon.policy.compatibility import Written, method_refusals
from pganon.policy.exclusions import exclusion_refusals
from pganon.policy.over_time import over_time_refusals
from pganon.policy.refusals import Refusal, alternatives, nearest, show, undeclared
from pganon.policy.reporting import Reporting
from pganon.policy.sensitive_when import HIDDEN
from pganon.policy.tables import table_refusals
from pganon.policy.words import NOBODY


def policy_refusals(policy: Written) -> Iterator[Refusal]:
    """Refusals of combinations across the policy."""
    registry, columns, method = policy.registry, policy.columns, policy.method
    if not policy.models:
        example = (method or next(iter(registry.methods.values()))).example
        yield Refusal(("privacy",), "privacy is empty", f"write at least {example}")
    yield from method_refusals(policy)
    yield from _model_refusals(policy)
    yield from _sensitive_when_refusals(policy)
    yield from _idle_hierarchies(policy)
    roles = {name: column.role if column else None for name, column in columns.items()}
    yield from _individual_refusals(roles, policy.keys.get("individual"))
    first, *others = [name for name, role in roles.items() if role == "weight"] or [""]
    for name in others:
        yield Refusal(
            ("columns", name, "role"),
            f"only one column can have the role weight; {show(first)} has it already",
            "remove one of the two; role: identifying withholds replicate weights",
        )
    yield from _missing_refusals(policy)
    yield from _shown_refusals(policy)
    yield from exclusion_refusals(registry, policy.exclusions, columns, method)
    yield from over_time_refusals(registry, policy.keys, method)
    yield from table_refusals(policy)


def _model_refusals(policy: Written) -> Iterator[Refusal]:
    columns = policy.columns
    sets = {column.qs_set: None for column in columns.values() if column and column.qs_set}
    seen: set[tuple[object, ...]] = set()
    for i, model in enumerate(policy.models):
        if model is None:
            continue
        name: str | None = getattr(model, "column", None)
        # Whole tables and single columns are different things to require.
        of_events = (getattr(model, "table", None), getattr(model, "of_column", None))
        about = (model.model, name, *of_events, getattr(model, "level", None) == "tuple")
        if about in seen:
            of = f' for column "{name}"' if name is not None else ""
            yield Refusal(("privacy", i), f"{model.model}{of} is required twice", "keep one")
        seen.add(about)
        if name is not None and name not in columns:
            yield undeclared(("privacy", i, "column"), name, columns)
        elif name is not None and (column := columns[name]) is not None:
            yield from _about_refusals(policy, i, model, column)
        for public in getattr(model, "public", {}) if None not in columns.values() else ():
            if public not in sets:
                yield Refusal(
                    ("privacy", i, "public", public),
                    f"no column is in the QS set {show(public)}",
                    nearest(public, sets),
                )
        yield from (refusal.below("privacy", i) for refusal in model.refusals(columns))


def _shown_refusals(policy: Written) -> Iterator[Refusal]:
    """Means, where a record is not in one class, or a person not one record."""
    method, several = policy.method, policy.keys.get("records_per_individual", "one")
    can = method is None or ("means" in method.supports and several != "many_accepted")
    for name, column in policy.columns.items():
        if column is None or (column.shown == "none" and not column.mean):
            continue
        place = ("columns", name, "mean" if column.mean else "shown")
        if not can:
            what = "weights" if column.role == "weight" else "means"
            others = policy.or_methods(lambda other: "means" in other.supports, "use ")
            message = f"{what} are shown by classes of one record per person"
            yield Refusal(place, message, f"remove it{others}")
        elif column.mean and policy.keys.get("ranges") == "region":
            message = "classes show their regions, whatever values their records have"
            yield Refusal(place, message, "remove mean, or ranges: region")
        elif column.mean and any(getattr(model, "population", None) for model in policy.models):
            # A mean that is an end of its range is that of fewer people than the range covers.
            message = "a mean tells people apart whom a model of the population counts as alike"
            yield Refusal(place, message, "remove mean, or population")


def _about_refusals(policy: Written, i: int, model: Any, column: ColumnPolicy) -> Iterator[Refusal]:
    """A model that does not fit the column that it is about."""
    name, distance = model.column, getattr(model, "distance", None)
    if column.role not in HIDDEN:
        yield Refusal(
            ("privacy", i, "column"),
            f"column {show(name)} has the role {column.role}; the model needs a sensitive one",
            f'set role: sensitive on column "{name}", or name another column',
        )
    if distance == "ordered" and column.type == "categorical":
        yield Refusal(
            ("privacy", i, "distance"),
            f"distance: ordered needs ordered values; column {show(name)} is categorical",
            "use distance: equal, or leave type out if the values are numbers, dates or an enum",
        )
    if distance == "hierarchical" and column.role == "sensitive" and column.hierarchy is None:
        yield Refusal(
            ("privacy", i, "distance"),
            f"distance: hierarchical needs a hierarchy; column {show(name)} has none",
            f'add hierarchy: to column "{name}", or use distance: equal',
        )
    if column.nulls == "conditional" and not model.conditional:
        known = policy.registry.models.items()
        others = alternatives(word for word, other in known if other.conditional)
        yield Refusal(
            ("columns", name, "nulls"),
            f"{model.model} cannot hold as well for who knows that there is a value",
            f"use nulls: reject, or {others}",
        )


def _idle_hierarchies(policy: Written) -> Iterator[Refusal]:
    """Hierarchies of sensitive columns, which are published unchanged, that nothing reads."""
    models = policy.models
    if not models or None in models:
        return
    used = {m.column for m in models if getattr(m, "distance", None) == "hierarchical"}
    for name, column in policy.columns.items():
        treed = column and column.role == "sensitive" and column.hierarchy is not None
        if treed and name not in used:
            yield Refusal(
                ("columns", name, "hierarchy"),
                f"the hierarchy of the sensitive column {show(name)} does nothing; only"
                " t_closeness with distance: hierarchical reads it",
                "remove it, or set distance: hierarchical",
            )


def _missing_refusals(policy: Written) -> Iterator[Refusal]:
    """Missing values of columns that are not sensitive, of which nothing is told."""
    report = policy.keys.get("report")
    report = dict(report) if isinstance(report, Reporting | Mapping) else {}
    missing = report.get("missing")
    for name in missing if isinstance(missing, Mapping) else ():
        at, column = ("report", "missing", name), policy.columns.get(name)
        if name not in policy.columns:
            yield undeclared(at, name, policy.columns)
        elif column and column.role not in HIDDEN:
            said = f"column {show(name)} has the role {column.role}, of which nothing is told"
            yield Refusal(at, said, "remove it; missing values are those of sensitive columns")


def _individual_refusals(roles: Mapping[str, str | None], individual: object) -> Iterator[Refusal]:
    declared = [name for name, role in roles.items() if role == "individual"]
    if individual == NOBODY:
        for name in declared:
            yield Refusal(
                ("individual",),
                f"is {NOBODY}, but {show(name)} has the role individual",
                "remove one of the two",
            )
        return
    several = isinstance(individual, list | tuple)
    named = [name for name in (individual if several else [individual]) if isinstance(name, str)]
    if len(declared) > 1 and not set(declared) <= set(named):
        for name in declared[1:]:
            yield Refusal(
                ("columns", name, "role"),
                f"only one column can have the role individual; {show(declared[0])} has it already",
                "if only together they tell individuals apart, write individual:"
                f" [{', '.join(declared)}]",
            )
    for at, name in enumerate(named):
        place = ("individual", at) if several else ("individual",)
        if name not in roles:
            yield undeclared(place, name, roles)
        elif roles[name] not in (None, "identifying", "individual"):
            yield Refusal(
                place,
                f"column {show(name)} has the role {roles[name]}; "
                "individual names a column of role identifying or individual",
            )
    if named and len(declared) == 1 and declared[0] not in named:
        yield Refusal(
            ("individual",),
            f"names {show(named[0])}, but {show(declared[0])} has the role individual",
            "remove one of the two",
        )


def _sensitive_when_refusals(policy: Written) -> Iterator[Refusal]:
    """Refusals across columns: a column that says who hides a value must hide itself."""
    columns = policy.columns
    for name, column in columns.items():
        if column is None or column.role != "semi_sensitive" or column.sensitive_when is None:
            continue
        when = column.sensitive_when
        said = when.column or ""
        companion = columns.get(said)
        if said == name:
            yield Refusal(
                ("columns", name, "sensitive_when", "column"),
                f"{show(name)} cannot say itself whether it is sensitive: that would tell its"
                " values",
                "name a boolean column that is not published",
            )
        elif companion is not None and companion.role != "identifying":
            yield Refusal(
                ("columns", said, "role"),
                f"{show(said)} says who hides {show(name)} and must not be published with"
                f" the role {companion.role}",
                f"leave {show(said)} out of columns, or give it the role identifying",
            )
        for read in sorted(when.columns - {name}) if when.predicate is not None else ():
            other = columns.get(read)
            if other is not None and other.role in HIDDEN:
                yield Refusal(
                    ("columns", name, "sensitive_when", "predicate"),
                    f"reads the column {show(read)}, which is {other.role}: who sees whether"
                    f" {show(name)} is shown would learn of values of {show(read)}",
                    "use a condition that reads no hidden column but its own, or a companion column"
                    " that people fill in",
                )
