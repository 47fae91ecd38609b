"""Linkability: the release connects two sources, each with half of the quasi-identifiers.

One source has the odd columns of all targets, the other one the even columns. A target is linked if
the other record of exactly one target, which is his, fits into a box that his first record fits
into.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.attacks.reader_view import admits
from pganon.identifiers import QualifiedName
from pganon.resolved.model import Attribute
from pganon.sqltools import conjunction, query


def halves(attributes: Sequence[Attribute]) -> tuple[list[Attribute], list[Attribute]]:
    """Columns by turns, in the order of the policy."""
    return list(attributes[::2]), list(attributes[1::2])


def linked(
    attributes: Sequence[Attribute], boxes: QualifiedName, targets: QualifiedName
) -> exp.Select:
    """SELECT the numbers of :class:`pganon.attacks.findings.Counted`.

    Those held out are one list of targets, and the others another one.
    """
    one, other = halves(attributes)
    ends = query(
        "select b.box, t.held, min(t.t) as least, max(t.t) as most from t join b on :whether"
        " group by b.box, t.held",
        {"t": targets, "b": boxes},
        whether=conjunction(admits(a, "b", "t") for a in other),
    )
    found = query(
        "select t.t, t.held, min(e.least) as least, max(e.most) as most"
        " from t join b on :whether join e on e.box = b.box and e.held = t.held"
        " group by t.t, t.held",
        {"t": targets, "b": boxes, "e": ends},
        whether=conjunction(admits(a, "b", "t") for a in one),
    )
    return query(
        "select count(*) filter (where not t.held and f.least = t.t and f.most = t.t) as successes,"
        " count(*) filter (where not t.held) as attempts,"
        " count(*) filter (where t.held and f.least = t.t and f.most = t.t) as control_successes,"
        " count(*) filter (where t.held) as control_attempts"
        " from t left join f on f.t = t.t",
        {"t": targets, "f": found},
    )
