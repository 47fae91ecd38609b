"""SQL of the rule: groups of a version compared with those of earlier ones.

    same      (grp, w, old)       groups with exactly the people of a group `old` of version `w`
    pairs     (grp, w, old, n)    groups that have people in common, and how many
    beside    (grp, w, people, reason, of, is_union)   a group compared with all groups that a
                                  version has of its people: the conflict, and what it is a
                                  function of
    judged    (grp, people, reason, w, of, is_union)   the same over all versions, with the first
                                  version that conflicts

Most groups of a version that is accepted are the same in all others: they are matched by their
digests, without a join of their people.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.history.model import EarlierVersion, GroupTables, NewVersion
from pganon.identifiers import QualifiedName
from pganon.resolved.presentation import UNION
from pganon.sqltools import (
    cast,
    chain,
    col,
    conjunction,
    fragment,
    named,
    num,
    query,
    stacked,
)
from pganon.steps import State


class Comparison:
    """The groups of a version, and those of earlier versions with which the rule compares them."""

    def __init__(self, new: NewVersion, earlier: Sequence[EarlierVersion]) -> None:
        self.new = new
        self.earlier = earlier
        self._roots = tuple(dict.fromkeys(version.root for version in earlier))

    def work(self, state: State, name: str) -> QualifiedName:
        """The work table of that name."""
        return state.work(f"rule{self.new.number}_{name}")

    # -- groups of versions ------------------------------------------------------------------------

    def _groups(self) -> exp.Select:
        """SELECT w, grp, people, who1, who2, shows, fits, several, repeats, h0, ..: all groups."""
        return stacked([self._of(version) for version in self.earlier])

    def _of(self, version: EarlierVersion) -> exp.Select:
        manner, new = version.manner, self.new.manner
        flags = {
            "fits": new.fits(manner),
            "several": new.divides(manner),
            "repeats": new.repeats(manner),
        }
        tree = query(
            "select (:w)::bigint as w, (g.grp)::bigint as grp, g.people, g.who1, g.who2,"
            " g.held is not null as shows from g",
            {"g": version.tables.groups},
            w=num(version.root),
        ).select(*[named(exp.Boolean(this=value), name) for name, value in flags.items()])
        for place, _ in enumerate(new.columns):
            there = new.place_in(manner, place)
            held = fragment("null::bigint" if there is None else f"g.held[{there + 1}]")
            tree = tree.select(named(held, f"h{place}"))
        if version.tables.functions is None:
            return tree
        has = exp.In(this=col("of", "f"), expressions=[num(n) for n in (UNION, *self._roots)])
        functions = query("select f.grp from f", {"f": version.tables.functions}).where(has)
        return tree.where(fragment("not g.grp in (:f)", f=exp.Subquery(this=functions)))

    # -- tables ----------------------------------------------------------------------------------

    def same(self, state: State) -> exp.Expr:
        return query(
            "select n.grp, e.w, e.grp as old, n.people as n from n"
            " join e on e.people = n.people and e.who1 = n.who1 and e.who2 = n.who2",
            {"n": self.new.tables.groups, "e": self._groups()},
        )

    def pairs(self, state: State) -> exp.Expr:
        """People are joined only of groups that are not the same in every version."""
        same = self.work(state, "same")
        rest = query(
            "select n.grp from n left join s on s.grp = n.grp where coalesce(s.versions, 0) < :all",
            {
                "n": self.new.tables.groups,
                "s": query(
                    "select s.grp, count(distinct s.w) as versions from s group by s.grp",
                    {"s": same},
                ),
            },
            all=num(len(self._roots)),
        )
        met = query(
            "select m.grp, x.w, x.grp as old, count(distinct m.person) as n from m"
            " join r on r.grp = m.grp join x on x.person = m.person group by m.grp, x.w, x.grp",
            {
                "m": people_of(self.new.tables),
                "r": rest,
                "x": stacked([people_of_earlier(version) for version in self.earlier]),
            },
        )
        others = query(
            "select m.* from m left join s on s.grp = m.grp and s.w = m.w and s.old = m.old"
            " where s.grp is null",
            {"m": met, "s": same},
        )
        return stacked([query("select s.* from s", {"s": same}), others])

    def beside(self, state: State) -> exp.Expr:
        places = range(len(self.new.manner.columns))
        changed = [
            fragment(f"coalesce(bit_xor(e.h{place}) <> min(n.held[{place + 1}]), false)")
            for place in places
        ]
        covers = [fragment(f"e.h{place} is not null") for place in places]
        tree = query(
            "select p.grp, p.w, n.people, n.held is null as silent, count(*) as olds,"
            " bool_and(p.n = e.people and e.who1 is not null) and sum(p.n) = n.people"
            " and n.who1 is not null as whole,"
            " count(*) = 1 and sum(p.n) = n.people and min(e.people) > n.people"
            " and min(p.everywhere) = min(e.people) as part,"
            " bool_or(e.grp < 0) as left_out, bool_and(not e.shows) as nothing,"
            " bool_and(e.fits) as fits, bool_or(e.several) as several,"
            " bool_and(e.repeats and not w.gone) as repeats,"
            " bool_and(e.shows and :covers) as covers, :changed as changed"
            " from p join n on n.grp = p.grp join e on e.w = p.w and e.grp = p.old"
            " join w on w.w = p.w"
            " group by p.grp, p.w, n.people, n.who1, n.held is null",
            {
                "p": query(
                    "select p.*, sum(p.n) over (partition by p.w, p.old) as everywhere from p",
                    {"p": self.work(state, "pairs")},
                ),
                "n": self.new.tables.groups,
                "e": self._groups(),
                "w": query(
                    "select e.w, bool_or(e.who1 is null) as gone from e group by e.w",
                    {"e": self._groups()},
                ),
            },
            covers=conjunction(covers) if covers else exp.true(),
            changed=chain(exp.Or, changed) if changed else exp.false(),
        )
        compared = query("select b.*, b.olds = 1 and b.whole as one from b", {"b": tree})
        return query(
            "select b.grp, b.w, b.people, :reason as reason,"
            " case when b.whole and (:any or b.olds = 1) and b.fits and b.covers and not b.changed"
            " and not b.silent and not b.several then b.w end as of,"
            " b.silent and not b.several and not b.one as is_union from b",
            {"b": compared},
            reason=fragment(_REASON),
            any=exp.Boolean(this=self.new.manner.form == "classes"),
        )

    def judged(self, state: State) -> exp.Expr:
        return query(
            "select b.grp, b.people, (array_agg(b.reason order by b.w)"
            " filter (where b.reason is not null))[1] as reason,"
            " min(b.w) filter (where b.reason is not null) as w,"
            " min(b.of) as of, bool_or(b.is_union) as is_union from b group by b.grp, b.people",
            {"b": self.work(state, "beside")},
        )

    def counted(self, state: State) -> exp.Expr:
        """One row: groups that conflict, the reason of most of their people, and the version."""
        judged = self.work(state, "judged")
        bad = query(
            "select j.reason, j.w, count(*) as groups, sum(j.people)::bigint as people from j"
            " where j.reason is not null and j.of is null group by j.reason, j.w",
            {"j": judged},
        )
        return query(
            "select coalesce(sum(b.groups), 0)::bigint as crossing,"
            " coalesce((array_agg(b.people order by b.people desc, b.w, b.reason))[1], 0)"
            " as people,"
            " coalesce((array_agg(b.reason order by b.people desc, b.w, b.reason))[1], '')"
            " as reason,"
            " coalesce((array_agg(b.w order by b.people desc, b.w, b.reason))[1], 0) as version,"
            " (select count(*) from j where :function or j.is_union and j.reason is null)"
            " as functions,"
            " (select count(*) from n) as groups from b",
            {"b": bad, "j": judged, "n": self.new.tables.groups},
            function=fragment("j.reason is not null and j.of is not null"),
        )

    def crossed(self, state: State) -> exp.Select:
        """SELECT w, reason, people: versions that groups conflict with."""
        return query(
            "select b.w, min(b.reason) as reason, sum(b.people)::bigint as people from b"
            " join j on j.grp = b.grp where b.reason is not null and j.of is null"
            " group by b.w order by b.w",
            {"b": self.work(state, "beside"), "j": self.work(state, "judged")},
        )

    def functions_of(self, state: State) -> exp.Select:
        """SELECT grp, of: groups that are a function of others, to be kept with the version."""
        return query(
            "select j.grp, case when j.is_union then :whole else j.of end as of from j"
            " where j.reason is not null and j.of is not null or j.is_union and j.reason is null",
            {"j": self.work(state, "judged")},
            whole=cast(num(UNION), "bigint"),
        )


def people_of(tables: GroupTables) -> exp.Select:
    """SELECT person, grp: who is in which group of a version."""
    return query(
        "select m.member as person, (:n)::bigint as grp from m where :n <> 0",
        {"m": tables.members},
        n=col(tables.link, "m"),
    )


def people_of_earlier(version: EarlierVersion) -> exp.Select:
    """SELECT w, person, grp: the same of an earlier version, with its root."""
    return query(
        "select (:w)::bigint as w, m.member as person, (:n)::bigint as grp from m where :n <> 0",
        {"m": version.tables.members},
        w=num(version.root),
        n=col(version.tables.link, "m"),
    )


_SEVERAL = "case when b.repeats then null else 'several' end"

_REASON = f"""
case
    when b.silent then case
        when b.several then {_SEVERAL}
        when not b.whole then 'left_out'
        when b.changed then 'changed' end
    when b.several then {_SEVERAL}
    when b.one and not b.changed and (b.fits or b.nothing) then null
    when b.left_out and not b.one then 'left_out'
    when b.one then case when b.changed then 'changed' else 'form' end
    when b.part then 'finer'
    else 'crossing'
end
"""
