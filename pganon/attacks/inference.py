"""Inference: the attacker guesses the sensitive value of somebody whose quasi-identifiers he knows.

Every SELECT gives (t, guess, confidence): the guess for each target, and the share of what speaks
for it. Ties go to the value that is more frequent in the release, then to the first in order.

boxes      as :func:`pganon.attacks.reader_view.boxes` has them
hist       (g, v, n, share), the values of a column by group
"""

from __future__ import annotations

from sqlglot import exp

from pganon.attacks.reader_view import admits
from pganon.encode.secrets import keyed_hash
from pganon.identifiers import QualifiedName
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.sqltools import col, conjunction, fragment, num, query, stacked, text
from pganon.steps import State

Table = QualifiedName


def candidates(spec: ReleaseSpec, boxes: Table, targets: Table, group: str) -> exp.Select:
    """SELECT t, g, w: groups that may be the target's, with the records that may be his.

    NULL is no group, and joins none: of records that show the value of a column, or withhold it.
    """
    whether = conjunction(admits(a, "b", "t") for a in spec.attributes)
    return query(
        "select t.t, :g as g, sum(b.n) as w from t join b on :whether group by 1, 2",
        {"t": targets, "b": boxes},
        g=col(group, "b"),
        whether=whether,
    )


def by_groups(candidates: Table, hist: Table, targets: Table) -> exp.Select:
    """The most frequent value of the records that may be the target's.

    A group counts with these records, and its values with their share of the group.
    """
    found = query(
        "select c.t, h.v, sum(c.w * h.share) as score from c join h on h.g = c.g group by c.t, h.v",
        {"c": candidates, "h": hist},
    )
    return _best(found, hist, targets)


def others_known(
    candidates: Table,
    hist: Table,
    targets: Table,
    item: Sensitive,
    state: State,
    number: int,
) -> exp.Select:
    """The most frequent value of what is left of the target's group without so many others, or
    without all others if they are fewer.

    The group is drawn from those that may be the target's: of somebody in the release those that
    hold his value, so that one record of it is his, and is not among the others. They are drawn
    from all records of the group.
    """
    value = col(f"v{item.index}", "t")
    drawn = fragment("t.t::text || ':' || c.g::text")
    chosen = query(
        "select distinct on (t.t) t.t, c.g, :value as own, not t.held and h.g is not null as inside"
        " from t join c on c.t = t.t left join h on h.g = c.g and h.v = :value"
        " order by t.t, (not t.held and h.g is not null) desc, :draw",
        {"t": targets, "c": candidates, "h": hist},
        value=value,
        draw=keyed_hash(state, fragment(":a || :b", a=text("group:"), b=drawn)),
    )
    record = fragment("k.t::text || ':' || i.i::text || h.v")
    ranked = query(
        "select k.t, h.v, row_number() over (partition by k.t"
        " order by k.inside and h.v = k.own and i.i = 1, :draw) as place,"
        " count(*) over (partition by k.t) as size"
        " from k join h on h.g = k.g cross join lateral generate_series(1, h.n) as i(i)",
        {"k": chosen, "h": hist},
        draw=keyed_hash(state, fragment(":a || :b", a=text("other:"), b=record)),
    )
    left = query(
        "select r.t, r.v, count(*) as score from r where r.place > least(:number, r.size - 1)"
        " group by r.t, r.v",
        {"r": ranked},
        number=num(number),
    )
    return _best(left, hist, targets)


def correlations(
    spec: ReleaseSpec, boxes: Table, hist: Table, targets: Table, group: str
) -> exp.Select:
    """Naive Bayes, learned from the release: one published column at a time.

    A value's records count with the share of their group that a published value is of; one record
    more is counted that has the value, and one that has not.
    """
    parts = [_likelihood(a, boxes, hist, targets, group) for a in spec.attributes]
    values = _prior(hist)
    scored = query(
        "select t.t, p.v, ln(p.n::float8) - :d * ln(p.n::float8 + 2)"
        " + coalesce(sum(ln(f.n::float8 + 1)), 0) as score"
        " from t cross join p left join f on f.t = t.t and f.v = p.v group by t.t, p.v, p.n",
        {"t": targets, "p": values, "f": stacked(parts)},
        d=num(len(spec.attributes)),
    )
    # Of logarithms; less than that is nothing, and would not be a number of the server.
    odds = query(
        "select s.t, s.v, exp(greatest(s.score - max(s.score) over (partition by s.t), -500))"
        " as score from s",
        {"s": scored},
    )
    return _best(odds, hist, targets)


