"""Conditions that people have rows in related tables, and counts of rows of these.

`EXISTS (SELECT FROM diagnosis WHERE code = '250')` is about people. Rows may lead to them as in the
source, over joins, sub-selects and comparisons of declared keys, which are read over. Nothing that
is published links values of two tables, or of columns that are not together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from sqlglot import exp

from pganon.estimation.conditions import Conditions
from pganon.estimation.parse import ONE, Parsed, check, folded
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Fact, Table, hidden_name
from pganon.identifiers import quote
from pganon.sqltools import col, conjunction, query, scalar

MAX_FACTS = 10

_APART = "people who have both are asked for by an EXISTS for each"
_KEYS = "compare declared keys, or leave them out: EXISTS (SELECT FROM table WHERE condition)"

_Scopes = Sequence[Mapping[str, str]]
"""Tables by the names that they have in a SELECT and in those around it, the inmost first."""


def with_facts(parsed: Parsed, release: AskedRelease) -> tuple[Parsed, AskedRelease]:
    """The query about records of the release, and what it asks of other tables as facts of these.

    Raises:
        Unsupported: something that is asked of tables is not about people alone.
    """
    joins = parsed.rows.args.get("joins") or []
    if not release.tables:
        for node in [*joins, *parsed.facts.values()]:
            said = "a join" if isinstance(node, exp.Join) else "a sub-select"
            raise Unsupported(f"{said} is not estimated", node, ONE)
        return parsed, release
    if len(parsed.facts) > MAX_FACTS:
        raise Unsupported(f"there are more than {MAX_FACTS} conditions on other tables")
    source = parsed.source
    if joins or folded(source.this) in release.tables:
        used = {c.name for item, _ in parsed.items for c in item.find_all(exp.Column)}
        for name in used & parsed.facts.keys():
            raise Unsupported("FILTER of rows has no sub-select", parsed.facts[name], _APART)
        name, reader = hidden_name("rows"), _Reader(release, {}, rows=True)
        facts = {name: reader.fact(parsed.rows)}
        where = conjunction([exp.column(name, quoted=True), *reader.of_root])
        return replace(parsed, where=where), replace(release, facts=facts)
    root = {folded(source.args["alias"].this if source.alias else source.this): release.root or ""}
    facts = {n: _Reader(release, root, rows=False).fact(node) for n, node in parsed.facts.items()}
    return parsed, replace(release, facts=facts)


class _Reader:
    """A SELECT of rows, with all that it joins.

    Attributes:
        of_root: conditions on the root, where rows are counted.
    """

    def __init__(self, release: AskedRelease, root: Mapping[str, str], *, rows: bool) -> None:
        self.release = release
        self.around = root
        self.rows = rows
        self.of_root: list[exp.Expr] = []
        self.conditions: dict[str, list[exp.Expr]] = {}
        self.links: dict[tuple[str, str], set[tuple[str, str]]] = {}

    def fact(self, node: exp.Expr) -> Fact:
        if isinstance(node, exp.Select):
            own = self._select(node, [self.around]).values()
        else:
            self._condition(node, [self.around])
            own = self.conditions
        table = self._asked(node)
        if table.name not in own:
            raise Unsupported(_LINKED, node, _APART)
        self.of_root = self.conditions.pop(self.release.root or "", [])
        found = [_checked(self.release, table, item) for item in self.conditions.pop(table.name)]
        views = []
        for name, conditions in self.conditions.items():
            lookup = self.release.tables[name]
            if lookup.view is not None:
                found += self._named(table, lookup, conditions)
                views.append(lookup.view)
            elif conditions:
                raise Unsupported(_LINKED, conditions[0], _APART)
        names = {column.name for item in found for column in item.find_all(exp.Column)}
        slices = [one for one in table.slices if names <= set(one.columns)]
        place = min(slices, key=lambda one: len(one.columns), default=None)
        if place is None or (self.rows and len(place.columns) > 1):
            listed = " and ".join(map(quote, sorted(names)))
            said = "are not counted by row" if place else "are not together in this release"
            raise Unsupported(f"{listed} {said}", found[0], _APART)
        if not names and not self.rows:
            return Fact(table, None, None, (), counted=False, listed=isinstance(node, exp.In))
        read = (place.columns, place.columns[:1])
        views += [one.view for one in table.slices if one.columns in read]
        if self.rows and table.rows is not None:
            views.append(table.rows)
        return Fact(
            table,
            place,
            conjunction(found) if found else None,
            tuple(views),
            counted=self.rows,
            listed=isinstance(node, exp.In),
        )

    # -- what is written ------------------------------------------------------------------------

    def _select(self, tree: exp.Expr, around: _Scopes) -> Mapping[str, str]:
        """Read a SELECT; its tables by the names that they have there."""
        listed = (exp.Star, exp.Literal, exp.Column, exp.Null, exp.Boolean)
        if (
            not isinstance(tree, exp.Select)
            or not _has(tree, "kind", "expressions", "from_", "joins", "where")
            or not all(isinstance(item.unalias(), listed) for item in tree.expressions)
        ):
            raise Unsupported("a sub-select is SELECT, FROM and WHERE alone", tree, _KEYS)
        joins: list[exp.Expr] = tree.args.get("joins") or []
        own: dict[str, str] = {}
        scopes = [own, *around]
        for item in [tree.args.get("from_") or exp.From(this=exp.Null()), *joins]:
            before = list(own.values())
            table, alias = self._table(item)
            own[alias] = table
            for column in item.args.get("using") or []:
                self._link([(table, folded(column))], [(b, folded(column)) for b in before], item)
        for clause in [*[join.args.get("on") for join in joins], tree.args.get("where")]:
            if clause is not None:
                self._condition(clause.this if isinstance(clause, exp.Where) else clause, scopes)
        return own

    def _table(self, item: exp.Expr) -> tuple[str, str]:
        """The table of FROM or JOIN, and its name there."""
        table = item.this
        kind = item.args.get("kind") or "INNER"
        if not _has(item, "this", "on", "using", "kind") or kind not in ("INNER", "CROSS"):
            raise Unsupported("only inner joins are estimated", item, _KEYS)
        if (
            type(table) is not exp.Table
            or not isinstance(table.this, exp.Identifier)
            or not _has(table, "this", "db", "alias")
        ):
            raise Unsupported("FROM has names of tables alone", item, _KEYS)
        name, alias = folded(table.this), table.args.get("alias")
        known = [*self.release.tables, *([self.release.root or ""] if self.rows else [])]
        if name not in known:
            said = f"there is no table {quote(name[:63])} of events, or without people"
            listed = ", ".join(map(quote, known))
            raise Unsupported(said, item, f"tables: {listed}; those with a period are not asked")
        if name in self.conditions:
            raise Unsupported(f"{quote(name)} is joined with itself", item, _APART)
        self.conditions[name] = []
        return name, folded(alias.this if alias else table.this)

    def _condition(self, node: exp.Expr, scopes: _Scopes) -> None:
        node = node.unnest()
        if isinstance(node, exp.And):
            self._condition(node.left, scopes)
            self._condition(node.right, scopes)
        elif isinstance(node, exp.Exists):
            self._select(node.this, scopes)
        elif isinstance(node, exp.In) and node.args.get("query"):
            tree = node.args["query"].this
            inside = self._select(tree, scopes)
            columns = [node.this, *[item.unalias() for item in tree.expressions]]
            if len(columns) != 2 or not all(isinstance(one, exp.Column) for one in columns):
                raise Unsupported("IN takes a column, and a sub-select of one", node, _KEYS)
            named = self._place(columns[1], [inside, *scopes])
            self._link([self._place(columns[0], scopes)], [named], node)
        elif isinstance(node, exp.EQ) and all(
            isinstance(side, exp.Column) for side in (node.left, node.right)
        ):
            self._link([self._place(node.left, scopes)], [self._place(node.right, scopes)], node)
        else:
            if found := node.find(exp.Query, exp.Exists, exp.Subquery):
                raise Unsupported("a sub-select stands by itself, or with AND", found, _KEYS)
            tables = {self._place(column, scopes)[0] for column in node.find_all(exp.Column)}
            if len(tables) != 1 or not tables <= self.conditions.keys():
                said = _LINKED if tables else "a condition must be about a column"
                raise Unsupported(said, node, "conditions on people stand beside EXISTS")
            condition = _bare(node)
            check(condition)
            self.conditions[tables.pop()].append(condition)

    def _place(self, column: exp.Expr, scopes: _Scopes) -> tuple[str, str]:
        """The table of a column, and its name."""
        name, table = folded(column.this), column.args.get("table")
        for scope in scopes:
            for alias, found in scope.items():
                if folded(table) == alias if table else name in self._names(found):
                    return found, name
        if table:
            raise Unsupported(f"there is no table {quote(table.name[:63])} in the query", column)
        return next(iter(scopes[0].values()), ""), name  # which says that it is not there

    def _names(self, name: str) -> set[str]:
        """Columns of a table, with those that name rows of others or are named by these."""
        tables = self.release.tables
        known = tables[name].columns if name in tables else self.release.columns
        ways = [(one.name, way) for one in tables.values() for way in one.references]
        below = {column for one, way in ways if one == name for column in way.columns}
        return {*known, *below, *(key for _, way in ways if way.table == name for key in way.key)}

    # -- what it is about -----------------------------------------------------------------------

    def _link(
        self, ones: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]], node: exp.Expr
    ) -> None:
        """A column of a table is the same as one of others."""
        for one, other in product(ones, others):
            for (low, column), (high, key) in ((one, other), (other, one)):
                below, above = self.release.tables.get(low), self.release.tables.get(high)
                ways = [way for way in below.references if way.table == high] if below else []
                declared = [pair for way in ways for pair in zip(way.columns, way.key, strict=True)]
                if below and above and above.key == key and key and not below.key:
                    declared = [(column, key)]
                elif (column, key) in declared and below and len(below.references) > 1:
                    hint = "leave the comparison out: rows may lead to people over either"
                    raise Unsupported(f"{quote(low)} names rows of several", node, hint)
                if (column, key) in declared:
                    self.links.setdefault((low, high), set()).add((column, key))
                    return
        raise Unsupported("these are no keys by which rows lead to people", node, _KEYS)

    def _asked(self, node: exp.Expr) -> Table:
        """The table of which rows are asked; the others are those over which they lead."""
        tables = self.release.tables
        events = [name for name in self.conditions if name in tables and not tables[name].key]
        first = [name for name in events if not any((one, name) in self.links for one in events)]
        if len(first) != 1:
            raise Unsupported("rows of one table of events can be asked for", node, _KEYS)
        for (low, high), pairs in self.links.items():
            keys = [len(way.key) for way in tables[low].references if way.table == high]
            if keys and len(pairs) < keys[0]:
                raise Unsupported(f"a part of the key of {quote(high)} is compared", node, _KEYS)
        reached = {first[0]}
        while more := {high for low, high in self.links if low in reached} - reached:
            reached |= more
        if {*self.conditions, *[low for low, _ in self.links]} - reached:
            raise Unsupported("tables are joined by no keys", node, _KEYS)
        return tables[first[0]]

    def _named(
        self, table: Table, lookup: Table, conditions: Sequence[exp.Expr]
    ) -> Iterator[exp.Expr]:
        """Conditions on the rows of a lookup, as those on the columns that name them."""
        assert lookup.view is not None
        tree = query("select :k from l", {"l": lookup.view}, k=col(lookup.key, "l"))
        for item in conditions:
            tree = tree.where(_checked(self.release, lookup, item))
        for column, _ in self.links.get((table.name, lookup.name), ()):
            named = _checked(self.release, table, exp.column(column, quoted=True))
            yield exp.In(this=named, query=scalar(tree))


def _has(node: exp.Expr, *names: str) -> bool:
    """Whether it has nothing else."""
    return not any(value for name, value in node.args.items() if name not in names)


_LINKED = "rows of several tables are not linked by what is published"


def _bare(node: exp.Expr) -> exp.Expr:
    """A condition with the names of columns alone, as the catalog has them."""
    node = node.copy()
    for column in node.find_all(exp.Column):
        column.set("this", exp.to_identifier(folded(column.this), quoted=True))
        column.set("table", None)
    return node


def _checked(release: AskedRelease, table: Table, condition: exp.Expr) -> exp.Expr:
    """A condition on published columns of a table."""
    for column in condition.find_all(exp.Column):
        if column.name not in table.columns:
            said = f"{quote(table.name)} has no column {quote(column.name)} in this release"
            listed = ", ".join(map(quote, table.columns))
            raise Unsupported(said, column, f"its columns: {listed}")
    alone = replace(release, name=table.name, columns=table.columns, weights=(None, None))
    Conditions(alone).part(condition)
    return condition
