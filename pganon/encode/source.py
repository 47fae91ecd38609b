"""Whether an earlier version was made from the same source.

The fingerprint is a keyed hash of the rows that were read as a multiset, of their columns and
types, and of everything else in the database that decides groups: hierarchies from tables or
functions, public combinations, priors, and the population. Its key is the installation's, so it can
be compared with the fingerprint of every other version, of any release.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.catalog.model import Column, ExternalObjects, Relation
from pganon.catalog.values import equal_key, stored
from pganon.encode.distribution import beside_source
from pganon.encode.population import population_row, population_steps
from pganon.encode.public import public_steps, public_table
from pganon.encode.records import TIMES, keys, snapshot_row, unhashed
from pganon.encode.related import read_row, read_tables
from pganon.encode.secrets import SECRETS, installation_secret, row_sums
from pganon.encode.snapshot import canonical
from pganon.encode.work import POPULATION, PRIOR, SNAP, WEIGHT, place
from pganon.errors import PganonError
from pganon.identifiers import QualifiedName
from pganon.policy.hierarchies import FunctionHierarchy, TableHierarchy
from pganon.policy.knowledge import PROBABILITY
from pganon.resolved.model import Attribute, ReleaseSpec, Scale
from pganon.resolved.republication import Earlier, Prints, Republication
from pganon.sqltools import aliased, cast, col, fragment, named, num, query, scalar, text
from pganon.steps import Check, CreateTable, State, Statement, Step
from pganon.steps.facts import Fact, Facts, count, digest, or_null

_PLAIN = or_null(digest("source_plain"))
_ROWS = or_null(digest("source_rows"))
_WHOLE = or_null(digest("source_whole"))
_OTHERS = "source_other"
_PRIOR = digest(f"{_OTHERS}_prior")
_POPULATION = digest(f"{_OTHERS}_population")
_AVERAGED = digest(f"{_OTHERS}_averaged")


def source_check(spec: ReleaseSpec) -> Check:
    """Fact about the rows of the snapshot; it needs nothing else."""

    further = unhashed(spec, "t")

    def select(state: State) -> exp.Expr:
        placed = beside_source(spec) is not None
        sums = row_sums(
            state.work(SNAP),
            snapshot_row(spec, "t"),
            keys(spec, "t"),
            further=further,
            times=col(TIMES, "t") if spec.counted else None,
            in_shards=placed,
        )
        columns = _signature(spec)
        keyed = _signature(spec, [list(spec.record_key), spec.partition.get("individual")])
        return query("select 1 from x", {"x": sums}).select(
            named(_of_sums(columns, "sum"), _PLAIN.column),
            named(_of_sums(keyed, "keyed"), _ROWS.column),
            *([named(_of_sums(keyed, "whole"), _WHOLE.column)] if further else []),
            append=False,
        )

    gives = [_PLAIN, _ROWS, *([_WHOLE] if further else [])]
    return Check("source", "fingerprint of the source", select, _secret_missing, gives=gives)


def decision_steps(spec: ReleaseSpec, republication: Republication | None) -> tuple[Step, ...]:
    """The fingerprint compared with those of earlier versions, and the groups of one taken over.

    After the trees of hierarchies were made, and before anything is drawn at random.
    """
    decide = Check(
        "republication",
        "the source compared with that of earlier versions",
        lambda state: _others(spec, state),
        lambda row, state: (
            republication.after_reading(prints_of(spec, state.facts)) if republication else None
        ),
        gives=[
            count("nothing", "source_"),
            *_other_facts(spec),
            *([_AVERAGED] if spec.shows_means else []),
        ],
    )
    steps: list[Step] = [*public_steps(spec), *reading_steps(spec), *population_steps(spec), decide]
    if republication is not None and republication.candidates:
        steps.append(_inheritance(spec, republication))
    return tuple(steps)


def source_fingerprint(spec: ReleaseSpec, facts: Facts) -> bytes:
    """32 bytes, once :func:`decision_steps` observed it; 32 more where hashes leave something out.

    Those of earlier programs end before, see :func:`pganon.resolved.republication.same_source`.
    """
    others = sorted(_other_facts(spec), key=lambda fact: fact.name)
    parts = [facts[_ROWS] or b"", *(facts[fact] for fact in others)]
    return hashlib.sha256(b"".join(parts)).digest() + (facts.get(_WHOLE) or b"")


def prints_of(spec: ReleaseSpec, facts: Facts) -> Prints:
    """That, and 32 bytes of the rows alone."""
    return Prints(source_fingerprint(spec, facts), facts[_PLAIN] or b"")


def averaged_print(spec: ReleaseSpec, facts: Facts) -> str | None:
    """Of what means are taken of, which decides no groups: other weights are shown by the same."""
    return facts[_AVERAGED].hex() if spec.shows_means else None


def others_of(spec: ReleaseSpec, facts: Facts) -> dict[tuple[str, str], bytes]:
    """Digests of what else it has, by use and name; a public table and a prior by their relation.

    Policies that name other relations have others. Those of a `tree` are of labels of the values
    that there are.
    """
    trees = {("tree", name): _tree_fact(n) for n, name in enumerate(_given_trees(spec))}
    public = {
        (f"public {name}", str(spec.public[name].name)): _public_fact(number)
        for number, name in enumerate(sorted(spec.public))
    }
    prior = {("prior", str(spec.prior.name)): _PRIOR} if spec.prior and spec.background else {}
    people = {}
    if spec.population is not None:
        name = str(spec.population.name)
        people = {("tree", f"{a.index} in {name}"): _place_fact(a) for a in _given_places(spec)}
        people |= {("population", name): _POPULATION}
    tables = {("table", name): _table_fact(name) for name in read_tables(spec)}
    return {key: facts[fact] for key, fact in (trees | public | prior | people | tables).items()}


def assumed_fingerprint(spec: ReleaseSpec) -> bytes:
    """That of the source that `explain` assumes."""
    facts = (_ROWS, *_other_facts(spec))
    return source_fingerprint(spec, Facts().observing({fact: fact.assumed for fact in facts}))


def repeated(
    spec: ReleaseSpec, republication: Republication | None, facts: Facts
) -> Earlier | None:
    """The earlier version with the same groups."""
    return republication.repeated(source_fingerprint(spec, facts)) if republication else None


def _inheritance(spec: ReleaseSpec, republication: Republication) -> Statement:
    def render(state: State) -> sql.Composed:
        earlier = repeated(spec, republication, state.facts)
        assert earlier is not None
        return sql.SQL(
            "UPDATE {secrets} AS s SET partition_seed = p.partition_seed FROM {secrets} AS p"
            " WHERE s.run_id = {run} AND p.run_id = {earlier}"
        ).format(
            secrets=SECRETS.identifier,
            run=sql.Literal(state.run_id),
            earlier=sql.Literal(earlier.run_id),
        )

    return Statement(
        "inherit",
        "an unchanged source keeps its groups: the seed of the earlier version",
        render,
        when=lambda state: repeated(spec, republication, state.facts) is not None,
    )


def _signature(spec: ReleaseSpec, key: Sequence[Any] = ()) -> str:
    """Names and types of the snapshot's columns: rows of others can have the same hash."""
    items = (*spec.attributes, *spec.sensitive, *spec.carried)
    # An enum is text here, and the order of its labels decides groups.
    columns = [[item.column.name, item.column.type_name, *item.column.labels] for item in items]
    return json.dumps([columns, *key], ensure_ascii=False)


