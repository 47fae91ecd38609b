"""The search for the levels that lose least: decided in Python, measured in SQL.

hist_<p>_<r>_<i>   the classes of a node, from which several of round r of search p are measured
failed_<p>_<r>     failing classes of the node that was judged
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from pganon.encode.axis import axes
from pganon.encode.facts import KEPT
from pganon.identifiers import QualifiedName
from pganon.methods.classes.full_domain import facts
from pganon.methods.classes.full_domain.costs import losses
from pganon.methods.classes.full_domain.estimates import Missed, missed
from pganon.methods.classes.full_domain.keys import height
from pganon.methods.classes.full_domain.measures import (
    Measures,
    bottom,
    released,
    table_of,
    values_table,
)
from pganon.methods.classes.full_domain.options import FullDomain
from pganon.methods.classes.full_domain.search.boxes import BoxSearch, Evaluated, Rules
from pganon.methods.classes.full_domain.search.lattice import Lattice, Node, node_of, text_of
from pganon.methods.classes.full_domain.search.sources import Table, smallest_of, sources
from pganon.methods.common.suppression import allowance
from pganon.privacy.population import searched
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query
from pganon.steps import Ask, CreateTable, Dialogue, DropTables, Rows, State, Talk, table
from pganon.steps.facts import RECORDS


def level_search(spec: ReleaseSpec) -> Dialogue:
    """From the tables of records to the best node of every round of recoding."""
    return Dialogue(
        "levels",
        "search the levels that lose least",
        lambda s: _Searches(spec, s).talk(),
        gives=facts.of_search(spec),
    )


@dataclass(frozen=True)
class _Searches:
    """A search for every round of recoding, over the records that the one before leaves.

    Attributes:
        state: before the first of them.
    """

    spec: ReleaseSpec
    state: State

    @property
    def _options(self) -> FullDomain:
        options = self.spec.policy.method
        assert isinstance(options, FullDomain)
        return options

    def talk(self) -> Talk:
        """Go on as long as records are left; gives the facts of all searches."""
        ended: list[_Search] = []
        left = self.state[KEPT]
        while not ended or (left and len(ended) < self._options.rounds):
            found = self._begun(len(ended), left, (yield self._given(len(ended))))
            yield from found.talk()
            ended.append(found)
            left = found.left
        last = ended[-1]
        best = [(s.search.best, s) for s in ended if s.search.best is not None]
        shares = [one.share for one in last.missed if one.share is not None]
        return {
            facts.PROVED.column: all(one.search.proved for one in ended),
            facts.COST.column: sum(key[0] - s.whole for key, s in best) if best else None,
            facts.BOUND.column: last.search.bound,
            facts.EVALUATED.column: sum(len(one.search.evaluated) for one in ended),
            facts.LEAST.column: min(map(_failing, last.search.evaluated.values())),
            facts.MISSED.column: len(last.missed),
            facts.NEAREST.column: min(shares, default=None),
            facts.REASONS.column: ", ".join(sorted({m.reason for m in last.missed} - {""})),
            facts.TAKEN.column: facts.listed((key[2], s.left) for key, s in best),
        }

    def _given(self, place: int) -> Ask:
        every = axes(self.spec.attributes)
        each = [
            (number, level)
            for number, axis in enumerate(every)
            for level in range(height(axis, self.state) + 1)
        ]
        attributes, losses = ([row[column] for row in each] for column in (0, 1))
        return Ask(
            "losses_by_level",
            "what all records lose on every level, and how many keys they have",
            lambda s: query(
                "select array_agg(l.attribute order by l.attribute, l.level) as attributes,"
                " array_agg(l.loss order by l.attribute, l.level) as losses,"
                " sum(l.whole) filter (where l.level = 0)::bigint as whole,"
                " (select count(*) from t) as keys from l",
                {"l": losses_of(s, place), "t": table_of(s, bottom(place))},
            ),
            assumed=[(attributes, losses, 0, 1)],
        )

    def _begun(self, place: int, records: int, given: Rows) -> _Search:
        """Args: records: that it is about."""
        ((attributes, found, whole, keys),) = given
        losses: list[list[int]] = [[] for _ in self.spec.attributes]
        for attribute, loss in zip(attributes, found, strict=True):
            losses[attribute].append(int(loss))
        lattice = Lattice(*levels(self.spec, self.state), tuple(map(tuple, losses)))
        lowest = (0,) * len(self.spec.attributes)
        return _Search(
            self.spec,
            Measures(self.spec, self.state, place),
            BoxSearch(lattice, self._rules(place, records)),
            [Table(bottom(place), lowest, keys)],
            [],
            int(whole) if place else 0,
            place == self._options.rounds - 1,
        )

    def _rules(self, place: int, records: int) -> Rules:
        spec, state, last = self.spec, self.state, place == self._options.rounds - 1
        unmeasured = Measures(spec, state).relaxed.unmeasured
        models = [requirement.model for requirement in spec.measured]
        counting = searched(spec.requirements)
        allowed = allowance(spec, state)
        return Rules(
            limit=min(allowed, records - 1) if last else records - 1,
            exact=last and not unmeasured and not counting and not spec.estimated,
            upward=all(not m.needs_values or m.counts_distinct for m in models)
            and all(requirement.model.counts_distinct for requirement in counting),
            closes=any(model.needs_reference for model in models),
            moved=state[KEPT] < state[RECORDS],
            max_nodes=self._options.max_nodes,
            allowed=allowed,
        )


@dataclass
class _Search:
    """The search of one round of recoding.

    Attributes:
        tables: classes of nodes that others can be measured from.
        missed: what is estimated of nodes that satisfy the rest.
        whole: what all of its records lose if they are suppressed; 0 in the first round.
        last: whether no other may follow.
        failed: failing classes of the best node, if it was judged.
    """

    spec: ReleaseSpec
    measures: Measures
    search: BoxSearch
    tables: list[Table]
    missed: list[Missed]
    whole: int
    last: bool
    failed: QualifiedName | None = None

    @property
    def left(self) -> int:
        """Records that its best node leaves; 0 without one."""
        best = self.search.best
        return 0 if best is None else _failing(self.search.evaluated[best[2]])

    def talk(self) -> Generator[CreateTable | DropTables | Ask, Rows, None]:
        again: QualifiedName | None = None
        for number in count():
            wanted = self.search.advance()
            if not wanted:
                break
            name = f"{self.measures.place}_{number}"
            judged = wanted.judged
            source = smallest_of(judged, self.tables).name if judged is not None else ""
            if wanted.nodes:
                yield from self._measure(wanted.nodes, name)
            if judged is not None:
                again = yield from self._judge(judged, source, name, again)
        if self.search.best is not None:
            yield from self._take(self.search.best[2])

    def _measure(
        self, nodes: Sequence[Node], name: str
    ) -> Generator[CreateTable | DropTables | Ask, Rows, None]:
        """R of nodes, of which several may share a further table."""
        found = sources(nodes, self.tables, f"{name}_")
        for made, (node, source) in found.made.items():
            yield CreateTable(
                "shared",
                "classes that several nodes are measured from",
                partial(table_of, source=made),
                lambda s, node=node, source=source: self.measures.classes(node, source),
                analyze=False,
            )
        asked = [(node, found.of[node]) for node in nodes]
        rows = yield Ask(
            "measured",
            "failing records on the levels of many nodes",
            lambda s: self.measures.measured(asked, list(found.made)),
            assumed=[(text_of(node), 0, 0, 1) for node in nodes],
        )
        for text, failing, lost, classes in rows:
            if text in found.made:
                self.tables.append(Table(text, found.made[text][0], classes))
            else:
                self.search.observe(node_of(text), Evaluated(failing, lost, classes))

    def _judge(
        self, node: Node, source: str, name: str, again: QualifiedName | None
    ) -> Generator[CreateTable | DropTables | Ask, Rows, QualifiedName | None]:
        """M of a node; gives what fails, where it is judged again without that.

        Args:
            again: what failed when it was last judged, if it was.
        """
        search, measures = self.search, self.measures
        failed = measures.state.work(f"failed_{name}")
        yield table(
            "failed",
            "classes that fail on the levels of one node",
            lambda s: measures.failed(node, source, again),
            into=f"failed_{name}",
        )
        top = None if self.last else search.lattice.highest
        rows = yield Ask(
            "judged",
            "their records, and what these lose",
            lambda s: measures.judged(node, failed, top),
            assumed=[(None, int(not self.last), 0, 0)],
        )
        sizes = {size: classes for size, classes, *_ in rows if size is not None}
        ((_, failing, lost, stuck),) = (row for row in rows if row[0] is None)
        found = missed(self.spec.estimated, sizes) if failing <= search.rules.limit else None
        held = {self.failed, again, failed} - {None}
        if search.judge(node, failing, lost, stuck or 0, holds=found is None):
            self.failed = failed
        elif found is not None and search.judging is None:
            self.missed.append(found)
        again = failed if search.judging is not None else None
        yield from _dropping(held - {self.failed, again})
        return again

    def _take(self, node: Node) -> Generator[CreateTable | DropTables | Ask, Rows, None]:
        """The classes of the best node, and the records that it leaves to another search."""
        measures, failed = self.measures, self.failed
        place = measures.place
        yield CreateTable(
            "released",
            "classes that are released",
            lambda s: released(s, place),
            lambda s: measures.released(node, failed),
            inline=True,
        )
        if self.last or not self.left:
            return
        assert failed is not None
        yield CreateTable(
            "rest",
            "records that are left",
            lambda s: table_of(s, bottom(place + 1)),
            lambda s: measures.rest(node, failed),
        )
        for index in sorted({r.sensitive or 0 for r in measures.relaxed.unmeasured}):
            yield CreateTable(
                f"rest_of_values{index}",
                "sensitive values of the records that are left",
                partial(values_table, index=index, place=place + 1),
                lambda s, index=index: measures.rest_of_values(index, node, failed),
            )
        yield CreateTable(
            "losses",
            "what the records that are left lose on every level",
            lambda s: losses_of(s, place + 1),
            lambda s: losses(measures.layout, table_of(s, bottom(place + 1))),
        )
        measured = {table_of(measures.state, each.name) for each in self.tables}
        yield from _dropping(measured)


def _dropping(tables: set[Any]) -> Iterator[DropTables]:
    if tables:
        yield DropTables("tidy", "what nothing reads any more", lambda s: sorted(tables))


def _failing(measured: Evaluated) -> int:
    return measured.judged[0] if measured.judged else measured.failing


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
