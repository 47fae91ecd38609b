"""The published form of full-domain recoding: classes whose labels are on one level per column.

levels   (attribute, level, label)  the labels of every level above released values, for the
         owner alone: it says which level the labels of a column are on
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis, axes
from pganon.encode.facts import KEPT, shown_level
from pganon.forms.elements import attribute_columns
from pganon.forms.form import Tables
from pganon.forms.stored import stored
from pganon.forms.utility import ClassUtility, class_utility
from pganon.forms.work import GROUPED_CLASSES
from pganon.methods.classes.full_domain import facts
from pganon.methods.classes.full_domain.costs import UNIT
from pganon.methods.classes.full_domain.keys import height
from pganon.methods.classes.full_domain.refused import WHOLE
from pganon.methods.common.form import class_checks, class_views, classes
from pganon.methods.common.form.checked import violations_check
from pganon.methods.common.form.class_description import CLASSES
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import col, fragment, named, num, query, stacked, text
from pganon.steps import CreateTable, State, Step
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
    """The quasi-identifiers that show labels."""
    trees = [axis for axis in axes(spec.attributes) if isinstance(axis, TreeAxis)]
    return [axis for axis in trees if axis.attribute.form is Shown.LABEL]


# -- relations --------------------------------------------------------------------------------


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    parts = [(LEVELS, PRIVATE_SCHEMA)] if _labelled(spec) else []
    return (*classes.relations(spec, state), *stored(state, parts))


def staging_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    return (*classes.staging_steps(spec, extents=widened), *_levels_steps(spec))


def _levels_steps(spec: ReleaseSpec) -> list[Step]:
    if not _labelled(spec):
        return []
    purpose = "labels of all levels above released values"
    return [
        CreateTable(LEVELS, purpose, lambda s: s.stage(LEVELS), lambda s: _levels(spec, s)),
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


def widened(spec: ReleaseSpec, state: State, extents: exp.Select) -> exp.Select:
    """The extents, where a class shows all values of a column: those of all classes.

    NULL is not among these values: a class says of itself whether it has it.
    """
    wide = [
        axis
        for axis in axes(spec.attributes)
        if not isinstance(axis, TreeAxis) and state.facts.get(shown_level(axis.index))
    ]
    shown = {name: value for axis in wide for name, value in _widened(axis, state).items()}
    tree = query("select 1 from x", {"x": extents})
    columns = [named(shown.get(name, col(name, "x")), name) for name in extents.named_selects]
    return tree.select(*columns, append=False)


def _widened(axis: Axis, state: State) -> dict[str, exp.Expr]:
    i = axis.index
    if isinstance(axis, OrderedAxis):
        ends = {"lo": "min", "hi": "max"}
        values = fragment(":hi > 0", hi=col(f"hi{i}", "x"))
        return {
            f"{end}{i}": fragment(
                f"case when :some then {extreme}(:v) filter (where :some) over () else :v end",
                some=values,
                v=col(f"{end}{i}", "x"),
            )
            for end, extreme in ends.items()
        }
    assert isinstance(axis, NominalAxis)
    words = [f"b{i}_{word}" for word in range(axis.words(state))]
    some = exp.or_(
        *[
            fragment(":b & :mask <> 0", b=col(name, "x"), mask=num(-2 if place == 0 else -1))
            for place, name in enumerate(words)
        ]
    )
    return {
        name: fragment(
            "case when :some then (bit_or(:b) over () & :mask) | (:b & :own) else :b end",
            some=exp.paren(some.copy()),
            b=col(name, "x"),
            mask=num(-2 if place == 0 else -1),
            own=num(1 if place == 0 else 0),
        )
        for place, name in enumerate(words)
    }


# -- verification -----------------------------------------------------------------------------


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Those of classes, and that labels are uniform."""
    structure, *others = class_checks.checks(spec, state, tables)
    return (
        structure,
        _distinct_check(spec, tables),
        *[_uniform_check(attribute, tables) for attribute in spec.attributes],
        *others,
    )


