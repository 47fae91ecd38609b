"""The published form of full-domain recoding: classes whose labels are on one level per column.

levels   (attribute, level, label)  the labels of every level above released values, for the
         owner alone: it says which level the labels of a column are on
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import SkipValidation
from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.encode.facts import KEPT, shown_level
from pganon.forms.elements import attribute_columns
from pganon.forms.form import Tables
from pganon.forms.sentences import Told, told
from pganon.forms.stored_relations import stored
from pganon.forms.utility import ClassUtility, Utility, class_utility
from pganon.forms.work import GROUPED_CLASSES
from pganon.methods.classes.full_domain import facts
from pganon.methods.classes.full_domain.costs import UNIT
from pganon.methods.classes.full_domain.estimates import estimated_checks, staged_check
from pganon.methods.classes.full_domain.keys import height
from pganon.methods.classes.full_domain.options import rounds_of
from pganon.methods.classes.full_domain.refusals import WHOLE
from pganon.methods.classes.full_domain.rounds_shown import extents_of_classes, widened
from pganon.methods.common.form import class_description, classes
from pganon.methods.common.form.checks import violations_check
from pganon.methods.common.form.class_description import CLASSES
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import col, fragment, named, query, stacked, text
from pganon.steps import State, Step, staged
from pganon.steps.facts import Facts
from pganon.steps.relations import (
    PRIVATE_SCHEMA,
    CheckQuery,
    PublishedView,
    StoredRelation,
    ViewColumn,
)

LEVELS = "levels"
"""Part: the labels of all levels."""


def _labelled(spec: ReleaseSpec) -> list[TreeAxis]:
    """The quasi-identifiers that show labels, which have to be on one level."""
    if rounds_of(spec) > 1:
        return []
    trees = [axis for axis in axes(spec.attributes) if isinstance(axis, TreeAxis)]
    return [axis for axis in trees if axis.attribute.form is Shown.LABEL]


# -- relations --------------------------------------------------------------------------------


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    parts = [(LEVELS, PRIVATE_SCHEMA)] if _labelled(spec) else []
    return (*classes.relations(spec, state), *stored(state, parts))


def staging_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    return (
        *classes.staging_steps(spec, extents=extents),
        *_levels_steps(spec),
        *staged_check(spec),
    )


def _levels_steps(spec: ReleaseSpec) -> list[Step]:
    if not _labelled(spec):
        return []
    purpose = "labels of all levels above released values"
    return [
        staged(LEVELS, purpose, lambda s: _levels(spec, s)),
    ]


def _levels(spec: ReleaseSpec, state: State) -> exp.Select:
    return stacked(
        [
            query(
                "select distinct :name as attribute, t.level, t.label from t"
                " where t.code in (select :code from g)",
                {"t": axis.table(state), "g": state.work(GROUPED_CLASSES)},
                name=text(axis.attribute.published),
                code=col(axis.code, "g"),
            )
            for axis in _labelled(spec)
        ]
    )


def extents(spec: ReleaseSpec, state: State, own: exp.Select) -> exp.Select:
    """The extents, where a class shows all values of a column: those of all classes."""
    if rounds_of(spec) > 1:
        return extents_of_classes(spec, state, own)
    wide = [
        axis
        for axis in axes(spec.attributes)
        if not isinstance(axis, TreeAxis) and state.facts.get(shown_level(axis.index))
    ]
    shown = {name: value for axis in wide for name, value in widened(axis, state).items()}
    tree = query("select 1 from x", {"x": own})
    columns = [named(shown.get(name, col(name, "x")), name) for name in own.named_selects]
    return tree.select(*columns, append=False)


# -- verification -----------------------------------------------------------------------------


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Those of classes, and that labels are uniform, unless rounds have their own levels."""
    uniform = spec.attributes if rounds_of(spec) == 1 else ()
    structure, *others = class_description.checks(spec, state, tables)
    # No two classes look the same.
    shown: list[exp.Expr] = []
    for a in spec.attributes:
        columns = [col(column.name, "c") for column in attribute_columns(a)]
        respelled = a.column.kind == "citext" or not a.column.collation_deterministic
        shown += [fragment(':v::text collate "C"', v=c) for c in columns] if respelled else columns
    same = query("select count(*) - 1 as more from classes as c", dict(tables)).group_by(*shown)
    counted = query("select coalesce(sum(s.more), 0)::bigint as measured from s", {"s": same})
    return (
        structure,
        violations_check("distinct_classes", counted),
        *[_uniform_check(attribute, tables) for attribute in uniform],
        *others,
        *estimated_checks(spec, state, tables),
    )


