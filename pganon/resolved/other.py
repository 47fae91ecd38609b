"""What is wrong with a column of a relation, or with the name of a published one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from pganon.catalog.model import Column, Relation
from pganon.identifiers import MAX_BYTES, fits, quote
from pganon.policy.refusals import Place, Refusal, nearest


def column_refusals(place: Place, relation: Relation, name: str) -> Iterator[Refusal]:
    """The relation has no such column, or nobody let the owner read it."""
    column = relation.column(name)
    if column is None:
        message = f"{relation.name} has no column {quote(name)}"
        yield Refusal(place, message, nearest(name, relation.column_names))
    elif not column.readable:
        yield Refusal(
            place,
            f"column {quote(name)} of {relation.name} may not be read",
            f"GRANT SELECT ({quote(name)}) ON {relation.name} TO the pganon owner",
        )


def spelled(place: Place, column: Column, *, keyed: bool) -> Iterator[Refusal]:
    """Equal values of the column may look different, and one person or row would be two.

    Args:
        keyed: whether they are compared as texts.
    """
    if keyed and not column.has_canonical_text:
        yield Refusal(
            place,
            f"column {quote(column.name)} is {column.type_name}, a type in which equal values may"
            " be spelled differently; it tells nobody apart, and names no rows",
            "name a view that casts it to a type such as integer, text or uuid"
            + (", or declare `individual`" if place == ("source",) else ""),
        )
    elif not column.collation_deterministic:
        yield Refusal(
            place,
            f"column {quote(column.name)} has the collation {column.collation}, which calls"
            " different texts equal; they would count as several values",
            "name a view that makes them one text, such as"
            f' lower({quote(column.name)}) COLLATE "C"',
        )


def comparable(
    place: Place,
    column: Column,
    source: Relation,
    relation: Relation,
    compared: Callable[[Column], str],
    name: str | None = None,
) -> Iterator[Refusal]:
    """A column of another relation, by default of the same name, holds values of the same kind."""
    named = name or column.name
    yield from column_refusals(place, relation, named)
    other = relation.column(named)
    if other is not None and compared(column) != compared(other):
        theirs = "" if named == column.name else f"{quote(named)} is "
        yield Refusal(
            place,
            f"column {quote(column.name)} is {column.type_name} in {source.name}"
            f" and {theirs}{other.type_name} in {relation.name}",
            "name a view that casts it to the type of the source",
        )


def refused_names(
    names: Iterable[tuple[Place, str]],
    added: Collection[str] = (),
    what: str = "published columns",
    remedy: str = "choose another name with `as:`",
) -> Iterator[Refusal]:
    """Names that pganon adds, that are there twice, or too long."""
    used = set[str]()
    for place, name in names:
        if name in added:
            yield Refusal(place, f"{quote(name)} is a column that pganon adds", remedy)
        elif name in used:
            yield Refusal(place, f"two {what} would be named {quote(name)}", remedy)
        elif not fits(name):
            message = f"the name {quote(name)} has more than {MAX_BYTES} bytes"
            yield Refusal(place, message, remedy)
        used.add(name)
