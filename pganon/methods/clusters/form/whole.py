"""Figures of clusters of a release that grows, from the relations of all its increments.

cluster_codes   (cluster_no, n, c<i>)   as in a run, of all clusters
support<s>      (v1, v2, ..)            combinations that exist: in the source, or when an
                increment was made
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.work import dictionary
from pganon.forms.elements import element
from pganon.forms.facts import losses
from pganon.forms.form import ExactGroups, Relations, Whole
from pganon.identifiers import QualifiedName
from pganon.methods.clusters.form.staging import REFERENCE, counts_supported, value_key
from pganon.methods.clusters.form.utility import (
    CONSTANTS,
    further_chains,
    utility,
    with_constants,
)
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive
from pganon.metrics import exact, loss
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.resolved import increments
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, num, query, stacked
from pganon.steps import Check, CreateTable, State, Step

CLUSTERS = "clusters"
Published = Callable[[State], Relations]


def _columns(spec: ReleaseSpec, state: State) -> dict[str, list[str]]:
    found = {CLUSTERS: [CLUSTER_NO, *[a.published for a in spec.attributes], SIZE]}
    if counts_supported(spec):
        width = max(map(len, spec.qs_sets.values()))
        found[REFERENCE] = ["attribute_set", *[f"v{place + 1}" for place in range(width)]]
    return found


def _sizes(spec: ReleaseSpec, state: State, tables: Relations) -> exp.Select:
    return query(
        "select 0 as place, c.cluster_no as number, :n as n from c",
        {"c": tables[CLUSTERS]},
        n=col(SIZE, "c"),
    )


def _values(spec: ReleaseSpec, state: State, tables: Relations, attribute: Attribute) -> exp.Select:
    return query(
        "select 0 as place, c.cluster_no as number, unnest(:held) as value from c",
        {"c": tables[CLUSTERS]},
        held=col(attribute.published, "c"),
    )


def _measures(
    spec: ReleaseSpec, tables: Published, lost: Callable[[State], QualifiedName]
) -> Sequence[Step]:
    def sizes(state: State) -> exp.Expr:
        rows = query("select l.* from l", {"l": lost(state)})
        tree = loss.basic(spec, rows, state, lost=loss.known_loss)
        return with_constants(spec, tree, state)

    context = QuasiSensitive(spec)
    codes = CreateTable(
        "cluster_codes",
        "codes of every cluster",
        lambda s: s.work("cluster_codes"),
        lambda s: _codes(spec, lost(s), s),
    )
    support = [
        CreateTable(
            f"support{number}",
            f"combinations of set {number} that exist",
            lambda s, number=number: context.support(s, number),
            lambda s, number=number, of=attributes: _support(spec, number, of, tables(s), s),
        )
        for number, attributes in enumerate(spec.qs_sets.values(), start=1)
    ]
    basic = Check(
        "utility",
        "loss and sizes of all clusters",
        sizes,
        gives=[*losses(spec), CONSTANTS],
    )
    further = [step for chain in further_chains(context) for step in chain]
    return [codes, *support, basic, *further]


def _codes(spec: ReleaseSpec, lost: QualifiedName, state: State) -> exp.Select:
    tree = query("select l.group_id as cluster_no, l.n from l", {"l": lost})
    for axis in axes(spec.attributes):
        alias = f"a{axis.index}"
        arrays = query(
            "select x.number, array_agg(:code order by :code) as held from x group by x.number",
            {"x": exact.codes(axis, state)},
            code=col(axis.code, "x"),
        )
        tree = tree.join(
            aliased(arrays, alias), on=fragment(":n = l.group_id", n=col("number", alias))
        )
        tree = tree.select(named(col("held", alias), axis.code))
    return tree


def _support(
    spec: ReleaseSpec,
    number: int,
    attributes: Sequence[Attribute],
    tables: Relations,
    state: State,
) -> exp.Select:
    """SELECT v1, v2, .. of the numbers of values."""
    context = QuasiSensitive(spec)
    source = query("select distinct 1 from w", {"w": state.outer.work(increments.WHOLE)}).select(
        *[
            named(value_key(element(a, col(f"q{a.index}", "w"))), f"v{place + 1}")
            for place, a in enumerate(attributes)
        ],
        append=False,
    )
    parts = [source]
    if REFERENCE in tables:
        kept = query(
            "select 1 from r where r.attribute_set = :set",
            {"r": tables[REFERENCE]},
            set=num(number),
        )
        names = [col(f"v{place + 1}", "r") for place in range(len(attributes))]
        parts.append(kept.select(*names, append=False))
    tree = query("select distinct 1 from u", {"u": stacked(parts)}).select(append=False)
    for place, attribute in enumerate(attributes):
        alias = f"d{place}"
        code = context.value_number(state, attribute.index, col("code", alias))
        key = value_key(element(attribute, col("value", alias)))
        tree = tree.join(
            aliased(state.work(dictionary(attribute.index)), alias),
            on=exp.EQ(this=key, expression=col(f"v{place + 1}", "u")),
        )
        tree = tree.select(named(code, f"v{place + 1}"), append=place > 0)
    return tree


WHOLE = Whole(
    columns=_columns,
    shown=ExactGroups(_sizes, _values),
    measures=_measures,
    utility=utility,
)
