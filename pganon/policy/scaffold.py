"""A first policy for a relation, with comments, for the steward to correct."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from pganon.catalog.introspect import Connection, unique_columns
from pganon.catalog.model import Column, Relation
from pganon.catalog.statistics import Facts, column_facts
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import fits
from pganon.policy.guess import Guess, guess_role, persons_key

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Words that some reader of YAML takes for a boolean or null.
_TAKEN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
LONGEST_RELEASE = 40
MOST_QUASI_IDENTIFIERS = 8


def scaffold_policy(conn: Connection, relation: Relation, trusted: Sequence[str] = ()) -> str:
    """YAML of a policy that loads and checks; roles are guessed, no value of a row is in it.

    Args:
        trusted: what the policy says under `trust`.

    Raises:
        PreconditionError: no column can be released.
        DatabaseError: the counts could not be computed.
    """
    usable = [column for column in relation.columns if _why_not(column) is None]
    if not usable:
        raise PreconditionError(
            f"{relation.name} has no column that can be released",
            hint="columns need a supported type and SELECT for this role",
            code=ErrorCode.NO_COLUMNS,
        )
    # Row-level security would hide rows or raise; the counts are not worth either.
    facts = {} if relation.row_security else column_facts(conn, relation, usable)
    unique = unique_columns(conn, relation)
    person = persons_key(usable, facts, {*unique, *relation.primary_key})
    guesses = {
        column.name: guess_role(
            column,
            key=column.name in relation.primary_key,
            unique=column.name in unique,
            person=column.name == person,
            facts=facts.get(column.name),
        )
        for column in usable
    }
    return _text(relation, _with_quasi_identifier(guesses, facts), facts, trusted, person)


def _why_not(column: Column) -> str | None:
    if column.kind == "unsupported":
        return f"type {column.type_name} is not supported"
    if not column.readable:
        return "this role may not read it"
    if not column.name.isprintable():
        return "its name holds control characters"
    return None


def _with_quasi_identifier(
    guesses: Mapping[str, Guess], facts: Mapping[str, Facts]
) -> dict[str, Guess]:
    """A policy needs a quasi-identifying column; if there is none, remaining columns become it."""
    out = dict(guesses)
    if any(guess.role == "quasi_identifying" for guess in out.values()):
        return out
    open_ones = [name for name, guess in out.items() if guess.role is None]
    # With nothing left over, the column with the fewest values is the least identifying one.
    chosen = open_ones[:MOST_QUASI_IDENTIFIERS] or [
        min(out, key=lambda n: (facts[n].distinct if n in facts else 0, n))
    ]
    for name in chosen:
        out[name] = Guess("quasi_identifying", "no better guess, check this", out[name].codes)
    return out


def _text(
    relation: Relation,
    guesses: Mapping[str, Guess],
    facts: Mapping[str, Facts],
    trusted: Sequence[str],
    person: str | None,
) -> str:
    lines = [
        "# A first policy. The roles are guesses from names and counts: check every line.",
        "# Columns that are not declared are not released. All keys: docs/reference/policy.md",
        *(
            ["# Row-level security applies to this role; a release needs a role it does not bind."]
            if relation.row_security
            else []
        ),
        "",
        f"release: {_scalar(_release_name(relation))}",
        f"source: {_scalar(str(relation.name))}",
        *(
            [f"trust: [{', '.join(map(_scalar, trusted))}]  # roles whose code may run as this one"]
            if trusted
            else []
        ),
        "",
        "# identifying: never leaves. quasi_identifying: others may know it; it is generalized.",
        "# sensitive: published as it is, protected by the models below. insensitive: as it is.",
        "# A quasi_identifying number or date may have domain: [lowest, highest], all it could be.",
        "columns:",
    ]
    for column in relation.columns:
        lines += _column_lines(column, guesses.get(column.name), facts.get(column.name))
    lines += ["", "privacy:", *_privacy_lines(guesses, facts)]
    lines += [
        "",
        "method: {name: mondrian}",
        "suppression_limit: 0.0   # share of records that may be left out",
        _individual_line(person),
        "publish:",
        "  schema: published",
        "  readers: []            # roles that may read the release",
        "  keep: 3                # versions that stay readable",
        "",
    ]
    return "\n".join(lines)


def _individual_line(person: str | None) -> str:
    if person is None:
        return "# individual: person_id  # the identifying column that tells people apart"
    return (
        f"# individual: {_scalar(person)}  # if this tells people apart; they have several records"
    )


def _column_lines(column: Column, guess: Guess | None, facts: Facts | None) -> list[str]:
    name = _scalar(column.name)
    if guess is None:
        return [f"  # {name}: left out, {_comment(_why_not(column) or '')}"]
    counted = _counts(facts)
    if guess.role is None:
        return [
            f"  # {name}: not released  # {guess.reason}{counted}",
            *_code_hint(guess),
        ]
    return [
        f"  {name}: {{role: {guess.role}}}  # {guess.reason}{counted}",
        *(_code_hint(guess) if guess.role in ("quasi_identifying", "sensitive") else []),
    ]


def _code_hint(guess: Guess) -> list[str]:
    if not guess.codes:
        return []
    return ["  #   few whole numbers; if they are codes, add type: categorical"]


def _counts(facts: Facts | None) -> str:
    if facts is None or facts.rows == 0:
        return ""
    nulls = 100 * (facts.rows - facts.present) / facts.rows
    share = f", {nulls:.0f} % null" if nulls >= 0.5 else ", some null" if nulls else ""
    values = "value" if facts.distinct == 1 else "values"
    return f"; {facts.distinct} {values}{share}"


def _privacy_lines(guesses: Mapping[str, Guess], facts: Mapping[str, Facts]) -> list[str]:
    lines = ["  - {model: k_anonymity, k: 5}"]
    for name, guess in guesses.items():
        if guess.role != "sensitive":
            continue
        # One value in the whole table can never be diverse; the line is there to be seen.
        off = "# " if name in facts and facts[name].distinct < 2 else ""
        lines.append(f"  {off}- {{model: distinct_l_diversity, column: {_scalar(name)}, l: 2}}")
    return lines


def _release_name(relation: Relation) -> str:
    name = relation.name.name
    if not name.isprintable() or len(name.encode()) > LONGEST_RELEASE or not fits(name):
        return "release"
    return name


def _scalar(text: str) -> str:
    """A text as YAML writes it on one line: bare where every reader takes it for a text."""
    if _PLAIN.match(text) and text.lower() not in _TAKEN:
        return text
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*", text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _comment(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
