"""The published form of anatomy: exact quasi-identifiers, and sensitive values per group.

Two stored relations, `qit` (group_id, quasi-identifiers, insensitive columns) and `st` (group_id,
sensitive column, count), and the steward's `members`. The view of the release joins them the only
safe way: every record with every value of its group and the probability that it is the record's.

Group numbers are a random permutation under the run's secret key. Rows of both relations are in an
order that depends on their own published columns alone, so none shows which value belongs to
which record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.encode.axis import axes, group_extents
from pganon.encode.records import ties
from pganon.encode.secrets import keyed_hash
from pganon.identifiers import QualifiedName
from pganon.methods.base import Tables
from pganon.methods.forms.classes import STRUCTURE, value_key
from pganon.methods.forms.elements import element
from pganon.methods.forms.members import code_columns, members
from pganon.metrics import loss
from pganon.metrics.utility import AnatomyUtility
from pganon.plan.sqltools import col, fragment, named, query, render
from pganon.plan.staged import (
    DATA_SCHEMA,
    PRIVATE_SCHEMA,
    CheckQuery,
    PublishedView,
    StoredRelation,
    ViewColumn,
)
from pganon.plan.steps import Check, CreateTable, State, Statement, Step
from pganon.policy.methods import COUNT, GROUP_ID, PROBABILITY
from pganon.spec.model import ReleaseSpec, Sensitive


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; those the views read come first."""
    parts = [("qit", DATA_SCHEMA), ("st", DATA_SCHEMA), ("members", PRIVATE_SCHEMA)]
    return tuple(
        StoredRelation(part, state.stage(part), QualifiedName(schema, state.stage(part).name))
        for part, schema in parts
    )


def staging_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """From `grouped` (gid, rid) and `coded` to the staged relations."""
    return (
        CreateTable(
            "numbers",
            "random numbers for the groups",
            lambda s: s.work("numbers"),
            lambda s: query(
                "select g.gid, (row_number() over (order by :hash, g.gid))::int as group_id"
                " from (select distinct gid from grouped) as g",
                {"grouped": s.work("grouped")},
                hash=keyed_hash(s, col("gid", "g")),
            ),
        ),
        CreateTable(
            "group_records",
            "the group of every record",
            lambda s: s.work("group_records"),
            lambda s: _group_records(spec, s),
        ),
        CreateTable(
            "qit",
            "exact quasi-identifiers with the number of their group",
            lambda s: s.stage("qit"),
            lambda s: _qit(spec, s),
        ),
        _index("qit"),
        CreateTable(
            "st",
            "sensitive values of every group with their numbers of records",
            lambda s: s.stage("st"),
            lambda s: _st(spec, s),
        ),
        _index("st"),
        CreateTable(
            "members",
            "the steward's memory of who was in which group",
            lambda s: s.stage("members"),
            lambda s: members(spec, s, s.work("group_records"), GROUP_ID, ["rid"]),
        ),
    )


def _index(part: str) -> Step:
    return Statement(
        f"{part}_key",
        "an index that the published views join on",
        lambda s: sql.SQL("CREATE INDEX ON {} (group_id)").format(s.stage(part).identifier),
    )


def _sensitive(spec: ReleaseSpec) -> Sensitive:
    (item,) = spec.sensitive
    return item


def _group_records(spec: ReleaseSpec, state: State) -> exp.Expr:
    item = _sensitive(spec)
    names = ["rid", *code_columns(spec), f"v{item.index}", *[f"p{c.index}" for c in spec.carried]]
    return query(
        "select n.group_id from g join n on n.gid = g.gid join c on c.rid = g.rid",
        {"g": state.work("grouped"), "n": state.work("numbers"), "c": state.work("coded")},
    ).select(*[col(name, "c") for name in names])


def _qit(spec: ReleaseSpec, state: State) -> exp.Expr:
    """Ordered by the group and what is published of a record, and by nothing else."""
    tree = query("select r.group_id from r", {"r": state.work("group_records")})
    order = [col(GROUP_ID, "r")]
    for attribute in spec.attributes:
        alias = f"d{attribute.index}"
        dictionary = exp.alias_(
            state.work(f"dict{attribute.index}").table, alias, table=True, quoted=True
        )
        code = col(f"c{attribute.index}", "r")
        tree = tree.join(dictionary, on=exp.EQ(this=col("code", alias), expression=code))
        value = element(attribute, col("value", alias))
        tree = tree.select(named(value, attribute.published))
        order.append(code)
    for item in spec.carried:
        value = col(f"p{item.index}", "r")
        tree = tree.select(named(value, item.published))
        order += [value, *ties(item, value)]
    return tree.order_by(*order)


def _st(spec: ReleaseSpec, state: State) -> exp.Expr:
    """Values that compare equal but look different are different: each has a row of its own."""
    item = _sensitive(spec)
    value = col(f"v{item.index}", "r")
    keys = [col(GROUP_ID, "r"), value, *ties(item, value)]
    tree = query("select r.group_id from r", {"r": state.work("group_records")})
    tree = tree.select(named(value, item.published), named(fragment("count(*)"), COUNT))
    return tree.group_by(*[key.copy() for key in keys]).order_by(*keys)


