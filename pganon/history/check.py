"""Steps that check the rule; `tests/support/oracles/verdicts.py` is the same in Python.

A group of a version may be one of three things:

- *new*: nobody of it was in a group before;
- *same*: every version with anybody of it in a group has exactly this group, with the same values;
- a *function* of one version: a union of whole groups of that version, which shows all that the new
  version shows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.errors import PganonError
from pganon.history.comparison import Comparison, people_of, people_of_earlier
from pganon.history.model import EarlierVersion, NewVersion
from pganon.history.reasons import Conflict, refusal
from pganon.sqltools import num, query, stacked, text
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import Fact, Facts, count, label


def rule_steps(rule: RuleCheck, *, refuses: bool) -> tuple[Step, ...]:
    """Check the rule for a version, against all that a reader has.

    Args:
        refuses: whether the run ends at a group that is neither new, the same, nor a function;
            else it is measured how small the groups are that all versions together leave.
    """
    groups: tuple[Step, ...] = ()
    if rule.earlier:
        groups = (*_tables(rule), _verdict(rule, refuses=refuses))
        groups += () if refuses else (_together(rule),)
    return (*((_roles(rule, refuses=refuses),) if rule.clashes else ()), *groups)


def _tables(rule: RuleCheck) -> list[Step]:
    groups = rule.comparison

    def table(name: str, purpose: str, select: Callable[[State], exp.Expr]) -> Step:
        return CreateTable(f"rule {name}", purpose, lambda s: groups.work(s, name), select)

    return [
        table("same", "groups of the same people", groups.same),
        table("pairs", "groups that have people in common", groups.pairs),
        table("beside", "groups beside those of every version", groups.beside),
        table("judged", "what is wrong with groups", groups.judged),
    ]


def _verdict(rule: RuleCheck, *, refuses: bool) -> Step:
    return Check(
        "rule",
        "whether groups are new, the same as before, or a function of one version",
        rule.comparison.counted,
        lambda row, state: rule.problem(state.facts) if refuses else None,
        gives=[
            rule.crossing,
            rule.people,
            rule.reason,
            rule.version,
            rule.functions,
            rule.groups,
        ],
    )


def _together(rule: RuleCheck) -> Step:
    return Check(
        "together",
        "people with the same groups in all versions",
        lambda state: rule.together(),
        gives=[rule.shared, rule.smallest, rule.below],
    )


def _roles(rule: RuleCheck, *, refuses: bool) -> Step:
    return Check(
        "roles",
        "whether a column is shown of people who are known by it in other versions",
        lambda state: rule.in_both(),
        lambda row, state: rule.role_problem(state.facts) if refuses else None,
        gives=[rule.clashing, rule.clashes_with],
    )


class RuleCheck:
    """A version, and the versions that a reader has, with the facts that the check observes.

    Attributes:
        earlier: versions whose groups are compared: all but those to which the new one is
            m-invariant.
        clashes: versions in which a shown column of the new one is a quasi-identifier, or the
            other way round, or whose columns cannot be compared.
    """

    def __init__(self, new: NewVersion, earlier: Sequence[EarlierVersion]) -> None:
        self.new = new
        self.earlier = [one for one in earlier if not new.manner.keeps_with(one.manner)]
        self.clashes = [one for one in earlier if new.manner.clash(one.manner)]
        self.comparison = Comparison(new, self.earlier)
        of = f"rule{new.number}_"
        self.crossing: Fact[int] = count("crossing", of, assumed=0)
        self.people: Fact[int] = count("people", of)
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
    def compares(self) -> bool:
        """Whether there is a version to compare with."""
        return bool(self.earlier or self.clashes)

    def problem(self, facts: Facts) -> PganonError | None:
        """The refusal of groups that conflict; None if there are none."""
        crossing = facts.get(self.crossing)
        if not crossing:
            return None
        conflict = Conflict(
            facts[self.reason],
            crossing,
            facts[self.people],
            self.label(facts[self.version]),
            facts[self.groups] - crossing,
        )
        return refusal(conflict, self.new.alternatives)

    def role_problem(self, facts: Facts) -> PganonError | None:
        """The refusal of people in versions with other roles of columns; None without any."""
        people = facts.get(self.clashing)
        if not people:
            return None
        root = facts[self.clashes_with]
        reason = next(self._reason(one) for one in self.clashes if one.root == root)
        return refusal(Conflict(reason, 0, people, self.label(root)), self.new.alternatives)

    def _reason(self, version: EarlierVersion) -> str:
        return self.new.manner.clash(version.manner) or "role"

    def label(self, root: int) -> str:
        """Of the version with that root."""
        versions = (*self.earlier, *self.clashes)
        return next((one.label for one in versions if one.root == root), "a version")

    def in_both(self) -> exp.Expr:
        """One row: people in both sources of two versions with other roles, the most of any
        version, and which version that is."""
        return query(
            "select coalesce(max(c.people), 0) as clashing,"
            " coalesce((array_agg(c.w order by c.people desc, c.w))[1], 0) as clashes_with from c",
            {"c": self.clashed()},
        )

    def clashed(self) -> exp.Select:
        """SELECT w, reason, people: versions with other roles; number of people in both sources."""
        parts = [
            query(
                "select (:w)::bigint as w, :reason as reason, count(distinct m.member) as people"
                " from m where m.member in (select x.member from x)",
                {"m": self.new.tables.members, "x": version.tables.members},
                w=num(version.root),
                reason=text(self._reason(version)),
            )
            for version in self.clashes
        ]
        return query(
            "select p.w, min(p.reason) as reason, max(p.people) as people from p where p.people > 0"
            " group by p.w order by p.w",
            {"p": stacked(parts)},
        )

    def together(self) -> exp.Expr:
        """One row about sets of people with the same groups in all versions.

        It has the number of people who were in groups before (`shared`), the size of the smallest
        set (`smallest`), and the number of people in sets that are smaller than the largest group
        that any of the versions guarantees them (`below_k`).
        """
        now = query(
            "select (-1)::bigint as w, n.person, n.grp, :least as least from n",
            {"n": people_of(self.new.tables)},
            least=num(self.new.manner.least),
        )
        people = query(
            "select a.person, sum(hashint8extended(a.grp, a.w)) as groups, max(a.least) as least,"
            " bool_or(a.w = -1) and bool_or(a.w <> -1) as shared from a"
            " where a.grp > 0 group by a.person",
            {"a": stacked([*[_guaranteed(version) for version in self.earlier], now])},
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


def _guaranteed(version: EarlierVersion) -> exp.Select:
    """SELECT w, person, grp, least: with the size of the smallest group that is allowed."""
    return query(
        "select p.*, :least as least from p",
        {"p": people_of_earlier(version)},
        least=num(version.manner.least),
    )
