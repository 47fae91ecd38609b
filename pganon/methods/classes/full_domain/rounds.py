"""The rounds of the search: what to measure is decided in Python, and measured in SQL.

next_r   rows of :mod:`pganon.methods.classes.full_domain.search.rows`: the state of the search
         after its step in round r, and what the server is to measure
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.facts import KEPT
from pganon.identifiers import QualifiedName
from pganon.methods.classes.full_domain import facts
from pganon.methods.classes.full_domain.costs import losses
from pganon.methods.classes.full_domain.estimated import missed
from pganon.methods.classes.full_domain.keys import height
from pganon.methods.classes.full_domain.measures import (
    HIST,
    Measures,
    bottom,
    released,
    table_of,
    values_table,
)
from pganon.methods.classes.full_domain.options import FullDomain
from pganon.methods.classes.full_domain.search.boxes import Rules
from pganon.methods.classes.full_domain.search.lattice import Lattice, Node, text_of
from pganon.methods.classes.full_domain.search.rows import COLUMNS, Recoding, Whole, next_rows
from pganon.methods.common.suppression import allowance
from pganon.privacy.population import searched
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query, stacked, text
from pganon.steps import Check, CreateTable, DropTables, Repeat, Search, State, Step
from pganon.steps.facts import RECORDS
from pganon.steps.tasks import Task, TaskResult

_OF_A_ROUND = ("make", "ask", "judge", "size", "drop", "took", "further", "least", "end")
"""Kinds of rows that the next round does not read."""


@dataclass(frozen=True)
class LevelSearch:
    """Rounds from the tables of records to the best node of every round of recoding."""

    spec: ReleaseSpec

    @property
    def options(self) -> FullDomain:
        options = self.spec.policy.method
        assert isinstance(options, FullDomain)
        return options

    def step(self) -> Repeat:
        most = self.options.max_nodes
        return Repeat(
            name="levels",
            purpose="search the levels that lose least",
            body=lambda number: self._round(),
            until=facts.ENDED,
            # Every round evaluates or judges a node; one is judged again while more of it fails.
            bound=lambda state: self.options.rounds * (2 * most + 2 + state[RECORDS]),
            rounds=facts.ROUNDS,
        )

    def remaining(self, state: State) -> list[QualifiedName]:
        """Work tables that are left after the end."""
        last = state[facts.ROUNDS] - 1
        return [
            state.work("next", round=last),
            *[released(state, place) for place, _ in enumerate(facts.taken(state))],
            *[losses_of(state, place) for place in range(1, state[facts.SEARCHED])],
            *[table_of(state, name) for _, _, name in facts.listed(state[facts.TABLES])],
            *[state.work("failed", round=r) for r in facts.numbers(state[facts.FAILED])],
            *self._dropped(state),
        ]

    # -- a round ----------------------------------------------------------------------------------

    def _round(self) -> list[Step]:
        made = [self._further(number) for number in range(4)]
        return [
            Search(
                "next",
                "which levels to measure next",
                lambda s: s.in_round("next"),
                COLUMNS,
                given=self._given,
                batches=lambda s: 1,
                rows=lambda s, batch: self._rows(s),
                tasks=self._tasks,
            ),
            DropTables("tidy", "what the round before measured", self._passing),
            Check(
                "asked",
                "what the search asks for",
                self._asked,
                gives=facts.of_round(self.spec),
            ),
            *made,
            CreateTable(
                "measured",
                "failing records on the levels of many nodes",
                lambda s: s.in_round("measured"),
                lambda s: Measures(self.spec, s).measured(
                    [(node, source) for node, source, _ in facts.listed(s[facts.ASKED])]
                ),
                analyze=False,
                when=lambda s: bool(s[facts.ASKED]),
                inline=True,
            ),
            CreateTable(
                "failed",
                "classes that fail on the levels of one node",
                lambda s: s.in_round("failed"),
                self._failed,
                when=lambda s: bool(s[facts.JUDGED]),
            ),
            CreateTable(
                "released",
                "classes that are released",
                lambda s: released(s, facts.place(s)),
                lambda s: self._measures(s).released(*self._took(s)),
                when=lambda s: bool(s[facts.TOOK]),
                inline=True,
            ),
            *(self._rest() if self.options.rounds > 1 else []),
        ]

    def _rest(self) -> list[Step]:
        """What a round of recoding leaves to the next, in tables like those of all records."""

        def left(state: State) -> tuple[Node, QualifiedName]:
            node, failed = self._took(state)
            assert failed is not None
            return node, failed

        wanted = {r.sensitive for r in self.spec.measured if r.model.needs_values}
        return [
            CreateTable(
                "rest",
                "records that are left",
                lambda s: table_of(s, bottom(s[facts.SEARCHED])),
                lambda s: self._measures(s).rest(*left(s)),
                when=lambda s: s[facts.FURTHER],
            ),
            *[
                CreateTable(
                    f"rest_of_values{index}",
                    "sensitive values of the records that are left",
                    lambda s, index=index: values_table(s, index, s[facts.SEARCHED]),
                    lambda s, index=index: self._measures(s).rest_of_values(index, *left(s)),
                    when=lambda s, index=index: (
                        s[facts.FURTHER]
                        and index in {r.sensitive for r in self._measures(s).relaxed.unmeasured}
                    ),
                )
                for index in sorted(index for index in wanted if index is not None)
            ],
            CreateTable(
                "losses",
                "what the records that are left lose on every level",
                lambda s: losses_of(s, s[facts.SEARCHED]),
                lambda s: losses(self._measures(s).layout, table_of(s, bottom(s[facts.SEARCHED]))),
                when=lambda s: s[facts.FURTHER],
            ),
        ]

    def _measures(self, state: State) -> Measures:
        return Measures(self.spec, state, facts.place(state))

    def _took(self, state: State) -> tuple[Node, QualifiedName | None]:
        """The node that a round of recoding takes, and its failing classes."""
        ((node, number, _),) = facts.listed(state[facts.TOOK])
        return node, state.work("failed", round=int(number)) if number else None

    def _further(self, number: int) -> CreateTable:
        def made(state: State) -> tuple[Node, str, str]:
            return facts.listed(state[facts.MADE])[number]

        def select(state: State) -> exp.Select:
            node, source, _ = made(state)
            return Measures(self.spec, state).classes(node, source)

        return CreateTable(
            f"shared{number}",
            "classes that several nodes are measured from",
            lambda s: table_of(s, made(s)[2]),
            select,
            analyze=False,
            when=lambda s: number < len(facts.listed(s[facts.MADE])),
        )

    def _failed(self, state: State) -> exp.Select:
        ((node, source, _),) = facts.listed(state[facts.JUDGED])
        before = state.in_round("failed", -1) if state[facts.AGAIN] else None
        return self._measures(state).failed(node, source, before)

    def _passing(self, state: State) -> list[QualifiedName]:
        if state.round == 0:
            return []
        measured = [state.in_round("measured", -1)] if state[facts.ASKED] else []
        old = facts.listed(state[facts.TABLES]) if state[facts.FURTHER] else []
        return [
            state.in_round("next", -1),
            *measured,
            *[table_of(state, name) for _, _, name in old],
            *self._dropped(state),
        ]

    def _dropped(self, state: State) -> list[QualifiedName]:
        return [state.work("failed", round=r) for r in facts.numbers(state[facts.DROPPED])]

    # -- what the search reads --------------------------------------------------------------------

    def _given(self, state: State) -> exp.Select:
        return query(
            "select array_agg(l.attribute order by l.attribute, l.level) as attributes,"
            " array_agg(l.loss order by l.attribute, l.level) as losses,"
            " sum(l.whole) filter (where l.level = 0)::bigint as whole from l",
            {"l": losses_of(state, self._place(state))},
        )

    def _place(self, state: State) -> int:
        """The round of recoding, from 0, that the next step of the search is of."""
        return 0 if state.round == 0 else state[facts.SEARCHED]

    def _rows(self, state: State) -> exp.Select:
        lowest = text((".").join("0" for _ in self.spec.attributes))
        if state.round == 0:
            return self._sized(state, lowest, HIST)
        before = state.in_round("next", -1)
        if state[facts.FURTHER]:
            kept = query(
                "select n.kind, n.node, n.other, n.source, n.a, n.b, n.c from n"
                " where n.kind in ('searched', 'taken', 'failed')",
                {"n": before},
            )
            return stacked([kept, self._sized(state, lowest, bottom(state[facts.SEARCHED]))])
        parts = [
            query(
                "select n.kind, n.node, n.other, n.source, n.a, n.b, n.c from n"
                " where n.kind <> all(:kinds)",
                {"n": before},
                kinds=exp.Array(expressions=[text(kind) for kind in _OF_A_ROUND]),
            )
        ]
        if state[facts.ASKED]:
            parts.append(
                query(
                    "select 'measured' as kind, m.node, '' as other, '' as source, m.s as a,"
                    " m.e as b, m.classes as c from m",
                    {"m": state.in_round("measured", -1)},
                )
            )
        for node, _, name in facts.listed(state[facts.MADE]):
            parts.append(self._sized(state, text(text_of(node)), name))
        for node, _, _ in facts.listed(state[facts.JUDGED]):
            top = None if self._is_last(state) else levels(self.spec, state)[1]
            measures = Measures(self.spec, state, self._place(state))
            failed = state.in_round("failed", -1)
            parts.append(measures.lost(node, failed, top))
            parts += [measures.sizes(node, failed)] if self.spec.estimated else []
        return stacked(parts)

    def _sized(self, state: State, node: exp.Expr, name: str) -> exp.Select:
        return query(
            "select 'table' as kind, :node as node, :name as other, '' as source,"
            " count(*) as a, null::bigint as b, null::bigint as c from t",
            {"t": table_of(state, name)},
            node=node,
            name=text(name),
        )

    def _tasks(
        self, state: State, given: Mapping[str, Any], rows: Sequence[tuple[Any, ...]]
    ) -> list[Task]:
        losses: list[list[int]] = [[] for _ in self.spec.attributes]
        for attribute, loss in zip(given["attributes"], given["losses"], strict=True):
            losses[attribute].append(int(loss))
        lowest, highest = levels(self.spec, state)
        lattice = Lattice(lowest, highest, tuple(map(tuple, losses)))
        lost = int(given["whole"]) if self._place(state) else 0
        recoding = Recoding(self._is_last(state), lost)
        whole = partial(missed, self.spec.estimated)
        return [partial(_step, lattice, self._rules(state), state.round, rows, recoding, whole)]

    def _is_last(self, state: State) -> bool:
        return self._place(state) == self.options.rounds - 1

    def _rules(self, state: State) -> Rules:
        unmeasured = Measures(self.spec, state).relaxed.unmeasured
        models = [requirement.model for requirement in self.spec.measured]
        counting = searched(self.spec.requirements)
        place, last = self._place(state), self._is_last(state)
        records = facts.taken(state)[-1][1] if place else state[KEPT]
        allowed = allowance(self.spec, state)
        return Rules(
            limit=min(allowed, records - 1) if last else records - 1,
            exact=last and not unmeasured and not counting and not self.spec.estimated,
            upward=all(not m.needs_values or m.counts_distinct for m in models)
            and all(requirement.model.counts_distinct for requirement in counting),
            closes=any(model.needs_reference for model in models),
            moved=state[KEPT] < state[RECORDS],
            max_nodes=self.options.max_nodes,
            allowed=allowed,
        )

    def _asked(self, state: State) -> exp.Select:
        return query(
            """
            select bool_or(n.kind = 'end') as ended,
                coalesce(bool_and(n.a = 1) filter (where n.kind = 'searched'), false) as proved,
                bool_or(n.kind = 'judging' and n.a >= 0) as again,
                sum(n.b) filter (where n.kind = 'taken') as cost,
                max(n.b) filter (where n.kind = 'end') as bound,
                sum(n.c) filter (where n.kind = 'searched') as evaluated,
                count(*) filter (where n.kind = 'searched') as searched,
                bool_or(n.kind = 'further') as further,
                coalesce(string_agg(n.node || '@' || n.a || '@', ',' order by n.other::int)
                    filter (where n.kind = 'taken'), '') as taken,
                coalesce(string_agg(n.node || '@' || n.source || '@', ',')
                    filter (where n.kind = 'took'), '') as took,
                max(n.a) filter (where n.kind = 'least') as least,
                count(*) filter (where n.kind = 'missed') as missed,
                min(nullif(n.source, '')::float8) filter (where n.kind = 'missed') as nearest,
                coalesce(string_agg(distinct n.other, ', ') filter (where n.kind = 'missed'
                    and n.other <> ''), '') as reasons,
                coalesce(string_agg(n.a::text, ',') filter (where n.kind = 'drop'), '') as dropped,
                coalesce(string_agg(n.a::text, ',') filter (where n.kind = 'failed'), '') as failed,
                coalesce(string_agg(n.node || '@@' || n.other, ',' order by n.other)
                    filter (where n.kind in ('table', 'make')), '') as tables,
                coalesce(string_agg(n.node || '@' || n.source || '@' || n.other, ','
                    order by n.other) filter (where n.kind = 'make'), '') as made,
                coalesce(string_agg(n.node || '@' || n.source || '@', ',' order by n.node)
                    filter (where n.kind = 'ask'), '') as asked,
                coalesce(string_agg(n.node || '@' || n.source || '@', ',')
                    filter (where n.kind = 'judge'), '') as judged
            from n
            """,
            {"n": state.in_round("next")},
        )


def _step(
    lattice: Lattice,
    rules: Rules,
    number: int,
    rows: Sequence[tuple[Any, ...]],
    recoding: Recoding,
    whole: Whole,
) -> TaskResult:
    return TaskResult(next_rows(lattice, rules, number, rows, recoding, whole))


def losses_of(state: State, place: int) -> QualifiedName:
    """What the records of a round of recoding lose on every level."""
    return state.work(f"losses_{bottom(place)}" if place else "losses")


def levels(spec: ReleaseSpec, state: State) -> tuple[Node, Node]:
    """The lowest and the highest level of every quasi-identifier."""
    lowest: list[int] = []
    highest: list[int] = []
    for axis in axes(spec.attributes):
        declared = spec.policy.columns[axis.attribute.column.name].levels
        low, high = declared or (0, height(axis, state))
        lowest.append(low)
        highest.append(high)
    return tuple(lowest), tuple(highest)


def limit(spec: ReleaseSpec, state: State) -> int:
    """Records that may be left out; one always stays."""
    return min(allowance(spec, state), state[KEPT] - 1)
