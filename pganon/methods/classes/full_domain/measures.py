"""Measures of nodes: classes of a node, the records in those that fail, and what they lose.

cells        (codes, n, bits)   records by their codes, and which sensitive values they have
hist         (key, n, bits)     the same by their keys
hist_*       the same of the classes of a node
values<j>    (key, value, n)    sensitive values by key, where a model needs more than bits
failed_*     (key, n, bits)     failing classes of a node
released_p   (key, n)           classes that the round p of recoding releases

What the rounds of recoding after the first have of `hist` and `values<j>` is what the ones before
leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.distribution import by_cell
from pganon.encode.records import number_of
from pganon.encode.shard_counts import counted_values, decoded
from pganon.encode.work import CODED, reference
from pganon.identifiers import QualifiedName
from pganon.methods.classes.full_domain.costs import Gaps
from pganon.methods.classes.full_domain.keys import Layout
from pganon.methods.classes.full_domain.necessary import Relaxed
from pganon.methods.classes.full_domain.population import classes_in_population
from pganon.methods.classes.full_domain.search.lattice import Node, text_of
from pganon.privacy.base import Relation, Requirement
from pganon.privacy.population import PopulationModel, searched
from pganon.privacy.release import sizes
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import (
    aliased,
    col,
    equal,
    fragment,
    named,
    num,
    query,
    scalar,
    stacked,
    text,
)
from pganon.steps import State

HIST = "hist"


def table_of(state: State, source: str) -> QualifiedName:
    """The table of a source, `hist` or the numbers of a further one."""
    return state.work(HIST if source == HIST else f"{HIST}_{source}")


def released(state: State, place: int) -> QualifiedName:
    """The classes that a round of recoding releases."""
    return state.work(f"released_{place}")


def bottom(place: int) -> str:
    """The source with all records of a round of recoding, by its number from 0."""
    return HIST if place == 0 else f"rest{place}"


def values_table(state: State, index: int, place: int = 0) -> QualifiedName:
    """Sensitive values of all records of a round of recoding."""
    return state.work(f"values{index}_by_key" + (f"_{bottom(place)}" if place else ""))


@dataclass(frozen=True)
class Measures:
    """SELECTs over the classes of nodes.

    Attributes:
        place: the round of recoding, from 0, whose records they are.
    """

    spec: ReleaseSpec
    state: State
    place: int = 0

    @cached_property
    def layout(self) -> Layout:
        return Layout(axes(self.spec.attributes), self.state)

    @cached_property
    def relaxed(self) -> Relaxed:
        return Relaxed(self.spec, self.state)

    @cached_property
    def gaps(self) -> Gaps:
        return Gaps(self.spec, self.layout)

    # -- tables of records ----------------------------------------------------------------------

    @property
    def _records(self) -> Relation:
        """The encoded records; of those in shards what they show, counted."""
        if by_cell(self.spec, self.state) is None:
            return self.state.work(CODED)
        return decoded(self.spec, self.state, counted_values(self.spec, self.state))

    @property
    def _number(self) -> exp.Expr:
        if by_cell(self.spec, self.state) is None:
            return number_of(self.spec, "r")
        return fragment("sum(r.w)::bigint")

    def cells(self) -> exp.Select:
        codes = [col(axis.code, "r") for axis in self.layout.axes]
        tree = query("select :n as n from r", {"r": self._records}, n=self._number)
        tree = tree.select(*codes, *self.relaxed.bits("r"))
        return tree.group_by(*[code.copy() for code in codes])

    def hist(self) -> exp.Select:
        tree = query("select c.n from c", {"c": self.state.work("cells")})
        bits = [col(name, "c") for name in self.relaxed.columns]
        return tree.select(*self.layout.keys("c"), *bits)

    def values(self, index: int) -> exp.Select:
        """SELECT key, value, n of a sensitive column."""
        codes = [col(axis.code, "r") for axis in self.layout.axes]
        value = col(f"s{index}", "r")
        counted = query("select :n as n from r", {"r": self._records}, n=self._number)
        counted = counted.select(*codes, named(value, "value"))
        counted = counted.group_by(*[key.copy() for key in (*codes, value)])
        tree = query("select c.value, c.n from c", {"c": counted})
        return tree.select(*self.layout.keys("c"))

    # -- nodes ------------------------------------------------------------------------------------

    def classes(self, node: Node, source: str) -> exp.Select:
        """SELECT key, n, bits: the classes of a node."""
        keys = self.layout.masked(node, "t")
        tree = query("select sum(t.n)::bigint as n from t", {"t": table_of(self.state, source)})
        tree = tree.select(*keys, *self.relaxed.united("t"))
        return tree.group_by(*[key.this.copy() for key in keys])

    def measured(self, nodes: Sequence[tuple[Node, str]], counted: Sequence[str]) -> exp.Select:
        """SELECT node, s, e, classes; every node with its source.

        Args:
            counted: sources of which only the classes are asked, in place of a node.
        """
        sized = [
            query(
                "select :name as node, 0::bigint as s, 0::bigint as e, count(*) as classes from t",
                {"t": table_of(self.state, name)},
                name=text(name),
            )
            for name in counted
        ]
        return stacked(
            [
                query(
                    "select :node as node,"
                    " coalesce(sum(c.n) filter (where :fails), 0)::bigint as s,"
                    " coalesce(sum(c.n * :gap) filter (where :fails), 0)::bigint as e,"
                    " count(*) as classes from c",
                    {"c": self.classes(node, source)},
                    node=text(text_of(node)),
                    fails=self.relaxed.fails("c"),
                    gap=exp.paren(self.gaps.of(node)),
                )
                for node, source in nodes
            ]
            + sized
        )

    def failed(self, node: Node, source: str, before: QualifiedName | None = None) -> exp.Select:
        """SELECT key, n, bits: the classes of a node that fail.

        Args:
            before: those that failed when the rest was taken to be released; they still do.
        """
        columns = [*self.layout.words, *self.relaxed.columns]
        tree = query("select c.n from c", {"c": self.classes(node, source)})
        tree = tree.select(*[col(name, "c") for name in columns])
        found = [*self._missing(node, self._histogram, before), *self._outnumbered(node)]
        if before is not None:
            keys = [col(word, "b") for word in self.layout.words]
            found.append(query("select 1 from b", {"b": before}).select(*keys, append=False))
        return self._failing(tree, found)

    def _failing(self, tree: exp.Select, missing: Sequence[exp.Select]) -> exp.Select:
        """The classes `c` of a SELECT that fail by size and values, or have one of the keys."""
        failing = [self.relaxed.fails("c")]
        for number, missed in enumerate(missing):
            alias = f"f{number}"
            on = equal(self.layout.words, alias, "c")
            tree = tree.join(aliased(missed, alias), on=on, join_type="left")
            failing.append(fragment(":k is not null", k=col(self.layout.words[0], alias)))
        return tree.where(exp.or_(*failing))

    def _missing(
        self,
        node: Node,
        histogram: Callable[[int, Node], exp.Select],
        before: QualifiedName | None = None,
    ) -> list[exp.Select]:
        """SELECT key of the classes that miss a requirement, by every reference distribution."""
        words = self.layout.words
        found: list[exp.Select] = []
        for requirement in self.relaxed.unmeasured:
            index, model = requirement.sensitive, requirement.model
            assert index is not None
            references: list[Relation | None] = [None]
            if model.needs_reference:
                references = [self.state.work(reference(index, "source"))]
                if before is not None:
                    references.append(self._left(index, node, before))
            found += [
                query(
                    "select 1 from m where not :holds",
                    {"m": model.measure(histogram(index, node), words, distribution)},
                    holds=model.holds(col("measure", "m")),
                ).select(*[col(word, "m") for word in words], append=False)
                for distribution in references
            ]
        return found

    def _outnumbered(self, node: Node) -> list[exp.Select]:
        """SELECT key of the classes that miss a requirement beside the population."""
        words = self.layout.words
        return [
            query(
                "select 1 from m where not :holds",
                {"m": requirement.model.measure(self._in_population(node), words)},
                holds=requirement.model.holds(col("measure", "m")),
            ).select(*[col(word, "m") for word in words], append=False)
            for requirement in searched(self.spec.requirements)
        ]

    def _in_population(self, node: Node) -> exp.Select:
        return classes_in_population(self.layout, node, self.state.work(HIST))

    def by_model(self, requirement: Requirement, node: Node) -> exp.Select:
        """SELECT measure of the classes of a node."""
        model, index = requirement.model, requirement.sensitive
        if isinstance(model, PopulationModel):
            return model.measure(self._in_population(node), self.layout.words)
        classes = self.classes(node, HIST)
        if not model.needs_values:
            return query("select c.n as measure from c", {"c": classes})
        assert index is not None
        if requirement not in self.relaxed.unmeasured:
            counted = named(self.relaxed.distinct(index, "c"), "measure")
            return query("select 1 from c", {"c": classes}).select(counted, append=False)
        distribution = None
        if model.needs_reference:
            distribution = self.state.work(reference(index, "source"))
        return model.measure(self._histogram(index, node), self.layout.words, distribution)

    def _histogram(self, index: int, node: Node) -> exp.Select:
        return self._counted(values_table(self.state, index, self.place), node)

    def _counted(self, values: Relation, node: Node) -> exp.Select:
        keys = self.layout.masked(node, "v")
        tree = query("select v.value, sum(v.n)::bigint as n from v", {"v": values}).select(*keys)
        return tree.group_by(*[key.this.copy() for key in keys], col("value", "v"))

    def _left(self, index: int, node: Node, before: QualifiedName) -> exp.Select:
        """The distribution of a sensitive column without the classes that failed."""
        left = query(
            "select h.value, sum(h.n) as n from h left join b on :same where :none"
            " group by h.value",
            {"h": self._histogram(index, node), "b": before},
            same=equal(self.layout.words, "b", "h"),
            none=fragment(":k is null", k=col(self.layout.words[0], "b")),
        )
        item = self.spec.sensitive[index]
        path = [] if item.hierarchy is None else [col("path", "r")]
        return query(
            "select r.value, r.position, coalesce(l.n, 0) as n,"
            " (coalesce(l.n, 0) / nullif(sum(l.n) over (), 0))::float8 as share"
            " from r left join l on l.value = r.value",
            {"r": self.state.work(reference(index, "source")), "l": left},
        ).select(*path)

    def judged(self, node: Node, failed: QualifiedName, top: Node | None = None) -> exp.Select:
        """SELECT size, s, e, stuck: of the classes that fail in the row without a size.

        Where sizes are estimated from, the others have how many classes that pass there are of
        each, as `s`.

        Args:
            top: where another round of recoding follows, the highest levels, on which what fails is
                judged alone.
        """
        nothing = exp.cast(exp.null(), "bigint")
        lost = query(
            "select null::bigint as size, coalesce(sum(c.n), 0)::bigint as s,"
            " coalesce(sum(c.n * :gap), 0)::bigint as e, :stuck as stuck from c",
            {"c": failed},
            gap=exp.paren(self.gaps.of(node)),
            stuck=nothing if top is None else scalar(self._stuck(node, failed, top)),
        )
        if not self.spec.estimated:
            return lost
        passing = query(
            "select s.size, s.classes as s, null::bigint as e, null::bigint as stuck from s",
            {"s": sizes(self.released(node, failed), self.layout.words)},
        )
        return stacked([lost, passing])

    def _stuck(self, node: Node, failed: QualifiedName, top: Node) -> exp.Select:
        """SELECT how many records of failing classes fail alone on the highest levels."""
        keys = self.layout.masked(top, "t")
        tree = query("select sum(t.n)::bigint as n from t", {"t": failed})
        tree = tree.select(*keys, *self.relaxed.united("t"))
        classes = tree.group_by(*[key.this.copy() for key in keys])

        def histogram(index: int, top: Node) -> exp.Select:
            return self._counted(
                self._of_failed(values_table(self.state, index, self.place), node, failed), top
            )

        every = query("select coalesce(sum(c.n), 0)::bigint from c", {"c": classes})
        return self._failing(every, self._missing(top, histogram))

    # -- what a round of recoding leaves --------------------------------------------------------

    def rest(self, node: Node, failed: QualifiedName) -> exp.Select:
        """SELECT as `hist`: the records of the failing classes."""
        return self._of_failed(table_of(self.state, bottom(self.place)), node, failed)

    def rest_of_values(self, index: int, node: Node, failed: QualifiedName) -> exp.Select:
        """SELECT as `values<j>`: the same of a sensitive column."""
        return self._of_failed(values_table(self.state, index, self.place), node, failed)

    def _of_failed(self, table: QualifiedName, node: Node, failed: QualifiedName) -> exp.Select:
        masked = [
            exp.EQ(this=exp.paren(key.this), expression=col(word, "f"))
            for key, word in zip(self.layout.masked(node, "t"), self.layout.words, strict=True)
        ]
        tree = query("select t.* from t", {"t": table})
        return tree.join(aliased(failed, "f"), on=exp.and_(*masked))

    # -- what is released -----------------------------------------------------------------------

    def released(self, node: Node, failed: QualifiedName | None) -> exp.Select:
        """SELECT key, n: the classes of a node that pass.

        Args:
            failed: those that fail; None where sizes and distinct values say it.
        """
        words = self.layout.words
        tree = query("select c.n from c", {"c": self.classes(node, bottom(self.place))})
        tree = tree.select(*[col(word, "c") for word in words])
        if failed is None:
            return tree.where(exp.not_(self.relaxed.fails("c")))
        tree = tree.join(aliased(failed, "f"), on=equal(words, "f", "c"), join_type="left")
        return tree.where(fragment(":k is null", k=col(words[0], "f")))

    def passing(self, places: int) -> exp.Select:
        """SELECT gid, place, key, n: the classes of all rounds of recoding, in key order."""
        words = self.layout.words
        every = [
            query(
                "select :p as place, c.n from c", {"c": released(self.state, place)}, p=num(place)
            ).select(*[col(word, "c") for word in words])
            for place in range(places)
        ]
        order = exp.Order(expressions=[col(name, "c") for name in ("place", *words)])
        number = exp.Window(this=exp.RowNumber(), order=order)
        tree = query("select c.place, c.n from c", {"c": stacked(every)})
        return tree.select(
            named(fragment(":n::int", n=number), "gid"), *[col(word, "c") for word in words]
        )

    def grouped(self, nodes: Sequence[Node]) -> exp.Select:
        """SELECT gid, codes: the class of every combination of codes.

        Args:
            nodes: those of all rounds of recoding; the first that releases a record has it.
        """
        words = self.layout.words
        codes = [axis.code for axis in self.layout.axes]
        tree = query("select 1 from t", {"t": self._keyed()}).select(
            *[col(code, "t") for code in codes], append=False
        )
        found: list[exp.Expr] = []
        for place, node in enumerate(nodes):
            alias = f"p{place}"
            on = [exp.EQ(this=col("place", alias), expression=num(place))]
            on += [
                exp.EQ(this=exp.paren(key.this), expression=col(word, alias))
                for key, word in zip(self.layout.masked(node, "t"), words, strict=True)
            ]
            passing = aliased(self.state.work("passing"), alias)
            tree = tree.join(passing, on=exp.and_(*on), join_type="left")
            found.append(col("gid", alias))
        gid = exp.func("coalesce", *found)
        return tree.select(named(gid, "gid")).where(fragment(":g is not null", g=gid.copy()))

    def _keyed(self) -> exp.Select:
        """SELECT codes, key of every combination."""
        codes = [axis.code for axis in self.layout.axes]
        return query("select 1 from c", {"c": self.state.work("cells")}).select(
            *[col(code, "c") for code in codes], *self.layout.keys("c"), append=False
        )
