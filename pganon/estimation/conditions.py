"""Conditions resolved against a release: which columns they are about, as formulas over parts."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sqlglot import exp

from pganon.estimation.question import Displayed, Formula, Joined, Leaf, parts_of
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part, Published, hidden_name
from pganon.identifiers import quote

ALONE = "ask one query per alternative, and one for what they have in common"

_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_ALONE = "columns of different parts of a release can only be compared with constants"


class Conditions:
    """Conditions on the columns of a release."""

    def __init__(self, release: AskedRelease) -> None:
        self.release = release

    def column(self, node: exp.Column) -> Published:
        if node.name in self.release.facts:
            raise Unsupported(
                "a condition with a sub-select stands by itself, or with AND, OR, NOT", node
            )
        column = self.release.columns.get(node.name)
        if node.name in self.release.weights:
            raise Unsupported(
                f"{quote(node.name)} shows weights of classes, not of records: it can be in sums",
                node,
            )
        if column is None:
            near = difflib.get_close_matches(node.name, self.release.columns, n=1)
            hint = f"did you mean {quote(near[0])}?" if near else None
            found = dict.fromkeys(column.name for column in self.release.columns.values())
            names = ", ".join(map(quote, found))
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

    def shown(self, node: exp.Column) -> Published:
        """A column that is not in a condition: all records must show it."""
        column = self.column(node)
        if column.display is not None:
            raise Unsupported(
                f"{quote(column.name)} is not shown of all records: it can be in conditions, but"
                " is not counted, added up or grouped yet",
                node,
            )
        return column

    def part(self, node: exp.Expr) -> Part:
        """The one part that an expression is about."""
        columns = [(found, self.column(found)) for found in node.find_all(exp.Column)]
        if not columns:
            raise Unsupported("a condition or key must be about a column", node)
        for found, column in columns:
            if column.is_enum and node.find(*_ORDERED):
                raise Unsupported(
                    f"{quote(column.name)} is an enum, whose order the release does not have",
                    found,
                    "compare it with =, <> or IN",
                )
            if column.is_caseless and not isinstance(node, exp.Is):
                raise Unsupported(
                    f"{quote(column.name)} is citext, of which only IS NULL is estimated",
                    found,
                    "which of its spellings are one value is not known here",
                )
        (_, first), *rest = columns
        for found, column in rest:
            if column.part != first.part:
                raise Unsupported(
                    f"{quote(first.name)} and {quote(column.name)} are apart in this release",
                    found,
                    _ALONE,
                )
        return first.part

    def all_of(self, trees: Sequence[exp.Expr]) -> list[Formula]:
        """What all must hold of records that fulfil all of these; no two are on one part."""
        if not trees:
            return []
        formula = self._formula(exp.and_(*trees), negated=False)
        items = formula.items if isinstance(formula, Joined) and formula.every else (formula,)
        return _apart([self._displayed(item) for item in items])

    def _formula(self, node: exp.Expr, *, negated: bool) -> Formula:
        """Negation goes to the leaves, which three-valued logic allows."""
        node = node.unnest()
        if isinstance(node, exp.Not):
            return self._formula(node.this, negated=not negated)
        if not isinstance(node, exp.And | exp.Or):
            fact = self.release.facts.get(node.name) if isinstance(node, exp.Column) else None
            if fact is not None and fact.listed and negated:
                raise Unsupported(
                    "NOT IN with a sub-select is not estimated", node, "use NOT EXISTS"
                )
            part = self.part(node) if fact is None else fact.table.part
            assert part is not None
            if fact is None:
                self._check_labels(node)
            condition = exp.Not(this=exp.paren(node.copy())) if negated else node.copy()
            return Leaf(part, condition)
        every = isinstance(node, exp.And) is not negated
        sides = [self._formula(side, negated=negated) for side in (node.left, node.right)]
        items: list[Formula] = []
        for side in sides:
            items += side.items if isinstance(side, Joined) and side.every is every else [side]
        found = _merged(items, every=every)
        return found[0] if len(found) == 1 else Joined(every, tuple(found))

    def _displayed(self, formula: Formula) -> Formula:
        """The formula, with what it is of columns that some records do not show."""
        if isinstance(formula, Joined):
            return Joined(formula.every, tuple(map(self._displayed, formula.items)))
        assert isinstance(formula, Leaf)
        leaf = formula
        if leaf.part.events:
            return leaf
        column = self.column(next(formula.condition.find_all(exp.Column)))
        if column.display is None:
            return leaf
        form = self.release.columns[column.display]

        def records(display: str) -> Leaf:
            value = exp.column(form.name, quoted=True)
            return Leaf(form.part, exp.EQ(this=value, expression=exp.Literal.string(display)))

        shown, hidden = column.part, self.release.columns[hidden_name(column.name)].part
        places = [("g", Leaf(shown, leaf.condition))] if shown != hidden else []
        places.append(("b", Leaf(hidden, leaf.condition)))
        return Displayed(
            tuple((records(display), own) for display, own in places),
            tuple((records(display), not_true(own)) for display, own in places),
            ((records("w"),),),
        )

    def _check_labels(self, node: exp.Expr) -> None:
        """A class shows the label of a value's ancestor, so only labels can be asked for."""
        for found in node.find_all(exp.Column):
            if self.column(found).form != "label":
                continue
            plain = isinstance(node, exp.EQ | exp.NEQ | exp.In | exp.Is)
            sides = [part for part in node.iter_expressions() if not isinstance(part, exp.Column)]
            if not plain or not all(isinstance(part, exp.Literal | exp.Null) for part in sides):
                raise Unsupported(
                    f"{quote(found.name)} has labels of a hierarchy: only =, <>, IN and IS NULL"
                    " with constants are estimated",
                    found,
                    f"the view of the release shows which labels there are: SELECT DISTINCT"
                    f" {quote(found.name)}",
                )


def not_true(leaf: Leaf) -> Leaf:
    """Where the condition is false or NULL."""
    condition = exp.Is(this=exp.paren(leaf.condition.copy()), expression=exp.true())
    return Leaf(leaf.part, exp.Not(this=condition))


def _apart(items: Sequence[Formula]) -> list[Formula]:
    """Conditions that all must hold, those that share parts joined into one."""
    found: list[tuple[set[Part], list[Formula]]] = []
    for item in items:
        parts, own = set(parts_of([item])), [item]
        for other in [entry for entry in found if entry[0] & parts]:
            parts, own = parts | other[0], [*other[1], *own]
            found.remove(other)
        found.append((parts, own))
    return [own[0] if len(own) == 1 else Joined(True, tuple(own)) for _, own in found]


def _merged(items: list[Formula], *, every: bool) -> list[Formula]:
    """Conditions on one part become one leaf."""
    own: dict[Part, exp.Expr] = {}
    others: list[Formula] = []
    for item in items:
        if isinstance(item, Leaf):
            before = own.get(item.part)
            joined = exp.and_ if every else exp.or_
            own[item.part] = joined(before, item.condition) if before else item.condition
        else:
            others.append(item)
    return [*[Leaf(part, condition) for part, condition in own.items()], *others]
