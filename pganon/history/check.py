"""The rule in SQL: :mod:`pganon.history.rule` over the tables of versions.

    same      (grp, w, old)       groups with exactly the people of a group `old` of version `w`
    pairs     (grp, w, old, n)    groups that have people in common, and how many
    beside    (grp, w, people, reason, of, is_union)   a group beside all that a version has of its
                                  people: what is wrong, and what it is a function of
    judged    (grp, people, reason, w, of, is_union)   the same beside all versions, and which is
                                  the first in the way

Most groups of a version that is accepted are the same in all others: they are found by their
digests, and nobody looks for their people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.errors import PganonError
from pganon.history.model import New, Past
from pganon.history.reasons import Found, refusal
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
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import Fact, Facts, count, label


def rule_steps(rule: RuleCheck, *, refuses: bool) -> tuple[Step, ...]:
    """Hold a version against all that a reader has.

    Args:
        refuses: whether the run ends at a group that is neither new, the same, nor a function; else
            it is found out what all versions together leave of groups.
    """
    together = Check(
        "together",
        "people with the same groups in all versions",
        lambda state: rule.together(),
        gives=[rule.shared, rule.smallest, rule.below],
    )
    verdict = Check(
        "rule",
        "whether groups are new, the same as before, or a function of one version",
        rule.counted,
        lambda row, state: rule.problem(state.facts) if refuses else None,
        gives=[
            rule.crossing,
            rule.people,
            rule.known,
            rule.reason,
            rule.version,
            rule.functions,
            rule.groups,
        ],
    )
    roles = Check(
        "roles",
        "whether a column is shown of people who are known by it in other versions",
        rule.in_both,
        lambda row, state: rule.role_problem(state.facts) if refuses else None,
        gives=[rule.clashing, rule.clashes_with],
    )
    made = [
        rule.table("same", "groups of the same people", rule.same),
        rule.table("pairs", "groups that have people in common", rule.pairs),
        rule.table("beside", "groups beside those of every version", rule.beside),
        rule.table("judged", "what is wrong with groups", rule.judged),
    ]
    groups = (*made, verdict, *(() if refuses else (together,))) if rule.earlier else ()
    return (*((roles,) if rule.clashes else ()), *groups)


class RuleCheck:
    """A version beside those that a reader has."""

    def __init__(self, new: New, earlier: Sequence[Past]) -> None:
        self.new = new
        self.earlier = [past for past in earlier if not new.manner.keeps_with(past.manner)]
        self.clashes = [past for past in earlier if new.manner.clashes(past.manner)]
        self.roots = tuple(dict.fromkeys(past.root for past in self.earlier))
        of = f"rule{new.number}_"
        self.crossing: Fact[int] = count("crossing", of, assumed=0)
        self.people: Fact[int] = count("people", of)
        self.known: Fact[int] = count("known", of, assumed=0)
        self.reason: Fact[str] = label("reason", of, assumed="")
        self.version: Fact[int] = count("version", of, assumed=0)
        self.shared: Fact[int] = count("shared", of)
        self.smallest: Fact[int] = count("smallest", of)
        self.below: Fact[int] = count("below_k", of, assumed=0)
        self.clashing: Fact[int] = count("clashing", of, assumed=0)
        self.groups: Fact[int] = count("groups", of, assumed=0)
        self.clashes_with: Fact[int] = count("clashes_with", of, assumed=0)
        self.functions: Fact[int] = count("functions", of, assumed=0)

    @property
    def has_anything(self) -> bool:
        """Whether there is anything to hold it against."""
        return bool(self.earlier or self.clashes)

    def table(self, name: str, purpose: str, select: Callable[[State], exp.Expr]) -> Step:
        return CreateTable(f"rule {name}", purpose, lambda s: self._work(s, name), select)

    def _work(self, state: State, name: str) -> QualifiedName:
        return state.work(f"rule{self.new.number}_{name}")

    def problem(self, facts: Facts) -> PganonError | None:
        """The refusal that the facts of the verdict are reason for."""
        if not facts.get(self.crossing):
            return None
        crossing = facts[self.crossing]
        found = Found(
            facts[self.reason],
            crossing,
            facts[self.people],
            facts[self.known],
            self._label(facts[self.version]),
            facts[self.groups] - crossing,
        )
        return refusal(found, self.new.ways)

    def role_problem(self, facts: Facts) -> PganonError | None:
        people = facts.get(self.clashing)
        if not people:
            return None
        found = Found("role", 0, people, 0, self._label(facts[self.clashes_with]))
        return refusal(found, self.new.ways)

    def _label(self, root: int) -> str:
        known = (*self.earlier, *self.clashes)
        return next((past.label for past in known if past.root == root), "a version")

    def in_both(self, state: State) -> exp.Expr:
        """One row: people of the source who are in that of a version with other roles, and of
        which version most are."""
        return query(
            "select coalesce(max(c.people), 0) as clashing,"
            " coalesce((array_agg(c.w order by c.people desc, c.w))[1], 0) as clashes_with from c",
            {"c": self.clashed()},
        )

    def clashed(self) -> exp.Select:
        """SELECT w, reason, people: versions with other roles, and who is in both sources."""
        parts = [
            query(
                "select (:w)::bigint as w, count(distinct m.member) as people from m"
                " where m.member in (select x.member from x)",
                {"m": self.new.tables.members, "x": past.tables.members},
                w=num(past.root),
            )
            for past in self.clashes
        ]
        return query(
            "select p.w, 'role' as reason, max(p.people) as people from p where p.people > 0"
            " group by p.w order by p.w",
            {"p": stacked(parts)},
        )

    def together(self) -> exp.Expr:
        """One row: people of the version who were in groups before; of all people in any group, the
        fewest with the same groups in all versions, and those in sets of fewer than the largest
        group that any of these versions promises them."""
        now = query(
            "select (-1)::bigint as w, n.person, n.grp, :least as least from n",
            {"n": self._new_people()},
            least=num(self.new.manner.least),
        )
        people = query(
            "select a.person, sum(hashint8extended(a.grp, a.w)) as groups, max(a.least) as least,"
            " bool_or(a.w = -1) and bool_or(a.w <> -1) as shared from a"
            " where a.grp > 0 group by a.person",
            {"a": stacked([*[self._promised(past) for past in self.earlier], now])},
        )
        sets = query(
            "select count(*) as n, count(*) filter (where p.shared) as shared,"
            " max(p.least) as least from p group by p.groups",
            {"p": people},
        )
        return query(
            "select coalesce(sum(s.shared), 0)::bigint as shared,"
            " coalesce(min(s.n), 0) as smallest,"
            " coalesce(sum(s.n) filter (where s.n < s.least), 0)::bigint as below_k from s",
            {"s": sets},
        )

    def _promised(self, past: Past) -> exp.Select:
        return query(
            "select p.*, :least as least from p",
            {"p": self._people(past)},
            least=num(past.manner.least),
        )

    # -- what is known ---------------------------------------------------------------------------

    def _groups(self) -> exp.Select:
        """SELECT w, grp, people, who1, who2, shows, fits, several, repeats, h0, ..: of all."""
        return stacked([self._of(past) for past in self.earlier])

    def _of(self, past: Past) -> exp.Select:
        manner, new = past.manner, self.new.manner
        flags = {
            "fits": new.fits(manner),
            "several": new.divides(manner),
            "repeats": new.repeats(manner),
        }
        tree = query(
            "select (:w)::bigint as w, (g.grp)::bigint as grp, g.people, g.who1, g.who2,"
            " g.held is not null as shows from g",
            {"g": past.tables.groups},
            w=num(past.root),
        ).select(*[named(exp.Boolean(this=value), name) for name, value in flags.items()])
        for place, name in enumerate(new.columns):
            known = name in manner.columns
            number = manner.columns.index(name) + 1 if known else 0
            held = fragment(f"g.held[{number}]") if known else fragment("null::bigint")
            tree = tree.select(named(held, f"h{place}"))
        if past.tables.functions is None:
            return tree
        has = exp.In(this=col("of", "f"), expressions=[num(n) for n in (UNION, *self.roots)])
        functions = query("select f.grp from f", {"f": past.tables.functions}).where(has)
        return tree.where(fragment("not g.grp in (:f)", f=_listed(functions)))

    def _people(self, past: Past) -> exp.Select:
        number = col(past.tables.link, "m")
        return query(
            "select (:w)::bigint as w, m.member as person, (:n)::bigint as grp from m"
            " where :n <> 0",
            {"m": past.tables.members},
            w=num(past.root),
            n=number,
        )

    def _new_people(self) -> exp.Select:
        return query(
            "select m.member as person, (:n)::bigint as grp from m where :n <> 0",
            {"m": self.new.tables.members},
            n=col(self.new.tables.link, "m"),
        )

    # -- tables ----------------------------------------------------------------------------------

    def same(self, state: State) -> exp.Expr:
        return query(
            "select n.grp, e.w, e.grp as old, n.people as n from n"
            " join e on e.people = n.people and e.who1 = n.who1 and e.who2 = n.who2",
            {"n": self.new.tables.groups, "e": self._groups()},
        )

    def pairs(self, state: State) -> exp.Expr:
        """Of groups that are not the same in every version the people are looked for."""
        same = self._work(state, "same")
        rest = query(
            "select n.grp from n left join s on s.grp = n.grp where coalesce(s.versions, 0) < :all",
            {
                "n": self.new.tables.groups,
                "s": query(
                    "select s.grp, count(distinct s.w) as versions from s group by s.grp",
                    {"s": same},
                ),
            },
            all=num(len(self.roots)),
        )
        met = query(
            "select m.grp, x.w, x.grp as old, count(distinct m.person) as n from m"
            " join r on r.grp = m.grp join x on x.person = m.person group by m.grp, x.w, x.grp",
            {
                "m": self._new_people(),
                "r": rest,
                "x": stacked([self._people(past) for past in self.earlier]),
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
                    {"p": self._work(state, "pairs")},
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
        found = query("select b.*, b.olds = 1 and b.whole as one from b", {"b": tree})
        return query(
            "select b.grp, b.w, b.people, :reason as reason,"
            " case when b.whole and (:any or b.olds = 1) and b.fits and b.covers and not b.changed"
            " and not b.silent and not b.several then b.w end as of,"
            " b.silent and not b.several and not b.one as is_union from b",
            {"b": found},
            reason=fragment(_REASON),
            any=exp.Boolean(this=self.new.manner.form == "classes"),
        )

    def judged(self, state: State) -> exp.Expr:
        return query(
            "select b.grp, b.people, (array_agg(b.reason order by b.w)"
            " filter (where b.reason is not null))[1] as reason,"
            " min(b.w) filter (where b.reason is not null) as w,"
            " min(b.of) as of, bool_or(b.is_union) as is_union from b group by b.grp, b.people",
            {"b": self._work(state, "beside")},
        )

    def counted(self, state: State) -> exp.Expr:
        """One row: groups that nothing justifies, the reason of most of their people, and where."""
        judged = self._work(state, "judged")
        bad = query(
            "select j.reason, j.w, count(*) as groups, sum(j.people)::bigint as people from j"
            " where j.reason is not null and j.of is null group by j.reason, j.w",
            {"j": judged},
        )
        return query(
            "select coalesce(sum(b.groups), 0)::bigint as crossing,"
            " coalesce((array_agg(b.people order by b.people desc, b.w, b.reason))[1], 0)"
            " as people,"
            " (select coalesce(sum(j.people), 0)::bigint from j) as known,"
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
        """SELECT w, reason, people: versions beside which groups are not justified."""
        return query(
            "select b.w, min(b.reason) as reason, sum(b.people)::bigint as people from b"
            " join j on j.grp = b.grp where b.reason is not null and j.of is null"
            " group by b.w order by b.w",
            {"b": self._work(state, "beside"), "j": self._work(state, "judged")},
        )

    def functions_of(self, state: State) -> exp.Select:
        """SELECT grp, of: what is remembered of groups that are no news to who has others."""
        return query(
            "select j.grp, case when j.is_union then :whole else j.of end as of from j"
            " where j.reason is not null and j.of is not null or j.is_union and j.reason is null",
            {"j": self._work(state, "judged")},
            whole=cast(num(UNION), "bigint"),
        )


def _listed(tree: exp.Select) -> exp.Expr:
    return exp.Subquery(this=tree)


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
