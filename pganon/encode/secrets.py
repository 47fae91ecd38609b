"""Secrets of runs and of the installation, used inside the server only.

No seed or key is ever a literal in SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.sqltools import cast, col, computed_once, fragment, named, num, query, scalar
from pganon.steps import State

SECRETS = QualifiedName("pganon_private", "run_secret")
INSTALLATION = QualifiedName("pganon_private", "installation_secret")


def run_secret(state: State, column: str) -> exp.Select:
    """SELECT of one secret: `key` (bytea, 32 bytes), or a bigint.

    `seed_a` and `seed_b` hash rows for fingerprints. `partition_seed` makes the random choices of
    a method: it is the only secret that versions may have in common.
    """
    return query(
        "select :column from s where s.run_id = :run",
        {"s": SECRETS},
        column=col(column, "s"),
        run=num(state.run_id),
    )


def installation_secret(column: str) -> exp.Select:
    """SELECT of `key`, `seed_a` or `seed_b`, for what is compared between runs."""
    return query("select :column from s", {"s": INSTALLATION}, column=col(column, "s"))


def keyed_hash(state: State, message: exp.Expr) -> exp.Expr:
    """sha256 of the run's key and a text: unpredictable without the key."""
    return keyed_digest(state, fragment("convert_to(:m, 'UTF8')", m=cast(message, "text")))


def keyed_digest(state: State, message: exp.Expr) -> exp.Expr:
    """The same of a bytea."""
    key = scalar(run_secret(state, "key"))
    return fragment("sha256(:key || :message)", key=key, message=message)


def row_hash(row: exp.Expr, seed: exp.Expr) -> exp.Expr:
    """A secret hash of a record.

    What the server has for rows is a weighted sum over the columns. Hashed again, it says nothing
    about rows that share some values, and sums of it change where rows exchange values.
    """
    return fragment("hashtextextended(:hash, :seed)", hash=_columns_hash(row, seed), seed=seed)


def _columns_hash(row: exp.Expr, seed: exp.Expr) -> exp.Expr:
    return fragment("hash_record_extended(:row, :seed)::text", row=row, seed=seed)


def row_sums(
    source: QualifiedName | exp.Select,
    row: exp.Expr,
    key: Sequence[exp.Expr] = (),
    *,
    further: Sequence[exp.Expr] = (),
    times: exp.Expr | None = None,
    in_shards: bool = False,
) -> exp.Select:
    """SELECT `row_count`, `sum_a`, `sum_b`, `keyed_a`, `keyed_b`: keyed hashes of a multiset of
    rows, and of rows with their keys; with `further` also `whole_a`, `whole_b`.

    Each row is hashed under two secret 64-bit seeds of the installation and the hashes are added
    up, so the order of rows does not matter and a missing, added or changed row changes the sums.

    Args:
        row: a record of columns of the source, `t`.
        key: further columns of it.
        further: what the hash of the record leaves out, as that of a numeric does its sign.
        times: how many records of the source a row is; None: one.
        in_shards: rows are distributed, and hashed where they are.
    """
    once = (lambda tree: tree) if in_shards else computed_once
    seed_a, seed_b = (scalar(installation_secret(f"seed_{part}")) for part in "ab")
    keys = {f"key{place}": column for place, column in enumerate(key)}
    every = keys | {f"further{place}": column for place, column in enumerate(further)}
    rows = query(
        "select :hash as hash from t", {"t": source}, hash=_columns_hash(row, seed_a)
    ).select(*[named(column, name) for name, column in every.items()])
    number = [] if times is None else ["times"]
    rows = rows if times is None else rows.select(named(times, "times"))
    hashes = ({"keyed": keys} if key else {}) | ({"whole": every} if further else {})
    found = once(rows)
    if hashes:
        found = query("select r.hash from r", {"r": found})
        for name, columns in hashes.items():
            whole = exp.func("row", *[col(column, "r") for column in ("hash", *columns)])
            found = found.select(named(_columns_hash(whole, seed_a), name))
        found = once(found.select(*[col(name, "r") for name in number]))
    columns = {"hash": "sum", **{name: name for name in hashes}}
    sums = _summed(found, columns, (seed_a, seed_b), times is not None)
    if key:
        return sums
    return query("select k.*, k.sum_a as keyed_a, k.sum_b as keyed_b from k", {"k": sums})


def _summed(
    rows: exp.Select, columns: Mapping[str, str], seeds: tuple[exp.Expr, exp.Expr], counted: bool
) -> exp.Select:
    """SELECT `row_count`, and for every column of hashes two sums, which get its name there."""
    number = "coalesce(sum(k.times), 0)::bigint" if counted else "count(*)"
    sums = query("select :n as row_count from k", {"k": rows}, n=fragment(number))
    added_up = "hashtextextended(:hash, :seed)" + ("::numeric * k.times" if counted else "")
    for column, name in columns.items():
        for part, seed in zip("ab", seeds, strict=True):
            added = fragment(
                f"coalesce(sum({added_up}), 0)::text",
                hash=col(column, "k"),
                seed=seed,
            )
            sums = sums.select(named(added, f"{name}_{part}"))
    return sums
