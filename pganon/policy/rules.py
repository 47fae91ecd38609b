"""Every rule across the keys of a policy that needs no catalog, as functions of what is written.

They work on input that was not checked, or only in part, so that the loader reports their problems
together with those of single keys. What methods ask is in the class variables of
:class:`pganon.policy.options.MethodOptions`, or its hooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pganon.policy.columns import ColumnPolicy, Columns, of_role
from pganon.policy.domains import BESIDE_HIERARCHY
from pganon.policy.exclusions import Exclusion
from pganon.policy.options import COUNTERFEITS, MethodOptions, part_refusals
from pganon.policy.over_time import INCREMENTS, OverTime, Population
from pganon.policy.refusals import Refusal, alternatives, nearest, show, undeclared
from pganon.policy.registry import Registry
from pganon.policy.reporting import Reporting
from pganon.policy.tables import table_refusals
from pganon.policy.words import HIDDEN, NOBODY, ROLES, UNPUBLISHED_ROLES

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
    def right_columns(self) -> list[tuple[str, ColumnPolicy]]:
        """Those that are right in themselves."""
        return [(name, column) for name, column in self.columns.items() if column is not None]

    @property
    def right_models(self) -> list[tuple[int, Any]]:
        """The same of models, with their places."""
        return [(i, model) for i, model in enumerate(self.models) if model is not None]

    def or_methods(self, can: Callable[[type[MethodOptions]], bool], verb: str = "") -> str:
        """`, or use the method a, b or 3 others`: of those that can."""
        listed = [name for name, options in self.registry.methods.items() if can(options)]
        if len(listed) > _FEW:
            listed = [*listed[:_FEW], f"{len(listed) - _FEW} others"]
        return f", or {verb}the method {alternatives(listed)}" if listed else ""


# -- the method


def _no_models(policy: Written) -> Iterator[Refusal]:
    if not policy.models:
        example = (policy.method or next(iter(policy.registry.methods.values()))).example
        yield Refusal(("privacy",), "privacy is empty", f"write at least {example}")


def _columns_for_method(policy: Written) -> Iterator[Refusal]:
    if (method := policy.method) is None:
        return
    whole = None not in policy.columns.values()
    for name, column in policy.right_columns:
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
    roles = Counter(column.role for _, column in policy.right_columns)
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
    for name, column in policy.right_columns:
        yield from method.column_refusals(name, column)
    if whole:
        yield from method.refusals(policy.columns)
    for name, column in policy.right_columns if not method.one_level else ():
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


def _models_for_method(policy: Written) -> Iterator[Refusal]:
    if (method := policy.method) is None:
        return
    known = policy.right_models
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
    if policy.complete:
        yield from method.model_refusals(policy.columns, policy.models)
    for i, model in known:
        # A least size of buckets, where a method makes none.
        sized = model.model == "t_closeness" and model.min_size is not None
        if sized and not method.unlinks:
            yield Refusal(
                ("privacy", i, "min_size"),
                f"the method {method.name} makes classes, of which k_anonymity says the size",
                "remove min_size",
            )


def _keys_for_method(policy: Written) -> Iterator[Refusal]:
    if (method := policy.method) is None:
        return
    keys = policy.keys
    part = max(method.part_names(policy.columns), key=len, default=None)
    if part is not None:
        yield from part_refusals(keys.get("release"), part)
    if keys.get("inference") is not None and not method.unlinks:
        others = [name for name, other in policy.registry.methods.items() if other.unlinks]
        yield Refusal(
            ("inference",),
            f"the method {method.name} publishes no sensitive values apart from the records, so"
            " there is nothing to measure",
            f"remove inference, or use the method {alternatives(others)}",
        )
    if keys.get("on_infeasible") == "suppress" and not method.leaves_out:
        yield Refusal(
            ("on_infeasible",),
            f"the method {method.name} leaves nothing out for a guarantee that cannot be reached",
            "leave on_infeasible out; suppression_limit bounds what the method itself leaves out",
        )
    named = {key: keys.get(key) for key in ("individual", "republication")}
    yield from method.key_refusals(policy.columns, {"privacy": policy.models, **named})
    if policy.complete:
        asked = {key: keys.get(key) for key in ("on_infeasible", "refresh")}
        # None of a limit that requests may choose.
        chosen = keys.get("requests") is not None
        asked["suppression_limit"] = None if chosen else keys.get("suppression_limit", 0.0)
        yield from method.suppression_refusals(policy.columns, policy.models, asked)


# -- columns and models


def _models(policy: Written) -> Iterator[Refusal]:
    columns = policy.columns
    sets = {column.qs_set: None for _, column in policy.right_columns if column.qs_set}
    seen: set[tuple[object, ...]] = set()
    for i, model in policy.right_models:
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


def _means(policy: Written) -> Iterator[Refusal]:
    """Means, where a record is not in one class, or a person not one record."""
    method, several = policy.method, policy.keys.get("records_per_individual", "one")
    can = method is None or ("means" in method.supports and several != "many_accepted")
    for name, column in policy.right_columns:
        if column.shown == "none" and not column.mean:
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
    for name, column in policy.right_columns:
        treed = column.role == "sensitive" and column.hierarchy is not None
        if treed and name not in used:
            yield Refusal(
                ("columns", name, "hierarchy"),
                f"the hierarchy of the sensitive column {show(name)} does nothing; only"
                " t_closeness with distance: hierarchical reads it",
                "remove it, or set distance: hierarchical",
            )


def _missing(policy: Written) -> Iterator[Refusal]:
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


def _individual(policy: Written) -> Iterator[Refusal]:
    roles = {name: column.role if column else None for name, column in policy.columns.items()}
    individual = policy.keys.get("individual")
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


def _one_weight(policy: Written) -> Iterator[Refusal]:
    first, *others = of_role(policy.columns, "weight") or [""]
    for name in others:
        yield Refusal(
            ("columns", name, "role"),
            f"only one column can have the role weight; {show(first)} has it already",
            "remove one of the two; role: identifying withholds replicate weights",
        )


def _sensitive_when(policy: Written) -> Iterator[Refusal]:
    """Refusals across columns: a column that says who hides a value must hide itself."""
    columns = policy.columns
    for name, column in policy.right_columns:
        if column.role != "semi_sensitive" or column.sensitive_when is None:
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


def _exclusions(policy: Written) -> Iterator[Refusal]:
    """Rules about columns of another role, and rules that nothing keeps."""
    columns = policy.columns
    for i, exclusion in enumerate(policy.exclusions):
        yield from policy.registry.unsupported(policy.method, "exclusions", ("exclusions", i))
        if not isinstance(exclusion, Exclusion):
            continue
        for key, role in (("when", "quasi_identifying"), ("never", "sensitive")):
            for name in getattr(exclusion, key):
                at, column = ("exclusions", i, key, name), columns.get(name)
                if name not in columns:
                    yield undeclared(at, name, columns)
                elif column is not None and column.role != role:
                    yield Refusal(
                        at,
                        f"column {show(name)} has the role {column.role}; the rule needs a {role}"
                        " one here",
                        "`when` names what others can know of a person, `never` what they cannot"
                        " have",
                    )


# -- releases over time


def _increments(policy: Written) -> Iterator[Refusal]:
    """Keys that have no effect."""
    given = policy.keys
    for key in INCREMENTS:
        default = OverTime.model_fields[key].default
        if given.get(key, default) == default:
            continue
        if given.get("refresh") != "increments":
            yield Refusal(
                (key,),
                f"{key} is for refresh: increments; this policy has refresh:"
                f" {show(given.get('refresh', 'recompute'))}",
                f"remove {key}, or write refresh: increments",
            )
        elif key == "ranges" and given.get("regions", "none") != "leaves":
            yield Refusal(
                (key,),
                f"{key}: {given[key]} shows the regions that the cuts of a first version make; this"
                " policy has regions: none",
                "write regions: leaves, or ranges: tight",
            )


_UNKEPT = (
    ("exclusions", (), "takes every value of a group for as likely; an exclusion rules some out"),
    ("records_per_individual", "one", "keeps the value of a person, who can have only one record"),
    ("audiences", "everybody", "holds against readers of all versions"),
)
"""Keys that are what they are by default where people keep their value sets, and why."""


def _invariant(policy: Written) -> Iterator[Refusal]:
    """Keys that exclude value sets which people keep, or groups with the same values again."""
    given, method = policy.keys, policy.method
    if given.get("refresh") != "invariant":
        return
    yield from policy.registry.unsupported(method, "invariant", ("refresh",))
    if method is not None:
        yield from method.key_refusals({}, {"refresh": "invariant"})
    for key, default, why in _UNKEPT:
        if (given.get(key) or default) != default:
            hint = f"remove {key}, or write refresh: recompute"
            yield Refusal((key,), f"refresh: invariant {why}", hint)
    models = given.get("privacy")
    for i, model in enumerate(models if isinstance(models, list | tuple) else ()):
        said = model if isinstance(model, Mapping) else getattr(model, "__dict__", {})
        if said.get("level") == "tuple":
            yield Refusal(
                ("privacy", i, "level"),
                "refresh: invariant keeps the values of every column different, which level: tuple"
                " does not promise of any",
                "write level: unique",
            )
        if said.get("min_size") not in (None, 1):
            yield Refusal(
                ("privacy", i, "min_size"),
                "groups become smaller when people leave; refresh: invariant keeps their values,"
                " not their records",
                "remove min_size; every group has at least l values",
            )
    yield from part_refusals(given.get("release"), COUNTERFEITS)


def _population(policy: Written) -> Iterator[Refusal]:
    """A population has the key of the individuals, which is never published."""
    given, population = policy.keys, policy.keys.get("population")
    if not isinstance(population, Population):
        return
    roles = {name: column.role for name, column in policy.right_columns}
    declared = given.get("individual") or [n for n, role in roles.items() if role == "individual"]
    individual = (declared,) if isinstance(declared, str) else tuple(declared)
    if population.key and declared == NOBODY:
        yield Refusal(
            ("individual",),
            f"is {NOBODY}, but people of the population have the key"
            f" {', '.join(map(show, population.key))}",
            "remove one of the two",
        )
        return
    if population.key and individual and population.key != individual:
        yield Refusal(
            ("population", "key"),
            f"is {', '.join(map(show, population.key))}, but individuals are told apart by"
            f" {', '.join(map(show, individual))}",
            "leave key out",
        )
    for name in population.key:
        if roles.get(name, "identifying") not in ("identifying", "individual"):
            yield Refusal(
                ("population", "key"),
                f"column {show(name)} has the role {roles[name]}; a key is never published",
                "name an identifying column",
            )


def over_time_refusals(policy: Written) -> Iterator[Refusal]:
    """Keys about versions that exclude each other, or have no effect."""
    for rule in (_population, _invariant, _increments):
        yield from rule(policy)


RULES: tuple[Callable[[Written], Iterator[Refusal]], ...] = (
    _no_models,
    _columns_for_method,
    _models_for_method,
    _keys_for_method,
    _models,
    _sensitive_when,
    _idle_hierarchies,
    _individual,
    _one_weight,
    _missing,
    _means,
    _exclusions,
    over_time_refusals,
    table_refusals,
)
"""In the order in which their problems are reported."""


def policy_refusals(policy: Written) -> Iterator[Refusal]:
    """Refusals of combinations across the policy."""
    for rule in RULES:
        yield from rule(policy)