def _others(spec: ReleaseSpec, state: State) -> exp.Expr:
    """One digest per tree that the database gives, and per set of public combinations."""
    tree = exp.select(named(num(0), "nothing"))
    for number, name in enumerate(_given_trees(spec)):
        row = exp.func("row", col("value", "t"), col("labels", "t"))
        digested = _digest(state.work(f"tree_{name}"), row, name, _tree_fact(number).column)
        tree = tree.select(digested)
    for number, name in enumerate(sorted(spec.public)):
        row = exp.func("row", *[col(f"q{a.index}", "t") for a in spec.qs_sets[name]])
        table = public_table(spec, name, state)
        tree = tree.select(_digest(table, row, name, _public_fact(number).column))
    if spec.prior is not None and spec.background is not None:
        names = [f"q{attribute.index}" for attribute in spec.attributes]
        row = exp.func("row", *[col(name, "t") for name in (*names, "value", "probability")])
        tree = tree.select(_digest(state.work(PRIOR), row, "prior", _PRIOR.column))
    if spec.population is not None:
        row = population_row(spec, "t")
        people = state.work(POPULATION)
        tree = tree.select(_digest(people, row, "population", _POPULATION.column))
    if spec.shows_means:
        beside = [*keys(spec, "t"), *([col(WEIGHT, "t")] if spec.averaged else [])]
        for item in spec.microaggregated:
            value = col(f"g{item.index}", "t")
            beside += [value, fragment(":v < 0", v=value)]  # the hash of a number has no sign
        sums = row_sums(state.work(SNAP), snapshot_row(spec, "t"), beside)
        weighed = query("select :digest from x", {"x": sums}, digest=_of_sums("", "keyed"))
        tree = tree.select(named(scalar(weighed), _AVERAGED.column))
    for a in _given_places(spec):
        row = exp.func("row", col("value", "t"), col("path", "t"))
        digested = _digest(state.work(place(a.index)), row, a.column.name, _place_fact(a).column)
        tree = tree.select(digested)
    for name in read_tables(spec):
        row, columns = read_row(spec, name)
        signature = json.dumps([name, columns], ensure_ascii=False)
        tree = tree.select(_digest(state.work(name), row, signature, _table_fact(name).column))
    return tree