def released(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    return query("select count(*) as published from qit", dict(tables))


# -- verification -----------------------------------------------------------------------------


def checks(spec: ReleaseSpec, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure the requirement from the relations in `tables` alone."""
    (requirement,) = spec.requirements
    model = requirement.model
    histogram = query(
        "select t.group_id, :value as value, sum(t.count)::bigint as n from st as t group by 1, 2",
        dict(tables),
        value=value_key(_sensitive(spec), "t"),
    )
    found = CheckQuery(
        model=model.name,
        symbol=model.symbol,
        column=requirement.column,
        parameter=float(model.parameter),
        bound=model.comparison,
        against="",
        sql=render(model.worst(model.measure(histogram, [GROUP_ID]))),
    )
    return (_structure(tables), found)


def _structure(tables: Tables) -> CheckQuery:
    """Groups of which the two relations do not hold the same number of records."""
    broken = query(
        "select count(*) as measured from"
        " (select q.group_id, count(*) as n from qit as q group by q.group_id) as a"
        " full join (select t.group_id, sum(t.count) as n,"
        " min(coalesce(t.count, 0)) as least from st as t group by t.group_id) as b"
        " on b.group_id = a.group_id"
        " where a.n is distinct from b.n or coalesce(b.least < 1, true)",
        dict(tables),
    )
    tree = query("select b.measured, b.measured as failing from b", {"b": broken})
    return CheckQuery(STRUCTURE, "violations", None, 0, "<=", "", render(tree))


# -- views ------------------------------------------------------------------------------------


def views(spec: ReleaseSpec, tables: Tables) -> tuple[PublishedView, ...]:
    """Records with what they may have, and the two relations."""
    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    item = _sensitive(spec)
    shown = [named.published for named in (*spec.attributes, *spec.carried)]
    qit = query("select q.group_id from qit as q", dict(tables))
    qit = qit.select(*[col(name, "q") for name in shown])
    st = query("select t.group_id from st as t", dict(tables))
    st = st.select(col(item.published, "t"), col(COUNT, "t"))
    joined = query(
        "select q.group_id from qit as q join st as t on t.group_id = q.group_id"
        " join (select u.group_id, sum(u.count) as n from st as u group by u.group_id) as s"
        " on s.group_id = q.group_id",
        dict(tables),
    ).select(
        *[col(name, "q") for name in shown],
        col(item.published, "t"),
        named(fragment("t.count / s.n"), PROBABILITY),
    )
    number = ViewColumn(GROUP_ID, "integer", "Number of the group, random per release.")
    exact = [
        number,
        *[ViewColumn(a.published, a.published_type, "Quasi-identifier, exact.")
          for a in spec.attributes],
        *[ViewColumn(c.published, c.column.type_name, "Insensitive, unchanged.")
          for c in spec.carried],
    ]  # fmt: skip
    value = ViewColumn(item.published, item.column.type_name, "Sensitive, of some of the group.")
    return (
        PublishedView(
            name=spec.view,
            select=render(joined),
            columns=(
                *exact,
                value,
                ViewColumn(PROBABILITY, "numeric", "Share of the group's records that have it."),
            ),
            comment="Every record with every sensitive value of its group; add probabilities up"
            f" to count. Guarantee: {guarantee}.",
        ),
        PublishedView(
            name=spec.view_of("qit"),
            select=render(qit),
            columns=tuple(exact),
            comment="Exact quasi-identifiers of an anatomized release, one row per record.",
        ),
        PublishedView(
            name=spec.view_of("st"),
            select=render(st),
            columns=(number, value, ViewColumn(COUNT, "bigint", "Number of records that have it.")),
            comment=f"Sensitive values of an anatomized release. Guarantee: {guarantee}.",
        ),
    )


# -- figures ----------------------------------------------------------------------------------


def measures(spec: ReleaseSpec) -> tuple[Step, ...]:
    """What :func:`utility` reads."""
    return (
        Check(
            "utility",
            "extent and sizes of the groups",
            lambda s: _extents(spec, s),
            prefix="measure_",
        ),
        Check(
            "reconstruction",
            "how well values are known from their groups",
            lambda s: query(
                "select sum(g.n - g.squares / g.n)::float8 as reconstruction_error,"
                " max(g.most / g.n)::float8 as highest_probability from"
                " (select sum(t.count) as n, sum(t.count * t.count) as squares,"
                " max(t.count)::numeric as most from t group by t.group_id) as g",
                {"t": s.stage("st")},
            ),
            prefix="measure_",
        ),
    )


def _extents(spec: ReleaseSpec, state: State) -> exp.Expr:
    extents = group_extents(
        axes(spec.attributes), state, state.work("group_records"), [GROUP_ID], weighted=False
    )
    return loss.basic(spec, extents.select(named(fragment("count(*)"), "n")), state)


def utility(spec: ReleaseSpec, facts: Mapping[str, Any]) -> AnatomyUtility:
    records, suppressed = int(facts["records"]), int(facts["suppressed"])
    return AnatomyUtility(
        gcp=(float(facts["measure_weighted_loss"]) + suppressed) / records,
        ncp={a.published: float(facts[f"measure_ncp{a.index}"]) for a in spec.attributes},
        groups=int(facts["measure_classes"]),
        smallest_group=int(facts["measure_smallest_class"]),
        largest_group=int(facts["measure_largest_class"]),
        highest_probability=float(facts["measure_highest_probability"]),
        reconstruction_error=float(facts["measure_reconstruction_error"]),
    )