def _uniform_check(attribute: Attribute, tables: Tables) -> CheckQuery:
    """Values of a column are equal or have nothing in common; labels are on one level."""
    shown = query(
        "select distinct :v as v from classes as c where :v is not null",
        dict(tables),
        v=col(attribute.published, "c"),
    )
    match attribute.form:
        case Shown.RANGE:
            crossing = query(
                "select s.v && lag(s.v) over (order by s.v) as crosses from s", {"s": shown}
            )
            counted = query(
                "select count(*) filter (where x.crosses) as measured from x", {"x": crossing}
            )
        case Shown.SET:
            twice = query(
                "select count(*) as n from s cross join lateral unnest(s.v) as e(item)"
                " group by e.item having count(*) > 1",
                {"s": shown},
            )
            counted = query("select count(*) as measured from x", {"x": twice})
        case _:
            held = query(
                "select count(*) as n from s join levels as l on l.label = s.v"
                " where l.attribute = :name group by l.level",
                {"s": shown, "levels": tables[LEVELS]},
                name=text(attribute.published),
            )
            counted = query(
                "select n.every - coalesce(h.most, 0) as measured"
                " from (select count(*) as every from s) as n"
                " cross join (select max(x.n) as most from x) as h",
                {"s": shown, "x": held},
            )
    return violations_check("uniform_level", counted, attribute.column.name)


# -- publication ------------------------------------------------------------------------------


