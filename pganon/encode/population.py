"""The population that models count people in, given as a relation.

It is read once, to :data:`pganon.encode.work.POPULATION`, so that later changes of the relation do
not count. Values that the source lacks have no code, but they may be below a label that is
published: the hierarchies of the policy say so.

    unlisted<i>  (value, n)  values that the source lacks, of a column with a hierarchy
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.catalog.model import ExternalObjects, Relation
from pganon.encode.number_line import external
from pganon.encode.snapshot import canonical, infinite
from pganon.encode.work import POPULATION, SNAP, ancestors, dictionary, place
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.hierarchies import hierarchy_steps, leaf_kind
from pganon.identifiers import quote
from pganon.privacy.population import Presence
from pganon.resolved.model import Attribute, ReleaseSpec, Scale
from pganon.sqltools import col, fragment, named, query, stacked
from pganon.steps import Check, CreateTable, DropTables, State, Step
from pganon.steps.facts import count

MISSING = count("missing_people", assumed=0)
"""Records of the source beyond the people of the population who have the same values."""


def population_steps(spec: ReleaseSpec) -> list[Step]:
    """Nothing where no model counts people of a population."""
    relation = spec.population
    if relation is None:
        return []
    return [
        CreateTable(
            POPULATION.name,
            f"people of {relation.name} by their quasi-identifiers",
            lambda s: s.work(POPULATION),
            lambda s: _cells(spec, relation),
            external=ExternalObjects((relation.name,)),
        ),
        Check(
            "contained",
            f"whether the source is in {relation.name}",
            lambda s: _missing(spec, s),
            lambda row, s: _not_contained(spec, relation, row),
            gives=[MISSING],
        ),
        *[step for attribute in spec.attributes for step in _place_steps(spec, attribute)],
    ]


def population_row(spec: ReleaseSpec, table: str) -> exp.Expr:
    """A row of the table, to be hashed."""
    return exp.func("row", *[col(name, table) for name in (*_names(spec), "n")])


def _names(spec: ReleaseSpec) -> list[str]:
    return [f"q{attribute.index}" for attribute in spec.attributes]


def _cells(spec: ReleaseSpec, relation: Relation) -> exp.Select:
    values: list[exp.Expr] = []
    for attribute in spec.attributes:
        column = relation.column(attribute.column.name)
        assert column is not None  # the policy was resolved against the relation
        values.append(named(canonical(column), f"q{attribute.index}"))
    rows = query("select 1 from src", {"src": relation.name}).select(*values, append=False)
    keys = [col(name, "r") for name in _names(spec)]
    tree = query("select count(*) as n from r", {"r": rows})
    return tree.select(*keys, *tree.selects, append=False).group_by(*[key.copy() for key in keys])


def _missing(spec: ReleaseSpec, state: State) -> exp.Select:
    def counted(records: str, people: str, table: Any) -> exp.Select:
        tree = query("select 1 from t", {"t": table})
        values = [col(name, "t") for name in _names(spec)]
        sides = [named(fragment(f"{side}"), name) for side, name in ((records, "a"), (people, "b"))]
        return tree.select(*values, *sides, append=False)

    one = "t.times" if spec.counted else "1"
    both = stacked(
        [counted(one, "0", state.work(SNAP)), counted("0", "t.n", state.work(POPULATION))]
    )
    keys = [col(name, "u") for name in _names(spec)]
    cells = query("select sum(u.a) - sum(u.b) as more from u", {"u": both}).group_by(*keys)
    return query(
        "select coalesce(sum(c.more) filter (where c.more > 0), 0)::bigint as missing_people"
        " from c",
        {"c": cells},
    )


def _not_contained(
    spec: ReleaseSpec, relation: Relation, row: Mapping[str, Any]
) -> PganonError | None:
    missing = row[MISSING.column]
    if not missing or not any(isinstance(r.model, Presence) for r in spec.in_population):
        return None
    return PreconditionError(
        f"{not_contained(spec, missing)}; the chance to be in the table is about people of the"
        " population",
        hint=f"add them to {relation.name}, or leave them out with `where`",
        code=ErrorCode.NOT_IN_POPULATION,
    )


def not_contained(spec: ReleaseSpec, missing: int) -> str:
    """That somebody of the source is nobody of the population."""
    assert spec.population is not None
    records = "1 record is" if missing == 1 else f"{missing} records are"
    return (
        f"{records} of nobody in {spec.population.name}: no one there has their quasi-identifiers"
    )


# -- where values are in hierarchies ---------------------------------------------------------------


def _place_steps(spec: ReleaseSpec, attribute: Attribute) -> Sequence[Step]:
    """The table :func:`pganon.encode.work.place` of a column with a hierarchy."""
    if attribute.scale is not Scale.TREE:
        return []
    i, name = attribute.index, quote(attribute.column.name)
    declared = spec.policy.columns[attribute.column.name]
    assert declared.hierarchy is not None
    assert spec.population is not None
    return [
        CreateTable(
            f"unlisted{i}",
            f"values of {name} that the source lacks",
            lambda s: s.work(f"unlisted{i}"),
            lambda s: _unlisted(attribute, s),
        ),
        *hierarchy_steps(
            f"u{i}",
            declared.hierarchy,
            lambda s: s.work(f"unlisted{i}"),
            leaf_kind(declared.hierarchy, declared.type, attribute.value_type),
            spec.base_dir,
            f"{name} in {spec.population.name}",
            partial=True,
        ),
        CreateTable(
            f"place{i}",
            f"where values of {name} are in the hierarchy",
            lambda s: s.work(place(i)),
            lambda s: _places(attribute, s),
        ),
        DropTables(
            "tidy",
            "labels of values that the source lacks",
            lambda s: [s.work(f"unlisted{i}"), s.work(f"tree_u{i}")],
        ),
    ]


def _unlisted(attribute: Attribute, state: State) -> exp.Select:
    name = f"q{attribute.index}"
    bad = infinite(attribute.column, name)
    values = query(
        "select :v as value, sum(t.n)::bigint as n from t where :v is not null",
        {"t": state.work(POPULATION)},
        v=col(name, "t"),
    )
    values = values if bad is None else values.where(exp.not_(exp.paren(bad)))
    return query(
        "select v.value, v.n from v left join d on d.value = v.value where d.code is null",
        {
            "v": values.group_by(col(name, "t")),
            "d": state.work(dictionary(attribute.index)),
        },
    )


def _places(attribute: Attribute, state: State) -> exp.Select:
    i = attribute.index
    tree = state.work(ancestors(i))
    own = query(
        "select d.value, d.code, 0 as level, p.path from d join p on p.code = d.code",
        {
            "d": state.work(dictionary(i)),
            "p": query(
                "select t.code, array_agg(t.label order by t.level) as path from t group by t.code",
                {"t": tree},
            ),
        },
    )
    flat = query(
        "select u.*, x.place - 1 as level, x.label from u"
        " cross join lateral unnest(u.labels) with ordinality as x(label, place)",
        {"u": state.work(f"tree_u{i}")},
    )
    labels = query(
        "select t.level, t.label, min(t.code) as code from t where t.level > 0"
        " group by t.level, t.label",
        {"t": tree},
    )
    if attribute.ranged:
        ends = [fragment("min(t.lower) as lower"), fragment("max(t.upper) as upper")]
        labels = labels.select(*ends)
    shared = query(
        "select f.value, f.labels, l.code, l.level, row_number()"
        " over (partition by f.value order by l.level nulls last) as number"
        " from f left join l on l.level = f.level and l.label = f.label"
        " and (l.level < cardinality(f.labels) - 1 or :inside)",
        {"f": flat, "l": labels},
        inside=_in_highest(attribute),
    )
    others = query(
        "select s.value, s.code, s.level, s.labels as path from s where s.number = 1",
        {"s": shared},
    )
    return stacked([own, others])


def _in_highest(attribute: Attribute) -> exp.Expr:
    """Whether a value `f` is in the highest range `l`, which ends where the source's values do."""
    if not attribute.ranged:
        return exp.true()
    if attribute.domain is not None:
        return exp.not_(exp.paren(external(attribute, col("value", "f"))))
    return fragment(
        "f.lowers[cardinality(f.lowers) - 1] >= l.lower"
        " and f.uppers[cardinality(f.uppers) - 1] <= l.upper"
    )
