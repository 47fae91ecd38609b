"""Rules about combinations of keys in a policy that can be checked without a catalog.

The functions work on input that was not checked, or only in part, so that the loader can report
these problems together with all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pganon.policy.columns import ColumnPolicy, Columns
from pganon.policy.compatibility import method_refusals
from pganon.policy.exclusions import exclusion_refusals
from pganon.policy.options import MethodOptions
from pganon.policy.refusals import Refusal, alternatives, nearest, show
from pganon.policy.registry import Registry
from pganon.policy.sensitive_when import HIDDEN
from pganon.policy.words import NOBODY


def policy_refusals(
    registry: Registry,
    columns: Columns,
    privacy: Iterable[Any],
    individual: object,
    method: MethodOptions | None,
    release: object,
    exclusions: Iterable[Any] = (),
    inference: object = None,
    on_infeasible: object = None,
    republication: object = None,
    refresh: object = None,
    suppression_limit: object = None,
) -> list[Refusal]:
    """Refusals of combinations across the policy.

    A column, an element of `privacy` or a method that is None is declared but wrong in itself;
    nothing is concluded from it.
    """
    out: list[Refusal] = []
    models = list(privacy)
    if not models:
        example = (method or next(iter(registry.methods.values()))).example
        out.append(Refusal(("privacy",), "privacy is empty", f"write at least {example}"))
    out += method_refusals(
        registry,
        method,
        columns,
        models,
        release,
        individual,
        inference,
        on_infeasible,
        republication,
        refresh,
        suppression_limit,
    )
    out += _model_refusals(registry, models, columns)
    out += _sensitive_when_refusals(columns)
    out += _idle_hierarchies(models, columns)
    roles = {name: column.role if column else None for name, column in columns.items()}
    out += _individual_refusals(roles, individual)
    out += _weight_refusals(roles)
    out += exclusion_refusals(registry, exclusions, columns, method)
    return out


def _model_refusals(
    registry: Registry, models: Iterable[Any], columns: Columns
) -> Iterable[Refusal]:
    seen: set[tuple[str, str | None, bool]] = set()
    for i, model in enumerate(models):
        if model is None:
            continue
        name: str | None = getattr(model, "column", None)
        # Whole tables and single columns are different things to require.
        about = (model.model, name, getattr(model, "level", None) == "tuple")
        if about in seen:
            of = f' for column "{name}"' if name is not None else ""
            yield Refusal(("privacy", i), f"{model.model}{of} is required twice", "keep one")
        seen.add(about)
        if name is not None:
            yield from _sensitive_refusals(i, name, columns)
            yield from _order_refusals(i, model, columns.get(name))
            yield from _tree_refusals(i, model, columns.get(name))
            yield from _null_refusals(registry, model, columns.get(name))
        yield from _public_refusals(i, model, columns)
        for refusal in model.refusals(columns):
            place = ("privacy", i, *refusal.place)
            yield Refusal(place, refusal.message, refusal.suggestion)


def _sensitive_refusals(i: int, name: str, columns: Columns) -> Iterable[Refusal]:
    at = ("privacy", i, "column")
    if name not in columns:
        message = f"column {show(name)} is not declared under columns"
        yield Refusal(at, message, nearest(name, columns))
        return
    column = columns[name]
    if column is not None and column.role not in HIDDEN:
        yield Refusal(
            at,
            f"column {show(name)} has the role {column.role}; the model needs a sensitive one",
            f'set role: sensitive on column "{name}", or name another column',
        )


def _order_refusals(i: int, model: Any, column: ColumnPolicy | None) -> Iterable[Refusal]:
    if getattr(model, "distance", None) == "ordered" and column and column.type == "categorical":
        yield Refusal(
            ("privacy", i, "distance"),
            f"distance: ordered needs ordered values; column {show(model.column)} is categorical",
            "use distance: equal, or leave type out if the values are numbers, dates or an enum",
        )


def _null_refusals(
    registry: Registry, model: Any, column: ColumnPolicy | None
) -> Iterable[Refusal]:
    if column is None or column.nulls != "conditional" or model.conditional:
        return
    others = alternatives(word for word, other in registry.models.items() if other.conditional)
    yield Refusal(
        ("columns", model.column, "nulls"),
        f"{model.model} cannot hold as well for who knows that there is a value",
        f"use nulls: reject, or {others}",
    )


def _tree_refusals(i: int, model: Any, column: ColumnPolicy | None) -> Iterable[Refusal]:
    if column is None or column.role != "sensitive" or column.hierarchy is not None:
        return
    if getattr(model, "distance", None) == "hierarchical":
        yield Refusal(
            ("privacy", i, "distance"),
            f"distance: hierarchical needs a hierarchy; column {show(model.column)} has none",
            f'add hierarchy: to column "{model.column}", or use distance: equal',
        )


def _public_refusals(i: int, model: Any, columns: Columns) -> Iterable[Refusal]:
    """Tables that are public for a QS set that no column is in."""
    sets = {column.qs_set: None for column in columns.values() if column and column.qs_set}
    for name in getattr(model, "public", {}):
        if name not in sets and None not in columns.values():
            yield Refusal(
                ("privacy", i, "public", name),
                f"no column is in the QS set {show(name)}",
                nearest(name, sets),
            )


def _idle_hierarchies(models: Iterable[Any], columns: Columns) -> Iterable[Refusal]:
    """Hierarchies of sensitive columns, which are published unchanged, that nothing reads."""
    models = list(models)
    if not models or None in models:
        return
    used = {m.column for m in models if getattr(m, "distance", None) == "hierarchical"}
    for name, column in columns.items():
        if column is None or column.role != "sensitive" or column.hierarchy is None:
            continue
        if name not in used:
            yield Refusal(
                ("columns", name, "hierarchy"),
                f"the hierarchy of the sensitive column {show(name)} does nothing; only"
                " t_closeness with distance: hierarchical reads it",
                "remove it, or set distance: hierarchical",
            )


def _individual_refusals(roles: Mapping[str, str | None], individual: object) -> Iterable[Refusal]:
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
            message = f"column {show(name)} is not declared under columns"
            yield Refusal(place, message, nearest(name, roles))
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


def _weight_refusals(roles: Mapping[str, str | None]) -> Iterable[Refusal]:
    first, *others = [name for name, role in roles.items() if role == "weight"] or [""]
    for name in others:
        yield Refusal(
            ("columns", name, "role"),
            f"only one column can have the role weight; {show(first)} has it already",
            "remove one of the two",
        )


def _sensitive_when_refusals(columns: Columns) -> Iterable[Refusal]:
    """Refusals across columns: a column that says who hides a value must hide itself."""
    for name, column in columns.items():
        if column is None or column.role != "semi_sensitive" or column.sensitive_when is None:
            continue
        when = column.sensitive_when
        if when.column is not None:
            yield from _companion(name, when.column, columns)
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


def _companion(name: str, companion: str, columns: Columns) -> Iterable[Refusal]:
    at = ("columns", name, "sensitive_when", "column")
    if companion == name:
        yield Refusal(
            at,
            f"{show(name)} cannot say itself whether it is sensitive: that would tell its values",
            "name a boolean column that is not published",
        )
        return
    other = columns.get(companion)
    if companion in columns and other is not None and other.role != "identifying":
        yield Refusal(
            ("columns", companion, "role"),
            f"{show(companion)} says who hides {show(name)} and must not be published with the"
            f" role {other.role}",
            f"leave {show(companion)} out of columns, or give it the role identifying",
        )
