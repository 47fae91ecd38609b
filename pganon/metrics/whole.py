"""Figures of a version that grows: over the groups of all its increments, as they are published.

Who was in a group of an earlier increment may have changed or left since, so that its people say
nothing any more of what it shows. What is lost is read off the published values, on the scale of
the values that the source has and groups show: the span and number of all of them.

    mshown, mcover<i>, mboxes   of :mod:`pganon.metrics.coverage`, over all increments
    lost         (group_id, n, loss<i>)   a row per group

All steps are taken within a scope, beside those of the increment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, axes
from pganon.encode.codes import sizes_step
from pganon.encode.dictionaries import dictionary_steps
from pganon.errors import PganonError
from pganon.forms.facts import LEAVING, SUPPRESSED, ncp
from pganon.forms.form import PublishedForm
from pganon.forms.shape import Relations, Shape, shown
from pganon.forms.utility import Utility
from pganon.metrics import alike, coverage, exact
from pganon.metrics.exact import in_type, values_step
from pganon.metrics.source import place_steps
from pganon.resolved.increments import NUMBER, REGIONS, WITHDRAWN, Growth
from pganon.resolved.model import Attribute, ReleaseSpec, Scale, Shown
from pganon.sqltools import cast, col, fragment, named, num, query, stacked
from pganon.steps import Alone, Check, CreateTable, Search, State, Step, table
from pganon.steps.facts import RECORDS, Fact, Facts

SCOPE = "whole_"


def whole_steps(
    spec: ReleaseSpec, growth: Growth, form: PublishedForm, *, reasoned: bool
) -> tuple[Step, ...]:
    """Steps that measure the whole version, after the staged relations of a run that adds groups.

    None for a form without statistics of whole versions, and for a first version, which is one. A
    dry run that explains (`reasoned`) has no evidence.
    """
    whole = form.statistics.whole
    if whole is None or growth.version is None:
        return ()
    if not whole.measurable(spec, growth.adds):
        return ()

    def shape(state: State) -> Shape:
        return form.shape(spec, state)

    def relations(state: State) -> Relations:
        columns = {relation.part: relation.columns for relation in shape(state)}
        return {
            part: _all_of(growth, part, names, state)
            for part, names in {**columns, **whole.beside(spec)}.items()
        }

    if all(attribute.form in (Shown.EXACT, Shown.VALUES) for attribute in spec.attributes):
        lost = exact.steps(spec, shape, relations)
    else:
        lost = _lost_steps(spec, growth, lambda s: shown(shape(s), relations(s)))
    beside = [
        step for chain in alike.chains(spec, form.statistics.histogram, relations) for step in chain
    ]
    steps = [*lost, *whole.measures(spec, relations, lambda s: s.work("lost")), *beside]
    evidence = form.statistics.evidence
    if evidence is not None and evidence.applies(spec) and not reasoned:
        steps += evidence.whole(spec, relations)
    return within(SCOPE, steps)


def whole_utility(
    spec: ReleaseSpec, form: PublishedForm, facts: Facts, released: int, suppressed: int
) -> Utility:
    """Utility of the whole version, from the facts of the run.

    Args:
        released, suppressed: records of the version, and those that are permanently suppressed.
    """
    counted = {RECORDS: released + suppressed, SUPPRESSED: suppressed}
    assert form.statistics.whole is not None  # or nothing was observed
    return form.statistics.whole.utility(spec, whole_facts(facts).observing(counted))


def whole_facts(facts: Facts) -> Facts:
    return facts.within(SCOPE)


def _all_of(growth: Growth, part: str, columns: Sequence[str], state: State) -> exp.Select:
    """SELECT these columns of a part of all increments, without groups that are withdrawn."""
    tables = list(growth.tables_of(part))
    tables += [state.outer.stage(part)] if growth.adds else []
    rows = stacked(
        [
            query("select 1 from t", {"t": table}).select(
                *[col(name, "t") for name in columns], append=False
            )
            for table in tables
        ]
    )
    withdrawn = state.outer.stage(WITHDRAWN) if state.facts.get(LEAVING) else growth.withdrawn
    if withdrawn is None or growth.number is None or growth.number not in columns:
        return rows
    return query(
        "select r.* from r where not exists (select 1 from w where :gone = :number)",
        {"r": rows, "w": withdrawn},
        gone=col(NUMBER, "w"),
        number=col(growth.number, "r"),
    )


# -- the scale --------------------------------------------------------------------------------


def _lost_steps(
    spec: ReleaseSpec, growth: Growth, published: Callable[[State], exp.Select]
) -> list[Step]:
    """From what groups show to `lost`."""
    return [
        coverage.shown_step(spec, published),
        *([] if spec.shows_regions else _cover_steps(spec)),
        table(
            "lost",
            "what every group loses",
            lambda s: _lost(spec, growth, s),
        ),
    ]


def _cover_steps(spec: ReleaseSpec) -> list[Step]:
    """From `mshown` to what published values cover of all values that there are."""
    made: list[Step] = []
    for axis in axes(spec.attributes):
        made.append(values_step(axis.attribute, lambda s, a=axis.attribute: _shown_values(a, s)))
        made += dictionary_steps(spec, axis)
    return [*made, sizes_step(spec), *place_steps(spec), *coverage.cover_steps(spec)]


_LAST = {
    "date": "upper(s.g) - 1",
    "timestamp": "upper(s.g) - interval '1 microsecond'",
    "timestamptz": "upper(s.g) - interval '1 microsecond'",
}
"""The last value of a range that its upper bound is not in."""


def _shown_values(attribute: Attribute, state: State) -> exp.Select | None:
    """SELECT value: the values that published ones disclose, in the type of the source's."""
    shown = query(
        "select :g as g from t",
        {"t": state.work("mshown")},
        g=col(f"g{attribute.index}", "t"),
    ).distinct()
    ended = attribute.form is Shown.RANGE and attribute.scale is Scale.ORDERED
    if not ended and attribute.form is not Shown.SET:
        return None  # of a hierarchy, or means
    values = "unnest(s.g)"
    if ended:
        last = _LAST.get(attribute.column.kind, "upper(s.g)")
        values = f"unnest(array[lower(s.g), {last}])"
    value = in_type(attribute, fragment(values))
    each = query("select :value as value from s where s.g is not null", {"s": shown}, value=value)
    return query("select e.value from e where e.value is not null", {"e": each})


