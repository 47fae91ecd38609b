"""Requirements of the method of a policy on its columns, models and names.

Every rule reads the class variables of :class:`pganon.policy.options.MethodOptions`, or its hooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pganon.policy.columns import Columns, of_role
from pganon.policy.domains import BESIDE_HIERARCHY
from pganon.policy.options import MethodOptions, part_refusals
from pganon.policy.refusals import Refusal, alternatives, show
from pganon.policy.registry import Registry
from pganon.policy.sensitive_when import HIDDEN
from pganon.policy.words import ROLES, UNPUBLISHED_ROLES

if TYPE_CHECKING:
    from pganon.policy.options import MethodOptions


_HOW_TO_DECLARE = {
    "quasi_identifying": "declare the columns that others could know about a person",
    "quasi_sensitive": "declare the columns of every joined source, each with the set it is of",
}

_FEW = 4
"""Methods that a hint names."""


@dataclass(frozen=True)
class Written:
    """A policy that was not checked, or only in part.

    A column, a model or a method that is None is declared but wrong in itself; nothing is concluded
    from it.

    Attributes:
        keys: the whole policy, as it is written.
    """

    registry: Registry
    columns: Columns
    models: Sequence[Any]
    method: MethodOptions | None
    exclusions: Sequence[Any]
    keys: Mapping[str, Any]

    @property
    def complete(self) -> bool:
        """Whether all columns and models are right in themselves."""
        models = bool(self.models) and None not in self.models
        return models and None not in self.columns.values()

    @property
    def suppression(self) -> dict[str, Any]:
        """Keys about suppression; None of a limit that requests may choose."""
        limit = None
        if self.keys.get("requests") is None:
            limit = self.keys.get("suppression_limit", 0.0)
        asked = {key: self.keys.get(key) for key in ("on_infeasible", "refresh")}
        return {"suppression_limit": limit, **asked}

    def or_methods(self, can: Callable[[type[MethodOptions]], bool], verb: str = "") -> str:
        """`, or use the method a, b or 3 others`: of those that can."""
        listed = [name for name, options in self.registry.methods.items() if can(options)]
        if len(listed) > _FEW:
            listed = [*listed[:_FEW], f"{len(listed) - _FEW} others"]
        return f", or {verb}the method {alternatives(listed)}" if listed else ""


def method_refusals(policy: Written) -> Iterator[Refusal]:
    """Problems of a policy with its method."""
    method, columns, models = policy.method, policy.columns, policy.models
    if method is None:
        return
    yield from _column_refusals(policy, method)
    yield from _model_refusals(policy, method)
    if policy.complete:
        yield from method.model_refusals(columns, models)
    for i, model in enumerate(models):
        # A least size of buckets, where a method makes none.
        sized = getattr(model, "model", None) == "t_closeness" and model.min_size is not None
        if sized and not method.unlinks:
            yield Refusal(
                ("privacy", i, "min_size"),
                f"the method {method.name} makes classes, of which k_anonymity says the size",
                "remove min_size",
            )
    part = max(method.part_names(policy.columns), key=len, default=None)
    if part is not None:
        yield from part_refusals(policy.keys.get("release"), part)
    if policy.keys.get("inference") is not None and not method.unlinks:
        others = [name for name, other in policy.registry.methods.items() if other.unlinks]
        yield Refusal(
            ("inference",),
            f"the method {method.name} publishes no sensitive values apart from the records, so"
            " there is nothing to measure",
            f"remove inference, or use the method {alternatives(others)}",
        )
    if policy.keys.get("on_infeasible") == "suppress" and not method.leaves_out:
        yield Refusal(
            ("on_infeasible",),
            f"the method {method.name} leaves nothing out for a guarantee that cannot be reached",
            "leave on_infeasible out; suppression_limit bounds what the method itself leaves out",
        )
    named = {key: policy.keys.get(key) for key in ("individual", "republication")}
    yield from method.key_refusals(columns, {"privacy": models, **named})
    if policy.complete:
        yield from method.suppression_refusals(columns, models, policy.suppression)


def _column_refusals(policy: Written, method: MethodOptions) -> Iterator[Refusal]:
    known = [(name, column) for name, column in policy.columns.items() if column is not None]
    whole = None not in policy.columns.values()
    for name, column in known:
        role = column.role
        if role not in method.roles:
            # A column of another role is no weight.
            fitting = alternatives(r for r in ROLES if r in method.roles and r != "weight")
            yield Refusal(
                ("columns", name, "role"),
                f"the method {method.name} has no use for columns of role {role}",
                f"use role {fitting}{policy.or_methods(lambda other, r=role: r in other.roles)}",
            )
    if whole and not of_role(policy.columns, method.grouped, "semi_sensitive"):
        message = f"no column has the role {method.grouped}"
        yield Refusal(("columns",), message, _HOW_TO_DECLARE[method.grouped])
    grouped = (method.grouped, "semi_sensitive")
    roles = Counter(column.role for column in policy.columns.values() if column)
    wide = sum(roles[role] for role in grouped)
    if wide > MOST_GROUPED:
        yield Refusal(
            ("columns",),
            f"{wide} columns are {' or '.join(grouped)}; a row of a release has room for"
            f" {MOST_GROUPED}",
            "leave columns out, or divide them among releases of separate people",
        )
    released = roles.total() - sum(roles[role] for role in UNPUBLISHED_ROLES)
    most = MOST_RELEASED
    if method.unlinks:
        most = MOST_UNLINKED
    elif method.shows == "values":
        most = MOST_IN_ARRAYS
    if released > most:
        yield Refusal(
            ("columns",),
            f"{released} columns are released; a release by this method has room for {most}",
            "leave columns out"
            + (f", or take a method with room for {MOST_RELEASED}" if most < MOST_RELEASED else ""),
        )
    if whole and method.sensitive != "any":
        yield from _sensitive_refusals(policy, method)
    for name, column in known:
        yield from method.column_refusals(name, column)
    if whole:
        yield from method.refusals(policy.columns)
    for name, column in known if not method.one_level else ():
        if column.levels is not None:
            others = policy.or_methods(lambda other: other.one_level, "use ")
            yield Refusal(
                ("columns", name, "levels"),
                f"the method {method.name} has no level that all records of a column share",
                f"remove levels{others}",
            )
        if column.domain is not None and column.hierarchy is not None:
            yield Refusal(("columns", name, "domain"), *BESIDE_HIERARCHY)


def _sensitive_refusals(policy: Written, method: MethodOptions) -> Iterator[Refusal]:
    """Too few sensitive columns, or too many."""
    hidden = method.sensitive == "hidden"
    roles, do = (HIDDEN, "hide") if hidden else (("sensitive",), "unlink from a person")
    names = of_role(policy.columns, *roles)
    if not names:
        others = policy.or_methods(
            lambda other: hidden and (other.sensitive, other.grouped) == ("any", method.grouped),
            "use ",
        )
        yield Refusal(
            ("columns",),
            f"no column has the role {' or '.join(roles)}",
            f"declare what the method {method.name} has to {do}{others}",
        )
    for name in names[1:] if method.sensitive == "one" else ():
        others = policy.or_methods(lambda o: o.unlinks and o.sensitive == "some", "use ")
        yield Refusal(
            ("columns", name, "role"),
            f"the method {method.name} protects one sensitive column; {show(names[0])} is it",
            f"leave {show(name)} out{others}: values of both columns in one group, or in two"
            " releases, can be put together",
        )


def _model_refusals(policy: Written, method: MethodOptions) -> Iterator[Refusal]:
    known = [(i, model) for i, model in enumerate(policy.models) if model is not None]
    for i, model in known:
        if (word := model.model) not in method.models:
            others = policy.or_methods(lambda other, w=word: w in other.models)
            yield Refusal(
                ("privacy", i, "model"),
                f"the method {method.name} cannot guarantee {word}",
                f"use {alternatives(policy.registry.models_of(method))}{others}",
            )
    # Where people keep value sets, all values of a group are different.
    kept = policy.keys.get("refresh") == "invariant" and "invariant" in method.supports
    levels = (*method.levels, *(("unique",) if kept else ()))
    for i, model in known:
        word, level = model.model, getattr(model, "level", None)
        if level is not None and word in method.models and level not in levels:
            others = policy.or_methods(
                lambda other, w=word, at=level: w in other.models and at in other.levels
            )
            yield Refusal(
                ("privacy", i, "level"),
                f"the method {method.name} cannot guarantee level: {level}",
                f"use level: {alternatives(method.levels)}{others}",
            )
    whole = known and len(known) == len(policy.models)
    levelless = all(m.model in method.models and not hasattr(m, "level") for _, m in known)
    if method.levels and whole and levelless:
        yield Refusal(
            ("privacy",),
            f"no model says how well the method {method.name} has to unlink sensitive values",
            f"add {method.example}",
        )


# How many columns of each kind fit in the relations of a release.
#
# A table of PostgreSQL has at most 1,600 columns, and a row that is not compressed at most 8,160
# bytes. A generalized value takes up to 24 bytes there: longer ones are stored elsewhere.

MOST_GROUPED = 300
"""Columns by which a method groups records: as many of 24 bytes are in a row beside its keys."""

MOST_RELEASED = 1000
"""Columns of a release, beside which every relation has room for what a method adds."""


MOST_IN_ARRAYS = 400
"""The same where a row has an array per column, of which 18 bytes stay in it at least."""

MOST_UNLINKED = 250
"""The same where sensitive values are apart from the records: what a reader could infer from the
others is measured, on rows that have a code of 8 bytes beside each value."""