def _other_facts(spec: ReleaseSpec) -> list[Fact[bytes]]:
    """Labels of the digests that :func:`_others` gives."""
    trees = [_tree_fact(number) for number, _ in enumerate(_given_trees(spec))]
    public = [_public_fact(number) for number, _ in enumerate(spec.public)]
    prior = [_PRIOR] if spec.prior and spec.background else []
    people = [_POPULATION, *map(_place_fact, _given_places(spec))] if spec.population else []
    return [*trees, *public, *prior, *people, *map(_table_fact, read_tables(spec))]


def _table_fact(name: str) -> Fact[bytes]:
    return digest(f"{_OTHERS}_{name}")


def _tree_fact(number: int) -> Fact[bytes]:
    return digest(f"{_OTHERS}_tree{number}")


def _public_fact(number: int) -> Fact[bytes]:
    return digest(f"{_OTHERS}_public{number}")


def _place_fact(attribute: Attribute) -> Fact[bytes]:
    return digest(f"{_OTHERS}_place{attribute.index}")


def _given_places(spec: ReleaseSpec) -> list[Attribute]:
    """Columns of which values of the population have labels that are not in the policy."""
    given = _given_trees(spec)
    counted = spec.attributes if spec.population else ()
    return [a for a in counted if a.scale is Scale.TREE and str(a.index) in given]


def _given_trees(spec: ReleaseSpec) -> list[str]:
    """Names of trees whose labels are not in the policy."""
    declared = [(str(a.index), a.column.name) for a in spec.attributes]
    declared += [(f"s{item.index}", item.column.name) for item in spec.sensitive]
    given = (TableHierarchy, FunctionHierarchy)
    return [
        name
        for name, column in declared
        if isinstance(spec.policy.columns[column].hierarchy, given)
    ]


def _digest(source: QualifiedName, row: exp.Expr, signature: str, name: str) -> exp.Expr:
    tree = query("select :digest from x", {"x": row_sums(source, row)}, digest=_of_sums(signature))
    return named(scalar(tree), name)


def _of_sums(signature: str, sums: str = "sum") -> exp.Expr:
    """The digest of one of the sums in a row `x` of :func:`row_sums`."""
    return fragment(
        f"sha256(:key || convert_to(:signature || ':' || x.row_count || ':' || x.{sums}_a"
        f" || ':' || x.{sums}_b, 'UTF8'))",
        key=scalar(installation_secret("key")),
        signature=text(hashlib.sha256(signature.encode()).hexdigest()),
    )


def _secret_missing(row: Mapping[str, Any], state: State) -> PganonError | None:
    if row[_ROWS.column] is None:
        return PganonError("the secret of the installation is missing")
    return None


# The prior of readers, given as a relation.
#
# It is copied once to :data:`pganon.encode.work.PRIOR`. So the source's fingerprint and the priors
# are about the same rows, and later changes of the relation do not count.


def reading_steps(spec: ReleaseSpec) -> list[CreateTable]:
    """Nothing where the policy names no relation, or priors may differ in any way."""
    relation = spec.prior
    if relation is None or spec.background is None:
        return []
    return [
        CreateTable(
            PRIOR.name,
            f"priors in {relation.name}",
            lambda s: s.work(PRIOR),
            lambda s: _rows(spec, relation),
            external=ExternalObjects((relation.name,)),
        )
    ]


def _rows(spec: ReleaseSpec, relation: Relation) -> exp.Expr:
    tree = exp.select().from_(aliased(relation.name, "src"))
    for attribute in spec.attributes:
        value = canonical(_column(relation, attribute.column.name))
        tree = tree.select(named(value, f"q{attribute.index}"))
    (item,) = spec.sensitive
    column = _column(relation, item.column.name)
    value = equal_key(column, stored(column, col(column.name, "src")))
    probability = canonical(_column(relation, PROBABILITY))
    return tree.select(named(value, "value"), named(cast(probability, "numeric"), PROBABILITY))


def _column(relation: Relation, name: str) -> Column:
    column = relation.column(name)
    assert column is not None  # the policy was resolved against the relation
    return column
