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
from pganon.methods.classes.full_domain.keys import height
from pganon.methods.classes.full_domain.measures import HIST, Measures, table_of
from pganon.methods.classes.full_domain.options import FullDomain
from pganon.methods.classes.full_domain.search.boxes import Rules
from pganon.methods.classes.full_domain.search.lattice import Lattice, Node, node_of, text_of
from pganon.methods.classes.full_domain.search.rows import COLUMNS, next_rows
from pganon.methods.common.suppression import allowance
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query, stacked, text
from pganon.steps import Check, CreateTable, DropTables, Repeat, Search, State, Step
from pganon.steps.facts import RECORDS
from pganon.steps.tasks import Task, TaskResult

_OF_A_ROUND = ("make", "ask", "judge", "drop", "least", "end")
"""Kinds of rows that the next round does not read."""


@dataclass(frozen=True)
class LevelSearch:
    """Rounds from the tables of records to the best node."""

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
            bound=lambda state: 2 * most + 2 + state[RECORDS],
            rounds=facts.ROUNDS,
        )

    def remaining(self, state: State) -> list[QualifiedName]:
        """Work tables that are left after the end."""
        last = state[facts.ROUNDS] - 1
        return [
            state.work("next", round=last),
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
            ),
            CreateTable(
                "failed",
                "classes that fail on the levels of one node",
                lambda s: s.in_round("failed"),
                self._failed,
                when=lambda s: bool(s[facts.JUDGED]),
            ),
        ]

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
        return Measures(self.spec, state).failed(node, source, before)

    def _passing(self, state: State) -> list[QualifiedName]:
        if state.round == 0:
            return []
        measured = [state.in_round("measured", -1)] if state[facts.ASKED] else []
        return [state.in_round("next", -1), *measured, *self._dropped(state)]

    def _dropped(self, state: State) -> list[QualifiedName]:
        return [state.work("failed", round=r) for r in facts.numbers(state[facts.DROPPED])]

    # -- what the search reads --------------------------------------------------------------------

    def _given(self, state: State) -> exp.Select:
        return query(
            "select array_agg(l.attribute order by l.attribute, l.level) as attributes,"
            " array_agg(l.loss order by l.attribute, l.level) as losses from l",
            {"l": state.work("losses")},
        )

    def _rows(self, state: State) -> exp.Select:
        bottom = text((".").join("0" for _ in self.spec.attributes))
        if state.round == 0:
            return self._sized(state, bottom, HIST)
        before = state.in_round("next", -1)
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
            parts.append(Measures(self.spec, state).lost(node, state.in_round("failed", -1)))
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
        return [partial(_step, lattice, self._rules(state), state.round, rows)]

    def _rules(self, state: State) -> Rules:
        unmeasured = Measures(self.spec, state).relaxed.unmeasured
        models = [requirement.model for requirement in self.spec.measured]
        return Rules(
            limit=limit(self.spec, state),
            exact=not unmeasured,
            upward=all(not m.needs_values or m.counts_distinct for m in models),
            closes=any(model.needs_reference for model in models),
            moved=state[KEPT] < state[RECORDS],
            max_nodes=self.options.max_nodes,
        )

    def _asked(self, state: State) -> exp.Select:
        return query(
            """
            select bool_or(n.kind = 'end') as ended,
                coalesce(bool_or(n.kind = 'end' and n.a = 1), false) as proved,
                bool_or(n.kind = 'judging' and n.a >= 0) as again,
                max(n.a) filter (where n.kind = 'best') as cost,
                max(n.b) filter (where n.kind = 'end') as bound,
                max(n.c) filter (where n.kind = 'end') as evaluated,
                max(n.b) filter (where n.kind = 'best') as left_out,
                max(n.a) filter (where n.kind = 'least') as least,
                coalesce(string_agg(n.a::text, ',') filter (where n.kind = 'drop'), '') as dropped,
                coalesce(string_agg(n.a::text, ',') filter (where n.kind = 'failed'), '') as failed,
                coalesce(max(n.node) filter (where n.kind = 'best'), '') as best,
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
    lattice: Lattice, rules: Rules, number: int, rows: Sequence[tuple[Any, ...]]
) -> TaskResult:
    return TaskResult(next_rows(lattice, rules, number, rows))


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


def chosen(state: State) -> Node:
    """The levels of the best node."""
    return node_of(state[facts.BEST])