def _likelihood(a: Attribute, boxes: Table, hist: Table, targets: Table, group: str) -> exp.Select:
    """SELECT t, v, n: records with a value in groups that admit what a target has in a column."""
    i = a.index
    names = [f"x{i}", *([f"z{i}"] if a.null_column is not None else [])]
    names += [f"e{i}"] if a.form.value == "exact" else []
    names += [f"d{i}"] if a.hidden is not None else []
    shown = [col(name, "b") for name in names]
    learned = query(
        "select h.v, sum(b.n * h.share) as n from b join h on h.g = :g",
        {"b": boxes, "h": hist},
        g=col(group, "b"),
    )
    learned = learned.select(*shown).group_by(num(1), *[num(n) for n in range(3, 3 + len(shown))])
    of_form = {"set": "qt", "values": "qt", "label": "ql", "exact": "qe"}
    known = [col(f"{n}{i}", "t") for n in of_form.get(a.form.value, "q")]
    known += [col(a.hidden.flag, "t")] if a.hidden is not None else []
    of = query("select 1 from t", {"t": targets}).select(*known, append=False).distinct()
    admitted = query(
        "select l.v, sum(l.n) as n from u join l on :whether group by 1",
        {"u": of, "l": learned},
        whether=admits(a, "l", "u"),
    )
    columns = [col(c.name, "u") for c in known]
    admitted = admitted.select(*columns).group_by(*[c.copy() for c in columns])
    same = conjunction(
        fragment(":a is not distinct from :b", a=col(c.name, "t"), b=col(c.name, "f"))
        for c in known
    )
    return query(
        "select t.t, f.v, f.n from t join f on :same", {"t": targets, "f": admitted}, same=same
    )


def _best(scored: exp.Select, hist: Table, targets: Table) -> exp.Select:
    """The value with the highest score; who is nowhere gets the most frequent one."""
    best = query(
        "select distinct on (s.t) s.t, s.v,"
        " round((s.score / sum(s.score) over (partition by s.t))::numeric, 9) as confidence"
        " from s join p on p.v = s.v"
        ' order by s.t, round(s.score::numeric, 9) desc, p.n desc, s.v collate "C"',
        {"s": scored, "p": _prior(hist)},
    )
    common = query(
        "select p.v, round(p.n / sum(p.n) over (), 9) as confidence from p"
        ' order by p.n desc, p.v collate "C" limit 1',
        {"p": _prior(hist)},
    )
    return query(
        "select t.t, coalesce(b.v, m.v) as guess, coalesce(b.confidence, m.confidence) as"
        " confidence from t left join b on b.t = t.t cross join m",
        {"t": targets, "b": best, "m": common},
    )


def _prior(hist: Table) -> exp.Select:
    return query("select h.v, sum(h.n) as n from h group by h.v", {"h": hist})


def guessed(guesses: exp.Select, targets: Table, item: Sensitive, state: State) -> exp.Select:
    """SELECT held, and :class:`pganon.attacks.curve.Guesses`, of digests of values.

    Of a column that some hide, those who do are attacked.
    """
    counted = query(
        "select t.held, g.guess, g.confidence::float8, count(*) as n,"
        " count(*) filter (where g.guess = :v) as right"
        " from t join g on g.t = t.t group by 1, 2, 3",
        {"t": targets, "g": guesses},
        v=col(f"v{item.index}", "t"),
    )
    if item.hidden is not None:
        counted = counted.where(col(item.hidden.flag, "t"))
    return query(
        "select c.held, :value, c.confidence, c.n, c.right from c",
        {"c": counted},
        value=digest(state, col("guess", "c")),
    )


def digest(state: State, value: exp.Expr) -> exp.Expr:
    """What stands for a value outside of the server, by the secret of a run."""
    return fragment("encode(:h, 'hex')", h=keyed_hash(state, value))
