"""The tables of a release of clusters."""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.values import in_order
from pganon.encode.people import identity, owner_columns
from pganon.encode.secrets import keyed_hash
from pganon.encode.work import CODED, dictionary
from pganon.forms.elements import element, text_key
from pganon.forms.stored_relations import key_step, numbers, numbers_step, repeated, stored
from pganon.forms.work import ASSIGNED, QS_CELLS
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive, small_code_arrays
from pganon.methods.common.form.members import (
    cell_members,
    code_columns,
    members,
    members_step,
    people_steps,
    repeated_members,
)
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import aliased, cast, col, equal, fragment, named, num, query, union_all
from pganon.steps import Parallel, State, Step, staged, table
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA, StoredRelation

REFERENCE = "reference"


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; the table that views read comes first."""
    parts = [("clusters", DATA_SCHEMA), ("members", PRIVATE_SCHEMA)]
    if counts_supported(spec):
        parts.append((REFERENCE, PRIVATE_SCHEMA))
    return stored(state, parts)


def counts_supported(spec: ReleaseSpec) -> bool:
    """Whether the model counts only combinations that exist."""
    return QuasiSensitive(spec).model.counts_supported


def _distinguishes_records(spec: ReleaseSpec) -> bool:
    """Whether equal records have different identities or insensitive values."""
    return bool(spec.carried or spec.owners) or identity(spec) is not None


def staging_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """From `assigned` (gid, cell, n), `cells` and `coded` to the staged relations."""
    identities = [
        table("cluster_records", "the cluster of every record", lambda s: _cluster_records(spec, s))
    ]
    return (
        numbers_step(ASSIGNED, "random numbers for the clusters", CLUSTER_NO),
        table("cluster_cells", "the cells of every cluster", lambda s: _cluster_cells(spec, s)),
        *(identities if _distinguishes_records(spec) else ()),
        Parallel(
            "relations",
            "the relations of the release",
            [
                _cluster_steps(spec),
                [
                    members_step(
                        "cluster",
                        lambda s: _members(spec, s),
                    ),
                    *people_steps(spec, lambda s: _owned(spec, s), lambda s: [CLUSTER_NO]),
                ],
                *([[_reference_step(spec)]] if counts_supported(spec) else []),
            ],
        ),
    )


def _cluster_steps(spec: ReleaseSpec) -> list[Step]:
    bags = table(
        "bags",
        "insensitive values of every cluster, shuffled",
        lambda s: _bags(spec, s),
        inline=True,
    )
    return [
        table(
            "cluster_codes",
            "codes of every cluster",
            lambda s: small_code_arrays(
                code_columns(spec),
                s.work("cluster_cells"),
                CLUSTER_NO,
                fragment("sum(r.n)::bigint"),
            ),
        ),
        *[_value_arrays(attribute) for attribute in spec.attributes],
        *([bags] if spec.carried else []),
        staged(
            "clusters", "every cluster with the values of its records", lambda s: _clusters(spec, s)
        ),
        key_step("clusters", CLUSTER_NO),
    ]


def _reference_step(spec: ReleaseSpec) -> Step:
    return staged(
        REFERENCE,
        "combinations that exist, which supported ones are counted by",
        lambda s: _reference(spec, s),
    )


def _cluster_cells(spec: ReleaseSpec, state: State) -> exp.Expr:
    return query(
        "select n.gid, n.cluster_no, a.cell, a.n from a join n on n.gid = a.gid"
        " join c on c.cell = a.cell",
        {"a": state.work(ASSIGNED), "n": numbers(state, CLUSTER_NO), "c": state.work(QS_CELLS)},
    ).select(*[col(name, "c") for name in code_columns(spec)])


def _value_arrays(attribute: Attribute) -> Step:
    """(codes, members): the sorted array of values of every distinct set of codes."""
    i = attribute.index

    def select(state: State) -> exp.Expr:
        keys = query(
            "select distinct :codes as codes from c",
            {"c": state.work("cluster_codes")},
            codes=col(f"c{i}", "c"),
        )
        each = query("select k.codes, unnest(k.codes) as code from k", {"k": keys})
        return query(
            "select e.codes, array_agg(:value order by :place) as members"
            " from e join d on d.code = e.code group by e.codes",
            {"e": each, "d": state.work(dictionary(i))},
            value=element(attribute, col("value", "d")),
            place=in_order(attribute.column, col("value", "d")),
        )

    return table(f"arrays{i}", f"arrays of values for attribute {i + 1}", select, inline=True)


def _cluster_records(spec: ReleaseSpec, state: State) -> exp.Expr:
    """(cluster_no, rid): equal records of a cell are assigned to its clusters at random.

    The order depends only on `rid` and `gid`: another numbering of clusters must not move a record.
    """
    same = equal(code_columns(spec), "x", "c")
    numbered = query(
        "select x.cell, c.rid, row_number() over (partition by x.cell order by c.rid) as place"
        " from c",
        {"c": state.work(CODED)},
    ).join(aliased(state.work(QS_CELLS), "x"), on=same)
    spans = query(
        "select k.cell, k.cluster_no, k.n,"
        " sum(k.n) over (partition by k.cell order by k.gid) as last from k",
        {"k": state.work("cluster_cells")},
    )
    return query(
        "select s.cluster_no, r.rid from r join s on s.cell = r.cell"
        " and r.place > s.last - s.n and r.place <= s.last",
        {"r": numbered, "s": spans},
    )


def _bags(spec: ReleaseSpec, state: State) -> exp.Expr:
    tree = query(
        "select r.cluster_no from r join c on c.rid = r.rid group by r.cluster_no",
        {"r": state.work("cluster_records"), "c": state.work(CODED)},
    )
    for item in spec.carried:
        # Each column is shuffled separately, so that equal places do not link values.
        hashed = keyed_hash(state, fragment(":i || ':' || c.rid", i=num(item.index)))
        bag = fragment("array_agg(:v order by :hash)", v=col(f"p{item.index}", "c"), hash=hashed)
        tree.select(named(bag, f"p{item.index}"), copy=False)
    return tree


def _clusters(spec: ReleaseSpec, state: State) -> exp.Expr:
    tree = query("select k.cluster_no from k", {"k": state.work("cluster_codes")})
    for attribute in spec.attributes:
        alias = f"a{attribute.index}"
        table = aliased(state.work(f"arrays{attribute.index}"), alias)
        on = exp.EQ(this=col("codes", alias), expression=col(f"c{attribute.index}", "k"))
        array = cast(col("members", alias), attribute.published_type)
        tree = tree.join(table, on=on).select(named(array, attribute.published))
    if spec.carried:
        bags = aliased(state.work("bags"), "b")
        tree = tree.join(bags, on=fragment("b.cluster_no = k.cluster_no"))
    for item in spec.carried:
        bag = cast(col(f"p{item.index}", "b"), f"{item.column.stored_type}[]")
        tree.select(named(bag, item.published), copy=False)
    return tree.select(named(col("n", "k"), SIZE)).order_by(col(CLUSTER_NO, "k"))


def _owned(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT cluster_no, and whose every record may be."""
    tree = query("select g.cluster_no from c", {"c": state.work(CODED)})
    tree = tree.join(aliased(state.work("cluster_records"), "g"), on=equal(["rid"], "g", "c"))
    return tree.select(*[col(name, "c") for name in owner_columns(spec)])


