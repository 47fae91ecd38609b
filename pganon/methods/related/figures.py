"""Figures of the groups of related tables, which every run computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.extents import group_extents
from pganon.encode.work import CODED, codes_of
from pganon.forms.form import Evidence
from pganon.forms.sentences import Told, count, share, told
from pganon.forms.utility import ClassUtility, Utility, class_utility
from pganon.forms.work import GROUPED, class_groups
from pganon.methods.related.groups import HOLDING, facts_table, grouped_facts, held_table
from pganon.methods.related.staging import group_part
from pganon.metrics.evidence.merging import nested
from pganon.metrics.loss import basic
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.tables import Events, Partition, Related
from pganon.sqltools import equal, in_one_row, materialized, num, query, scalar
from pganon.steps import Check, State, Step
from pganon.steps import facts as observed


@dataclass(frozen=True)
class Groups:
    """Groups of classes in which tables have their values.

    Attributes:
        limited: those that have people enough to be divided, and are not because of another rule.
        gcp: global certainty penalty of the people, by what is known of their group.
    """

    groups: int
    smallest: int
    largest: int
    limited: int
    gcp: float | None = None


@dataclass(frozen=True)
class RelatedUtility(ClassUtility):
    """Utility and risk of classes, and figures of the groups of other tables.

    Attributes:
        partitions: by part of the release.
        one_person: by table the largest share of its values of a group that are one person's.
    """

    partitions: dict[str, Groups] = field(default_factory=dict)
    one_person: dict[str, float] = field(default_factory=dict)

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
                + ("" if found.gcp is None else f"; GCP {found.gcp:.4g}")
                for part, found in self.partitions.items()
            },
            **{
                f"values of {table}": f"{most:.4g} of those of a group are one person's at most"
                for table, most in self.one_person.items()
            },
        }


def measures(spec: ReleaseSpec) -> list[Step]:
    """After classes have groups, and are staged."""
    related = spec.related
    assert related is not None
    gives = [fact for p in related.partitions for fact in _facts_of(p).values()]
    gives += [_share_of(e) for e in related.events]
    purpose = "sizes of groups, what limits them, and the most values that one person has"
    return [Check("figures", purpose, lambda s: _figures(spec, s, related), gives=gives)]


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
            *(
                []
                if one.gcp is None
                else [" What is known of people by their group loses ", share(one.gcp), " (GCP)."]
            ),
        )
        for part, one in utility.partitions.items()
    ]
    return found + [
        told(f"values of {table}", "Of those of a group, one person has at most ", share(most), ".")
        for table, most in utility.one_person.items()
    ]


def _facts_of(p: Partition) -> dict[str, observed.Fact[Any]]:
    names = ("groups", "smallest", "largest", "limited")
    counts = {n: observed.count(f"{n}{p.index}", "figures_", assumed=1) for n in names}
    return {**counts, "gcp": observed.measure(f"gcp{p.index}", "figures_")}


def _share_of(events: Events) -> observed.Fact[float]:
    return observed.measure(f"one_person{events.index}", "figures_", assumed=0.0)


def _figures(spec: ReleaseSpec, state: State, related: Related) -> exp.Select:
    groups = [(p.index, _groups(spec, state, related, p)) for p in related.partitions]
    return in_one_row(
        [*groups, *[(e.index, _one_person(state, related, e)) for e in related.events]]
    )


def _groups(spec: ReleaseSpec, state: State, related: Related, p: Partition) -> exp.Select:
    cut = query(
        "select s.parent from s where s.parent in (select g.grp from g) group by s.parent"
        " having count(*) = 2 and min(s.n) >= :size",
        {"s": state.work(f"sums{p.index}"), "g": state.work(class_groups(p.index))},
        size=num(related.group_size),
    )
    limited = query("select count(*) from c", {"c": cut})
    return query(
        "select count(*) as groups, min(g.people) as smallest, max(g.people) as largest,"
        " :limited as limited, :gcp as gcp from g",
        {"g": state.stage(group_part(p))},
        limited=scalar(limited),
        gcp=scalar(_loss(spec, state, p)),
    )


def _loss(spec: ReleaseSpec, state: State, p: Partition) -> exp.Select:
    """SELECT what is lost of everybody who looks as all of the group do, on average."""
    people = query(
        "select g.grp, c.*, 1 as w from c join r on :same join g on g.gid = r.gid",
        {
            "c": state.work(CODED),
            "r": state.work(GROUPED),
            "g": state.work(class_groups(p.index)),
        },
        same=equal(codes_of(spec), "c", "r"),
    )
    groups = group_extents(axes(spec.attributes), state, people, ["grp"])
    lost = basic(spec, groups, state)
    return query("select b.weighted_loss / b.released as gcp from b", {"b": lost})


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


# -- values that go together ---------------------------------------------------------------------

MOST_VALUES = 50
"""Of people with more values of a column none is taken to tell another: they would be too many.
Their values are counted among those of one person all the same, as readers count them, too."""


def evidence_of(classes: Evidence) -> Evidence:
    """That of the root, and of other tables how often a value tells another one of somebody."""

    def steps(spec: ReleaseSpec, *given: Any) -> tuple[Step, ...]:
        related = spec.related
        assert related is not None
        told = Check(
            "telling",
            "how often a value of somebody tells another one",
            lambda s: in_one_row((e.index, _telling(s, related, e)) for e in related.events),
            gives=[fact for e in related.events for fact in _telling_of(e)],
        )
        return (*classes.steps(spec, *given), told)

    def document(spec: ReleaseSpec, facts: observed.Facts, whole: bool) -> dict[str, Any]:
        found = classes.document(spec, facts, whole)
        if whole or spec.related is None:
            return found
        telling: dict[str, Any] = {}
        for e in spec.related.events:
            alone, told, people, of_told = (facts[fact] for fact in _telling_of(e))
            (many,) = nested([of_told], people, spec.policy.report.smallest)
            telling[e.name] = {"values": alone, "told": None if many is None else told}
        return {**found, "telling": telling}

    return replace(classes, steps=steps, document=document)


def _telling_of(events: Events) -> list[observed.Fact[int]]:
    """Values of one person and those that are told, then the people who have any."""
    names = ("alone", "told", "people", "of_told")
    return [observed.count(f"{n}{events.index}", "telling_", assumed=0) for n in names]


def _telling(state: State, related: Related, events: Events) -> exp.Select:
    """How many values are one person's of a group, and of how many a reader believes that with
    more than 1/2 who knows the most telling other one, and how often values go together.

    Of n people with b of M with rows, and c with a, m have both. The reader knows what all but the
    somebody have, so takes who has a to have b with p = (m - 1) / (c - 1), and the N - 1 others
    with rows in the group with q = (n - m) / (M - c); he believes p / (p + (N - 1) q). Where others
    of the group have a, or b, it is not above 1/2.
    """
    each = query(
        "select f.grp, f.person, f.item, f.k, count(*) over (partition by f.grp, f.item, f.k) = 1"
        " as alone, count(*) over (partition by f.person, f.item) as many from f",
        {"f": grouped_facts(state, related, events)},
    )
    known = query(
        "select e.*, count(*) over (partition by e.item, e.k) as n from each_value as e"
        " where e.many <= :most",
        most=num(MOST_VALUES),
    )
    both = query(
        "select a.item, a.k as x, b.k as y, count(*) as m from known as a join known as b"
        " on b.person = a.person and b.item = a.item and b.k <> a.k"
        " group by a.item, a.k, b.k having bool_or(a.alone and b.alone)"
    )
    pairs = query(
        "select b.grp, b.person, b.item, a.k as x, a.n as c, b.k as y, b.n from known as a"
        " join known as b on b.person = a.person and b.item = a.item and b.k <> a.k"
        " where a.alone and b.alone"
    )
    people = query("select k.item, count(distinct k.person) as n from known as k group by k.item")
    holders = query(
        "select g.grp, sum(h.n) as n from h join g on g.gid = h.gid where h.item = :holding"
        " group by g.grp",
        {
            "h": held_table(state, events),
            "g": state.work(class_groups(related.partition_of(events).index)),
        },
        holding=num(HOLDING),
    )
    believed = query(
        "select distinct p.person, p.item, p.y from pairs as p"
        " join both_values as b on b.item = p.item and b.x = p.x and b.y = p.y"
        " join h on h.grp = p.grp join w on w.item = p.item"
        " where (b.m - 1)::numeric * (w.n - p.c) > (h.n - 1) * (p.n - b.m) * (p.c - 1)",
        {"h": holders, "w": people},
    )
    alone = query(
        "select count(*) as alone, count(distinct e.person) as people from each_value as e where"
        " e.alone"
    )
    told = query("select count(*) as told, count(distinct b.person) as of_told from believed as b")
    parts = {"each_value": each, "known": known, "both_values": both}
    parts |= {"pairs": pairs, "believed": believed}
    return materialized(
        query(
            "select a.alone, t.told, a.people, t.of_told from a cross join t",
            {"a": alone, "t": told},
        ),
        **parts,
    )
