"""Requirements of the method of a policy on its columns, models and names.

Every rule reads the class variables of :class:`pganon.policy.options.MethodOptions`, or its hooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pganon.identifiers import MAX_BYTES, fits
from pganon.policy.columns import Columns, of_role
from pganon.policy.domains import BESIDE_HIERARCHY
from pganon.policy.options import MethodOptions, part_name
from pganon.policy.refusals import Refusal, alternatives, show
from pganon.policy.registry import Registry
from pganon.policy.sensitive_when import HIDDEN
from pganon.policy.width import width_refusals
from pganon.policy.words import ROLES

_HOW_TO_DECLARE = {
    "quasi_identifying": "declare the columns that others could know about a person",
    "quasi_sensitive": "declare the columns of every joined source, each with the set it is of",
}

_FEW = 4
"""Methods that a hint names."""


def method_refusals(
    registry: Registry,
    method: MethodOptions | None,
    columns: Columns,
    models: Sequence[Any],
    release: object,
    individual: object = None,
    inference: object = None,
    on_infeasible: object = None,
    republication: object = None,
    refresh: object = None,
    suppression_limit: object = None,
) -> list[Refusal]:
    """Problems of a policy with its method; arguments that are None are not checked."""
    if method is None:
        return []
    return [
        *_wrong_roles(registry, method, columns),
        *_nothing_to_group(method, columns),
        *width_refusals(columns, method),
        *_wrong_sensitive(registry, method, columns),
        *_unfit_columns(method, columns),
        *_idle_levels(registry, method, columns),
        *_idle_domains(method, columns),
        *_wrong_models(registry, method, models),
        *_wrong_levels(registry, method, models, refresh),
        *_unprotected(method, models),
        *_unfit_models(method, columns, models),
        *_idle_sizes(method, models),
        *_long_names(method, columns, release),
        *_nothing_to_infer(registry, method, inference),
        *_nothing_to_leave_out(method, on_infeasible),
        *method.key_refusals(
            columns,
            {"privacy": models, "individual": individual, "republication": republication},
        ),
        *_idle_suppression(
            method,
            columns,
            models,
            {
                "suppression_limit": suppression_limit,
                "on_infeasible": on_infeasible,
                "refresh": refresh,
            },
        ),
    ]


def _nothing_to_leave_out(method: MethodOptions, on_infeasible: object) -> Iterable[Refusal]:
    if on_infeasible == "suppress" and not method.leaves_out:
        yield Refusal(
            ("on_infeasible",),
            f"the method {method.name} leaves nothing out for a guarantee that cannot be reached",
            "leave on_infeasible out; suppression_limit bounds what the method itself leaves out",
        )


def _idle_suppression(
    method: MethodOptions, columns: Columns, models: Sequence[Any], asked: Mapping[str, Any]
) -> Iterable[Refusal]:
    complete = None not in columns.values() and models and None not in models
    return method.suppression_refusals(columns, models, asked) if complete else ()


def _wrong_roles(registry: Registry, method: MethodOptions, columns: Columns) -> Iterable[Refusal]:
    for name, column in columns.items():
        if column is None or column.role in method.roles:
            continue
        role = column.role
        # A column of another role is no weight.
        fitting = alternatives(r for r in ROLES if r in method.roles and r != "weight")
        yield Refusal(
            ("columns", name, "role"),
            f"the method {method.name} has no use for columns of role {role}",
            f"use role {fitting}"
            + _or_methods(n for n, options in registry.methods.items() if role in options.roles),
        )


def _wrong_models(
    registry: Registry, method: MethodOptions, models: Sequence[Any]
) -> Iterable[Refusal]:
    for i, model in enumerate(models):
        if model is None or model.model in method.models:
            continue
        name: str = model.model
        yield Refusal(
            ("privacy", i, "model"),
            f"the method {method.name} cannot guarantee {name}",
            f"use {alternatives(registry.models_of(method))}"
            + _or_methods(n for n, options in registry.methods.items() if name in options.models),
        )


def _or_methods(names: Iterable[str], verb: str = "") -> str:
    listed = list(names)
    if len(listed) > _FEW:
        listed = [*listed[:_FEW], f"{len(listed) - _FEW} others"]
    return f", or {verb}the method {alternatives(listed)}" if listed else ""


def _nothing_to_group(method: MethodOptions, columns: Columns) -> Iterable[Refusal]:
    grouping = (method.grouped, "semi_sensitive")
    if any(column is None or column.role in grouping for column in columns.values()):
        return
    message = f"no column has the role {method.grouped}"
    yield Refusal(("columns",), message, _HOW_TO_DECLARE[method.grouped])


def _of_several(registry: Registry) -> Iterable[str]:
    """Methods that protect several sensitive columns in one release."""
    return (name for name, options in registry.methods.items() if options.sensitive == "some")


def _wrong_sensitive(
    registry: Registry, method: MethodOptions, columns: Columns
) -> Iterable[Refusal]:
    if method.sensitive == "any" or None in columns.values():
        return
    if method.sensitive == "hidden":
        yield from _nothing_to_hide(registry, method, columns)
        return
    names = of_role(columns, "sensitive")
    if not names:
        yield Refusal(
            ("columns",),
            "no column has the role sensitive",
            f"declare what the method {method.name} has to unlink from a person",
        )
    for name in names[1:] if method.sensitive == "one" else ():
        yield Refusal(
            ("columns", name, "role"),
            f"the method {method.name} protects one sensitive column; {show(names[0])} is it",
            f"leave {show(name)} out"
            + _or_methods(_of_several(registry), verb="use ")
            + ": values of both columns in one group, or in two releases, can be put together",
        )


def _nothing_to_hide(
    registry: Registry, method: MethodOptions, columns: Columns
) -> Iterable[Refusal]:
    if not of_role(columns, *HIDDEN):
        others = (
            name
            for name, options in registry.methods.items()
            if options.sensitive == "any" and options.grouped == method.grouped
        )
        yield Refusal(
            ("columns",),
            "no column has the role sensitive or semi_sensitive",
            f"declare what the method {method.name} has to hide" + _or_methods(others, verb="use "),
        )


def _wrong_levels(
    registry: Registry, method: MethodOptions, models: Sequence[Any], refresh: object
) -> Iterable[Refusal]:
    """Where people keep value sets, all values of a group are different."""
    kept = ("unique",) if refresh == "invariant" and "invariant" in method.supports else ()
    for i, model in enumerate(models):
        level = getattr(model, "level", None)
        if level is None or model.model not in method.models or level in (*method.levels, *kept):
            continue
        yield Refusal(
            ("privacy", i, "level"),
            f"the method {method.name} cannot guarantee level: {level}",
            f"use level: {alternatives(method.levels)}"
            + _or_methods(
                name
                for name, options in registry.methods.items()
                if model.model in options.models and level in options.levels
            ),
        )


def _unprotected(method: MethodOptions, models: Sequence[Any]) -> Iterable[Refusal]:
    """A method that unlinks sensitive values, and no model that says how well."""
    if not method.levels or not models or None in models:
        return
    if all(m.model in method.models and not hasattr(m, "level") for m in models):
        yield Refusal(
            ("privacy",),
            f"no model says how well the method {method.name} has to unlink sensitive values",
            f"add {method.example}",
        )


def _unfit_models(
    method: MethodOptions, columns: Columns, models: Sequence[Any]
) -> Iterable[Refusal]:
    complete = None not in columns.values() and models and None not in models
    return method.model_refusals(columns, models) if complete else ()


def _idle_sizes(method: MethodOptions, models: Sequence[Any]) -> Iterable[Refusal]:
    """A least size of buckets, where a method makes none."""
    for i, model in enumerate(models):
        if getattr(model, "model", None) != "t_closeness" or method.unlinks:
            continue
        if model.min_size is not None:
            yield Refusal(
                ("privacy", i, "min_size"),
                f"the method {method.name} makes classes, of which k_anonymity says the size",
                "remove min_size",
            )


def _unfit_columns(method: MethodOptions, columns: Columns) -> Iterable[Refusal]:
    """Refusals of the method itself, of each model alone and of all together."""
    for name, column in columns.items():
        if column is not None:
            yield from method.column_refusals(name, column)
    if None not in columns.values():
        yield from method.refusals(columns)


def _idle_levels(registry: Registry, method: MethodOptions, columns: Columns) -> Iterable[Refusal]:
    for name, column in columns.items():
        if column is None or column.levels is None or method.one_level:
            continue
        others = (word for word, options in registry.methods.items() if options.one_level)
        yield Refusal(
            ("columns", name, "levels"),
            f"the method {method.name} has no level that all records of a column share",
            f"remove levels{_or_methods(others, verb='use ')}",
        )


def _idle_domains(method: MethodOptions, columns: Columns) -> Iterable[Refusal]:
    for name, column in columns.items():
        if column is None or column.domain is None or column.hierarchy is None:
            continue
        if not method.one_level:
            yield Refusal(("columns", name, "domain"), *BESIDE_HIERARCHY)


def _long_names(method: MethodOptions, columns: Columns, release: object) -> Iterable[Refusal]:
    if not isinstance(release, str) or not fits(release):
        return
    part = max(method.part_names(columns), key=len, default=None)
    if part is None:
        return
    size = len(part_name(release, part).encode())
    if size > MAX_BYTES:
        longest = MAX_BYTES - len(part_name("", part).encode())
        yield Refusal(
            ("release",),
            f"the name of its view {show(part_name('...', part))} has {size} bytes,"
            f" PostgreSQL allows {MAX_BYTES}",
            f"choose a name of at most {longest} bytes",
        )


def _nothing_to_infer(
    registry: Registry, method: MethodOptions, inference: object
) -> Iterable[Refusal]:
    if inference is None or method.unlinks:
        return
    others = [name for name, options in registry.methods.items() if options.unlinks]
    yield Refusal(
        ("inference",),
        f"the method {method.name} publishes no sensitive values apart from the records, so there"
        " is nothing to measure",
        f"remove inference, or use the method {alternatives(others)}",
    )