# -- loss -------------------------------------------------------------------------------------


def _lost(spec: ReleaseSpec, growth: Growth, state: State) -> exp.Select:
    """SELECT group_id, n, loss<i> of every group."""
    if spec.shows_regions:
        return _lost_in_regions(spec, growth, state)
    boxes = query("select b.* from b", {"b": state.work("mboxes")})
    for axis in axes(spec.attributes):
        boxes = boxes.select(named(col(f"z{axis.index}", "b"), f"n{axis.index}"))
    tree = query("select e.group_id, e.n from e", {"e": boxes})
    for axis in axes(spec.attributes):
        tree = tree.select(named(_loss(axis, growth, state), f"loss{axis.index}"))
    return tree


def _loss(axis: Axis, growth: Growth, state: State) -> exp.Expr:
    """NCP of what a group shows; where its values are in nothing any more, or it shows what does
    not cover them, the mean of its increment, as its run measured it."""
    i = axis.index
    before = recorded(growth, axis.attribute, state)
    if not axis.attribute.covers:
        return before
    if isinstance(axis, NominalAxis):
        loss = axis.loss_of(state, col(f"covers{i}", "e"))
    else:
        loss = axis.loss(state, "e")
    nothing = fragment(":covers = 0", covers=col(f"covers{i}", "e"))
    return exp.Case().when(nothing, before).else_(cast(exp.paren(loss), "float8"))


def recorded(growth: Growth, attribute: Attribute, state: State) -> exp.Expr:
    """The mean of an attribute in the increment of the group `e.group_id`."""
    case = exp.Case()
    for increment, lost in zip(growth.increments, growth.lost, strict=True):
        upto = fragment("e.group_id <= :last", last=num(increment.numbered))
        case = case.when(upto, _number(lost.get(attribute.published, 0.0)))
    added = state.facts.get(ncp(attribute.index)) if growth.adds else None
    return case.else_(_number(added or 0.0))


def _number(value: float) -> exp.Expr:
    return cast(exp.Literal.number(repr(value)), "float8")


def _lost_in_regions(spec: ReleaseSpec, growth: Growth, state: State) -> exp.Select:
    """Loss of the regions, which the first version fixes for all later ones."""
    bounds = growth.bounds
    assert bounds is not None  # or a version with regions would not grow
    regions = [*growth.tables_of(REGIONS), *([state.outer.stage(REGIONS)] if growth.adds else [])]
    each = [query("select t.class_id, t.region from t", {"t": table}) for table in regions]
    tree = query(
        "select s.group_id, s.n from s join r on r.class_id = s.group_id"
        " join b on b.region = r.region",
        {"s": state.work("mshown"), "r": stacked(each), "b": bounds},
    )
    names = [f"loss{attribute.index}" for attribute in spec.attributes]
    return tree.select(*[col(name, "b") for name in names])


# Steps taken a second time in a run, over other rows.
#
# Under a prefix, tables and facts have names of their own, so that the same steps can measure what
# the run makes, and what it is a part of.


def inside(prefix: str, state: State) -> State:
    """The state that steps under the prefix see."""
    return replace(state, prefix=prefix, facts=state.facts.within(prefix))


def within(prefix: str, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps under the prefix. They refuse nothing: what is measured here is only told.

    PganonError for steps that are made of others.
    """
    return tuple(_step(prefix, step) for step in steps)


def _step(prefix: str, step: Step) -> Step:
    def seen(of: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: of(*[inside(prefix, x) if isinstance(x, State) else x for x in given])

    def named_apart(fact: Fact[Any]) -> Fact[Any]:
        return replace(fact, name=f"{prefix}{fact.name}")

    if not isinstance(step, Alone):
        raise PganonError(f"the step {step.name} cannot be taken a second time")
    parts = {one.name: getattr(step, one.name) for one in fields(step)}
    changed: dict[str, Any] = {name: seen(part) for name, part in parts.items() if callable(part)}
    if isinstance(step, CreateTable) and step.counted is not None:
        changed["counted"] = named_apart(step.counted)
    if isinstance(step, Check | Search):
        changed["gives"] = [named_apart(fact) for fact in step.gives]
    if isinstance(step, Check):
        changed["problem"] = lambda row, state: None
    return replace(step, name=f"{prefix}{step.name}", **changed)
