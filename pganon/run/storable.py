"""Texts of a policy that the encoding of the database cannot store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg

from pganon.errors import PolicyError
from pganon.policy.loader import LoadedPolicy
from pganon.policy.refusals import show
from pganon.server_errors import translate

Connection = psycopg.Connection[Any]
Place = tuple[str | int, ...]


def check_storable(conn: Connection, loaded: LoadedPolicy) -> None:
    """Refuse a policy whose names, labels or conditions the database has no characters for.

    Raises:
        PolicyError: a problem for each such text.
    """
    texts = list(_texts(loaded.policy.model_dump(mode="json", by_alias=True, exclude_unset=True)))
    if _storable(conn, [text for _, text in texts]):
        return
    encoding = conn.info.parameter_status("server_encoding")
    raise PolicyError(
        [
            loaded.problem(
                place,
                f"{show(text)} has characters that the database's encoding {encoding} lacks",
                "write it without them, or use a database with the encoding UTF8",
            )
            for place, text in texts
            if not _storable(conn, [text])
        ],
        file=loaded.file,
    )


def _texts(value: object, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Every text in a policy, and its place; for a key, that of its value."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*place, key), str(key)
            yield from _texts(item, (*place, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _texts(item, (*place, number))


def _storable(conn: Connection, texts: list[str]) -> bool:
    try:
        conn.execute("SELECT %s::text[]", [texts])
    except psycopg.errors.UntranslatableCharacter:
        return False
    except psycopg.Error as error:
        raise translate(error) from None
    return True