def _members(spec: ReleaseSpec, state: State) -> exp.Expr:
    person = identity(spec)
    if person is not None:
        records = state.work("cluster_records")
        tree = query("select g.cluster_no from c", {"c": state.work(CODED)})
        tree = tree.join(aliased(records, "g"), on=equal(["rid"], "g", "c")).select(
            col(person, "c")
        )
        for attribute in spec.attributes:
            i, alias = attribute.index, f"d{attribute.index}"
            table = aliased(state.work(dictionary(i)), alias)
            on = exp.EQ(this=col("code", alias), expression=col(f"c{i}", "c"))
            value = text_key(element(attribute, col("value", alias)))
            tree = tree.join(table, on=on).select(named(value, f"value{i}"))
        values = [col(f"value{attribute.index}", "g") for attribute in spec.attributes]
        tree = tree.select(*[col(f"p{item.index}", "c") for item in spec.carried])
        return members(spec, state, tree, {CLUSTER_NO: CLUSTER_NO}, values)
    records, cells = state.work(CODED), state.work("cluster_cells")
    return cell_members(spec, state, records, cells, CLUSTER_NO, code_columns(spec))


def value_key(value: exp.Expr) -> exp.Expr:
    """A published value as a text that is never NULL."""
    return fragment(':key collate "C"', key=text_key(value))


def _reference(spec: ReleaseSpec, state: State) -> exp.Expr:
    """(attribute_set, v1, v2, ..): combinations of every set, values as text keys."""
    context = QuasiSensitive(spec)
    width = max(len(attributes) for attributes in spec.qs_sets.values())
    parts: list[exp.Select] = []
    for number, attributes in enumerate(spec.qs_sets.values(), start=1):
        tree = query(
            "select :set::smallint as attribute_set from s",
            {"s": context.support(state, number)},
            set=num(number),
        )
        for place in range(1, width + 1):
            if place > len(attributes):
                tree = tree.select(named(cast(exp.null(), "text"), f"v{place}"))
                continue
            attribute, alias = attributes[place - 1], f"d{place}"
            value = element(attribute, col("value", alias))
            code = context.value_number(state, attribute.index, col("code", alias))
            tree = tree.select(named(value_key(value), f"v{place}")).join(
                aliased(state.work(dictionary(attribute.index)), alias),
                on=exp.EQ(this=exp.paren(code), expression=col(f"v{place}", "s")),
            )
        parts.append(tree)
    return union_all(parts)


def duplicate_keys(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    """Duplicate keys, and cells with another number of records than in all clusters together.

    Records in several clusters, too, where records are distinguished.
    """
    cells = state.work(QS_CELLS)
    assigned = query(
        "select 1 as repeated from c full join"
        " (select a.cell, sum(a.n) as n from a group by a.cell) as x on x.cell = c.cell"
        " where c.w is distinct from x.n",
        {"c": cells, "a": state.work(ASSIGNED)},
    )
    several = (
        [repeated(state.work("cluster_records"), "rid")] if _distinguishes_records(spec) else []
    )
    return [
        assigned,
        *several,
        repeated(cells, "cell"),
        repeated(cells, *code_columns(spec)),
        repeated(numbers(state, CLUSTER_NO), "gid"),
        *repeated_members(spec, state),
    ]
