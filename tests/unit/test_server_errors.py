"""Errors of servers that speak another language than English: fields and names decide, no words."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.pq import DiagnosticField

from pganon.error_codes import ErrorCode
from pganon.errors import DatabaseError, Interrupted, PreconditionError
from pganon.server_errors import translate


def _raised(state: str, *context: str, text: str = "Zanzibar-7319") -> psycopg.Error:
    fields = {
        DiagnosticField.SQLSTATE: state,
        DiagnosticField.MESSAGE_PRIMARY: text,
        DiagnosticField.CONTEXT: "\n".join(context),
    }
    info = {field: value.encode() for field, value in fields.items()}
    error = psycopg.DatabaseError(text, info=info, encoding="utf-8")
    error.sqlstate = state
    return error


def _in(template: str, name: str) -> str:
    return template.replace("%s", name, 1)


FRAMES = {
    "cs": "PL/pgSQL funkce %s řádek 3 na RAISE",
    "de": "PL/pgSQL-Funktion %s Zeile 3 bei RAISE",
    "en": "PL/pgSQL function %s line 3 at RAISE",
    "es": "función PL/pgSQL %s en la línea 3 en RAISE",
    "it": "funzione PL/pgSQL %s riga 3 a RAISE",
    "ja": "PL/pgSQL関数%sの3行目 - RAISE",
    "ru": "функция PL/pgSQL %s, строка 3, оператор RAISE",
    "tr": "%s PL/pgSQL fonksiyonu, RAISE içinde",
    "zh": "在RAISE的第3行的PL/pgSQL函数%s",
}
STATEMENTS = (
    'SQL statement "%s"',
    'SQL expression "found"',
    'SQL expression ""found"."a" = 1"',
    'SQL statement "SELECT "a", %s"',
    "SQL-Anweisung »%s«",
    "SQL-Ausdruck »found«",
    "instruction SQL « %s »",
    'SQL文 "%s"',
)
ASSIGNMENTS = ('PL/pgSQL assignment "%s"', "PL/pgSQL-Zuweisung »%s«", "affectation PL/pgSQL « %s »")
SQL_FUNCTIONS = (
    'SQL function "%s" statement 1',
    "SQL-Funktion »%s« Anweisung 1",
    "SQL « %s », instruction 1",
    'SQL関数"%s"の行番号 1',
    "función SQL «%s» durante el inicio",
)
OTHERS = (
    "public.odd(integer)",
    "odd(integer)",
    'public."pganon.f"()',
    '"x pganon.f("()',
    "xpganon.f()",
    "public.f(pganon.odd)",
)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_what_pganon_raised_keeps_its_text(frame: str) -> None:
    own = _in(frame, "pganon.check(text,integer)")
    for between in (*STATEMENTS, *ASSIGNMENTS):
        ran = "found := (SELECT 1)" if between in ASSIGNMENTS else "SELECT pganon.f(\n  1, 'a')"
        context = (own, *_in(between, ran).split("\n"), _in(frame, "pg_temp_3.check()"))
        error = translate(_raised("PA103", *context))
        assert isinstance(error, PreconditionError)
        assert str(error) == "Zanzibar-7319"


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_what_a_block_of_statements_raised_keeps_its_text(frame: str) -> None:
    """It has no parentheses; functions have."""
    block = _in(frame, "inline_code_block")
    for between in STATEMENTS:
        error = translate(_raised("42501", _in(between, "ALTER TABLE a"), block))
        assert "Zanzibar-7319" in str(error)
    for other in ("inline_code_block()", "x.inline_code_block()", "odd()"):
        error = translate(_raised("42501", _in(frame, other), block))
        assert error.code == ErrorCode.FOREIGN_CODE
        assert "Zanzibar" not in str(error)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("other", OTHERS)
def test_what_others_raised_loses_its_text(frame: str, other: str) -> None:
    own, foreign = _in(frame, "pganon.check(text)"), _in(frame, other)
    for context in ((foreign,), (foreign, own), (own, foreign)):
        error = translate(_raised("PA103", *context))
        assert isinstance(error, DatabaseError)
        assert "Zanzibar" not in f"{error} {error.hint}"
    error = translate(_raised("22012", foreign))
    assert error.code == ErrorCode.FOREIGN_CODE
    name = other.partition("(")[0]
    said = "a function that pganon did not make" if '"' in other else f"the function {name}"
    assert f"{said} raised an error" in str(error)


@pytest.mark.parametrize("template", SQL_FUNCTIONS)
@pytest.mark.parametrize("name", ["odd", "o d"])
def test_sql_functions_of_others(template: str, name: str) -> None:
    foreign = _in(template, name)
    error = translate(_raised("PA103", FRAMES["de"].replace("%s", "pganon.f()"), foreign))
    assert "Zanzibar" not in str(error)
    error = translate(_raised("22012", foreign))
    assert error.code == ErrorCode.FOREIGN_CODE
    assert name != "odd" or "the function odd raised" in str(error)


@pytest.mark.parametrize(
    ("text", "context", "said"),
    [
        ("cannot connect to db:1 to fetch it", "while executing command on db:2", "another server"),
        ("connection marked as essential: db:1", "citus_drop_trigger()", "another server"),
        ("postmaster was shut down, exiting", "odd()", "the connection to the server failed"),
    ],
)
def test_citus_says_in_words_alone_that_a_server_is_gone(
    text: str, context: str, said: str
) -> None:
    """In English, wherever it is, and in functions that did nothing wrong."""
    context = context if " " in context else _in(FRAMES["en"], context)
    cause = translate(_raised("XX000", context, text=text), step="coded")
    assert isinstance(cause, Interrupted)
    assert said in str(cause)
    assert "(step coded)" in str(cause)
    assert "db:1" not in str(cause)
    assert not isinstance(translate(_raised("XX001", context, text=text)), Interrupted)
    assert not isinstance(translate(_raised("XX000", FRAMES["en"], text="text")), Interrupted)