def _distinct_check(spec: ReleaseSpec, tables: Tables) -> CheckQuery:
    """No two classes look the same."""
    columns = [column.name for a in spec.attributes for column in attribute_columns(a)]
    shown = [col(name, "c") for name in columns]
    same = query("select count(*) - 1 as more from classes as c", dict(tables)).group_by(*shown)
    counted = query("select coalesce(sum(s.more), 0)::bigint as measured from s", {"s": same})
    return violations_check("distinct_classes", counted)


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
        for axis in axes(spec.attributes)
        for name, sentence in _said(axis, state).items()
    }

    def with_level(column: ViewColumn) -> ViewColumn:
        level = said.get(column.name)
        return replace(column, comment=f"{column.comment} {level}") if level else column

    return tuple(
        replace(view, columns=tuple(map(with_level, view.columns)))
        for view in class_views.views(spec, state, tables)
    )


def stated(spec: ReleaseSpec, state: State) -> dict[str, object]:
    """The levels by published column, and the highest that there are."""
    levels = {
        axis.attribute.published: {
            "level": state[shown_level(axis.index)],
            "of": height(axis, state),
        }
        for axis in axes(spec.attributes)
    }
    return {"levels": levels}


def _said(axis: Axis, state: State) -> dict[str, str]:
    """The level, by the columns that show it; nothing before the run."""
    level = state.facts.get(shown_level(axis.index))
    if level is None:
        return {}
    sentence = f"Level {level} of {height(axis, state)}, the same for all records."
    return dict.fromkeys((axis.attribute.published, *axis.attribute.flat_names), sentence)


# -- statistics -------------------------------------------------------------------------------


@dataclass(frozen=True)
class LevelUtility(ClassUtility):
    """Utility of a release with one level per quasi-identifier.

    Attributes:
        levels: by published column its level, and the highest that there is.
        objective: what the search minimized.
        cost: its value, as a share of the most that can be lost.
        bound: the least cost that any levels can have; the cost itself where that is proved.
        proved: whether no other levels within the limit lose less.
        evaluated: combinations of levels that were measured.
    """

    levels: dict[str, tuple[int, int]]
    objective: str
    cost: float
    bound: float
    proved: bool
    evaluated: int

    def summary(self) -> dict[str, str]:
        return {**super().summary(), **self._found}

    def details(self) -> dict[str, str]:
        return {**super().details(), **self._found}

    @property
    def _found(self) -> dict[str, str]:
        shown = (f"{name} {level} of {top}" for name, (level, top) in self.levels.items())
        said = f"{self.objective} {self.cost:.6f}, the least that any levels have"
        if not self.proved:
            said = (
                f"{self.objective} {self.cost:.6f}; below {self.bound:.6f} is impossible, optimum"
                " not proved"
            )
        return {"levels": ", ".join(shown), "search": f"{said} ({self.evaluated} evaluated)"}


def utility(spec: ReleaseSpec, observed: Facts) -> LevelUtility:
    objective = getattr(spec.policy.method, "objective", "gcp")
    whole = observed[WHOLE] if objective == "entropy" else observed[KEPT] * UNIT
    state = State(0, observed)
    return LevelUtility(
        **class_utility(spec, observed).__dict__,
        levels={
            axis.attribute.published: (observed[shown_level(axis.index)], height(axis, state))
            for axis in axes(spec.attributes)
        },
        objective=objective,
        cost=(observed[facts.COST] or 0) / max(whole, 1),
        bound=(observed[facts.BOUND] or 0) / max(whole, 1),
        proved=observed[facts.PROVED],
        evaluated=observed[facts.EVALUATED] or 0,
    )


LEVELLED = replace(
    CLASSES,
    staging=replace(CLASSES.staging, relations=relations, steps=staging_steps),
    verification=replace(CLASSES.verification, checks=checks),
    publication=replace(CLASSES.publication, views=views, stated=stated),
    statistics=replace(CLASSES.statistics, utility=utility, figures=LevelUtility, whole=None),
)
