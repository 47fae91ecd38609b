"""Facts that a run observes, each a key with a type.

A fact is declared once, by the package that observes it, and given by a step that names it. Who
reads it uses the declaration, so that neither its name nor its type can be mistaken. Values come
from a query or a search as the driver makes them; :meth:`Facts.observing` is the one place where
they get the type of their fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pganon.errors import PganonError

T = TypeVar("T")


@dataclass(frozen=True)
class Fact(Generic[T]):
    """A count, size or other figure of a run. No fact is a value of a row, but see :func:`rows`.

    Attributes:
        name: unique in a run.
        column: of the query that gives it, or figure of the search.
        read: what the driver gave as the declared type.
        assumed: what `explain` assumes, since nothing was observed yet.
    """

    name: str
    column: str
    read: Callable[[Any], T] = field(compare=False, repr=False)
    assumed: T = field(compare=False, repr=False)


def count(column: str, of: str = "", *, assumed: int = 1) -> Fact[int]:
    """A whole number. `of` begins the name where several facts have the same column."""
    return Fact(f"{of}{column}", column, int, assumed)


def measure(column: str, of: str = "", *, assumed: float = 1.0) -> Fact[float]:
    """A number that need not be whole."""
    return Fact(f"{of}{column}", column, float, assumed)


def flag(column: str, of: str = "", *, assumed: bool = True) -> Fact[bool]:
    """Whether something holds."""
    return Fact(f"{of}{column}", column, bool, assumed)


def label(column: str, of: str = "", *, assumed: str = "") -> Fact[str]:
    """A text that the server made of counts and figures, e.g. a matrix of them."""
    return Fact(f"{of}{column}", column, str, assumed)


def rows(column: str, of: str = "") -> Fact[Sequence[Any]]:
    """Rows of shares as JSON, beside texts of values that enough people have to be shown.

    They are for the evidence of a version alone, and in no message.
    """
    return Fact(f"{of}{column}", column, list, ())


def digest(column: str, of: str = "") -> Fact[bytes]:
    """A keyed hash."""
    return Fact(f"{of}{column}", column, bytes, b"")


def or_null(fact: Fact[T], assumed: T | None = None) -> Fact[T | None]:
    """The same, or None where the query gives NULL."""

    def read(value: Any) -> T | None:
        return None if value is None else fact.read(value)

    return Fact(fact.name, fact.column, read, assumed)


def counts(*columns: str, of: str = "") -> tuple[Fact[int], ...]:
    """A whole number per column."""
    return tuple(count(column, of) for column in columns)


class Facts:
    """Facts that were observed so far."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values: Mapping[str, Any] = values or {}

    def __getitem__(self, fact: Fact[T]) -> T:
        """PganonError where no step has given it."""
        try:
            value = self._values[fact.name]
        except KeyError:
            raise PganonError(
                f"the fact {fact.name} is read, and no step before gives it"
            ) from None
        return value.read() if isinstance(value, Later) else value

    def get(self, fact: Fact[T]) -> T | None:
        """None where no step has given it."""
        return self[fact] if fact.name in self._values else None

    def observing(self, values: Mapping[Fact[Any], Any]) -> Facts:
        """With these values, as the driver gave them, or as a :class:`Later` will.

        PganonError for a value that is not of its fact's type.
        """
        return Facts({**self._values, **{fact.name: _typed(fact, v) for fact, v in values.items()}})

    def joined(self, parts: Iterable[Facts]) -> Facts:
        """With what parts observed that all began here, one after the other."""
        values = dict(self._values)
        for part in parts:
            for name, value in part._values.items():
                if name not in self._values or value is not self._values[name]:
                    values[name] = value
        return Facts(values)

    def within(self, prefix: str) -> Facts:
        """The same, with facts of a prefix under their plain names in place of others."""
        mine = {
            name.removeprefix(prefix): value
            for name, value in self._values.items()
            if name.startswith(prefix)
        }
        return Facts({**self._values, **mine})

    def arrived(self) -> Facts:
        """Without those whose step was not sent, or failed."""
        found = self._values.items()
        return Facts({n: v for n, v in found if not isinstance(v, Later) or v.there})

    def by_name(self) -> dict[str, Any]:
        """For who looks at a run from outside."""
        return {
            name: value.read() if isinstance(value, Later) else value
            for name, value in self._values.items()
        }


class Later:
    """The value of a fact whose step waits to be sent: who reads it has that done."""

    def __init__(self, fact: Fact[Any], send: Callable[[], None]) -> None:
        self.fact = fact
        self._send = send
        self._arrived: list[Any] = []

    @property
    def there(self) -> bool:
        return bool(self._arrived)

    def arrive(self, value: Any) -> None:
        """Take the value, as the driver gave it."""
        self._arrived = [_typed(self.fact, value)]

    def read(self) -> Any:
        """PganonError where the step failed, or one that was sent with it."""
        if not self._arrived:
            self._send()
        if not self._arrived:
            raise PganonError(f"the step that gives the fact {self.fact.name} failed")
        return self._arrived[0]


def _typed(fact: Fact[Any], value: Any) -> Any:
    if isinstance(value, Later):
        return value
    try:
        return fact.read(value)
    except (TypeError, ValueError):
        kind = type(value).__name__  # the value itself has no place in a message
        raise PganonError(f"the fact {fact.name} cannot be read from {kind}") from None


RECORDS = count("records", assumed=40)
"""Records of the source that are to be released; without those that a method collapses."""
