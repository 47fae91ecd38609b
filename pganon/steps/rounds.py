"""One text for the same statement of all rounds.

To render a statement takes longer than the server takes for many a round. A query that is to serve
every round has a placeholder in the names of its work tables, which :class:`Template` fills in. It
holds the character NUL: no name and no value of PostgreSQL has one, so nothing else is mistaken
for a placeholder.
"""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql
from sqlglot import exp

from pganon.errors import PganonError
from pganon.sqltools import names, render

_MARK = "\x00"


def placeholder(later: int) -> str:
    """The placeholder in a name for the round that is so many after the current one."""
    return f"{_MARK}{later}{_MARK}"


@dataclass(frozen=True)
class Template:
    """A rendered query; every second piece says which round's number belongs there."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, tree: exp.Expr) -> Template:
        """The text of a tree, which must not be used afterwards."""
        marks = sum(name.count(_MARK) for name in names(tree))
        text = render(tree)
        if text.count(_MARK) != marks:
            raise PganonError("a value in a query has the character NUL")
        return cls(tuple(text.split(_MARK)))

    def at(self, number: int) -> sql.SQL:
        """The query of a round."""
        pieces = list(self.pieces)
        pieces[1::2] = [str(number + int(later)) for later in self.pieces[1::2]]
        return sql.SQL("".join(pieces))  # pyright: ignore[reportArgumentType]
