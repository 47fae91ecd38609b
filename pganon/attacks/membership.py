"""Membership: the attacker has a list of people, and says who of them is in the source."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.resolved.model import Sensitive
from pganon.sqltools import col, conjunction, fragment, query, scalar

Table = QualifiedName


def admitted(candidates: Table) -> exp.Select:
    """SELECT t: whom a box admits."""
    return query("select c.t from c", {"c": candidates})


def whole_record(
    candidates: Table, histograms: Sequence[tuple[Sensitive, Table]], targets: Table
) -> exp.Select:
    """SELECT t: who also may be in a group that has all of his sensitive values.

    A value that somebody does not hide is among the quasi-identifiers.
    """
    has: list[exp.Expr] = []
    for item, hist in histograms:
        value = query(
            "select count(*) from h where h.g = c.g and h.v = :v",
            {"h": hist},
            v=col(f"v{item.index}", "t"),
        )
        found = fragment(":n > 0", n=scalar(value))
        if item.hidden is not None:
            found = fragment("not :f or :found", f=col(item.hidden.flag, "t"), found=found)
        has.append(exp.paren(found))
    return query(
        "select c.t from c join t on t.t = c.t where :has",
        {"c": candidates, "t": targets},
        has=conjunction(has),
    )


def said(parts: Sequence[exp.Select], targets: Table) -> exp.Select:
    """SELECT the numbers of :class:`pganon.attacks.findings.Counted`; all parts have to say so."""
    says = conjunction(exp.In(this=col("t", "t"), query=scalar(part)) for part in parts)
    found = query("select t.held, :says as says from t", {"t": targets}, says=exp.paren(says))
    return query(
        "select count(*) filter (where f.says and not f.held) as successes,"
        " count(*) filter (where not f.held) as attempts,"
        " count(*) filter (where f.says and f.held) as control_successes,"
        " count(*) filter (where f.held) as control_attempts from f",
        {"f": found},
    )
