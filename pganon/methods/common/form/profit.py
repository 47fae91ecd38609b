"""Whether classes pay: what they lose, for verification, and which of them are left out.

losses  (class_id, ncp)  what every class loses, from 0 to 1; for the owner alone. It follows from
        codes of the source, so it is kept as it was when the classes were made.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.extents import group_extents, weighted_loss
from pganon.encode.records import number_of
from pganon.encode.work import CODED, codes_of
from pganon.forms.form import Tables
from pganon.forms.work import EXTENTS, GROUPED
from pganon.methods.common.form.checks import requirement_check
from pganon.methods.common.form.population import covered_people, covers
from pganon.methods.common.suppression import suppressed_check
from pganon.policy.options import CLASS_ID
from pganon.privacy.base import Relation
from pganon.privacy.population import PopulationModel
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, conjunction, equal, fragment, query
from pganon.steps import CreateTable, State, Step, staged, table
from pganon.steps.relations import CheckQuery

LOSSES = "losses"
"""Part: the stored relation."""

_PROFITABLE = "profitable"


def loss_steps(spec: ReleaseSpec) -> list[CreateTable]:
    if not spec.profits:
        return []
    return [
        staged(
            "stored_losses",
            "what every class loses, to measure the release by",
            lambda s: _lost(spec, s, s.work(EXTENTS), CLASS_ID),
            into=LOSSES,
        )
    ]


def _lost(spec: ReleaseSpec, state: State, extents: Relation, by: str) -> exp.Select:
    """SELECT by, ncp of every group."""
    every = axes(spec.attributes)
    weights = sum(axis.attribute.weight for axis in every)
    loss = fragment(
        ":loss / :weights",
        loss=exp.paren(weighted_loss(every, state, "e")),
        weights=exp.Literal.number(repr(float(weights))),
    )
    tree = query("select :loss::float8 as ncp from e", {"e": extents}, loss=exp.paren(loss))
    return tree.select(col(by, "e"))


# -- classes that do not pay -----------------------------------------------------------------------


def leaves_unprofitable_out(spec: ReleaseSpec) -> bool:
    """Whether classes that do not pay are left out."""
    policy = spec.policy
    asked = policy.method.leaves_unprofitable and policy.on_infeasible == "suppress"
    return asked and bool(spec.profits)


def profitable(state: State) -> exp.Select:
    """SELECT gid: the groups that pay."""
    return query("select p.gid from p", {"p": state.work(_PROFITABLE)})


def profitable_steps(spec: ReleaseSpec) -> list[Step]:
    """Which groups are left out; refuses what the limit does not allow."""
    if not leaves_unprofitable_out(spec):
        return []
    return [
        table(_PROFITABLE, "the groups that pay", lambda s: _paying(spec, s)),
        suppressed_check(
            spec,
            lambda s: s.work(_PROFITABLE),
            fragment("coalesce(sum(t.n), 0)::bigint"),
        ),
    ]


def _paying(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT gid, n."""
    groups = state.work(GROUPED)
    number = fragment("count(*)") if spec.numbers_records else number_of(spec, "c")
    sizes = query("select g.gid, :n as n from g group by g.gid", {"g": groups}, n=number)
    if not spec.numbers_records:
        on = equal(codes_of(spec), "g", "c")
        sizes = sizes.join(aliased(state.work(CODED), "c"), on=on)
    own = group_extents(axes(spec.attributes), state, groups, ["gid"], weighted=False)
    lost = _lost(spec, state, own, "gid")
    rows = query("select z.gid, z.n, l.ncp from z join l on l.gid = z.gid", {"z": sizes, "l": lost})
    tree = query("select z.gid, z.n from z", {"z": rows})
    pays: list[exp.Expr] = []
    for number, requirement in enumerate(spec.profits):
        alias = f"m{number}"
        measured = requirement.model.measure(rows.copy(), ["gid"])
        tree = tree.join(aliased(measured, alias), on=equal(["gid"], alias, "z"))
        pays.append(requirement.model.holds(col("measure", alias)))
    return tree.where(conjunction(pays))


# -- verification ----------------------------------------------------------------------------------


def profit_checks(spec: ReleaseSpec, tables: Tables) -> list[CheckQuery]:
    return [
        requirement_check(requirement, requirement.model.measure(rows, []))
        for requirement in spec.profits
        for rows in [_classes(spec, tables, requirement.model)]
    ]


def _classes(spec: ReleaseSpec, tables: Tables, model: object) -> exp.Select:
    """SELECT n, ncp, [covered] of every class; one that has no loss is taken to lose everything."""
    if isinstance(model, PopulationModel):
        counted = covered_people(tables, covers(spec, tables))
    else:
        counted = query(
            "select x.class_id, count(*) as n from records as x group by x.class_id", dict(tables)
        )
    return query(
        "select o.*, coalesce(l.ncp, 1) as ncp from o left join losses as l"
        " on l.class_id = o.class_id",
        {**tables, "o": counted},
    )
