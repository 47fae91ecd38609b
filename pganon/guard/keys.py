"""Values as numbers: memory and joins are half as large as with texts, and bounds name no value.

A number is 64 bits of a hash of a column and a value, the same on every server and in every
version. Only what is different in a version is hashed.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.guard import work
from pganon.guard.model import Version
from pganon.identifiers import QualifiedName
from pganon.sqltools import cast, fragment, query
from pganon.steps import CreateTable, State, Step


def keys_step(version: Version) -> Step:
    return CreateTable(
        "guard keys",
        "the published values as numbers",
        lambda s: keys(version, s),
        lambda s: query(
            "select v.col, v.value, :key as key from v",
            {
                "v": query(
                    "select distinct h.col, h.value from h",
                    {"h": state_histogram(version, s)},
                )
            },
            key=key_of(fragment("v.col"), fragment("v.value")),
        ),
    )


def published_step(version: Version) -> Step:
    """After the keys."""
    return CreateTable(
        "guard published",
        "the histograms of all columns, with values as numbers",
        lambda s: published(version, s),
        lambda s: query(
            "select h.col, h.link, max(h.n)::integer as most, array_agg(k.key) as values,"
            " array_agg(h.n::integer) as n from h"
            " join k on k.col = h.col and k.value = h.value group by h.col, h.link",
            {"h": state_histogram(version, s), "k": keys(version, s)},
        ),
        alone=True,
    )


def keys(version: Version, state: State) -> QualifiedName:
    """(col, value, key): of every value that the version publishes."""
    return version.work(state, "keys")


def state_histogram(version: Version, state: State) -> QualifiedName:
    return state.work(work.histogram(version.part))


def key_of(column: exp.Expr, value: exp.Expr) -> exp.Expr:
    """bigint: 64 bits of sha256 of a column's number and a value."""
    hashed = fragment(
        "'x' || substr(encode(sha256(convert_to(:col::text || ':' || :value, 'UTF8')), 'hex'),"
        " 1, 16)",
        col=column,
        value=value,
    )
    return cast(cast(exp.paren(hashed), "bit(64)"), "bigint")


def published(version: Version, state: State) -> QualifiedName:
    """(col, link, most, values, n): a histogram per group and column, in arrays; `most` is the
    largest of `n`."""
    return version.work(state, "published")
