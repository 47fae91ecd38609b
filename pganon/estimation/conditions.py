"""Conditions resolved against a release: which columns they are about, as formulas over parts."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sqlglot import exp

from pganon.estimation.formulas import apart, merged, not_true
from pganon.estimation.question import (
    Displayed,
    Formula,
    Joined,
    Leaf,
    is_displayed,
    leaves_of,
    parts_of,
)
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part, Published, hidden_name
from pganon.identifiers import quote

MAX_TANGLED = 8
"""Conditions of alternatives that are told apart: what they make true is tried in pairs."""

_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_ALONE = "columns of different parts of a release can only be compared with constants"


class Conditions:
    """Conditions on the columns of a release."""

    def __init__(self, release: AskedRelease) -> None:
        self.release = release

    def column(self, node: exp.Column) -> Published:
        column = self.release.columns.get(node.name)
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

    def all_of(
        self, trees: Sequence[exp.Expr]
    ) -> tuple[dict[Part, Leaf], tuple[Joined, ...], tuple[Formula, ...]]:
        """`leaves`, `others` and `tangles` of a question on records that fulfil all of these."""
        if not trees:
            return {}, (), ()
        formula = self._formula(exp.and_(*trees), negated=False)
        items = formula.items if isinstance(formula, Joined) and formula.every else (formula,)
        leaves: dict[Part, Leaf] = {}
        others: list[Joined] = []
        tangles: list[Formula] = []
        for item in apart(items):
            parts = parts_of([item])
            if len(set(parts)) < len(parts) or is_displayed(item):
                if not is_displayed(item):
                    self._check_tangle(item)
                tangles.append(item)
            elif isinstance(item, Leaf):
                leaves[item.part] = item
            elif isinstance(item, Joined):
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

    def _formula(self, node: exp.Expr, *, negated: bool) -> Formula:
        """Negation goes to the leaves, which three-valued logic allows."""
        node = node.unnest()
        if isinstance(node, exp.Not):
            return self._formula(node.this, negated=not negated)
        if not isinstance(node, exp.And | exp.Or):
            part = self.part(node)
            self._check_labels(node)
            condition = exp.Not(this=exp.paren(node.copy())) if negated else node.copy()
            return self._displayed(Leaf(part, condition), node)
        every = isinstance(node, exp.And) is not negated
        sides = [self._formula(side, negated=negated) for side in (node.left, node.right)]
        items: list[Formula] = []
        for side in sides:
            items += side.items if isinstance(side, Joined) and side.every is every else [side]
        found = merged(items, every=every)
        return found[0] if len(found) == 1 else Joined(every, tuple(found))

    def _displayed(self, leaf: Leaf, node: exp.Expr) -> Formula:
        """The leaf, or what it is of a column that some records do not show."""
        column = self.column(next(node.find_all(exp.Column)))
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
