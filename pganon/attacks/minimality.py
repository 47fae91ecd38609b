"""The attacker who knows the method, and the quasi-identifiers of everybody in a group.

Every SELECT is about groups that are classes, of a staged release.

cells      (cell, class_id, codes, w): the quasi-identifiers of members, as codes
known      (t, class_id, cell): targets that somebody in a group has the quasi-identifiers of
rows       (class_id, k<j>, w): what the members of the targets' groups have, values as numbers
places     (class_id, cell, attr, pos): see :class:`pganon.methods.common.minimality.Minimality`
told       (cell, item, k, score): shares of values in the worlds that remain
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from sqlglot import exp

from pganon.attacks.worlds import Condition, Group, remaining
from pganon.encode.axis import axes
from pganon.encode.combination import cell_columns
from pganon.encode.work import CODED
from pganon.forms.elements import own_value
from pganon.forms.work import GROUPED_CLASSES
from pganon.identifiers import QualifiedName
from pganon.methods.common.minimality import Minimality
from pganon.resolved.guarantee import decides_by_values
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, conjunction, equal, fragment, named, num, query
from pganon.steps import State

Table = QualifiedName

UNTOLD = "groups are made without sensitive values, so it tells nothing"
UNKNOWN = "the worlds that remain under this method are not enumerated"

TOLD = (("cell", "bigint"), ("item", "integer"), ("k", "integer"), ("score", "float8"))


def unmeasured(spec: ReleaseSpec, minimality: Minimality | None) -> str | None:
    """Why the attack is not measured of releases of a policy; None where it is."""
    if not decides_by_values(spec):
        return UNTOLD
    return UNKNOWN if minimality is None else minimality.unmeasured(spec)


def cells(spec: ReleaseSpec, state: State) -> exp.Select:
    """All classes, as they are encoded."""
    codes = [axis.code for axis in axes(spec.attributes)]
    counted = query(
        "select g.class_id, count(*) as w from c join g on :same",
        {"c": state.work(CODED), "g": state.work(GROUPED_CLASSES)},
        same=equal(cell_columns(spec, state), "g", "c"),
    )
    by = [col(name, "g") for name in ("class_id", *codes)]
    counted = counted.select(*by[1:]).group_by(*[one.copy() for one in by])
    order = [exp.Ordered(this=col(name, "n")) for name in ("class_id", *codes)]
    number = exp.Window(
        this=exp.func("row_number", dialect="postgres"), order=exp.Order(expressions=order)
    )
    return query("select n.* from n", {"n": counted}).select(named(number, "cell"))


def known(spec: ReleaseSpec, state: State, cells: Table, targets: Table) -> exp.Select:
    """Values that nobody in the release has are no codes, so they are in no cell."""
    tree = query("select t.t, c.class_id, c.cell from t", {"t": targets})
    same: list[exp.Expr] = []
    for axis in axes(spec.attributes):
        i, alias = axis.index, f"d{axis.index}"
        on = exp.EQ(this=col("value", alias), expression=col(f"q{i}", "t"))
        tree = tree.join(aliased(axis.dictionary(state), alias), on=on, join_type="left")
        same.append(
            fragment(
                ":c = case when :q is null then 0 else :code end",
                c=col(axis.code, "c"),
                q=col(f"q{i}", "t"),
                code=col("code", alias),
            )
        )
    return tree.join(aliased(cells, "c"), on=conjunction(same))


def rows(spec: ReleaseSpec, state: State, known: Table, values: Sequence[Table]) -> exp.Select:
    """Args: values: (v, k) of every sensitive column, its values by number."""
    tree = query(
        "select g.class_id, count(*) as w from c join g on :same",
        {"c": state.work(CODED), "g": state.work(GROUPED_CLASSES)},
        same=equal(cell_columns(spec, state), "g", "c"),
    )
    numbers: list[exp.Expr] = []
    for item, table in zip(spec.sensitive, values, strict=True):
        alias = f"n{item.index}"
        on = exp.EQ(this=col("v", alias), expression=own_value(item, "c"))
        tree = tree.join(aliased(table, alias), on=on)
        numbers.append(col("k", alias))
    attacked = query("select k.class_id from k", {"k": known})
    tree = tree.where(exp.In(this=col("class_id", "g"), query=attacked.subquery()))
    return tree.select(
        *[named(n, f"k{i.index}") for n, i in zip(numbers, spec.sensitive, strict=True)]
    ).group_by(col("class_id", "g"), *[number.copy() for number in numbers])


def numbered(hist: Table) -> exp.Select:
    """SELECT v, k: the values of a column by number from 0."""
    return query(
        'select v.v, (row_number() over (order by v.v collate "C") - 1)::int as k from v',
        {"v": query("select distinct h.v from h", {"h": hist})},
    )


def attacked_cells(cells: Table, known: Table) -> exp.Select:
    """The cells of groups with a target."""
    return query(
        "select c.* from c where c.class_id in (select k.class_id from k)",
        {"c": cells, "k": known},
    )


@dataclass(frozen=True)
class Attacker:
    """What is computed of worlds outside the server, of numbers alone."""

    spec: ReleaseSpec
    minimality: Minimality
    seed: int

    def told(
        self,
        cells: Iterable[tuple[int, int, int]],
        places: Iterable[tuple[int, int, int, int]],
        rows: Iterable[Sequence[int]],
    ) -> Iterator[tuple[int, int, int, float]]:
        """Rows of `told` from (class_id, cell, w), from (class_id, attr, cell, pos) and from
        (class_id, w, numbers of values), all in order."""
        held = {g: list(found) for g, found in groupby(rows, key=lambda row: row[0])}
        placed = {g: list(found) for g, found in groupby(places, key=lambda row: row[0])}
        for g, members in groupby(cells, key=lambda row: row[0]):
            found = list(members)
            positions: dict[int, list[int]] = {}
            for _, attr, _, pos in placed[g]:
                positions.setdefault(attr, []).append(pos)
            group = Group(
                [w for _, _, w in found],
                positions,
                [(tuple(values), w) for _, w, *values in held[g]],
            )
            draw = np.random.default_rng((self.seed, g))
            shares = remaining(group, self.spec.minimum_size, self._conditions, draw)
            for (_, cell, _), by_column in zip(found, shares or (), strict=False):
                for item, by_value in zip(self.spec.sensitive, by_column, strict=True):
                    yield from ((cell, item.index, k, share) for k, share in by_value.items())

    @property
    def _conditions(self) -> list[Condition]:
        places = {item.index: place for place, item in enumerate(self.spec.sensitive)}
        return [
            Condition(places[requirement.sensitive], self.minimality.holds(requirement.model))
            for requirement in self.spec.requirements
            if requirement.sensitive is not None
        ]


def in_order(table: Table, *columns: str) -> exp.Select:
    """SELECT these columns in their order."""
    names = [col(name, "t") for name in columns]
    tree = query("select 1 from t", {"t": table}).select(*names, append=False)
    return tree.order_by(*[name.copy() for name in names])


def scored(item: Sensitive, known: Table, told: Table, values: Table) -> exp.Select:
    """SELECT t, v, score of the targets of whom something is told."""
    return query(
        "select k.t, v.v, s.score from k join s on s.cell = k.cell and s.item = :item"
        " join v on v.k = s.k",
        {"k": known, "s": told, "v": values},
        item=num(item.index),
    )
