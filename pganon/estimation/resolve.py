"""A parsed query, resolved against a release: formula of WHERE, keys, aggregates."""

from __future__ import annotations

import difflib

from sqlglot import exp

from pganon.estimation.formulas import apart, merged
from pganon.estimation.parse import Parsed, check, folded
from pganon.estimation.question import (
    Aggregate,
    Formula,
    Item,
    Joined,
    Key,
    Leaf,
    Measure,
    Question,
    leaves_of,
    parts_of,
)
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.identifiers import quote

_MEASURES: dict[type[exp.Expr], Measure] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
MAX_TANGLED = 8
"""Conditions of alternatives that are told apart: what they make true is tried in pairs."""

_ALONE = "columns of different parts of a release can only be compared with constants"


def resolve(parsed: Parsed, release: AskedRelease) -> Question:
    """The question, or :class:`Unsupported`."""
    return _Resolver(parsed, release).question()


class _Resolver:
    def __init__(self, parsed: Parsed, release: AskedRelease) -> None:
        self.parsed = parsed
        self.release = release

    def question(self) -> Question:
        self._check_source()
        leaves, others, tangles = self._where()
        trees = [self._key_tree(key) for key in self.parsed.keys]
        keys = tuple(self._key(tree) for tree in trees)
        items = self._items(trees)
        question = Question(
            self.release,
            items,
            keys,
            leaves,
            others,
            tangles,
            self._having(trees),
            tuple(self._sorted(item, trees, items) for item in self.parsed.order),
            self.parsed.limit,
        )
        self._check(question)
        return question

    # -- FROM and columns ---------------------------------------------------------------------

    def _check_source(self) -> None:
        source, view = self.parsed.source, self.release.view
        schema = source.args.get("db")
        wanted = (view.name, self.release.name)
        if folded(source.this) not in wanted or (schema and folded(schema) != view.schema):
            name = quote(self.release.name)
            raise Unsupported(
                f"the query is not from the release {name}", source, f"write FROM {name}"
            )

    def _column(self, node: exp.Column) -> Published:
        column = self.release.columns.get(node.name)
        if column is None:
            near = difflib.get_close_matches(node.name, self.release.columns, n=1)
            hint = f"did you mean {quote(near[0])}?" if near else None
            names = ", ".join(quote(name) for name in self.release.columns)
            raise Unsupported(
                f"the release {quote(self.release.name)} has no column {quote(node.name)}",
                node,
                hint or f"its columns: {names}",
            )
        if column.form in ("mean", "mode"):
            raise Unsupported(
                f"{quote(node.name)} is a {column.form} of several records: estimates from it are"
                " not supported yet",
                node,
            )
        return column

    def _part(self, node: exp.Expr) -> Part:
        """The one part that an expression is about."""
        columns = [(found, self._column(found)) for found in node.find_all(exp.Column)]
        if not columns:
            raise Unsupported("a condition or key must be about a column", node)
        (_, first), *rest = columns
        for found, column in rest:
            if column.part != first.part:
                raise Unsupported(
                    f"{quote(first.name)} and {quote(column.name)} are apart in this release",
                    found,
                    _ALONE,
                )
        return first.part

    # -- WHERE --------------------------------------------------------------------------------

    def _where(self) -> tuple[dict[Part, Leaf], tuple[Joined, ...], tuple[Formula, ...]]:
        if self.parsed.where is None:
            return {}, (), ()
        formula = self._formula(self.parsed.where, negated=False)
        items = formula.items if isinstance(formula, Joined) and formula.every else (formula,)
        leaves: dict[Part, Leaf] = {}
        others: list[Joined] = []
        tangles: list[Formula] = []
        for item in apart(items):
            parts = parts_of([item])
            if len(set(parts)) < len(parts):
                self._check_tangle(item)
                tangles.append(item)
            elif isinstance(item, Leaf):
                leaves[item.part] = item
            else:
                others.append(item)
        return leaves, tuple(others), tuple(tangles)

    def _check_tangle(self, formula: Formula) -> None:
        leaves = list(dict.fromkeys(leaves_of(formula)))
        if len(leaves) > MAX_TANGLED:
            raise Unsupported(
                f"more than {MAX_TANGLED} conditions on the same columns are in alternatives",
                leaves[0].condition,
                "ask one query per alternative",
            )
        for leaf in leaves:
            for found in leaf.condition.find_all(exp.Column):
                if self._column(found).form == "label":
                    raise Unsupported(
                        f"conditions on {_named(leaf)}, which has labels, are in several"
                        " alternatives, which is not estimated yet",
                        found,
                        "ask one query per alternative",
                    )

    def _formula(self, node: exp.Expr, *, negated: bool) -> Formula:
        """Negation goes to the leaves, which three-valued logic allows."""
        node = node.unnest()
        if isinstance(node, exp.Not):
            return self._formula(node.this, negated=not negated)
        if not isinstance(node, exp.And | exp.Or):
            part = self._part(node)
            self._check_labels(node)
            condition = exp.Not(this=exp.paren(node.copy())) if negated else node.copy()
            return Leaf(part, condition)
        every = isinstance(node, exp.And) is not negated
        sides = [self._formula(side, negated=negated) for side in (node.left, node.right)]
        items: list[Formula] = []
        for side in sides:
            items += side.items if isinstance(side, Joined) and side.every is every else [side]
        found = merged(items, every=every)
        return found[0] if len(found) == 1 else Joined(every, tuple(found))

    def _check_labels(self, node: exp.Expr) -> None:
        """A class shows the label of a value's ancestor, so only labels can be asked for."""
        for found in node.find_all(exp.Column):
            if self._column(found).form != "label":
                continue
            plain = isinstance(node, exp.EQ | exp.NEQ | exp.In | exp.Is)
            sides = [part for part in node.iter_expressions() if not isinstance(part, exp.Column)]
            if not plain or not all(isinstance(part, exp.Literal | exp.Null) for part in sides):
                raise Unsupported(
                    f"{quote(found.name)} has labels of a hierarchy: only =, <>, IN and IS NULL"
                    " with constants are estimated",
                    found,
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
        part = self._part(tree)
        for found in tree.find_all(exp.Column):
            if self._column(found).form == "label":
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
        if not any(isinstance(item.what, Aggregate) for item in items):
            raise Unsupported(
                "single records have no estimate", None, "use count(*), sum(column) or avg(column)"
            )
        return tuple(items)

    def _item(self, tree: exp.Expr, keys: list[exp.Expr]) -> tuple[int | Aggregate, str]:
        plain = tree.unnest()
        for number, key in enumerate(keys):
            if plain == key.unnest():
                return number, _default_name(plain)
        if type(plain) in _MEASURES:
            return self._aggregate(plain), _MEASURES[type(plain)]
        if isinstance(plain, exp.Filter | exp.Window | exp.WithinGroup):
            raise Unsupported("FILTER, OVER and WITHIN GROUP are not estimated yet", plain)
        if isinstance(plain, exp.AggFunc):
            name = plain.sql_name().lower()
            raise Unsupported(
                f"{name}() is not estimated", plain, "count, sum, avg, min and max are estimated"
            )
        if plain.find(exp.AggFunc):
            raise Unsupported("arithmetic of aggregates is not estimated yet", plain)
        check(plain)
        self._part(plain)
        raise Unsupported("only aggregates and keys of GROUP BY can be in the list", plain)

    def _aggregate(self, node: exp.Expr) -> Aggregate:
        argument = node.this
        measure = _MEASURES[type(node)]
        if isinstance(argument, exp.Star):
            return Aggregate(measure, None)
        person = self.release.person
        if person is not None and argument == exp.Distinct(
            expressions=[exp.column(person.name, quoted=True)]
        ):
            return Aggregate("persons", person)
        if isinstance(argument, exp.Distinct) or node.expressions:
            raise Unsupported("aggregates of distinct values are not estimated yet", node)
        argument = argument.unnest() if argument is not None else None
        if not isinstance(argument, exp.Column):
            raise Unsupported(f"{measure}() takes one column of the release", node)
        column = self._column(argument)
        if measure != "count" and not column.is_number:
            raise Unsupported(
                f"{measure}() takes a number; {quote(column.name)} is {column.kind}", argument
            )
        if measure != "count" and column.form == "label":
            raise Unsupported(f"{quote(column.name)} has labels, which have no sum", argument)
        return Aggregate(measure, column)

    def _having(self, keys: list[exp.Expr]) -> exp.Expr | None:
        """HAVING, with the aggregates of the list and the keys as columns."""
        if self.parsed.having is None:
            return None
        tree = exp.paren(self.parsed.having.copy(), copy=False)
        listed = [t.unnest() for t, _ in self.parsed.items if type(t.unnest()) in _MEASURES]
        known = {tree: f"a{number}" for number, tree in reversed([*enumerate(listed)])}
        known |= {key.unnest(): f"k{number}" for number, key in enumerate(keys)}

        def replaced(node: exp.Expr) -> None:
            if node in known:
                node.replace(exp.column(known[node], quoted=True))
            elif isinstance(node, exp.AggFunc):
                raise Unsupported("HAVING takes aggregates of the list", node, "add it to the list")
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

    # -- what goes together ---------------------------------------------------------------------

    def _check(self, question: Question) -> None:
        """Keys and measured columns must not be of a part that is in an alternative of WHERE."""
        inside = set(parts_of([*question.others, *question.tangles]))
        used = [key.part for key in question.keys]
        used += [a.column.part for _, a in question.aggregates if a.column is not None]
        if inside & set(used):
            raise Unsupported(
                "a grouped or measured column, or one known together with it, is in an alternative"
                " of WHERE (OR), which is not estimated yet",
                None,
                "ask one query per alternative",
            )
        person = question.release.person
        if person is not None and question.tangles:
            raise Unsupported(
                "of a release with several records per individual, conditions on the same columns"
                " in several alternatives are not estimated yet",
                None,
                "ask one query per alternative",
            )
        if person is not None and any(
            a.column not in (None, person) for _, a in question.aggregates
        ):
            raise Unsupported(
                "of a release with several records per individual only count(*) and"
                f" count(DISTINCT {quote(person.name)}) are estimated yet"
            )


def _named(leaf: Leaf) -> str:
    names = {column.name: None for column in leaf.condition.find_all(exp.Column)}
    return " and ".join(quote(name) for name in names)


def _default_name(tree: exp.Expr) -> str:
    """The name that PostgreSQL gives a column of an expression."""
    if isinstance(tree, exp.Column):
        return tree.name
    if isinstance(tree, exp.TimestampTrunc):
        return "date_trunc"
    if isinstance(tree, exp.Cast):
        return _default_name(tree.this) if isinstance(tree.this, exp.Column) else "?column?"
    return tree.sql_name().lower() if isinstance(tree, exp.Func) else "?column?"
