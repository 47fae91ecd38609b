"""A parsed query, resolved against a release: formula of WHERE, keys, aggregates."""

from __future__ import annotations

from sqlglot import exp

from pganon.estimation.alternatives import arranged
from pganon.estimation.conditions import Conditions
from pganon.estimation.parse import SINGLE, USE_AGGREGATES, Parsed, check, folded
from pganon.estimation.question import (
    Aggregate,
    Item,
    Key,
    Measure,
    Question,
    Resolved,
    added_beside,
    figure,
)
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import FLOATS, AskedRelease
from pganon.estimation.tables import with_facts
from pganon.identifiers import quote
from pganon.sqltools import function_name

_MEASURES: dict[type[exp.Expr], Measure] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_OR_TIME = {"min": " or a date", "max": " or a date"}
_AGGREGATES = (exp.AggFunc, exp.Filter, exp.Window, exp.WithinGroup)


def resolve(parsed: Parsed, release: AskedRelease) -> Resolved:
    """The query, or :class:`Unsupported`."""
    return _Resolver(*with_facts(parsed, release)).resolved()


class _Resolver:
    def __init__(self, parsed: Parsed, release: AskedRelease) -> None:
        self.parsed = parsed
        self.release = release
        self.rows = any(fact.counted for fact in release.facts.values())
        self.conditions = Conditions(release)
        # The aggregates of all records of a group, and of those that a FILTER keeps.
        self.aggregates: dict[exp.Expr | None, list[Aggregate]] = {None: []}

    def resolved(self) -> Resolved:
        self._check_source()
        trees = [self._key_tree(key) for key in self.parsed.keys]
        keys = tuple(self._key(tree) for tree in trees)
        items = self._items(trees)
        having = self._having(trees)
        order = tuple(self._sorted(item, trees, items) for item in self.parsed.order)
        return Resolved(self._questions(keys), items, having, order, self.parsed.limit)

    def _questions(self, keys: tuple[Key, ...]) -> tuple[Question, ...]:
        found: list[Question] = []
        for kept, aggregates in self.aggregates.items():
            trees = [tree for tree in (self.parsed.where, kept) if tree is not None]
            where = self.conditions.all_of(trees)
            found.append(arranged(self.release, keys, tuple(aggregates), where))
        person = self.release.person
        measured = {a.column for question in found for a in question.aggregates}
        if person is not None and measured - {None, person}:
            raise Unsupported(
                "of a release with several records per individual only count(*) and"
                f" count(DISTINCT {quote(person.name)}) are estimated yet"
            )
        return tuple(found)

    def _check_source(self) -> None:
        source, view = self.parsed.source, self.release.view
        schema = source.args.get("db")
        wanted = (view.name, self.release.name)
        if self.rows or folded(source.this) == self.release.root:
            return
        if folded(source.this) not in wanted or (schema and folded(schema) != view.schema):
            name = quote(self.release.name)
            raise Unsupported(
                f"the query is not from the release {name}",
                source,
                f"write FROM {name}",
            )

    # -- the list, GROUP BY, ORDER BY -----------------------------------------------------------

    def _key_tree(self, node: exp.Expr) -> exp.Expr:
        """What a key stands for: an item by its position or alias, or itself."""
        if isinstance(node, exp.Literal) and not node.is_string:
            number = int(node.name) if node.name.isdigit() else 0
            if not 0 < number <= len(self.parsed.items):
                raise Unsupported(f"there is no column {node.name[:20]} in the list", node)
            return self.parsed.items[number - 1][0]
        if isinstance(node, exp.Column) and node.name not in self.release.columns:
            for tree, alias in self.parsed.items:
                if alias == node.name:
                    return tree
        return node

    def _key(self, tree: exp.Expr) -> Key:
        if tree.find(exp.AggFunc):
            raise Unsupported("an aggregate cannot be in GROUP BY", tree)
        check(tree)
        part = self.conditions.part(tree)
        for found in tree.find_all(exp.Column):
            if self.conditions.shown(found).form == "label":
                raise Unsupported(
                    f"groups of {quote(found.name)}, which has labels, are not estimated yet",
                    found,
                    "ask for one label at a time in WHERE",
                )
        return Key(part, tree.unnest())

    def _items(self, keys: list[exp.Expr]) -> tuple[Item, ...]:
        items: list[Item] = []
        for tree, alias in self.parsed.items:
            what, name = self._item(tree, keys)
            name = alias or name
            if any(item.name == name for item in items):
                raise Unsupported(f"two columns are named {quote(name)}", tree, "give one an alias")
            items.append(Item(name, what))
        if all(isinstance(item.what, int) for item in items):
            raise Unsupported(SINGLE, None, USE_AGGREGATES)
        return tuple(items)

    def _item(self, tree: exp.Expr, keys: list[exp.Expr]) -> tuple[int | exp.Expr, str]:
        plain = tree.unnest()
        for number, key in enumerate(keys):
            if plain == key.unnest():
                return number, _default_name(plain)
        if isinstance(plain, _AGGREGATES):
            return self._figure(plain), _default_name(plain)
        if plain.find(exp.AggFunc):
            return self._combined(plain), _default_name(plain)
        check(plain)
        self.conditions.part(plain)
        raise Unsupported("only aggregates and keys of GROUP BY can be in the list", plain)

    def _combined(self, node: exp.Expr) -> exp.Expr:
        """Aggregates as columns, and what is between them."""
        node = node.unnest()
        if isinstance(node, _AGGREGATES):
            found = self._figure(node)
            for column in node.find_all(exp.Column):
                if node.find(exp.Min, exp.Max) and self.conditions.column(column).is_time:
                    raise Unsupported("arithmetic takes aggregates of numbers", column)
            return found
        if isinstance(node, exp.Literal) and not node.is_string:
            return node.copy()
        if isinstance(node, exp.Cast) and node.to.this in exp.DataType.NUMERIC_TYPES:
            check(exp.Cast(this=exp.Literal.number(0), to=node.to.copy()))
            return exp.Cast(this=self._combined(node.this), to=node.to.copy())
        if type(node) in (exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div):
            found = node.copy()
            for side in ("this", "expression"):
                if side in node.args:
                    found.set(side, self._combined(node.args[side]))
            return found
        rounds = isinstance(node, exp.Round | exp.Floor | exp.Ceil)
        raise Unsupported(
            "aggregates and numbers are only combined by + - * /",
            node,
            "round the answer: `--json` and `--csv` have all digits of it" if rounds else None,
        )

    def _figure(self, node: exp.Expr) -> exp.Column:
        """The column of an aggregate, which becomes one of a question."""
        kept = None
        if isinstance(node, exp.Filter):
            node, kept = node.this, node.expression.this
            check(kept)
        aggregate = self._aggregate(node)
        own = self.aggregates.setdefault(kept, [])
        for one in (aggregate, *added_beside(aggregate)):
            if one not in own:
                own.append(one)
        question = list(self.aggregates).index(kept)
        return exp.column(figure(question, own.index(aggregate)), quoted=True)

    def _aggregate(self, node: exp.Expr) -> Aggregate:
        if isinstance(node, exp.Window | exp.WithinGroup):
            raise Unsupported("OVER and WITHIN GROUP are not estimated", node)
        if type(node) not in _MEASURES:
            name = function_name(node) if isinstance(node, exp.Func) else "this"
            raise Unsupported(
                f"{name}() is not estimated", node, "count, sum, avg, min and max are estimated"
            )
        argument = node.this
        measure = _MEASURES[type(node)]
        if self.rows and not isinstance(argument, exp.Star):
            raise Unsupported("rows of events are counted by count(*) alone", node)
        if isinstance(argument, exp.Star):
            return Aggregate("rows" if self.rows else measure, None)
        person = self.release.person
        if person is not None and argument == exp.Distinct(
            expressions=[exp.column(person.name, quoted=True)]
        ):
            return Aggregate("persons", person)
        if isinstance(argument, exp.Distinct) or node.expressions:
            raise Unsupported("aggregates of distinct values are not estimated yet", node)
        argument = argument.unnest() if argument is not None else None
        if argument is not None and any(map(self._is_weight, argument.find_all(exp.Column))):
            return self._weighted(node, argument)
        if not isinstance(argument, exp.Column):
            raise Unsupported(
                f"{measure}() takes one column of the release",
                node,
                "combine aggregates instead: 2 * sum(a) for sum(2 * a)",
            )
        column = self.conditions.shown(argument)
        ordered = measure in ("min", "max") and column.is_time
        if measure != "count" and not column.is_number and not ordered:
            raise Unsupported(
                f"{measure}() takes a number{_OR_TIME.get(measure, '')};"
                f" {quote(column.name)} is {column.kind}",
                argument,
            )
        if measure != "count" and column.form == "label":
            raise Unsupported(f"{quote(column.name)} has labels, which have no sum", argument)
        return Aggregate(measure, column)

    def _is_weight(self, node: exp.Expr) -> bool:
        return isinstance(node, exp.Column) and node.name == self.release.weights[0]

    def _weighted(self, node: exp.Expr, argument: exp.Expr) -> Aggregate:
        """The sum of weights, or of their products with a column of which rows are published."""
        sides = [argument.left, argument.right] if isinstance(argument, exp.Mul) else [argument]
        others = [side for side in sides if not self._is_weight(side)]
        name = quote(self.release.weights[0] or "weight")
        hint = f"sum({name}), and sum({name} * column) of a column that is published unchanged"
        if type(node) is not exp.Sum or len(others) + 1 != len(sides):
            raise Unsupported("of weights only sums are estimated", node, hint)
        if not others:
            return Aggregate("weighted", None)
        other = others[0].unnest()
        if not isinstance(other, exp.Column):
            raise Unsupported("a weight is multiplied by one column", other, hint)
        column = self.conditions.shown(other)
        if not column.part.exact or not column.is_number or column.kind in FLOATS:
            raise Unsupported(
                f"{quote(column.name)} is no whole number or numeric that is published unchanged",
                other,
                hint,
            )
        return Aggregate("weighted", column)

    def _having(self, keys: list[exp.Expr]) -> exp.Expr | None:
        """HAVING, with aggregates and keys as columns."""
        if self.parsed.having is None:
            return None
        tree = exp.paren(self.parsed.having.copy(), copy=False)
        known = {key.unnest(): f"k{number}" for number, key in enumerate(keys)}

        def replaced(node: exp.Expr) -> None:
            if node in known:
                node.replace(exp.column(known[node], quoted=True))
            elif isinstance(node, _AGGREGATES):
                node.replace(self._figure(node))
            elif isinstance(node, exp.Column):
                raise Unsupported("HAVING takes aggregates and keys of GROUP BY", node)
            else:
                for child in list(node.iter_expressions()):
                    replaced(child)

        replaced(tree)
        check(tree)
        return tree

    def _sorted(
        self, item: exp.Ordered, keys: list[exp.Expr], items: tuple[Item, ...]
    ) -> tuple[str, bool, bool]:
        descending = bool(item.args.get("desc"))
        first = bool(item.args.get("nulls_first"))
        node = item.this
        if isinstance(node, exp.Column):
            for found in items:
                if found.name == node.name:
                    return found.name, descending, first
        tree = self._key_tree(node).unnest()
        for found, (listed, _) in zip(items, self.parsed.items, strict=True):
            if listed.unnest() == tree:
                return found.name, descending, first
        raise Unsupported("ORDER BY takes columns of the list", node)


def _default_name(tree: exp.Expr) -> str:
    """The name that PostgreSQL gives a column of an expression."""
    if isinstance(tree, exp.Column):
        return tree.name
    if isinstance(tree, exp.TimestampTrunc):
        return "date_trunc"
    if isinstance(tree, exp.Cast):
        return _default_name(tree.this) if isinstance(tree.this, exp.Column) else "?column?"
    if isinstance(tree, exp.Filter):
        return _default_name(tree.this)
    return tree.sql_name().lower() if isinstance(tree, exp.Func) else "?column?"