def views(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[PublishedView, ...]:
    """The views of classes; comments say on which level a column is."""
    said = {
        name: sentence
        for place, axis in enumerate(axes(spec.attributes))
        for name, sentence in _said(spec, place, axis, state).items()
    }

    def with_level(column: ViewColumn) -> ViewColumn:
        level = said.get(column.name)
        return replace(column, comment=f"{column.comment} {level}") if level else column

    return tuple(
        replace(view, columns=tuple(map(with_level, view.columns)))
        for view in class_description.views(spec, state, tables)
    )


def stated(spec: ReleaseSpec, state: State) -> dict[str, object]:
    """The levels by published column, and the highest that there are."""
    nodes = [node for node, _ in facts.taken(state)]
    levels: dict[str, object] = {}
    for place, axis in enumerate(axes(spec.attributes)):
        chosen = [node[place] for node in nodes]
        found = {"level": chosen[0]} if rounds_of(spec) == 1 else {"rounds": chosen}
        levels[axis.attribute.published] = {**found, "of": height(axis, state)}
    return {"levels": levels}


def _said(spec: ReleaseSpec, place: int, axis: Axis, state: State) -> dict[str, str]:
    """The levels, by the columns that show them; nothing before the run."""
    if state.facts.get(facts.TAKEN) is None:
        return {}
    top = height(axis, state)
    chosen = [str(node[place]) for node, _ in facts.taken(state)]
    sentence = f"Level {chosen[0]} of {top}, the same for all records."
    if rounds_of(spec) > 1:
        sentence = (
            f"Levels of {top}, by round: {', '.join(chosen)}. Labels overlap: a class of a later"
            " round says that a finer one failed."
        )
    return dict.fromkeys((axis.attribute.published, *axis.attribute.flat_names), sentence)


# -- statistics -------------------------------------------------------------------------------


@dataclass(frozen=True)
class LevelUtility(ClassUtility):
    """Utility of a release with one level per quasi-identifier.

    Attributes:
        levels: by published column its level, and the highest that there is; of several rounds that
            of the first.
        rounds: records that every round releases, and its levels in the order of the columns.
        objective: what the search minimized.
        cost: its value, as a share of the most that can be lost.
        bound: the least cost that any levels can have; the cost itself where that is proved. None
            with several rounds.
        proved: whether no other levels within the limit lose less, in every round.
        evaluated: combinations of levels that were measured.
    """

    levels: dict[str, tuple[int, int]]
    rounds: list[tuple[int, list[int]]]
    objective: Annotated[str, SkipValidation]  # as Loss
    cost: float
    bound: float | None
    proved: bool
    evaluated: int

    def summary(self) -> dict[str, str]:
        return {**super().summary(), **self._found}

    def details(self) -> dict[str, str]:
        return {**super().details(), **self._found}

    @property
    def _found(self) -> dict[str, str]:
        return {"levels": self._shown, "search": f"{self._said} ({self.evaluated} evaluated)"}

    @property
    def _shown(self) -> str:
        if self.bound is not None:
            return ", ".join(
                f"{name} {level} of {top}" for name, (level, top) in self.levels.items()
            )
        highest = " ".join(str(top) for _, top in self.levels.values())
        found = [
            f"{' '.join(map(str, levels))} ({records} records)" for records, levels in self.rounds
        ]
        return f"{', '.join(self.levels)}: {', '.join(found)}, of {highest}"

    @property
    def _said(self) -> str:
        cost = f"{self.objective} {self.cost:.6f}"
        if self.bound is None:
            least = "each with the levels that lose least" if self.proved else "optima not proved"
            return f"{cost} in {len(self.rounds)} rounds, {least}"
        if self.proved:
            return f"{cost}, the least that any levels have"
        return f"{cost}; below {self.bound:.6f} is impossible, optimum not proved"


def utility(spec: ReleaseSpec, observed: Facts) -> LevelUtility:
    objective = getattr(spec.policy.method, "objective", "gcp")
    whole = max(observed[WHOLE] if objective == "entropy" else observed[KEPT] * UNIT, 1)
    state = State(0, observed)
    taken = facts.taken(state)
    left = [observed[KEPT], *[records for _, records in taken]]
    bound = (observed[facts.BOUND] or 0) / whole if rounds_of(spec) == 1 else None
    return LevelUtility(
        **class_utility(spec, observed).__dict__,
        levels={
            axis.attribute.published: (level, height(axis, state))
            for axis, level in zip(axes(spec.attributes), taken[0][0], strict=True)
        },
        rounds=[
            (before - after, list(node)) for before, (node, after) in zip(left, taken, strict=False)
        ],
        objective=objective,
        cost=(observed[facts.COST] or 0) / whole,
        bound=bound,
        proved=observed[facts.PROVED],
        evaluated=observed[facts.EVALUATED],
    )


MESSAGES = {
    "distinct_classes": "No two groups look the same.",
    "uniform_level": "All values in {column} are equally coarse.",
}


def tell(utility: Utility, members: str) -> list[Told]:
    """The levels, which are the same in every class."""
    assert isinstance(utility, LevelUtility)
    levels = ", ".join(f"{name} {level} of {top}" for name, (level, top) in utility.levels.items())
    once = len(utility.rounds) == 1
    where = "of its hierarchy" if once else "in a round of records. The first one has"
    return [told("levels", f"Every column is at one level {where}: {levels}. 0 is exact.")]


LEVELLED = replace(
    CLASSES,
    staging=replace(CLASSES.staging, relations=relations, steps=staging_steps),
    verification=replace(CLASSES.verification, checks=checks, said=MESSAGES),
    publication=replace(CLASSES.publication, views=views, stated=stated),
    statistics=replace(
        CLASSES.statistics, utility=utility, figures=LevelUtility, whole=None, tells=tell
    ),
)
