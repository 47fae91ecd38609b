"""Names of database objects: the only place that parses, checks and quotes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg import sql

if TYPE_CHECKING:
    from sqlglot import exp

MAX_BYTES = 63


OWN_SCHEMAS = ("pganon", "pganon_private", "pganon_work", "pganon_stage", "pganon_data")
"""Schemas of pganon's own: functions, state, tables of runs and of releases."""


def own_schema(schema: str) -> str | None:
    """Whose schema it is, if it is pganon's or the server's; None: it may hold data of people."""
    if schema in OWN_SCHEMAS:
        return "pganon"
    return "the server" if schema == "information_schema" or schema.startswith("pg_") else None


class NameProblem(ValueError):
    """A text that is not a usable name; the message says why."""


def check_name(name: str) -> str:
    """The name itself if PostgreSQL can store it uncut, else :class:`NameProblem`."""
    if not name:
        raise NameProblem("a name must not be empty")
    if "\x00" in name:
        raise NameProblem("a name must not hold the character NUL")
    size = len(name.encode())
    if size > MAX_BYTES:
        raise NameProblem(f'the name "{name}" has {size} bytes, PostgreSQL allows {MAX_BYTES}')
    return name


def fits(name: str) -> bool:
    return 0 < len(name.encode()) <= MAX_BYTES


@dataclass(frozen=True, order=True)
class QualifiedName:
    """Schema and name of a relation or function, unquoted, exactly as the catalog has them."""

    schema: str
    name: str

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(self.schema, self.name)

    @property
    def table(self) -> exp.Table:
        # Here, because commands that build no SELECT need names alone.
        from sqlglot import exp

        return exp.table_(self.name, db=self.schema, quoted=True)

    def __str__(self) -> str:
        return f"{quote(self.schema)}.{quote(self.name)}"

    @classmethod
    def of(cls, text: str) -> QualifiedName:
        """From its text; without a schema that is empty."""
        schema, name = parse_name(text)
        return cls(schema or "", name)


# Key words of PostgreSQL 14 to 18 that cannot stand bare as the name of a column or table.
_RESERVED = frozenset(
    """all analyse analyze and any array as asc asymmetric authorization binary both case cast
    check collate collation column concurrently constraint create cross current_catalog
    current_date current_role current_schema current_time current_timestamp current_user default
    deferrable desc distinct do else end except false fetch for foreign freeze from full grant
    group having ilike in initially inner intersect into is isnull join lateral leading left like
    limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps
    placing primary references returning right select session_user similar some symmetric
    system_user table tablesample then to trailing true union unique user using variadic verbose
    when where window with""".split()  # noqa: SIM905 - one word per literal would fill a page
)


def quote(name: str) -> str:
    """The name as SQL shows it: bare when it may be, else in double quotes."""
    plain = name.isascii() and name.isidentifier() and name == name.lower()
    if plain and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def first_few(texts: Sequence[str], most: int = 20) -> str:
    """The first `most` texts of a message, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted column reference."""
    from sqlglot import exp

    return exp.column(name, table=table, quoted=True)


def parse_name(text: str) -> tuple[str | None, str]:
    """Split `schema.name` or `name` as SQL does: bare parts fold to lower case, quoted do not.

    Raises :class:`NameProblem` for anything else, with three parts included.
    """
    parts = split_name(text)
    if len(parts) == 1:
        return None, parts[0]
    if len(parts) == 2:
        return parts[0], parts[1]
    raise NameProblem(f'"{text}" has {len(parts)} parts; write name or schema.name')


def split_name(text: str) -> list[str]:
    parts: list[str] = []
    rest = text.strip()
    while True:
        part, rest = _take_part(rest, text)
        parts.append(check_name(part))
        if not rest:
            return parts
        if not rest.startswith("."):
            raise NameProblem(f'"{text}" is not a name; quote parts that hold special characters')
        rest = rest[1:].strip()


def _take_part(rest: str, text: str) -> tuple[str, str]:
    if rest.startswith('"'):
        out: list[str] = []
        i = 1
        while i < len(rest):
            if rest[i] == '"':
                if rest[i + 1 : i + 2] == '"':
                    out.append('"')
                    i += 2
                    continue
                return "".join(out), rest[i + 1 :].strip()
            out.append(rest[i])
            i += 1
        raise NameProblem(f'"{text}" has an opening quote without its closing one')
    end = 0
    while end < len(rest) and (rest[end].isalnum() or rest[end] in "_$"):
        end += 1
    if end == 0 or rest[0].isdigit():
        raise NameProblem(
            f'"{text}" is not a plain name; write it in double quotes, as in \'"My Table"\''
        )
    return rest[:end].lower(), rest[end:].strip()
