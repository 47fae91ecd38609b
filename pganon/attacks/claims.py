"""Attacks whose success is one yes or no: singling out, linkability, membership.

Every SELECT gives (held, won): whether somebody was held out, and the attack on him succeeded.

Singling out: the attacker states what is true of exactly one person: all that a row of the release
shows, of a row that stands for one record.

Linkability: the release connects two sources, one with the odd quasi-identifiers of all targets and
one with the even ones. A target is linked if the other record of exactly one target, which is his,
fits into a box that his first record fits into.

Membership: the attacker has a list of people, and says who of them is in the source.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.attacks.reader_view import ShownView, admits, rows
from pganon.encode.secrets import keyed_hash
from pganon.forms.elements import text_key, value_key
from pganon.identifiers import QualifiedName
from pganon.resolved.model import Attribute, Sensitive
from pganon.sqltools import cast, col, conjunction, fragment, named, num, query, scalar, text
from pganon.steps import State

Table = QualifiedName


def counted(claims: exp.Select) -> exp.Select:
    """SELECT the numbers of :class:`pganon.attacks.findings.Counted`."""
    return query(
        "select count(*) filter (where f.won and not f.held) as successes,"
        " count(*) filter (where not f.held) as attempts,"
        " count(*) filter (where f.won and f.held) as control_successes,"
        " count(*) filter (where f.held) as control_attempts from f",
        {"f": claims},
    )


def predicates(view: ShownView, state: State, number: int) -> exp.Select:
    """SELECT p, n, x<i>, z<i>, e<i>, d<i>, v<j>, p<j>: some of the rows that show one record.

    They are drawn by the seed, whatever the order of rows is.
    """
    shown = [named(value_key(item, "v"), f"v{item.index}") for item in view.sensitive]
    shown += [named(text_key(col(item.published, "v")), f"p{item.index}") for item in view.carried]
    single = query("select s.* from s where s.n = 1", {"s": rows(view, beside=shown)})
    row = fragment(":a || :row", a=text("predicate:"), row=cast(exp.column("s"), "text"))
    drawn = query(
        "select row_number() over (order by :draw) as p, s.* from s",
        {"s": single},
        draw=keyed_hash(state, row),
    )
    return query("select d.* from d where d.p <= :number", {"d": drawn}, number=num(number))


def singled(view: ShownView, predicates: Table, known: Table, held: int) -> exp.Select:
    """A statement is about those of the release, and about those held out."""
    same = [f"v{item.index}" for item in view.sensitive]
    same += [f"p{item.index}" for item in view.carried]
    whether = [exp.EQ(this=col(name, "k"), expression=col(name, "p")) for name in same]
    whether += [admits(a, "p", "k") for a in view.attributes]
    people = query(
        "select count(distinct k.person) filter (where k.place > :held) as inside,"
        " count(distinct k.person) filter (where k.place <= :held) as outside"
        " from p left join k on :whether group by p.p",
        {"p": predicates, "k": known},
        held=num(held),
        whether=conjunction(whether),
    )
    return query(
        "select h.held, case when h.held then s.outside else s.inside end = 1 as won"
        " from s cross join (values (false), (true)) as h(held)",
        {"s": people},
    )


def linked(attributes: Sequence[Attribute], boxes: Table, targets: Table) -> exp.Select:
    """Those held out are one list of targets, and the others another one."""
    ends = query(
        "select b.box, t.held, min(t.t) as least, max(t.t) as most from t join b on :whether"
        " group by b.box, t.held",
        {"t": targets, "b": boxes},
        whether=conjunction(admits(a, "b", "t") for a in attributes[1::2]),
    )
    found = query(
        "select t.t, min(e.least) as least, max(e.most) as most"
        " from t join b on :whether join e on e.box = b.box and e.held = t.held group by t.t",
        {"t": targets, "b": boxes, "e": ends},
        whether=conjunction(admits(a, "b", "t") for a in attributes[::2]),
    )
    return query(
        "select t.held, f.least = t.t and f.most = t.t as won from t left join f on f.t = t.t",
        {"t": targets, "f": found},
    )


def listed(parts: Sequence[exp.Select], targets: Table) -> exp.Select:
    """Who is said to be in the source by all parts, each of which is SELECT t."""
    says = conjunction(exp.In(this=col("t", "t"), query=scalar(part)) for part in parts)
    return query("select t.held, :says as won from t", {"t": targets}, says=exp.paren(says))


def whole_record(
    candidates: Table, histograms: Sequence[tuple[Sensitive, Table]], targets: Table
) -> exp.Select:
    """SELECT t: who may be in a group that has all of his sensitive values.

    A value that somebody does not hide is among the quasi-identifiers.
    """
    has: list[exp.Expr] = []
    for item, hist in histograms:
        found: exp.Expr = scalar(
            query(
                "select count(*) > 0 from h where h.g = c.g and h.v = :v",
                {"h": hist},
                v=col(f"v{item.index}", "t"),
            )
        )
        if item.hidden is not None:
            found = fragment("not :f or :found", f=col(item.hidden.flag, "t"), found=found)
        has.append(exp.paren(found))
    return query(
        "select c.t from c join t on t.t = c.t where :has",
        {"c": candidates, "t": targets},
        has=conjunction(has),
    )
