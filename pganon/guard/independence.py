"""Versions that tell of the same columns, where the policy takes others to be independent (T3).

If versions share only quasi-identifiers, and a belief makes their other columns independent, worlds
and belief are products: what one version tells of its columns, no other changes. So versions that
share a column, or have columns that are associated, make a *component*, and what a reader can learn
of a column follows from the groups of its component. Association is measured on the people whom
versions have in common. That finds what is plain to see, and is no guarantee.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlglot import exp

from pganon.association import Associated, associations, dependencies, values
from pganon.guard.told import Tell
from pganon.guard.told_values import own_values
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import Facts, count, label

LIMIT = 0.1
"""Corrected V above which columns are associated, as for buckets that are linked by numbers."""


@dataclass(frozen=True)
class Compared:
    """The columns of a version.

    Attributes:
        remembered: those of which the guard remembers values.
        quasi: quasi-identifiers.
        others: all else that it shows, of which no value is remembered.
        known: whether nothing else was shown.
    """

    remembered: frozenset[str]
    quasi: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    known: bool = True

    @property
    def told(self) -> bool:
        """Whether all that it says of people, beside quasi-identifiers, can be compared."""
        return self.known and not self.others

    def shares(self, other: Compared) -> bool:
        """Whether both show a column that is no quasi-identifier in one of them."""
        if not (self.told and other.told):
            return True
        return bool(
            self.remembered & (other.remembered | other.quasi) or self.quasi & other.remembered
        )


def shown_by(
    columns: Mapping[str, str], remembered: Iterable[str], *, known: bool = True
) -> Compared:
    """Of a version with columns of these roles."""
    kept = frozenset(remembered)
    quasi = frozenset(name for name, role in columns.items() if role == "quasi_identifying")
    hidden = {name for name, role in columns.items() if role in ("identifying", "individual")}
    return Compared(kept, quasi, frozenset(columns) - kept - quasi - hidden, known)


Pair = tuple[str, str]
"""Two columns, in the order of their names."""


def unshared(versions: Sequence[Compared]) -> tuple[Pair, ...]:
    """Columns of different components: whether they are associated has to be measured."""
    found = components(versions, ())
    names = [frozenset().union(*(versions[i].remembered for i in one)) for one in found]
    pairs = {(min(a, b), max(a, b)) for x, y in combinations(names, 2) for a in x for b in y}
    return tuple(sorted(pairs))


def components(
    versions: Sequence[Compared], associated: Collection[Pair]
) -> tuple[frozenset[int], ...]:
    """Places of versions that share columns or have associated ones, by component."""
    found = [frozenset([place]) for place in range(len(versions))]
    for i, j in combinations(range(len(versions)), 2):
        if _joined(versions[i], versions[j], associated):
            one, other = (next(c for c in found if place in c) for place in (i, j))
            if one != other:
                found = [c for c in found if c not in (one, other)] + [one | other]
    return tuple(found)


def _joined(one: Compared, other: Compared, associated: Collection[Pair]) -> bool:
    return one.shares(other) or any(
        (min(a, b), max(a, b)) in associated for a in one.remembered for b in other.remembered
    )


# -- association ----------------------------------------------------------------------------------

_NUMBER = r"^(=-?[0-9]+(\.[0-9]+)?)?$"
_TIME = "^(=[0-9]{4}-[0-9]{2}-[0-9]{2}.*)?$"
"""Values as texts, where NULL is empty; these are on a line."""


def association_steps(
    told: Sequence[Tell], secret: exp.Select, pairs: Sequence[Pair], part: int = 0
) -> tuple[Step, ...]:
    """Measure how much columns have to do with each other.

    Args:
        told: what versions tell, the oldest first; of a person the newest values count.
        pairs: of columns that these versions remember.
        part: for names of tables and facts, where several audiences are judged.
    """
    names = sorted({name for pair in pairs for name in pair})
    return (
        CreateTable(
            "guard_told values",
            "the values that people had last, by column",
            lambda s: _values(s, part),
            lambda s: _coded([tell(s) for tell in told], secret, names),
        ),
        *(_measured(number, pair, names, part) for number, pair in enumerate(pairs)),
    )


def associated_pairs(pairs: Sequence[Pair], facts: Facts, part: int = 0) -> tuple[Pair, ...]:
    """Those of which one column tells of the other, or of which nobody has both."""
    return tuple(pair for number, pair in enumerate(pairs) if _tells(number, facts, part))


def _tells(number: int, facts: Facts, part: int) -> bool:
    people, association, determined = (facts[fact] for fact in _facts(number, part))
    found = max(values(association).values(), default=0)
    return people == 0 or found > LIMIT or bool(values(determined))


def _facts(number: int, part: int) -> tuple[Any, ...]:
    of = f"guard{part}_pair{number}_"
    return count("people", of), label("association", of), label("dependencies", of)


def _values(state: State, part: int) -> QualifiedName:
    """(person, col, code, on_line): codes are in the order of values; none on a line is NULL."""
    return state.work(f"told_newest{part}")


def _coded(told: Sequence[Any], secret: exp.Select, names: Sequence[str]) -> exp.Select:
    parts = [
        query("select o.*, :place as version from o", {"o": own}, place=num(place))
        for place, each in enumerate(told)
        if each.columns
        for own in [own_values(each, secret, lambda name: _number(names, name))]
    ]
    aged = query(
        "select o.*, rank() over (partition by o.person, o.col order by o.version desc) as age"
        " from o",
        {"o": stacked(parts)},
    )
    lines = query(
        "select a.person, a.col, a.value,"
        " bool_and(a.value ~ :number) over (partition by a.col) as numeric,"
        " bool_and(a.value ~ :time) over (partition by a.col) as timed"
        " from a where a.age = 1 and a.col > 0",
        {"a": aged},
        number=exp.Literal.string(_NUMBER),
        time=exp.Literal.string(_TIME),
    )
    return query(
        "select l.person, l.col, dense_rank() over (partition by l.col order by"
        " case when l.numeric then nullif(substr(l.value, 2), '')::numeric end,"
        ' l.value collate "C") as code,'
        " (l.numeric or l.timed) and l.value <> '' as on_line from l",
        {"l": lines},
    )


def _number(names: Sequence[str], name: str) -> int:
    """Of a column; 0 for one that nobody asks for."""
    return names.index(name) + 1 if name in names else 0


def _measured(number: int, pair: Pair, names: Sequence[str], part: int) -> Step:
    def select(state: State) -> exp.Select:
        both = _both(_values(state, part), *(_number(names, name) for name in pair))
        columns = [_column(name, side) for name, side in zip(pair, "xy", strict=True)]
        people = query("select count(distinct b.person) from b", {"b": both})
        return query("select 1 as n").select(
            named(scalar(people), "people"),
            named(scalar(associations(both, columns, [(0, 1)])), "association"),
            named(scalar(dependencies(both, columns)), "dependencies"),
            append=False,
        )

    return Check(
        "guard_told association",
        f"whether {pair[0]} and {pair[1]} tell of each other",
        select,
        gives=list(_facts(number, part)),
    )


def _both(values: QualifiedName, one: int, other: int) -> exp.Select:
    """SELECT person, x, y and whether these are on a line, of who has values of both columns."""
    return query(
        "select a.person, a.code as x, b.code as y, a.on_line as x_line, b.on_line as y_line"
        " from a join v as b on b.person = a.person where a.col = :one and b.col = :other",
        {"a": values, "v": values},
        one=num(one),
        other=num(other),
    )


def _column(name: str, side: str) -> Associated:
    line = fragment(
        "case when :line then :code::float8 end", line=col(f"{side}_line", "t"), code=col(side, "t")
    )
    return Associated(name, col(side, "t"), line)
