"""Figures of the groups of related tables, which every run computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlglot import exp

from pganon.forms.sentences import Told, count, share, told
from pganon.forms.utility import ClassUtility, Utility, class_utility
from pganon.forms.work import class_groups
from pganon.methods.related.groups import facts_table
from pganon.methods.related.staging import group_part
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.tables import Events, Partition, Related
from pganon.sqltools import in_one_row, num, query, scalar
from pganon.steps import Check, State, Step
from pganon.steps import facts as observed


@dataclass(frozen=True)
class Groups:
    """Groups of classes in which tables have their values.

    Attributes:
        limited: those that have people enough to be divided, and are not because of another rule.
    """

    groups: int
    smallest: int
    largest: int
    limited: int


@dataclass(frozen=True)
class RelatedUtility(ClassUtility):
    """Utility and risk of classes, and figures of the groups of other tables.

    Attributes:
        partitions: by part of the release.
        one_person: by table the largest share of its values of a group that are one person's.
    """

    partitions: dict[str, Groups]
    one_person: dict[str, float]

    @classmethod
    def recorded(cls, document: Mapping[str, Any]) -> Self:
        # Versions that were published before groups were measured have no figures of them.
        read = {"partitions": {}, "one_person": {}, **document}
        read["partitions"] = {n: Groups(**found) for n, found in read["partitions"].items()}
        return super().recorded(read)

    def summary(self) -> dict[str, str]:
        return {**super().summary(), **self._groups}

    def details(self) -> dict[str, str]:
        return {**super().details(), **self._groups}

    @property
    def _groups(self) -> dict[str, str]:
        return {
            **{
                part: f"{found.groups} of {found.smallest} to {found.largest} people,"
                f" {found.limited} limited by a rule rather than by size"
                for part, found in self.partitions.items()
            },
            **{
                f"values of {table}": f"{most:.4g} of those of a group are one person's at most"
                for table, most in self.one_person.items()
            },
        }


def measures(related: Related) -> list[Step]:
    """After classes have groups, and are staged."""
    gives = [fact for p in related.partitions for fact in _facts_of(p).values()]
    gives += [_share_of(e) for e in related.events]
    purpose = "sizes of groups, what limits them, and the most values that one person has"
    return [Check("figures", purpose, lambda s: _figures(s, related), gives=gives)]


def utility(spec: ReleaseSpec, facts: observed.Facts) -> RelatedUtility:
    related = spec.related
    assert related is not None
    return RelatedUtility(
        **class_utility(spec, facts).__dict__,
        partitions={
            p.part: Groups(**{name: facts[fact] for name, fact in _facts_of(p).items()})
            for p in related.partitions
        },
        one_person={e.name: facts[_share_of(e)] for e in related.events},
    )


def tells(utility: Utility, members: str) -> Sequence[Told]:
    assert isinstance(utility, RelatedUtility)
    found = [
        told(
            part,
            "Values of tables are told of ",
            count(one.groups),
            " groups of whole classes, of at least ",
            count(one.smallest),
            " people. Of these, ",
            count(one.limited),
            " have people enough to be divided, and are not because of another rule, which tells"
            " something to who computes it.",
        )
        for part, one in utility.partitions.items()
    ]
    return found + [
        told(f"values of {table}", "Of those of a group, one person has at most ", share(most), ".")
        for table, most in utility.one_person.items()
    ]


def _facts_of(p: Partition) -> dict[str, observed.Fact[int]]:
    names = ("groups", "smallest", "largest", "limited")
    return {n: observed.count(f"{n}{p.index}", "figures_", assumed=1) for n in names}


def _share_of(events: Events) -> observed.Fact[float]:
    return observed.measure(f"one_person{events.index}", "figures_", assumed=0.0)


def _figures(state: State, related: Related) -> exp.Select:
    groups = [(p.index, _groups(state, related, p)) for p in related.partitions]
    return in_one_row(
        [*groups, *[(e.index, _one_person(state, related, e)) for e in related.events]]
    )


def _groups(state: State, related: Related, p: Partition) -> exp.Select:
    cut = query(
        "select s.parent from s where s.parent in (select g.grp from g) group by s.parent"
        " having count(*) = 2 and min(s.n) >= :size",
        {"s": state.work(f"sums{p.index}"), "g": state.work(class_groups(p.index))},
        size=num(related.group_size),
    )
    limited = query("select count(*) from c", {"c": cut})
    return query(
        "select count(*) as groups, min(g.people) as smallest, max(g.people) as largest,"
        " :limited as limited from g",
        {"g": state.stage(group_part(p))},
        limited=scalar(limited),
    )


def _one_person(state: State, related: Related, events: Events) -> exp.Select:
    """Of the values of all columns, each once for a person."""
    each = query(
        "select f.gid, f.person, count(*) as n from f where f.item = any(:items)"
        " group by f.gid, f.person",
        {"f": facts_table(state, events)},
        items=exp.array(*[num(item.index) for item in events.slices]),
    )
    share = query(
        "select max(e.n) / sum(e.n) as most from e join g on g.gid = e.gid group by g.grp",
        {"e": each, "g": state.work(class_groups(related.partition_of(events).index))},
    )
    return query("select coalesce(max(s.most), 0)::float8 as one_person from s", {"s": share})
