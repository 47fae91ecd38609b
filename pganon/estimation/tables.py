"""Conditions that people have rows in related tables, and counts of rows of these.

`EXISTS (SELECT FROM diagnosis WHERE code = '250')` is about people. Rows may lead to them as in the
source, over joins, sub-selects and comparisons of declared keys, which are read over. Nothing that
is published links values of two tables, or of columns that are not together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from pganon.estimation.conditions import Conditions
from pganon.estimation.parse import ONE, Parsed, bare, called, check, folded, named_table
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Fact, Table, hidden_name
from pganon.identifiers import quote
from pganon.sqltools import col, conjunction, query, scalar

MAX_FACTS = 10

_VALUES = (
    "ask a question for each value, or read how many of a group have it in the view of the column"
)
_APART = "people who have both are asked for by an EXISTS for each"
_KEYS = "compare declared keys, or leave them out: EXISTS (SELECT FROM table WHERE condition)"
_LINKED = "rows of several tables are not linked by what is published"

_INNER = (None, "", "INNER", "CROSS")

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
        name, reader = hidden_name("rows"), _Reader(release, rows=True)
        own = reader.select(parsed.rows, [])
        fact = reader.fact(parsed.rows, own.values())
        aliases = {alias for _, alias in parsed.items}
        listed = [*[item for item, _ in parsed.items], *parsed.keys, parsed.having, *parsed.order]
        for column in [c for tree in listed if tree is not None for c in tree.find_all(exp.Column)]:
            if column.table or folded(column.this) not in aliases:
                table, _ = reader.place(column, [own])
                if table != release.root or column.name in parsed.facts:
                    said = "but in WHERE, rows have conditions and groups of people alone"
                    raise Unsupported(said, parsed.facts.get(column.name, column), _VALUES)
            bare(column, None)
        where = conjunction([exp.column(name, quoted=True), *reader.of_root])
        return replace(parsed, where=where), replace(release, facts={name: fact})
    root, facts = {called(source): release.root or ""}, dict[str, Fact]()
    for name, node in parsed.facts.items():
        reader = _Reader(release, rows=False)
        reader.condition(node, [root])
        facts[name] = reader.fact(node, reader.conditions)
    return parsed, replace(release, facts=facts)


class _Reader:
    """A SELECT of rows, with all that it joins.

    Attributes:
        conditions: by table.
        links: the columns of a table that are the same as those of another, which they name.
        of_root: conditions on the root, where rows are counted.
    """

    def __init__(self, release: AskedRelease, *, rows: bool) -> None:
        self.release = release
        self.rows = rows
        self.conditions: dict[str, list[exp.Expr]] = {}
        self.links: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self.of_root: list[exp.Expr] = []

    def fact(self, node: exp.Expr, counted: Iterable[str]) -> Fact:
        """What was read; `counted` are tables of which rows may be asked."""
        table = self._asked(node)
        if table.name not in counted:
            raise Unsupported(_LINKED, node, _APART)
        self.of_root = self.conditions.pop(self.release.root or "", [])
        found = [self._checked(table, item) for item in self.conditions.pop(table.name)]
        views = []
        for name, conditions in self.conditions.items():
            lookup = self.release.tables[name]
            if lookup.view is not None:
                # Two columns that name one row say more than that each names such a row.
                columns = [column for column, _ in self.links.get((table.name, name), ())]
                if len(columns) != 1:
                    raise Unsupported(_LINKED, node, _APART)
                tree = query("select :k from l", {"l": lookup.view}, k=col(lookup.key, "l"))
                for item in conditions:
                    tree = tree.where(self._checked(lookup, item))
                names = self._checked(table, exp.column(columns[0], quoted=True))
                found.append(exp.In(this=names, query=scalar(tree)))
                views.append(lookup.view)
            elif conditions:
                raise Unsupported(_LINKED, conditions[0], _APART)
        names, place = {column.name for item in found for column in item.find_all(exp.Column)}, None
        if names or self.rows:
            slices = [one for one in table.slices if names <= set(one.columns)]
            place = min(slices, key=lambda one: len(one.columns), default=None)
            if place is None or (self.rows and len(place.columns) > 1):
                listed = " and ".join(map(quote, sorted(names)))
                said = "are not counted by row" if place else "are not together in this release"
                raise Unsupported(f"{listed} {said}", found[0], _APART)
            read = (place.columns, place.columns[:1])
            views += [one.view for one in table.slices if one.columns in read]
            views += [table.rows] if self.rows and table.rows is not None else []
        return Fact(
            table,
            place,
            conjunction(found) if found else None,
            tuple(views),
            counted=self.rows,
            listed=isinstance(node, exp.In),
        )

    # -- what is written ------------------------------------------------------------------------

    def select(self, tree: exp.Expr, around: _Scopes) -> Mapping[str, str]:
        """Read a SELECT; its tables by the names that they have there."""
        listed = (exp.Star, exp.Literal, exp.Column, exp.Null, exp.Boolean)
        if (
            not isinstance(tree, exp.Select)
            or not _has(tree, "kind", "expressions", "from_", "joins", "where")
            or not all(isinstance(item.unalias(), listed) for item in tree.expressions)
        ):
            raise Unsupported("a sub-select is SELECT, FROM and WHERE alone", tree, _KEYS)
        own: dict[str, str] = {}
        scopes = [own, *around]
        clauses: list[exp.Expr] = []
        for item in [tree.args.get("from_") or exp.From(), *(tree.args.get("joins") or [])]:
            if not _has(item, "this", "on", "using", "kind") or item.args.get("kind") not in _INNER:
                raise Unsupported("only inner joins are estimated", item, _KEYS)
            table, before = self._table(item), [dict(own)]
            own[called(item.this)] = table
            for column in item.args.get("using") or []:
                other = self.place(exp.column(column.copy()), before)
                self._link((table, folded(column)), other, item)
            clauses += [item.args["on"]] if item.args.get("on") else []
        clauses += [tree.args["where"].this] if tree.args.get("where") else []
        for clause in clauses:
            self.condition(clause, scopes)
        return own

    def _table(self, item: exp.Expr) -> str:
        """The table of FROM or JOIN."""
        name = folded(named_table(item).this)
        known = [*self.release.tables, *([self.release.root or ""] if self.rows else [])]
        if self.rows and name == self.release.name and name not in known:
            name = self.release.root or ""  # as where the root alone is asked
        if name not in known:
            said = f"there is no table {quote(name[:63])} of events, or without people"
            listed = ", ".join(map(quote, known))
            raise Unsupported(said, item, f"it has {listed}; none with a period is asked")
        if name in self.conditions:
            raise Unsupported(f"{quote(name)} is joined with itself", item, _APART)
        self.conditions[name] = []
        return name

    def condition(self, node: exp.Expr, scopes: _Scopes) -> None:
        node = node.unnest()
        if isinstance(node, exp.And):
            self.condition(node.left, scopes)
            self.condition(node.right, scopes)
        elif isinstance(node, exp.Exists):
            self.select(node.this, scopes)
        elif isinstance(node, exp.In) and node.args.get("query"):
            tree = node.args["query"].this
            inside = self.select(tree, scopes)
            columns = [node.this, *[item.unalias() for item in tree.expressions]]
            if len(columns) != 2 or not all(isinstance(one, exp.Column) for one in columns):
                raise Unsupported("IN takes a column, and a sub-select of one", node, _KEYS)
            named = self.place(columns[1], [inside, *scopes])
            self._link(self.place(columns[0], scopes), named, node)
        elif isinstance(node, exp.EQ) and all(
            isinstance(side, exp.Column) for side in (node.left, node.right)
        ):
            self._link(self.place(node.left, scopes), self.place(node.right, scopes), node)
        else:
            if found := node.find(exp.Query, exp.Exists, exp.Subquery):
                raise Unsupported("a sub-select stands by itself, or with AND", found, _KEYS)
            columns = list(node.find_all(exp.Column))
            tables = {self.place(column, scopes)[0] for column in columns}
            if len(tables) != 1 or not tables <= self.conditions.keys():
                said = _LINKED if tables else "a condition must be about a column"
                raise Unsupported(said, node, "conditions on people stand beside EXISTS")
            for column in columns:
                bare(column, None)
            check(node)
            self.conditions[tables.pop()].append(node)

    def place(self, column: exp.Expr, scopes: _Scopes) -> tuple[str, str]:
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
        table = tables.get(name)
        known = [(table or self.release).columns]
        known += [way.columns for way in table.references] if table else []
        known += [way.key for one in tables.values() for way in one.references if way.table == name]
        return {column for columns in known for column in columns}

    # -- what it is about -----------------------------------------------------------------------

    def _link(self, one: tuple[str, str], other: tuple[str, str], node: exp.Expr) -> None:
        """A column of a table is the same as one of another."""
        tables = self.release.tables
        for (low, column), (high, key) in ((one, other), (other, one)):
            below, above = tables.get(low), tables.get(high)
            if below is None or below.view is not None:
                continue
            ways = [way for way in below.references if way.table == high]
            declared = [pair for way in ways for pair in zip(way.columns, way.key, strict=True)]
            if (column, key) in declared and len(below.references) > 1:
                hint = "leave the comparison out: rows may lead to people over either"
                raise Unsupported(f"{quote(low)} names rows of several", node, hint)
            named = above is not None and above.view is not None and above.key == key
            if named or (column, key) in declared:
                self.links.setdefault((low, high), set()).add((column, key))
                return
        raise Unsupported("these are no keys by which rows lead to people", node, _KEYS)

    def _asked(self, node: exp.Expr) -> Table:
        """The table of which rows are asked; the others are those over which they lead."""
        tables = self.release.tables
        events = [name for name in self.conditions if name in tables and not tables[name].view]
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
        if self.conditions.keys() - reached:
            raise Unsupported("tables are joined by no keys", node, _KEYS)
        return tables[first[0]]

    def _checked(self, table: Table, condition: exp.Expr) -> exp.Expr:
        """A condition on published columns of a table."""
        for column in condition.find_all(exp.Column):
            if column.name not in table.columns:
                said = f"{quote(table.name)} has no column {quote(column.name)} in this release"
                listed = ", ".join(map(quote, table.columns))
                raise Unsupported(said, column, f"its columns: {listed}")
        alone = replace(self.release, name=table.name, columns=table.columns, weights=(None, None))
        Conditions(alone).part(condition)
        return condition


def _has(node: exp.Expr, *names: str) -> bool:
    """Whether it has nothing else."""
    return not any(value for name, value in node.args.items() if name not in names)
